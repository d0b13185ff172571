use crate::finding::{Edit, Finding};
use crate::lint::{Context, find_rule, nearest_rule};

rule! {
    /// An allowance that names no rule.
    ///
    /// ## What it does
    ///
    /// Reports a name in `# palisade: allow(…)` that is not that of a rule.
    ///
    /// ## Why it is bad
    ///
    /// The comment allows nothing, and the reader believes the matter settled.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     # palisade: allow(brod-root) the tree is public
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(broad-root) what is installed there is public
    ///     root "/opt" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a comment that allows nothing, and does not say so.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     # The old tool had this under allow(brod-root).
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the name. `palisade rules` lists them all.
    name: "unknown-rule",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let rules = context.policy.allowances.iter().flat_map(|allowance| &allowance.rules);
    for rule in rules.filter(|rule| find_rule(&rule.value).is_none()) {
        let mut finding =
            INFO.finding(format!("there is no rule `{}`", rule.value)).at(rule.span, "allows nothing");
        finding = match nearest_rule(&rule.value) {
            Some(near) => {
                let edit = Edit { span: rule.span, replacement: near.to_owned() };
                finding.help(format!("the nearest is `{near}`")).fix(
                    format!("write `{near}`"),
                    vec![edit],
                    false,
                )
            }
            None => finding.help("`palisade rules` lists them all"),
        };
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn a_name_must_be_a_rules() {
        let mut case = Case::in_workspace();
        case.allow("brod-root", "public").allow("broad-root", "public");
        assert_eq!(case.found("unknown-rule"), ["there is no rule `brod-root`\nbrod-root -- allows nothing"]);
        let finding = &case.findings("unknown-rule")[0];
        assert_eq!(finding.help.as_deref(), Some("the nearest is `broad-root`"));
    }
}
