//! What the end of a run means. sandbox-exec(1) becomes the command; where it ends before that, the command never ran.

use super::super::{Ended, Note, Outcome, Refusal, Violation};
use super::invocation::SANDBOX_EXEC;
use super::supervise::End;
use camino::Utf8Path;
use std::io;

/// EX_DATAERR of sysexits(3): the profile does not compile.
const REJECTED: i32 = 65;
/// EX_OSERR of sysexits(3): the profile cannot be applied, or the program not be started.
const NOT_APPLIED: i32 = 71;

/// The outcome of a run. `launcher` says whether the process was still sandbox-exec when it ended, where the kernel told.
///
/// # Errors
/// The command never ran.
pub fn outcome(end: End, launcher: Option<bool>) -> Result<Outcome, Refusal> {
    match end {
        End::OverTime(limit) => Ok(Outcome::over_time(limit)),
        End::OverOutput(limit) => Ok(Outcome::over_output(limit)),
        End::Lost(error) => Ok(Outcome::lost(error.into())),
        End::Ended(ended) => {
            // Where it cannot be told apart, a refusal must not look like the command's own end.
            let doubtful = matches!(ended, Ended::Exited(REJECTED | NOT_APPLIED));
            if launcher.unwrap_or(doubtful) { Err(refusal(ended)) } else { Ok(Outcome::of(ended)) }
        }
    }
}

fn refusal(ended: Ended) -> Refusal {
    let (what, help) = match ended {
        Ended::Exited(REJECTED) => (
            "rejected the compiled profile (exit 65)".to_owned(),
            "its message stands above. This is a fault of palisade, or of a `seatbelt` block in the profile: please report it",
        ),
        Ended::Exited(NOT_APPLIED) => (
            "could not apply the profile or start the program (exit 71)".to_owned(),
            "its message stands above. A process that is in a sandbox already cannot enter another: run palisade outside of it",
        ),
        Ended::Exited(code) => {
            (format!("ended with {code} before it ran the command"), "its message stands above")
        }
        Ended::Killed(signal) => (
            format!("was killed by signal {signal} before it ran the command"),
            "something else on this machine ended it, or a limit in `limits` is too low for any program",
        ),
    };
    Refusal::Kernel { message: format!("`{SANDBOX_EXEC}` {what}"), help: help.to_owned() }
}

/// Says which processes of the command are left after all was done to end them.
pub fn left_running(outcome: &mut Outcome, processes: &[i32]) {
    let numbers: Vec<String> = processes.iter().map(i32::to_string).collect();
    let message = format!("violation: processes of the command are still running: {}", numbers.join(", "));
    violated(outcome, message, "end them: they run behind the walls, but without a limit of time");
}

/// Says that it is not known what the command has left running.
pub fn not_swept(outcome: &mut Outcome, error: &io::Error) {
    let message = format!("violation: what the command has left running could not be looked for: {error}");
    violated(
        outcome,
        message,
        "look for its processes; they run behind the walls, but without a limit of time",
    );
}

/// Says that the command's temporary directory is still there.
pub fn left_behind(outcome: &mut Outcome, path: &Utf8Path, error: &io::Error) {
    let message = format!("the command's temporary directory `{path}` could not be removed: {error}");
    outcome
        .notes
        .push(Note { message, help: Some("remove it; the command may have locked its files".into()) });
}

fn violated(outcome: &mut Outcome, message: String, help: &str) {
    outcome.violated(Violation::LeftRunning, Some(Note { message, help: Some(help.to_owned()) }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_commands_own_end_is_passed_on() {
        for (ended, code) in [
            (Ended::Exited(0), 0),
            (Ended::Exited(65), 65),
            (Ended::Exited(71), 71),
            (Ended::Exited(126), 126),
            (Ended::Killed(9), 137),
        ] {
            let outcome = outcome(End::Ended(ended), Some(false)).unwrap();
            assert_eq!((outcome.code, outcome.notes.len()), (code, 0));
        }
        assert_eq!(outcome(End::Ended(Ended::Exited(64)), None).unwrap().code, 64);
    }

    #[test]
    fn the_launchers_end_is_a_refusal() {
        let said = |ended, launcher| outcome(End::Ended(ended), launcher).unwrap_err().to_string();
        for launcher in [Some(true), None] {
            assert!(said(Ended::Exited(65), launcher).contains("rejected the compiled profile"));
            assert!(said(Ended::Exited(71), launcher).contains("could not apply"));
        }
        assert!(said(Ended::Exited(64), Some(true)).contains("ended with 64"));
        assert!(said(Ended::Exited(0), Some(true)).contains("before it ran the command"));
        assert!(said(Ended::Killed(24), Some(true)).contains("signal 24"));
    }

    #[test]
    fn a_limit_says_which() {
        let time = outcome(End::OverTime(Duration::from_millis(1500)), Some(true)).unwrap();
        assert_eq!((time.code, time.notes[0].message.as_str()), (124, "killed: time limit 1500 ms"));
        let mut output = outcome(End::OverOutput(10), None).unwrap();
        assert_eq!((output.code, output.notes[0].message.as_str()), (124, "killed: output limit 10 bytes"));
        left_running(&mut output, &[7, 8]);
        assert_eq!(output.code, 125);
        assert!(output.notes[1].message.ends_with("7, 8"));
    }

    #[test]
    fn what_could_not_be_tidied_up_is_said() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let mut ended = Outcome::of(Ended::Exited(0));
        left_behind(&mut ended, "/private/tmp/palisade-1".into(), &error);
        assert_eq!((ended.code, ended.notes.len()), (0, 1), "the command's own end stands");
        not_swept(&mut ended, &error);
        assert_eq!((ended.code, ended.notes.len()), (125, 2));
    }
}
