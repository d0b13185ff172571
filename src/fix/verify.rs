//! Whether changed texts are still what they were, but for what was to be fixed.

use super::offers::Look;
use super::widening::{is_same, widening};
use crate::finding::Severity;
use std::collections::BTreeMap;

/// Why a change is taken back, in words that follow "it would".
pub type Objection = String;

/// Whether changes may be kept: nowhere may there be more that is not understood; and where all of them are safe, no profile that was understood
/// may become one that is not, allow more than before, or have more errors.
pub fn verify(before: &[Look], after: &[Look], all_safe: bool) -> Result<(), Objection> {
    before.iter().zip(after).try_for_each(|(before, after)| {
        let (old, new) = (before.misunderstood().count(), after.misunderstood().count());
        if new > old {
            let added = first_new(before, after, |finding| crate::lint::find_rule(finding).is_none());
            return Err(format!("make another mistake: {added}"));
        }
        if !all_safe || old > 0 {
            return Ok(());
        }
        match (&before.plan, &after.plan) {
            (Some(_), None) => return Err("leave nothing that can be compiled".to_owned()),
            (Some(old), Some(new)) => {
                if let Some(more) = widening(old, new) {
                    return Err(format!("open {more}"));
                }
            }
            (None, _) => {}
        }
        let errors = |look: &Look| look.findings.iter().filter(|it| it.severity == Severity::Error).count();
        if errors(after) > errors(before) {
            return Err(format!("make another error: {}", first_new(before, after, |_| true)));
        }
        Ok(())
    })
}

/// The same for those who did not offer it: for them, nothing may change at all.
pub fn verify_for_others(before: &[Look], after: &[Look], others: &[usize]) -> Result<(), Objection> {
    others.iter().filter_map(|at| Some((before.get(*at)?, after.get(*at)?))).try_for_each(
        |(before, after)| {
            let (Some(old), Some(new)) = (&before.plan, &after.plan) else {
                return Err("change a profile of which nothing can be told".to_owned());
            };
            if before.misunderstood().next().is_some() || !is_same(old, new) {
                return Err("change what another profile or host allows".to_owned());
            }
            if after.findings.len() > before.findings.len() {
                return Err(format!("be a mistake elsewhere: {}", first_new(before, after, |_| true)));
            }
            Ok(())
        },
    )
}

/// The message of the first finding of certain rules that was not there before.
fn first_new(before: &Look, after: &Look, wanted: impl Fn(&str) -> bool) -> String {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in &before.findings {
        *known.entry((finding.rule, &finding.message)).or_default() += 1;
    }
    let mut findings = after.findings.iter().filter(|finding| wanted(finding.rule));
    let found = findings.find(|finding| match known.get_mut(&(finding.rule, finding.message.as_str())) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    found.map(|finding| finding.message.clone()).unwrap_or_default()
}
