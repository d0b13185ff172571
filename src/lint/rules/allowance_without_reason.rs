use crate::finding::Finding;
use crate::lint::{Context, allowances};

rule! {
    /// An allowance that gives no reason.
    ///
    /// ## What it does
    ///
    /// Reports a `# palisade: allow(…)` with nothing after it. Such a comment allows nothing.
    ///
    /// ## Why it is bad
    ///
    /// The next reader cannot tell a decision from a habit, and keeps the hole open when its cause is long
    /// gone.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     # palisade: allow(loader-variable)
    ///     env { set LANG "C.UTF-8" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     # palisade: allow(loader-variable) the modules there belong to root
    ///     env { set PYTHONPATH "/usr/lib/python3/dist-packages" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: one word is a reason.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(loader-variable) vendored
    ///     env { set PYTHONPATH "/usr/lib/python3/dist-packages" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Say in a few words why it is right here.
    name: "allowance-without-reason",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for allowance in context.policy.allowances.iter().filter(|allowance| !allowances::has_reason(allowance)) {
        findings.push(
            INFO.finding("an allowance needs a reason")
                .at(allowance.span, "allows nothing until it says why")
                .help("say in a few words, after the bracket, why it is right here"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn an_allowance_must_say_why() {
        let mut case = Case::in_workspace();
        case.allow("broad-root", "").allow("broad-root", "public");
        assert_eq!(
            case.found("allowance-without-reason"),
            [
                "an allowance needs a reason\n# palisade: allow(broad-root)  -- allows nothing until it says why"
            ]
        );
    }
}
