//! What is kept of a run's connections: a line of JSON each for a log, and in the end what was refused. Neither holds a path, a header or
//! anything that was sent.

use super::{Closed, Reason, Refused, Via};
use crate::policy::host::{Host, Target};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How many refusals are told apart in the end. The log has all of them.
const MOST: usize = 100;
/// How many names without an address have one line each in the log; of more, every question has one.
const NAMES: usize = 1 << 16;

/// The record of one run.
#[derive(Debug)]
pub struct Record {
    log: Option<Mutex<Log>>,
    /// Tells the lines of one run from those of another in the same log.
    run: String,
    number: AtomicU64,
    /// Lines that could not be written.
    lost: AtomicU64,
    summary: Mutex<Counts>,
}

#[derive(Debug)]
struct Log {
    file: File,
    /// Whether the last line was written in part.
    torn: bool,
}

#[derive(Debug, Default)]
struct Counts {
    connections: u64,
    refusals: u64,
    /// By host, reason and line.
    refused: HashMap<(String, &'static str, Option<String>), u64>,
    /// By variable and host.
    misdirected: HashMap<(String, String), u64>,
    /// Refusals that are not among these.
    more: u64,
    /// The names that were asked for and have no address.
    unnamed: HashSet<String>,
}

impl Counts {
    fn refused(&mut self, host: String, reason: &'static str, line: Option<&str>) {
        self.refusals += 1;
        let key = (host, reason, line.map(str::to_owned));
        if self.refused.len() < MOST || self.refused.contains_key(&key) {
            *self.refused.entry(key).or_default() += 1;
        } else {
            self.more += 1;
        }
    }
}

/// What is known in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Summary {
    /// Connections that were made.
    pub connections: u64,
    /// Requests that were refused, also those that are not among `refused`.
    pub refusals: u64,
    /// What stood for secrets and was on its way to where those do not belong: each variable and host once, by variable; the first 100 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misdirected: Vec<MisdirectedSecret>,
    /// Each host, reason and line once, by host; the first 100 of them.
    pub refused: Vec<RefusedHost>,
    /// Requests that were refused for hosts or reasons that are not among `refused`. Only the log tells them apart.
    #[serde(default)]
    pub more: u64,
    /// Lines that the log lacks, since they could not be written.
    #[serde(default)]
    pub lost: u64,
}

/// A host that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RefusedHost {
    /// `host:port`; a host alone where only its address was asked for; `?` where what was asked for is none.
    pub host: String,
    pub reason: String,
    /// The statement that would admit it, or the one that denies it.
    pub line: Option<String>,
    pub times: u64,
}

/// A masked variable whose placeholder was on its way to where its value does not belong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MisdirectedSecret {
    /// The name of the variable.
    pub secret: String,
    /// `host:port`; `?` where it was part of the host's name.
    pub host: String,
    pub times: u64,
}

/// A line of the log.
#[derive(Debug, Serialize)]
struct Line<'a> {
    ts: String,
    run: &'a str,
    n: u64,
    ev: &'static str,
    via: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sni: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    down: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    secrets: &'a [String],
}

impl Record {
    /// `log` must have been opened to append: each line is written at once.
    pub fn new(log: Option<File>, run: String) -> Self {
        let log = log.map(|file| Mutex::new(Log { file, torn: false }));
        Self { log, run, number: AtomicU64::new(0), lost: AtomicU64::new(0), summary: Mutex::default() }
    }

    pub fn refused(&self, via: Via, refused: &Refused) {
        self.denied(via, refused, None);
    }

    /// A request that was refused on a connection that is read.
    pub fn refused_request(&self, via: Via, refused: &Refused, method: &str) {
        self.denied(via, refused, Some(method));
    }

    fn denied(&self, via: Via, refused: &Refused, method: Option<&str>) {
        self.write(&Line {
            ev: "deny",
            via: via.name(),
            method,
            host: refused.target.as_ref().map(|target| target.host.to_string()),
            port: refused.target.as_ref().map(|target| target.port),
            why: Some(refused.reason.name()),
            line: refused.line.as_deref(),
            ..self.line()
        });
        let host = refused.target.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        counts.refused(host, refused.reason.name(), refused.line.as_deref());
    }

    /// Placeholders of some variables that were on their way to where they do not belong. Where they were in the name of a host, there is no target.
    pub fn misdirected(&self, via: Via, target: Option<&Target>, secrets: &[String]) {
        self.write(&Line {
            ev: "secret-misdirected",
            via: via.name(),
            host: target.map(|target| target.host.to_string()),
            port: target.map(|target| target.port),
            secrets,
            ..self.line()
        });
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        counts.refusals += 1;
        let mut told_apart = false;
        for secret in secrets {
            let key = (secret.clone(), target.map_or_else(|| "?".to_owned(), ToString::to_string));
            if counts.misdirected.len() < MOST || counts.misdirected.contains_key(&key) {
                *counts.misdirected.entry(key).or_default() += 1;
                told_apart = true;
            }
        }
        counts.more += u64::from(!told_apart);
    }

    /// A name that was asked for and has no address: once for each, since a program asks again, and for more than one kind.
    pub fn unnamed(&self, host: &Host, reason: Reason, line: Option<String>) {
        let host = host.to_string();
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.unnamed.contains(&host) {
            return;
        }
        if counts.unnamed.len() < NAMES {
            counts.unnamed.insert(host.clone());
        }
        counts.refused(host.clone(), reason.name(), line.as_deref());
        drop(counts);
        self.write(&Line {
            ev: "dns-deny",
            via: Via::Capture.name(),
            host: Some(host),
            why: Some(reason.name()),
            line: line.as_deref(),
            ..self.line()
        });
    }

    pub fn closed(&self, closed: &Closed) {
        self.write(&Line {
            ev: "close",
            via: closed.via.name(),
            host: Some(closed.target.host.to_string()),
            port: Some(closed.target.port),
            ip: Some(closed.address.to_string()),
            why: closed.why.map(Reason::name),
            sni: closed.sni.as_deref(),
            up: Some(closed.up),
            down: Some(closed.down),
            ms: Some(closed.lasted.as_millis()),
            requests: closed.requested.as_ref().map(|requested| requested.count),
            secrets: closed.requested.as_ref().map_or(&[], |requested| &requested.secrets),
            ..self.line()
        });
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        counts.connections += 1;
        let is_told = closed.requested.as_ref().is_some_and(|requested| requested.refused);
        // That is on record already, as what it is.
        if let Some(why) = closed.why.filter(|why| *why != Reason::SecretMisdirected && !is_told) {
            counts.refused(closed.target.to_string(), why.name(), None);
        }
    }

    pub fn summary(&self) -> Summary {
        let counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused: Vec<RefusedHost> = counts
            .refused
            .iter()
            .map(|((host, reason, line), times)| RefusedHost {
                host: host.clone(),
                reason: (*reason).to_owned(),
                line: line.clone(),
                times: *times,
            })
            .collect();
        refused.sort_by(|a, b| (&a.host, &a.reason, &a.line).cmp(&(&b.host, &b.reason, &b.line)));
        let told = |((secret, host), times): (&(String, String), &u64)| MisdirectedSecret {
            secret: secret.clone(),
            host: host.clone(),
            times: *times,
        };
        let mut misdirected: Vec<MisdirectedSecret> = counts.misdirected.iter().map(told).collect();
        misdirected.sort_by(|a, b| (&a.secret, &a.host).cmp(&(&b.secret, &b.host)));
        Summary {
            connections: counts.connections,
            refusals: counts.refusals,
            misdirected,
            refused,
            more: counts.more,
            lost: self.lost.load(Ordering::Relaxed),
        }
    }

    fn line(&self) -> Line<'_> {
        Line {
            ts: OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default(),
            run: &self.run,
            n: self.number.fetch_add(1, Ordering::Relaxed),
            ev: "",
            via: "",
            host: None,
            port: None,
            ip: None,
            why: None,
            line: None,
            sni: None,
            up: None,
            down: None,
            ms: None,
            method: None,
            requests: None,
            secrets: &[],
        }
    }

    fn write(&self, line: &Line<'_>) {
        let Some(log) = &self.log else { return };
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let Log { file, torn } = &mut *log;
        let written =
            serde_json::to_vec(line).map_err(Into::into).and_then(|bytes| append(file, torn, &bytes));
        if written.is_err() {
            // A full disk must not end a connection; the summary counts all the same, and says that the log does not.
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Adds a line, on a line of its own also where the one before is `torn`, which is what this one is where only a part of it could be written.
fn append(log: &mut impl Write, torn: &mut bool, line: &[u8]) -> io::Result<()> {
    let before: &[u8] = if *torn { b"\n" } else { b"" };
    let bytes = [before, line, b"\n"].concat();
    let mut written = 0;
    while written < bytes.len() {
        match log.write(bytes.get(written..).unwrap_or_default()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => {
                written += length;
                *torn = written < bytes.len() && written != before.len();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_is_written_for_each_and_refusals_are_told_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let record = Record::new(Some(File::create(&path).unwrap()), "7".into());
        let target = Target::parse("example.com", Some(443)).unwrap();
        for _ in 0..3 {
            let line = Some("allow \"example.com\"".to_owned());
            let refused = Refused { reason: Reason::NotAllowed, target: Some(target.clone()), line };
            record.refused(Via::Socks, &refused);
        }
        record.refused(Via::Http, &Refused::unread(Reason::BadRequest("no host")));
        record.closed(&Closed {
            via: Via::Connect,
            target,
            address: [1, 2, 3, 4].into(),
            sni: Some("example.com".into()),
            up: 1,
            down: 2,
            lasted: Duration::from_millis(3),
            why: None,
            requested: None,
        });
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 5);
        assert_eq!((&lines[0]["ev"], &lines[0]["why"]), (&"deny".into(), &"not-allowed".into()));
        assert_eq!(
            (&lines[4]["ip"], &lines[4]["down"], &lines[4]["n"]),
            (&"1.2.3.4".into(), &2.into(), &4.into())
        );
        let summary = record.summary();
        assert_eq!((summary.connections, summary.refusals, summary.refused.len()), (1, 4, 2));
        assert_eq!((summary.refused[1].host.as_str(), summary.refused[1].times), ("example.com:443", 3));
    }

    #[test]
    fn a_name_without_an_address_has_one_line_and_no_port() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let record = Record::new(Some(File::create(&path).unwrap()), "7".into());
        for _ in 0..3 {
            record.unnamed(&Host::parse("evil.com").unwrap(), Reason::NotAllowed, None);
        }
        let text = std::fs::read_to_string(path).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!((&line["ev"], &line["host"]), (&"dns-deny".into(), &"evil.com".into()));
        assert!(line.get("port").is_none(), "{text}");
    }

    #[test]
    fn there_is_an_end_to_what_is_told_apart() {
        let record = Record::new(None, String::new());
        for number in 0..1000 {
            let target = Target::parse(&format!("n{number}.example.com"), Some(443)).unwrap();
            record.refused(
                Via::Socks,
                &Refused { reason: Reason::NotAllowed, target: Some(target), line: None },
            );
        }
        let summary = record.summary();
        assert_eq!((summary.refusals, summary.refused.len(), summary.more), (1000, MOST, 900));
    }

    /// A disk with room for so many bytes.
    struct Disk(Vec<u8>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.1.saturating_sub(self.0.len()));
            self.0.extend(&bytes[..length]);
            if length == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(length) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_torn_line_spoils_no_other() {
        for room in 0..=10 {
            let mut disk = Disk(Vec::new(), 4 + room);
            let mut torn = false;
            append(&mut disk, &mut torn, b"one").unwrap();
            assert_eq!(append(&mut disk, &mut torn, b"two").is_err(), room < 4, "{room}");
            let _ = append(&mut disk, &mut torn, b"three");
            disk.1 = 100;
            append(&mut disk, &mut torn, b"four").unwrap();
            let text = String::from_utf8(disk.0).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!((lines[0], lines[lines.len() - 1]), ("one", "four"), "{room}: {text:?}");
            assert!(!text.contains("\n\n"), "{room}: {text:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_that_a_full_disk_has_no_room_for_are_counted() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let record = Record::new(Some(full), String::new());
        for _ in 0..3 {
            record.refused(Via::Http, &Refused::unread(Reason::BadHost));
        }
        assert_eq!((record.summary().lost, record.summary().refusals), (3, 3));
    }
}
