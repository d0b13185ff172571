//! Whether one plan allows what another does not.

use crate::plan::request::is_read;
use crate::plan::{Effect, Plan, hosts};
use crate::policy::host::Target;
use crate::policy::{Ipc, Network, NetworkRule};
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
        .or_else(|| unread(before, after))
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
        .or_else(|| requests(before, after))
}

/// What may be asked of a host whose connections were read. Every method and path that either names is asked about, and one that neither does.
fn requests(before: &Network, after: &Network) -> Option<String> {
    let (Network::Only(old), Network::Only(new)) = (before, after) else { return None };
    let limited = |rules: &[NetworkRule]| -> Vec<NetworkRule> {
        rules.iter().filter(|rule| rule.requests.is_some()).cloned().collect()
    };
    let said: Vec<NetworkRule> = limited(old).into_iter().chain(limited(new)).collect();
    let of = |rule: &NetworkRule| rule.requests.clone().unwrap_or_default();
    let mut methods: BTreeSet<String> = said.iter().flat_map(|rule| of(rule).methods).collect();
    methods.insert("ANY-OTHER".into());
    let paths = said.iter().flat_map(|rule| of(rule).paths).map(|path| path.to_string());
    let one = |path: &str| path.replace("**", "any").replace('*', "any");
    let mut paths: BTreeSet<String> = paths
        .flat_map(|path| {
            [one(&path), format!("{}/deeper", one(&path)), path.replace("/**", "").replace('*', "any")]
        })
        .collect();
    paths.insert("/any-other".into());
    for host in said.iter().map(|rule| rule.pattern.to_string()).collect::<BTreeSet<_>>() {
        let Ok(target) = Target::parse(&host, None) else { continue };
        for method in &methods {
            let asked = |rules, path: &String| hosts::may_ask(rules, &target, method, path).allowed;
            if let Some(path) = paths.iter().find(|path| asked(new, path) && !asked(old, path)) {
                return Some(format!("`{method}` of `{path}` at `{host}`"));
            }
        }
    }
    None
}

fn environment(before: &Plan, after: &Plan) -> Option<String> {
    let (old, new) = (&before.environment, &after.environment);
    let set = new.set.iter().find(|(name, value)| old.set.get(*name) != Some(value)).map(|(name, _)| name);
    let passed = new.pass.iter().find(|name| !old.pass.contains(name));
    set.or(passed).map(|name| format!("the variable `{name}`")).or_else(|| {
        // Where the command had the value itself, it could give it to every host.
        let masked = new.mask.iter().filter(|mask| !old.pass.contains(&mask.name));
        masked.into_iter().find_map(|mask| {
            let known = old.mask.iter().find(|known| known.name == mask.name);
            let new =
                mask.hosts.iter().find(|host| !known.is_some_and(|known| known.hosts.contains(host)))?;
            Some(format!("the value of `{}` at `{new}`", mask.name))
        })
    })
}

/// A host whose connections were read, and are not.
fn unread(before: &Plan, after: &Plan) -> Option<String> {
    let (Network::Only(old), Network::Only(new)) = (&before.network, &after.network) else { return None };
    let hosts = before.environment.mask.iter().flat_map(|mask| &mask.hosts).map(ToString::to_string);
    let limited = old.iter().filter(|rule| rule.requests.is_some()).map(|rule| rule.pattern.to_string());
    let was_read: BTreeSet<String> = hosts.chain(limited).collect();
    let now = |host: &String| {
        let target = Target::parse(host, None).ok()?;
        let open = hosts::admit(new, &target).allowed && !is_read(new, &after.environment.mask, &target);
        open.then(|| format!("connections to `{host}` that nobody reads"))
    };
    was_read.iter().find_map(now)
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
