use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::authority::lender;
use crate::lint::edits::remove_tool;
use crate::policy::Network;

rule! {
    /// A tool that acts with rights from outside the walls.
    ///
    /// ## What it does
    ///
    /// Reports granted tools that do what they are told with another authority: container engines, `sudo` and its
    /// like, timers, service managers, message buses, `osascript` and `open`, readers of keychains; and, where the
    /// network is not off, clients of other machines, clusters, clouds and forges.
    ///
    /// ## Why it is bad
    ///
    /// What such a tool is asked to do is not done by the command, so no wall of the command stands around it. The
    /// walls may well keep the tool from reaching the program that it asks; then it does not work, and a profile that
    /// names it says what does not hold.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     tools docker
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     tools git
    /// }
    /// ```
    ///
    /// Looks alike and is fine: without a network there is no other machine to run anything on.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools ssh
    ///     network off
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave the tool out, and let a program outside the walls do that step. Where the command must have it, allow
    /// this with the reason.
    name: "authority-tool",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let is_off = *context.policy.network() == Network::Off;
    for (tool, span) in tools(context) {
        // A tool by its path is known by its file, whatever the link to it is called.
        let real = tool.real.file_name().unwrap_or_default();
        let Some(lender) =
            lender(&tool.name).or_else(|| lender(tool.path.file_name()?)).or_else(|| lender(real))
        else {
            continue;
        };
        let Some(span) = span.filter(|_| !(lender.by_network && is_off)) else { continue };
        let finding =
            INFO.finding(format!("`{}` acts with rights from outside the walls", lender.name))
                .at(span, lender.lends)
                .help("leave it out, and let a program outside the walls do that step; where the command must have it, allow this with the reason");
        findings.push(match remove_tool(context, span) {
            Some(edits) => finding.fix("remove the tool", edits, false),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};
    use crate::policy::Network;
    use crate::source::Spanned;

    #[test]
    fn a_client_of_other_machines_counts_only_with_a_network() {
        let mut case = Case::in_workspace();
        case.tool("ssh", None, false, found("ssh", "/usr/bin/ssh"))
            .tool_path("/opt/x/sudo", found("sudo", "/opt/x/sudo"));
        assert_eq!(
            case.found("authority-tool"),
            [
                "`sudo` acts with rights from outside the walls\n\"/opt/x/sudo\" -- runs a command as another user"
            ]
        );
        let span = case.line("network all");
        case.policy.network = Some(Spanned::new(Network::All, span));
        assert_eq!(case.found("authority-tool").len(), 2);
    }
}
