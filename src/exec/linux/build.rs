//! Performs a layout: a new root of tmpfs, binds and masks, entered with pivot_root(2). Runs in the new namespaces.
//!
//! The new root is mounted over `/` without being entered, so absolute paths still name the host while it is built. Sources are opened
//! without following any symlink, targets beneath the new root only; mounts are moved onto open descriptors.

use super::super::near::{holds, parts};
use super::filesystems::{DIRECTORY_MASK, FILE_MASK, OwnFile, devpts, leave, masks, mount_of, own, tmpfs};
use super::layout::{Bound, Layout, Mount, Step};
use super::report::{Failure, Stage, Staged};
use crate::bind::system::linux::HIDDEN_IN_PROC;
use crate::sys::linux::{attribute, mount_setattr};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, fstat, mkdirat, mknodat, openat, openat2,
    statx, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, move_mount, open_tree, unmount,
};

/// What the layout does not say.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Bytes that each private directory may hold; `None` leaves the kernel's default, half of the memory (tmpfs(5)).
    pub scratch_bytes: Option<u64>,
    /// `kernel.pid_max` of the new pid namespace; only where that is a setting of the namespace (Linux 6.14).
    pub pid_max: Option<u64>,
    /// A file to put into a private directory, by its absolute path, and its text.
    pub left: Option<(Utf8PathBuf, String)>,
    pub own: Vec<OwnFile>,
}

/// What others need of the new root.
#[derive(Debug, Default)]
pub struct Built {
    /// The instance of `devpts` in it, where there is one.
    pub terminals: Option<OwnedFd>,
    /// Its private directories, where their space is limited.
    pub spaces: Vec<OwnedFd>,
}

/// Builds the root and enters it.
pub fn build(layout: &Layout, settings: Settings) -> Result<Built, Failure> {
    let umask = rustix::process::umask(Mode::empty());
    let (top, masks) = first_mounts(layout.listed)?;
    let own = own(&settings.own).at(Stage::Mount, "own files")?;
    let mut builder = Builder {
        top,
        settings,
        masks,
        covers: Vec::new(),
        built: Built::default(),
        foreign: None,
        near: None,
        own,
    };
    for step in &layout.steps {
        builder.perform(step)?;
    }
    builder.put_own()?;
    for cover in &builder.covers {
        mount_setattr(cover, attribute::RDONLY, false).at(Stage::Mount, "cover")?;
    }
    let built = std::mem::take(&mut builder.built);
    builder.enter()?;
    rustix::process::umask(umask);
    Ok(built)
}

/// The new root, over `/`, and what masks are made of. Whether anything can be mounted at all shows here.
pub fn first_mounts(listed: bool) -> Result<(OwnedFd, OwnedFd), Failure> {
    let top = tmpfs(if listed { "755" } else { "111" }, None).at(Stage::FirstMount, "tmpfs")?;
    let masks = masks().at(Stage::FirstMount, "tmpfs")?;
    // Masks are cloned from a place in the host's tree, which goes away as a whole. It may not be the root itself: what is mounted
    // there would be taken off in the root's stead.
    for (mount, place) in [(&masks, "/proc"), (&top, "/")] {
        let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(mount, "", CWD, place, onto).at(Stage::FirstMount, place)?;
    }
    Ok((top, masks))
}

struct Builder {
    top: OwnedFd,
    settings: Settings,
    /// Holds [`FILE_MASK`] and [`DIRECTORY_MASK`].
    masks: OwnedFd,
    covers: Vec<OwnedFd>,
    built: Built,
    /// The last thing of the host, or of the kernel, that was mounted in a directory of ours. What lies below it can change at any time.
    foreign: Option<Utf8PathBuf>,
    /// A directory of the new root that was looked up last, by its path.
    near: Option<(String, OwnedFd)>,
    /// Holds our own files, by their number.
    own: Option<OwnedFd>,
}

impl Builder {
    fn perform(&mut self, step: &Step) -> Result<(), Failure> {
        let path = step.path.as_path();
        if self.near.as_ref().is_some_and(|(near, _)| holds(path, near.as_str().into())) {
            self.near = None;
        }
        if !self.is_ours(path) {
            // Still below it.
        } else if matches!(step.mount, Mount::Bind { .. } | Mount::Proc) {
            self.foreign = Some(path.to_path_buf());
        } else {
            self.foreign = None;
        }
        match &step.mount {
            Mount::Directory { listed } => {
                let mode = Mode::from_bits_truncate(if *listed { 0o755 } else { 0o111 });
                self.make(path, |parent, name| mkdirat(parent, name, mode))
            }
            Mount::Symlink { target } => {
                self.make(path, |parent, name| symlinkat(target.as_str(), parent, name))
            }
            Mount::Bind { kind, write, run } => {
                let tree = clone_of(path, *kind)?;
                let mut attributes = attribute::NOSUID | attribute::NODEV;
                if !write {
                    attributes |= attribute::RDONLY;
                }
                if !run {
                    attributes |= attribute::NOEXEC;
                }
                let recursive = *kind == Bound::Directory;
                mount_setattr(&tree, attributes, recursive).at(Stage::Mount, path)?;
                self.attach(step, &tree, *kind == Bound::Directory)
            }
            Mount::Device { .. } => {
                // Data still passes through a read-only mount of a device; its owner and mode do not change.
                let tree = clone_of(path, Bound::File)?;
                let attributes = attribute::NOSUID | attribute::NOEXEC | attribute::RDONLY;
                mount_setattr(&tree, attributes, false).at(Stage::Mount, path)?;
                self.attach(step, &tree, false)
            }
            Mount::Cover { listed } => {
                let cover = tmpfs(if *listed { "755" } else { "111" }, None).at(Stage::Mount, path)?;
                self.attach(step, &cover, true)?;
                self.covers.push(cover);
                Ok(())
            }
            Mount::Scratch => {
                let tmp = tmpfs("1777", self.settings.scratch_bytes).at(Stage::Mount, path)?;
                self.attach(step, &tmp, true)?;
                if let Some((file, text)) = &self.settings.left
                    && let Ok(below) = file.strip_prefix(path)
                {
                    // Where there is no space for it, the command is better off with what there is.
                    let _ = leave(&tmp, below, text.as_bytes());
                }
                if self.settings.scratch_bytes.is_some() {
                    self.built.spaces.push(tmp);
                }
                Ok(())
            }
            // Hidden with `proc` itself, whatever the rules say; processes of others by how that is mounted.
            Mount::Mask { .. } if is_hidden_in_proc(path) => Ok(()),
            Mount::Mask { directory } => self.mask(step, *directory),
            Mount::Proc => {
                let proc = self.proc()?;
                self.attach(step, &proc, true)?;
                self.hide_in_proc(path)
            }
            Mount::Terminals => {
                let pts = devpts().at(Stage::Mount, path)?;
                self.attach(step, &pts, true)?;
                self.built.terminals = Some(pts);
                Ok(())
            }
        }
    }

    /// Moves a mount to its place, which is made first where it lies in a tmpfs of ours.
    fn attach(&mut self, step: &Step, mount: &OwnedFd, directory: bool) -> Result<(), Failure> {
        let path = step.path.as_path();
        if step.create {
            self.make(path, |parent, name| {
                if directory {
                    mkdirat(parent, name, Mode::from_bits_truncate(0o755))
                } else {
                    mknodat(parent, name, FileType::RegularFile, Mode::empty(), 0)
                }
            })?;
        }
        if self.is_ours(path) {
            let from = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
            return move_mount(mount, "", &self.top, relative(path), from).at(Stage::Mount, path);
        }
        let target = self.target(path).at(Stage::Target, path)?;
        put(mount, &target).at(Stage::Mount, path)
    }

    /// Whether everything on the way to a path was made here, so that no symlink can be there.
    fn is_ours(&self, path: &Utf8Path) -> bool {
        !self.foreign.as_ref().is_some_and(|foreign| path != foreign && holds(foreign, path))
    }

    fn mask(&mut self, step: &Step, directory: bool) -> Result<(), Failure> {
        let path = step.path.as_path();
        if step.create {
            let mask = self.clone_of_mask(directory).at(Stage::Mount, path)?;
            return self.attach(step, &mask, directory);
        }
        let target = match self.target(path) {
            // A file of `proc` that this kernel lacks.
            Err(Errno::NOENT) if holds("/proc".into(), path) => return Ok(()),
            target => target.at(Stage::Target, path)?,
        };
        let found = is_directory(&target).at(Stage::Target, path)?;
        if found != directory && !holds("/proc".into(), path) {
            return Err(Failure::new(Stage::Changed, Errno::NOTDIR, path));
        }
        let mask = self.clone_of_mask(found).at(Stage::Mount, path)?;
        put(&mask, &target).at(Stage::Mount, path)
    }

    fn clone_of_mask(&self, directory: bool) -> rustix::io::Result<OwnedFd> {
        let name = if directory { DIRECTORY_MASK } else { FILE_MASK };
        open_tree(&self.masks, name, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)
    }

    /// A fresh `proc`, with the settings that only hold for the new namespaces, then read-only. It shows only processes that could be traced: from
    /// root the other ways of hiding keep nothing (`gid` of proc(5)), and what this program was called with may lead to secrets.
    fn proc(&self) -> Result<OwnedFd, Failure> {
        let proc = mount_of("proc", &[("hidepid", "ptraceable")], MountAttrFlags::MOUNT_ATTR_NODEV)
            .at(Stage::Proc, "/proc")?;
        let write = |name: &str, value: &str| {
            let file = openat(&proc, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            rustix::io::write(&file, value.as_bytes()).map(|_| ())
        };
        write("sys/user/max_user_namespaces", "0").at(Stage::Setting, "user.max_user_namespaces")?;
        if let Some(pid_max) = self.settings.pid_max {
            write("sys/kernel/pid_max", &pid_max.to_string()).at(Stage::Setting, "kernel.pid_max")?;
        }
        mount_setattr(&proc, attribute::RDONLY, false).at(Stage::Proc, "/proc")?;
        Ok(proc)
    }

    fn hide_in_proc(&mut self, proc: &Utf8Path) -> Result<(), Failure> {
        for name in HIDDEN_IN_PROC {
            let path = proc.join(name);
            let step = Step { path, mount: Mount::Mask { directory: false }, create: false, restricts: true };
            self.mask(&step, false)?;
        }
        Ok(())
    }

    /// Puts our own files over those of this machine, or where they would be.
    fn put_own(&mut self) -> Result<(), Failure> {
        let Some(own) = self.own.take() else { return Ok(()) };
        self.near = None;
        let paths: Vec<Utf8PathBuf> = self.settings.own.iter().map(|file| file.place.clone()).collect();
        for (number, path) in paths.iter().enumerate() {
            let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let file = open_tree(&own, number.to_string(), clone).at(Stage::Mount, path)?;
            let target = match self.target(path) {
                Err(Errno::NOENT) => {
                    self.make_top(path)?;
                    self.make(path, |parent, name| {
                        mknodat(parent, name, FileType::RegularFile, Mode::RUSR, 0)
                    })?;
                    self.target(path)
                }
                target => target,
            };
            put(&file, target.at(Stage::Target, path)?).at(Stage::Mount, path)?;
        }
        Ok(())
    }

    /// Makes the directory of a file of our own, where that is one of the new root itself.
    fn make_top(&mut self, path: &Utf8Path) -> Result<(), Failure> {
        let Some(directory) = path.parent().filter(|directory| directory.parent() == Some("/".into())) else {
            return Ok(());
        };
        match mkdirat(&self.top, relative(directory), Mode::from_bits_truncate(0o755)) {
            Err(Errno::EXIST) => Ok(()),
            made => made.at(Stage::Target, directory),
        }
    }

    /// Opens a path of the new root, following no symlink and leaving it by no other way. Many lie in the same directory, which is
    /// looked up once: what lies in it is mounted after it, and nothing is mounted on it any more.
    fn target(&mut self, path: &Utf8Path) -> rustix::io::Result<OwnedFd> {
        let Some((directory, name)) = parts(path) else { return self.beneath(&self.top, relative(path)) };
        if self.near.as_ref().is_none_or(|(near, _)| near != directory) {
            self.near = Some((directory.to_owned(), self.beneath(&self.top, relative(directory.into()))?));
        }
        match &self.near {
            Some((_, near)) => self.beneath(near, name),
            None => Err(Errno::NOENT),
        }
    }

    fn beneath(&self, directory: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat2(directory, path, flags, Mode::empty(), resolve)
    }

    fn make(
        &mut self,
        path: &Utf8Path,
        make: impl FnOnce(BorrowedFd<'_>, &str) -> rustix::io::Result<()>,
    ) -> Result<(), Failure> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Failure::new(Stage::Target, Errno::INVAL, path));
        };
        let made = if self.is_ours(path) {
            make(self.top.as_fd(), relative(path))
        } else {
            self.target(parent).and_then(|parent| make(parent.as_fd(), name))
        };
        made.at(Stage::Target, path)
    }

    /// Makes the new root the only one.
    fn enter(self) -> Result<(), Failure> {
        rustix::process::fchdir(&self.top).at(Stage::Pivot, "fchdir")?;
        // The old root lands on top of the new one and is taken off at once (pivot_root(2)).
        rustix::process::pivot_root(".", ".").at(Stage::Pivot, "pivot_root")?;
        unmount(".", UnmountFlags::DETACH).at(Stage::Pivot, "umount")?;
        rustix::process::chdir("/").at(Stage::Pivot, "chdir")?;
        // A mount that was left on top of the root would be met by whoever climbs to it.
        if mount_id(CWD, "/..")? != mount_id(&self.top, "")? {
            return Err(Failure::new(Stage::Pivot, Errno::BUSY, "/"));
        }
        mount_setattr(&self.top, attribute::RDONLY, false).at(Stage::Pivot, "/")
    }
}

fn is_hidden_in_proc(path: &Utf8Path) -> bool {
    let name = path.strip_prefix("/proc").map(Utf8Path::as_str);
    name.is_ok_and(|name| HIDDEN_IN_PROC.contains(&name) || name == "1")
}

/// The number of the mount that a path is on.
fn mount_id(directory: impl AsFd, path: &str) -> Result<u64, Failure> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT;
    let found = statx(directory, path, flags, StatxFlags::MNT_ID).at(Stage::Pivot, path)?;
    Ok(found.stx_mnt_id)
}

/// A detached clone of what stands at a path of the host.
fn clone_of(path: &Utf8Path, kind: Bound) -> Result<OwnedFd, Failure> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = match openat2(CWD, path.as_str(), flags, Mode::empty(), resolve) {
        Err(error @ (Errno::LOOP | Errno::NOENT | Errno::NOTDIR)) => {
            return Err(Failure::new(Stage::Changed, error, path));
        }
        found => found.at(Stage::Source, path)?,
    };
    let file_type = FileType::from_raw_mode(fstat(&found).at(Stage::Source, path)?.st_mode);
    let actual = match file_type {
        FileType::Directory => Bound::Directory,
        FileType::Symlink => Bound::Symlink,
        _ => Bound::File,
    };
    if actual != kind {
        return Err(Failure::new(Stage::Changed, Errno::NOTDIR, path));
    }
    let mut flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    if kind == Bound::Directory {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    open_tree(&found, "", flags).at(Stage::Source, path)
}

/// As a path beneath the new root.
fn relative(path: &Utf8Path) -> &str {
    match path.as_str().trim_start_matches('/') {
        "" => ".",
        relative => relative,
    }
}

fn put(mount: &OwnedFd, target: impl AsFd) -> rustix::io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", target, "", flags)
}

fn is_directory(fd: &OwnedFd) -> rustix::io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode) == FileType::Directory)
}
