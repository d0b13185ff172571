use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// An `executable` path that does not exist.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` whose path leads nowhere on this machine.
    ///
    /// ## Why it is bad
    ///
    /// What the first command builds there does not run, since walls stand on what is there when the profile is
    /// compiled. Or the path is a slip, and the program that should run does not.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     executable "$workspace/build"
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
    /// Looks alike and is fine: one program instead of a directory.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     executable "$workspace/target/debug/project"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the path, or make the directory before compiling.
    name: "missing-executable",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for bound in &context.binding.executables {
        let Ok(found) = &bound.found else { continue };
        if !found.exists() {
            findings.push(
                INFO.finding(format!("the executable path `{}` does not exist", found.canonical))
                    .at(bound.asked.span, "nothing is there")
                    .help("correct the path, or make the directory before compiling"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_is_to_run_must_be_there() {
        let mut case = Case::in_workspace();
        case.executable("/home/dev/project/build").executable("/home/dev/project/target");
        assert_eq!(
            case.found("missing-executable"),
            ["the executable path `/home/dev/project/build` does not exist\n\
              \"/home/dev/project/build\" -- nothing is there"]
        );
    }
}
