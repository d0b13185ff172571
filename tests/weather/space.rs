//! No disk space, nowhere to write, few files.

use crate::places::{own_mounts, tmpfs};
use crate::suite::Scenario;
use crate::world::PROFILE;
use camino::Utf8Path;
use rustix::mount::{MountFlags, mount_remount};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "no room for what must stand at a missing path",
        run: |world| {
            own_mounts();
            tmpfs(&world.path("project"), "nr_inodes=100");
            world.populate();
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            fill_names(&world.path("project"));
            let before = world.before();
            world.exec("echo ran").refused("is missing and cannot be kept from being created", "make room");
            world
                .ran(&["run", "../agent.palisade", "-c", "echo ran"])
                .refused("No space left", "nothing was run");
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "no room for the journal",
        run: |world| {
            own_mounts();
            world.compiled(PROFILE);
            for options in ["nr_inodes=5", "size=4k"] {
                tmpfs(&world.path("state"), options);
                world.exec(":").ended(0);
                if options.starts_with("size") {
                    fill_bytes(&world.path("state"));
                } else {
                    fill_names(&world.path("state"));
                }
                let before = world.before();
                let ran = world.exec("echo x > .vscode || echo ran");
                assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ran\n"), "{ran:?}");
                world.nothing_left(&before);
            }
        },
    },
    Scenario {
        name: "no room for the record",
        run: |world| {
            own_mounts();
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            fs::create_dir(world.path("records")).unwrap();
            tmpfs(&world.path("records"), "size=4k");
            fill_bytes(&world.path("records"));
            let before = world.before();
            let record = |line: &str| {
                let mut command = world.line(line);
                command.arg("--report").arg(world.path("records/record.json"));
                crate::world::Ran::from(command.output().unwrap())
            };
            // A file can be made there, and only when the command has run it shows that nothing can be written to it.
            let ran = record("echo ran; exit 3");
            assert_eq!((ran.code, ran.out.as_str()), (Some(125), "ran\n"), "{ran:?}");
            assert!(ran.err.contains("the record") && ran.err.contains("No space left"), "{ran:?}");
            ran.helps("the command has run, and the exit code would have been 3; make room");
            world.nothing_left(&before);
            tmpfs(&world.path("records"), "nr_inodes=5");
            fill_names(&world.path("records"));
            let before = world.before();
            record("echo ran").refused("the record cannot be written", "nothing was run");
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "no room for the artifact",
        run: |world| {
            own_mounts();
            fs::create_dir(world.path("out")).unwrap();
            for (options, fill) in
                [("size=256k", fill_bytes as fn(&Utf8Path)), ("nr_inodes=8", fill_names as fn(&Utf8Path))]
            {
                tmpfs(&world.path("out"), options);
                world.compiled(PROFILE);
                let compile = ["compile", "../agent.palisade", "--out-dir", "../out"];
                world.ran(&compile).ended(0);
                let old = world.read("out/agent.manifest.yaml");
                fill(&world.path("out"));
                world.write(
                    "agent.palisade",
                    &format!("edition 1\nprofile \"agent\" {{ {PROFILE}\nlimits {{ open-files 99 }} }}\n"),
                );
                let before = world.before();
                let ran = world.ran(&compile);
                ran.ended(2);
                assert!(ran.err.contains("cannot be written: No space left"), "{ran:?}");
                ran.helps("what stood there still does; make room");
                assert_eq!(world.read("out/agent.manifest.yaml"), old);
                world.nothing_left(&before);
            }
        },
    },
    Scenario {
        name: "no room for what the command prints and writes",
        run: |world| {
            own_mounts();
            world.compiled(&format!("{PROFILE}\nlimits {{ output 1MiB }}"));
            world.exec(":").ended(0);
            fs::create_dir(world.path("out")).unwrap();
            tmpfs(&world.path("out"), "size=4k");
            let output = fs::File::create(world.path("out/output")).unwrap();
            fill_bytes(&world.path("out"));
            let mut command = world.line("echo ran; while :; do :; done");
            let output = command.stdout(output).stderr(std::process::Stdio::piped()).spawn().unwrap();
            let ran = crate::world::finished(output);
            ran.ended(125);
            assert!(ran.err.contains("could not be passed on: No space left"), "{ran:?}");
            ran.helps("give it somewhere to go");
            // What it writes itself is its own failure.
            tmpfs(&world.path("project/src"), "size=4k");
            fill_bytes(&world.path("project/src"));
            let ran = world.exec("echo x > src/new || exit 7");
            ran.ended(7);
            assert_eq!(fs::metadata(world.path("project/src/new")).unwrap().len(), 0);
            world.nobody_left();
        },
    },
    Scenario {
        name: "no temporary directory can be written",
        run: |world| {
            own_mounts();
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            tmpfs(Utf8Path::new("/tmp"), "");
            mount_remount("/tmp", MountFlags::RDONLY, "").unwrap();
            assert!(fs::write("/tmp/x", "").is_err());
            let before = world.before();
            let line = "echo private > \"$TMPDIR/x\" && read line < \"$TMPDIR/x\" && echo \"$line\"";
            for place in ["/tmp", "/nowhere", "/proc", ""] {
                for how in [["exec", "../agent.manifest.yaml"], ["run", "../agent.palisade"]] {
                    let mut command = world.palisade(&how);
                    command.env("TMPDIR", place).args(["-c", &format!("{line}\n# {}", world.base)]);
                    let ran = crate::world::Ran::from(command.output().unwrap());
                    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "private\n"), "{place}: {ran:?}");
                }
            }
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "sixty-four open files",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            // Far more missing paths than files, each of which must be held.
            let mut many = PROFILE.to_owned();
            for number in 0..100 {
                writeln!(many, "    deny \"$workspace/missing-{number}\"").unwrap();
            }
            open_files(64, 4096);
            // What this program needs for itself is not the command's.
            let ran = world.exec("ulimit -Sn; ulimit -Hn");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "64\n4096\n"), "{ran:?}");
            world.nothing_left(&before);
            world.compiled(&many);
            let before = world.before();
            let ran = world.exec("echo x > missing-99 || ulimit -Sn");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "64\n"), "{ran:?}");
            world.nothing_left(&before);
            open_files(64, 64);
            world.exec("echo ran").refused("Too many open files", "`ulimit -n`; raise it; nothing was run");
            world.nothing_left(&before);
            world.compiled(PROFILE);
            let ran = world.exec("echo ran; ulimit -n");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ran\n64\n"), "{ran:?}");
        },
    },
    Scenario {
        name: "fewer open files than any run needs",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            for limit in 4..44 {
                let mut command = std::process::Command::new("/bin/sh");
                let program = std::env::var("PALISADE_UNDER_TEST").unwrap();
                let line = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
                let exec = world.line("echo ran");
                command.args(["-c", &line, &program]).args(exec.get_args()).env_clear();
                command.env("HOME", world.path("home")).env("XDG_STATE_HOME", world.path("state"));
                let ran =
                    crate::world::Ran::from(command.current_dir(world.path("project")).output().unwrap());
                match ran.code {
                    Some(0) => assert_eq!(ran.out, "ran\n"),
                    // Below what the loader of programs needs, none of this program's own code has run.
                    Some(127) if limit < 5 => {}
                    _ => ran.refused("", "nothing was run"),
                }
                world.nothing_left(&before);
            }
        },
    },
];

fn open_files(current: u64, maximum: u64) {
    setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: Some(maximum) }).unwrap();
}

/// Makes files until there is no room for another.
fn fill_names(place: &Utf8Path) {
    let made = (0..10_000).take_while(|number| fs::write(place.join(format!("filler-{number}")), "").is_ok());
    assert!(made.count() < 10_000);
}

/// Writes until there is no room for another byte.
fn fill_bytes(place: &Utf8Path) {
    let mut file = fs::File::create(place.join("filler")).unwrap();
    while file.write_all(&[b'x'; 512]).is_ok() {}
    while file.write_all(b"x").is_ok() {}
}
