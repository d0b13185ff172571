//! The lines of `network only`.

use super::collect::Collector;
use super::hosts;
use crate::finding::{Edit, Finding, Severity};
use crate::plan::question::Question;
use crate::plan::request::{Request, can_be_named};
use crate::policy::host::{Host, Target, port_number};
use crate::policy::requests::{PathFault, PathPattern, Requests};
use crate::policy::{HostPattern, Network, NetworkRule, PolicyPath, UnixSocket};
use crate::source::{Span, Spanned};
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
                        self.host(host, true, None);
                        continue;
                    }
                    requests => (true, host, requests),
                },
                NetworkItemKind::Inspect(text) => (true, text, Some(Requests::default())),
                NetworkItemKind::Deny(text) => (false, text, None),
                NetworkItemKind::Unix(path) => {
                    let path = self.socket(path);
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
            let plain = matches!(item.kind, NetworkItemKind::Allow { .. }) && asks.is_none();
            let Some(pattern) = self.host(written, allow, plain.then_some(item.span)) else { continue };
            if asks.is_some() && !self.is_single(&pattern, written, "connections are read of") {
                continue;
            }
            rules.push(NetworkRule { allow, pattern, requests: asks, span: item.span });
        }
        (Network::Only(rules), unix)
    }

    /// The path of a socket; what is none is told of.
    fn socket(&mut self, written: &Text) -> Option<PolicyPath> {
        let text = self.expander.text(written)?;
        let error = |message: &str| Finding::new("path", Severity::Error, message).at(written.span, "here");
        if text.starts_with('@') || text.starts_with('\0') {
            self.report(error("a socket without a path").help(
                "only sockets that are files can be allowed: those without a path are the command's own; a file of that name is `./@…`",
            ));
            return None;
        }
        if let Some(path) = written_socket(written).and_then(|text| of_scheme(text)) {
            let right = format!("\"{path}\"");
            let edit = Edit { span: written.span, replacement: right.clone() };
            let finding = error("`unix:` before the path of a socket").help(format!("write `unix {right}`"));
            self.report(finding.fix(format!("write `{right}`"), vec![edit], true));
            return None;
        }
        self.expander.path(written)
    }

    /// What is said of a text that is no host but a path, or a request; `line` is the whole entry where it is nothing but `allow "HOST"`.
    fn other_than_host(
        &self,
        written: &Text,
        text: &str,
        allow: bool,
        line: Option<Span>,
    ) -> Option<Finding> {
        let error = |message: &str| Finding::new("host", Severity::Error, message).at(written.span, "here");
        if let Some((method, url)) = text.split_once(char::is_whitespace)
            && url.contains("://")
            && !method.contains("://")
        {
            return Some(error("a request is not a host").help(request_line(method, text)));
        }
        let is_path = text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../");
        if !is_path && of_scheme(text).is_none() {
            return None;
        }
        let finding = error("a path is not a host");
        if !allow {
            return Some(finding.help(
                "a socket that no `unix` line allows is denied; for files there is `deny` outside of `network`",
            ));
        }
        let literal = written_socket(written).map(|text| of_scheme(text).unwrap_or(text));
        Some(match literal {
            Some(path) => {
                let right = format!("unix \"{path}\"");
                let finding = finding.help(format!("write `{right}`"));
                match line {
                    Some(span) => {
                        let edit = Edit { span, replacement: right.clone() };
                        finding.fix(format!("write `{right}`"), vec![edit], false)
                    }
                    None => finding,
                }
            }
            None => finding.help(
                "a socket is allowed by `unix \"PATH\"`; for files there is `root` outside of `network`",
            ),
        })
    }

    /// The pattern of a host; what is wrong with it is told of. `line` is the whole entry where it is nothing but `allow "HOST"`.
    fn host(&mut self, written: &Text, allow: bool, line: Option<Span>) -> Option<HostPattern> {
        let text = self.expander.text(written)?;
        if let Some(finding) = self.other_than_host(written, &text, allow, line) {
            self.report(finding);
            return None;
        }
        let error = match hosts::parse(&text, allow) {
            Ok(pattern) => return Some(pattern),
            Err(error) => error,
        };
        let span = written.span;
        let finding = Finding::new("host", Severity::Error, error.message).at(span, "here").help(error.help);
        if let Some(port) = own_port(&text).filter(|_| allow) {
            let right = format!("localhost {port}");
            let finding = finding.help(format!(
                "a command reaches itself there without leave; for the port of the machine it runs on, write `{right}`"
            ));
            self.report(match line {
                Some(line) => {
                    let edit = Edit { span: line, replacement: right.clone() };
                    finding.fix(format!("write `{right}`"), vec![edit], false)
                }
                None => finding,
            });
            return None;
        }
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
        let mut patterns: Vec<PathPattern> = Vec::new();
        let mut sound = true;
        for written in paths {
            match self.path_pattern(written) {
                None => sound = false,
                Some(path) => match patterns.iter().find(|known| known.same(&path)) {
                    Some(known) => {
                        let message = format!("`{known}` twice");
                        let finding = Finding::new("request-path", Severity::Error, message);
                        self.report(finding.at(written.span, "again here").help("take it out"));
                    }
                    None => patterns.push(path),
                },
            }
        }
        sound.then_some(Requests { methods: methods?, paths: patterns })
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
            let pattern = self.host(written, true, None);
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

/// The text of a socket or host where it is in quotes as it is: without variables, and nothing in it that would need an escape.
fn written_socket(written: &Text) -> Option<&str> {
    let plain = |text: &&str| text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\$`".contains(&byte));
    match written.parts.as_slice() {
        [TextPart::Literal(text)] => Some(text.as_str()).filter(plain),
        _ => None,
    }
}

/// What stands after `unix:` or `unix://`, as other programs write a socket.
fn of_scheme(text: &str) -> Option<&str> {
    let path = text.strip_prefix(Question::UNIX)?;
    // `unix:443` is a host and its port.
    Some(path.strip_prefix("//").unwrap_or(path)).filter(|path| path.contains('/'))
}

/// The port, of a host that is this machine.
fn own_port(text: &str) -> Option<u16> {
    let target = Target::parse(text, None).ok()?;
    target.host.is_localhost().then_some(target.port)
}

/// The line that allows a request, for whoever wrote one where a host stands.
fn request_line(method: &str, text: &str) -> String {
    let Ok(request) = Request::parse(&hosts::read_request(text)) else {
        return "name the host, and what may be asked of it: `allow \"a.example.com\" methods GET`".into();
    };
    let host = request.target.to_string();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    let methods = if can_be_named(method) { format!(" methods {method}") } else { String::new() };
    let plain = !request.path.contains(['"', '$', '*']);
    let paths = match PathPattern::parse(&request.path) {
        Ok(path) if plain => format!(" paths \"{path}\""),
        _ => String::new(),
    };
    format!("write `allow \"{host}\"{methods}{paths}`")
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
