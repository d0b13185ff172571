use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::PathCase;
use crate::sbpl::decide::{Sample, samples};
use crate::sbpl::rule::{Effect, Filter, Part, Rule as SbRule, Test, Text};
use crate::sbpl::spelling::{self, Fault};
use crate::sbpl::vocabulary::Form;
use crate::source::Span;
use std::collections::HashSet;

sb_rule! {
    /// A path that nothing can have.
    ///
    /// ## What it does
    ///
    /// Reports paths in filters that the kernel never sees: those through `/tmp`, `/var`, `/etc` and `/home`,
    /// which are links; those with `//`, `.`, `..` or a slash at the end; those that name the Data volume; and
    /// those that are not absolute. Where the path is one that must be kept out, it is an error. Of a text that hangs
    /// on a parameter the known parts are looked at; of an expression every way through it.
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
    confidence: Certain,
    fix: None,
    check: check,
}

/// Longest path that a help repeats.
const LONGEST: usize = 2048;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let case = context.profile.case;
    let ancestors: HashSet<Span> = context.profile.ancestors.iter().map(|(_, span)| *span).collect();
    for rule in &context.profile.rules {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                // What names ancestors has written no path of its own.
                let of_ancestors = ancestors.contains(&filter.span);
                if let Some((why, help)) = dead(filter, rule, negated, case).filter(|_| !of_ancestors) {
                    let keeps_out = (rule.effect == Effect::Deny) != negated;
                    findings.push(finding(filter.span, keeps_out, why, help));
                }
            });
        }
    }
    for (path, span) in &context.profile.ancestors {
        // What lies above a path through a link, or on the data volume, is there all the same: `/` at least.
        let above = |why: &str| ![Fault::Link.why(), Fault::DataVolume.why()].contains(&why);
        if let Some((why, help)) = dead_text(Form::Whole, path, case, false).filter(|(why, _)| above(why)) {
            findings.push(finding(*span, false, why, help));
        }
    }
}

fn finding(span: Span, keeps_out: bool, why: &str, help: String) -> Finding {
    let consequence = if keeps_out { "keeps nothing out" } else { "grants nothing" };
    let mut finding = INFO
        .finding(format!("this path matches nothing, and so {consequence}: {why}"))
        .at(span, "never the path of a file")
        .help(help);
    if keeps_out {
        finding.severity = Severity::Error;
    }
    finding
}

/// Whether no file can have the path of this filter, which does not stand under `require-not`.
pub(super) fn is_dead(filter: &Filter, rule: &SbRule, case: PathCase) -> bool {
    dead(filter, rule, false, case).is_some()
}

type Dead = (&'static str, String);

/// Why a filter's path is none, and what to write.
fn dead(filter: &Filter, rule: &SbRule, negated: bool, case: PathCase) -> Option<Dead> {
    match &filter.test {
        Test::Regex { attribute, pattern } if attribute.name == "path" => {
            // Dead if every way through it is.
            let samples = samples::of(pattern)?;
            let mut reasons = samples.iter().map(|sample| dead_sample(sample, case));
            let first = reasons.next()??;
            reasons.all(|reason| reason.is_some()).then_some(first)
        }
        Test::Text { attribute, form, value } if attribute.name == "path" => {
            // A rule may well be about the link itself, for who reads where it leads.
            let may_be_link = *form == Form::Whole && rule.effect == Effect::Allow && !negated;
            dead_text(*form, value, case, may_be_link)
        }
        _ => None,
    }
}

fn dead_text(form: Form, text: &Text, case: PathCase, may_be_link: bool) -> Option<Dead> {
    let open_end = form == Form::Prefix;
    if let Some(bytes) = text.bytes() {
        let path = std::str::from_utf8(bytes).ok()?;
        if !path.starts_with('/') {
            let help = format!("`{}` would have to begin with a slash", cut(path));
            return Some(("it is not absolute", help));
        }
        if may_be_link && is_link(path, case) {
            return None;
        }
        return misspelled(path, case, open_end).map(|(why, seen)| (why, format!("write `{}`", cut(&seen))));
    }
    dead_parts(text.parts(), case, open_end)
}

/// Whether a path is that of a link at the root, or of one that every Mac has below it.
fn is_link(path: &str, case: PathCase) -> bool {
    let (seen, fault) = spelling::resolved(path, case, false);
    let at_root = path.rfind('/') == Some(0) || path.starts_with("/var/select/");
    fault == Some(Fault::Link) && at_root && seen != path
}

/// What is wrong with an absolute path, and how the kernel sees it.
fn misspelled(path: &str, case: PathCase, open_end: bool) -> Option<(&'static str, String)> {
    let (seen, fault) = spelling::resolved(path, case, open_end);
    let below = spelling::on_data_volume(&seen, case).filter(|below| !open_end || *below != "/" || seen.ends_with('/'));
    match (fault, below) {
        (fault, Some(below)) => Some((fault.unwrap_or(Fault::DataVolume).why(), below.to_owned())),
        (Some(fault), None) => Some((fault.why(), seen)),
        (None, None) => None,
    }
}

/// Whether a path is dead whatever its unknown parts are.
fn dead_parts(parts: &[Part], case: PathCase, open_end: bool) -> Option<Dead> {
    let known = |part: &Part| match part {
        Part::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        _ => None,
    };
    if let Some(head) = parts.first().and_then(known) {
        if !head.starts_with('/') {
            let help = format!("`{}` would have to begin with a slash", cut(&head));
            return Some(("it is not absolute", help));
        }
        if let Some((why, seen)) = misspelled(&head, case, true) {
            return Some((why, format!("begin it with `{}` instead of `{}`", cut(&seen), cut(&head))));
        }
    }
    for (at, text) in parts.iter().enumerate().filter_map(|(at, part)| Some((at, known(part)?))) {
        if ["//", "/./", "/../"].iter().any(|unresolved| text.contains(unresolved)) {
            return Some((Fault::Unresolved.why(), format!("resolve `{}`", cut(&text))));
        }
        if at + 1 == parts.len() && !open_end {
            if text.ends_with('/') {
                return Some((Fault::SlashAtEnd.why(), format!("end it with `{}`", cut(text.trim_end_matches('/')))));
            }
            if text.ends_with("/.") || text.ends_with("/..") {
                return Some((Fault::Unresolved.why(), format!("resolve `{}`", cut(&text))));
            }
        }
    }
    None
}

/// Why no path has what an expression finds in this way.
fn dead_sample(sample: &Sample, case: PathCase) -> Option<Dead> {
    let text = std::str::from_utf8(&sample.text).ok()?;
    if sample.from_start && !text.is_empty() && !text.starts_with('/') {
        return Some(("it is not absolute", "an expression from `^` on begins with a slash".to_owned()));
    }
    if sample.from_start
        && let Some((why, seen)) = misspelled(text, case, !sample.to_end)
    {
        return Some((why, format!("begin it with `^`, and what is `{}` for `{}`", cut(&seen), cut(text))));
    }
    let unresolved = ["//", "/./", "/../"].iter().any(|unresolved| text.contains(unresolved));
    unresolved.then(|| (Fault::Unresolved.why(), format!("no path holds `{}`", cut(text))))
}

/// A path for a help: whole, unless it is none that anybody wrote.
fn cut(path: &str) -> &str {
    path.char_indices().nth(LONGEST).and_then(|(end, _)| path.get(..end)).unwrap_or(path)
}
