use super::public_suffix::allowed;
use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::source::Span;
use crate::syntax::nearest;

rule! {
    /// A method that looks like a slip of a usual one.
    ///
    /// ## What it does
    ///
    /// Reports, after `methods`, a word that is none of the methods that HTTP and its extensions have, and that differs
    /// little from one of them; and `ANY` and `ALL`, by which other tools mean every method.
    ///
    /// ## Why it is bad
    ///
    /// Methods are compared as they are written. No request has this one, so that what was meant is not allowed, and
    /// nothing says so before the command fails.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.example.com" methods GTE }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.example.com" methods GET }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a method of an extension.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "dav.example.com" methods PROPFIND M-SEARCH PURGE }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write the method that was meant. Where a server has one of its own that is called so, allow this with the reason.
    name: "unusual-method",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// What clients of HTTP and WebDAV use.
const USUAL: [&str; 16] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PROPFIND", "PROPPATCH", "MKCOL", "COPY",
    "MOVE", "LOCK", "UNLOCK", "REPORT",
];

/// Others that exist and are near to one of those (the registry of RFC 9110, 16.1.1; caches).
const OTHERS: [&str; 13] = [
    "ACL", "BIND", "CHECKIN", "CHECKOUT", "LABEL", "LINK", "LIST", "MERGE", "PRI", "PURGE", "QUERY", "SEARCH", "UNBIND",
];

/// What other tools write for every method.
const EVERY: [&str; 2] = ["ALL", "ANY"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        for method in rule.requests.iter().flat_map(|requests| &requests.methods) {
            if EVERY.contains(&method.as_str()) {
                findings.push(
                    INFO.finding(format!("`{method}` is a method of that name, not every one"))
                        .at(rule.span, format!("allows `{method}`, which no client sends"))
                        .help("leave `methods` out: every one is allowed then"),
                );
                continue;
            }
            let known = USUAL.contains(&method.as_str()) || OTHERS.contains(&method.as_str());
            let Some(meant) = nearest(method, USUAL).filter(|_| !known) else { continue };
            let mut finding = INFO
                .finding(format!("`{method}` is no usual method"))
                .at(rule.span, format!("allows `{method}`"))
                .help(format!("did you mean `{meant}`?"));
            let text = context.sources.text(rule.span);
            let word = text.match_indices(method.as_str()).find(|(at, _)| {
                let end = at + method.len();
                let blank = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || matches!(c, '[' | ']'));
                blank(text.get(..*at).and_then(|text| text.chars().next_back()))
                    && blank(text.get(end..).and_then(|text| text.chars().next()))
            });
            if let Some((at, _)) = word {
                let start = rule.span.range().start + at;
                let span = Span::new(rule.span.file, start..start + method.len());
                let edit = Edit { span, replacement: meant.into() };
                finding = finding.at(span, "this one").fix(format!("write `{meant}`"), vec![edit], false);
            }
            findings.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn slips_are_told_from_methods() {
        let mut case = Case::in_workspace();
        case.limited("b.com", &["ANY"], &["/x"]).limited("c.com", &["GET", "ALL"], &[]);
        assert_eq!(
            case.found("unusual-method"),
            [
                "`ANY` is a method of that name, not every one\n\
                 allow \"b.com\" methods ANY paths \"/x\" -- allows `ANY`, which no client sends",
                "`ALL` is a method of that name, not every one\n\
                 allow \"c.com\" methods GET ALL -- allows `ALL`, which no client sends",
            ]
        );
        let mut case = Case::in_workspace();
        case.limited("a.com", &["GTE", "POTS", "GET", "QUERY", "M-SEARCH", "VERSION-CONTROL", "SUBSCRIBE"], &[]);
        let helps: Vec<_> =
            case.findings("unusual-method").into_iter().filter_map(|finding| finding.help).collect();
        assert_eq!(helps, ["did you mean `GET`?", "did you mean `POST`?"]);
    }
}
