//! How long `palisade exec` takes to start and end a command that does nothing, beside bubblewrap with the same mounts.
//!
//! Both are run in turn, so that what else happens on the machine hits both, and the ratio of the medians is what counts.
//! Without `bwrap` on the machine there is nothing to compare with. A world with 1000 denied files shows what each of them costs.

#[cfg(target_os = "linux")]
#[allow(dead_code)]
#[path = "../tests/exec/world.rs"]
mod world;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use crate::world::World;
    use camino::Utf8Path;
    use palisade::plan::{Operation, Presence, Protection, Rule};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    const ROUNDS: usize = 200;

    pub fn main() {
        let me = rustix::process::geteuid().as_raw();
        let world = World::new(me);
        let line = "exit 0";
        let mut ours = world.palisade(&["-c", line]);
        let mut bare = Command::new(&world.manifest.shell);
        bare.args(["-c", line]);
        let crowd = crowded(me, 1000);
        let mut crowded = crowd.palisade(&["-c", line]);
        let mut theirs = bubblewrap(&world, line);
        let mut commands: Vec<(&str, &mut Command)> =
            vec![("bare", &mut bare), ("1000 denied", &mut crowded), ("palisade exec", &mut ours)];
        let present = theirs.output().is_ok_and(|output| output.status.success());
        if present {
            commands.push(("bwrap", &mut theirs));
        } else {
            println!("no usable bwrap on this machine");
        }
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); commands.len()];
        for _ in 0..ROUNDS {
            for ((name, command), times) in commands.iter_mut().zip(&mut times) {
                command.stdin(Stdio::null()).stdout(Stdio::null());
                let start = Instant::now();
                let status = command.status().expect("the command can be started");
                times.push(start.elapsed());
                assert!(status.success(), "{name}: {status}");
            }
        }
        let medians: Vec<Duration> = times.iter_mut().map(|times| median(times)).collect();
        for ((name, _), median) in commands.iter().zip(&medians) {
            println!("{name:>15}: {median:?}");
        }
        if let [_, _, ours, theirs] = medians.as_slice() {
            println!("palisade exec / bwrap: {:.2}", ours.as_secs_f64() / theirs.as_secs_f64());
        }
        crate::world::remove_programs();
    }

    fn median(times: &mut [Duration]) -> Duration {
        times.sort_unstable();
        times[times.len() / 2]
    }

    /// A world with many denied files more.
    fn crowded(uid: u32, files: usize) -> World {
        let mut world = World::new(uid);
        for number in 0..files {
            let path = world.place.rw(&format!("{number}.pem"));
            std::fs::write(&path, "key").expect("a new file");
            std::os::unix::fs::chown(&path, Some(uid), None).expect("one's own file");
            world.protect(&path, Protection::Denied, Presence::File);
        }
        world
    }

    /// The same walls as far as bubblewrap has them: it knows no `noexec`, no pins, no Landlock, and gets no filter.
    fn bubblewrap(world: &World, line: &str) -> Command {
        let rules: Vec<Rule> =
            world.manifest.rules.iter().map(|rule| rule.clone().try_into().expect("a sound rule")).collect();
        let decider = palisade::plan::Decider::new(&rules, palisade::plan::Spelling::Exact);
        let mut paths: Vec<&Utf8Path> = rules.iter().map(|rule| rule.path.as_path()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut bwrap = Command::new("bwrap");
        bwrap.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
        for path in paths {
            let own = decider.allowed(path);
            let below = decider.allowed_below(path);
            let text = path.as_str();
            if path == "/proc" {
                bwrap.args(["--proc", text]);
            } else if path == "/tmp" {
                bwrap.args(["--tmpfs", text]);
            } else if let Ok(target) = path.read_link_utf8() {
                if !text.starts_with("/dev") {
                    bwrap.args(["--symlink", target.as_str(), text]);
                }
            } else if text.starts_with("/dev/") {
                bwrap.args(["--dev-bind", text, text]);
            } else if !own.contains(Operation::Read) {
                match path.is_dir() {
                    true => bwrap.args(["--tmpfs", text, "--remount-ro", text]),
                    false => bwrap.args(["--ro-bind", "/dev/null", text]),
                };
            } else if path.is_dir() && (!below.contains(Operation::Read) || is_passage(path))
                || !path.exists()
            {
                bwrap.args(["--dir", text]);
            } else {
                let write = if path.is_dir() { below } else { own }.contains(Operation::Create);
                bwrap.args([if write { "--bind" } else { "--ro-bind" }, text, text]);
            }
        }
        bwrap.args(["--chdir", world.manifest.working_directory.as_str()]);
        bwrap.args([world.manifest.shell.as_str(), "-c", line]);
        bwrap
    }

    /// A directory below `/tmp` that is only on the way to something.
    fn is_passage(path: &Utf8Path) -> bool {
        path.starts_with("/tmp") && !path.as_str().contains("palisade-")
    }
}
