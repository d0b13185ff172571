use crate::bind::guards::GUARDED;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::persistence::PLACES;
use crate::lint::places::{PlacedRoot, Roots, home, list};
use crate::plan::{Decider, Operation};
use crate::source::Span;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

rule! {
    /// A writable place from which programs are run later, outside the walls.
    ///
    /// ## What it does
    ///
    /// Reports writable roots that hold, or lie in, places from which something is run by itself: start-up files of
    /// shells and sessions, timers, directories that stand on many a PATH, settings of editors, git, ssh and agents.
    /// Whether there is anything yet does not matter: the command makes it. So does a root that is such a place by its
    /// own name, as `.git/hooks` is.
    ///
    /// ## Why it is bad
    ///
    /// The command leaves a file there, ends, and what it left runs with all the rights of the user: at the next login,
    /// in the next shell, when somebody types the name of a program that it put before the real one.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "installer" {
    ///     root "$workspace" read-only
    ///     root "~/.local/bin" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "installer" {
    ///     root "$workspace" read-only
    ///     root "$workspace/target" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: what is there may be read, and nothing be put there.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/.local/bin" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Let the command write below the workspace, and install what it made by hand after a look at it. Otherwise protect
    /// the place with a read-only root or a denial, or allow this with the reason.
    name: "persistence-place",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// A root and the places in it, each with what acts on it.
type Held<'a> = (PlacedRoot<'a>, Vec<(Utf8PathBuf, &'static str)>);

fn can_be_made(decider: &Decider<'_>, path: &Utf8Path) -> bool {
    decider.decide(Operation::Write, path).allowed
        || decider.decide(Operation::Create, path).allowed
        || decider.decide_below(Operation::Create, path).allowed
}

/// What acts on a root that is by its own name a place which is guarded in every other.
fn by_name(root: &Utf8Path) -> Option<&'static str> {
    let name = root.file_name()?;
    if name == "hooks" && root.parent()?.file_name()? == ".git" || name == ".git" {
        return Some("git runs the commands in it");
    }
    GUARDED.iter().find(|guarded| guarded.name == name).map(|guarded| guarded.reason)
}

fn check<'a>(context: &Context<'a>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    let (home, uid) = home(context);
    let mut by_root: BTreeMap<Span, Held<'a>> = BTreeMap::new();
    let mut add = |root: &PlacedRoot<'a>, path: Utf8PathBuf, what: &'static str| {
        let places = &mut by_root.entry(root.statement.span).or_insert((*root, Vec::new())).1;
        if !places.iter().any(|(known, _)| *known == path) {
            places.push((path, what));
        }
    };
    for place in PLACES {
        let path = place.on(&home, uid);
        for root in roots.iter().filter(|root| root.is_writable()) {
            // The root is the place or lies in it, or holds it: the innermost that does is the one to blame.
            let within = root.path().starts_with(&path);
            let holds = !within
                && roots.holding(&path).is_some_and(|inner| inner.statement.span == root.statement.span);
            let at = if within { root.path() } else { &path };
            if (within || holds) && can_be_made(&decider, at) {
                add(root, at.to_path_buf(), place.what);
            }
        }
    }
    for root in roots.iter().filter(|root| root.is_writable()) {
        if let Some(what) = by_name(root.path()).filter(|_| can_be_made(&decider, root.path())) {
            add(root, root.path().to_path_buf(), what);
        }
    }
    for (span, (root, places)) in by_root {
        let [(first, what), ..] = &places[..] else { continue };
        let paths: Vec<_> = places.iter().map(|(path, _)| path.as_str()).collect();
        let message = format!("what is written to {} runs later, outside the walls", list(&paths));
        let label = if *first == root.path() { (*what).to_owned() } else { format!("`{first}`: {what}") };
        findings.push(
            INFO.finding(message).about(&paths)
                .at(span, label)
                .help("let the command write below the workspace; otherwise protect the place with a read-only root or a denial"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::host::Kind;
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn a_root_that_holds_such_places_is_one_finding_and_protected_ones_are_left_out() {
        let mut case = Case::in_workspace();
        for path in ["/home/dev/.config/autostart", "/home/dev/.config/fish"] {
            case.machine.add(path, Kind::Directory);
        }
        case.root("/home/dev/.config", ReadWrite).root("/home/dev/.config/fish", ReadOnly);
        let found = case.found("persistence-place");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("what is written to `/home/dev/.config/zsh`, "), "{found:?}");
        assert!(
            found[0].ends_with("-- `/home/dev/.config/zsh`: a shell runs it when it starts"),
            "{found:?}"
        );
        assert!(!found[0].contains(".config/fish"), "{found:?}");
    }

    #[test]
    fn a_root_is_such_a_place_by_its_own_name() {
        let mut case = Case::new();
        case.root("/home/dev/project", ReadOnly).root("/home/dev/project/.git/hooks", ReadWrite);
        case.root("/home/dev/project/src", ReadWrite);
        assert_eq!(
            case.found("persistence-place"),
            ["what is written to `/home/dev/project/.git/hooks` runs later, outside the walls\n\
              root \"/home/dev/project/.git/hooks\" read-write -- git runs the commands in it"]
        );
    }
}
