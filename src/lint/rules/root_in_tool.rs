use super::tool_in_writable_root::tools;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;
use crate::plan::Scope;
use std::collections::HashMap;

rule! {
    /// A writable root inside the install of a tool.
    ///
    /// ## What it does
    ///
    /// Reports a writable `root` that lies in a directory a tool is granted as a whole: its helper programs,
    /// its modules, its install.
    ///
    /// ## Why it is bad
    ///
    /// The tool loads code from that directory. Whatever the command writes there runs with the tool, the next
    /// time by whoever uses it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "/usr/lib/git-core/mergetools" read-write
    ///     tools git
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     tools git
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it may be read there, and not written.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/usr/lib/git-core/mergetools" read-only
    ///     tools git
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Let the command write elsewhere. A language's packages belong in a virtual environment in the workspace,
    /// made runnable with `executable`.
    name: "root-in-tool",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut trees = HashMap::new();
    for (tool, span) in tools(context) {
        for grant in tool.grants.iter().filter(|grant| grant.scope == Scope::Subtree) {
            trees.entry(grant.path.as_path()).or_insert((tool, grant, span));
        }
    }
    for root in Roots::of(context).iter().filter(|root| root.is_writable()) {
        // A root that holds the whole tree is a tool in a root, which has a rule of its own.
        let around = root.path().ancestors().skip(1).find_map(|ancestor| trees.get(ancestor));
        let Some((tool, grant, span)) = around else { continue };
        let mut finding = INFO
            .finding(format!("the writable root `{}` lies in the install of `{}`", root.path(), tool.name))
            .at(root.statement.span, "may be written")
            .help("let the command write elsewhere");
        if let Some(span) = span {
            finding = finding.at(*span, format!("has its {} in `{}`", grant.role, grant.path));
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::host::Kind;
    use crate::lint::testing::{Case, found, grant};
    use crate::plan::Scope;
    use crate::policy::Access::{ReadOnly, ReadWrite};
    use std::sync::Arc;

    #[test]
    fn a_writable_part_of_a_granted_tree_is_refused() {
        let Lookup::Found(mut tool) = found("git", "/usr/bin/git") else { unreachable!() };
        Arc::make_mut(&mut tool).grants.push(grant("/usr/lib/git-core", Scope::Subtree, "helper programs"));
        let mut case = Case::in_workspace();
        for path in ["/usr/lib/git-core/mergetools", "/usr/lib/git-core/doc"] {
            case.machine.add(path, Kind::Directory);
        }
        case.root("/usr/lib/git-core/mergetools", ReadWrite).root("/usr/lib/git-core/doc", ReadOnly);
        case.tool("git", None, false, Lookup::Found(tool));
        assert_eq!(
            case.found("root-in-tool"),
            ["the writable root `/usr/lib/git-core/mergetools` lies in the install of `git`\n\
              root \"/usr/lib/git-core/mergetools\" read-write -- may be written\n\
              git -- has its helper programs in `/usr/lib/git-core`"]
        );
    }
}
