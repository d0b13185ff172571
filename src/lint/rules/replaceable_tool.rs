use super::replaceable_root::Others;
use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// A tool that every user of the machine may replace.
    ///
    /// ## What it does
    ///
    /// Reports granted tools whose program, interpreter, libraries, or a directory on the way to them may be written by
    /// everybody, as its mode says. A directory with the sticky bit, such as `/tmp`, is left out: in it nobody takes away
    /// what is another's.
    ///
    /// ## Why it is bad
    ///
    /// Whoever has any account on the machine decides what this profile runs, and any other command of this user
    /// does, behind whatever walls. The digests in the manifest tell it at the next `exec`; the next compile takes it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tool "/srv/tools/report"             # /srv/tools has mode 0777
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     tool "/opt/zed/bin/zed"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a tool of the user's own, which nobody else may write.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     tool "~/.local/bin/own"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Take the right to write away from others (`chmod o-w`), or state a tool that lies elsewhere.
    name: "replaceable-tool",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut others = Others::new(context.host);
    for (tool, span) in tools(context) {
        // Canonical paths only: what lies below a link is looked at where the link leads.
        let grants = tool.grants.iter().map(|grant| grant.path.as_path());
        let mut code =
            grants.chain(tool.hops.iter().map(|hop| hop.link.as_path())).chain([tool.real.as_path()]);
        let Some((path, open)) = code.find_map(|path| Some((path, others.may_replace(path)?))) else {
            continue;
        };
        let mut finding = INFO
            .finding(format!("every user of this machine may replace `{path}`, which `{}` runs", tool.name))
            .help(format!("take the right away: `chmod o-w {open}`; or state a tool that lies elsewhere"));
        if let Some(span) = span {
            finding = finding.at(span, format!("`{open}` may be written by everybody"));
        }
        findings.push(finding);
    }
}
