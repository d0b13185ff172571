use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::policy::{Network, Policy};
use crate::source::{FileId, Span};
use crate::syntax;
use crate::syntax::ast::StatementKind;
use std::collections::{HashMap, HashSet};

rule! {
    /// A `use` that brings nothing in.
    ///
    /// ## What it does
    ///
    /// Reports a `use` of a fragment that the same file uses already, and one whose fragment states nothing for
    /// the system the profile is compiled for.
    ///
    /// ## Why it is bad
    ///
    /// Its reader counts on what the fragment is named for, such as that it denies the usual secrets, and it
    /// does not.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     use "std/git"
    ///     use "std/git"
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     use "std/git"
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: two fragments, and each says something.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     use "std/git"
    ///     use "std/command"
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it.
    name: "unused-fragment",
    severity: Warning,
    confidence: Certain,
    fix: Either,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let speaking = speaking(context.policy);
    let mut first: HashMap<(FileId, FileId), Span> = HashMap::new();
    for used in &context.policy.uses {
        let name = &context.sources.file(used.file).name;
        let (finding, safe) = match first.entry((used.span.file, used.file)) {
            std::collections::hash_map::Entry::Occupied(earlier) => {
                let finding = INFO
                    .finding(format!("the fragment `{name}` is used twice"))
                    .at(used.span, "again")
                    .at(*earlier.get(), "used here already");
                (finding, true)
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(used.span);
                if speaking.contains(&used.file) || defines_a_group(context, used.file) {
                    continue;
                }
                let finding = INFO
                    .finding(format!("the fragment `{name}` states nothing"))
                    .at(used.span, format!("brings nothing in for {}", context.policy.target.name()));
                // What it states for another system, that one would miss.
                (finding, is_empty(context, used.file))
            }
        };
        findings.push(finding.help("remove it").fix(
            "remove the `use`",
            remove(context.sources, used.span),
            safe,
        ));
    }
}

/// The files that something in the policy comes from.
fn speaking(policy: &Policy) -> HashSet<FileId> {
    let mut files = HashSet::new();
    let mut add = |span: Span| {
        files.insert(span.file);
    };
    policy.uses.iter().for_each(|used| add(used.span));
    policy.params.iter().for_each(|param| add(param.span));
    policy.roots.iter().for_each(|root| add(root.span));
    policy.denials.iter().for_each(|denial| add(denial.span));
    policy.unguards.iter().for_each(|unguard| add(unguard.span));
    policy.needs.iter().for_each(|need| add(need.span));
    policy.env.iter().for_each(|entry| add(entry.span));
    policy.limits.values().for_each(|limit| add(limit.span));
    policy.seatbelt.iter().for_each(|rule| add(rule.span));
    policy.expectations.iter().for_each(|expectation| add(expectation.span));
    policy.tools.iter().chain(&policy.optional_tools).for_each(|tool| add(tool.span));
    let paths = policy.git_worktrees.iter().chain(&policy.executables).chain(&policy.tool_paths);
    paths.chain(&policy.working_directory).for_each(|path| add(path.span));
    policy.network.iter().for_each(|network| add(network.span));
    if let Some(Network::Only(rules)) = policy.network.as_ref().map(|network| &network.value) {
        rules.iter().for_each(|rule| add(rule.span));
    }
    policy.ipc.iter().for_each(|ipc| add(ipc.span));
    files
}

/// A group is part of the policy only where it is used.
fn defines_a_group(context: &Context<'_>, file: FileId) -> bool {
    context.policy.groups.iter().any(|group| group.span.file == file && group.uses > 0)
}

/// Whether a fragment states nothing for any system.
fn is_empty(context: &Context<'_>, file: FileId) -> bool {
    let statements = syntax::parse(context.sources, file).file.map(|file| file.statements);
    statements.is_some_and(|all| all.iter().all(|it| matches!(it.kind, StatementKind::Description(_))))
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{Access, Group, Used};

    fn using(times: usize) -> Case {
        let mut case = Case::in_workspace();
        for _ in 0..times {
            let (span, file) = (case.line("use \"std/case\""), case.fragment());
            case.policy.uses.push(Used { span, file });
        }
        case
    }

    #[test]
    fn a_fragment_must_state_something_and_once_is_enough() {
        assert_eq!(
            using(1).found("unused-fragment"),
            ["the fragment `std/case` states nothing\nuse \"std/case\" -- brings nothing in for linux"]
        );
        let mut case = using(2);
        case.in_fragment().root("/home/dev/other", Access::ReadOnly);
        assert_eq!(
            case.found("unused-fragment"),
            ["the fragment `std/case` is used twice\n\
              use \"std/case\" -- again\n\
              use \"std/case\" -- used here already"]
        );
    }

    #[test]
    fn a_fragment_of_groups_counts_as_used_where_one_of_them_is() {
        let mut case = using(1);
        let span = case.in_fragment().line("group inspection [ cat ls ]");
        for (uses, found) in [(0, 1), (1, 0)] {
            case.policy.groups = vec![Group { name: "inspection".into(), span, uses }];
            assert_eq!(case.found("unused-fragment").len(), found);
        }
    }
}
