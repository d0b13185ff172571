//! The lines of `network only`.

use super::collect::Collector;
use super::hosts;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::host::{Host, port_number};
use crate::policy::requests::{PathFault, PathPattern, Requests};
use crate::policy::{HostPattern, Network, NetworkRule, UnixSocket};
use crate::source::Spanned;
use crate::syntax::ast::{self, NetworkItemKind, Text, TextPart, Word};

impl Collector<'_> {
    pub(super) fn network(&mut self, network: &ast::Network) -> (Network, Vec<UnixSocket>) {
        let ast::Network::Only(items) = network else {
            let mode = if *network == ast::Network::All { Network::All } else { Network::Off };
            return (mode, Vec::new());
        };
        let mut rules = Vec::new();
        let mut unix = Vec::new();
        for item in items {
            let (allow, written, asks) = match &item.kind {
                NetworkItemKind::Allow { host, methods, paths } if methods.is_empty() && paths.is_empty() => {
                    (true, host, None)
                }
                NetworkItemKind::Allow { host, methods, paths } => match self.requests(methods, paths) {
                    // With less than it says it would allow more.
                    None => {
                        self.host(host, true);
                        continue;
                    }
                    requests => (true, host, requests),
                },
                NetworkItemKind::Inspect(text) => (true, text, Some(Requests::default())),
                NetworkItemKind::Deny(text) => (false, text, None),
                NetworkItemKind::Unix(path) => {
                    let path = self.expander.path(path);
                    unix.extend(path.map(|path| UnixSocket { path, span: item.span }));
                    continue;
                }
                NetworkItemKind::Localhost(number) => {
                    let pattern = self.localhost(number);
                    rules.extend(pattern.map(|pattern| NetworkRule {
                        allow: true,
                        pattern,
                        requests: None,
                        span: item.span,
                    }));
                    continue;
                }
            };
            let Some(pattern) = self.host(written, allow) else { continue };
            if asks.is_some() && !self.is_single(&pattern, written, "connections are read of") {
                continue;
            }
            rules.push(NetworkRule { allow, pattern, requests: asks, span: item.span });
        }
        (Network::Only(rules), unix)
    }

    /// The pattern of a host; what is wrong with it is told of.
    fn host(&mut self, written: &Text, allow: bool) -> Option<HostPattern> {
        let text = self.expander.text(written)?;
        let error = match hosts::parse(&text, allow) {
            Ok(pattern) => return Some(pattern),
            Err(error) => error,
        };
        let span = written.span;
        let finding = Finding::new("host", Severity::Error, error.message).at(span, "here").help(error.help);
        // A text with variables cannot be replaced by what they happen to hold.
        let literal = written.parts.iter().all(|part| matches!(part, TextPart::Literal(_)));
        let plain =
            |host: &String| host.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\$".contains(&byte));
        self.report(match error.replacement.filter(|host| literal && plain(host)) {
            Some(host) => {
                let edit = Edit { span, replacement: format!("\"{host}\"") };
                finding.fix(format!("write `{host}`"), vec![edit], false)
            }
            None => finding,
        });
        None
    }

    /// Whether it is one name at one port, as it must be where connections are opened: a certificate is made for it.
    fn is_single(&mut self, pattern: &HostPattern, written: &Text, what: &str) -> bool {
        let port = pattern.port.map_or(String::new(), |port| match port {
            hosts::DEFAULT_PORT => String::new(),
            port => format!(":{port}"),
        });
        let (message, help) = if pattern.below {
            let example = format!("`api.{}{port}`", pattern.host);
            (
                format!("`*.{}` is many hosts, and {what} single ones", pattern.host),
                format!("name each of them: {example}"),
            )
        } else if matches!(Host::parse(&pattern.host), Ok(Host::Address(_))) {
            (
                format!("`{}` is an address, and {what} names only", pattern.host),
                "write the name that the server's certificate is for".to_owned(),
            )
        } else if pattern.port.is_none() {
            (
                format!("every port of `{}`, and {what} one", pattern.host),
                format!("write `{}` for its HTTPS, or the one port it is served at", pattern.host),
            )
        } else {
            return true;
        };
        self.report(Finding::new("host", Severity::Error, message).at(written.span, "here").help(help));
        false
    }

    /// What may be asked; nothing where a part of it is wrong.
    fn requests(&mut self, methods: &[Word], paths: &[Text]) -> Option<Requests> {
        let methods = self.methods(methods);
        let patterns: Vec<_> = paths.iter().map(|path| self.path_pattern(path)).collect();
        Some(Requests { methods: methods?, paths: patterns.into_iter().collect::<Option<_>>()? })
    }

    fn methods(&mut self, words: &[Word]) -> Option<Vec<String>> {
        let mut methods: Vec<String> = Vec::new();
        let mut sound = true;
        for word in words {
            let error =
                |message: String| Finding::new("method", Severity::Error, message).at(word.span, "not here");
            if word.value == "CONNECT" {
                sound = false;
                let finding = error("`CONNECT` opens a tunnel, in which nothing can be read".into());
                self.report(finding.help("a host behind a proxy is allowed by a line of its own"));
            } else if methods.contains(&word.value) {
                let finding = error(format!("`{}` twice", word.value));
                self.report(finding.help("take it out"));
            } else {
                methods.push(word.value.clone());
            }
        }
        sound.then_some(methods)
    }

    fn path_pattern(&mut self, written: &Text) -> Option<PathPattern> {
        let text = self.expander.text(written)?;
        let fault = match PathPattern::parse(&text) {
            Ok(pattern) => return Some(pattern),
            Err(fault) => fault,
        };
        let (message, help, replacement) = path_fault(&text, fault);
        let span = written.span;
        let finding = Finding::new("request-path", Severity::Error, message).at(span, "here").help(help);
        let literal = written.parts.iter().all(|part| matches!(part, TextPart::Literal(_)));
        let plain = |path: &String| {
            path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\$".contains(&byte))
                && PathPattern::parse(path).is_ok()
        };
        self.report(match replacement.filter(|path| literal && plain(path)) {
            Some(path) => {
                let edit = Edit { span, replacement: format!("\"{path}\"") };
                finding.fix(format!("write `{path}`"), vec![edit], false)
            }
            None => finding,
        });
        None
    }

    /// The hosts of `mask`: single names, each at one port. None where one of them is wrong: without it, the value would not be put in.
    pub(super) fn mask_hosts(&mut self, hosts: &[Text]) -> Option<Vec<Spanned<HostPattern>>> {
        let mut patterns: Vec<Spanned<HostPattern>> = Vec::new();
        let mut sound = true;
        for written in hosts {
            let pattern = self.host(written, true);
            let single = pattern.filter(|pattern| self.is_single(pattern, written, "a secret is shown to"));
            match single {
                Some(pattern) if patterns.iter().any(|known| known.value == pattern) => {
                    let finding =
                        Finding::new("host", Severity::Error, format!("`{pattern}` is named twice"));
                    self.report(finding.at(written.span, "again here").help("take it out"));
                }
                Some(pattern) => patterns.push(Spanned::new(pattern, written.span)),
                None => sound = false,
            }
        }
        sound.then_some(patterns)
    }

    fn localhost(&mut self, number: &Word) -> Option<HostPattern> {
        match port_number(&number.value) {
            Ok(port) => Some(HostPattern::localhost(port)),
            Err(fault) => {
                self.report(
                    Finding::new("host", Severity::Error, fault.to_string())
                        .at(number.span, "here")
                        .help("a port is 1 to 65535, without zeros before it"),
                );
                None
            }
        }
    }
}

/// What is said of a path that is none: message, help, and what may be meant.
fn path_fault(text: &str, fault: PathFault) -> (String, String, Option<String>) {
    if text.contains('?') {
        let path = text.split('?').next().unwrap_or_default().to_owned();
        let help = "queries are not compared: a path allows every one";
        return ("a query in a path".into(), help.into(), Some(path));
    }
    if let Some((_, rest)) = text.split_once("://") {
        let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/**").to_owned();
        return (
            "a URL is not a path".into(),
            format!("write `{path}`: the host stands before it"),
            Some(path),
        );
    }
    let (help, replacement) = match fault {
        PathFault::Relative if text.is_empty() => ("every path is `/**`".to_owned(), Some("/**".to_owned())),
        PathFault::Relative => (format!("write `/{text}`"), Some(format!("/{text}"))),
        PathFault::Empty => {
            ("servers read `//` as they like; write one `/`".into(), Some(single_slashes(text)))
        }
        PathFault::Dots => {
            ("no request with such a segment is sent; write the path that it leads to".into(), None)
        }
        PathFault::Escape => {
            ("a `%` itself is `%25`, and no path that has one is told apart safely".into(), None)
        }
        PathFault::Character => {
            ("control characters, `\\`, `#`, `%2F` and `%25` are in no path that is compared".into(), None)
        }
        PathFault::Deep => ("`**` stands last: `/a/**`; one segment in the middle is `*`".into(), None),
        PathFault::Star => {
            ("`*` is one whole segment: `/repos/*/issues`; the rest of a path is `/**`".into(), None)
        }
    };
    (fault.to_string(), help, replacement)
}

fn single_slashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out
}
