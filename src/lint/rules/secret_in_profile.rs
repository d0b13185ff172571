use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// A secret written into the profile itself.
    ///
    /// ## What it does
    ///
    /// Reports a `set` whose value has the shape of a known kind of secret: a vendor's token, a private key, an
    /// address with a password in it.
    ///
    /// ## Why it is bad
    ///
    /// A profile is checked in and reviewed, and its manifest is written beside it. A secret in it is known to
    /// everybody who can read the repository, for as long as its history lasts.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { set REMOTE "https://ci:correct-horse@example.com/" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { set REMOTE "https://example.com/" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a user without a password.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     env { set REMOTE "https://git@example.com/" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Revoke the secret: it is out. Then take it from the profile, and pass a new one from the caller where
    /// the command must have it.
    name: "secret-in-profile",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// Prefixes that vendors give their tokens so that scanners find them, the least length of what follows, and what they are. From the vendors' own
/// documentation.
const PREFIXES: [(&str, usize, &str); 22] = [
    ("AIza", 35, "a Google API key"),
    ("AKIA", 16, "an AWS access key"),
    ("ASIA", 16, "an AWS temporary access key"),
    ("SG.", 40, "a SendGrid key"),
    ("dop_v1_", 32, "a DigitalOcean token"),
    ("ghp_", 20, "a GitHub token"),
    ("gho_", 20, "a GitHub token"),
    ("ghs_", 20, "a GitHub token"),
    ("ghu_", 20, "a GitHub token"),
    ("ghr_", 20, "a GitHub token"),
    ("github_pat_", 20, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("hf_", 30, "a Hugging Face token"),
    ("npm_", 30, "an npm token"),
    ("pypi-", 50, "a PyPI token"),
    ("rk_live_", 16, "a Stripe key"),
    ("sk-ant-", 20, "an Anthropic key"),
    ("sk-proj-", 20, "an OpenAI key"),
    ("sk_live_", 16, "a Stripe key"),
    ("xapp-", 20, "a Slack token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
];

/// What kind of secret a value looks like.
fn kind(value: &str) -> Option<&'static str> {
    if value.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    if has_password(value) {
        return Some("an address with a password");
    }
    let is_token = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    // The first segment of a JSON Web Token is Base64 of `{"` (RFC 7519, section 3).
    if value.starts_with("eyJ") && value.split('.').count() == 3 && is_token(value) && value.len() > 40 {
        return Some("a JSON Web Token");
    }
    PREFIXES
        .iter()
        .find(|(prefix, length, _)| {
            value.strip_prefix(prefix).is_some_and(|rest| rest.len() >= *length && is_token(rest))
        })
        .map(|&(_, _, kind)| kind)
}

/// `scheme://user:password@host` (RFC 3986, section 3.2.1).
fn has_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        let Some(kind) = entry.value.as_deref().and_then(kind) else { continue };
        findings.push(
            // Without the value: reports are kept and passed on.
            INFO.finding(format!("the value of `{}` looks like {kind}", entry.name))
                .at(entry.span, "known to everybody who reads the profile")
                .help("revoke it, take it from the profile, and pass a new one from the caller where the command must have it"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::kind;
    use crate::lint::testing::Case;

    #[test]
    fn knows_the_shapes_of_secrets() {
        let token = |prefix: &str, length: usize| prefix.to_owned() + &"x".repeat(length);
        assert_eq!(kind(&token("ghp_", 36)), Some("a GitHub token"));
        assert_eq!(kind(&token("AKIA", 16)), Some("an AWS access key"));
        assert_eq!(kind(&token("sk-ant-", 90)), Some("an Anthropic key"));
        assert_eq!(kind(&format!("eyJ{0}.{0}.{0}", "a".repeat(20))), Some("a JSON Web Token"));
        assert_eq!(kind("-----BEGIN OPENSSH PRIVATE KEY-----\nx"), Some("a private key"));
        assert_eq!(kind("postgres://u:p@db/x"), Some("an address with a password"));
        for plain in
            ["C.UTF-8", "ghp_", "https://example.com/a:b@c", "https://u@example.com", "npm_config_cache", ""]
        {
            assert_eq!(kind(plain), None, "{plain}");
        }
    }

    #[test]
    fn the_message_does_not_repeat_the_secret() {
        let mut case = Case::in_workspace();
        case.env("REMOTE", Some("https://ci:correct-horse@example.com/"));
        let findings = case.findings("secret-in-profile");
        assert_eq!(findings[0].message, "the value of `REMOTE` looks like an address with a password");
    }
}
