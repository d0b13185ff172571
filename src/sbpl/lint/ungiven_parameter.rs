use super::Context;
use crate::finding::Finding;
use crate::sbpl::rule::{Filter, Part, Test, Text, Unknown};
use crate::source::Span;
use std::collections::HashSet;

sb_rule! {
    /// Rules that hang on a parameter which is not given.
    ///
    /// ## What it does
    ///
    /// Notes which parameters have no value here, and the first rule that hangs on each; and names of which it is not
    /// known whether they are defined.
    ///
    /// ## Why it is bad
    ///
    /// Such a rule is checked only as far as it is known: a path by its known parts, with something for the rest that
    /// stands for any value. Whether it meets another path, or is there at all, shows at run time.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (allow default)
    /// (deny file-write* (subpath (param "PROTECTED")))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (allow default)
    /// (deny file-write* (subpath "/Users/dev/protected"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Give the values that the profile will be used with: `-D NAME=VALUE`.
    name: "ungiven-parameter",
    severity: Note,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut known: HashSet<&Unknown> = HashSet::new();
    let mut seen: Vec<(Unknown, Span)> = Vec::new();
    let mut texts: Vec<(&Text, Span)> = Vec::new();
    for rule in &context.profile.rules {
        if let Some(what) = rule.condition.as_ref().filter(|what| known.insert(what)) {
            seen.push((what.clone(), rule.span));
        }
        for filter in rule.filters.iter() {
            filter.visit(&mut |filter| texts.extend(text_of(filter).map(|text| (text, filter.span))));
        }
    }
    for (text, span) in texts {
        for part in text.parts() {
            if let Part::Unknown { what, .. } = part
                && known.insert(what)
            {
                seen.push((what.clone(), span));
            }
        }
    }
    for (what, span) in seen {
        let help = match &what {
            Unknown::Parameter(name) => {
                format!("`-D {}=VALUE` lets the checks look further", crate::syntax::shown(name))
            }
            Unknown::Defined(_) => "write the rules out for the system that they are for".to_owned(),
            // The import that may define it is told of.
            Unknown::Call(_) => continue,
        };
        findings.push(
            INFO.finding(format!("what hangs on {what}, was checked only in part")).at(span, "hangs on it").help(help),
        );
    }
}

fn text_of(filter: &Filter) -> Option<&Text> {
    match &filter.test {
        Test::Text { value, .. } => Some(value),
        Test::Regex { pattern, .. } => Some(&pattern.text),
        Test::Network { address, .. } => address.as_ref(),
        _ => None,
    }
}
