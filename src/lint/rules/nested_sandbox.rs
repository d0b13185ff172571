use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove_tool;
use crate::policy::System;

rule! {
    /// A tool that builds walls of its own.
    ///
    /// ## What it does
    ///
    /// Reports granted tools that start their work in a sandbox: `bwrap`, `firejail`, `flatpak`, browsers, other agents
    /// and, on a Mac, `sandbox-exec`, `swift` and `xcodebuild`.
    ///
    /// ## Why it is bad
    ///
    /// It does not work. A Mac applies no second Seatbelt profile, and on Linux the walls forbid to make namespaces, since
    /// they are a way to the parts of the kernel with the most flaws. The tool fails, in words that do not name the
    /// cause, and an agent then looks for ways around it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     tools bwrap
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
    /// Looks alike and is fine: the profile says itself that it does not run.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     expect { exec "bwrap" denied }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Tell the tool to do without (`swift build --disable-sandbox`, `chromium --no-sandbox`): it stands behind these walls
    /// already. Allow this where it is told so.
    name: "nested-sandbox",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

const BOTH: &str = "leave it out: it is behind walls already";

/// Tools that make a sandbox, what to do, and the system where it matters; from their manuals and the reports of those who met it.
const TOOLS: &[(&str, Option<System>, &str)] = &[
    ("bwrap", Some(System::Linux), BOTH),
    ("firejail", Some(System::Linux), BOTH),
    ("flatpak", Some(System::Linux), BOTH),
    ("snap", Some(System::Linux), BOTH),
    ("nsjail", Some(System::Linux), BOTH),
    ("minijail0", Some(System::Linux), BOTH),
    ("unshare", Some(System::Linux), BOTH),
    ("systemd-nspawn", Some(System::Linux), BOTH),
    ("rootlesskit", Some(System::Linux), BOTH),
    ("sandbox-exec", Some(System::Macos), BOTH),
    ("swift", Some(System::Macos), "call `swift build --disable-sandbox`"),
    ("xcodebuild", Some(System::Macos), "set `-IDEPackageSupportDisableManifestSandbox=YES`"),
    ("chromium", None, "call it with `--no-sandbox`"),
    ("chromium-browser", None, "call it with `--no-sandbox`"),
    ("google-chrome", None, "call it with `--no-sandbox`"),
    ("microsoft-edge", None, "call it with `--no-sandbox`"),
    ("codex", None, "tell it to leave its own sandbox off"),
    ("srt", None, BOTH),
    ("nono", None, BOTH),
    ("palisade", None, BOTH),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (tool, span) in tools(context) {
        let here = |system: &Option<System>| system.is_none_or(|system| system == context.policy.target);
        let known = TOOLS.iter().find(|(name, system, _)| *name == tool.name && here(system));
        let (Some((name, _, help)), Some(span)) = (known, span) else { continue };
        let finding = INFO
            .finding(format!("`{name}` makes a sandbox of its own, which fails behind walls"))
            .at(span, "cannot make another one inside")
            .help(*help);
        findings.push(match remove_tool(context, span).filter(|_| *help == BOTH) {
            Some(edits) => finding.fix("remove the tool", edits, false),
            None => finding,
        });
    }
}
