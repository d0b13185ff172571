use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::policy::Network;

rule! {
    /// A variable that leads programs to another proxy than the one behind the walls.
    ///
    /// ## What it does
    ///
    /// Reports, beside `network only`, variables under `env` by which programs choose a proxy: `HTTPS_PROXY`,
    /// `ALL_PROXY`, `NO_PROXY`, `npm_config_proxy` and their like, set or passed.
    ///
    /// ## Why it is bad
    ///
    /// Behind `network only` there is one way out, and Palisade sets these variables to it. What the profile says takes
    /// their place: programs ask a proxy that is not there, or go past the one that is, and report a broken network. No
    /// wall falls by it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "static.crates.io" }
    ///     env { pass HTTPS_PROXY }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: with `network all` a company's proxy may be the way out.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network all
    ///     env { set HTTPS_PROXY "http://proxy.example.com:3128" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out.
    name: "proxy-variable",
    severity: Error,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

/// In lower case; from the manuals of curl, git, npm, Yarn, pip, Go, Node and Electron.
const VARIABLES: [&str; 17] = [
    "all_proxy",
    "electron_get_use_proxy",
    "ftp_proxy",
    "git_proxy_command",
    "global_agent_http_proxy",
    "global_agent_https_proxy",
    "grpc_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "node_use_env_proxy",
    "npm_config_https_proxy",
    "npm_config_noproxy",
    "npm_config_proxy",
    "pip_proxy",
    "socks_proxy",
    "yarn_https_proxy",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !matches!(context.policy.network(), Network::Only(_)) {
        return;
    }
    for entry in &context.policy.env {
        if !VARIABLES.contains(&entry.name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let word = if entry.value.is_some() { "sets" } else { "passes" };
        findings.push(
            INFO.finding(format!("the environment {word} `{}`, by which programs find the way out", entry.name))
                .at(entry.span, "in place of the one that is there")
                .help("leave it out: with `network only` Palisade sets what is right")
                .fix("remove the variable", remove(context.sources, entry.span), true),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::VARIABLES;
    use crate::lint::testing::Case;
    use crate::policy::{HostPattern, Network, NetworkRule};
    use crate::source::Spanned;

    #[test]
    fn every_variable_that_exec_sets_for_the_way_out_is_known() {
        assert!(VARIABLES.windows(2).all(|pair| pair[0] < pair[1]));
        for name in ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "NODE_USE_ENV_PROXY", "ELECTRON_GET_USE_PROXY"] {
            let mut case = Case::in_workspace();
            case.env(name, None);
            assert!(case.found("proxy-variable").is_empty(), "without a list of hosts");
            let span = case.line("localhost 5432");
            let rules = vec![NetworkRule { allow: true, pattern: HostPattern::localhost(5432), requests: None, span }];
            case.policy.network = Some(Spanned::new(Network::Only(rules), span));
            assert_eq!(case.found("proxy-variable").len(), 1, "{name}");
        }
    }
}
