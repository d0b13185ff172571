use super::{Context, witness};
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::{Effect, Filter, Rule as SbRule, Test};
use crate::sbpl::vocabulary::Form;
use crate::syntax::shown;

sb_rule! {
    /// A path that nothing can have.
    ///
    /// ## What it does
    ///
    /// Reports paths in filters that the kernel never sees: those through `/tmp`, `/var`, `/etc` and `/home`,
    /// which are links; those with `//`, `.`, `..` or a slash at the end; those that name the Data volume; and
    /// those that are not absolute. Where the path is one that must be kept out, it is an error.
    ///
    /// ## Why it is bad
    ///
    /// The kernel compares the resolved path of a file with the filter's text as it stands. A filter that is
    /// spelled otherwise matches nothing: an allowance grants nothing, and a denial keeps nothing out.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpath "/private"))
    /// (deny file-read* (subpath "/tmp/secrets"))
    /// ```
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-write* (subpath "/Users/dev/work/"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (literal "/") (subpath "/private/tmp/work"))
    /// (allow file-read-metadata (literal "/tmp"))
    /// (deny file-read* (subpath "/private/tmp/secrets"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write the resolved path: `/private/tmp` for `/tmp`, no slash at the end, no `..`.
    name: "dead-path",
    severity: Warning,
    check: check,
}

/// Links at the root of every Mac, and what they lead to. What is below `/home` is mounted elsewhere.
const LINKS: [(&str, &str); 4] = [
    ("/tmp", "/private/tmp"),
    ("/var", "/private/var"),
    ("/etc", "/private/etc"),
    ("/home", "/System/Volumes/Data/home"),
];

const DATA: &str = "/System/Volumes/Data";

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in &context.profile.rules {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                if let Some((why, help)) = dead(filter, rule, negated) {
                    let keeps_out = (rule.effect == Effect::Deny) != negated;
                    findings.push(finding(filter, keeps_out, why, help));
                }
            });
        }
    }
}

fn finding(filter: &Filter, keeps_out: bool, why: &str, help: String) -> Finding {
    let consequence = if keeps_out { "keeps nothing out" } else { "grants nothing" };
    let mut finding = INFO
        .finding(format!("this path matches nothing, and so {consequence}: {why}"))
        .at(filter.span, "never the path of a file")
        .help(help);
    if keeps_out {
        finding.severity = Severity::Error;
    }
    finding
}

/// Whether no file can have the path of this filter, which does not stand under `require-not`.
pub(super) fn is_dead(filter: &Filter, rule: &SbRule) -> bool {
    dead(filter, rule, false).is_some()
}

/// Why a filter's path is none, and what to write.
fn dead(filter: &Filter, rule: &SbRule, negated: bool) -> Option<(&'static str, String)> {
    if let Test::Regex { attribute, pattern } = &filter.test {
        let rest = pattern.text.bytes()?.strip_prefix(b"^")?;
        let (link, target) = LINKS.iter().find(|(link, _)| {
            let after = rest.strip_prefix(link.as_bytes()).map(<[u8]>::first);
            matches!(after, Some(None | Some(b'/' | b'$' | b'(')))
        })?;
        return (attribute.name == "path")
            .then(|| ("it leads through a link", format!("begin it with `^{target}` instead of `^{link}`")));
    }
    let (form, bytes) = witness::path_of(filter)?;
    let path = std::str::from_utf8(bytes).ok()?;
    let said = shown(path);
    if !path.starts_with('/') {
        return Some(("it is not absolute", format!("`{said}` would have to begin with a slash")));
    }
    let is_link_itself = form == Form::Whole && rule.effect == Effect::Allow && !negated;
    if let Some((target, below)) = through_link(path)
        && !(is_link_itself && (below.is_empty() || path.starts_with("/var/select/")))
    {
        return Some(("it leads through a link", format!("write `{}`", shown(&format!("{target}{below}")))));
    }
    if path.strip_prefix(DATA).is_some_and(|below| below.len() > 1 && below.starts_with('/')) {
        let below = path.get(DATA.len()..).unwrap_or_default();
        return Some(("what is on the Data volume is seen without its name", format!("write `{}`", shown(below))));
    }
    let mut parts = path.split('/').skip(1).collect::<Vec<_>>();
    let slash_at_end = parts.last() == Some(&"") && path.len() > 1;
    if slash_at_end {
        parts.pop();
    }
    if slash_at_end && form != Form::Prefix {
        return Some(("it ends with a slash", format!("write `{}`", shown(path.trim_end_matches('/')))));
    }
    if path.len() > 1 && parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return Some(("the kernel resolves `//`, `.` and `..` before it compares", format!("resolve `{said}`")));
    }
    None
}

/// What a path leads to that begins with one of the links, and the rest.
fn through_link(path: &str) -> Option<(&'static str, &str)> {
    LINKS.iter().find_map(|(link, target)| {
        let below = path.strip_prefix(link)?;
        (below.is_empty() || below.starts_with('/')).then_some((*target, below))
    })
}
