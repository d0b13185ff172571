//! `mask NAME for "HOST" …`, and what else must be stated with it.

use super::collect::Collector;
use super::names;
use crate::finding::{Finding, Severity};
use crate::plan::hosts::admit;
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, Mask, Network, Policy};
use crate::source::Span;
use crate::syntax::ast::{EnvItem, Text};

/// What the claim on a variable is called, and that of one which is masked.
fn claim_of(name: &str) -> String {
    format!("the variable `{name}`")
}

impl Collector<'_> {
    pub(super) fn mask(&mut self, item: &EnvItem, hosts: &[Text], policy: &mut Policy) {
        let hosts = self.mask_hosts(hosts);
        if let Some(finding) = names::variable(&item.name) {
            self.report(finding);
            return;
        }
        let Some(hosts) = hosts else { return };
        let name = item.name.value.clone();
        self.masked_elsewhere(&name, item.span, true);
        let mut said: Vec<String> = hosts.iter().map(|host| host.value.to_string()).collect();
        said.sort();
        if self.claim(claim_of(&name), item.span, format!("mask {}", said.join(" "))) {
            policy.masks.push(Mask { name, hosts, span: item.span });
        }
    }

    /// Where one file masks a variable and another passes it, neither wins: one of them would be wrong about who sees the value.
    pub(super) fn masked_elsewhere(&mut self, name: &str, span: Span, masks: bool) {
        let Some(first) = self.claims.get(&claim_of(name)) else { return };
        let clash = if masks { first.value == "None" } else { first.value.starts_with("mask ") };
        if !clash || first.file == self.file {
            return;
        }
        let (masked, passed) = if masks { (span, first.span) } else { (first.span, span) };
        self.report(
            Finding::new("mask", Severity::Error, format!("`{name}` is masked, and passed as it is"))
                .at(masked, "masked here")
                .at(passed, "passed here, where the command sees the value")
                .help("keep one of the two"),
        );
    }

    /// A masked value is put in on the way to its hosts: they must be reached, and through the gateway.
    pub(super) fn check_masks(&mut self, policy: &Policy) {
        // A fragment may leave both to the profile that uses it.
        if self.fragment {
            return;
        }
        for mask in &policy.masks {
            let message = |what: &str| format!("`{}` is masked, {what}", mask.name);
            let rules = match policy.network.as_ref().map(|network| &network.value) {
                Some(Network::Only(rules)) => rules,
                other => {
                    let (what, label) = match other {
                        Some(Network::All) => ("and the network is open", "nothing reads what goes out"),
                        _ => ("and the network is off", "no host can be reached"),
                    };
                    let finding = Finding::new("mask", Severity::Error, message(what));
                    let mut finding = finding.at(mask.span, label);
                    if let Some(network) = &policy.network {
                        finding = finding.at(network.span, "the network");
                    }
                    self.report(finding.help(format!(
                        "values are put in where hosts are named: `network only {{ {} }}`",
                        lines(mask.hosts.iter().map(|host| &host.value))
                    )));
                    continue;
                }
            };
            for host in &mask.hosts {
                let Some(target) = target(&host.value) else { continue };
                let decision = admit(rules, &target);
                if decision.allowed {
                    continue;
                }
                let finding = Finding::new(
                    "mask",
                    Severity::Error,
                    format!("`{}` is masked for `{}`, which is not allowed", mask.name, shown(&host.value)),
                );
                let finding = finding.at(host.span, "no connection leads there");
                self.report(match decision.rule {
                    Some(denial) => finding.at(denial.span, "this denies it").help("take one of the two out"),
                    None => finding.help(format!("write `{}` in `network only`", lines([&host.value]))),
                });
            }
        }
    }
}

/// The one host of a pattern that is of one name at one port.
fn target(pattern: &HostPattern) -> Option<Target> {
    Some(Target::new(Host::parse(&pattern.host).ok()?, pattern.port?))
}

fn lines<'a>(hosts: impl IntoIterator<Item = &'a HostPattern>) -> String {
    let lines: Vec<String> = hosts.into_iter().map(|host| format!("allow \"{}\"", shown(host))).collect();
    lines.join("; ")
}

/// As it is written: without the port that goes without saying.
fn shown(pattern: &HostPattern) -> String {
    let text = pattern.to_string();
    text.strip_suffix(":443").map_or(text.clone(), str::to_owned)
}
