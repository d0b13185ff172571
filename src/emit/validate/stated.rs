//! What a profile states itself in Seatbelt's language about things that are no paths: nothing is planned of it, but it must mean the same
//! under both theories of precedence.

use super::{Difference, ENGINES, ReadBack};
use crate::emit::standing::KERNEL;
use crate::plan::Plan;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::Test;
use crate::sbpl::{Operation, Subject};
use std::collections::BTreeSet;

/// Compares the two theories about every operation that such rules name, for all that any rule tells apart.
pub fn check(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let names: BTreeSet<&str> =
        plan.seatbelt.iter().flat_map(|rule| rule.operations.iter().copied()).collect();
    // What the kernel's own graphs decide is not known where no rule does.
    let stated = names.into_iter().filter(|name| !KERNEL.contains(name));
    for operation in stated.filter_map(Operation::named) {
        for (subject, shown) in subjects(read, operation) {
            let [first, other] = ENGINES.map(|engine| read.profile.decide(operation, &subject, engine));
            if first.verdict != other.verdict {
                let planned = "the same under every order of precedence".to_owned();
                return Err(read.difference(operation, &shown, planned, ENGINES[0], &first));
            }
        }
    }
    Ok(())
}

/// Nothing in particular, and each value that a filter of a rule on this operation or what holds it names.
fn subjects(read: &ReadBack<'_>, operation: Operation) -> Vec<(Subject, String)> {
    let mut subjects = vec![(Subject::any(), "anything".to_owned())];
    let mut add = |attribute: &str, value: &[u8]| {
        for value in [value.to_vec(), [value, b"~"].concat()] {
            let shown = String::from_utf8_lossy(&value).into_owned();
            subjects.push((Subject::any().with(attribute, Fact::Is(value)), shown));
        }
    };
    let rules = operation.ancestry().flat_map(|node| read.profile.rules_for(node));
    for rule in rules.filter_map(|&at| read.profile.rules.get(at)) {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, _| match &filter.test {
                Test::Text { attribute, value, .. } => {
                    if let Some(value) = value.bytes() {
                        add(attribute.name, value);
                    }
                }
                Test::Word { attribute, value } => add(attribute.name, value.as_bytes()),
                _ => {}
            });
        }
    }
    subjects
}
