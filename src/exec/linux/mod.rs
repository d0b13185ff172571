//! In: a manifest and a command, on Linux. Out: the command's end, after it ran in namespaces of its own, behind mounts that come from
//! the decision function, Landlock and a system call filter.

pub mod apart;
mod attend;
mod build;
mod confine;
mod doors;
mod files;
mod filesystems;
mod gateway;
mod init;
mod journal;
mod kernel;
pub mod layout;
mod link;
mod netlink;
mod placeholders;
mod quarantine;
mod report;
mod seccomp;
mod sockets;
mod supervise;
mod terminal;
mod watch;

use super::causes::Causes;
use super::gateway::{Gateway, Orders};
use super::near::Near;
use super::pump::Pumps;
use super::trust::{self, Roots, Trust};
use super::{Command, Connections, Ended, Note, Observed, Outcome, Refusal, Seatbelt, Violation};
use crate::host::placeholder::is_one;
use crate::manifest::{Manifest, Network};
use crate::plan::{
    Decider, Effect, Operation, Operations, Origin, OriginKind, Presence, Rule, Scope, Spelling,
};
use crate::sys::linux::{Forked, NOTIFIED, Signals, clone, default_disposition, is_ignored, namespace};
use build::Settings;
use camino::{Utf8Path, Utf8PathBuf};
use files::{TRUST, own_files, trusted};
use init::{Init, Streams};
use kernel::Advice;
use layout::{Kind, Layout};
use link::Link;
use placeholders::{Left, Placeholders, StandIn};
use quarantine::{Missing, Place, Planted, planted};
use report::{Failure, Stage};
use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::stdio::{stderr, stdout};
use rustix::termios::isatty;
use sockets::Sockets;
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
    connections: Connections,
    masked: Vec<(String, String)>,
) -> Result<Outcome, Refusal> {
    let mut prepared = command.prepare(manifest)?;
    prepared.set(masked);
    if manifest.network == Network::Only {
        let ports = doors::ports(&connections.rules);
        prepared.add_missing(super::network::environment(doors::proxy(&ports)));
    }
    let open_files = confine::raise_open_files();
    // From here on a signal is read when there is time for it: placeholders must be removed, and the watch tells by a signal too.
    default_disposition(libc::SIGCHLD);
    default_disposition(NOTIFIED);
    let own = [libc::SIGCONT, libc::SIGWINCH, NOTIFIED];
    let passed = PASSED_ON.into_iter().filter(|signal| !is_ignored(*signal));
    let signals = Signals::block(&passed.chain(own).collect::<Vec<_>>())
        .map_err(Refusal::system("cannot block signals"))?;
    if let Some((state, root)) = journal::state_in_root(manifest) {
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
    // Where this user may not look, the kernel tells of nothing; what is made there shows in the end.
    let in_sight = placeholders.unheld.iter().filter(|path| is_readable(path.parent()));
    let watched: Vec<Utf8PathBuf> = absent.iter().chain(in_sight).cloned().collect();
    let unheld = placeholders.unheld.iter().map(|path| Absent::new(path, Place::Below));
    let absent: Vec<Absent> =
        absent.iter().map(|path| Absent::new(path, Place::Beside)).chain(unheld).collect();
    let is_open = |path: &&Utf8PathBuf| !absent.iter().any(|absent| absent.path == **path);
    if let Some(path) = layout.exposed.iter().find(is_open) {
        let error = io::Error::from_raw_os_error(libc::EEXIST);
        return Err(Refusal::Placeholder { path: path.clone(), error });
    }
    let restricting = layout.steps.iter().filter(|step| step.restricts && !step.path.starts_with("/proc"));
    let watch = Watch::new(restricting.map(|step| step.path.clone()).chain(watched))?;
    // Only now, so that what happens from here on is seen by the watch.
    super::hardlinks::check(manifest)?;
    super::mounts::check(manifest, rules)?;
    let mut settings = settings(manifest, &layout, &placeholders.stand_ins)?;
    let inspects = connections.inspection.is_some();
    let gateway = gateway(manifest, connections)?;
    let (gateway, to_gateway) =
        gateway.map_or((None, None), |(gateway, ports, to)| (Some(gateway), Some((to, ports))));
    let mut warnings = Vec::new();
    if let (Some(gateway), true) = (&gateway, inspects) {
        let (own, roots) =
            gateway.exchange(Roots::read).map_err(Refusal::system("cannot start what reads connections"))?;
        let trust = Trust::new(&own, &roots.certificates);
        settings.own.extend(trusted(&trust, rules));
        trust::name_in(&mut prepared.environment, TRUST, |name| manifest.environment.set.contains_key(name));
        warnings = roots.warnings;
    }

    let (report, tell) = report::pipe().map_err(Refusal::system("cannot make a pipe"))?;
    let (link, inside) = Link::pair().map_err(Refusal::system("cannot make a socket"))?;
    let outer = Outer::interactive();
    let (streams, pumps, all) = streams(manifest.limits.output_bytes, outer.is_some())
        .map_err(Refusal::system("cannot pass standard streams on"))?;
    let init = Init {
        layout: &layout,
        settings,
        limits: manifest.limits,
        open_files,
        network: manifest.network,
        unix: !manifest.unix.is_empty(),
        gateway: to_gateway,
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
    let Forked::Parent { pid, pidfd } = forked else {
        // Only the supervisor has these ends: that they close is how pid 1 knows of its end.
        drop((report, link));
        placeholders.leave_to_others();
        init.run(uid, gid)
    };
    // Our copies of the child's ends, so that the pipes close with it.
    drop(init);
    let mut sandbox = Sandbox::new(pid, pidfd, report, link, signals, watch);
    if let Some(limit) = manifest.limits.time_ms {
        sandbox.time_limit(Duration::from_millis(limit));
    }
    sandbox.pass_on(pumps);
    if !manifest.unix.is_empty() {
        sandbox.connects(Sockets::of(manifest, rules));
    }
    // Without a terminal of its own the command may leave this one in any mode when it is killed.
    // In the background its modes are those of the shell, which looks after them itself.
    let lent = if outer.is_none() { Outer::any().filter(Outer::is_in_front) } else { None };
    if let Some(outer) = outer {
        sandbox.at(outer);
    }
    let (end, observed) =
        sandbox.wait().map_err(|error| Refusal::system("cannot wait for the sandbox")(error.into()))?;
    if let (Some(mut lent), true) = (lent, end.was_killed()) {
        lent.restore();
    }
    let connections = gateway.map(Gateway::finish);
    let lost = matches!(connections, Some(None));
    let observed = Observed {
        output_bytes: observed.output_bytes.filter(|_| all),
        network: connections.flatten(),
        ..observed
    };
    let mut outcome = outcome(end, command, &absent)?.concluded(&manifest.limits, observed);
    if lost {
        outcome.gateway_lost();
    }
    outcome.notes.extend(warnings);
    for absent in &absent {
        if let Some(planted) = absent.planted() {
            let (violation, note) = planted.quarantine(absent.place, "look at it, and delete it");
            outcome.violated(violation, Some(note));
        }
    }
    let stand_ins = placeholders.stand_ins.clone();
    for left in placeholders.remove() {
        conclude(&mut outcome, &stand_ins, left);
    }
    Ok(outcome)
}

/// Tells of what is there in the end where a placeholder stood, and moves away what may not be.
fn conclude(outcome: &mut Outcome, stand_ins: &[StandIn], left: Left) {
    match left {
        Left::Filled(path) => outcome.notes.push(Note {
            message: format!(
                "`{path}` was made on the host while the command ran, which could not see it; it was kept"
            ),
            help: Some(
                "run `palisade compile` again, so that the rules are those of what is there now".into(),
            ),
        }),
        Left::Stays(path, error) => outcome.notes.push(Note {
            message: format!(
                "the empty directory `{path}`, which stood for a missing path, could not be removed: {error}"
            ),
            help: Some("remove it with rmdir".into()),
        }),
        Left::Another(place, directory) => {
            for planted in planted(stand_ins, &place, directory) {
                let help = "look at it, and delete the directory that has its name now: what kept the place was removed on the host, and the command could write there until it was ended";
                let (violation, note) = planted.quarantine(Place::Below, help);
                outcome.violated(violation, Some(note));
            }
        }
    }
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

/// A path where nothing stands, and nothing can be made to stand for it.
struct Absent {
    path: Utf8PathBuf,
    /// Where it goes if it is made.
    place: Place,
    /// Where it would be made, whatever that is called by then: in another directory that came in its place the command had no part.
    missing: Option<Missing>,
}

impl Absent {
    fn new(path: &Utf8Path, place: Place) -> Self {
        Self { path: path.to_path_buf(), place, missing: Missing::new(path) }
    }

    fn planted(&self) -> Option<Planted> {
        self.missing.as_ref().and_then(Missing::planted)
    }
}

fn is_readable(directory: Option<&Utf8Path>) -> bool {
    directory.is_some_and(|directory| std::fs::read_dir(directory).is_ok())
}

/// Paths cannot be opened as walls need it (openat2(2)).
pub fn no_path_resolution(error: &io::Error) -> Refusal {
    kernel::no_path_resolution(&kernel::code(error), &Causes::read()).into()
}

fn namespaces(network: Network) -> u64 {
    use namespace::{CGROUP, IPC, MOUNT, NET, PID, USER, UTS};
    let net = if network == Network::All { 0 } else { NET };
    USER | MOUNT | PID | IPC | UTS | CGROUP | net
}

/// What stands for a path below it is as closed as the path, but for one thing: where a denied path is missing, the empty directory
/// that is seen in its place can be listed. It holds nothing, and whoever walks the tree (`grep -r`, `find`, a test runner) would
/// stumble over one that cannot.
fn extended(rules: &[Rule], stand_ins: &[StandIn]) -> Vec<Rule> {
    let decider = Decider::new(rules, Spelling::Exact);
    let mut all = rules.to_vec();
    for StandIn { path, stands_for } in stand_ins {
        let readable = decider.decide(Operation::Read, stands_for).allowed;
        let mut add = |effect, operations, scope| {
            let origin =
                Origin { kind: OriginKind::Pin, text: format!("stands for `{stands_for}`"), span: None };
            all.push(Rule { effect, operations, scope, path: path.clone(), origin });
        };
        if path != stands_for {
            let closed = if readable { Operations::WRITING } else { Operations::ALL };
            add(Effect::Deny, closed, Scope::Subtree);
        }
        if !readable {
            add(Effect::Allow, Operations::READING, Scope::Literal);
        }
    }
    all
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
        FileType::Directory if is_one(path, mode) && !held.contains(path.as_str()) => Kind::Missing,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink(path.read_link_utf8().map_err(unexamined)?),
        FileType::CharacterDevice => Kind::CharacterDevice,
        _ => Kind::File,
    })
}

/// Starts what carries connections, where there are hosts to connect to; with the ports at which they are taken, and what pid 1 is to keep.
fn gateway(
    manifest: &Manifest,
    connections: Connections,
) -> Result<Option<(Gateway, Vec<u16>, OwnedFd)>, Refusal> {
    if manifest.network != Network::Only {
        return Ok(None);
    }
    let Connections { rules, log, inspection } = connections;
    let ports = doors::ports(&rules);
    if ports.len() > doors::MOST_PORTS {
        return Err(Refusal::Manifest(format!("it names more than {} ports", doors::MOST_PORTS)));
    }
    let run = format!("{}", std::process::id());
    let (gateway, to) = gateway::start(Orders { rules, log, run, inspector: None }, inspection)
        .map_err(Refusal::system("cannot start what carries connections"))?;
    Ok(Some((gateway, ports, to)))
}

fn settings(manifest: &Manifest, layout: &Layout, stand_ins: &[StandIn]) -> Result<Settings, Refusal> {
    let pid_max = pid_max(manifest.limits.processes, layout)?;
    let scratch_bytes = manifest.limits.temporary_space_bytes;
    let own = own_files(manifest.network);
    Ok(Settings { scratch_bytes, pid_max, left: ignored_by_git(manifest, stand_ins), own })
}

/// The file of patterns that git reads where no configuration names one (gitignore(5)), with the directories that stand for missing
/// paths. They cannot be removed, so that `git clean` and `git stash --include-untracked` would fail at them.
fn ignored_by_git(manifest: &Manifest, stand_ins: &[StandIn]) -> Option<(Utf8PathBuf, String)> {
    let place = Utf8Path::new(manifest.environment.set.get("XDG_CONFIG_HOME")?).join("git/ignore");
    let mut patterns = std::collections::BTreeSet::new();
    for root in &manifest.roots {
        for below in stand_ins.iter().filter_map(|stand_in| stand_in.path.strip_prefix(&root.path).ok()) {
            if below.as_str().is_empty() || below.as_str().contains('\n') {
                continue;
            }
            let mut pattern = String::from("/");
            for letter in below.as_str().chars() {
                if matches!(letter, '\\' | '*' | '?' | '[') {
                    pattern.push('\\');
                }
                pattern.push(letter);
            }
            patterns.insert(pattern + "/\n");
        }
    }
    (!patterns.is_empty()).then(|| (place, patterns.into_iter().collect()))
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

fn outcome(end: End, command: &Command, absent: &[Absent]) -> Result<Outcome, Refusal> {
    Ok(match end {
        End::Command(ended) => Outcome::of(ended),
        End::Vanished(ended) => Outcome::vanished(ended),
        End::Killed(Kill::Lost(error)) => Outcome::lost(error.into()),
        End::Failed(failure) if failure.stage == Stage::Exec => not_started(&failure, command),
        End::Failed(failure) => return Err(kernel::explain(&failure, &Causes::read())),
        End::Killed(Kill::Time(limit)) => Outcome::over_time(limit),
        End::Killed(Kill::Output(limit)) => Outcome::over_output(limit),
        End::Killed(Kill::Replaced(path)) => {
            // Where nothing may stand it is said, with where it was moved to, by whoever looks after such paths.
            let told = absent.iter().any(|absent| absent.path == path && absent.planted().is_some());
            let note = (!told).then(|| Note {
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
