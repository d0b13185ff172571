//! Whether one plan allows what another does not.

use crate::plan::{Effect, Plan, hosts};
use crate::policy::{Ipc, Network};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// What `after` allows and `before` does not, in words, the first thing that is met; `None` where there is nothing.
///
/// Every path that a rule of either names is asked about, for every operation, and so is what lies below it and has no rule of its own: between
/// these, no rule changes the answer. Limits that are gone or raised count as widening.
pub fn widening(before: &Plan, after: &Plan) -> Option<String> {
    paths(before, after)
        .or_else(|| network(&before.network, &after.network))
        .or_else(|| environment(before, after))
        .or_else(|| limits(before, after))
        .or_else(|| others(before, after))
}

/// Whether the two allow the same.
pub fn is_same(before: &Plan, after: &Plan) -> bool {
    before.working_directory == after.working_directory
        && widening(before, after).is_none()
        && widening(after, before).is_none()
}

fn paths(before: &Plan, after: &Plan) -> Option<String> {
    let paths: BTreeSet<&Utf8Path> =
        before.rules.iter().chain(&after.rules).map(|rule| rule.path.as_path()).collect();
    let (old, new) = (before.decider(), after.decider());
    paths.into_iter().find_map(|path| {
        let itself = new.allowed(path).minus(old.allowed(path));
        let below = new.allowed_below(path).minus(old.allowed_below(path));
        if !itself.is_empty() {
            Some(format!("{itself} of `{path}`"))
        } else {
            (!below.is_empty()).then(|| format!("{below} below `{path}`"))
        }
    })
}

fn network(before: &Network, after: &Network) -> Option<String> {
    if *after == Network::All {
        return (*before != Network::All).then(|| "every host".to_owned());
    }
    let patterns = [before, after].into_iter().flat_map(|network| match network {
        Network::Only(rules) => rules.as_slice(),
        Network::Off | Network::All => &[],
    });
    let ports: BTreeSet<u16> =
        patterns.clone().filter_map(|rule| rule.pattern.port).chain([hosts::DEFAULT_PORT, 1]).collect();
    let names: BTreeSet<String> = patterns
        .flat_map(|rule| {
            let host = &rule.pattern.host;
            [host.clone(), format!("any.{host}"), format!("a.b.{host}")]
        })
        .collect();
    let mut asked = names.iter().flat_map(|name| ports.iter().map(move |port| format!("{name}:{port}")));
    asked
        .find(|host| hosts::decide(after, host).allowed && !hosts::decide(before, host).allowed)
        .map(|host| format!("the host `{host}`"))
}

fn environment(before: &Plan, after: &Plan) -> Option<String> {
    let (old, new) = (&before.environment, &after.environment);
    let set = new.set.iter().find(|(name, value)| old.set.get(*name) != Some(value)).map(|(name, _)| name);
    let passed = new.pass.iter().find(|name| !old.pass.contains(name));
    set.or(passed).map(|name| format!("the variable `{name}`"))
}

fn limits(before: &Plan, after: &Plan) -> Option<String> {
    let lifted = |kind, amount: &u64| after.limits.get(kind).is_none_or(|now| now > amount);
    let (kind, _) = before.limits.iter().find(|(kind, amount)| lifted(kind, amount))?;
    Some(format!("more `{}`", kind.name()))
}

fn others(before: &Plan, after: &Plan) -> Option<String> {
    if before.ipc == Ipc::Off && after.ipc != Ipc::Off {
        return Some("shared memory".to_owned());
    }
    if let Some(need) = after.needs.iter().find(|need| !before.needs.contains(need)) {
        return Some(format!("what `needs {need}` opens"));
    }
    let stated = |plan: &Plan, effect: Effect| -> Vec<String> {
        plan.seatbelt.iter().filter(|rule| rule.effect == effect).map(|rule| rule.text.clone()).collect()
    };
    let (allowed, denied) = (stated(before, Effect::Allow), stated(after, Effect::Deny));
    let opened = stated(after, Effect::Allow).into_iter().find(|text| !allowed.contains(text));
    opened.or_else(|| stated(before, Effect::Deny).into_iter().find(|text| !denied.contains(text)))
}
