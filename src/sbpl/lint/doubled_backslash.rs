use super::Context;
use crate::finding::Finding;
use crate::sbpl::rule::Test;

sb_rule! {
    /// A doubled backslash in an expression.
    ///
    /// ## What it does
    ///
    /// Reports expressions that hold two backslashes in a row outside of a class, as texts after `#` easily do.
    ///
    /// ## Why it is bad
    ///
    /// A raw text knows no escapes, so the expression sees both: it looks for a backslash in the path, and no path
    /// has one. Written for plain quotes, the expression matches nothing here.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpath "/Users/dev/work"))
    /// (deny file-read* (regex #"/\\.[Ee][Nn][Vv]$"))
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
    /// Write one backslash; or leave the `#` out.
    name: "doubled-backslash",
    severity: Warning,
    confidence: Likely,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for filter in context.assumed.rules.iter().flat_map(|rule| rule.filters.iter()) {
        filter.walk(false, &mut |filter, _| {
            let Test::Regex { pattern, .. } = &filter.test else { return };
            if pattern.text.bytes().is_some_and(escapes_a_backslash) {
                findings.push(
                    INFO.finding("two backslashes in an expression stand for one in the name")
                        .at(filter.span, "looks for a backslash in the name")
                        .help("write one backslash in a text after `#`, which knows no escapes, and two in plain quotes"),
                );
            }
        });
    }
}

fn escapes_a_backslash(pattern: &[u8]) -> bool {
    let mut rest = pattern;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match byte {
            b'\\' if after.first() == Some(&b'\\') => return true,
            b'\\' => after.get(1..).unwrap_or_default(),
            b'[' => {
                let end = after.iter().skip(1).position(|byte| *byte == b']').map_or(after.len(), |at| at + 2);
                after.get(end..).unwrap_or_default()
            }
            _ => after,
        };
    }
    false
}
