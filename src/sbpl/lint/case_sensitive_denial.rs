use super::Context;
use crate::finding::Finding;
use crate::sbpl::decide::samples::tells_cases_apart;
use crate::sbpl::rule::{Effect, Test};

sb_rule! {
    /// A denial by an expression that tells cases apart.
    ///
    /// ## What it does
    ///
    /// Reports expressions with letters that keep paths out, where the disk takes both cases of a letter for one.
    ///
    /// ## Why it is bad
    ///
    /// Expressions are compared letter by letter, while `literal`, `subpath` and `prefix` are not. On a disk as
    /// Macs have it `.ENV` opens the file `.env`, and passes a denial of `/\\.env$`.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpath "/Users/dev/work"))
    /// (deny file-read* (regex #"/\.env$"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpath "/Users/dev/work"))
    /// (deny file-read* (regex #"/\.[Ee][Nn][Vv]$"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write `(literal …)` or `(subpath …)` where the path is known, else a class of both cases for every letter.
    name: "case-sensitive-denial",
    severity: Warning,
    confidence: Likely,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.folds_case() {
        return;
    }
    for rule in context.assumed.rules.iter().filter(|rule| rule.operations.iter().any(|op| op.has_path())) {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                let Test::Regex { attribute, pattern } = &filter.test else { return };
                let keeps_out = (rule.effect == Effect::Deny) != negated;
                if attribute.name == "path" && keeps_out && tells_cases_apart(pattern) {
                    findings.push(
                        INFO.finding("this expression keeps out one spelling of letters, and the disk knows both")
                            .at(filter.span, "compared letter by letter")
                            .help("use `literal` or `subpath`, or a class of both cases for every letter: `[Ee][Nn][Vv]`"),
                    );
                }
            });
        }
    }
}
