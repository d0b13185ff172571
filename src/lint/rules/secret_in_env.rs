use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::catalogue::hosts::KEYS;
use crate::lint::edits::remove;
use crate::plan::hosts;
use crate::policy::Network;

rule! {
    /// A variable that by its name holds a secret, or the way to another program's authority.
    ///
    /// ## What it does
    ///
    /// Reports variables under `env`, passed or set, with names such as `GITHUB_TOKEN`,
    /// `AWS_SECRET_ACCESS_KEY`, `DB_PASSWORD` or `DATABASE_URL`, and those that lead to a program which acts for
    /// whoever asks it: `SSH_AUTH_SOCK`, `DOCKER_HOST`, `KUBECONFIG`, `DBUS_SESSION_BUS_ADDRESS`.
    ///
    /// ## Why it is bad
    ///
    /// Every program behind the walls reads its environment, and so does every child it starts. An agent that
    /// was talked into it prints the value, commits it, or sends it away where the network is open. No wall
    /// stands round a variable. And an agent for keys signs, and a container engine starts what it is told, outside
    /// of all walls.
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
    /// Looks alike and is fine: an empty value takes the secret away.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     env { set NPM_TOKEN "" }
    /// }
    /// ```
    ///
    /// So does masking it:
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
    /// Where the secret goes to a host in a header, as the keys of APIs do, mask it: `mask OPENAI_API_KEY for
    /// "api.openai.com"`. The command then has something of the same shape, and the host alone the value. Else leave it
    /// out, and let a program outside the walls do what needs the secret. Where the command must have it, pass one that
    /// is short-lived and narrow, and allow this finding with the reason.
    name: "secret-in-env",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// Words that, between underscores, make a name a secret's.
const WORDS: [&str; 17] = [
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PASSWORDS",
    "PGPASSWORD",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Whole names that are, though no word in them says so: what holds a password inside an address.
const NAMES: [&str; 5] = ["DATABASE_URL", "MONGODB_URI", "MYSQL_PWD", "POSTGRES_URL", "REDIS_URL"];

/// Variables that name a way to a program which acts with its own authority, and whose that is: ssh-agent(1), docker(1),
/// kubectl(1), dbus-daemon(1), gpg-agent(1), X(7), systemd(1).
const AUTHORITIES: [(&str, &str); 12] = [
    ("CONTAINER_HOST", "the container engine's"),
    ("DBUS_SESSION_BUS_ADDRESS", "that of every program on the session bus"),
    ("DBUS_SYSTEM_BUS_ADDRESS", "that of every program on the system bus"),
    ("DISPLAY", "that of every window of the session"),
    ("DOCKER_CONTEXT", "the container engine's"),
    ("DOCKER_HOST", "the container engine's"),
    ("GPG_AGENT_INFO", "the gpg agent's"),
    ("KUBECONFIG", "the cluster's"),
    ("SSH_AUTH_SOCK", "the ssh agent's"),
    ("WAYLAND_DISPLAY", "that of the session"),
    ("XAUTHORITY", "that of every window of the session"),
    ("XDG_RUNTIME_DIR", "that of the session's programs, whose sockets it holds"),
];

/// Whose authority a variable of that name leads to.
fn authority(name: &str) -> Option<&'static str> {
    AUTHORITIES.iter().find(|(variable, _)| *variable == name).map(|&(_, whose)| whose)
}

/// Whether a variable of that name holds a secret, by the customs of those who name variables.
pub(super) fn names_a_secret(name: &str) -> bool {
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

/// The hosts that a variable of that name is for, where they are among those named.
fn hosts_of(context: &Context<'_>, name: &str) -> Vec<&'static str> {
    let network = context.policy.network();
    let open = |host: &str| matches!(network, Network::Only(_)) && hosts::decide(network, host).allowed;
    KEYS.iter().filter(|(key, host)| *key == name && open(host)).map(|&(_, host)| host).collect()
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        if entry.value.as_deref() == Some("") {
            continue;
        }
        let word = if entry.value.is_some() { "sets" } else { "passes" };
        let hosts = if entry.value.is_none() { hosts_of(context, &entry.name) } else { Vec::new() };
        let written = context.sources.text(entry.span).split_ascii_whitespace();
        if !hosts.is_empty() && written.eq(["pass", &entry.name]) {
            let right = format!("mask {} for \"{}\"", entry.name, hosts.join("\" \""));
            let edit = Edit { span: entry.span, replacement: right.clone() };
            findings.push(
                INFO.finding(format!("the environment passes `{}`, by its name a secret", entry.name))
                    .at(entry.span, "readable by every program behind the walls")
                    .help(format!("write `{right}`: the host gets the value, and the command something of its shape"))
                    .fix("mask it", vec![edit], false),
            );
            continue;
        }
        let (what, label, help) = match authority(&entry.name) {
            Some(whose) => (
                format!(
                    "the environment {word} `{}`, by which programs act with another authority",
                    entry.name
                ),
                whose,
                "leave it out; where the command must have it, allow this finding with the reason",
            ),
            None if names_a_secret(&entry.name) => (
                format!("the environment {word} `{}`, by its name a secret", entry.name),
                "readable by every program behind the walls",
                "leave it out, or mask it for the host that is to have it; where the command must, pass a short-lived, narrow one and allow this finding with the reason",
            ),
            None => continue,
        };
        findings.push(INFO.finding(what).at(entry.span, label).help(help).fix(
            "remove the variable",
            remove(context.sources, entry.span),
            false,
        ));
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
            "PASSWORDS",
            "PGPASSWORD",
            "MYSQL_PWD",
            "API_KEY",
            "ANTHROPIC_API_KEY",
            "DATABASE_URL",
            "SENTRY_DSN",
            "GH_PAT",
            "DB_PASS",
            "SMTP_PASSWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in [
            "TERM",
            "LANG",
            "PATH",
            "PWD",
            "OLDPWD",
            "KEY",
            "AWS_REGION",
            "SSH_PUBLIC_KEY",
            "KEYBOARD",
            "TOKENIZER",
            "PATTERN",
            "COMPASS",
            "BYPASS",
            "PASSENGER",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn a_secret_whose_host_is_allowed_can_be_masked() {
        let mut case = Case::in_workspace();
        case.env("OPENAI_API_KEY", None).env("GH_TOKEN", None).host(true, "api.openai.com", None);
        let found = case.findings("secret-in-env");
        let edits: Vec<_> = found
            .iter()
            .map(|finding| finding.fix.as_ref().map(|fix| (fix.safe, fix.edits[0].replacement.clone())))
            .collect();
        let masked = "mask OPENAI_API_KEY for \"api.openai.com\"".to_owned();
        assert_eq!(edits, [Some((false, masked)), Some((false, String::new()))]);
    }

    #[test]
    fn both_ways_to_hand_one_over_are_reported_and_emptying_one_is_not() {
        let mut case = Case::in_workspace();
        case.env("GITHUB_TOKEN", None)
            .env("API_KEY", Some("dummy"))
            .env("NPM_TOKEN", Some(""))
            .env("TERM", None);
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

    #[test]
    fn the_way_to_another_program_is_told_in_its_own_words() {
        let mut case = Case::in_workspace();
        case.env("SSH_AUTH_SOCK", None)
            .env("DOCKER_HOST", Some("unix:///run/docker.sock"))
            .env("KUBECONFIG", Some(""));
        assert_eq!(
            case.found("secret-in-env"),
            [
                "the environment passes `SSH_AUTH_SOCK`, by which programs act with another authority\n\
                 pass SSH_AUTH_SOCK -- the ssh agent's",
                "the environment sets `DOCKER_HOST`, by which programs act with another authority\n\
                 set DOCKER_HOST \"unix:///run/docker.sock\" -- the container engine's",
            ]
        );
        for name in ["SSH_AUTH_SOCK", "DOCKER_HOST", "KUBECONFIG", "DBUS_SESSION_BUS_ADDRESS"] {
            let mut case = Case::in_workspace();
            assert_eq!(case.env(name, None).found("secret-in-env").len(), 1, "{name}");
        }
    }
}
