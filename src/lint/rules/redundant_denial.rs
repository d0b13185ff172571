use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::{Blocks, remove};
use crate::lint::places::denials;
use crate::policy::{Denial, DenialKind};
use crate::source::Span;
use camino::Utf8Path;
use std::collections::HashMap;

rule! {
    /// A denial that another one contains.
    ///
    /// ## What it does
    ///
    /// Reports a `deny` that another `deny` of the same kind in the same file repeats or contains. That a
    /// pattern, or what git ignores, also covers a path denied by name is not reported: there the name is the
    /// firmer of the two.
    ///
    /// ## Why it is bad
    ///
    /// It closes nothing more. Its reader expects that removing it opens the path, or that the rest of the
    /// directory around it is open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    ///     deny "$workspace/secrets/token"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name beside a pattern holds when the pattern is changed.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    ///     deny glob "$workspace/**/.env"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the inner one.
    name: "redundant-denial",
    severity: Warning,
    confidence: Certain,
    fix: Either,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut blocks = Blocks::new(context.sources);
    let mut by_path: HashMap<_, &Denial> = HashMap::new();
    let mut by_text: HashMap<_, &Denial> = HashMap::new();
    let mut paths: Vec<(&Denial, &Utf8Path)> = Vec::new();
    for (denial, bound) in denials(context) {
        let file = denial.span.file;
        let text = match &denial.kind {
            DenialKind::Path(_) => {
                if let Some(denied) = bound.paths.first() {
                    by_path.entry((file, denied.path.as_path())).or_insert(denial);
                    paths.push((denial, &denied.path));
                }
                continue;
            }
            DenialKind::Glob(pattern) => (file, pattern.value.as_str(), Vec::new()),
            DenialKind::Gitignored { path, except } => {
                (file, path.path.as_str(), except.iter().map(|name| &name.value).collect())
            }
        };
        let first = *by_text.entry((std::mem::discriminant(&denial.kind), text)).or_insert(denial);
        report(context, &mut blocks, denial, first, findings);
    }
    for (denial, path) in paths {
        let outer = path.ancestors().filter_map(|ancestor| by_path.get(&(denial.span.file, ancestor))).last();
        if let Some(outer) = outer {
            report(context, &mut blocks, denial, outer, findings);
        }
    }
}

/// What a denial is about, as it is written.
fn written(denial: &Denial) -> Span {
    match &denial.kind {
        DenialKind::Path(path) => path.span,
        DenialKind::Glob(pattern) => pattern.span,
        // With its exceptions.
        DenialKind::Gitignored { .. } => denial.span,
    }
}

fn report(
    context: &Context<'_>,
    blocks: &mut Blocks<'_>,
    denial: &Denial,
    first: &Denial,
    findings: &mut Vec<Finding>,
) {
    if denial.span == first.span {
        return;
    }
    let safe = blocks.is_said_by((denial.span, written(denial)), (first.span, written(first)));
    findings.push(
        INFO.finding("this is denied already")
            .at(denial.span, "closes nothing more")
            .at(first.span, "closes it already")
            .help("remove it")
            .fix("remove the denial", remove(context.sources, denial.span), safe),
    );
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn a_denial_inside_or_beside_its_like_is_reported_once() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/secrets/token")
            .deny("/home/dev/project/secrets")
            .deny("/home/dev/project/secrets/")
            .deny_glob("/home/dev/project/*.pem", &[])
            .deny_glob("/home/dev/project/*.pem", &[])
            .deny_gitignored("/home/dev/project", &["/home/dev/project/secrets"]);
        assert_eq!(
            case.found("redundant-denial"),
            [
                "this is denied already\n\
                 deny \"/home/dev/project/secrets/token\" -- closes nothing more\n\
                 deny \"/home/dev/project/secrets\" -- closes it already",
                "this is denied already\n\
                 deny \"/home/dev/project/secrets/\" -- closes nothing more\n\
                 deny \"/home/dev/project/secrets\" -- closes it already",
                "this is denied already\n\
                 deny glob \"/home/dev/project/*.pem\" -- closes nothing more\n\
                 deny glob \"/home/dev/project/*.pem\" -- closes it already",
            ]
        );
    }

    #[test]
    fn a_name_beside_a_pattern_is_firmer_and_stays() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/.env").deny_glob("/home/dev/project/.e*", &["/home/dev/project/.env"]);
        assert!(case.found("redundant-denial").is_empty());
    }
}
