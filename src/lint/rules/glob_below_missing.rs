use super::denial_outside_roots::glob_head;
use crate::finding::Finding;
use crate::host::resolve;
use crate::lint::Context;
use crate::lint::edits::respell;
use crate::lint::neighbours::Neighbours;
use crate::lint::places::denials;
use crate::policy::DenialKind;

rule! {
    /// A pattern that starts in a directory that does not exist.
    ///
    /// ## What it does
    ///
    /// Reports a `deny glob` whose part before the first wildcard leads nowhere.
    ///
    /// ## Why it is bad
    ///
    /// Such a pattern matches nothing, now or until the directory is made, and the usual cause is a slip in its
    /// name: the files it was written for are open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/secret/**/tok*"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/secrets/**/tok*"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the name that is missing stands behind a wildcard.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/**/secret/tok*"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the directory. To close whatever may come to lie there, deny the directory itself.
    name: "glob-below-missing",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut neighbours = Neighbours::new(context.host);
    for (denial, _) in denials(context) {
        let DenialKind::Glob(pattern) = &denial.kind else { continue };
        let Ok(found) = resolve::resolve(context.host, &glob_head(&pattern.value)) else { continue };
        if found.exists() {
            continue;
        }
        let missing = found.canonical.strip_prefix(&found.existing).ok().and_then(|rest| rest.iter().next());
        let near = missing.and_then(|name| Some((name, neighbours.nearest(name, &[&found.existing])?)));
        let help = match near {
            Some((_, near)) => format!("correct the directory: `{}` is there", found.existing.join(near)),
            None => "correct the directory, or deny the directory itself to close what may come to lie there"
                .to_owned(),
        };
        let finding = INFO
            .finding(format!("the pattern starts in `{}`, which does not exist", found.canonical))
            .at(denial.span, "matches nothing")
            .help(help);
        let edit = near.and_then(|(wrong, near)| respell(context.sources, pattern.span, wrong, near));
        findings.push(match (edit, near) {
            (Some(edit), Some((_, near))) => finding.fix(format!("write `{near}`"), vec![edit], false),
            _ => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn a_pattern_must_start_somewhere() {
        let mut case = Case::in_workspace();
        case.deny_glob("/home/dev/project/secret/**/tok*", &[]).deny_glob("/home/dev/project/**/*.pem", &[]);
        assert_eq!(
            case.found("glob-below-missing"),
            ["the pattern starts in `/home/dev/project/secret`, which does not exist\n\
              deny glob \"/home/dev/project/secret/**/tok*\" -- matches nothing"]
        );
        let help = case.findings("glob-below-missing")[0].help.clone().unwrap();
        assert_eq!(help, "correct the directory: `/home/dev/project/secrets` is there");
    }
}
