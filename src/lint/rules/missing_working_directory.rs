use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::add_after;

rule! {
    /// A profile without a working directory.
    ///
    /// ## What it does
    ///
    /// Reports a profile that states no `working-directory` and whose workspace lies in no root, and one whose
    /// working directory does not exist or is not a directory.
    ///
    /// ## Why it is bad
    ///
    /// A command starts somewhere. Taking the caller's directory would let the place a command is called from
    /// decide what relative paths mean.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "~/other" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "~/other" read-only
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the root holds the workspace by another name.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/work" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State `working-directory`, or a root that holds the workspace.
    name: "missing-working-directory",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(bound) = &context.binding.working_directory else {
        let workspace = &context.policy.workspace;
        let finding = INFO
            .finding(format!(
                "no working directory is stated, and the workspace `{workspace}` lies in no root"
            ))
            .at(context.policy.name.span, "starts nowhere")
            .help("state `working-directory \"PATH\"`, or a root that holds the workspace");
        findings.push(match context.policy.roots.as_slice() {
            // A fragment cannot say it.
            [root] if root.span.file == context.policy.name.span.file => {
                let statement = format!("working-directory {}", context.sources.text(root.path.span));
                let edit = add_after(context.sources, root.span, &[statement]);
                finding.fix("start in the one root", vec![edit], false)
            }
            _ => finding,
        });
        return;
    };
    // What cannot be examined is reported as such.
    let Ok(found) = &bound.found else { return };
    let fault = match &found.entry {
        None => "does not exist",
        Some(entry) if !entry.is_directory() => "is not a directory",
        Some(_) => return,
    };
    findings.push(
        INFO.finding(format!("the working directory `{}` {fault}", found.canonical))
            .at(bound.asked.span, "commands are to start here")
            .help("state a directory that is there"),
    );
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn a_command_must_start_in_a_directory_that_is_there() {
        let mut case = Case::in_workspace();
        assert_eq!(
            case.found("missing-working-directory"),
            ["no working directory is stated, and the workspace `/home/dev/project` lies in no root\n\
              profile \"case\" -- starts nowhere"]
        );
        case.working_directory("/home/dev/project/src/main.rs");
        assert!(case.found("missing-working-directory")[0].contains("main.rs` is not a directory\n"));
        case.working_directory("/home/dev/project/none");
        assert!(case.found("missing-working-directory")[0].contains("none` does not exist\n"));
        case.working_directory("/home/dev/project/src");
        assert!(case.found("missing-working-directory").is_empty());
    }
}
