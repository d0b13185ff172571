use crate::bind::tools::Lookup;
use crate::finding::Finding;
use crate::lint::Context;
use crate::syntax::nearest;
use camino::Utf8PathBuf;

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
    /// ## What to do
    ///
    /// Install it, correct the name, write it under `optional-tools` where the work can do without, or name a
    /// program outside the fixed places with `tool "PATH"`.
    name: "missing-tool",
    severity: Error,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for tool in &context.binding.tools {
        if tool.optional || tool.asked.group.is_some() {
            continue;
        }
        let Lookup::Missing { searched } = &tool.lookup else { continue };
        let name = &tool.asked.name;
        let help = match nearest_program(context, name, searched) {
            Some(near) => format!("`{near}` is installed; otherwise install `{name}`, or move it to `optional-tools`"),
            None => format!(
                "install it, move it to `optional-tools`, or name it with `tool \"PATH\"`; looked in {}",
                places(searched)
            ),
        };
        findings.push(
            INFO.finding(format!("the tool `{name}` is not installed")).at(tool.asked.span, "required here").help(help),
        );
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

fn nearest_program(context: &Context<'_>, name: &str, searched: &[Utf8PathBuf]) -> Option<String> {
    let programs: Vec<String> =
        searched.iter().flat_map(|place| context.host.read_dir(place).unwrap_or_default()).collect();
    nearest(name, programs.iter().map(String::as_str)).map(str::to_owned)
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
        let help = case.findings("missing-tool")[0].help.clone().unwrap();
        assert_eq!(help, "`git` is installed; otherwise install `gti`, or move it to `optional-tools`");
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
