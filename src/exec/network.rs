//! What a command needs to be told where it can only reach some hosts. The same on every system.

use super::inspection::is_one_name;
use super::{Note, Refusal};
use crate::manifest::Manifest;
use crate::network::record::{MisdirectedSecret, RefusedHost, Summary};
use crate::policy::requests::Requests;
use crate::policy::{HostPattern, NetworkRule};
use crate::resolve::parse_host;
use crate::source::{Sources, Span};

/// How many refusals are said; the record has more of them, and the log has all.
const SAID: usize = 5;

/// The hosts of a manifest and the ports of this machine, as the decision takes them.
///
/// # Errors
/// A host that no profile can have stated.
pub fn rules(manifest: &Manifest) -> Result<Vec<NetworkRule>, Refusal> {
    // They stand in no source here.
    let span = Span::new(Sources::new().add("manifest", None, ""), 0..0);
    let rule = |rule: &crate::manifest::HostRule| {
        let pattern = parse_host(&rule.host, rule.allow)
            .map_err(|error| Refusal::Manifest(format!("`{}`: {}", rule.host, error.message)))?;
        let requests = rule.requests.as_ref().map(|asked| {
            if !rule.allow || !is_one_name(&pattern) {
                return Err(Refusal::Manifest(format!(
                    "`{}` is not one host, and connections to it are to be read",
                    rule.host
                )));
            }
            Requests::try_from(asked).map_err(|fault| Refusal::Manifest(format!("`{}`: {fault}", rule.host)))
        });
        Ok(NetworkRule { allow: rule.allow, pattern, requests: requests.transpose()?, span })
    };
    let port = |port: &u16| {
        if *port == 0 {
            return Err(Refusal::Manifest("`0` is not a port of `localhost`".to_owned()));
        }
        Ok(NetworkRule { allow: true, pattern: HostPattern::localhost(*port), requests: None, span })
    };
    manifest.hosts.iter().map(rule).chain(manifest.localhost.iter().map(port)).collect()
}

/// The variables by which programs find a proxy (measured with 22 clients: a `socks5h` URL in `ALL_PROXY` breaks some, a private range in
/// `NO_PROXY` has them try what cannot be reached).
pub fn environment(proxy: std::net::SocketAddr) -> Vec<(&'static str, String)> {
    let url = format!("http://{proxy}");
    let mut variables: Vec<(&'static str, String)> =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "grpc_proxy"]
            .map(|name| (name, url.clone()))
            .into();
    let direct = "localhost,127.0.0.1,::1";
    variables.extend(["NO_PROXY", "no_proxy"].map(|name| (name, direct.to_owned())));
    // Node 22.21 and newer, and Electron's downloader, take no notice of the others without these.
    variables.extend(["NODE_USE_ENV_PROXY", "ELECTRON_GET_USE_PROXY"].map(|name| (name, "1".to_owned())));
    variables
}

/// The variable by which programs on the Java machine find a proxy, which take notice of no other: for where nothing takes their connections
/// otherwise. By itself the machine would connect from an IPv6 socket to `::ffff:127.0.0.1`, which a filter for `localhost` does not hold.
#[cfg(any(target_os = "macos", test))]
pub fn java(proxy: std::net::SocketAddr) -> (&'static str, String) {
    let (host, port) = (proxy.ip(), proxy.port());
    let options = format!(
        "-Djava.net.preferIPv4Stack=true -Dhttp.proxyHost={host} -Dhttp.proxyPort={port} -Dhttps.proxyHost={host} -Dhttps.proxyPort={port}"
    );
    ("JAVA_TOOL_OPTIONS", options)
}

/// The files by which programs look up names (resolv.conf(5), hosts(5), nsswitch.conf(5)) where the only name server is inside; `sources`
/// is what this machine has for the last.
#[cfg(target_os = "linux")]
pub fn files(sources: &str) -> [(&'static str, String); 3] {
    let mut kept: String = sources
        .lines()
        .filter(|line| !line.trim_start().starts_with("hosts:"))
        .map(|line| format!("{line}\n"))
        .collect();
    // Other sources ask services outside, or wait for them.
    kept.push_str("hosts: files dns\n");
    [
        ("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n".to_owned()),
        ("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n".to_owned()),
        ("/etc/nsswitch.conf", kept),
    ]
}

/// What is said in the end of connections that were refused: programs hide what they are told. Secrets on their way elsewhere come first.
pub fn notes(summary: &Summary) -> Vec<Note> {
    let mut notes: Vec<Note> = summary.misdirected.iter().take(SAID).map(alarm).collect();
    let others = summary.misdirected.len().saturating_sub(SAID);
    if others > 0 {
        let message = format!("ALARM: so were placeholders {others} more times on their way elsewhere");
        let help = "`--report FILE` and `--network-log FILE` have all of them".to_owned();
        notes.push(Note { message, help: Some(help) });
    }
    notes.extend(summary.refused.iter().take(SAID).map(note));
    let unsaid: u64 = summary.refused.iter().skip(SAID).map(|refused| refused.times).sum();
    let requests = unsaid.saturating_add(summary.more);
    if requests > 0 {
        let were = if requests == 1 { "request was" } else { "requests were" };
        let help = match summary.more {
            0 => "`--report FILE` and `--network-log FILE` have all of them",
            _ => "only `--network-log FILE` has all of them",
        };
        let message = format!("{requests} more {were} refused");
        notes.push(Note { message, help: Some(help.to_owned()) });
    }
    if summary.lost > 0 {
        let lines = if summary.lost == 1 { "line" } else { "lines" };
        let message = format!("the log of connections lacks {} {lines}: could not be written", summary.lost);
        let help = "the disk of `--network-log FILE` may be full; what was refused is counted all the same";
        notes.push(Note { message, help: Some(help.to_owned()) });
    }
    notes
}

/// Programs send a token where they are told to: that one was to go elsewhere is what an attack looks like.
fn alarm(misdirected: &MisdirectedSecret) -> Note {
    let MisdirectedSecret { secret, host, times } = misdirected;
    let times = if *times == 1 { String::new() } else { format!(", {times} times") };
    let place =
        if host == "?" { "in the name of a host".to_owned() } else { format!("on its way to `{host}`") };
    Note {
        message: format!("ALARM: the placeholder of `{secret}` was {place}, and was stopped{times}"),
        help: Some(format!(
            "the value of `{secret}` went nowhere: find out what had the command send it; where the host is one of its own, state it (`mask {secret} for …`)"
        )),
    }
}

fn note(refused: &RefusedHost) -> Note {
    let RefusedHost { host, reason, line, times } = refused;
    let times = if *times == 1 { String::new() } else { format!(", {times} times") };
    let host = if host == "?" { "a request".to_owned() } else { format!("`{host}`") };
    let message = format!("refused: {host} ({reason}{times})");
    let help = match (reason.as_str(), line) {
        ("not-allowed" | "this-machine", Some(line)) => format!("`{line}` in `network only` would admit it"),
        ("denied", Some(line)) => format!("`{line}` in `network only` denies it"),
        (
            "private-address" | "own-address" | "this-machine" | "link-local-address" | "metadata-address",
            _,
        ) => "its addresses are this machine's, or inside a private network, and no name opens those"
            .to_owned(),
        ("sni-mismatch" | "host-mismatch", _) => {
            "on a connection to one host the command asked for another".to_owned()
        }
        ("request-not-allowed", Some(line)) => format!("`{line}` in `network only` would allow it"),
        ("request-not-allowed", None) => "no line allows such a request to a host whose requests are limited".to_owned(),
        ("not-tls", _) => {
            "connections to this host are read, and must be TLS with its name: `why connect` says why they are".to_owned()
        }
        ("untrusted", _) => {
            "its certificate is not one that this machine believes: `SSL_CERT_FILE` of `palisade` can name an authority".to_owned()
        }
        ("authority-refused", _) => {
            "the program does not believe the authority of the run: it takes none of the variables for that, or brings its own list".to_owned()
        }
        ("unresolved", _) => "the name has no address that this machine can find".to_owned(),
        ("unreachable", _) => "nobody answers there".to_owned(),
        // What is no host yet was not asked anything.
        ("too-slow", _) if refused.host == "?" => {
            "the command did not complete its request in time".to_owned()
        }
        ("too-slow", _) => "nothing came for too long".to_owned(),
        _ => "`--network-log FILE` has a line for each request".to_owned(),
    };
    Note { message, help: Some(help) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_told_of_one_proxy() {
        let proxy = "127.0.0.1:50123".parse().unwrap();
        let variables: std::collections::BTreeMap<_, _> =
            environment(proxy).into_iter().chain([java(proxy)]).collect();
        assert_eq!(variables["https_proxy"], "http://127.0.0.1:50123");
        let java = &variables["JAVA_TOOL_OPTIONS"];
        assert!(java.contains("-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=50123"), "{java}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_are_only_asked_for_inside() {
        let [resolv, hosts, sources] = files("passwd: files systemd\n hosts: files mymachines resolve dns\n");
        assert!(resolv.1.starts_with("nameserver 127.0.0.1\n") && hosts.1.contains("::1 localhost"));
        assert_eq!(sources.1, "passwd: files systemd\nhosts: files dns\n");
    }

    #[test]
    fn a_refusal_says_which_line_would_admit_and_the_rest_is_counted() {
        let refused = |number: usize| RefusedHost {
            host: format!("{number}.example.com:443"),
            reason: "not-allowed".into(),
            line: Some(format!("allow \"{number}.example.com\"")),
            times: 2,
        };
        let refused = (0..7).map(refused).collect();
        let mut summary = Summary { refusals: 14, refused, ..Summary::default() };
        let notes = super::notes(&summary);
        assert_eq!(notes.len(), SAID + 1);
        assert_eq!(notes[0].message, "refused: `0.example.com:443` (not-allowed, 2 times)");
        assert_eq!(
            notes[0].help.as_deref(),
            Some("`allow \"0.example.com\"` in `network only` would admit it")
        );
        assert_eq!(notes[5].message, "4 more requests were refused");
        summary.more = 900;
        summary.lost = 3;
        let notes = super::notes(&summary);
        assert_eq!(notes[5].message, "904 more requests were refused");
        assert_eq!(notes[5].help.as_deref(), Some("only `--network-log FILE` has all of them"));
        assert_eq!(notes[6].message, "the log of connections lacks 3 lines: could not be written");
    }

    #[test]
    fn a_secret_on_its_way_elsewhere_is_an_alarm_before_everything_else() {
        let misdirected =
            |host: &str, times| MisdirectedSecret { secret: "TOKEN".into(), host: host.into(), times };
        let refused = RefusedHost { host: "x:443".into(), reason: "denied".into(), line: None, times: 1 };
        let mut summary = Summary {
            misdirected: vec![misdirected("evil.com:443", 2), misdirected("?", 1)],
            refused: vec![refused],
            ..Summary::default()
        };
        let said: Vec<String> = super::notes(&summary).into_iter().map(|note| note.message).collect();
        assert_eq!(
            said,
            [
                "ALARM: the placeholder of `TOKEN` was on its way to `evil.com:443`, and was stopped, 2 times",
                "ALARM: the placeholder of `TOKEN` was in the name of a host, and was stopped",
                "refused: `x:443` (denied)",
            ]
        );
        summary.misdirected = vec![misdirected("evil.com:443", 1); SAID + 3];
        assert_eq!(
            super::notes(&summary)[SAID].message,
            "ALARM: so were placeholders 3 more times on their way elsewhere"
        );
    }

    #[test]
    fn what_was_too_slow_is_named_where_it_is_known() {
        let help = |host: &str| {
            let (host, reason) = (host.to_owned(), "too-slow".to_owned());
            note(&RefusedHost { host, reason, line: None, times: 1 }).help.unwrap()
        };
        assert_eq!(help("?"), "the command did not complete its request in time");
        assert_eq!(help("example.com:443"), "nothing came for too long");
    }
}
