use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::add_after;
use crate::policy::{Network, System};
use crate::source::Span;

rule! {
    /// A tool that is known to fail without a capability that the profile does not state.
    ///
    /// ## What it does
    ///
    /// Notes granted tools that need one of `needs`: terminal multiplexers without `terminal`, programs written in Go
    /// with an open network on a Mac without `tls`, viewers of processes there without `process-list`.
    ///
    /// ## Why it is bad
    ///
    /// The tool fails in its own words (`x509: certificate signed by unknown authority`, `open terminal failed`), which
    /// say nothing of the wall that caused it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     tools tmux
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     tools tmux
    ///     needs terminal
    /// }
    /// ```
    ///
    /// Looks alike and is fine: an editor uses the terminal that is there, and makes none.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tools sed
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State the capability under `needs`; `docs/language.md` says what it opens. Where the tool does without, nothing need
    /// be done.
    name: "missing-need",
    severity: Note,
    confidence: Possible,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// When a tool needs something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    OnMac,
    OnMacWithNetwork,
}

use When::{Always, OnMac, OnMacWithNetwork};

/// Tool, capability, when, and what happens without; from reports of those who met it.
const NEEDED: &[(&str, &str, When, &str)] = &[
    ("tmux", "terminal", Always, "cannot make a terminal"),
    ("screen", "terminal", Always, "cannot make a terminal"),
    ("script", "terminal", Always, "cannot make a terminal"),
    ("expect", "terminal", Always, "cannot make a terminal"),
    ("vim", "terminal", OnMac, "cannot put the terminal into raw mode"),
    ("nvim", "terminal", OnMac, "cannot put the terminal into raw mode"),
    ("nano", "terminal", OnMac, "cannot put the terminal into raw mode"),
    ("emacs", "terminal", OnMac, "cannot put the terminal into raw mode"),
    ("htop", "terminal", OnMac, "cannot put the terminal into raw mode"),
    ("pgrep", "process-list", OnMac, "sees no processes"),
    ("pkill", "process-list", OnMac, "sees no processes"),
    ("htop", "process-list", OnMac, "sees no processes"),
    ("gh", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("go", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("terraform", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("tofu", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("kubectl", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("helm", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("hugo", "tls", OnMacWithNetwork, "trusts no certificate"),
    ("rclone", "tls", OnMacWithNetwork, "trusts no certificate"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let is_mac = context.policy.target == System::Macos;
    let is_open = *context.policy.network() != Network::Off;
    let holds = |when: When| match when {
        Always => true,
        OnMac => is_mac,
        OnMacWithNetwork => is_mac && is_open,
    };
    for (tool, span) in tools(context) {
        let Some(span) = span else { continue };
        for (_, need, _, without) in
            NEEDED.iter().filter(|(name, _, when, _)| *name == tool.name && holds(*when))
        {
            if context.policy.needs.iter().any(|stated| stated.value == *need) {
                continue;
            }
            findings.push(
                INFO.finding(format!("`{}` is known to fail without `needs {need}`", tool.name))
                    .at(span, *without)
                    .help(format!("state `needs {need}`, where it is to be used for that"))
                    .fix(
                        format!("state `needs {need}`"),
                        vec![add_after(
                            context.sources,
                            tool_statement(context, span),
                            &[format!("needs {need}")],
                        )],
                        false,
                    ),
            );
        }
    }
}

/// The statement that a tool's name stands in.
fn tool_statement(context: &Context<'_>, span: Span) -> Span {
    let named = context.policy.tools.iter().chain(&context.policy.optional_tools);
    named.filter(|tool| tool.span == span).map(|tool| tool.statement).next().unwrap_or(span)
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};

    #[test]
    fn the_fix_stands_on_a_line_of_its_own() {
        let mut case = Case::in_workspace();
        case.tool("tmux", None, false, found("tmux", "/usr/bin/tmux"));
        let findings = case.findings("missing-need");
        assert_eq!(findings[0].fix.clone().unwrap().edits[0].replacement, "\nneeds terminal");
    }

    #[test]
    fn what_fails_only_on_a_mac_is_not_said_elsewhere() {
        let mut case = Case::in_workspace();
        case.tool("gh", None, false, found("gh", "/usr/bin/gh")).tool(
            "vim",
            None,
            false,
            found("vim", "/usr/bin/vim"),
        );
        assert!(case.found("missing-need").is_empty());
    }
}
