use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{covers, overlap, written};
use crate::lint::edits::remove;
use crate::policy::{Network, NetworkRule};

rule! {
    /// A pattern of hosts that decides nothing.
    ///
    /// ## What it does
    ///
    /// Reports, in `network only`, an `allow` that a `deny` takes back as a whole, one that another `allow` covers, one
    /// without `methods` and `paths` of a host that another line limits by them, and a `deny` that shares nothing with
    /// any `allow`; `localhost PORT` counts as an `allow`. What the profile and a fragment say alike is not reported: a
    /// fragment is for other profiles too.
    ///
    /// ## Why it is bad
    ///
    /// A denial beats every allowance, wherever the two stand, and nothing is allowed that no pattern names. Whoever
    /// wrote the line believes that a host can be reached, that it can when the other line is gone, or that something
    /// is closed which was never open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.crates.io"; allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the denial takes back a part of what is allowed.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.crates.io"; deny "uploads.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or correct the host.
    name: "dead-host-rule",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(Network::Only(rules)) = context.policy.network.as_ref().map(|network| &network.value) else {
        return;
    };
    let profile = context.policy.name.span.file;
    let of = |allow: bool| rules.iter().filter(move |rule| rule.allow == allow);
    for (at, rule) in rules.iter().enumerate().take(MOST) {
        let same = |other: &NetworkRule| other.pattern == rule.pattern;
        let earlier = |other: &NetworkRule| rules.iter().take(at).any(|known| std::ptr::eq(known, other));
        // Of two alike the first one stays.
        let around = |other: &&NetworkRule| {
            let alike = same(other) && other.requests == rule.requests;
            // What limits a host is covered by what limits it less, and by nothing that does not speak of it.
            let as_much = match (&other.requests, &rule.requests) {
                (None, None) => covers(&other.pattern, &rule.pattern),
                (Some(outer), Some(inner)) => same(other) && outer.cover(inner),
                _ => false,
            };
            !std::ptr::eq(*other, rule)
                && as_much
                && (!alike || earlier(other))
                // What a fragment says, it says to other profiles too.
                && other.span.file == rule.span.file
        };
        let in_a_fragment = rule.span.file != profile;
        let shown = written(rule);
        let (message, other) = if rule.allow {
            if let Some(denial) = of(false)
                .find(|denial| covers(&denial.pattern, &rule.pattern) && !(in_a_fragment && denial.span.file != rule.span.file))
            {
                (
                    format!("`{shown}` is allowed and denied, and stays denied"),
                    Some((denial.span, "a denial beats every allowance")),
                )
            } else if let Some(limit) = limited_by(rules, rule).filter(|limit| !in_a_fragment || limit.span.file == rule.span.file) {
                (
                    format!("`{shown}` is allowed, and limited by another line"),
                    Some((limit.span, "nothing else may be asked there")),
                )
            } else if let Some(wider) = of(true).find(around) {
                (format!("`{shown}` is allowed already"), Some((wider.span, "allows it")))
            } else {
                continue;
            }
        } else if !in_a_fragment && !of(true).any(|allowed| overlap(&allowed.pattern, &rule.pattern)) {
            (format!("`{shown}` is denied, and nothing allows it"), None)
        } else if let Some(wider) = of(false).find(around) {
            (format!("`{shown}` is denied already"), Some((wider.span, "denies it")))
        } else {
            continue;
        };
        let mut finding =
            INFO.finding(message).at(rule.span, "decides nothing").help("remove it, or correct the host");
        if let Some((span, label)) = other {
            finding = finding.at(span, label);
        }
        // Without it every host is decided as before.
        findings.push(finding.fix("remove the pattern", remove(context.sources, rule.span), true));
    }
}

/// The line that says what may be asked of the one host that an allowance names: then the allowance opens nothing more.
fn limited_by<'a>(rules: &'a [NetworkRule], rule: &NetworkRule) -> Option<&'a NetworkRule> {
    let limit = |other: &&NetworkRule| {
        other.allow
            && other.pattern == rule.pattern
            && other.requests.as_ref().is_some_and(|requests| !requests.is_any())
    };
    rules.iter().find(limit).filter(|_| rule.requests.is_none())
}

/// How many patterns are compared with all others.
const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{Network, NetworkRule};
    use crate::resolve::hosts::parse;
    use crate::source::Spanned;

    #[test]
    fn what_may_be_asked_is_compared_too() {
        let mut case = Case::in_workspace();
        case.host(true, "a.com", None)
            .limited("a.com", &["GET"], &[])
            .limited("a.com", &["GET"], &["/x"])
            .limited("a.com", &["POST"], &["/x/**"])
            .host(true, "*.b.com", None)
            .limited("a.b.com", &["GET"], &[])
            .host(true, "a.b.com:8443", None)
            .limited("c.com", &[], &[])
            .host(true, "c.com:80", None)
            .limited("c.com", &["GET"], &[]);
        let found: Vec<_> = case
            .findings("dead-host-rule")
            .into_iter()
            .map(|finding| (finding.message, finding.labels.len()))
            .collect();
        let allowed = |host: &str| (format!("`{host}` is allowed already"), 2);
        let limited = ("`a.com` is allowed, and limited by another line".to_owned(), 2);
        assert_eq!(found, [limited, allowed("a.com"), allowed("c.com")]);
    }

    #[test]
    fn what_is_covered_taken_back_or_never_open_is_dead() {
        let mut case = Case::in_workspace();
        let mut rules = Vec::new();
        for (allow, host) in [
            (true, "a.example.com"),
            (true, "a.example.com"),
            (true, "*.example.com"),
            (true, "b.example.org"),
            (false, "*.example.org"),
            (false, "x.example.net"),
            (false, "c.example.com"),
            (true, "a.example.com:8443"),
        ] {
            let span = case.line(&format!("{} \"{host}\"", if allow { "allow" } else { "deny" }));
            rules.push(NetworkRule { allow, pattern: parse(host, false).unwrap(), requests: None, span });
        }
        let span = case.line("network only");
        case.policy.network = Some(Spanned::new(Network::Only(rules), span));
        let messages: Vec<_> =
            case.findings("dead-host-rule").into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            messages,
            [
                "`a.example.com` is allowed already",
                "`a.example.com` is allowed already",
                "`b.example.org` is allowed and denied, and stays denied",
                "`x.example.net` is denied, and nothing allows it",
            ]
        );
    }
}
