use super::tool_in_writable_root::report;
use crate::finding::Finding;
use crate::lint::Context;
use camino::Utf8Path;

rule! {
    /// A tool whose code lies in a read-only root.
    ///
    /// ## What it does
    ///
    /// Reports tools whose program, interpreter, libraries or helper programs lie in a root that the command
    /// may only read.
    ///
    /// ## Why it is bad
    ///
    /// A root is data to work on, and nothing in a root may be executed; a tool in it is the exception that a
    /// reader overlooks. Another profile, or the user's own editor, may well write there, and what it leaves is
    /// then run here.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "/usr/bin" read-only
    ///     tools git
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
    /// Looks alike and is fine: a directory of the system that holds no code of the tools.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/usr/lib/python3" read-only
    ///     tools git
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the root: what a tool needs of its own install it is granted without one. Where programs of a
    /// project are to run, a virtual environment's say, say so with `executable`: code in what it names is not
    /// reported.
    name: "tool-in-root",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let stated = |path: &Utf8Path| {
        let mut places = context.binding.executables.iter().filter_map(|bound| bound.canonical());
        places.any(|place| path.starts_with(place))
    };
    report(
        context,
        &INFO,
        |root, path| !root.is_writable() && !stated(path),
        |finding| {
            finding.help("remove the root if it is only there for the tool: what a tool needs of its install it is granted without one")
        },
        findings,
    );
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};
    use crate::policy::Access;

    #[test]
    fn tools_in_one_root_are_one_finding() {
        let mut case = Case::in_workspace();
        case.root("/usr/bin", Access::ReadOnly).tool("git", None, false, found("git", "/usr/bin/git")).tool(
            "python3",
            None,
            false,
            found("python3", "/usr/bin/python3"),
        );
        assert_eq!(
            case.found("tool-in-root"),
            ["code of `git`, `python3`, `sh` lies in the read-only root `/usr/bin`\n\
              root \"/usr/bin\" read-only -- holds code that is run\n\
              git -- uses `/usr/bin/git`\n\
              python3 -- uses `/usr/bin/python3`"]
        );
        assert!(case.found("tool-in-writable-root").is_empty());
    }

    #[test]
    fn code_that_the_profile_says_is_run_is_no_surprise() {
        let mut case = Case::in_workspace();
        let python = "/home/dev/project/.venv/bin/python";
        case.root("/home/dev/project/.venv", Access::ReadOnly)
            .executable("/home/dev/project/.venv")
            .tool_path(python, found("python", python));
        assert_eq!(case.found("tool-in-root"), [""; 0]);
    }
}
