//! Rules that the profile states in Seatbelt's own language: what they say of paths becomes rules of the plan, so that every verdict counts it.

use super::Builder;
use crate::plan::{Effect, OriginKind, PlannedSeatbelt};
use crate::sbpl::rule::Effect as Said;

impl Builder<'_> {
    /// Adds the rules of every statement that was understood.
    pub(super) fn seatbelt(&mut self) -> Vec<PlannedSeatbelt> {
        let mut planned = Vec::new();
        let mut on_paths = Vec::new();
        for (statement, read) in self.policy.seatbelt.iter().zip(&self.binding.seatbelt) {
            let Ok(rules) = read else { continue };
            let mut origin = self.statement(OriginKind::Seatbelt, statement.span);
            origin.text = format!(
                "{} because {}",
                self.sources.stable_place(self.policy.name.span.file, statement.span),
                statement.because
            );
            for rule in rules {
                let effect = if rule.effect == Said::Allow { Effect::Allow } else { Effect::Deny };
                // Some operations on paths are none of a plan's.
                for (scope, path) in rule.paths.iter().filter(|_| !rule.planned.is_empty()) {
                    on_paths.push((effect, rule.planned, *scope, path, origin.clone()));
                }
                planned.push(PlannedSeatbelt {
                    effect,
                    text: rule.text.clone(),
                    operations: rule.operations.clone(),
                    origin: origin.clone(),
                });
            }
        }
        // Statements are a set: of two that speak of one thing the denial holds, whatever their order.
        on_paths.sort_by_key(|(effect, ..)| *effect);
        for (effect, operations, scope, path, origin) in on_paths {
            self.rule(effect, operations, scope, path, origin);
        }
        planned.sort_by_key(|rule| rule.effect);
        planned
    }
}
