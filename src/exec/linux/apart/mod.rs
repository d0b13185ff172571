//! Each wall by itself, built in a child by the code that a run builds it with, and then leant against. For `palisade doctor`.

mod child;

use super::super::Refusal;
use super::super::causes::Causes;
use super::build::{self, Settings, build};
use super::init::map_user;
use super::kernel::{self, Advice};
use super::layout::{Bound, Layout, Mount, Step};
use super::report::{Failure, Stage, Staged};
use super::watch::Watch;
use super::{confine, journal, pid_max, placeholders};
use crate::manifest::{Limits, Network};
use crate::sys::exit_now;
use crate::sys::linux::{
    Forked, NOTIFIED, Signals, clone, default_disposition, fork, landlock_version, namespace,
};
use camino::Utf8Path;
use child::{PATIENCE, Trouble, Where, child};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatVfsMountFlags, mkdir, open, openat2, statvfs};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{WaitOptions, getegid, geteuid, waitpid};
use rustix::thread::{capabilities, set_no_new_privs};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// More processes than are left to root by the lowest `pid_max` that a run sets.
const MANY: usize = 512;

/// A wall that is not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What was called and the kernel's own error.
    pub error: String,
    /// What to do, as `exec` says it.
    pub help: String,
    pub how: How,
}

/// In which way a wall is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The kernel refused it.
    Refused,
    /// The kernel took it, and it does not hold.
    Broken,
    /// No process could be started that would have tried, which says nothing of the wall.
    Untried,
}

type Tried = Result<(), Missing>;

/// A namespace beside that of users, which all rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Pid,
    Network,
    Ipc,
    Uts,
    Cgroup,
}

/// Tries walls. Each try takes place in a child, which has ended when it returns.
#[derive(Debug)]
pub struct Apart {
    causes: Causes,
    uid: u32,
    gid: u32,
}

impl Apart {
    /// The calling process must have one thread.
    pub fn new() -> Self {
        default_disposition(libc::SIGCHLD);
        Self { causes: Causes::read(), uid: geteuid().as_raw(), gid: getegid().as_raw() }
    }

    pub fn causes(&self) -> &Causes {
        &self.causes
    }

    /// A user namespace with this user's map, and a mount inside: each can be refused where the one before was given.
    pub fn user_namespace(&self) -> Tried {
        let spaces = namespace::USER | namespace::MOUNT;
        self.attempt(Where::Namespaces(spaces), || {
            self.enter()?;
            build::first_mounts(true).map(drop)
        })
    }

    pub fn namespace(&self, space: Space) -> Tried {
        let (flag, name) = match space {
            Space::Pid => (namespace::PID, "pid"),
            Space::Network => (namespace::NET, "net"),
            Space::Ipc => (namespace::IPC, "ipc"),
            Space::Uts => (namespace::UTS, "uts"),
            Space::Cgroup => (namespace::CGROUP, "cgroup"),
        };
        let file = format!("/proc/self/ns/{name}");
        let outside = std::fs::read_link(&file).ok();
        self.attempt(Where::Namespaces(namespace::USER | flag), || {
            self.enter()?;
            let inside = std::fs::read_link(&file).ok();
            held(inside.is_none() || inside != outside, &format!("{file} is the same inside and outside"))
        })
    }

    /// Opening paths without following a symlink on the way, which every mount rests on.
    pub fn path_resolution(&self) -> Tried {
        self.attempt(Where::Child, || {
            let open = |path| {
                let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
                openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
            };
            open("/").at(Stage::Resolution, "/")?;
            // A link of every Linux.
            let followed = open("/proc/self/stat");
            held(followed.err() == Some(Errno::LOOP), "a symlink was followed where none may be")
        })
    }

    /// Detached mounts with attributes, moved into a new root, which is entered.
    pub fn mounts(&self) -> Tried {
        let bind = Mount::Bind { kind: Bound::Directory, write: false, run: false };
        let layout = layout([
            ("/usr", bind),
            ("/cover", Mount::Cover { listed: true }),
            ("/mask", Mount::Mask { directory: true }),
            ("/scratch", Mount::Scratch),
        ]);
        self.built(layout, None, || {
            let flags = statvfs("/usr").at(Stage::Mount, "/usr")?.f_flag;
            let closed = StatVfsMountFlags::RDONLY | StatVfsMountFlags::NOEXEC;
            held(flags.contains(closed), "a bind that was made read-only and noexec is not")?;
            for place in ["/", "/cover"] {
                let made = mkdir(format!("{place}/x"), Mode::RWXU);
                held(made == Err(Errno::ROFS), &format!("`{place}`, made read-only, can be written"))?;
            }
            mkdir("/scratch/x", Mode::RWXU).at(Stage::Mount, "/scratch/x")?;
            confine::drop_privileges()?;
            held(std::fs::read_dir("/mask").is_err(), "a masked directory can be read")
        })
    }

    /// A fresh /proc, which shows the new pid namespace only.
    pub fn proc(&self) -> Tried {
        self.built(layout([("/proc", Mount::Proc)]), None, || {
            let own = std::fs::read_link("/proc/self").at(Stage::Proc, "/proc/self")?;
            held(own.as_os_str() == "1", "a fresh /proc shows another pid namespace")
        })
    }

    /// No namespace of users inside the new one: what is to come after `max_user_namespaces` is 0.
    pub fn no_nested_namespaces(&self) -> Tried {
        self.built(layout([("/proc", Mount::Proc)]), None, || {
            held(another_namespace().is_err(), "another user namespace could be made inside")
        })
    }

    /// A limit on processes that holds for this user.
    pub fn process_limit(&self) -> Tried {
        const LIMIT: u64 = 8;
        let layout = layout([("/proc", Mount::Proc)]);
        let pid_max = pid_max(Some(LIMIT), &layout).map_err(|Advice { help, .. }| {
            let release = rustix::system::uname().release().to_string_lossy().into_owned();
            let error = format!("Linux {release}: kernel.pid_max is the host's, so not tried");
            Missing { error, help, how: How::Refused }
        })?;
        self.built(layout, pid_max, || {
            confine::limit(&Limits { processes: Some(LIMIT), ..Limits::default() }, None)?;
            for _ in 0..MANY {
                match fork() {
                    Ok(Some(_)) => {}
                    // Ends with the first process of its namespace.
                    Ok(None) => loop {
                        std::thread::park();
                    },
                    Err(_) => return Ok(()),
                }
            }
            held(false, &format!("{MANY} processes could be started against a limit of {LIMIT}"))
        })
    }

    /// Terminals of its own.
    pub fn terminals(&self) -> Tried {
        self.built(layout([("/pts", Mount::Terminals)]), None, || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            open("/pts/ptmx", flags, Mode::empty()).map(drop).at(Stage::Mount, "/pts/ptmx")
        })
    }

    /// No capabilities, for good.
    pub fn privileges(&self) -> Tried {
        self.attempt(Where::Namespaces(namespace::USER), || {
            self.enter()?;
            confine::drop_privileges()?;
            let sets = capabilities(None).at(Stage::Privileges, "capabilities")?;
            held((sets.effective | sets.permitted | sets.inheritable).is_empty(), "capabilities are left")
        })
    }

    /// Landlock's version, where its wall holds.
    ///
    /// # Errors
    /// Where it does not.
    pub fn landlock(&self) -> Result<u32, Missing> {
        // Devices that swallow or give anything: nobody is hurt by the try without walls.
        let writable = ["/dev/full", "/dev/zero"].into_iter().find(|path| opens(path));
        self.attempt(Where::Child, || {
            set_no_new_privs(true).at(Stage::Privileges, "no_new_privs")?;
            confine::restrict_files(&Layout::default(), Network::Off, None)?;
            held(!writable.is_some_and(opens), "what Landlock was not told to allow can be written")
        })?;
        Ok(landlock_version().unwrap_or(0))
    }

    /// The system call filter.
    pub fn filter(&self) -> Tried {
        let socket = || socket(AddressFamily::UNIX, SocketType::STREAM, None);
        self.attempt(Where::Child, || {
            set_no_new_privs(true).at(Stage::Privileges, "no_new_privs")?;
            confine::filter(Network::Off)?;
            held(socket().err() == Some(Errno::PERM), "a call that it forbids was made")
        })
    }

    /// Being told of changes: in a directory of this user's, and in a mount table.
    pub fn watch(&self, directory: Option<&Utf8Path>) -> Tried {
        let watched = self.attempt(Where::Child, || {
            let signals = Signals::block(&[NOTIFIED]).at(Stage::Streams, "signals")?;
            let Some(directory) = directory else {
                return watch("/palisade".into()).map(drop);
            };
            let path = directory.join("changed");
            let _watch = watch(&path)?;
            mkdir(path.as_str(), Mode::RWXU).at(Stage::Target, path.as_str())?;
            let told = signals.next() == Some(NOTIFIED);
            let _ = std::fs::remove_dir(&path);
            held(told, "a watched directory changed and nothing was told")
        });
        watched.map_err(|missing| missing.help(WATCH))
    }

    /// Being told of changes in a mount table, as of a protected path that was replaced.
    pub fn mount_table(&self) -> Tried {
        self.attempt(Where::Namespaces(namespace::USER | namespace::MOUNT), || {
            self.enter()?;
            let mounts = File::open("/proc/self/mountinfo").at(Stage::Source, "/proc/self/mountinfo")?;
            build::first_mounts(true)?;
            let mut events = [PollFd::new(&mounts, PollFlags::PRI)];
            poll(&mut events, Some(&PATIENCE)).at(Stage::Streams, "poll")?;
            let told = events.iter().any(|event| event.revents().contains(PollFlags::PRI));
            held(told, "a mount table changed and nothing was told")
        })
    }

    /// A directory that stands where a protected path is missing, in a directory of this user's.
    pub fn placeholder(&self, directory: &Utf8Path) -> Tried {
        let path = directory.join("placeholder");
        let made =
            self.attempt(Where::Child, || placeholders::try_at(&path).at(Stage::Target, path.as_str()));
        made.map_err(|missing| missing.help(PLACEHOLDER))
    }

    /// Where runs keep their records.
    ///
    /// # Errors
    /// The directory, if any is named, and why nothing can be written there.
    pub fn state(&self) -> Result<PathBuf, (Option<PathBuf>, String)> {
        journal::try_out().map_err(|(place, error)| (place, kernel::code(&error)))
    }

    /// The child's side of a user namespace: this user, mapped.
    fn enter(&self) -> Result<(), Failure> {
        map_user(self.uid, self.gid)
    }

    /// Builds a layout in all namespaces that it needs, and leans against it inside.
    fn built(
        &self,
        layout: Layout,
        pid_max: Option<u64>,
        lean: impl FnOnce() -> Result<(), Failure>,
    ) -> Tried {
        let spaces = namespace::USER | namespace::MOUNT | namespace::PID;
        self.attempt(Where::Namespaces(spaces), || {
            self.enter()?;
            build(&layout, Settings { pid_max, ..Settings::default() })?;
            lean()
        })
    }

    fn attempt(&self, place: Where, part: impl FnOnce() -> Result<(), Failure>) -> Tried {
        child(place, part).map_err(|trouble| {
            let (error, help) = match &trouble {
                Trouble::Start(call, error) => {
                    let advice = kernel::clone_refused(error, &self.causes);
                    (format!("{call}: {}", kernel::code(error)), advice.help)
                }
                Trouble::Setup(failure) => {
                    (kernel::what_failed(failure), kernel::setup_failed(failure, &self.causes).help)
                }
                Trouble::Ended(how) => (
                    format!("the process that tried it {how}"),
                    "a system call filter that kills, or a limit of this session, ended it".to_owned(),
                ),
            };
            // That there are no namespaces is what was asked.
            let how = match (place, &trouble) {
                (Where::Child, Trouble::Start(..)) => How::Untried,
                (_, Trouble::Setup(Failure { stage: Stage::Held, .. })) => How::Broken,
                _ => How::Refused,
            };
            Missing { error, help, how }
        })
    }
}

impl Default for Apart {
    fn default() -> Self {
        Self::new()
    }
}

impl Missing {
    /// Says what to do about what was tried.
    fn help(self, help: &str) -> Self {
        if self.how == How::Refused { Self { help: help.to_owned(), ..self } } else { self }
    }
}

const WATCH: &str = "set `fs.dir-notify-enable` to 1; the kernel must be built with CONFIG_DNOTIFY";

const PLACEHOLDER: &str =
    "keep roots on a file system where an empty directory can be made, locked and removed";

/// Makes a user namespace in this one, if it can be.
fn another_namespace() -> io::Result<()> {
    match clone(namespace::USER)? {
        Forked::Child => exit_now(0),
        Forked::Parent { pid, .. } => {
            waitpid(Some(pid), WaitOptions::empty()).map(drop).map_err(io::Error::from)
        }
    }
}

fn watch(path: &Utf8Path) -> Result<Watch, Failure> {
    Watch::new(std::iter::once(path.to_path_buf())).map_err(|refusal| match refusal {
        Refusal::Watch { path, error } => Failure::new(Stage::Watch, error, path),
        other => Failure { stage: Stage::Held, errno: 0, subject: other.to_string() },
    })
}

/// A root of these mounts.
fn layout<const N: usize>(mounts: [(&str, Mount); N]) -> Layout {
    let step =
        |(path, mount): (&str, Mount)| Step { path: path.into(), mount, create: true, restricts: false };
    Layout { steps: mounts.into_iter().map(step).collect(), listed: true, ..Layout::default() }
}

fn held(holds: bool, else_said: &str) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure { stage: Stage::Held, errno: 0, subject: else_said.to_owned() }) }
}

fn opens(path: &str) -> bool {
    open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).is_ok()
}
