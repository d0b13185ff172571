//! What is kept of a run's connections: a line of JSON each for a log, and in the end what was refused. Neither holds a path, a header or
//! anything that was sent.

use super::{Closed, Refused, Via};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How many refusals are told apart in the end. A command that asks for more names has all of them in the log.
const MOST: usize = 100;

/// The record of one run.
#[derive(Debug)]
pub struct Record {
    log: Option<File>,
    /// Tells the lines of one run from those of another in the same log.
    run: String,
    number: AtomicU64,
    summary: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    connections: u64,
    refusals: u64,
    refused: HashMap<(String, &'static str), (Option<String>, u64)>,
}

/// What is known in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Summary {
    /// Connections that were made.
    pub connections: u64,
    /// Requests that were refused, also those that are not among `refused`.
    pub refusals: u64,
    /// Each host and reason once, by host.
    pub refused: Vec<RefusedHost>,
}

/// A host that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RefusedHost {
    /// `host:port`; `?` where what was asked for is none.
    pub host: String,
    pub reason: String,
    /// The statement that would admit it, or the one that denies it.
    pub line: Option<String>,
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
}

impl Record {
    /// `log` must have been opened to append: each line is written at once.
    pub fn new(log: Option<File>, run: String) -> Self {
        Self { log, run, number: AtomicU64::new(0), summary: Mutex::default() }
    }

    pub fn refused(&self, via: Via, refused: &Refused) {
        self.write(&Line {
            ev: "deny",
            via: via.name(),
            host: refused.target.as_ref().map(|target| target.host.to_string()),
            port: refused.target.as_ref().map(|target| target.port),
            why: Some(refused.reason.name()),
            line: refused.line.as_deref(),
            ..self.line()
        });
        let host = refused.target.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        counts.refusals += 1;
        let key = (host, refused.reason.name());
        if counts.refused.len() < MOST || counts.refused.contains_key(&key) {
            counts.refused.entry(key).or_insert_with(|| (refused.line.clone(), 0)).1 += 1;
        }
    }

    pub fn closed(&self, closed: &Closed) {
        self.write(&Line {
            ev: "close",
            via: closed.via.name(),
            host: Some(closed.target.host.to_string()),
            port: Some(closed.target.port),
            ip: Some(closed.address.to_string()),
            why: closed.why.map(super::Reason::name),
            sni: closed.sni.as_deref(),
            up: Some(closed.up),
            down: Some(closed.down),
            ms: Some(closed.lasted.as_millis()),
            ..self.line()
        });
        let mut counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        counts.connections += 1;
        if let Some(why) = closed.why {
            counts.refusals += 1;
            let key = (closed.target.to_string(), why.name());
            if counts.refused.len() < MOST || counts.refused.contains_key(&key) {
                counts.refused.entry(key).or_default().1 += 1;
            }
        }
    }

    pub fn summary(&self) -> Summary {
        let counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused: Vec<RefusedHost> = counts
            .refused
            .iter()
            .map(|((host, reason), (line, times))| RefusedHost {
                host: host.clone(),
                reason: (*reason).to_owned(),
                line: line.clone(),
                times: *times,
            })
            .collect();
        refused.sort_by(|a, b| (&a.host, &a.reason).cmp(&(&b.host, &b.reason)));
        Summary { connections: counts.connections, refusals: counts.refusals, refused }
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
        }
    }

    fn write(&self, line: &Line<'_>) {
        let Some(mut log) = self.log.as_ref() else { return };
        if let Ok(mut bytes) = serde_json::to_vec(line) {
            bytes.push(b'\n');
            // A full disk must not end a connection; the summary counts all the same.
            let _ = log.write_all(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reason;
    use super::*;
    use crate::policy::host::Target;
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
    fn there_is_an_end_to_what_is_told_apart() {
        let record = Record::new(None, String::new());
        for number in 0..1000 {
            let target = Target::parse(&format!("n{number}.example.com"), Some(443)).unwrap();
            record.refused(
                Via::Socks,
                &Refused { reason: Reason::NotAllowed, target: Some(target), line: None },
            );
        }
        assert_eq!((record.summary().refusals, record.summary().refused.len()), (1000, MOST));
    }
}
