use super::Context;
use crate::finding::Finding;
use crate::sbpl::read::Kind;

sb_rule! {
    /// A doubled backslash in a raw text.
    ///
    /// ## What it does
    ///
    /// Reports texts after `#` with two backslashes in a row.
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
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for datum in context.data {
        datum.walk(&mut |datum| {
            let Kind::Raw(bytes) = &datum.kind else { return };
            if bytes.windows(2).any(|pair| pair == b"\\\\") {
                findings.push(
                    INFO.finding("a raw text knows no escapes: both of two backslashes are part of it")
                        .at(datum.span, "looks for a backslash in the name")
                        .help("write one backslash, or leave the `#` out"),
                );
            }
        });
    }
}
