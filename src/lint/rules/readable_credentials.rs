use crate::finding::Finding;
use crate::host::resolve;
use crate::lint::Context;
use crate::lint::catalogue::credentials::STORES;
use crate::lint::edits::{add_after, remove, spelled};
use crate::lint::places::{PlacedRoot, Roots, home, is_readable, list};
use crate::source::Span;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

rule! {
    /// A store of credentials that can be read through a root.
    ///
    /// ## What it does
    ///
    /// Reports a `root` through which a place can be read where programs keep keys, tokens, passwords, cookies or what
    /// was typed: `~/.ssh`, `~/.aws`, `~/.config/gh`, a browser's profile, a keyring, a shell's history. Only what is
    /// there on this machine is reported.
    ///
    /// ## Why it is bad
    ///
    /// Whoever holds them is the user, on every machine and in every account that they open, and walls round one
    /// command no longer matter. An agent needs no network to give them away: what it reads goes to its model, and
    /// what it commits goes to the repository.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/.ssh" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the root holds a store, and a denial closes it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/.local/share" read-only
    ///     deny "~/.local/share/keyrings"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Narrow the root, or deny the store. Where the command needs one of them, let a program outside the walls do
    /// that part, or allow this finding and say which account it opens.
    name: "readable-credentials",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// A store that can be read, and the root through which.
pub(super) struct Open<'a> {
    pub path: Utf8PathBuf,
    pub what: &'static str,
    pub root: PlacedRoot<'a>,
}

/// The stores that are there and can be read.
pub(super) fn open<'a>(context: &Context<'a>) -> Vec<Open<'a>> {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    let (home, uid) = home(context);
    let mut open = Vec::new();
    for store in STORES {
        let path = store.on(&home, uid);
        for root in roots.iter().filter(|root| root.path().starts_with(&path)) {
            if is_readable(&decider, root.path()) {
                open.push(Open { path: root.path().to_path_buf(), what: store.what, root: *root });
            }
        }
        // What no root holds is not looked at: a recording of this machine does not tell what its owner has.
        if roots.holding(&path).is_none() {
            continue;
        }
        let Ok(found) = resolve::resolve(context.host, &path) else { continue };
        let Some(root) = roots.holding(&found.canonical).filter(|root| !root.path().starts_with(&path))
        else {
            continue;
        };
        if found.exists() && is_readable(&decider, &found.canonical) {
            open.push(Open { path: found.canonical, what: store.what, root: *root });
        }
    }
    open
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut by_root: BTreeMap<Span, Vec<Open<'_>>> = BTreeMap::new();
    for store in open(context) {
        by_root.entry(store.root.statement.span).or_default().push(store);
    }
    for (span, stores) in by_root {
        let [first, ..] = &stores[..] else { continue };
        let paths: Vec<_> = stores.iter().map(|store| store.path.as_str()).collect();
        let verb = if first.root.is_writable() { "read and changed" } else { "read" };
        let denials: Vec<_> =
            stores.iter().map(|it| format!("deny {}", spelled(context, &it.path))).collect();
        let (help, title, edits) = if first.path == first.root.path() {
            ("remove the root".to_owned(), "remove the root", remove(context.sources, span))
        } else {
            let help =
                denials.first().map(|denial| format!("narrow the root, or deny what it holds: `{denial}`"));
            (help.unwrap_or_default(), "deny them", vec![add_after(context.sources, span, &denials)])
        };
        findings.push(
            INFO.finding(format!("{} can be {verb}", list(&paths))).about(&paths)
                .at(span, format!("opens {}", first.what))
                .help(format!("{help}; whoever reads them acts as the user"))
                .fix(title, edits, false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn stores_in_one_root_are_one_finding_and_a_root_within_a_store_counts() {
        let mut case = Case::new();
        case.root("/home/dev", Access::ReadOnly);
        assert_eq!(
            case.found("readable-credentials"),
            ["`/home/dev/.ssh`, `/home/dev/.aws` can be read\n\
              root \"/home/dev\" read-only -- opens keys of ssh"]
        );
        case.deny("/home/dev/.ssh").deny("/home/dev/.aws");
        assert!(case.found("readable-credentials").is_empty());
        let mut case = Case::in_workspace();
        case.machine.add("/home/dev/.ssh/work", crate::host::Kind::Directory);
        case.root("/home/dev/.ssh/work", Access::ReadWrite);
        assert_eq!(
            case.found("readable-credentials"),
            ["`/home/dev/.ssh/work` can be read and changed\n\
              root \"/home/dev/.ssh/work\" read-write -- opens keys of ssh"]
        );
    }
}
