//! Where programs keep what lets its holder in: keys, tokens, passwords, cookies, and what was typed.

use super::{Place, place};

/// Stores of credentials, from the manual of the program that each belongs to (ssh(1), gpg(1), git-credential-store(1), `aws configure`,
/// `gcloud info`, `kubectl config`, `docker login`, `npm login`, …) and, for browsers, from their documentation of profile directories.
pub const STORES: &[Place] = &[
    // Keys and passwords.
    place("~/.ssh", "keys of ssh"),
    place("~/.gnupg", "keys of gpg"),
    place("~/.password-store", "passwords of pass"),
    place("~/.local/share/keyrings", "the session's keyring"),
    place("~/.local/share/kwalletd", "the session's wallet"),
    place("~/Library/Keychains", "the login keychain"),
    place("/Library/Keychains", "the system's keychain"),
    place("~/.config/op", "1Password's accounts"),
    place("~/.config/Bitwarden CLI", "Bitwarden's vault"),
    place("~/.vault-token", "a token of Vault"),
    place("~/.netrc", "passwords of hosts"),
    place("~/.pgpass", "passwords of PostgreSQL"),
    place("~/.my.cnf", "passwords of MySQL"),
    place("~/.config/rclone/rclone.conf", "accounts of rclone"),
    // Clouds and clusters.
    place("~/.aws", "keys of AWS"),
    place("~/.azure", "tokens of Azure"),
    place("~/.config/gcloud", "tokens of Google Cloud"),
    place("~/.boto", "keys of Google and Amazon storage"),
    place("~/.s3cfg", "keys of S3"),
    place("~/.oci", "keys of Oracle Cloud"),
    place("~/.config/doctl", "a token of DigitalOcean"),
    place("~/.config/hcloud", "a token of Hetzner Cloud"),
    place("~/.config/linode-cli", "a token of Linode"),
    place("~/.fly", "a token of Fly.io"),
    place("~/.config/netlify", "a token of Netlify"),
    place("~/.local/share/com.vercel.cli", "a token of Vercel"),
    place("~/.wrangler", "a token of Cloudflare"),
    place("~/.kube", "access to clusters"),
    place("/etc/kubernetes/admin.conf", "the administrator's access to the cluster"),
    place("/var/run/secrets", "secrets given to this container"),
    place("/run/secrets", "secrets given to this container"),
    place("~/.terraform.d/credentials.tfrc.json", "tokens of Terraform"),
    place("~/.terraformrc", "tokens of Terraform"),
    place("~/.pulumi/credentials.json", "tokens of Pulumi"),
    // Forges and registries.
    place("~/.git-credentials", "passwords of git"),
    place("~/.config/git/credentials", "passwords of git"),
    place("~/.config/gh", "a token of GitHub"),
    place("~/.config/glab-cli", "a token of GitLab"),
    place("~/.config/hub", "a token of GitHub"),
    place("~/.docker/config.json", "passwords of image registries"),
    place("~/.config/containers/auth.json", "passwords of image registries"),
    place("~/.npmrc", "a token of npm"),
    place("~/.yarnrc.yml", "a token of a registry"),
    place("~/.pypirc", "a token of PyPI"),
    place("~/.config/pypoetry/auth.toml", "passwords of package indexes"),
    place("~/.cargo/credentials.toml", "a token of crates.io"),
    place("~/.cargo/credentials", "a token of crates.io"),
    place("~/.gem/credentials", "a token of RubyGems"),
    place("~/.m2/settings.xml", "passwords of Maven repositories"),
    place("~/.m2/settings-security.xml", "Maven's master password"),
    place("~/.gradle/gradle.properties", "passwords of Gradle"),
    place("~/.nuget/NuGet/NuGet.Config", "passwords of NuGet"),
    place("~/.composer/auth.json", "tokens of Composer"),
    place("~/.config/composer/auth.json", "tokens of Composer"),
    // Agents.
    place("~/.claude/.credentials.json", "an agent's own token"),
    place("~/.claude.json", "an agent's own account"),
    place("~/.codex/auth.json", "an agent's own token"),
    place("~/.gemini/oauth_creds.json", "an agent's own token"),
    place("~/.config/github-copilot", "an agent's own token"),
    place("~/.local/share/opencode/auth.json", "an agent's own token"),
    // Browsers, mail and messages: a session's cookie is as good as its password.
    place("~/.mozilla", "Firefox's passwords and sessions"),
    place("~/.config/google-chrome", "Chrome's passwords and sessions"),
    place("~/.config/chromium", "Chromium's passwords and sessions"),
    place("~/.config/BraveSoftware", "Brave's passwords and sessions"),
    place("~/.config/microsoft-edge", "Edge's passwords and sessions"),
    place("~/Library/Application Support/Firefox", "Firefox's passwords and sessions"),
    place("~/Library/Application Support/Google/Chrome", "Chrome's passwords and sessions"),
    place("~/Library/Application Support/BraveSoftware", "Brave's passwords and sessions"),
    place("~/Library/Application Support/Microsoft Edge", "Edge's passwords and sessions"),
    place("~/Library/Safari", "Safari's history and sessions"),
    place("~/Library/Cookies", "sessions of web sites"),
    place("~/.thunderbird", "mail and its passwords"),
    place("~/Library/Mail", "mail"),
    place("~/Library/Messages", "messages"),
    place("~/.config/Slack", "Slack's session"),
    place("~/Library/Application Support/Slack", "Slack's session"),
    place("~/.local/share/TelegramDesktop", "Telegram's session"),
    // Wallets.
    place("~/.bitcoin", "a wallet"),
    place("~/.ethereum/keystore", "a wallet"),
    place("~/.config/solana/id.json", "a wallet"),
    // What was typed, passwords among it.
    place("~/.bash_history", "what was typed in a shell"),
    place("~/.zsh_history", "what was typed in a shell"),
    place("~/.local/share/fish/fish_history", "what was typed in a shell"),
    place("~/.python_history", "what was typed in Python"),
    place("~/.psql_history", "what was typed in PostgreSQL"),
    // The system's.
    place("/etc/shadow", "the system's passwords"),
    place("/etc/ssl/private", "private keys of this machine"),
    place("/etc/krb5.keytab", "this machine's key"),
];

/// Whether a file in a project holds secrets, by the customs that `std/secrets` goes by too. A sample for others to fill in is none.
pub fn is_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix(".env") {
        let sample = ["example", "sample", "template", "dist", "defaults", "schema"];
        let mut words = rest.split('.');
        return words.next() == Some("") && !words.any(|word| sample.contains(&word));
    }
    let (stem, end) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    let exact =
        [".netrc", ".pypirc", ".git-credentials", ".pgpass", ".vault-token", ".htpasswd", "credentials.json"];
    let keys = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    exact.contains(&lower.as_str())
        || keys.contains(&lower.as_str())
        || matches!(end, "p12" | "pfx" | "jks" | "keystore" | "kdbx" | "tfstate")
        || end == "key" && !stem.is_empty()
        || end == "json" && (stem.starts_with("service-account") || stem.starts_with("client_secret"))
        || matches!(stem, "secrets" | "secret") && matches!(end, "yaml" | "yml" | "json" | "toml" | "env")
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn tells_secrets_from_samples_and_code() {
        for name in [
            ".env",
            ".env.local",
            ".ENV",
            ".netrc",
            "id_ed25519",
            "server.key",
            "prod.tfstate",
            "secrets.yaml",
            "client_secret_1.json",
            "vault.kdbx",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            ".env.example",
            ".env.local.sample",
            ".environment",
            ".envrc",
            "env",
            "id_rsa.pub",
            "key",
            ".key",
            "keys.rs",
            "secrets.rs",
            "package.json",
            "monkey",
            "cert.pem",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
