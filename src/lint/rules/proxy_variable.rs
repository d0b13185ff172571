use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::policy::Network;

rule! {
    /// A variable that leads programs to another proxy than the one behind the walls, or has them trust another authority.
    ///
    /// ## What it does
    ///
    /// Reports, beside `network only`, variables under `env` by which programs choose a proxy: `HTTPS_PROXY`,
    /// `ALL_PROXY`, `NO_PROXY`, `npm_config_proxy` and their like, set or passed. Where connections to some host are read,
    /// those too by which programs find the authorities that they trust, where they are set: `SSL_CERT_FILE`,
    /// `NODE_EXTRA_CA_CERTS` and their like. Passed, these name a further authority beside that of the run; but for a few
    /// (`WGETRC`, `GIT_SSL_CAPATH`, `npm_config_ca`) that Palisade passes as they are.
    ///
    /// ## Why it is bad
    ///
    /// Behind `network only` there is one way out, and Palisade sets these variables to it. What the profile says takes
    /// their place: programs ask a proxy that is not there, or go past the one that is, and report a broken network. Where
    /// connections are read, programs must trust the authority of the run, and Palisade tells them of it together with
    /// those of the system. No wall falls by it.
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
    /// Looks alike and is fine: a company's authority, which is trusted beside that of the run.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { inspect "static.crates.io" }
    ///     env { pass NODE_EXTRA_CA_CERTS }
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
pub(super) const VARIABLES: [&str; 17] = [
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

/// Likewise, from the manuals of OpenSSL, Node, curl, git, pip, npm, cargo, Deno, gRPC, the AWS CLI, wget and the Java machine.
pub(super) const TRUST: [&str; 18] = [
    "aws_ca_bundle",
    "cargo_http_cainfo",
    "curl_ca_bundle",
    "deno_cert",
    "git_ssl_cainfo",
    "git_ssl_capath",
    "grpc_default_ssl_roots_file_path",
    "httplib2_ca_certs",
    "java_tool_options",
    "nix_ssl_cert_file",
    "node_extra_ca_certs",
    "npm_config_ca",
    "npm_config_cafile",
    "pip_cert",
    "requests_ca_bundle",
    "ssl_cert_dir",
    "ssl_cert_file",
    "wgetrc",
];

/// Those of them that `exec` does not change where they are passed.
const KEPT: [&str; 3] = ["git_ssl_capath", "npm_config_ca", "wgetrc"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Network::Only(rules) = context.policy.network() else { return };
    let read = rules.iter().any(|rule| rule.requests.is_some()) || !context.policy.masks.is_empty();
    for entry in &context.policy.env {
        let name = entry.name.to_ascii_lowercase();
        let (what, label) = if VARIABLES.contains(&name.as_str()) {
            ("find the way out", "in place of the one that is there")
        } else if read
            && TRUST.contains(&name.as_str())
            && (entry.value.is_some() || KEPT.contains(&name.as_str()))
        {
            ("find whom to trust", "in place of the authority by which connections are read")
        } else {
            continue;
        };
        let word = if entry.value.is_some() { "sets" } else { "passes" };
        findings.push(
            INFO.finding(format!("the environment {word} `{}`, by which programs {what}", entry.name))
                .at(entry.span, label)
                .help("leave it out: with `network only` Palisade sets what is right")
                .fix("remove the variable", remove(context.sources, entry.span), true),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{TRUST, VARIABLES};
    use crate::lint::testing::Case;
    use crate::policy::{HostPattern, Network, NetworkRule};
    use crate::source::Spanned;

    #[test]
    fn every_variable_that_exec_sets_for_the_way_out_is_known() {
        assert!(VARIABLES.windows(2).chain(TRUST.windows(2)).all(|pair| pair[0] < pair[1]));
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

    #[test]
    fn whom_to_trust_is_for_palisade_to_say_where_connections_are_read() {
        let mut case = Case::in_workspace();
        case.env("NODE_EXTRA_CA_CERTS", Some("/ca")).host(true, "a.com", None);
        assert!(case.found("proxy-variable").is_empty());
        case.limited("b.com", &[], &[]);
        assert_eq!(
            case.found("proxy-variable"),
            ["the environment sets `NODE_EXTRA_CA_CERTS`, by which programs find whom to trust\n\
              set NODE_EXTRA_CA_CERTS \"/ca\" -- in place of the authority by which connections are read"]
        );
    }
}
