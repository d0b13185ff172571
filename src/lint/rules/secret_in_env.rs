use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::remove;

rule! {
    /// A variable that by its name holds a secret.
    ///
    /// ## What it does
    ///
    /// Reports variables under `env`, passed or set, with names such as `GITHUB_TOKEN`,
    /// `AWS_SECRET_ACCESS_KEY`, `DB_PASSWORD` or `DATABASE_URL`.
    ///
    /// ## Why it is bad
    ///
    /// Every program behind the walls reads its environment, and so does every child it starts. An agent that
    /// was talked into it prints the value, commits it, or sends it away where the network is open. No wall
    /// stands round a variable.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { pass GITHUB_TOKEN }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { pass TERM }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out, and let a program outside the walls do what needs the secret. Where the command must have
    /// it, pass one that is short-lived and narrow, and allow this finding with the reason.
    name: "secret-in-env",
    severity: Warning,
    allowable: true,
    check: check,
}

/// Words that, between underscores, make a name a secret's.
const WORDS: [&str; 14] = [
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "DSN",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PGPASSWORD",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Whole names that are, though no word in them says so: what holds a password inside an address.
const NAMES: [&str; 5] = ["DATABASE_URL", "MONGODB_URI", "MYSQL_PWD", "POSTGRES_URL", "REDIS_URL"];

/// Whether a variable of that name holds a secret, by the customs of those who name variables.
fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The shell's own two.
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let words: Vec<_> = name.split('_').collect();
    let is_key = words.len() > 1
        && (words.last() == Some(&"KEY") || name.contains("ACCESS_KEY"))
        && !words.contains(&"PUBLIC");
    is_key || NAMES.contains(&name.as_str()) || words.iter().any(|word| WORDS.contains(word))
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        if !names_a_secret(&entry.name) || entry.value.as_deref() == Some("") {
            continue;
        }
        let word = if entry.value.is_some() { "sets" } else { "passes" };
        findings.push(
            INFO.finding(format!("the environment {word} `{}`, by its name a secret", entry.name))
                .at(entry.span, "readable by every program behind the walls")
                .help("leave it out; where the command must have it, pass a short-lived, narrow one and allow this finding with the reason")
                .fix("remove the variable", remove(context.sources, entry.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::names_a_secret;
    use crate::lint::testing::Case;

    #[test]
    fn tells_secrets_from_others_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "github_token",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "API_KEY",
            "ANTHROPIC_API_KEY",
            "DATABASE_URL",
            "SENTRY_DSN",
            "GH_PAT",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in
            ["TERM", "LANG", "PATH", "PWD", "OLDPWD", "KEY", "AWS_REGION", "SSH_PUBLIC_KEY", "KEYBOARD", "TOKENIZER", "PATTERN"]
        {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn both_ways_to_hand_one_over_are_reported_and_emptying_one_is_not() {
        let mut case = Case::in_workspace();
        case.env("GITHUB_TOKEN", None).env("API_KEY", Some("dummy")).env("NPM_TOKEN", Some("")).env("TERM", None);
        assert_eq!(
            case.found("secret-in-env"),
            [
                "the environment passes `GITHUB_TOKEN`, by its name a secret\n\
                 pass GITHUB_TOKEN -- readable by every program behind the walls",
                "the environment sets `API_KEY`, by its name a secret\n\
                 set API_KEY \"dummy\" -- readable by every program behind the walls",
            ]
        );
    }
}
