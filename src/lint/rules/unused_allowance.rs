use crate::finding::Finding;
use crate::lint::edits::{Blocks, remove_comment, remove_from_commas};
use crate::lint::{Context, UnusedAllowance};

rule! {
    /// An allowance that allows nothing.
    ///
    /// ## What it does
    ///
    /// Reports a `# palisade: allow(…)` at a statement that the named rule has nothing to say about.
    /// What stands in an `on` block for another system is looked at where that system is checked.
    ///
    /// ## Why it is bad
    ///
    /// What it allowed is gone; left in place, it silently allows the next finding of its kind, which nobody
    /// has looked at.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     # palisade: allow(broad-root) the tree is public
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
    /// Looks alike and is fine: at the end of the line that it is for.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/opt" read-only  # palisade: allow(broad-root) what is installed there is public
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or move it directly above the statement it is for.
    name: "unused-allowance",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: false,
    check_allowances: check,
}

fn check(context: &Context<'_>, unused: &[UnusedAllowance<'_>], findings: &mut Vec<Finding>) {
    let mut blocks = Blocks::new(context.sources);
    for UnusedAllowance { allowance, rule } in unused {
        // What stands there for another system is looked at where that is checked.
        if blocks.system(allowance.statement).is_some_and(|system| system != context.policy.target) {
            continue;
        }
        let mut finding = INFO
            .finding(format!("there is nothing here for `{}` to allow", rule.value))
            .at(rule.span, "allows nothing")
            .at(allowance.statement, "stands at this statement")
            .help("remove it, or move it directly above the statement it is for");
        finding = if allowance.rules.len() == 1 {
            finding.fix("remove the comment", remove_comment(context.sources, allowance.span), true)
        } else {
            finding.fix("remove the name", remove_from_commas(context.sources, rule.span), true)
        };
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::run;
    use crate::lint::testing::Case;
    use crate::policy::Access;

    fn rules(case: &Case) -> Vec<&'static str> {
        case.with(|context| run(context).iter().map(|finding| finding.rule).collect())
    }

    #[test]
    fn an_allowance_takes_its_finding_away_or_is_one_itself() {
        let in_sources = || {
            let mut case = Case::new();
            case.root("/home/dev/project/src", Access::ReadWrite).working_directory("/home/dev/project/src");
            case
        };
        assert!(rules(&in_sources()).is_empty());
        let mut case = in_sources();
        case.env("LD_PRELOAD", None);
        assert_eq!(rules(&case), ["loader-variable"]);
        case.allow("loader-variable", "the library is part of the image");
        assert!(rules(&case).is_empty());
        case.env("TERM", None).allow("loader-variable", "left over");
        assert_eq!(rules(&case), ["unused-allowance"]);
    }
}
