use super::Context;
use crate::finding::Finding;
use crate::sbpl::read::Kind;

sb_rule! {
    /// A quote inside a raw text.
    ///
    /// ## What it does
    ///
    /// Reports texts after `#` in which a backslash stands before a quote and the text goes on behind it.
    ///
    /// ## Why it is bad
    ///
    /// A raw text knows no escapes. By the one published reader it ends at that quote, and what follows is read as
    /// something else; what the system does has not been measured.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (deny file-read* (regex #"^/Users/dev/a\"b$"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (deny file-read* (literal "/Users/dev/a\"b"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write the text in plain quotes: `"…\"…"`, every other backslash doubled.
    name: "quote-in-raw-text",
    severity: Error,
    confidence: Likely,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for datum in context.data {
        datum.walk(&mut |datum| {
            if matches!(datum.kind, Kind::Torn(_)) {
                findings.push(
                    INFO.finding("a raw text cannot hold a quote")
                        .at(datum.span, "read here as it was probably meant")
                        .help("write it in plain quotes, with every other backslash doubled"),
                );
            }
        });
    }
}
