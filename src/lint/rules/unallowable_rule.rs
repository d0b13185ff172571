use crate::finding::Finding;
use crate::lint::edits::{remove_comment, remove_from_commas};
use crate::lint::{Context, find_rule};

rule! {
    /// An allowance of what cannot be allowed.
    ///
    /// ## What it does
    ///
    /// Reports a name in `# palisade: allow(…)` of a rule whose findings mean that the profile does not hold
    /// what it says, or cannot be compiled.
    ///
    /// ## Why it is bad
    ///
    /// The comment allows nothing. A denial that does not deny is not made good by a reason.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     # palisade: allow(missing-root) made by the build
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a rule about what may be meant.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(broad-root) what is installed there is public
    ///     root "/opt" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the comment and settle the finding.
    name: "unallowable-rule",
    severity: Error,
    confidence: Certain,
    fix: Safe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for allowance in &context.policy.allowances {
        for rule in &allowance.rules {
            if find_rule(&rule.value).is_none_or(|info| info.allowable) {
                continue;
            }
            let mut finding = INFO
                .finding(format!("`{}` cannot be allowed", rule.value))
                .at(rule.span, "allows nothing")
                .help("remove the comment and settle the finding");
            finding = if allowance.rules.len() == 1 {
                finding.fix("remove the comment", remove_comment(context.sources, allowance.span), true)
            } else {
                finding.fix("remove the name", remove_from_commas(context.sources, rule.span), true)
            };
            findings.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_cannot_be_compiled_cannot_be_allowed() {
        let mut case = Case::in_workspace();
        case.allow("missing-root", "made later").allow("broad-root", "public").allow("nonsense", "why");
        assert_eq!(
            case.found("unallowable-rule"),
            ["`missing-root` cannot be allowed\nmissing-root -- allows nothing"]
        );
    }
}
