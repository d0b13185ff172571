//! One request as people ask about it (`why`, `expect`), and its answer from the one decision about hosts.

use super::hosts::{self, DEFAULT_PORT, TUNNEL};
use super::{Environment, MaskedVariable};
use crate::policy::host::{Host, HostFault, Target};
use crate::policy::requests::{PathPattern, Requests, is_token};
use crate::policy::{Network, NetworkRule};
use std::fmt;

/// `METHOD https://HOST[:PORT]/PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// Whether the URL is `https://`.
    pub secure: bool,
    pub target: Target,
    /// What stands before the `?`.
    pub path: String,
}

/// Why a text is no request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestFault {
    #[error("a request without a method")]
    NoMethod,
    #[error("`{0}` is no method")]
    Method(String),
    #[error("a request without a URL")]
    NoUrl,
    #[error("a URL that begins with neither `https://` nor `http://`")]
    Scheme,
    #[error("a user in a URL")]
    User,
    #[error(transparent)]
    Host(#[from] HostFault),
}

impl RequestFault {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Method(_) => "a method is a word like `GET` or `POST`",
            Self::User => "no client sends it on: leave it out",
            _ => "write `GET https://api.example.com/path`",
        }
    }
}

impl Request {
    /// Reads one.
    ///
    /// # Errors
    /// What is none.
    pub fn parse(text: &str) -> Result<Self, RequestFault> {
        let mut words = text.split_ascii_whitespace();
        let (method, url) = match (words.next(), words.next(), words.next()) {
            (Some(method), Some(url), None) => (method, url),
            (Some(word), None, _) if word.contains("://") => return Err(RequestFault::NoMethod),
            _ => return Err(RequestFault::NoUrl),
        };
        // In whatever case: `get` is another method than `GET`, and is sent on where every one may be asked.
        if !method.bytes().all(is_token) {
            return Err(RequestFault::Method(method.to_owned()));
        }
        let (secure, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err(RequestFault::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains('@') {
            return Err(RequestFault::User);
        }
        let target = Target::parse(authority, Some(if secure { DEFAULT_PORT } else { 80 }))?;
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { method: method.to_owned(), secure, target, path: path.to_owned() })
    }
}

impl fmt::Display for Request {
    /// Without a port that goes without saying.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.secure { ("https", DEFAULT_PORT) } else { ("http", 80) };
        write!(f, "{} {scheme}://{}", self.method, self.target.host)?;
        if self.target.port != usual {
            write!(f, ":{}", self.target.port)?;
        }
        f.write_str(&self.path)
    }
}

/// The answer about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestDecision<'a> {
    pub allowed: bool,
    /// The line that decides, where one does; of a denial, the first that says what may be asked instead.
    pub rule: Option<&'a NetworkRule>,
    pub why: Why,
}

/// What a request is allowed or denied for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Connections to the host are not read: what is asked there is not looked at.
    Host,
    /// Connections are read, and a line says so of the request; or none does.
    Request,
    /// Connections to the host are read, for which they must be TLS.
    NotTls,
    /// Connections to the host are read, and a tunnel within them could not be.
    Tunnel,
}

/// Whether a request may be sent.
pub fn decide<'a>(network: &'a Network, environment: &Environment, request: &Request) -> RequestDecision<'a> {
    let Network::Only(rules) = network else {
        let decision = hosts::decide(network, &request.target.to_string());
        return RequestDecision { allowed: decision.allowed, rule: decision.rule, why: Why::Host };
    };
    let Request { method, secure, target, path } = request;
    let admitted = hosts::admit(rules, target);
    if !admitted.allowed || !is_read(rules, &environment.mask, target) {
        return RequestDecision { allowed: admitted.allowed, rule: admitted.rule, why: Why::Host };
    }
    let limit = hosts::limits(rules, target).first().map(|(_, rule)| *rule).or(admitted.rule);
    if !secure {
        return RequestDecision { allowed: false, rule: limit, why: Why::NotTls };
    }
    let decision = hosts::may_ask(rules, target, method, path);
    let why = if method == TUNNEL { Why::Tunnel } else { Why::Request };
    RequestDecision { allowed: decision.allowed, rule: decision.rule.or(limit), why }
}

/// Whether connections to a target are opened and read: where a line says what may be asked there, and where a masked variable is for it.
pub fn is_read(rules: &[NetworkRule], masks: &[MaskedVariable], target: &Target) -> bool {
    !hosts::limits(rules, target).is_empty() || masked_for(masks, target).next().is_some()
}

/// The variables whose value is put in on connections to a target.
pub fn masked_for<'a>(
    masks: &'a [MaskedVariable],
    target: &Target,
) -> impl Iterator<Item = &'a MaskedVariable> {
    masks.iter().filter(move |mask| mask.hosts.iter().any(|pattern| hosts::matches(pattern, target)))
}

/// Whether a line with `methods` can have a method: it is written as every registered one is, in capitals.
pub fn can_be_named(method: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    method != TUNNEL
        && method.starts_with(|first: char| first.is_ascii_uppercase())
        && method.bytes().all(inner)
}

/// The line that would allow a request that the limits of its host do not hold; `None` where no line can.
///
/// Of its path it says no more than is needed: paths where the limits that hold the method, or else all, speak of paths.
pub fn line(rules: &[NetworkRule], target: &Target, method: &str, path: &str) -> Option<String> {
    let host = match (&target.host, target.port) {
        _ if !can_be_named(method) => return None,
        (Host::Address(_), _) => return None,
        (Host::Name(name), DEFAULT_PORT) => name.clone(),
        (Host::Name(_), _) => target.to_string(),
    };
    let limits = hosts::limits(rules, target);
    let knows =
        |requests: &Requests| requests.methods.is_empty() || requests.methods.iter().any(|m| m == method);
    let by_path = match limits.iter().find(|(requests, _)| knows(requests)) {
        // The method is held, so the path is not.
        Some(_) => true,
        None => limits.iter().all(|(requests, _)| !requests.paths.is_empty()),
    };
    let paths = if by_path {
        // With a star in it, the line would allow more.
        let one = PathPattern::parse(path).ok().filter(|_| !path.contains(['*', '"', '$']))?;
        format!(" paths \"{one}\"")
    } else {
        String::new()
    };
    Some(format!("allow \"{host}\" methods {method}{paths}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::HostPattern;
    use crate::source::{Sources, Span};

    fn rule(allow: bool, host: &str, requests: Option<(&[&str], &[&str])>) -> NetworkRule {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        let target = Target::parse(host, Some(DEFAULT_PORT)).unwrap();
        let requests = requests.map(|(methods, paths)| Requests {
            methods: methods.iter().map(|&method| method.to_owned()).collect(),
            paths: paths.iter().map(|path| PathPattern::parse(path).unwrap()).collect(),
        });
        let pattern = HostPattern { below: false, host: target.host.to_string(), port: Some(target.port) };
        NetworkRule { allow, pattern, requests, span }
    }

    fn masked(host: &str) -> Environment {
        let rule = rule(true, host, None);
        let mask = MaskedVariable { name: "TOKEN".into(), hosts: vec![rule.pattern], span: rule.span };
        Environment { mask: vec![mask], ..Environment::default() }
    }

    #[test]
    fn a_request_is_a_method_and_a_url() {
        for (text, read) in [
            ("GET https://A.com", "GET https://a.com/"),
            ("POST  HTTPS://a.com:443/x?y=/z#w", "POST https://a.com/x"),
            ("GET http://a.com/x", "GET http://a.com/x"),
            ("GET http://a.com:443/x", "GET http://a.com:443/x"),
            ("get https://a.com/", "get https://a.com/"),
            ("M-SEARCH https://[2001:DB8::1]:8443/", "M-SEARCH https://[2001:db8::1]:8443/"),
        ] {
            assert_eq!(
                Request::parse(text).map(|request| request.to_string()).as_deref(),
                Ok(read),
                "{text}"
            );
        }
        for text in [
            "",
            "GET",
            "https://a.com/",
            "GET a.com/",
            "GET ftp://a.com/",
            "GET https://",
            "GET https://u@a.com/",
            "GET https://a.com/ x",
            "G/T https://a.com/",
            "GET https://a.com:0/",
            "GET https://*.a.com/",
        ] {
            assert!(Request::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_read_must_be_tls_and_is_held_to_its_limits() {
        let rules = vec![
            rule(true, "api.com", Some((&["GET"], &["/a/**"]))),
            rule(true, "api.com", Some((&["POST"], &["/a/b"]))),
            rule(true, "api.com:80", None),
            rule(true, "in.com", Some((&[], &[]))),
            rule(true, "in.com:80", Some((&[], &[]))),
            rule(true, "out.com", None),
            rule(true, "out.com:80", None),
            rule(true, "own.com", None),
            rule(true, "own.com:80", None),
        ];
        let network = Network::Only(rules);
        let environment = masked("own.com:80");
        for (text, allowed, why) in [
            ("GET https://api.com/a/x", true, Why::Request),
            ("POST https://api.com/a/b?c", true, Why::Request),
            ("POST https://api.com/a/x", false, Why::Request),
            ("GET https://api.com/a/../b", false, Why::Request),
            ("GET http://api.com/a/x", true, Why::Host),
            ("GET http://api.com:443/a/x", false, Why::NotTls),
            ("DELETE https://in.com/", true, Why::Request),
            ("GET http://in.com/", false, Why::NotTls),
            ("DELETE http://out.com/", true, Why::Host),
            ("DELETE https://out.com/", true, Why::Host),
            ("GET http://own.com/", false, Why::NotTls),
            ("DELETE https://own.com/", true, Why::Host),
            ("DELETE https://own.com:80/", true, Why::Request),
            ("get https://api.com/a/x", false, Why::Request),
            ("get https://in.com/", true, Why::Request),
            ("CONNECT https://in.com/", false, Why::Tunnel),
            ("CONNECT https://api.com/a/x", false, Why::Tunnel),
            ("CONNECT https://own.com:80/", false, Why::Tunnel),
            ("GET https://none.com/", false, Why::Host),
        ] {
            let decision = decide(&network, &environment, &Request::parse(text).unwrap());
            assert_eq!((decision.allowed, decision.why), (allowed, why), "{text}");
        }
        let request = Request::parse("GET https://api.com/").unwrap();
        assert!(decide(&Network::All, &environment, &request).allowed);
        assert!(!decide(&Network::Off, &environment, &request).allowed);
    }

    #[test]
    fn the_line_that_is_said_to_allow_a_request_does() {
        let limits: [&[(&[&str], &[&str])]; 5] = [
            &[(&["GET"], &[])],
            &[(&["GET"], &["/a/**"]), (&["POST"], &["/a/b"])],
            &[(&[], &["/a/**"])],
            &[(&["GET"], &["/a"]), (&["HEAD"], &[])],
            &[(&["GET", "POST"], &["/x"])],
        ];
        for limits in limits {
            let rules: Vec<_> = limits.iter().map(|limit| rule(true, "api.com:8443", Some(*limit))).collect();
            for (method, path) in [("POST", "/a/c"), ("GET", "/q"), ("DELETE", "/"), ("HEAD", "/a/%2e")] {
                let target = rules[0].pattern.to_string();
                let target = Target::parse(&target, None).unwrap();
                if hosts::may_ask(&rules, &target, method, path).allowed {
                    continue;
                }
                let Some(line) = line(&rules, &target, method, path) else {
                    assert_eq!(path, "/a/%2e", "{limits:?} {method} {path}");
                    continue;
                };
                let paths: Vec<&str> = line
                    .split_once("paths \"")
                    .map(|(_, path)| path.trim_end_matches('"'))
                    .into_iter()
                    .collect();
                let mut more = rules.clone();
                more.push(rule(true, "api.com:8443", Some((&[method], &paths))));
                assert!(line.starts_with(&format!("allow \"api.com:8443\" methods {method}")), "{line}");
                assert!(hosts::may_ask(&more, &target, method, path).allowed, "{limits:?} {line}");
            }
        }
    }
}
