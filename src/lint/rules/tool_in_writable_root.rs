use crate::bind::tools::Tool;
use crate::finding::Finding;
use crate::lint::places::{PlacedRoot, Roots, list};
use crate::lint::{Context, RuleInfo};
use crate::source::Span;
use camino::Utf8Path;
use std::collections::BTreeMap;

rule! {
    /// A tool whose code lies where the command may write.
    ///
    /// ## What it does
    ///
    /// Reports tools whose program, interpreter, libraries, helper programs or links on the way to them lie in
    /// a writable root.
    ///
    /// ## Why it is bad
    ///
    /// The command rewrites the tool, and the next run executes what it wrote: with this profile's rights, and
    /// outside it with those of the user who runs the same tool. A link that can be changed is as good as the
    /// program.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "/usr/bin" read-write
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
    /// Looks alike and is fine: a virtual environment links to the tool, and the tool not to it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/venvs" read-write
    ///     tools python3
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Narrow the root, protect the tool's directory with a read-only root, or let a build directory run with
    /// `executable`, which says what it is.
    name: "tool-in-writable-root",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    report(
        context,
        &INFO,
        |root, _| root.is_writable(),
        |finding| {
            finding.help("narrow the root, or protect the tool's directory with a read-only root inside it")
        },
        findings,
    );
}

/// A tool that was found, how it was named, and where.
pub(super) fn tools<'a>(context: &Context<'a>) -> impl Iterator<Item = (&'a Tool, Option<Span>)> + use<'a> {
    let binding = context.binding;
    let named = binding.tools.iter().map(|tool| (&tool.lookup, Some(tool.asked.span)));
    let stated = binding.tool_paths.iter().map(|tool| (&tool.lookup, Some(tool.asked.span)));
    named
        .chain(stated)
        .chain([(&binding.shell, None)])
        .filter_map(|(lookup, span)| Some((lookup.tool()?, span)))
}

/// Every path whose change changes the tool.
fn code(tool: &Tool) -> impl Iterator<Item = &Utf8Path> {
    let grants = tool.grants.iter().map(|grant| grant.path.as_path());
    let links = tool.hops.iter().map(|hop| hop.link.as_path());
    grants.chain(links).chain([tool.path.as_path(), tool.real.as_path()])
}

/// A piece of a tool's code in a root.
struct Use<'a> {
    tool: &'a Tool,
    path: &'a Utf8Path,
    span: Option<Span>,
}

/// One finding for each root of the wanted kind that holds code of tools.
pub(super) fn report<'a>(
    context: &Context<'a>,
    info: &RuleInfo,
    wanted: impl Fn(&PlacedRoot<'a>, &Utf8Path) -> bool,
    advise: impl Fn(Finding) -> Finding,
    findings: &mut Vec<Finding>,
) {
    /// Labels beyond this many would hide the code they point at.
    const LABELS: usize = 3;
    let roots = Roots::of(context);
    let mut held: BTreeMap<Span, (PlacedRoot<'a>, Vec<Use<'a>>)> = BTreeMap::new();
    for (tool, span) in tools(context) {
        let mut seen = Vec::new();
        for path in code(tool) {
            let Some(root) = roots.holding(path).filter(|root| wanted(root, path)) else { continue };
            if !seen.contains(&root.statement.span) {
                seen.push(root.statement.span);
                held.entry(root.statement.span).or_insert((*root, Vec::new())).1.push(Use {
                    tool,
                    path,
                    span,
                });
            }
        }
    }
    for (span, (root, uses)) in held {
        let mut names: Vec<_> = uses.iter().map(|used| used.tool.name.as_str()).collect();
        names.dedup();
        let kind = if root.is_writable() { "writable" } else { "read-only" };
        let mut finding = info
            .finding(format!("code of {} lies in the {kind} root `{}`", list(&names), root.path())).about(&names)
            .at(span, "holds code that is run");
        for Use { path, span, .. } in uses.iter().take(LABELS) {
            if let Some(span) = span {
                finding = finding.at(*span, format!("uses `{path}`"));
            }
        }
        findings.push(advise(finding));
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::tools::Lookup;
    use crate::host::Hop;
    use crate::lint::testing::{Case, found};
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn a_program_in_a_writable_root_is_refused() {
        let mut case = Case::in_workspace();
        case.tool("git", None, false, found("git", "/usr/bin/git"))
            .tool_path("/home/dev/project/target/build", found("build", "/home/dev/project/target/build"));
        assert_eq!(
            case.found("tool-in-writable-root"),
            ["code of `build` lies in the writable root `/home/dev/project`\n\
              root \"/home/dev/project\" read-write -- holds code that is run\n\
              \"/home/dev/project/target/build\" -- uses `/home/dev/project/target/build`"]
        );
        assert!(case.found("tool-in-root").is_empty());
    }

    #[test]
    fn a_protected_part_of_a_writable_root_is_only_a_warning() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/target", ReadOnly)
            .tool_path("/home/dev/project/target/build", found("build", "/home/dev/project/target/build"));
        assert!(case.found("tool-in-writable-root").is_empty());
        assert_eq!(case.found("tool-in-root").len(), 1);
    }

    #[test]
    fn a_link_that_can_be_changed_is_as_good_as_the_program() {
        let mut case = Case::in_workspace();
        let Lookup::Found(mut tool) = found("py", "/usr/bin/python3") else { unreachable!() };
        std::sync::Arc::make_mut(&mut tool).hops.push(Hop { link: "/home/dev/project/py".into(), target: "/usr/bin/python3".into() });
        case.tool_path("/home/dev/project/py", Lookup::Found(tool));
        assert_eq!(case.found("tool-in-writable-root").len(), 1);
    }

    #[test]
    fn the_shell_counts() {
        let mut case = Case::new();
        case.root("/usr/bin", ReadWrite);
        assert_eq!(
            case.found("tool-in-writable-root"),
            [
                "code of `sh` lies in the writable root `/usr/bin`\nroot \"/usr/bin\" read-write -- holds code that is run"
            ]
        );
    }
}
