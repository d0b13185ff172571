//! `why request "METHOD URL"`, and what `why connect` says of connections that are read.

use super::{Args, aside, exit, host_reasons, snippet, statement, verdict};
use crate::cli::Exit;
use crate::cli::output::{fail, print};
use crate::network::gate;
use crate::pipeline::Bound;
use crate::plan::hosts;
use crate::plan::request::{self, Request, Why};
use crate::policy::host::Target;
use crate::policy::{Network, NetworkRule};
use crate::resolve::read_request;
use crate::source::Sources;

pub fn answer(sources: &Sources, bound: &Bound, args: &Args) -> Result<Exit, Exit> {
    let written = read_request(&args.subject);
    let asked = Request::parse(&written)
        .map_err(|fault| fail(Exit::Usage, &fault.to_string(), Some(fault.help())))?;
    let decision = request::decide(&bound.plan.network, &bound.plan.environment, &asked);
    let target = asked.target.to_string();
    let rules = match &bound.plan.network {
        Network::Only(rules) => rules.as_slice(),
        Network::Off | Network::All => &[],
    };
    // No host that is refused whatever is asked there may be called allowed here.
    let admitted = rules.is_empty() || gate::admission(rules, &asked.target).is_ok();
    let allowed = decision.allowed && admitted;
    let mut text = if written == args.subject {
        verdict(allowed, &args.operation, &asked.to_string())
    } else {
        let verdict = verdict(allowed, &args.operation, &args.subject);
        verdict + &aside(&format!("which the network knows as {asked}"))
    };
    let reasons = match decision.why {
        Why::Host => {
            let host = hosts::decide(&bound.plan.network, &target);
            host_reasons(bound, &host, &target)
        }
        Why::NotTls => vec![format!(
            "connections to `{target}` are read, for which they must be TLS: ask for `https://`"
        )],
        Why::Tunnel => vec![format!(
            "connections to `{target}` are read, and `CONNECT`, which opens a tunnel that nothing reads, is never allowed there"
        )],
        Why::Request => of_request(bound, rules, &asked, decision.rule, allowed),
    };
    for reason in reasons {
        text.push_str(&aside(&reason));
    }
    let network = bound.policy.network.as_ref();
    let span = decision.rule.map(|rule| rule.span).or(network.map(|network| network.span));
    text.push_str(&snippet(sources, span, allowed));
    print(&text);
    Ok(exit(allowed))
}

fn of_request(
    bound: &Bound,
    rules: &[NetworkRule],
    asked: &Request,
    rule: Option<&NetworkRule>,
    allowed: bool,
) -> Vec<String> {
    let Request { target, method, path, .. } = asked;
    if allowed {
        let by = rule.map(|rule| format!("by: `{}` in `network only`", statement(rule)));
        return by.into_iter().chain(masked(bound, target)).collect();
    }
    let mut reasons = vec![format!("by: connections to `{target}` are read, and no line allows this")];
    reasons.extend(limits(rules, target));
    reasons.push(match request::line(rules, target, method, path) {
        Some(line) => format!("`{line}` in `network only` would allow it"),
        None if !request::can_be_named(method) => format!(
            "no line can name the method `{method}`: one without `methods` allows every one, and methods are told apart by their case"
        ),
        None => "no line with `paths` can allow it: servers read such a path in more than one way".to_owned(),
    });
    reasons
}

/// What is said of a target that is allowed: whether connections to it are read, what may be asked, and which values are put in there.
pub fn reads(bound: &Bound, rules: &[NetworkRule], target: &Target) -> Vec<String> {
    if !request::is_read(rules, &bound.plan.environment.mask, target) {
        return Vec::new();
    }
    let mut said = limits(rules, target);
    if said.is_empty() {
        said.push("connections are read: they must be TLS, and anything may be asked".to_owned());
    }
    said.into_iter().chain(masked(bound, target)).collect()
}

fn limits(rules: &[NetworkRule], target: &Target) -> Vec<String> {
    let limits = hosts::limits(rules, target).into_iter();
    limits
        .map(|(requests, rule)| {
            let what = if requests.is_any() { "anything may be asked" } else { "what it says may be asked" };
            format!("connections are read, by `{}`: {what}", statement(rule))
        })
        .collect()
}

fn masked(bound: &Bound, target: &Target) -> Vec<String> {
    let masks = request::masked_for(&bound.plan.environment.mask, target);
    masks
        .map(|mask| format!("the value of `{}` is put in there, and the command never sees it", mask.name))
        .collect()
}
