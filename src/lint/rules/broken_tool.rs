use crate::bind::tools::Lookup;
use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// A required tool that is there but cannot be granted.
    ///
    /// ## What it does
    ///
    /// Reports a tool that was found and that cannot be started behind the walls: it is not executable, its
    /// interpreter or a library is missing, its link leads nowhere, it is a shim without its install, or its
    /// package's record cannot be read.
    ///
    /// ## Why it is bad
    ///
    /// A grant made from half of the facts opens too little, and the tool fails in a way that nobody
    /// understands; or too much.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools half-installed                 # a library of it is missing
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools python3
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the work can do without it, and nothing is granted.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     optional-tools half-installed
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Repair the install, or write the tool under `optional-tools` where the work can do without.
    name: "broken-tool",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let binding = context.binding;
    let named = binding
        .tools
        .iter()
        .filter(|tool| !tool.optional && tool.asked.group.is_none())
        .map(|tool| (tool.asked.name.as_str(), tool.asked.span, &tool.lookup));
    let stated =
        binding.tool_paths.iter().map(|tool| (tool.asked.path.as_str(), tool.asked.span, &tool.lookup));
    let shell = ("sh", context.policy.name.span, &binding.shell);
    for (name, span, lookup) in named.chain(stated).chain([shell]) {
        let Lookup::Broken { path, reason } = lookup else { continue };
        findings.push(
            INFO.finding(format!("the tool `{name}` cannot be granted: {reason}"))
                .at(span, format!("found as `{path}`"))
                .help("repair the install, or move it to `optional-tools` where the work can do without"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::lint::testing::Case;

    #[test]
    fn says_why_a_tool_cannot_be_granted() {
        let broken = || Lookup::Broken { path: "/usr/bin/x".into(), reason: "it is not executable".into() };
        let mut case = Case::in_workspace();
        case.tool("x", None, false, broken())
            .tool("x", None, true, broken())
            .tool_path("/usr/bin/x", broken());
        assert_eq!(
            case.found("broken-tool"),
            [
                "the tool `x` cannot be granted: it is not executable\nx -- found as `/usr/bin/x`",
                "the tool `/usr/bin/x` cannot be granted: it is not executable\n\"/usr/bin/x\" -- found as `/usr/bin/x`"
            ]
        );
    }
}
