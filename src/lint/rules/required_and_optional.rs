use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove_tool;
use std::collections::HashMap;

rule! {
    /// A tool that is both required and optional.
    ///
    /// ## What it does
    ///
    /// Reports a name written under both `tools` and `optional-tools`. A member of a group may be written under
    /// `optional-tools` too.
    ///
    /// ## Why it is bad
    ///
    /// One of the two does not hold. Whoever reads the other expects a machine without the tool to work, or not
    /// to.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools git
    ///     optional-tools git
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools git
    ///     optional-tools python3
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a member of a group is optional anyway.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools @inspection
    ///     optional-tools grep
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Keep the one that is meant.
    name: "required-and-optional",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let written = |tool: &&crate::policy::ToolName| tool.group.is_none();
    let required: HashMap<_, _> =
        context.policy.tools.iter().filter(written).map(|tool| (&tool.name, tool.span)).collect();
    for optional in context.policy.optional_tools.iter().filter(written) {
        let Some(&span) = required.get(&optional.name) else { continue };
        let finding = INFO
            .finding(format!("the tool `{}` is both required and optional", optional.name))
            .at(optional.span, "optional here")
            .at(span, "required here")
            .help("keep the one that is meant");
        findings.push(match remove_tool(context, optional.span) {
            Some(edits) => finding.fix("require it", edits, false),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};

    #[test]
    fn a_name_written_in_both_lists_is_refused_and_a_group_member_is_not() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"))
            .tool("git", None, true, found("git", "/usr/bin/git"))
            .tool("cat", Some("inspection"), false, found("cat", "/usr/bin/cat"))
            .tool("cat", None, true, found("cat", "/usr/bin/cat"));
        assert_eq!(
            case.found("required-and-optional"),
            ["the tool `git` is both required and optional\ngit -- optional here\ngit -- required here"]
        );
    }
}
