//! The list of all scenarios, each for every user that the suite can be, on the near side of the cable.

use crate::book::Seen;
use crate::near::{apart, beyond};
use crate::{client, inspected, masked, names, scenarios, streams, world};
use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Arguments, Trial};
use rustix::mount::mount_bind;
use rustix::process::{Signal, geteuid, kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use tempfile::TempDir;

/// Outside the temporary directories that commands get for their own.
const PLACE: &str = "/var/tmp";
/// Somebody who is not root.
const NOBODY: u32 = 65534;

pub struct Scenario {
    pub name: &'static str,
    pub run: fn(&World),
}

/// What a scenario finds: a workspace of its user's, and what arrives beyond.
pub struct World {
    pub base: Utf8PathBuf,
    pub uid: u32,
    pub seen: Seen,
    palisade: Utf8PathBuf,
    pub client: Utf8PathBuf,
    /// The certificate of the authority that vouches for the servers beyond.
    pub authority: Utf8PathBuf,
}

/// How a run ended and what it printed.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, flag, rest @ ..] = words.as_slice()
        && flag == "--ask"
    {
        client::ask(&rest.iter().map(String::as_str).collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    if arguments.list {
        return libtest_mimic::run(&arguments, trials("", "", "")).exit_code();
    }
    // What arrives beyond is of one scenario at a time.
    arguments.test_threads = Some(1);
    let directory = tempfile::Builder::new().prefix("palisade-network-").tempdir_in(PLACE).unwrap();
    let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
    fs::set_permissions(&top, fs::Permissions::from_mode(0o755)).unwrap();
    if let Err(error) = apart() {
        eprintln!("THE NETWORK WALL CANNOT BE TESTED HERE: no namespaces for this user: {error}");
        return ExitCode::FAILURE;
    }
    surroundings(&top);
    let beyond = beyond(&top, world::serve);
    let copy = |from: &std::path::Path, name: &str| {
        fs::hard_link(from, top.join(name)).or_else(|_| fs::copy(from, top.join(name)).map(drop)).unwrap();
        top.join(name)
    };
    let palisade = copy(env!("CARGO_BIN_EXE_palisade").as_ref(), "palisade");
    let client = copy(&std::env::current_exe().unwrap(), "client");
    let conclusion = libtest_mimic::run(&arguments, trials(top.as_str(), palisade.as_str(), client.as_str()));
    kill_process(beyond, Signal::KILL).unwrap();
    drop(directory);
    conclusion.exit_code()
}

/// What this machine looks names up by, in place of what it has.
fn surroundings(top: &Utf8Path) {
    let etc = top.join("etc");
    fs::create_dir(&etc).unwrap();
    for name in ["ld.so.cache", "ld.so.conf"] {
        let _ = fs::copy(format!("/etc/{name}"), etc.join(name));
    }
    let resolver = format!("nameserver {}\noptions timeout:2 attempts:1\n", names::ADDRESS);
    for (name, text) in [
        ("resolv.conf", resolver.as_str()),
        ("nsswitch.conf", "passwd: files\nhosts: files dns\n"),
        ("hosts", "127.0.0.1 localhost\n"),
        ("passwd", "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"),
        ("group", "root:x:0:\nnogroup:x:65534:\n"),
    ] {
        fs::write(etc.join(name), text).unwrap();
    }
    let certificates = etc.join("ssl/certs");
    fs::create_dir_all(&certificates).unwrap();
    fs::write(certificates.join("ca-certificates.crt"), masked::authority("this machine")).unwrap();
    mount_bind(etc.as_str(), "/etc").unwrap();
}

fn trials(top: &str, palisade: &str, client: &str) -> Vec<Trial> {
    let me = geteuid().as_raw();
    let users = if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] };
    let mut trials = Vec::new();
    for (uid, user) in users {
        for scenario in scenarios::SCENARIOS
            .iter()
            .chain(masked::SCENARIOS)
            .chain(inspected::SCENARIOS)
            .chain(streams::SCENARIOS)
        {
            let (top, palisade, client) = (top.to_owned(), palisade.into(), client.into());
            trials.push(Trial::test(format!("{} as {user}", scenario.name), move || {
                let directory = prepare(&top, uid);
                let base = Utf8PathBuf::from_path_buf(directory.path().to_path_buf()).unwrap();
                let seen = Seen(format!("{top}/book").into());
                seen.forget();
                let authority = format!("{top}/{}", world::AUTHORITY).into();
                (scenario.run)(&World { base, uid, seen, palisade, client, authority });
                Ok(())
            }));
        }
    }
    trials
}

fn prepare(top: &str, uid: u32) -> TempDir {
    let directory = tempfile::Builder::new().prefix("run-").tempdir_in(top).unwrap();
    for name in ["", "project", "home", "state"] {
        let path = directory.path().join(name);
        fs::create_dir_all(&path).unwrap();
        chown(path, Some(uid), Some(uid)).unwrap();
    }
    directory
}

impl World {
    pub fn path(&self, relative: &str) -> Utf8PathBuf {
        self.base.join(relative)
    }

    /// The program in the workspace, as the scenario's user, with nothing of the suite's own surroundings.
    pub fn palisade(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.palisade);
        command.args(arguments).env_clear().current_dir(self.path("project")).stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        if geteuid().as_raw() != self.uid {
            command.uid(self.uid).gid(self.uid);
        }
        command
    }

    /// Compiles a profile with this network.
    #[track_caller]
    pub fn compiled(&self, network: &str) {
        let text = format!(
            "edition 1\nprofile \"agent\" {{\n root \"$workspace\" read-write\n tool \"{}\"\n network {network}\n}}\n",
            self.client
        );
        fs::write(self.path("agent.palisade"), text).unwrap();
        let ran: Ran = self.palisade(&["compile", "../agent.palisade"]).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// A command that asks from behind the walls.
    pub fn asking(&self, options: &[&str], words: &[&str]) -> Command {
        let mut arguments = vec!["exec"];
        arguments.extend(options);
        arguments.extend(["../agent.manifest.yaml", "--", self.client.as_str(), "--ask"]);
        arguments.extend(words);
        self.palisade(&arguments)
    }

    pub fn ask(&self, words: &[&str]) -> Ran {
        let ran: Ran = self.asking(&[], words).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        ran
    }

    /// What came back.
    pub fn answer(&self, words: &[&str]) -> String {
        self.ask(words).out.trim_end().to_owned()
    }
}
