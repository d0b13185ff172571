use crate::bind::tools::Lookup;
use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::neighbours::Neighbours;
use crate::lint::places::list;
use crate::policy::ToolName;
use crate::source::Span;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

rule! {
    /// A tool that is required and not installed.
    ///
    /// ## What it does
    ///
    /// Reports a name in `tools`, written out and not through a group, that is in none of the fixed places
    /// where programs are looked for, a `tool "PATH"` where nothing is, and a system without a shell.
    ///
    /// ## Why it is bad
    ///
    /// The profile says that the work needs it. An agent whose tool is missing tries others, and installs what
    /// it should not.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools gti
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools git
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the work can do without it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     optional-tools gti
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Install it, correct the name, write it under `optional-tools` where the work can do without, or name a
    /// program outside the fixed places with `tool "PATH"`.
    name: "missing-tool",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

/// Up to so many of one statement are reported one by one, each with the name that was perhaps meant.
const SINGLY: usize = 5;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut neighbours = Neighbours::new(context.host);
    let mut statements: BTreeMap<Span, Vec<(&ToolName, &[Utf8PathBuf])>> = BTreeMap::new();
    for tool in &context.binding.tools {
        if tool.optional || tool.asked.group.is_some() {
            continue;
        }
        if let Lookup::Missing { searched } = &tool.lookup {
            statements.entry(tool.asked.statement).or_default().push((&tool.asked, searched));
        }
    }
    for missing in statements.into_values() {
        match &missing[..] {
            [(first, searched), ..] if missing.len() > SINGLY => {
                let names: Vec<_> = missing.iter().map(|(tool, _)| tool.name.as_str()).collect();
                findings.push(
                    INFO.finding(format!("{} are not installed", list(&names))).about(&names)
                        .at(first.span, format!("the first of {} that are missing here", names.len()))
                        .help(format!(
                            "install them, correct their names, or move them to `optional-tools`; looked in {}",
                            places(searched)
                        )),
                );
            }
            _ => findings.extend(missing.iter().map(|(tool, searched)| one(tool, searched, &mut neighbours))),
        }
    }
    for tool in &context.binding.tool_paths {
        if matches!(tool.lookup, Lookup::Missing { .. }) {
            findings.push(
                INFO.finding(format!("there is no program `{}`", tool.asked.path))
                    .at(tool.asked.span, "nothing is there")
                    .help("correct the path, or remove the statement"),
            );
        }
    }
    if let Lookup::Missing { searched } = &context.binding.shell {
        findings.push(
            INFO.finding("this system has no shell")
                .at(context.policy.name.span, "needs a shell to run commands")
                .help(format!("install one; looked in {}", places(searched))),
        );
    }
}

fn places(searched: &[Utf8PathBuf]) -> String {
    searched.iter().map(|place| format!("`{place}`")).collect::<Vec<_>>().join(", ")
}

/// Whether one name is the other mistyped. Names of programs are short, and many are like each other: `rg` is no slip for `rm`.
fn is_slip(name: &str, near: &str) -> bool {
    name.len() > 2 && strsim::osa_distance(name, near) <= (name.len() / 4).max(1)
}

fn one(tool: &ToolName, searched: &[Utf8PathBuf], neighbours: &mut Neighbours<'_>) -> Finding {
    let name = &tool.name;
    let near = neighbours.nearest(name, searched).filter(|near| is_slip(name, near));
    let help = match near {
        Some(near) => {
            format!("`{near}` is installed; otherwise install `{name}`, or move it to `optional-tools`")
        }
        None => format!(
            "install it, move it to `optional-tools`, or name it with `tool \"PATH\"`; looked in {}",
            places(searched)
        ),
    };
    let finding =
        INFO.finding(format!("the tool `{name}` is not installed")).at(tool.span, "required here").help(help);
    // A name that must be quoted is rare, and no slip for one that need not.
    let is_plain = |near: &&str| near.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match near.filter(is_plain) {
        Some(near) => {
            let edit = Edit { span: tool.span, replacement: near.to_owned() };
            finding.fix(format!("write `{near}`"), vec![edit], false)
        }
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::lint::testing::{Case, found};

    fn missing() -> Lookup {
        Lookup::Missing { searched: vec!["/usr/local/bin".into(), "/usr/bin".into()] }
    }

    #[test]
    fn a_required_tool_must_be_there() {
        let mut case = Case::in_workspace();
        case.tool("gti", None, false, missing())
            .tool("file", Some("inspection"), false, missing())
            .tool("rg", None, true, missing())
            .tool("git", None, false, found("git", "/usr/bin/git"))
            .tool_path("/opt/none", missing());
        assert_eq!(
            case.found("missing-tool"),
            [
                "the tool `gti` is not installed\ngti -- required here",
                "there is no program `/opt/none`\n\"/opt/none\" -- nothing is there"
            ]
        );
        for (name, near, slip) in [("rg", "rm", false), ("node", "od", false), ("pyhton3", "python3", true)] {
            assert_eq!(super::is_slip(name, near), slip, "{name} {near}");
        }
        let help = case.findings("missing-tool")[0].help.clone().unwrap();
        assert_eq!(help, "`git` is installed; otherwise install `gti`, or move it to `optional-tools`");
    }

    #[test]
    fn many_of_one_statement_are_one_finding() {
        let mut case = Case::in_workspace();
        let span = case.line("tools aa bb cc dd ee ff git");
        for name in ["aa", "bb", "cc", "dd", "ee"] {
            case.tool(name, None, false, missing());
            if let Some(tool) = case.binding.tools.last_mut() {
                tool.asked.statement = span;
            }
        }
        assert_eq!(case.found("missing-tool").len(), 5);
        case.tool("ff", None, false, missing());
        case.binding.tools[5].asked.statement = span;
        case.tool("gg", None, false, missing());
        assert_eq!(
            case.found("missing-tool"),
            [
                "`aa`, `bb`, `cc` and 3 more are not installed\naa -- the first of 6 that are missing here",
                "the tool `gg` is not installed\ngg -- required here"
            ]
        );
    }

    #[test]
    fn a_system_without_a_shell_is_named() {
        let mut case = Case::in_workspace();
        case.binding.shell = missing();
        assert_eq!(
            case.found("missing-tool"),
            ["this system has no shell\nprofile \"case\" -- needs a shell to run commands"]
        );
    }
}
