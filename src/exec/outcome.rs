//! How a run ended, and what is said about it. The same on every system.

use super::Command;
use crate::manifest::Limits;
use std::time::Duration;

const CPU_EXCEEDED: i32 = 128 + libc::SIGXCPU;
const FILE_TOO_LARGE: i32 = 128 + libc::SIGXFSZ;

/// Something to tell the user once the command has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub message: String,
    pub help: Option<String>,
}

/// How a run ended: the command's own exit code, 128 + N for signal N, 124 where a limit was reached, 126 and 127 as shells use them, 125
/// where the sandbox was ended for its own sake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub code: i32,
    pub notes: Vec<Note>,
}

impl Outcome {
    /// The command's own end.
    pub(super) fn of(code: i32) -> Self {
        Self { code, notes: Vec::new() }
    }

    pub(super) fn said(code: i32, message: String, help: &str) -> Self {
        Self { code, notes: vec![Note { message, help: Some(help.to_owned()) }] }
    }

    pub(super) fn over_time(limit: Duration) -> Self {
        Self::said(124, format!("killed: time limit {}", seconds(limit)), "raise `time` in `limits`")
    }

    pub(super) fn over_output(limit: u64) -> Self {
        Self::said(124, format!("killed: output limit {limit} bytes"), "raise `output` in `limits`")
    }

    /// What the command wrote could not be passed on.
    pub(super) fn lost(error: std::io::Error) -> Self {
        let message = format!("killed: its output could not be passed on: {error}");
        Self::said(125, message, "give it somewhere to go")
    }

    /// Says which limit it was where the kernel ended the command at one (setrlimit(2)).
    pub(super) fn limited(self, limits: &Limits) -> Self {
        match self.code {
            CPU_EXCEEDED if limits.cpu_ms.is_some() => Self::said(
                124,
                "killed: a process used up its processor time".into(),
                "raise `cpu` in `limits`",
            ),
            FILE_TOO_LARGE if limits.file_size_bytes.is_some() => Self::said(
                124,
                "killed: a file grew beyond the limit".into(),
                "raise `file-size` in `limits`",
            ),
            _ => self,
        }
    }

    /// As shells do: 127 where there is no such program, 126 where it may not be run.
    pub(super) fn not_started(command: &Command, code: i32, reason: &str) -> Self {
        let name = command.name().to_string_lossy();
        let help = "only the tools listed in the profile may be started";
        Self::said(code, format!("cannot run `{name}`: {reason}"), help)
    }
}

fn seconds(limit: Duration) -> String {
    let milliseconds = limit.as_millis();
    if milliseconds.is_multiple_of(1000) {
        format!("{} s", milliseconds / 1000)
    } else {
        format!("{milliseconds} ms")
    }
}
