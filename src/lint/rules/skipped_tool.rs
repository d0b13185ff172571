use crate::bind::tools::Lookup;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::list;
use crate::source::Span;
use std::collections::BTreeMap;

rule! {
    /// An optional tool, or a member of a group, that this machine lacks.
    ///
    /// ## What it does
    ///
    /// Notes tools under `optional-tools` and members of `@groups` that are not installed or cannot be granted.
    ///
    /// ## Why it is bad
    ///
    /// It is not: nothing is granted for them, and the rest of the profile holds. But whoever wonders why a
    /// command is not found should be able to learn it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     optional-tools no-such-tool
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     optional-tools git
    /// }
    /// ```
    ///
    /// Looks alike and is fine: installed, by way of a link.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     optional-tools awk
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Nothing, or install it and compile again. Write a tool's name under `tools` where the work cannot do
    /// without.
    name: "skipped-tool",
    severity: Note,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut skipped: BTreeMap<Span, (Vec<&str>, Option<String>)> = BTreeMap::new();
    for tool in &context.binding.tools {
        if !tool.optional && tool.asked.group.is_none() {
            continue;
        }
        let reason = match &tool.lookup {
            Lookup::Found(_) => continue,
            Lookup::Missing { .. } => None,
            Lookup::Broken { path, reason } => Some(format!("`{path}`: {reason}")),
        };
        let (names, reasons) = skipped.entry(tool.asked.span).or_default();
        names.push(&tool.asked.name);
        *reasons = reasons.take().or(reason);
    }
    for (span, (names, reason)) in skipped {
        let verb = if names.len() == 1 { "is" } else { "are" };
        findings.push(
            INFO.finding(format!("{} {verb} not available here", list(&names))).about(&names)
                .at(span, reason.unwrap_or_else(|| "granted nothing".to_owned()))
                .help("nothing need be done; name a tool under `tools` where the work cannot do without"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::lint::testing::Case;

    #[test]
    fn members_of_one_group_are_one_note() {
        let missing = || Lookup::Missing { searched: Vec::new() };
        let broken = Lookup::Broken { path: "/usr/bin/rg".into(), reason: "it is a shim".into() };
        let mut case = Case::in_workspace();
        case.tool("file", Some("inspection"), false, missing()).tool("rg", None, true, broken).tool(
            "x",
            None,
            false,
            missing(),
        );
        let span = case.policy.tools[0].span;
        let mut other = case.binding.tools[0].clone();
        other.asked.name = "patch".into();
        other.asked.span = span;
        case.binding.tools.push(other);
        assert_eq!(
            case.found("skipped-tool"),
            [
                "`file`, `patch` are not available here\n@inspection -- granted nothing",
                "`rg` is not available here\nrg -- `/usr/bin/rg`: it is a shim"
            ]
        );
    }
}
