use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A parameter that nothing reads.
    ///
    /// ## What it does
    ///
    /// Reports a `param` whose `$name` stands nowhere.
    ///
    /// ## Why it is bad
    ///
    /// Whoever gives `--set NAME=VALUE` believes that it changes what the profile grants. It does not.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     param docs "~/other"
    ///     root "$workspace" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     param docs "~/other"
    ///     root "$workspace" read-only
    ///     root "$docs" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: read in a value, not in a path.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     param mode "fast"
    ///     root "$workspace" read-only
    ///     env { set MODE "$mode" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or use it.
    name: "unused-param",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for param in context.policy.params.iter().filter(|param| param.uses == 0) {
        findings.push(
            INFO.finding(format!("the parameter `{}` is not used", param.name))
                .at(param.span, format!("`${}` stands nowhere", param.name))
                .help("remove it, or use it")
                .fix("remove the parameter", remove(context.sources, param.span), true),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Param;

    #[test]
    fn a_parameter_must_be_read() {
        let mut case = Case::in_workspace();
        for (name, uses) in [("docs", 0), ("source", 2)] {
            let span = case.line(&format!("param {name} \"x\""));
            case.policy.params.push(Param { name: name.into(), value: Some("x".into()), span, uses });
        }
        assert_eq!(
            case.found("unused-param"),
            ["the parameter `docs` is not used\nparam docs \"x\" -- `$docs` stands nowhere"]
        );
    }
}
