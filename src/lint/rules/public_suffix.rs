use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{TENANTS, written};
use crate::policy::{Network, NetworkRule};

rule! {
    /// A pattern of hosts below which strangers have names.
    ///
    /// ## What it does
    ///
    /// Reports `allow "*.NAME"` where NAME is a suffix under which anybody can have a name: one of the Public Suffix
    /// List (`*.co.uk`, `*.github.io`), one of a hosting platform that is not on it (`*.run.app`), or a parent of such
    /// suffixes (`*.amazonaws.com`, `*.us-east-1.amazonaws.com`).
    ///
    /// ## Why it is bad
    ///
    /// Whoever wants what the command can read takes a name there, for nothing and in a minute, and the pattern allows
    /// it. The certificate is a good one, and the name looks like that of the platform.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.github.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "palisade.github.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a domain of one owner, with everything below it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name the hosts that are meant: `OWNER.github.io`, `BUCKET.s3.amazonaws.com`.
    name: "public-suffix",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context).filter(|rule| rule.pattern.below) {
        let host = rule.pattern.host.as_str();
        let listed = psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix == host);
        let label = if listed {
            "a public suffix: anybody can have a name below it"
        } else if TENANTS.contains(&host) || holds_suffixes(host) {
            "a hosting platform: whoever asks has a name below it"
        } else {
            continue;
        };
        findings.push(
            INFO.finding(format!("`{}` allows what strangers put there", written(rule)))
                .at(rule.span, label)
                .help(format!("name the hosts that are meant, as in `OWNER.{host}`")),
        );
    }
}

/// The hosts that are allowed. Whether a denial takes one back is for `dead-host-rule`.
pub(super) fn allowed<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a NetworkRule> + use<'a> {
    let rules = match context.policy.network.as_ref().map(|network| &network.value) {
        Some(Network::Only(rules)) => rules.as_slice(),
        _ => &[],
    };
    rules.iter().filter(|rule| rule.allow && !rule.is_localhost())
}

/// Names under which platforms keep the suffixes that they give away, below a name for a region or a product.
const PRODUCTS: [&str; 9] =
    ["s3", "execute-api", "elb", "compute", "a", "blob", "web", "pages", "app"];

/// Whether there is a public suffix right below a name, and the name is that of a platform and no country's.
fn holds_suffixes(host: &str) -> bool {
    let is_suffix = |name: &str| {
        psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix == name)
    };
    host.contains('.') && PRODUCTS.iter().any(|product| is_suffix(&format!("{product}.{host}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parents_of_suffixes_hold_what_strangers_put_there() {
        for host in ["us-east-1.amazonaws.com", "eu-west-1.amazonaws.com", "core.windows.net"] {
            assert!(holds_suffixes(host), "{host}");
        }
        for host in ["crates.io", "example.com", "example.co.uk", "pypi.org", "com"] {
            assert!(!holds_suffixes(host), "{host}");
        }
        for host in ["amazonaws.com", "core.windows.net", "googleapis.com", "run.app", "on.aws", "sharepoint.com"] {
            assert!(TENANTS.contains(&host) || holds_suffixes(host), "{host}");
        }
    }
}
