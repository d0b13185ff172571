//! What is known of hosts: under which names strangers are found, and where strangers can be written to.

use crate::plan::hosts;
use crate::policy::host::{Host, Target};
use crate::policy::requests::{PathPattern, Requests};
use crate::policy::{HostPattern, Network, NetworkRule};
use std::borrow::Cow;

/// Suffixes below which hosting platforms give names to whoever asks, and which the Public Suffix List does not have as a suffix: the
/// parents of its own entries, and platforms that never asked to be listed.
pub const TENANTS: &[&str] = &[
    "amazonaws.com",
    "amazonaws.com.cn",
    "awsapprunner.com",
    "azure.com",
    "azure.net",
    "azureedge.net",
    "cloudapp.net",
    "core.windows.net",
    "windows.net",
    "fastly.net",
    "akamaized.net",
    "akamaihd.net",
    "edgekey.net",
    "b-cdn.net",
    "digitaloceanspaces.com",
    "googleusercontent.com",
    "googleapis.com",
    "glitch.me",
    "nip.io",
    "sslip.io",
    "xip.io",
    "on.aws",
    "lambda-url.on.aws",
    "oraclecloud.com",
    "r2.cloudflarestorage.com",
    "cloudflarestorage.com",
    "replit.dev",
    "repl.co",
    "run.app",
    "sharepoint.com",
    "atlassian.net",
    "zendesk.com",
    "myshopify.com",
    "salesforce.com",
    "force.com",
    "slack.com",
    "supabase.co",
    "backblazeb2.com",
    "wasabisys.com",
    "linodeobjects.com",
    "blogspot.com",
    "wordpress.com",
    "tumblr.com",
    "substack.com",
    "codespaces.githubpreview.dev",
    "gitpod.io",
    "csb.app",
    "val.run",
    "deno.dev",
    "modal.run",
];

/// Hosts at which whoever has an account, or nobody's account at all, can leave what others then read; and what they are.
pub const UPLOADS: &[(&str, &str)] = &[
    ("github.com", "repositories, issues and releases"),
    ("api.github.com", "repositories, issues and gists"),
    ("gist.github.com", "pastes"),
    ("uploads.github.com", "releases"),
    ("gitlab.com", "repositories and snippets"),
    ("bitbucket.org", "repositories and snippets"),
    ("codeberg.org", "repositories"),
    ("huggingface.co", "models and data sets"),
    ("pastebin.com", "pastes"),
    ("paste.rs", "pastes"),
    ("dpaste.org", "pastes"),
    ("termbin.com", "pastes"),
    ("hastebin.com", "pastes"),
    ("rentry.co", "pastes"),
    ("0x0.st", "files"),
    ("transfer.sh", "files"),
    ("file.io", "files"),
    ("catbox.moe", "files"),
    ("tmpfiles.org", "files"),
    ("s3.amazonaws.com", "anybody's buckets"),
    ("storage.googleapis.com", "anybody's buckets"),
    ("docs.google.com", "documents and forms"),
    ("drive.google.com", "files"),
    ("script.google.com", "anybody's programs"),
    ("www.googleapis.com", "files, mail and documents"),
    ("graph.microsoft.com", "files and mail"),
    ("www.dropbox.com", "files"),
    ("content.dropboxapi.com", "files"),
    ("api.notion.com", "pages"),
    ("upload.pypi.org", "packages"),
    ("registry.npmjs.org", "packages"),
    ("crates.io", "packages"),
    ("rubygems.org", "packages"),
    ("ghcr.io", "images"),
    ("registry-1.docker.io", "images"),
    ("hooks.slack.com", "messages"),
    ("slack.com", "messages and files"),
    ("discord.com", "messages and files"),
    ("api.telegram.org", "messages and files"),
    ("api.twilio.com", "messages"),
    ("api.sendgrid.com", "mail"),
    ("api.mailgun.net", "mail"),
    ("web.archive.org", "copies of any page"),
    ("translate.google.com", "any page, fetched on demand"),
];

/// Those of them, at which something can be left by asking for it too: their manuals have what is written in the query of a `GET`.
const BY_GET: [&str; 6] = [
    "api.telegram.org",
    "docs.google.com",
    "script.google.com",
    "slack.com",
    "translate.google.com",
    "web.archive.org",
];

/// Whether something can be left at one of [`UPLOADS`], as far as what may be asked of it tells: where it may only be read, or fetched from by
/// git, it cannot.
pub fn takes(network: &Network, host: &str, port: u16) -> bool {
    let Ok(target) = Target::parse(host, Some(port)) else { return false };
    if !hosts::decide(network, &target.to_string()).allowed {
        return false;
    }
    let Network::Only(rules) = network else { return true };
    let limits = hosts::limits(rules, &target);
    limits.is_empty() || BY_GET.contains(&host) || !limits.iter().all(|(requests, _)| only_reads(requests))
}

/// Whether requests only read (RFC 9110, 9.2.1), or are those by which git fetches (gitprotocol-http(5)).
fn only_reads(requests: &Requests) -> bool {
    let fetches = |path: &PathPattern| path.to_string().ends_with("/git-upload-pack");
    let fetches = !requests.paths.is_empty() && requests.paths.iter().all(fetches);
    let reads = |method: &String| match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" => true,
        "POST" => fetches,
        _ => false,
    };
    !requests.methods.is_empty() && requests.methods.iter().all(reads)
}

/// Hosts, and what lies below them, to which nobody stands in for anybody else, and why: their clients know their certificates beforehand, or
/// show one of their own (Apple's \"Use Apple products on enterprise networks\", Google's AIP-4114, AWS IoT's and Azure IoT Hub's
/// documentation, Signal's and WhatsApp's of their transport).
pub const PINNED: &[(&str, &str)] = &[
    ("push.apple.com", "its clients know its certificate"),
    ("itunes.apple.com", "its clients know its certificate"),
    ("icloud.com", "its clients know its certificate"),
    ("gsa.apple.com", "its clients know its certificate"),
    ("mtls.googleapis.com", "its clients show a certificate of their own"),
    ("azure-devices.net", "its clients show a certificate of their own"),
    ("chat.signal.org", "its clients know its certificate"),
    ("whatsapp.net", "its clients know its certificate"),
];

/// The hosts that keys and tokens are for, by the name of the variable in which the host's own documentation has its clients look for one.
pub const KEYS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "api.anthropic.com"),
    ("ANTHROPIC_AUTH_TOKEN", "api.anthropic.com"),
    ("CARGO_REGISTRY_TOKEN", "crates.io"),
    ("CLOUDFLARE_API_TOKEN", "api.cloudflare.com"),
    ("CO_API_KEY", "api.cohere.com"),
    ("DEEPSEEK_API_KEY", "api.deepseek.com"),
    ("DIGITALOCEAN_ACCESS_TOKEN", "api.digitalocean.com"),
    ("GEMINI_API_KEY", "generativelanguage.googleapis.com"),
    ("GH_TOKEN", "api.github.com"),
    ("GITHUB_TOKEN", "api.github.com"),
    ("GITLAB_TOKEN", "gitlab.com"),
    ("GROQ_API_KEY", "api.groq.com"),
    ("HF_TOKEN", "huggingface.co"),
    ("LINEAR_API_KEY", "api.linear.app"),
    ("MISTRAL_API_KEY", "api.mistral.ai"),
    ("NODE_AUTH_TOKEN", "registry.npmjs.org"),
    ("NOTION_TOKEN", "api.notion.com"),
    ("NPM_TOKEN", "registry.npmjs.org"),
    ("OPENAI_API_KEY", "api.openai.com"),
    ("OPENROUTER_API_KEY", "openrouter.ai"),
    ("PERPLEXITY_API_KEY", "api.perplexity.ai"),
    ("REPLICATE_API_TOKEN", "api.replicate.com"),
    ("SENTRY_AUTH_TOKEN", "sentry.io"),
    ("SLACK_BOT_TOKEN", "slack.com"),
    ("STRIPE_API_KEY", "api.stripe.com"),
    ("STRIPE_SECRET_KEY", "api.stripe.com"),
    ("TAVILY_API_KEY", "api.tavily.com"),
    ("TOGETHER_API_KEY", "api.together.xyz"),
    ("TWINE_PASSWORD", "upload.pypi.org"),
    ("VERCEL_TOKEN", "api.vercel.com"),
    ("XAI_API_KEY", "api.x.ai"),
];

/// Hosts, and what lies below them, that exist to catch what is sent to them, or to pass it on to a machine that nobody has looked at.
pub const COLLECTORS: &[(&str, &str)] = &[
    ("webhook.site", "shows whoever asks what is sent to it"),
    ("requestbin.com", "shows whoever asks what is sent to it"),
    ("requestbin.net", "shows whoever asks what is sent to it"),
    ("pipedream.net", "shows whoever asks what is sent to it"),
    ("requestcatcher.com", "shows whoever asks what is sent to it"),
    ("beeceptor.com", "shows whoever asks what is sent to it"),
    ("hookb.in", "shows whoever asks what is sent to it"),
    ("webhook.cool", "shows whoever asks what is sent to it"),
    ("oastify.com", "shows an attacker what is sent to it"),
    ("burpcollaborator.net", "shows an attacker what is sent to it"),
    ("interact.sh", "shows an attacker what is sent to it"),
    ("oast.fun", "shows an attacker what is sent to it"),
    ("oast.pro", "shows an attacker what is sent to it"),
    ("oast.live", "shows an attacker what is sent to it"),
    ("oast.site", "shows an attacker what is sent to it"),
    ("oast.me", "shows an attacker what is sent to it"),
    ("dnslog.cn", "shows an attacker what is sent to it"),
    ("canarytokens.com", "tells an attacker that it was asked"),
    ("ngrok.io", "leads to anybody's own machine"),
    ("ngrok.app", "leads to anybody's own machine"),
    ("ngrok.dev", "leads to anybody's own machine"),
    ("ngrok-free.app", "leads to anybody's own machine"),
    ("ngrok-free.dev", "leads to anybody's own machine"),
    ("trycloudflare.com", "leads to anybody's own machine"),
    ("loca.lt", "leads to anybody's own machine"),
    ("localtunnel.me", "leads to anybody's own machine"),
    ("serveo.net", "leads to anybody's own machine"),
    ("localhost.run", "leads to anybody's own machine"),
    ("bore.pub", "leads to anybody's own machine"),
    ("pagekite.me", "leads to anybody's own machine"),
    ("nip.io", "leads to the address that is written in the name"),
    ("sslip.io", "leads to the address that is written in the name"),
    ("xip.io", "leads to the address that is written in the name"),
    ("lvh.me", "leads back to this machine"),
];

/// Hosts that look up names for whoever asks, over HTTPS (RFC 8484), and what lies below them; from the documentation of each.
pub const RESOLVERS: &[&str] = &[
    "dns.google",
    "dns.google.com",
    "8.8.8.8",
    "8.8.4.4",
    "cloudflare-dns.com",
    "one.one.one.one",
    "1.1.1.1",
    "1.0.0.1",
    "dns.quad9.net",
    "9.9.9.9",
    "doh.opendns.com",
    "dns.nextdns.io",
    "dns.adguard-dns.com",
    "doh.cleanbrowsing.org",
    "dns.controld.com",
    "freedns.controld.com",
    "dns.mullvad.net",
    "doh.mullvad.net",
    "doh.pub",
    "dns.alidns.com",
];

/// Ports of name servers: plain (RFC 1035), and over TLS (RFC 7858).
pub const RESOLVER_PORTS: [u16; 2] = [53, 853];

/// What a host serves is fetched from others too, from the documentation of each registry.
pub const COMPANIONS: &[(&str, &[&str])] = &[
    ("pypi.org", &["files.pythonhosted.org"]),
    ("crates.io", &["index.crates.io", "static.crates.io"]),
    ("index.crates.io", &["static.crates.io"]),
    ("rubygems.org", &["index.rubygems.org"]),
    ("proxy.golang.org", &["sum.golang.org"]),
    ("ghcr.io", &["pkg-containers.githubusercontent.com"]),
    ("registry-1.docker.io", &["auth.docker.io", "production.cloudflare.docker.com"]),
    ("huggingface.co", &["cas-server.xethub.hf.co", "cdn-lfs-us-1.hf.co"]),
    ("github.com", &["codeload.github.com", "release-assets.githubusercontent.com"]),
];

/// Ports whose protocols are not encrypted (the service names registry of IANA).
pub const CLEARTEXT: &[(u16, &str)] = &[
    (21, "ftp"),
    (23, "telnet"),
    (25, "smtp"),
    (80, "http"),
    (110, "pop3"),
    (143, "imap"),
    (389, "ldap"),
    (8000, "http"),
    (8080, "http"),
];

/// Whether a pattern can mean `host`.
pub fn reaches(pattern: &HostPattern, host: &str) -> bool {
    if pattern.below { is_below(host, &pattern.host) } else { pattern.host == host }
}

/// Whether a name lies below another one.
pub fn is_below(name: &str, parent: &str) -> bool {
    parent.is_empty() || name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

/// This machine has many names, which are one place.
fn one_name(pattern: &HostPattern) -> Cow<'_, HostPattern> {
    let own = |host: &str| Host::parse(host).is_ok_and(|host| host.is_localhost());
    match pattern.port {
        Some(port) if own(&pattern.host) => Cow::Owned(HostPattern::localhost(port)),
        None if own(&pattern.host) => Cow::Owned(HostPattern { port: None, ..HostPattern::localhost(1) }),
        _ => Cow::Borrowed(pattern),
    }
}

/// Whether everything that `inner` means, `outer` means too.
pub fn covers(outer: &HostPattern, inner: &HostPattern) -> bool {
    let (outer, inner) = (one_name(outer), one_name(inner));
    let port = outer.port.is_none() || outer.port == inner.port;
    let host = match (outer.below, inner.below) {
        (false, false) => outer.host == inner.host,
        (false, true) => false,
        (true, false) => is_below(&inner.host, &outer.host),
        (true, true) => outer.host == inner.host || is_below(&inner.host, &outer.host),
    };
    port && host
}

/// Whether two patterns mean anything in common.
pub fn overlap(a: &HostPattern, b: &HostPattern) -> bool {
    let any = |pattern: &HostPattern| HostPattern { port: None, ..pattern.clone() };
    let ports = a.port.is_none() || b.port.is_none() || a.port == b.port;
    ports && (covers(&any(a), b) || covers(&any(b), a))
}

/// A pattern as it is written.
pub fn written(rule: &NetworkRule) -> String {
    if let (true, Some(port)) = (rule.is_localhost(), rule.pattern.port) {
        return format!("localhost {port}");
    }
    let HostPattern { below, host, port } = &rule.pattern;
    let name = match (below, host.as_str()) {
        (true, "") => "*".to_owned(),
        (true, host) => format!("*.{host}"),
        (false, host) => host.to_owned(),
    };
    match port {
        None => format!("{name}:*"),
        Some(443) => name,
        Some(port) => format!("{name}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::hosts::parse;

    fn pattern(text: &str) -> HostPattern {
        parse(text, false).expect("a pattern")
    }

    #[test]
    fn one_pattern_covers_another_or_shares_something_with_it() {
        for (outer, inner, is_covered, is_shared) in [
            ("example.com", "example.com", true, true),
            ("*.example.com", "www.example.com", true, true),
            ("*.example.com", "*.a.example.com", true, true),
            ("*.a.example.com", "*.example.com", false, true),
            ("*.example.com", "example.com", false, false),
            ("*.example.com", "badexample.com", false, false),
            ("example.com", "example.com:80", false, false),
            ("example.com:*", "example.com:80", true, true),
            ("example.com:80", "example.com:*", false, true),
            ("*", "example.com", true, true),
            ("*", "localhost", true, true),
            ("127.0.0.1", "localhost", true, true),
            ("*.localhost:*", "[::1]:80", true, true),
            ("127.0.0.2", "localhost", false, false),
        ] {
            let (outer, inner) = (&pattern(outer), &pattern(inner));
            assert_eq!(covers(outer, inner), is_covered, "{outer:?} {inner:?}");
            assert_eq!(overlap(outer, inner), is_shared, "{outer:?} {inner:?}");
        }
    }

    #[test]
    fn what_may_only_be_read_takes_nothing() {
        let mut case = crate::lint::testing::Case::new();
        case.host(true, "*.github.com", None)
            .limited("api.github.com", &["GET", "HEAD"], &[])
            .limited("github.com", &["GET"], &[])
            .limited("github.com", &["POST"], &["/*/*/git-upload-pack"])
            .limited("gitlab.com", &["GET", "POST"], &["/a/**"])
            .limited("codeberg.org", &[], &[])
            .limited("api.telegram.org", &["GET"], &[])
            .limited("bitbucket.org", &["GET"], &[])
            .limited("bitbucket.org", &["PUT"], &["/x"]);
        for (host, takes_something) in [
            ("api.github.com", false),
            ("github.com", false),
            ("gist.github.com", true),
            ("gitlab.com", true),
            ("codeberg.org", true),
            ("api.telegram.org", true),
            ("bitbucket.org", true),
            ("pastebin.com", false),
        ] {
            assert_eq!(takes(case.policy.network(), host, 443), takes_something, "{host}");
        }
    }

    #[test]
    fn every_entry_is_a_host() {
        let named = UPLOADS.iter().chain(COLLECTORS).map(|(host, _)| *host).chain(RESOLVERS.iter().copied());
        let companions =
            COMPANIONS.iter().flat_map(|(host, others)| [*host].into_iter().chain(others.iter().copied()));
        let pinned = PINNED.iter().map(|(host, _)| *host).chain(KEYS.iter().map(|(_, host)| *host));
        for host in named.chain(companions).chain(TENANTS.iter().copied()).chain(pinned) {
            assert_eq!(pattern(host).host, host);
        }
        assert!(KEYS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(BY_GET.iter().all(|host| UPLOADS.iter().any(|(known, _)| known == host)));
    }
}
