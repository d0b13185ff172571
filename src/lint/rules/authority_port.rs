use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::authority::{GIT_BY_SSH, LOCAL_PORTS, PORTS};
use crate::lint::catalogue::hosts::written;
use crate::lint::edits::remove;
use crate::policy::Network;

rule! {
    /// A port at which a service does what it is told.
    ///
    /// ## What it does
    ///
    /// Reports allowed ports of shells and remote desktops, container engines, clusters and debuggers, and of data
    /// stores that run code; of this machine (`localhost PORT`) also those of services that take whoever reaches them for
    /// its user. Port 22 of a forge whose ssh is for git alone is not reported.
    ///
    /// ## Why it is bad
    ///
    /// The command acts there with rights that no wall of this profile bounds: what it has that machine run, it runs. Where
    /// that is this machine, no wall of this profile is left: a container engine mounts the disk, a debugger runs code as
    /// whoever it belongs to, a browser shows every page its user is signed in at.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "build.example.com:2375" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "build.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: ssh at a forge is for git, and gives no shell.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "git.sr.ht:22" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out, and let a program outside the walls do that step. Where the command must have it, allow this and
    /// say what the account there may do.
    name: "authority-port",
    severity: Error,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let Some((port, what)) = PORTS.iter().find(|(port, _)| rule.pattern.port == Some(*port)) else {
            continue;
        };
        if *port == 22 && !rule.pattern.below && GIT_BY_SSH.contains(&rule.pattern.host.as_str()) {
            continue;
        }
        findings.push(
            INFO.finding(format!("at `{}` a service does what it is told", written(rule)))
                .at(rule.span, *what)
                .help("leave it out; where the command must have it, allow this and say what it may do there")
                .fix("remove the pattern", remove(context.sources, rule.span), false),
        );
    }
    let Network::Only(rules) = context.policy.network() else { return };
    for rule in rules.iter().filter(|rule| rule.is_localhost()) {
        let mut known = PORTS.iter().chain(LOCAL_PORTS);
        let Some((_, what)) = known.find(|(port, _)| rule.pattern.port == Some(*port)) else { continue };
        findings.push(
            INFO.finding(format!("at `{}` a service of this machine does what it is told", written(rule)))
                .at(rule.span, *what)
                .help(
                    "leave it out, and let a program outside the walls do that step: what runs there runs without them",
                ),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{HostPattern, Network, NetworkRule};
    use crate::source::Spanned;

    #[test]
    fn a_port_of_this_machine_is_one_of_a_service_that_obeys_or_is_not() {
        for (port, is_found) in [
            (2375, true),
            (2376, true),
            (6443, true),
            (9222, true),
            (5037, true),
            (8001, true),
            (22, true),
            (5432, false),
            (3306, false),
            (80, false),
        ] {
            let mut case = Case::in_workspace();
            let span = case.line(&format!("localhost {port}"));
            let rules = vec![NetworkRule { allow: true, pattern: HostPattern::localhost(port), requests: None, span }];
            case.policy.network = Some(Spanned::new(Network::Only(rules), span));
            assert_eq!(!case.found("authority-port").is_empty(), is_found, "{port}");
            for rule in ["private-host", "cleartext-port", "any-port", "literal-address"] {
                assert!(case.found(rule).is_empty(), "{rule}: {port}");
            }
        }
    }
}
