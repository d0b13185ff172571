//! What `palisade sb why` is asked about: a path, a connection, a name, and what more is known of it.

use crate::cli::Exit;
use crate::cli::output::fail;
use crate::sbpl::decide::{Address, Fact, Family, Transport};
use crate::sbpl::vocabulary::{Attribute, Form, Values, filter_named, filter_names, words};
use crate::sbpl::{Operation, PathCase, Subject, spelling};
use crate::syntax::nearest;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is asked about.
pub struct Asked {
    pub subject: Subject,
    /// How it is named in the answer.
    pub shown: String,
    /// What was made of it.
    pub note: Option<String>,
    /// The kinds of filter that speak of it.
    kinds: Vec<(&'static str, String)>,
}

/// One argument.
enum Part {
    Path(String),
    /// An end of a connection, and whether it is the local one.
    End(Address, bool),
    Fact(&'static Attribute, Fact, String),
}

/// The arguments together: at most one path or connection, or else a name, and facts about it.
pub fn parse(texts: &[String], case: PathCase) -> Result<Asked, Exit> {
    let mut asked = Asked { subject: Subject::any(), shown: String::new(), note: None, kinds: Vec::new() };
    let mut shown = Vec::new();
    let (mut path, mut ends, mut facts) = (None, [None, None], Vec::new());
    for text in texts {
        match part(text, case)? {
            Part::Path(written) => {
                let (seen, _) = spelling::resolved(&written, case, false);
                if seen != written {
                    asked.note = Some(format!("on a Mac that is {seen}"));
                }
                asked.kinds.push(("path", "path".to_owned()));
                shown.push(seen.clone());
                if path.replace(seen).is_some() {
                    return Err(usage("more than one path", "one access has one path"));
                }
            }
            Part::End(address, is_local) => {
                shown.push(text.clone());
                let end = if is_local { &mut ends[0] } else { &mut ends[1] };
                asked.kinds.push(("network", if is_local { "local" } else { "remote" }.to_owned()));
                if end.replace(address).is_some() {
                    return Err(usage(
                        "one end of a connection is stated twice",
                        "a connection has two ends",
                    ));
                }
            }
            Part::Fact(attribute, fact, name) => {
                shown.push(text.clone());
                asked.kinds.push((attribute.kind, attribute.name.to_owned()));
                facts.push((attribute, fact, name));
            }
        }
    }
    let is_connection = ends.iter().any(Option::is_some);
    asked.subject = match path {
        Some(_) if is_connection => {
            return Err(usage(
                "a path and a connection are two subjects",
                "a unix socket is asked about by its path alone",
            ));
        }
        Some(path) => Subject::path(path),
        None if is_connection => {
            Subject::connection(ends[0].unwrap_or_default(), ends[1].unwrap_or_default())
        }
        // A number is a fact: a subject is named by text.
        None => match facts.iter().position(|(_, fact, _)| matches!(fact, Fact::Is(_))) {
            Some(at) => {
                let (attribute, _, name) = facts.remove(at);
                Subject::named(attribute.name, name)
            }
            None => Subject::any(),
        },
    };
    for (attribute, fact, _) in facts {
        asked.subject = asked.subject.with(attribute.name, fact);
    }
    asked.shown = if shown.is_empty() { "anything".to_owned() } else { shown.join(" ") };
    Ok(asked)
}

impl Asked {
    /// Those of `operations` that this can be a subject of.
    ///
    /// # Errors
    /// Where there are none: the exit, and what can be asked is told.
    pub fn of(&self, named: &str, operations: Vec<Operation>) -> Result<Vec<Operation>, Exit> {
        let mut left = operations.clone();
        for (kind, filter) in &self.kinds {
            left.retain(|operation| operation.takes(kind) != Some(false));
            if left.is_empty() {
                return Err(usage(
                    &format!("no filter on `{filter}` applies to `{named}`"),
                    &applicable(&operations),
                ));
            }
        }
        Ok(left)
    }

    /// The subject with what is at its path.
    pub fn with_type(mut self, kind: &str) -> Result<Self, Exit> {
        match part(&format!("vnode-type={kind}"), PathCase::Insensitive)? {
            Part::Fact(attribute, fact, _) => self.subject = self.subject.with(attribute.name, fact),
            _ => return Err(usage(&format!("`{kind}` is no type"), "types are those of `vnode-type`")),
        }
        Ok(self)
    }
}

/// What operations can be asked with.
fn applicable(operations: &[Operation]) -> String {
    let mut names: Vec<&str> = filter_names()
        .filter(|name| {
            let Some((attribute, Form::Whole)) = filter_named(name) else { return false };
            attribute.name == *name
                && operations.iter().any(|operation| operation.takes(attribute.kind) == Some(true))
        })
        .collect();
    names.sort_unstable();
    match names.as_slice() {
        [] => "leave the subject out".to_owned(),
        _ => format!("these apply: {}; or leave the subject out", names.join(", ")),
    }
}

fn usage(message: &str, help: &str) -> Exit {
    fail(Exit::Usage, message, Some(help))
}

fn part(text: &str, case: PathCase) -> Result<Part, Exit> {
    if text.starts_with('/') {
        return Ok(Part::Path(text.to_owned()));
    }
    let Some((filter, name)) = text.split_once('=').filter(|(filter, _)| !filter.is_empty()) else {
        return Err(usage(
            &format!("`{text}` is neither an absolute path nor FILTER=NAME"),
            "write the path as the Mac has it, or name what is asked about: `global-name=com.apple.trustd`",
        ));
    };
    let Some((attribute, form)) = filter_named(filter) else {
        let whole = filter_names().filter(|name| matches!(filter_named(name), Some((_, Form::Whole))));
        let help = match nearest(filter, whole) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "filters are those of Seatbelt: `global-name`, `sysctl-name`, `remote` …".to_owned(),
        };
        return Err(usage(&format!("no filter is called `{filter}`"), &help));
    };
    if form != Form::Whole {
        let whole = attribute.filter_name(Form::Whole);
        return Err(usage(
            &format!("`{filter}` compares with many names, and one is asked about"),
            &format!("state the one name: `{whole}=…`"),
        ));
    }
    if name.is_empty() {
        return Err(usage(&format!("`{text}` names nothing"), &format!("state what `{filter}` is")));
    }
    value(attribute, filter, name, case)
}

fn value(attribute: &'static Attribute, filter: &str, name: &str, case: PathCase) -> Result<Part, Exit> {
    let text = |text: &str| Part::Fact(attribute, Fact::Is(text.as_bytes().to_vec()), text.to_owned());
    let wrong = |known: Vec<&str>| {
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.len() <= 12 => format!("one of: {}", known.join(", ")),
            None => "the words are those of the system's public headers, or numbers".to_owned(),
        };
        usage(&format!("`{name}` is no value of `{filter}`"), &help)
    };
    Ok(match attribute.values {
        Values::Path if !name.starts_with('/') && attribute.name != "mount-relative-path" => {
            return Err(usage(&format!("`{name}` is no absolute path"), "write the path as the Mac has it"));
        }
        Values::Path if attribute.name == "path" => Part::Path(name.to_owned()),
        Values::Path => text(&spelling::resolved(name, case, false).0),
        Values::Name | Values::Exact => text(name),
        Values::Words([]) => text(name),
        Values::Words(known) => match known.iter().find(|word| word.eq_ignore_ascii_case(name)) {
            Some(word) => text(word),
            None => return Err(wrong(known.to_vec())),
        },
        Values::Number => match (name.parse(), words::of_attribute(attribute.name)) {
            (Ok(number), _) => Part::Fact(attribute, Fact::Number(number), name.to_owned()),
            (Err(_), Some(known)) if !known.iter().any(|(word, _)| *word == name) => {
                return Err(wrong(known.iter().map(|(word, _)| *word).collect()));
            }
            _ => text(name),
        },
        Values::Network => Part::End(address(name)?, attribute.name == "local"),
    })
}

/// `HOST:PORT`, as it is known before a connection is made, with a protocol in front if need be: `tcp localhost:80`.
fn address(text: &str) -> Result<Address, Exit> {
    let wrong = |what: &str| {
        usage(
            what,
            "write HOST:PORT, `*` for what is not known: `remote=localhost:8080`, `remote=tcp example.com:443`",
        )
    };
    let (protocol, place) = match text.split_once(' ') {
        Some((protocol, place)) => (protocol, place),
        None => ("ip", text),
    };
    let (transport, family) =
        match protocol.split_at_checked(protocol.len() - protocol.ends_with(['4', '6']) as usize) {
            Some((transport, family)) => (transport, family),
            None => (protocol, ""),
        };
    let transport = match transport {
        "ip" => None,
        "tcp" => Some(Transport::Tcp),
        "udp" => Some(Transport::Udp),
        _ => return Err(wrong(&format!("`{protocol}` is no protocol of a connection"))),
    };
    let stated = match family {
        "4" => Some(Family::V4),
        "6" => Some(Family::V6),
        _ => None,
    };
    let Some((host, port)) = place.rsplit_once(':') else {
        return Err(wrong(&format!("`{place}` is no HOST:PORT")));
    };
    let port = match (port, crate::sbpl::decide::port_number(port)) {
        ("*", _) => None,
        (_, Some(port)) => Some(port),
        _ => return Err(wrong(&format!("`{port}` is no port"))),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let family = match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => Some(Family::V4),
        Ok(IpAddr::V6(_)) => Some(Family::V6),
        Err(_) => None,
    };
    if let (Some(found), Some(stated)) = (family, stated)
        && found != stated
    {
        return Err(wrong(&format!("`{host}` is no address of `{protocol}`")));
    }
    let loopback = match (host, host.parse::<IpAddr>()) {
        ("", _) => return Err(wrong("a host is needed")),
        ("*", _) => None,
        (_, Ok(ip)) if ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST => Some(true),
        // All of 127.0.0.0/8, and every address of the machine itself: whether `localhost` means them is not published.
        (_, Ok(ip)) if ip.is_loopback() || ip.is_unspecified() => None,
        (_, Ok(_)) => Some(false),
        (name, Err(_)) if name.eq_ignore_ascii_case("localhost") => Some(true),
        (name, Err(_)) if name.to_ascii_lowercase().ends_with(".localhost") => None,
        (_, Err(_)) => Some(false),
    };
    Ok(Address { transport, family: family.or(stated), loopback, port })
}
