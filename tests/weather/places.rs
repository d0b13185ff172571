//! Roots on other file systems than a disk, in mounts of the suite's own.

use crate::raw;
use crate::suite::Scenario;
use crate::world::{PROFILE, World};
use camino::Utf8Path;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use std::ffi::CString;
use std::fs;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a root on tmpfs",
        run: |world| {
            own_mounts();
            tmpfs(&world.path("project"), "");
            world.populate();
            walls_hold(world);
        },
    },
    Scenario {
        name: "a root on overlayfs whose layers are on one file system",
        run: |world| {
            own_mounts();
            if overlay(world) {
                walls_hold(world);
            }
        },
    },
    Scenario {
        name: "a root on overlayfs whose layers are on different file systems",
        run: |world| {
            own_mounts();
            fs::create_dir(world.path("layers")).unwrap();
            tmpfs(&world.path("layers"), "");
            if overlay(world) {
                walls_hold(world);
            }
        },
    },
    Scenario {
        name: "a root with another file system mounted in it",
        run: |world| {
            own_mounts();
            tmpfs(&world.path("project/keys"), "");
            tmpfs(&world.path("project/src"), "");
            world.populate();
            walls_hold(world);
        },
    },
];

/// Into mounts that nobody else has, where this user may do what root may.
pub fn own_mounts() {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    raw::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).unwrap();
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).unwrap();
    fs::write("/proc/self/setgroups", "deny").unwrap();
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).unwrap();
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
}

/// Mounts a tmpfs with these options (tmpfs(5)).
pub fn tmpfs(place: &Utf8Path, options: &str) {
    let options = CString::new(options).unwrap();
    mount("tmpfs", place.as_str(), "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
}

/// Mounts an overlay over the project, whose files become the lower layer; `false` where this kernel does not let this user.
fn overlay(world: &World) -> bool {
    for layer in ["upper", "work"] {
        fs::create_dir_all(world.path("layers").join(layer)).unwrap();
    }
    fs::rename(world.path("project"), world.path("lower")).unwrap();
    fs::create_dir(world.path("project")).unwrap();
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        world.path("lower"),
        world.path("layers/upper"),
        world.path("layers/work")
    );
    let options = CString::new(options).unwrap();
    let mounted =
        mount("overlay", world.path("project").as_str(), "overlay", MountFlags::empty(), options.as_c_str());
    if let Err(error) = mounted {
        world.cannot(&format!("overlayfs in a user namespace: {error}"));
        return false;
    }
    true
}

/// What is granted works, what is denied does not, and nothing is left over.
#[track_caller]
fn walls_hold(world: &World) {
    world.compiled(PROFILE);
    world.exec(":").ended(0);
    let before = world.before();
    for (line, works) in [
        ("read line < src/main.c && read line < vendor/lib.c", true),
        // Where there are layers, each of these copies something up: a file, a directory that is pinned, and one that is not.
        ("echo x >> src/main.c", true),
        ("echo x > src/new", true),
        ("echo x > not.there", true),
        ("read line < .env", false),
        ("echo x > .env", false),
        ("read line < keys/deep/id", false),
        ("echo x > keys/new", false),
        ("echo x > vendor/lib.c", false),
        ("echo x > not/yet", false),
        ("echo x > .vscode/tasks.json", false),
    ] {
        let ran = world.exec(line);
        assert_eq!(ran.code == Some(0), works, "{line}: {ran:?}");
        assert_ne!(ran.code, Some(125), "{line}: {ran:?}");
    }
    assert_eq!(world.read("project/src/main.c"), "int main;\nx\n");
    world.write("project/src/main.c", "int main;\n");
    fs::remove_file(world.path("project/src/new")).unwrap();
    fs::remove_file(world.path("project/not.there")).unwrap();
    let tree = |world: &World| {
        let walk = walkdir::WalkDir::new(world.path("project")).sort_by_file_name();
        walk.into_iter().map(|entry| entry.unwrap().into_path()).collect::<Vec<_>>()
    };
    let now = tree(world);
    assert!(now.iter().all(|path| before.knows(path)), "{now:?}");
    // On the host, a protected path is replaced while a command runs.
    let child = world.started("echo x > mark; while :; do :; done");
    world.write("project/env.new", "new secret\n");
    fs::rename(world.path("project/env.new"), world.path("project/.env")).unwrap();
    let ran = crate::world::finished(child);
    ran.ended(125);
    assert!(ran.err.contains("was replaced on the host while the command ran"), "{ran:?}");
    fs::remove_file(world.path("project/mark")).unwrap();
    assert_eq!(tree(world), now);
    world.nobody_left();
}
