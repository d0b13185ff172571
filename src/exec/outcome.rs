//! How a run ended, what was seen of it, and what is said about it. The same on every system.

use super::Command;
use super::network::notes;
use crate::manifest::Limits;
use crate::network::record::Summary;
use crate::policy::LimitKind;
use crate::sys::Usage;
use camino::Utf8PathBuf;
use std::time::Duration;

/// Something to tell the user once the command has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub message: String,
    pub help: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl Ended {
    /// 128 + N for signal N, as shells do.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => 128 + signal,
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The command ended by itself, or was sent a signal.
    Command(Ended),
    /// It was ended at this limit.
    Limit(LimitKind),
    /// A wall did not hold, or something got around it.
    Violation,
    /// What it wrote could not be passed on.
    OutputLost,
    /// The sandbox was ended by somebody else, and nobody knows how the command ended.
    SandboxLost,
    /// There is no such program, or it may not be run.
    NotStarted,
}

/// What should not have been possible, or what changed under the walls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A protected path was replaced on the host.
    Replaced(Utf8PathBuf),
    /// A protected path that was missing came to be there; where it was moved to, if it could be.
    Made { path: Utf8PathBuf, moved_to: Option<Utf8PathBuf> },
    /// Processes of the command could not be ended, or not be looked for.
    LeftRunning,
}

/// What was seen of a run besides its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Of the command and all that it left to be collected.
    pub usage: Option<Usage>,
    /// Bytes on both streams, where they were all passed on by this program.
    pub output_bytes: Option<u64>,
    /// Limits that were found reached in the end, of those that do not end a command.
    pub reached: Vec<LimitKind>,
    /// What the command said of a call that failed, in the words of the C library, and the limit that makes such calls fail.
    pub said: Vec<(LimitKind, &'static str)>,
    /// What became of its connections, where they went through a gateway.
    pub network: Option<Summary>,
}

/// How a run ended. `code` is the command's own exit code, 128 + N for signal N, 124 where a limit was reached, 126 and 127 as shells use
/// them, 125 where the sandbox was ended for its own sake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub code: i32,
    pub cause: Cause,
    pub violations: Vec<Violation>,
    pub notes: Vec<Note>,
    pub observed: Observed,
}

/// The exit code where a limit ended the command.
const OVER_LIMIT: i32 = 124;

impl Outcome {
    /// The command's own end.
    pub(super) fn of(ended: Ended) -> Self {
        Self::because(ended.code(), Cause::Command(ended))
    }

    fn because(code: i32, cause: Cause) -> Self {
        Self { code, cause, violations: Vec::new(), notes: Vec::new(), observed: Observed::default() }
    }

    fn noted(mut self, message: String, help: impl Into<String>) -> Self {
        self.notes.push(Note { message, help: Some(help.into()) });
        self
    }

    fn over(kind: LimitKind, limit: u64) -> Self {
        Self::because(OVER_LIMIT, Cause::Limit(kind))
            .noted(format!("killed: {}", stated(kind, limit)), raise(kind))
    }

    pub(super) fn over_time(limit: Duration) -> Self {
        Self::over(LimitKind::Time, u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn over_output(limit: u64) -> Self {
        Self::over(LimitKind::Output, limit)
    }

    /// What the command wrote could not be passed on.
    pub(super) fn lost(error: std::io::Error) -> Self {
        let message = format!("killed: its output could not be passed on: {error}");
        Self::because(125, Cause::OutputLost).noted(message, "give it somewhere to go")
    }

    /// The first process of the sandbox ended before it could tell of the command.
    #[cfg(target_os = "linux")]
    pub(super) fn vanished(ended: Ended) -> Self {
        let how = match ended {
            Ended::Killed(signal) => format!("killed from outside by signal {signal}"),
            Ended::Exited(code) => format!("ended from inside with code {code}"),
        };
        Self::because(125, Cause::SandboxLost).noted(
            format!("the sandbox was {how}: everything in it was ended, and how the command would have ended is not known"),
            "look at what the command had done, and run it again; where nobody killed it, memory has run out, which the log of \
             the kernel tells",
        )
    }

    /// As shells do: 127 where there is no such program, 126 where it may not be run.
    pub(super) fn not_started(command: &Command, code: i32, reason: &str) -> Self {
        let name = command.name().to_string_lossy();
        // A path is looked for behind the walls, where a link on its way or an interpreter may be missing that is there outside.
        let help = if name.contains('/') && std::path::Path::new(command.name()).exists() {
            format!(
                "only the tools listed in the profile may be started: `palisade why exec {name}` says what it, a link or its interpreter lacks"
            )
        } else {
            "only the tools listed in the profile may be started".to_owned()
        };
        Self::because(code, Cause::NotStarted).noted(format!("cannot run `{name}`: {reason}"), help)
    }

    /// What carried its connections ended before the command did: those that were open were closed, and others could not be made.
    pub(super) fn gateway_lost(&mut self) {
        let message = "what carried its connections ended early: after that none could be made".to_owned();
        let help =
            "run it again; where nobody killed it, memory has run out, which the log of the kernel tells"
                .to_owned();
        self.notes.push(Note { message, help: Some(help) });
    }

    /// Whatever the end was, this counts more.
    pub(super) fn violated(&mut self, violation: Violation, note: Option<Note>) {
        self.code = 125;
        self.cause = Cause::Violation;
        self.violations.push(violation);
        self.notes.extend(note);
    }

    /// Adds what was seen, and says which limits were reached as far as that can be known: the kernel ends a process at some
    /// (setrlimit(2)), at others a call of it fails, which nobody else is told of.
    pub(super) fn concluded(self, limits: &Limits, observed: Observed) -> Self {
        let mut outcome = self.at_resource_limit(limits);
        for &kind in &observed.reached {
            let Some(limit) = limits.get(kind) else { continue };
            outcome = outcome.noted(format!("limit reached: {}", stated(kind, limit)), raise(kind));
        }
        let failed = matches!(outcome.cause, Cause::Command(_)) && outcome.code != 0;
        for &(kind, words) in observed.said.iter().filter(|_| failed) {
            if let (Some(limit), false) = (limits.get(kind), observed.reached.contains(&kind)) {
                outcome = outcome.noted(
                    format!("the command said `{words}`, and there is a {}", stated(kind, limit)),
                    format!("{}, if that was it: the kernel does not tell", raise(kind)),
                );
            }
        }
        outcome.notes.extend(observed.network.iter().flat_map(notes));
        Self { observed, ..outcome }
    }

    fn at_resource_limit(self, limits: &Limits) -> Self {
        let Cause::Command(ended) = self.cause else { return self };
        let (signal, certain) = match ended {
            Ended::Killed(signal) => (signal, true),
            // As a shell passes on the end of its last command.
            Ended::Exited(code) => (code - 128, false),
        };
        let kind = match signal {
            libc::SIGXCPU => LimitKind::Cpu,
            libc::SIGXFSZ => LimitKind::FileSize,
            _ => return self,
        };
        match (limits.get(kind), certain) {
            (Some(limit), true) => Self::over(kind, limit),
            (Some(limit), false) => {
                let (code, stated) = (self.code, stated(kind, limit));
                let message =
                    format!("exit code {code} is a shell's for a process that was ended at a {stated}");
                self.noted(message, raise(kind))
            }
            (None, _) => self,
        }
    }
}

/// A limit with its amount.
fn stated(kind: LimitKind, limit: u64) -> String {
    match kind {
        LimitKind::Time => format!("time limit {}", seconds(limit)),
        LimitKind::Cpu => format!("processor time limit {} a process", seconds(limit)),
        LimitKind::Output => format!("output limit {limit} bytes"),
        LimitKind::OpenFiles => format!("limit of {limit} open files a process"),
        LimitKind::Processes => format!("limit of {limit} processes"),
        LimitKind::TemporarySpace => format!("temporary space limit {limit} bytes"),
        LimitKind::FileSize => format!("file size limit {limit} bytes"),
    }
}

fn raise(kind: LimitKind) -> String {
    format!("raise `{}` in `limits`", kind.name())
}

fn seconds(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1000) {
        format!("{} s", milliseconds / 1000)
    } else {
        format!("{milliseconds} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time_ms: None,
        cpu_ms: Some(1500),
        output_bytes: None,
        open_files: Some(20),
        processes: None,
        temporary_space_bytes: Some(4096),
        file_size_bytes: Some(512),
    };

    fn concluded(ended: Ended, observed: Observed) -> Outcome {
        Outcome::of(ended).concluded(&LIMITS, observed)
    }

    fn messages(outcome: &Outcome) -> Vec<&str> {
        outcome.notes.iter().map(|note| note.message.as_str()).collect()
    }

    #[test]
    fn a_limit_at_which_the_kernel_kills_is_named() {
        let cpu = concluded(Ended::Killed(libc::SIGXCPU), Observed::default());
        assert_eq!((cpu.code, cpu.cause), (124, Cause::Limit(LimitKind::Cpu)));
        assert_eq!(messages(&cpu), ["killed: processor time limit 1500 ms a process"]);
        let size = concluded(Ended::Killed(libc::SIGXFSZ), Observed::default());
        assert_eq!((size.code, messages(&size)), (124, vec!["killed: file size limit 512 bytes"]));
        assert_eq!(size.notes[0].help.as_deref(), Some("raise `file-size` in `limits`"));
        let unlimited =
            Outcome::of(Ended::Killed(libc::SIGXFSZ)).concluded(&Limits::default(), Observed::default());
        assert_eq!(unlimited.code, 128 + libc::SIGXFSZ);
        assert!(unlimited.notes.is_empty());
    }

    #[test]
    fn an_exit_code_that_only_looks_like_it_stays() {
        let code = 128 + libc::SIGXFSZ;
        let size = concluded(Ended::Exited(code), Observed::default());
        assert_eq!((size.code, size.cause), (code, Cause::Command(Ended::Exited(code))));
        assert!(messages(&size)[0].ends_with("ended at a file size limit 512 bytes"));
    }

    #[test]
    fn what_is_known_and_what_was_said_are_told_apart() {
        let seen = || Observed {
            reached: vec![LimitKind::TemporarySpace],
            said: vec![
                (LimitKind::OpenFiles, "Too many open files"),
                (LimitKind::TemporarySpace, "No space left on device"),
                (LimitKind::Processes, "Cannot fork"),
            ],
            ..Observed::default()
        };
        let failed = concluded(Ended::Exited(1), seen());
        assert_eq!(
            messages(&failed),
            [
                "limit reached: temporary space limit 4096 bytes",
                "the command said `Too many open files`, and there is a limit of 20 open files a process",
            ]
        );
        assert_eq!(failed.code, 1);
        let fine = concluded(Ended::Exited(0), seen());
        assert_eq!(messages(&fine), ["limit reached: temporary space limit 4096 bytes"]);
    }
}
