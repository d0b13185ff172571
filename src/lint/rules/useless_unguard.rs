use crate::finding::Finding;
use crate::host::resolve::resolve_parent;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::lint::places::quoted;
use camino::Utf8Path;
use std::collections::{BTreeMap, HashSet};

rule! {
    /// An `unguard` that lifts no guard.
    ///
    /// ## What it does
    ///
    /// Reports an `unguard` whose path is not exactly that of a guard in a writable root. An `unguard` lifts the one
    /// guard that it names: never several that lie below its path, and none through a symbolic link that a command
    /// may have put there.
    ///
    /// ## Why it is bad
    ///
    /// It does nothing, so the profile does not hold what it says. Either it is a slip and the guard it was meant for still stands, or the root it
    /// was for is gone; and should that root come back, the guard would be lifted unseen.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/src" because "the command works there"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/.git/hooks" because "this profile maintains the hooks"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a guard stands where nothing is yet.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/.vscode" because "this profile sets the editor up"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or write one `unguard` for each guard that is meant; the help of the finding names those at and
    /// below the path. `palisade why write PATH` names the guard of a path.
    name: "useless-unguard",
    severity: Error,
    confidence: Certain,
    fix: Safe,
    allowable: false,
    check: check,
}

/// How many guards a help names.
const NAMED: usize = 12;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let guards = &context.binding.guards;
    let used: HashSet<_> = guards.iter().filter_map(|guard| guard.lifted_by).collect();
    let by_path: BTreeMap<&Utf8Path, Option<usize>> =
        guards.iter().map(|guard| (guard.path.as_path(), guard.lifted_by)).collect();
    for (at, unguard) in context.policy.unguards.iter().enumerate() {
        if used.contains(&at) {
            continue;
        }
        let stated = &unguard.path.path;
        let found = resolve_parent(context.host, stated).ok();
        let path = found.as_ref().map_or(stated.as_path(), |found| found.canonical.as_path());
        if by_path.get(path).is_some_and(Option::is_some) {
            findings.push(
                INFO.finding(format!("the guard at `{path}` is lifted twice"))
                    .at(unguard.span, "lifts nothing more")
                    .help("remove one of the two")
                    .fix("remove the statement", remove(context.sources, unguard.span), true),
            );
            continue;
        }
        let plantable = found.as_ref().and_then(|found| {
            found.hops.iter().find(|hop| context.binding.is_writable(context.policy, &hop.link))
        });
        let finding = match plantable {
            Some(hop) => INFO
                .finding(format!("`{stated}` goes through a link that a command may replace"))
                .at(unguard.span, format!("`{}` is a link to `{}`; nothing is lifted", hop.link, hop.target)),
            None => INFO.finding(format!("`{stated}` is not guarded")).at(unguard.span, "lifts nothing"),
        };
        // Sorted by components, so what lies below a path follows it.
        let below: Vec<&Utf8Path> = by_path
            .range(path..)
            .map(|(guard, _)| *guard)
            .take_while(|guard| guard.starts_with(path))
            .collect();
        let above = || path.ancestors().find(|ancestor| by_path.contains_key(ancestor));
        findings.push(match (&below[..], above()) {
            ([], Some(guard)) => finding
                .help(format!("the guard is at {}: name that, if all of it is to be open", quoted(guard))),
            ([], None) => finding.help("remove it, or correct the path to that of the guard").fix(
                "remove the statement",
                remove(context.sources, unguard.span),
                true,
            ),
            (below, _) => {
                finding.help(format!("each guard is lifted by its own statement; here are {}", named(below)))
            }
        });
    }
}

/// Guards to choose from, as they are to be written.
fn named(guards: &[&Utf8Path]) -> String {
    let mut text = guards.iter().take(NAMED).map(|guard| format!("`{guard}`")).collect::<Vec<_>>().join(", ");
    if guards.len() > NAMED {
        text.push_str(&format!(" and {} more", guards.len() - NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::bind::Guard;
    use crate::lint::testing::Case;

    fn guard(path: &str, lifted_by: Option<usize>) -> Guard {
        Guard {
            path: path.into(),
            entry: None,
            reason: "tasks that an editor runs",
            own: false,
            keep_absent: false,
            lifted_by,
        }
    }

    #[test]
    fn the_help_names_the_guards_below_or_above_one_by_one() {
        let mut case = Case::in_workspace();
        case.unguard("/home/dev/project")
            .unguard("/home/dev/project/.claude/settings.json")
            .unguard("/home/dev/project/.idea")
            .unguard("/home/dev/project/.idea")
            .unguard("/home/dev/project/out/.env");
        for (path, lifted_by) in
            [(".claude", None), (".git/config", None), (".git/hooks", None), (".idea", Some(3))]
        {
            case.binding.guards.push(guard(&format!("/home/dev/project/{path}"), lifted_by));
        }
        let help: Vec<_> = case
            .findings("useless-unguard")
            .into_iter()
            .map(|finding| (finding.message, finding.help.unwrap()))
            .collect();
        let text = |(message, help): &(String, String)| format!("{message}: {help}");
        assert_eq!(
            help.iter().map(text).collect::<Vec<_>>(),
            [
                "`/home/dev/project` is not guarded: each guard is lifted by its own statement; here are \
                 `/home/dev/project/.claude`, `/home/dev/project/.git/config`, `/home/dev/project/.git/hooks`, \
                 `/home/dev/project/.idea`",
                "`/home/dev/project/.claude/settings.json` is not guarded: the guard is at \
                 \"/home/dev/project/.claude\": name that, if all of it is to be open",
                "the guard at `/home/dev/project/.idea` is lifted twice: remove one of the two",
                "`/home/dev/project/out/.env` goes through a link that a command may replace: remove it, or correct \
                 the path to that of the guard",
            ]
        );
    }

    #[test]
    fn an_unguard_must_lift_a_guard() {
        let mut case = Case::in_workspace();
        case.unguard("/home/dev/project/.vscode").unguard("/home/dev/project/src");
        case.binding.guards.push(guard("/home/dev/project/.vscode", Some(0)));
        assert_eq!(
            case.found("useless-unguard"),
            ["`/home/dev/project/src` is not guarded\n\
              unguard \"/home/dev/project/src\" because \"it is ours\" -- lifts nothing"]
        );
    }
}
