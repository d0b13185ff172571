use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A variable that Palisade sets for every command, set or passed by the profile.
    ///
    /// ## What it does
    ///
    /// Reports `PATH`, `HOME` and `TMPDIR` under `env`.
    ///
    /// ## Why it is bad
    ///
    /// Palisade sets them to what holds behind the walls: `PATH` to the directories of the granted tools, `HOME` to
    /// a directory that is empty, `TMPDIR` to one of the command's own that is removed afterwards. What the
    /// profile says takes their place. Passed, the caller's value names places that the walls close, and another
    /// caller has another one.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { pass PATH }
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
    /// Looks alike and is fine: a directory that Palisade does not set.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     env { set XDG_CACHE_HOME "$workspace/target" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out: name programs under `tools` or with `tool "PATH"`, and settings one by one. Where a
    /// program needs its own value, set one, and allow this finding with the reason.
    name: "replaced-default",
    severity: Warning,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// What Palisade sets and what is lost without it.
pub(super) const DEFAULTS: [(&str, &str); 3] = [
    ("HOME", "programs no longer see an empty home: they look for settings and write in the one named here"),
    ("PATH", "programs are no longer looked for in the directories of the granted tools alone"),
    ("TMPDIR", "temporary files no longer go to the private directory that is removed afterwards"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        let Some((name, loss)) = DEFAULTS.iter().find(|(name, _)| *name == entry.name) else { continue };
        let word = if entry.value.is_some() { "sets" } else { "passes" };
        findings.push(
            INFO.finding(format!("the environment {word} `{name}`, which Palisade sets itself"))
                .at(entry.span, *loss)
                .help("leave it out; where a program needs its own value, set one and allow this finding with the reason")
                .fix("remove the variable", remove(context.sources, entry.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::DEFAULTS;
    use crate::lint::testing::Case;

    #[test]
    fn each_default_set_or_passed_is_reported_and_says_what_is_lost() {
        for (name, loss) in DEFAULTS {
            for (value, line) in [(None, format!("pass {name}")), (Some("/x"), format!("set {name} \"/x\""))]
            {
                let mut case = Case::in_workspace();
                let found = case.env(name, value).env("TERM", None).found("replaced-default");
                assert_eq!(found.len(), 1, "{name}");
                assert!(found[0].ends_with(&format!("\n{line} -- {loss}")), "{found:?}");
            }
        }
    }
}
