use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::source::Span;
use camino::Utf8Path;
use std::collections::BTreeMap;

rule! {
    /// Two granted programs of one name.
    ///
    /// ## What it does
    ///
    /// Notes tools that are found by the same name and are different programs: one by `tool "PATH"` and one by its name,
    /// or two by their paths.
    ///
    /// ## Why it is bad
    ///
    /// A command that calls it by its name gets the one whose directory comes first on its PATH: those stated by path come
    /// before the others, in the order in which they are stated. Both may run, and the reader of one statement does not see
    /// the other.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools python3
    ///     tool "~/.pyenv/versions/3.12.1/bin/python3"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tool "~/.pyenv/versions/3.12.1/bin/python3"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: two ways to the same program.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools python3
    ///     tool "/usr/bin/python3"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Keep the one that is meant, or nothing where the other is only there for scripts that name it by its path.
    name: "shadowed-tool",
    severity: Note,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    // Stated by path first: that is how they stand on PATH.
    let named = context.binding.tools.iter().filter(|tool| tool.lookup.tool().is_some()).count();
    let mut found: Vec<_> = tools(context).filter_map(|(tool, span)| Some((tool, span?))).collect();
    let named = named.min(found.len());
    found.rotate_left(named);
    let mut first: BTreeMap<&str, (&Utf8Path, &Utf8Path, Span)> = BTreeMap::new();
    for (tool, span) in found {
        let Some(name) = tool.path.file_name() else { continue };
        let (path, real, earlier) = *first.entry(name).or_insert((&tool.path, &tool.real, span));
        if *real == tool.real {
            continue;
        }
        findings.push(
            INFO.finding(format!("`{name}` is granted twice, and `{path}` comes first on PATH"))
                .at(span, format!("`{}`, found only by its path", tool.path))
                .at(earlier, "found by its name")
                .help("keep the one that is meant"),
        );
    }
}
