use crate::bind::LinkFact;
use crate::finding::Finding;
use crate::lint::places::{Protections, list};
use crate::lint::{Context, RuleInfo};
use crate::plan::Protection;
use crate::source::Span;
use camino::Utf8Path;
use std::collections::BTreeMap;

rule! {
    /// A denied file that has another name.
    ///
    /// ## What it does
    ///
    /// Reports every denied file with more hard links than are denied with it. The other names may be anywhere
    /// on the disk.
    ///
    /// ## Why it is bad
    ///
    /// Walls stand around names, and the other name of the file is not denied: whoever reads it there reads the
    /// secret. No search of the roots settles where the other name is, for it may move into one at any time.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/shared.key"         # also ~/.shared-keys/shared.key
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: both names of the file are denied.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/.shared-keys" read-only
    ///     deny "$workspace/shared.key"
    ///     deny "~/.shared-keys/shared.key"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Make it a file of its own: `cp -p F F.copy && mv F.copy F`. `find DIR -samefile F` finds the other
    /// names. Package managers that link from a store can be told to copy: `package-import-method=copy` for
    /// pnpm, `UV_LINK_MODE=copy` for uv.
    name: "hard-linked-denial",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    report(context, &INFO, |protection| protection == Protection::Denied, "denied", findings);
}

/// One finding for each statement (or guarded root) whose protected files have other names.
pub(super) fn report(
    context: &Context<'_>,
    info: &RuleInfo,
    wanted: impl Fn(Protection) -> bool,
    word: &str,
    findings: &mut Vec<Finding>,
) {
    let mut linked: BTreeMap<(Option<Span>, &Utf8Path), Vec<&str>> = BTreeMap::new();
    let protections = Protections::of(context);
    for fact in &context.binding.links {
        let LinkFact::Linked { path, protected, links, known } = fact else { continue };
        let (protection, span) = protections.at(protected);
        if known < links && wanted(protection) {
            let first = if span.is_some() { Utf8Path::new("") } else { protected.as_path() };
            linked.entry((span, first)).or_default().push(path.as_str());
        }
    }
    for ((span, _), mut paths) in linked {
        paths.sort_unstable();
        paths.dedup();
        let (verb, pronoun) = if paths.len() == 1 { ("has", "it") } else { ("have", "them") };
        let mut finding = info
            .finding(format!("{} {verb} other hard links, which are not {word}", list(&paths))).about(&paths)
            .help(format!(
                "replace {pronoun} by a copy: `cp -p F F.copy && mv F.copy F`; \
                 pnpm (`package-import-method=copy`) and uv (`UV_LINK_MODE=copy`) can copy instead of linking"
            ));
        if let Some(span) = span {
            finding = finding.at(span, format!("the same file is not {word} by its other name"));
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::LinkFact;
    use crate::lint::testing::Case;
    use crate::plan::{Origin, OriginKind, Presence, Protected, Protection};
    use crate::policy::Access;

    fn linked(path: &str, protected: &str, known: u64) -> LinkFact {
        LinkFact::Linked { path: path.into(), protected: protected.into(), links: 2, known }
    }

    fn protect(case: &mut Case, path: &str, protection: Protection, kind: OriginKind, stated: bool) {
        let span = case.policy.denials.last().map(|denial| denial.span);
        let span = span.or(case.policy.roots.last().map(|root| root.span)).filter(|_| stated);
        case.protected.push(Protected {
            path: path.into(),
            protection,
            presence: Presence::File,
            origin: Origin { kind, text: String::new(), span },
        });
    }

    #[test]
    fn a_denied_file_with_another_name_is_refused() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/shared.key");
        protect(&mut case, "/home/dev/project/shared.key", Protection::Denied, OriginKind::Denial, true);
        case.binding.links.push(linked("/home/dev/project/shared.key", "/home/dev/project/shared.key", 1));
        assert_eq!(
            case.found("hard-linked-denial"),
            ["`/home/dev/project/shared.key` has other hard links, which are not denied\n\
              deny \"/home/dev/project/shared.key\" -- the same file is not denied by its other name"]
        );
        assert!(case.found("hard-linked-file").is_empty());
    }

    #[test]
    fn names_that_are_denied_together_are_fine() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/secrets");
        protect(&mut case, "/home/dev/project/secrets", Protection::Denied, OriginKind::Denial, true);
        case.binding.links.push(linked("/home/dev/project/secrets/a", "/home/dev/project/secrets", 2));
        assert!(case.found("hard-linked-denial").is_empty());
    }

    #[test]
    fn many_files_of_one_protected_root_are_one_finding() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/vendor", Access::ReadOnly);
        protect(&mut case, "/home/dev/project/vendor", Protection::ReadOnly, OriginKind::Root, true);
        for name in ["a", "b", "c", "d", "e"] {
            let path = format!("/home/dev/project/vendor/{name}");
            case.binding.links.push(linked(&path, "/home/dev/project/vendor", 1));
        }
        assert_eq!(
            case.found("hard-linked-file"),
            [
                "`/home/dev/project/vendor/a`, `/home/dev/project/vendor/b`, `/home/dev/project/vendor/c` and 2 more \
              have other hard links, which are not protected\n\
              root \"/home/dev/project/vendor\" read-only -- the same file is not protected by its other name"
            ]
        );
    }

    #[test]
    fn a_guarded_file_is_reported_at_the_root_it_is_guarded_in() {
        let mut case = Case::in_workspace();
        protect(&mut case, "/home/dev/project/.git/config", Protection::Guarded, OriginKind::Guard, false);
        case.binding.links.push(linked("/home/dev/project/.git/config", "/home/dev/project/.git/config", 1));
        let found = case.found("hard-linked-file");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("\nroot \"/home/dev/project\" read-write -- "), "{found:?}");
    }
}
