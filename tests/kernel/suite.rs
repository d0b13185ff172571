//! Cases until enough has been asked, as each user that the test can be.

use crate::case::{Outcome, run};
use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use std::sync::LazyLock;

const NOBODY: u32 = 65534;

/// Questions that each user asks in an ordinary run.
const ENOUGH: usize = 6_000;

pub struct Programs {
    pub palisade: Utf8PathBuf,
    /// This test's own binary.
    pub agent: Utf8PathBuf,
    /// A file of the host's where commands have a directory of their own.
    pub private: Utf8PathBuf,
}

/// Where every user can run them, and out of every tree. A static is never dropped: [`main`] removes them.
pub static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let directory = tempfile::Builder::new().prefix("palisade-agent-").tempdir_in("/var/tmp").unwrap().keep();
    let place = Utf8PathBuf::from_path_buf(directory).unwrap();
    open_up(&place);
    let put = |name: &str, from: &std::path::Path| {
        fs::copy(from, place.join(name)).unwrap();
        open_up(&place.join(name));
        place.join(name)
    };
    let agent = put("agent", &std::env::current_exe().unwrap());
    let private = tempfile::Builder::new().prefix("palisade-private-").tempfile_in("/tmp").unwrap();
    let (_, private) = private.keep().unwrap();
    let private = Utf8PathBuf::from_path_buf(private).unwrap();
    fs::write(&private, "the host's").unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o666)).unwrap();
    Programs { private, palisade: put("palisade", env!("CARGO_BIN_EXE_palisade").as_ref()), agent }
});

fn open_up(path: &Utf8Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes a directory one that `uid` owns and everybody may see into.
pub fn give(path: &Utf8Path, uid: u32) {
    open_up(path);
    std::os::unix::fs::chown(path, Some(uid), Some(uid)).unwrap();
}

pub fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--agent") {
        crate::agent::run();
        return ExitCode::SUCCESS;
    }
    let me = rustix::process::geteuid().as_raw();
    let users = if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] };
    let trials = users
        .into_iter()
        .map(|(uid, user)| {
            Trial::test(format!("the kernel does what why says, as {user}"), move || agree(uid))
        })
        .collect();
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let conclusion = libtest_mimic::run(&arguments, trials);
    fs::remove_file(&PROGRAMS.private).unwrap();
    fs::remove_dir_all(PROGRAMS.agent.parent().unwrap()).unwrap();
    conclusion.exit_code()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

fn agree(uid: u32) -> Result<(), Failed> {
    if let Some(case) = number("PALISADE_CASE") {
        return match run(case, uid) {
            Outcome::Disagreed(text) => Err(text.into()),
            _ => Ok(()),
        };
    }
    let enough = number("PALISADE_LONG").map_or(ENOUGH, |long| long as usize);
    let (mut asked, mut allowed, mut unsound, mut cases) = (0, 0, 0, 0);
    let mut disagreements = Vec::new();
    while asked < enough && disagreements.len() < 5 {
        cases += 1;
        match run(cases, uid) {
            Outcome::Unsound => unsound += 1,
            Outcome::Agreed { asked: more, allowed: yes } => {
                asked += more;
                allowed += yes;
            }
            Outcome::Disagreed(text) => disagreements.push(text),
        }
    }
    println!(
        "as {uid}: {asked} questions in {cases} cases, {unsound} of them unsound; {allowed} answered yes"
    );
    if !disagreements.is_empty() {
        return Err(disagreements.join("\n\n").into());
    }
    // A test that only ever hears no shows nothing.
    if allowed * 10 < asked || unsound * 2 > cases {
        return Err(format!("{allowed} of {asked} were allowed, {unsound} of {cases} cases unsound").into());
    }
    Ok(())
}
