use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// One allowance for many rules.
    ///
    /// ## What it does
    ///
    /// Reports a `# palisade: allow(…)` that names more than two rules.
    ///
    /// ## Why it is bad
    ///
    /// One reason cannot be that of three findings. A comment that names whatever a statement may ever be found guilty
    /// of allows, unseen, what is added to the statement later.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     # palisade: allow(broad-root, readable-credentials, persistence-place, authority-socket) this home is nobody's
    ///     root "~" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     # palisade: allow(broad-root) the machine is made anew for each run
    ///     # palisade: allow(readable-credentials) the keys in this home open nothing
    ///     # palisade: allow(persistence-place) nobody logs in on it
    ///     # palisade: allow(authority-socket) no engine runs on it
    ///     root "~" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: two comments at one statement, each with its reason.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(secret-in-env) it is no secret: the test server takes any
    ///     # palisade: allow(loader-variable) a module of the image
    ///     env { pass LD_LIBRARY_TOKEN }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write one comment for each rule, each with its reason. They may stand on the lines above one statement.
    name: "wide-allowance",
    severity: Warning,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

/// How many rules may share a reason.
const MOST: usize = 2;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for allowance in context.policy.allowances.iter().filter(|allowance| allowance.rules.len() > MOST) {
        findings.push(
            INFO.finding(format!("one reason for {} rules", allowance.rules.len()))
                .at(allowance.span, "allows more than one reader has looked at")
                .at(allowance.statement, "stands at this statement")
                .help("write one comment for each rule, each with its reason"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn two_rules_may_share_a_reason() {
        let mut case = Case::in_workspace();
        case.allow("broad-root", "public");
        assert!(case.found("wide-allowance").is_empty());
        let rule = case.policy.allowances[0].rules[0].clone();
        case.policy.allowances[0].rules.push(rule.clone());
        assert!(case.found("wide-allowance").is_empty());
        case.policy.allowances[0].rules.push(rule);
        assert_eq!(case.found("wide-allowance").len(), 1);
    }
}
