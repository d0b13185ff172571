use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::policy::Network;

rule! {
    /// A variable that has programs believe any certificate.
    ///
    /// ## What it does
    ///
    /// Reports variables under `env` by which a program checks no certificate, or no checksum of what it fetched:
    /// `NODE_TLS_REJECT_UNAUTHORIZED=0`, `GIT_SSL_NO_VERIFY`, `PYTHONHTTPSVERIFY=0`, `GONOSUMDB` and their like. Only
    /// where the network is not off.
    ///
    /// ## Why it is bad
    ///
    /// Whoever is on the way answers in place of every host, and reads what is sent. A list of hosts no longer says who
    /// is spoken to.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network all
    ///     limits { time 10m }
    ///     env { set NODE_TLS_REJECT_UNAUTHORIZED "0" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network all
    ///     limits { time 10m }
    ///     env { set NODE_EXTRA_CA_CERTS "/etc/ssl/company.pem" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: nothing is fetched, so nothing is believed.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network off
    ///     env { set NODE_TLS_REJECT_UNAUTHORIZED "0" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out. For a certificate of one's own, name its authority: `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`,
    /// `GIT_SSL_CAINFO`, `REQUESTS_CA_BUNDLE`.
    name: "unverified-tls",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// Variable, the values that switch the check off (none: any that is not empty), and what then believes anything; from the manuals of
/// node, git-config(1), python, npm, pip, go and deno.
const OFF: &[(&str, &[&str], &str)] = &[
    ("NODE_TLS_REJECT_UNAUTHORIZED", &["0"], "node checks no certificate"),
    ("GIT_SSL_NO_VERIFY", &[], "git checks no certificate"),
    ("PYTHONHTTPSVERIFY", &["0"], "python checks no certificate"),
    ("npm_config_strict_ssl", &["false", "0", "no"], "npm checks no certificate"),
    ("NPM_CONFIG_STRICT_SSL", &["false", "0", "no"], "npm checks no certificate"),
    ("YARN_ENABLE_STRICT_SSL", &["false", "0"], "yarn checks no certificate"),
    ("PIP_TRUSTED_HOST", &[], "pip checks no certificate of that host"),
    ("UV_INSECURE_HOST", &[], "uv checks no certificate of that host"),
    ("GOINSECURE", &[], "go fetches those modules without a certificate"),
    ("GONOSUMDB", &[], "go checks no checksum of those modules"),
    ("GONOSUMCHECK", &["1"], "go checks no checksum"),
    ("GOFLAGS", &["-insecure"], "go checks no certificate"),
    ("GOSUMDB", &["off"], "go checks no checksum"),
    ("DENO_TLS_CA_STORE", &["none"], "deno checks no certificate"),
    ("CARGO_HTTP_SSL_VERIFY", &["false"], "cargo checks no certificate"),
    ("HOMEBREW_CURLRC", &[], "brew takes settings of curl from it, `insecure` among them"),
    ("BUNDLE_SSL_VERIFY_MODE", &["0"], "bundler checks no certificate"),
    ("TF_INSECURE_SKIP_PROVIDER_VERIFICATION", &[], "terraform checks no provider"),
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if *context.policy.network() == Network::Off {
        return;
    }
    for entry in &context.policy.env {
        let Some(value) = entry.value.as_deref().filter(|value| !value.is_empty()) else { continue };
        let off = OFF
            .iter()
            .find(|(name, values, _)| *name == entry.name && (values.is_empty() || values.contains(&value)));
        let Some((name, _, what)) = off else { continue };
        findings.push(
            INFO.finding(format!("`{name}` has a program believe whoever answers"))
                .at(entry.span, *what)
                .help("leave it out; a certificate of one's own is trusted by naming its authority")
                .fix("remove the variable", remove(context.sources, entry.span), false),
        );
    }
}
