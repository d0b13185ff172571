use crate::finding::Finding;
use crate::lint::Context;
use camino::Utf8Path;
use std::collections::BTreeSet;

rule! {
    /// An `executable` that does not lie inside a root.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` whose path is outside every root, above one, or a whole root itself.
    ///
    /// ## Why it is bad
    ///
    /// `executable` says which part of a root holds programs. At `/`, `/usr` or a directory that holds the
    /// workspace it would say much more: every program of the system could run, and the list of tools would mean
    /// nothing. So nothing is granted there, and the profile does not hold what it says.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     executable "/usr"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     executable "$workspace/target"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a root, but one that lies in another.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     root "$workspace/vendor" read-only
    ///     executable "$workspace/vendor"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name the directory inside a root that holds the programs: `bin` of a virtual environment, the output of a
    /// build. A single program elsewhere is `tool "PATH"`, one of the system is a name under `tools`.
    name: "executable-outside-roots",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let places = context.binding.executable_places();
    let roots: BTreeSet<&Utf8Path> =
        context.binding.usable_roots(context.policy).into_iter().map(|(_, path, _)| path).collect();
    for bound in &context.binding.executables {
        let Ok(found) = &bound.found else { continue };
        let path = found.canonical.as_path();
        // Where a command may have put the link, that is what is wrong with it.
        if places.hold(path) || context.binding.is_plantable(context.policy, &found.hops) {
            continue;
        }
        let below = roots.range(path..).next().filter(|root| root.starts_with(path));
        let message = match below {
            Some(root) if *root == path => format!("the executable path `{path}` is a whole root"),
            Some(root) => format!("the executable path `{path}` lies above the root `{root}`"),
            None => format!("the executable path `{path}` is outside every root"),
        };
        let help = match below {
            Some(root) => format!("name the directory inside `{root}` that holds the programs"),
            None => "add the root that holds it; one program elsewhere is `tool \"PATH\"`, one of the system a name under `tools`".to_owned(),
        };
        findings.push(INFO.finding(message).at(bound.asked.span, "grants nothing").help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn what_is_to_run_lies_inside_a_root() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/vendor", Access::ReadOnly);
        for path in
            ["/", "/usr", "/home/dev", "/home/dev/project", "/home/dev/projects", "/home/dev/project/target"]
        {
            case.executable(path);
        }
        // Inside one root and another one itself, or above one: `writable-executable` looks at these.
        case.executable("/home/dev/project/vendor").executable("/home/dev/project/third-party/x");
        assert_eq!(
            case.found("executable-outside-roots"),
            [
                "the executable path `/` lies above the root `/home/dev/project`\n\"/\" -- grants nothing",
                "the executable path `/usr` is outside every root\n\"/usr\" -- grants nothing",
                "the executable path `/home/dev` lies above the root `/home/dev/project`\n\
                 \"/home/dev\" -- grants nothing",
                "the executable path `/home/dev/project` is a whole root\n\
                 \"/home/dev/project\" -- grants nothing",
                "the executable path `/home/dev/projects` is outside every root\n\
                 \"/home/dev/projects\" -- grants nothing",
            ]
        );
    }
}
