//! In: a manifest and a command, on Linux. Out: the command's end, after it ran in namespaces of its own, behind mounts that come from
//! the decision function, Landlock and a system call filter.

pub mod apart;
mod attend;
mod build;
mod confine;
mod init;
mod kernel;
pub mod layout;
mod link;
mod placeholders;
mod report;
mod seccomp;
mod supervise;
mod terminal;
mod watch;

use super::causes::Causes;
use super::near::Near;
use super::pump::Pumps;
use super::{Command, Ended, Note, Observed, Outcome, Refusal, Seatbelt, Violation};
use crate::manifest::{Manifest, Network};
use crate::plan::{
    Decider, Effect, Operation, Operations, Origin, OriginKind, Presence, Rule, Scope, Spelling,
};
use crate::sys::linux::{Forked, NOTIFIED, Signals, clone, default_disposition, is_ignored, namespace};
use build::Settings;
use camino::{Utf8Path, Utf8PathBuf};
use init::{Init, Streams};
use kernel::Advice;
use layout::{Kind, Layout};
use link::Link;
use placeholders::{Placeholders, StandIn, looks_like_one};
use report::{Failure, Stage};
use rustix::fs::{CWD, FileType, RenameFlags};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::stdio::{stderr, stdout};
use rustix::termios::isatty;
use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::Duration;
use supervise::{End, Kill, Sandbox};
use terminal::{Outer, is_background_input, no_input, sink};
use watch::Watch;

/// After a wrap, pids are given from here on (`RESERVED_PIDS`, kernel/pid.c), so this many do not count towards a limit.
const RESERVED_PIDS: u64 = 300;
/// What the command is to hear of, unless the caller has it ignored: the command ignores it then as well.
const PASSED_ON: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP];
/// Less than the highest `pid_max` (proc_sys_kernel(5)).
const MOST_PROCESSES: u64 = 1 << 21;

/// Runs a command whose manifest was checked already.
///
/// # Errors
/// Where a wall cannot be built. Nothing was run then.
pub fn run(
    manifest: &Manifest,
    _: Seatbelt<'_>,
    command: &Command,
    rules: &[Rule],
) -> Result<Outcome, Refusal> {
    let prepared = command.prepare(manifest)?;
    // From here on a signal is read when there is time for it: placeholders must be removed, and the watch tells by a signal too.
    default_disposition(libc::SIGCHLD);
    default_disposition(NOTIFIED);
    let own = [libc::SIGCONT, libc::SIGWINCH, NOTIFIED];
    let passed = PASSED_ON.into_iter().filter(|signal| !is_ignored(*signal));
    let signals = Signals::block(&passed.chain(own).collect::<Vec<_>>())
        .map_err(Refusal::system("cannot block signals"))?;
    if let Some((state, root)) = placeholders::state_in_root(manifest) {
        return Err(Refusal::StateInRoot { state, root });
    }
    placeholders::clean_up_after_others();
    let first = lay_out(manifest, rules, &[])?;
    let (absent, missing): (Vec<_>, Vec<_>) =
        first.exposed.iter().cloned().partition(|path| is_absent(manifest, path));
    let placeholders = Placeholders::make(&missing)?;
    let layout = if missing.is_empty() {
        first
    } else {
        lay_out(manifest, &extended(rules, &placeholders.stand_ins), &placeholders.stand_ins)?
    };
    let open = |path: &&Utf8PathBuf| !placeholders.out_of_reach(path) && !absent.contains(path);
    if let Some(path) = layout.exposed.iter().find(open) {
        let error = io::Error::from_raw_os_error(libc::EEXIST);
        return Err(Refusal::Placeholder { path: path.clone(), error });
    }
    let restricting = layout.steps.iter().filter(|step| step.restricts && !step.path.starts_with("/proc"));
    let watch = Watch::new(restricting.map(|step| step.path.clone()).chain(absent.iter().cloned()))?;
    // Only now, so that what happens from here on is seen by the watch.
    super::hardlinks::check(manifest)?;
    let settings = settings(manifest, &layout)?;

    let (report, tell) = report::pipe().map_err(Refusal::system("cannot make a pipe"))?;
    let (link, inside) = Link::pair().map_err(Refusal::system("cannot make a socket"))?;
    let outer = Outer::interactive();
    let (streams, pumps, all) = streams(manifest.limits.output_bytes, outer.is_some())
        .map_err(Refusal::system("cannot pass standard streams on"))?;
    let init = Init {
        layout: &layout,
        settings,
        limits: manifest.limits,
        network: manifest.network,
        programs: prepared.programs,
        arguments: prepared.arguments,
        environment: prepared.environment,
        directory: manifest.working_directory.clone().into(),
        signals: &signals,
        report: tell,
        link: inside,
        terminal: outer.as_ref().map(Outer::inner),
        streams,
    };
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let forked =
        clone(namespaces(manifest.network)).map_err(|error| kernel::no_clone(&error, &Causes::read()))?;
    let Forked::Parent { pid, pidfd } = forked else { init.run(uid, gid) };
    // Our copies of the child's ends, so that the pipes close with it.
    drop(init);
    let mut sandbox = Sandbox::new(pid, pidfd, report, link, signals, watch);
    if let Some(limit) = manifest.limits.time_ms {
        sandbox.time_limit(Duration::from_millis(limit));
    }
    sandbox.pass_on(pumps);
    // Without a terminal of its own the command may leave this one in any mode when it is killed.
    let lent = if outer.is_none() { Outer::any() } else { None };
    if let Some(outer) = outer {
        sandbox.at(outer);
    }
    let (end, observed) =
        sandbox.wait().map_err(|error| Refusal::system("cannot wait for the sandbox")(error.into()))?;
    if let (Some(mut lent), true) = (lent, end.was_killed()) {
        lent.restore();
    }
    let observed = Observed { output_bytes: observed.output_bytes.filter(|_| all), ..observed };
    let mut outcome = outcome(end, command, &absent)?.concluded(&manifest.limits, observed);
    for (violation, note) in absent.iter().filter_map(|path| quarantine(path)) {
        outcome.violated(violation, Some(note));
    }
    for path in placeholders.remove() {
        let note = Note {
            message: format!("violation: something came to stand at the protected path `{path}` while the command ran"),
            help: Some(
                "whatever removed the empty directory that stood there on the host let the command write there: look at it"
                    .into(),
            ),
        };
        outcome.violated(Violation::Made { path, moved_to: None }, Some(note));
    }
    Ok(outcome)
}

/// What the command gets in place of the caller's own streams, what passes it on, and whether that is all its output. `at_terminal` is
/// whether it gets a terminal.
fn streams(limit: Option<u64>, at_terminal: bool) -> io::Result<(Streams, Pumps, bool)> {
    let mut pumps = Pumps::new(limit);
    let mut streams = Streams { errors_at_terminal: at_terminal && isatty(stderr()), ..Streams::default() };
    if !at_terminal && is_background_input() {
        // It would take what is typed for the shell, which a job of the shell's own is stopped for.
        streams.input = Some(no_input()?);
    }
    if limit.is_some() {
        if !at_terminal {
            let (output, to_output) = report::pipe()?;
            pumps.add(output, sink(stdout())?);
            streams.output = Some(to_output);
        }
        if !streams.errors_at_terminal {
            let (errors, to_errors) = report::pipe()?;
            pumps.add(errors, sink(stderr())?);
            streams.errors = Some(to_errors);
        }
    }
    let all = limit.is_some() || streams.errors_at_terminal;
    Ok((streams, pumps, all))
}

/// Whether nothing may stand in for a missing path, so that it can only be watched.
fn is_absent(manifest: &Manifest, path: &Utf8Path) -> bool {
    manifest.protected.iter().any(|entry| entry.presence == Presence::Absent && entry.path == path)
}

/// Moves away what came to stand where nothing may, so that no program takes it for what its name says.
fn quarantine(path: &Utf8Path) -> Option<(Violation, Note)> {
    path.symlink_metadata().ok()?;
    let moved = (0..100).map(|attempt| format!("{path}.quarantined-{attempt}")).find(|place| {
        rustix::fs::renameat_with(CWD, path.as_str(), CWD, place.as_str(), RenameFlags::NOREPLACE).is_ok()
    });
    let (message, help) = match &moved {
        Some(place) => (
            format!(
                "violation: protected path `{path}` was made while the command ran; it was moved to `{place}`"
            ),
            "look at it, and delete it".to_owned(),
        ),
        None => (
            format!(
                "violation: protected path `{path}` was made while the command ran, and could not be moved away"
            ),
            "delete it before any other program reads it".to_owned(),
        ),
    };
    let violation = Violation::Made { path: path.to_path_buf(), moved_to: moved.map(Utf8PathBuf::from) };
    Some((violation, Note { message, help: Some(help) }))
}

/// Paths cannot be opened as walls need it (openat2(2)).
pub fn no_path_resolution(error: &io::Error) -> Refusal {
    kernel::no_path_resolution(&kernel::code(error), &Causes::read()).into()
}

fn namespaces(network: Network) -> u64 {
    use namespace::{CGROUP, IPC, MOUNT, NET, PID, USER, UTS};
    let net = if network == Network::Off { NET } else { 0 };
    USER | MOUNT | PID | IPC | UTS | CGROUP | net
}

/// What stands for a path below it is as closed as the path.
fn extended(rules: &[Rule], stand_ins: &[StandIn]) -> Vec<Rule> {
    let decider = Decider::new(rules, Spelling::Exact);
    let above = stand_ins.iter().filter(|stand_in| stand_in.path != stand_in.stands_for);
    let closed = above.map(|stand_in| {
        let readable = decider.decide(Operation::Read, &stand_in.stands_for).allowed;
        Rule {
            effect: Effect::Deny,
            operations: if readable { Operations::WRITING } else { Operations::ALL },
            scope: Scope::Subtree,
            path: stand_in.path.clone(),
            origin: Origin {
                kind: OriginKind::Pin,
                text: format!("stands for `{}`", stand_in.stands_for),
                span: None,
            },
        }
    });
    rules.iter().cloned().chain(closed).collect()
}

fn lay_out(manifest: &Manifest, rules: &[Rule], held: &[StandIn]) -> Result<Layout, Refusal> {
    let refusal = RefCell::new(None);
    let near = RefCell::new(Near::default());
    let held: HashSet<&str> = held.iter().map(|held| held.path.as_str()).collect();
    let links = manifest.links.iter().map(|link| link.link.clone());
    let layout = layout::plan(&Decider::new(rules, Spelling::Exact), links, &|path| {
        kind(path, &mut near.borrow_mut(), &held).unwrap_or_else(|error| {
            refusal.borrow_mut().get_or_insert(error);
            Kind::Missing
        })
    });
    refusal.into_inner().map_or(Ok(layout), Err)
}

/// What stands at a path of this machine. What the user may not look at is as good as missing: the command may not either. Placeholders
/// of other runs are taken for missing unless they are `held` by this one: they go when those runs end.
fn kind(path: &Utf8Path, near: &mut Near, held: &HashSet<&str>) -> Result<Kind, Refusal> {
    let unexamined = |error| Refusal::Unexamined { path: path.to_path_buf(), error };
    let mode = match near.look(path) {
        Ok(stat) => stat.st_mode,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(Kind::Missing),
        Err(error) => return Err(unexamined(error.into())),
    };
    Ok(match FileType::from_raw_mode(mode) {
        FileType::Directory if looks_like_one(path, mode) && !held.contains(path.as_str()) => Kind::Missing,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink(path.read_link_utf8().map_err(unexamined)?),
        FileType::CharacterDevice => Kind::CharacterDevice,
        _ => Kind::File,
    })
}

fn settings(manifest: &Manifest, layout: &Layout) -> Result<Settings, Refusal> {
    let pid_max = pid_max(manifest.limits.processes, layout)?;
    Ok(Settings { scratch_bytes: manifest.limits.temporary_space_bytes, pid_max })
}

/// The `kernel.pid_max` that holds a limit on processes, where nothing else does.
fn pid_max(limit: Option<u64>, layout: &Layout) -> Result<Option<u64>, Advice> {
    // The kernel does not count root's processes (RLIMIT_NPROC, getrlimit(2)); the numbers of a pid namespace run out for everybody.
    let Some(limit) = limit.filter(|_| geteuid().is_root()) else { return Ok(None) };
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    if !kernel::has_own_pid_max(&release) || !layout.has_proc() {
        return Err(kernel::no_process_limit());
    }
    Ok(Some(RESERVED_PIDS + 2 + limit.min(MOST_PROCESSES)))
}

fn outcome(end: End, command: &Command, absent: &[Utf8PathBuf]) -> Result<Outcome, Refusal> {
    Ok(match end {
        End::Command(ended) => Outcome::of(ended),
        End::Killed(Kill::Lost(error)) => Outcome::lost(error.into()),
        End::Failed(failure) if failure.stage == Stage::Exec => not_started(&failure, command),
        End::Failed(failure) => return Err(kernel::explain(&failure, &Causes::read())),
        End::Killed(Kill::Time(limit)) => Outcome::over_time(limit),
        End::Killed(Kill::Output(limit)) => Outcome::over_output(limit),
        End::Killed(Kill::Replaced(path)) => {
            // Where nothing may stand it is said, with where it was moved to, by whoever looks after such paths.
            let note = (!absent.contains(&path)).then(|| Note {
                message: format!("violation: protected path `{path}` was replaced on the host while the command ran"),
                help: Some(
                    "the command was ended, but may have seen the old or the new file: change such files between runs".into(),
                ),
            });
            let mut outcome = Outcome::of(Ended::Killed(libc::SIGKILL));
            outcome.violated(Violation::Replaced(path), note);
            outcome
        }
    })
}

fn not_started(failure: &Failure, command: &Command) -> Outcome {
    match failure.errno {
        libc::ENOENT => Outcome::not_started(command, 127, "not found"),
        errno => Outcome::not_started(command, 126, &io::Error::from_raw_os_error(errno).to_string()),
    }
}
