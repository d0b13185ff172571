use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::source::Span;
use crate::bind::tools::Tool;
use camino::Utf8Path;
use std::collections::BTreeMap;

rule! {
    /// Two granted programs of one name.
    ///
    /// ## What it does
    ///
    /// Notes tools that are found by the same name and are different programs: one by `tool "PATH"` and one by its name,
    /// or two by their paths. It also notes a tool that its name does not lead to, since a program of that name that is not granted
    /// stands in a directory that comes first.
    ///
    /// ## Why it is bad
    ///
    /// A command that calls it by its name gets the one whose directory comes first on its PATH: those stated by path come
    /// before the others, in the order in which they are stated (but for one that a program without a grant would hide
    /// there). Both may run, and the reader of one statement does not see the other.
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
    let path = context.plan.environment.set.get("PATH").map_or("", String::as_str);
    let place = |tool: &Tool| path.split(':').position(|directory| tool.directory == directory);
    let mut found: Vec<_> = tools(context).filter_map(|(tool, span)| Some((tool, span?))).collect();
    // Stated by path first, where both are in one directory.
    let named = context.binding.tools.iter().filter(|tool| tool.lookup.tool().is_some()).count();
    let named = named.min(found.len());
    found.rotate_left(named);
    found.sort_by_key(|(tool, _)| place(tool).unwrap_or(usize::MAX));
    let mut first: BTreeMap<&str, (&Utf8Path, &Utf8Path, Span)> = BTreeMap::new();
    for (tool, span) in found {
        let Some(name) = tool.path.file_name() else { continue };
        if let Some((path, real, earlier)) = first.get(name).copied() {
            if *real != tool.real {
                findings.push(
                    INFO.finding(format!("`{name}` is granted twice, and `{path}` comes first on PATH"))
                        .at(span, format!("`{}`, found only by its path", tool.path))
                        .at(earlier, "found by its name")
                        .help("keep the one that is meant"),
                );
            }
            continue;
        }
        first.insert(name, (&tool.path, &tool.real, span));
        let before = path.split(':').take(place(tool).unwrap_or_default()).map(Utf8Path::new);
        let mut strangers = before.map(|directory| directory.join(name));
        if let Some(stranger) = strangers.find(|it| context.binding.is_stranger(context.host, it)) {
            findings.push(
                INFO.finding(format!("`{stranger}` comes first on PATH, and is not granted"))
                    .at(span, format!("`{}`, found only by its path", tool.path))
                    .help("state the tools of one name in one directory, or call this one by its path"),
            );
        }
    }
}
