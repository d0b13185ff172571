use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::authority::lender;
use crate::lint::edits::remove_tool;

rule! {
    /// A tool that runs with its owner's rights.
    ///
    /// ## What it does
    ///
    /// Reports granted tools whose file has the set-user-ID or set-group-ID bit, as this machine says.
    ///
    /// ## Why it is bad
    ///
    /// Such a program acts for whoever starts it with rights that the starter does not have, so a flaw in it hands them
    /// out. Behind the walls it does not get them (`PR_SET_NO_NEW_PRIVS` on Linux, and Seatbelt runs no such program at
    /// all), so it fails in a way that says nothing of the cause.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools chsh
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tools cat
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it is there with its bit, and no tool of this profile.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     expect { exec "chsh" denied }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave the tool out.
    name: "set-uid-tool",
    severity: Warning,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (tool, span) in tools(context) {
        let Ok(Some(entry)) = context.host.lstat(&tool.real) else { continue };
        // `sudo` and its like are known for what they do, and reported so.
        let is_known = lender(&tool.name).is_some();
        let (Some(span), false) = (span, entry.mode & 0o6000 == 0 || is_known) else { continue };
        let whose = if entry.mode & 0o4000 == 0 {
            format!("group {}", entry.gid)
        } else if entry.uid == 0 {
            "root".to_owned()
        } else {
            format!("user {}", entry.uid)
        };
        let finding = INFO
            .finding(format!("`{}` is to run with the rights of {whose}", tool.name))
            .at(span, format!("`{}` has mode {:04o}", tool.real, entry.mode & 0o7777))
            .help("leave it out: behind the walls it does not get these rights, and fails without them");
        findings.push(match remove_tool(context, span) {
            Some(edits) => finding.fix("remove the tool", edits, false),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::{Case, found};

    #[test]
    fn says_whose_rights() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"));
        assert!(case.found("set-uid-tool").is_empty());
        if let Some(entry) = case.machine.entries.get_mut(camino::Utf8Path::new("/usr/bin/git")) {
            entry.mode = 0o2755;
        }
        assert_eq!(
            case.found("set-uid-tool"),
            ["`git` is to run with the rights of group 1000\ngit -- `/usr/bin/git` has mode 2755"]
        );
    }
}
