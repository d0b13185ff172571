use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{COLLECTORS, UPLOADS, is_below, takes};
use crate::plan::hosts;
use crate::policy::host::Target;
use crate::policy::requests::Requests;
use crate::policy::{HostPattern, Network};

rule! {
    /// A secret that is put in at a host where anybody can leave something.
    ///
    /// ## What it does
    ///
    /// Reports `mask NAME for "HOST"` where strangers can read what is left at the host, or what is sent to it, unless
    /// the host may only be read (`methods GET HEAD`) or lines with `paths` say where else it may be asked.
    ///
    /// ## Why it is bad
    ///
    /// The command never sees the value, and acts with its authority all the same: each request to the host carries it.
    /// An agent that was talked into it opens what is private, or posts what it could read where an attacker reads it,
    /// in your name. At a host that shows what is sent to it the value itself is shown.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only {
    ///         # palisade: allow(upload-host) it opens issues for us
    ///         allow "api.github.com"
    ///     }
    ///     env { mask GITHUB_TOKEN for "api.github.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.github.com" methods GET HEAD }
    ///     env { mask GITHUB_TOKEN for "api.github.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the host answers whoever asks, and shows nobody else what was asked.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.openai.com" }
    ///     env { mask OPENAI_API_KEY for "api.openai.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Say what may be asked of the host with the secret, by `methods` and `paths`, and give the secret itself no more
    /// rights than that. Never mask one for a host that shows what it is sent.
    name: "mask-at-upload-host",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for mask in &context.policy.masks {
        for host in &mask.hosts {
            let HostPattern { host: name, port, .. } = &host.value;
            let shows = COLLECTORS.iter().find(|(known, _)| known == name || is_below(name, known));
            if let Some((_, what)) = shows {
                findings.push(
                    INFO.finding(format!("the value of `{}` is put in at `{name}`", mask.name))
                        .at(host.span, format!("it {what}"))
                        .help("take the host out"),
                );
                continue;
            }
            let known = UPLOADS.iter().find(|(known, _)| known == name);
            let Some((_, what)) = known.filter(|_| takes(context.policy.network(), name, port.unwrap_or(443)))
            else {
                continue;
            };
            if everything_may_be_left(context, &host.value) {
                findings.push(
                    INFO.finding(format!("with the value of `{}`, anything can be left at `{name}`", mask.name))
                        .at(host.span, format!("takes {what}"))
                        .help(format!(
                            "say what may be asked there: `allow \"{name}\" methods GET HEAD`, and lines with `paths` for what may be changed"
                        )),
                );
            }
        }
    }
}

/// Whether something may be asked that is not said by its path.
fn everything_may_be_left(context: &Context<'_>, host: &HostPattern) -> bool {
    let Network::Only(rules) = context.policy.network() else { return true };
    let Ok(target) = Target::parse(&host.to_string(), None) else { return true };
    let limits = hosts::limits(rules, &target);
    let changes = |requests: &Requests| {
        requests.methods.is_empty()
            || requests.methods.iter().any(|method| !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS"))
    };
    limits.is_empty() || limits.iter().any(|(requests, _)| requests.paths.is_empty() && changes(requests))
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_may_be_left_there_with_the_secret_decides() {
        let found = |build: &dyn Fn(&mut Case)| {
            let mut case = Case::in_workspace();
            build(&mut case);
            case.found("mask-at-upload-host").len()
        };
        let api = "api.github.com";
        assert_eq!(found(&|case| _ = case.host(true, api, None).mask("T", api)), 1);
        assert_eq!(found(&|case| _ = case.limited(api, &[], &[]).mask("T", api)), 1);
        assert_eq!(found(&|case| _ = case.limited(api, &["GET"], &[]).mask("T", api)), 0);
        let both = |case: &mut Case| _ = case.limited(api, &["GET"], &[]).limited(api, &["POST"], &["/a"]).mask("T", api);
        assert_eq!(found(&both), 0);
        assert_eq!(found(&|case| _ = case.limited(api, &["GET", "POST"], &[]).mask("T", api)), 1);
        assert_eq!(found(&|case| _ = case.host(true, "a.com", None).mask("T", "a.com")), 0);
        let hook = "x.webhook.site";
        assert_eq!(found(&|case| _ = case.limited(hook, &["GET"], &["/a"]).mask("T", hook)), 1);
    }
}
