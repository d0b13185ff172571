//! The part that only a Mac can do: starting sandbox-exec(1) and the gateway, and asking the kernel about processes.

use super::super::gateway::{Gateway, Orders, fill_streams, kept, serve};
use super::super::inspection::Inspection;
use super::super::network;
use super::super::pump::Pumps;
use super::super::trust::{self, Roots, Trust};
use super::super::{Command, Connections, Ended, Observed, Outcome, Refusal, Seatbelt};
use super::gateway::{Proxy, WALLS};
use super::limits::User;
use super::scratch::Scratch;
use super::supervise::{Running, watch_over};
use super::sweep::{Processes, sweep};
use super::{artifact, invocation, limits, outcome, program, scratch};
use crate::manifest::{Manifest, Network};
use crate::network::listen::Doors;
use crate::network::record::Summary;
use crate::plan::{Decider, Rule, Spelling};
use crate::sys::macos::{self, Signals};
use crate::sys::usage_of_children;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, FdFlags};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, getrlimit, getuid, kill_process, kill_process_group,
    setsid, waitid,
};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

/// How long a killed process is given to go away before it is looked for again.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the scratch may be: the user's own temporary directory, else the one of all.
const SHARED_TEMPORARY: &str = "/private/tmp";

/// Runs a command whose manifest was checked already.
///
/// # Errors
/// Where a wall cannot be built. Nothing was run then.
pub fn run(
    manifest: &Manifest,
    seatbelt: Seatbelt<'_>,
    command: &Command,
    rules: &[Rule],
    connections: Connections,
    masked: Vec<(String, String)>,
) -> Result<Outcome, Refusal> {
    let profile = artifact::read(manifest, seatbelt)?;
    let mut prepared = command.prepare(manifest)?;
    prepared.set(masked);
    let decider = Decider::new(rules, Spelling::Folded);
    let program = match program::choose(&prepared.programs, &manifest.working_directory, &decider) {
        Ok(program) => program,
        Err(failure) => return Ok(Outcome::not_started(command, failure.code, failure.reason)),
    };
    super::super::hardlinks::check(manifest)?;
    // Before the user's processes are counted, of which it is one.
    let inspects = connections.inspection.is_some();
    let carrier = carrier(manifest, connections)?;
    let proxy = carrier.as_ref().map(|carrier| carrier.proxy.address);
    if let Some(address) = proxy {
        prepared.add_missing(network::environment(address));
        prepared.add_missing(vec![network::java(address)]);
    }
    let user = User { root: getuid().is_root(), processes: macos::processes_of(getuid().as_raw()) };
    let resources = limits::resources(&manifest.limits, user, |resource| getrlimit(resource).maximum)?;
    let candidates = macos::user_temporary_directory().into_iter().chain([PathBuf::from(SHARED_TEMPORARY)]);
    let place = scratch::place(candidates, &manifest.roots)?;
    let scratch =
        Scratch::make(&place, &profile).map_err(Refusal::system(format!("cannot write to `{place}`")))?;
    let mut warnings = Vec::new();
    if let (Some(carrier), true) = (&carrier, inspects) {
        // After the gateway was forked: no process may be, without another program, that has asked the keychain.
        let (own, roots) = carrier
            .gateway
            .exchange(Roots::read)
            .map_err(Refusal::system("cannot start what reads connections"))?;
        let directory = scratch
            .put(|directory| Trust::new(&own, &roots.certificates).files(directory))
            .map_err(Refusal::system(format!("cannot write to `{place}`")))?;
        trust::name_in(&mut prepared.environment, directory.as_str(), |name| {
            manifest.environment.set.contains_key(name)
        });
        warnings = roots.warnings;
    }

    let signals = Signals::block(&[Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT])
        .map_err(Refusal::system("cannot wait for signals"))?;
    macos::close_on_exec_from(3)
        .map_err(Refusal::system("cannot close what the command must not inherit"))?;
    let mut start = std::process::Command::new(invocation::SANDBOX_EXEC);
    start
        .args(invocation::arguments(
            &scratch,
            &manifest.parameters_of_seatbelt,
            proxy.map(|address| address.port()),
            &program,
            &prepared.arguments,
        ))
        .env_clear()
        .envs(invocation::environment(prepared.environment, &scratch))
        .current_dir(&manifest.working_directory);
    let mut pumps = match manifest.limits.output_bytes {
        None => Pumps::default(),
        Some(limit) => {
            let pipe = || pipe().map_err(Refusal::system("cannot make a pipe"));
            let ((output, to_output), (errors, to_errors)) = (pipe()?, pipe()?);
            start.stdout(Stdio::from(to_output)).stderr(Stdio::from(to_errors));
            let mut pumps = Pumps::new(Some(limit));
            for (from, to) in [(output, rustix::stdio::stdout()), (errors, rustix::stdio::stderr())] {
                let to = rustix::io::fcntl_dupfd_cloexec(to, 3);
                let to =
                    to.map_err(|error| Refusal::system("cannot pass standard streams on")(error.into()))?;
                pumps.add(from, to);
            }
            pumps
        }
    };
    macos::prepare_child(&mut start, resources, &signals);
    let child =
        start.spawn().map_err(Refusal::system(format!("cannot run `{}`", invocation::SANDBOX_EXEC)))?;
    // Our copies of the child's ends, so that the pipes close with it.
    drop(start);
    let mut sandbox = Sandbox { child, signals, scratch, launcher: None, swept: Ok(Vec::new()) };
    let time = manifest.limits.time_ms.map(Duration::from_millis);
    let waited = watch_over(&mut sandbox, &mut pumps, time);
    let outcome = sandbox.conclude(waited)?;
    let connections = carrier.map(Carrier::finish);
    let lost = matches!(connections, Some(None));
    let observed = Observed {
        usage: usage_of_children(),
        output_bytes: manifest.limits.output_bytes.map(|_| pumps.passed()),
        reached: Vec::new(),
        said: pumps.heard().to_vec(),
        network: connections.flatten(),
    };
    let mut outcome = outcome.concluded(&manifest.limits, observed);
    if lost {
        outcome.gateway_lost();
    }
    outcome.notes.extend(warnings);
    Ok(outcome)
}

/// What carries the connections of a command that may reach some hosts.
struct Carrier {
    gateway: Gateway,
    /// Kept to the end, so that nobody else comes to listen at its port should the gateway end early.
    proxy: Proxy,
    /// That this end is closed ends the gateway, whatever ended this process.
    leash: OwnedFd,
}

impl Carrier {
    /// What the gateway knows in the end.
    fn finish(self) -> Option<Summary> {
        let Self { gateway, proxy, leash } = self;
        drop(leash);
        let summary = gateway.finish();
        drop(proxy);
        summary
    }
}

/// Starts what carries connections, where there are hosts to connect to.
fn carrier(manifest: &Manifest, connections: Connections) -> Result<Option<Carrier>, Refusal> {
    if manifest.network != Network::Only {
        return Ok(None);
    }
    let Connections { rules, log, inspection } = connections;
    let orders = Orders { rules, log, run: std::process::id().to_string(), inspector: None };
    let failed = || Refusal::system("cannot start what carries connections");
    let proxy = Proxy::open().map_err(failed())?;
    let doors = proxy.doors().map_err(failed())?;
    let (inside, leash) = io::pipe().map_err(failed())?;
    let (inside, leash) = (OwnedFd::from(inside), OwnedFd::from(leash));
    let gateway = Gateway::start(|tell| life(orders, inspection, doors, &inside, tell)).map_err(failed())?;
    Ok(Some(Carrier { gateway, proxy, leash }))
}

/// The life of the gateway.
fn life(
    mut orders: Orders,
    inspection: Option<Inspection>,
    doors: Doors,
    inside: &OwnedFd,
    tell: OwnedFd,
) -> io::Result<()> {
    // Away from the terminal's signals: it ends when the command does.
    setsid()?;
    if let Some(inspection) = inspection {
        orders.inspect(inspection, &tell)?;
    }
    macos::close_all_but(&kept(&orders, &[doors.proxy.as_fd(), inside.as_fd(), tell.as_fd()]))?;
    fill_streams()?;
    macos::enter_sandbox(WALLS)?;
    serve(orders, doors, inside, tell)
}

/// A pipe whose ends close on exec. Nothing else runs in this process that could fork in between.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe()?;
    for end in [&read, &write] {
        rustix::io::fcntl_setfd(end, FdFlags::CLOEXEC)?;
    }
    Ok((read, write))
}

/// A running command.
struct Sandbox {
    child: Child,
    signals: Signals,
    scratch: Scratch,
    /// Whether the process was still sandbox-exec when it ended.
    launcher: Option<bool>,
    swept: io::Result<Vec<i32>>,
}

impl Sandbox {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Tidies up and says how it ended.
    fn conclude(mut self, waited: Result<super::supervise::End, Errno>) -> Result<Outcome, Refusal> {
        // Only now its number may become another's.
        let _ = self.child.wait();
        let removed = self.scratch.remove();
        let end = waited.map_err(|error| Refusal::system("cannot wait for the sandbox")(error.into()))?;
        let mut outcome = outcome::outcome(end, self.launcher)?;
        match self.swept {
            Ok(left) if left.is_empty() => {}
            Ok(left) => outcome::left_running(&mut outcome, &left),
            Err(error) => outcome::not_swept(&mut outcome, &error),
        }
        if let Err((path, error)) = removed {
            outcome::left_behind(&mut outcome, &path, &error);
        }
        Ok(outcome)
    }
}

impl Running for Sandbox {
    fn events(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    fn signals(&mut self) -> Vec<i32> {
        std::iter::from_fn(|| self.signals.next())
            .filter(|signal| *signal != Signal::CHILD.as_raw())
            .collect()
    }

    fn ended(&mut self) -> Result<Option<Ended>, Errno> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = match waitid(WaitId::Pid(self.pid()), options) {
            Err(Errno::INTR) => return Ok(None),
            status => status?,
        };
        let ended = status.as_ref().and_then(ending);
        if ended.is_some() {
            let name = macos::command_name(self.pid().as_raw_pid());
            let launcher = std::path::Path::new(invocation::SANDBOX_EXEC).file_name();
            self.launcher = name.map(|name| Some(name.as_os_str()) == launcher);
        }
        Ok(ended)
    }

    fn pass(&self, signal: i32) -> bool {
        Signal::from_named_raw(signal).is_some_and(|signal| kill_process_group(self.pid(), signal).is_ok())
    }

    fn kill(&self) {
        // There may be nobody left in it.
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    fn sweep(&mut self) {
        let (path, sentinel) = (self.scratch.path().as_str(), self.scratch.sentinel());
        self.swept = sweep(&Machine { scratch: &self.scratch }, path, &sentinel);
    }
}

fn ending(status: &WaitIdStatus) -> Option<Ended> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Ended::Exited(code)),
        (None, Some(signal)) => Some(Ended::Killed(signal)),
        (None, None) => None,
    }
}

/// All processes of this machine.
struct Machine<'a> {
    scratch: &'a Scratch,
}

impl Processes for Machine<'_> {
    fn all(&self) -> io::Result<Vec<i32>> {
        macos::all_processes()
    }

    fn may_read(&self, process: i32, path: &str) -> Option<bool> {
        macos::may_read(process, path)
    }

    fn kill(&self, process: i32) {
        if let Some(pid) = Pid::from_raw(process) {
            // It may have gone.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn restore(&self) -> io::Result<()> {
        self.scratch.restore()
    }

    fn pause(&self) {
        std::thread::sleep(PAUSE);
    }
}
