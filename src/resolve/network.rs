//! The lines of `network only`.

use super::collect::Collector;
use super::hosts;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::host::port_number;
use crate::policy::{HostPattern, Network, NetworkRule, UnixSocket};
use crate::syntax::ast::{self, NetworkItemKind, Word};

impl Collector<'_> {
    pub(super) fn network(&mut self, network: &ast::Network) -> (Network, Vec<UnixSocket>) {
        let ast::Network::Only(items) = network else {
            let mode = if *network == ast::Network::All { Network::All } else { Network::Off };
            return (mode, Vec::new());
        };
        let mut rules = Vec::new();
        let mut unix = Vec::new();
        for item in items {
            let (allow, written) = match &item.kind {
                NetworkItemKind::Allow(text) => (true, text),
                NetworkItemKind::Deny(text) => (false, text),
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
            let Some(text) = self.expander.text(written) else { continue };
            match hosts::parse(&text, allow) {
                Ok(pattern) => rules.push(NetworkRule { allow, pattern, requests: None, span: item.span }),
                Err(error) => {
                    let span = written.span;
                    let finding = Finding::new("host", Severity::Error, error.message)
                        .at(span, "here")
                        .help(error.help);
                    // A text with variables cannot be replaced by what they happen to hold.
                    let literal = written.parts.iter().all(|part| matches!(part, ast::TextPart::Literal(_)));
                    let plain = |host: &String| {
                        host.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\$".contains(&byte))
                    };
                    self.report(match error.replacement.filter(|host| literal && plain(host)) {
                        Some(host) => {
                            let edit = Edit { span, replacement: format!("\"{host}\"") };
                            finding.fix(format!("write `{host}`"), vec![edit], false)
                        }
                        None => finding,
                    });
                }
            }
        }
        (Network::Only(rules), unix)
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
