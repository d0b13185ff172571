use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::{Blocks, remove, remove_word, statement_of};
use crate::policy::PolicyPath;
use crate::source::Span;
use std::collections::HashMap;

rule! {
    /// The same entry stated twice.
    ///
    /// ## What it does
    ///
    /// Reports a word that stands twice under `tools`, `optional-tools` or `needs` of one file, and a path that stands twice
    /// under `executable`, `tool`, `git-worktree` or `unix`, and an expectation that is written twice. Roots and denials have rules
    /// of their own.
    ///
    /// ## Why it is bad
    ///
    /// Whoever removes one of the two believes that the tool is no longer granted, while the other still grants it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools git find
    ///     tools git
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools git find
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a member of a group that is also named, and so required.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools @inspection grep
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Keep one of them.
    name: "repeated-entry",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.policy;
    let mut blocks = Blocks::new(context.sources);
    for again in &policy.repeated {
        let finding = INFO
            .finding(format!("`{}` stands twice under `{}`", again.word, again.list))
            .at(again.span, "again")
            .at(again.first, "first here")
            .help("keep one of them");
        let alone = statement_of(context.sources, again.span, again.list).filter(|it| ends(context, *it));
        let edits = match alone {
            Some(statement) => remove(context.sources, statement),
            None => remove_word(context.sources, again.span),
        };
        findings.push(finding.fix("remove the repetition", edits, true));
    }
    for (word, paths) in [
        ("executable", &policy.executables),
        ("tool", &policy.tool_paths),
        ("git-worktree", &policy.git_worktrees),
    ] {
        repeated_paths(context, &mut blocks, word, paths, findings);
    }
    let mut first: HashMap<_, Span> = HashMap::new();
    for socket in &policy.unix {
        let earlier = *first.entry((socket.span.file, &socket.path.path)).or_insert(socket.span);
        if earlier != socket.span && same_text(&mut blocks, earlier, socket.span) {
            findings.push(
                INFO.finding(format!("`unix` states `{}` twice", socket.path.path))
                    .at(socket.span, "again")
                    .at(earlier, "first here")
                    .help("keep one of them")
                    .fix("remove the repetition", remove(context.sources, socket.span), true),
            );
        }
    }
    let mut first: HashMap<_, Span> = HashMap::new();
    for expectation in &policy.expectations {
        let question =
            (expectation.span.file, &expectation.operation, &expectation.subject, expectation.allowed);
        let earlier = *first.entry(question).or_insert(expectation.span);
        if earlier != expectation.span && same_text(&mut blocks, earlier, expectation.span) {
            findings.push(
                INFO.finding(format!(
                    "`{} {}` is expected twice",
                    expectation.operation, expectation.subject
                ))
                .at(expectation.span, "again")
                .at(earlier, "first here")
                .help("keep one of them")
                .fix(
                    "remove the repetition",
                    remove(context.sources, expectation.span),
                    true,
                ),
            );
        }
    }
}

fn repeated_paths(
    context: &Context<'_>,
    blocks: &mut Blocks<'_>,
    word: &str,
    paths: &[PolicyPath],
    findings: &mut Vec<Finding>,
) {
    let mut first: HashMap<_, Span> = HashMap::new();
    for path in paths {
        let earlier = *first.entry((path.span.file, &path.path)).or_insert(path.span);
        let places =
            (statement_of(context.sources, path.span, word), statement_of(context.sources, earlier, word));
        let (Some(statement), Some(stated)) = places else { continue };
        if earlier != path.span && same_text(blocks, stated, statement) {
            findings.push(
                INFO.finding(format!("`{word}` states `{}` twice", path.path))
                    .at(statement, "again")
                    .at(stated, "first here")
                    .help("keep one of them")
                    .fix("remove the repetition", remove(context.sources, statement), true),
            );
        }
    }
}

/// Whether the second of two statements says what the first says on whatever machine. Of two in different `on` blocks each has its system.
fn same_text(blocks: &mut Blocks<'_>, one: Span, other: Span) -> bool {
    blocks.is_said_by((other, other), (one, one))
}

/// Whether nothing follows a statement on its line that belongs to it.
fn ends(context: &Context<'_>, statement: Span) -> bool {
    let rest = context.sources.file(statement.file).text.get(statement.range().end..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default().trim_start();
    line.is_empty() || line.starts_with([';', '#', '}'])
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Repeated;

    #[test]
    fn a_word_that_is_repeated_is_shown_with_the_first() {
        let mut case = Case::new();
        let (first, span) = (case.line("tools rg"), case.line("rg"));
        case.policy.repeated.push(Repeated { list: "tools", word: "rg".into(), span, first });
        assert_eq!(
            case.found("repeated-entry"),
            ["`rg` stands twice under `tools`\nrg -- again\ntools rg -- first here"]
        );
    }
}
