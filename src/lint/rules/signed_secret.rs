use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// A masked secret that is never sent, because requests are signed with it.
    ///
    /// ## What it does
    ///
    /// Reports `mask` of variables whose value programs do not send but compute signatures with: the secret keys of AWS
    /// and of stores that speak its protocol, shared keys of Azure's storage, private keys.
    ///
    /// ## Why it is bad
    ///
    /// A masked value is put in where a request carries the placeholder. A signature that was computed with the
    /// placeholder carries nothing to replace, and the server refuses it: the command does not work, and fails with a
    /// message about a wrong key.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "sts.eu-central-1.amazonaws.com" }
    ///     env { mask AWS_SECRET_ACCESS_KEY for "sts.eu-central-1.amazonaws.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "sts.eu-central-1.amazonaws.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a token that is sent as it is.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "bedrock-runtime.eu-central-1.amazonaws.com" }
    ///     env { mask AWS_BEARER_TOKEN_BEDROCK for "bedrock-runtime.eu-central-1.amazonaws.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Let a program outside the walls sign, or use what the service offers in place of signatures: a bearer token, an
    /// URL that was signed beforehand. There is nothing that would make the masked key work.
    name: "signed-secret",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// Endings of names (AWS Signature Version 4; the shared keys of Azure Storage; HMAC keys of Google's storage; keys in PEM).
const SIGNING: [&str; 8] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SECRET_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_KEY",
    "S3_SECRET_KEY",
    "SECRET_ACCESS_KEY",
    "PRIVATE_KEY",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for mask in &context.policy.masks {
        let name = mask.name.to_ascii_uppercase();
        if !SIGNING.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        findings.push(
            INFO.finding(format!("`{}` is masked, and requests are signed with it", mask.name))
                .at(mask.span, "a signature made with what stands for it is a wrong one")
                .help("let a program outside sign, or mask a token that is sent as it is"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_signs_is_told_from_what_is_sent() {
        let host = "s3.eu-central-1.amazonaws.com";
        for (name, signs) in [
            ("AWS_SECRET_ACCESS_KEY", true),
            ("AWS_SESSION_TOKEN", true),
            ("R2_SECRET_ACCESS_KEY", true),
            ("GITHUB_APP_PRIVATE_KEY", true),
            ("AWS_BEARER_TOKEN_BEDROCK", false),
            ("OPENAI_API_KEY", false),
        ] {
            let mut case = Case::in_workspace();
            case.host(true, host, None).mask(name, host);
            assert_eq!(!case.found("signed-secret").is_empty(), signs, "{name}");
        }
    }
}
