//! `mask NAME for "HOST" …`, and what else must be stated with it.

use super::collect::Collector;
use super::names;
use crate::finding::{Finding, Severity};
use crate::plan::hosts::admit;
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, Mask, Network, Policy};
use crate::source::Span;
use crate::syntax::ast::{EnvItem, Text};

/// The value of a claim on a variable that is passed.
pub(super) const PASSED: &str = "pass";

/// How the value of a claim on a variable that is masked begins. That of one that is set begins with `"`.
const MASKED: &str = "mask ";

/// What is done with a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Masks,
    Passes,
    Sets,
}

impl Doing {
    /// By the value of a claim.
    fn of(said: &str) -> Self {
        match said {
            PASSED => Self::Passes,
            _ if said.starts_with(MASKED) => Self::Masks,
            _ => Self::Sets,
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Masks => "masked",
            Self::Passes => "passed as it is",
            Self::Sets => "set",
        }
    }

    fn does(self) -> &'static str {
        match self {
            Self::Masks => "masks it",
            Self::Passes => "passes it as it is",
            Self::Sets => "sets it",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Masks => "masked here",
            Self::Passes => "passed here, where the command sees the value",
            Self::Sets => "set here, where the command sees the value",
        }
    }
}

/// What the claim on a variable is called.
pub(super) fn claim_of(name: &str) -> String {
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
        let mut said: Vec<String> = hosts.iter().map(|host| host.value.to_string()).collect();
        said.sort();
        let said = format!("{MASKED}{}", said.join(" "));
        self.masked_in_one(&name, item.span, &said);
        if self.claim(claim_of(&name), item.span, said) {
            policy.masks.push(Mask { name, hosts, span: item.span });
        }
    }

    /// Where a fragment masks what the profile passes or sets, or the other way around, the profile does not just win: whoever wrote it may not know
    /// that it shows the value, or that what it uses wants to see it. `said` is what the fragment says.
    pub(super) fn masked_in_one(&mut self, name: &str, here: Span, said: &str) {
        let Some(first) = self.claims.get(&claim_of(name)) else { return };
        let (own, other) = (Doing::of(&first.value), Doing::of(said));
        let masked = [own, other].iter().filter(|doing| **doing == Doing::Masks).count();
        if self.fragment || first.file != 0 || self.file == 0 || masked != 1 {
            return;
        }
        let (message, first_label, label) = (
            format!("`{name}` is {}, and a fragment {}", own.done(), other.does()),
            own.label(),
            other.label(),
        );
        let place = first.span;
        let help = match own {
            Doing::Masks => "take the fragment out, or mask it there too",
            Doing::Passes => "take `pass` out, or the fragment",
            Doing::Sets => "take `set` out, or the fragment",
        };
        self.report(
            Finding::new("mask", Severity::Error, message).at(place, first_label).at(here, label).help(help),
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
