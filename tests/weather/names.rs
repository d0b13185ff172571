//! Odd things at protected paths: every character, pipes, sockets, devices, and very many files.

use crate::suite::Scenario;
use crate::world::{PROFILE, Ran, World};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a path with every odd character",
        run: |world| {
            let names = odd_names();
            let mut statements = "root \"$workspace\" read-write\n".to_owned();
            for name in &names {
                world.write(&format!("project/file {name}"), "secret\n");
                world.write(&format!("project/directory {name}/key"), "secret\n");
                for kind in ["file", "directory", "missing"] {
                    writeln!(statements, "deny \"$workspace/{kind} {}\"", escaped(name)).unwrap();
                }
            }
            world.compiled(&statements);
            world.exec(":").ended(0);
            let before = world.before();
            let each = "for path in file* directory*/key; do { read line < \"$path\"; } 2> /dev/null && echo \"$path\"; done; :";
            let walled = world.exec(each);
            assert_eq!((walled.code, walled.out.as_str()), (Some(0), ""), "{walled:?}");
            let free = unwalled(world, each);
            assert!(free.out.lines().count() >= names.len() * 2, "without walls all can be read: {free:?}");
            // All are tried, and each by its own name.
            let line = "for path do { echo > \"$path\" || echo > \"$path/x\"; } 2> /dev/null && echo made; n=$((n+1)); done; echo $n";
            let missing: Vec<String> = names.iter().map(|name| format!("missing {name}")).collect();
            let ran = argued(world, line, &missing);
            assert_eq!((ran.code, ran.out.trim()), (Some(0), names.len().to_string().as_str()), "{ran:?}");
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a workspace whose own path has every odd character",
        run: |world| {
            // All but what stands for itself in no profile: a name that ends a line, or that no terminal shows, is refused.
            let odd = format!("{} '\"`$(){{}}[]<>|&;*?!#~%^=+,@: ünï \u{1F980} é\u{301}", "\\");
            let workspace = world.path(&odd);
            fs::create_dir(&workspace).unwrap();
            fs::write(workspace.join(".env"), "secret\n").unwrap();
            fs::write(workspace.join("open"), "open\n").unwrap();
            world.write(
                "odd.palisade",
                "edition 1\nprofile \"odd\" {\nroot \"$workspace\" read-write\ndeny \"$workspace/.env\"\n}\n",
            );
            let run = |line: &str| {
                let mut command = world.palisade(&["run", "../odd.palisade", "-c", line]);
                Ran::from(command.current_dir(&workspace).output().unwrap())
            };
            // The profile is beside the workspace, whatever that is called.
            run(":").ended(0);
            let before = world.before();
            let ran = run("read line < open; echo $line; { read line < .env; } 2> /dev/null || echo shut");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "open\nshut\n"), "{ran:?}");
            assert_ne!(run("echo x > .mcp.json").code, Some(0));
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "names that are no text in a denied directory",
        run: |world| {
            let odd = world.path("project/keys").join("x").into_std_path_buf();
            let odd = odd.with_file_name(OsStr::from_bytes(b"\xff\xfe key"));
            fs::write(&odd, "secret\n").unwrap();
            // What was there when it was compiled could not be said in an artifact.
            world.write("agent.palisade", &format!("edition 1\nprofile \"agent\" {{ {PROFILE} }}\n"));
            let ran = world.ran(&["compile", "../agent.palisade"]);
            ran.ended(1);
            assert!(ran.err.contains("that is not UTF-8"), "{ran:?}");
            ran.helps("rename it");
            world
                .ran(&["run", "../agent.palisade", "-c", "echo ran"])
                .refused("that is not UTF-8", "rename it");
            fs::remove_file(&odd).unwrap();
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            // What has come since is denied with the directory.
            fs::write(&odd, "secret\n").unwrap();
            let line = "for path in keys/*; do { read line < \"$path\"; } 2> /dev/null && echo read; done; :";
            let ran = world.exec(line);
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
            assert!(unwalled(world, line).out.contains("read"));
            // It is counted as any other is.
            fs::hard_link(&odd, world.path("project/other")).unwrap();
            world.exec("echo ran").refused("has 2 hard links", "break the link");
        },
    },
    Scenario {
        name: "a pipe, a socket and a device as denied paths",
        run: |world| {
            let (pipe, socket, device) =
                (world.path("project/pipe"), world.path("project/socket"), world.path("project/device"));
            let mode = rustix::fs::Mode::from_raw_mode(0o666);
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, pipe.as_str(), kind, mode, 0).unwrap();
            // Its name is too long for an address where the workspace is (unix(7)).
            std::env::set_current_dir(world.path("project")).unwrap();
            let listener = UnixListener::bind("socket").unwrap();
            let is_there = device.symlink_metadata().is_ok_and(|found| found.file_type().is_char_device());
            if !is_there {
                world.cannot("a device node as a denied path: only root can make one");
            }
            let mut statements = "root \"$workspace\" read-write\n".to_owned();
            for name in ["pipe", "socket", "device"] {
                writeln!(statements, "deny \"$workspace/{name}\"").unwrap();
            }
            world.compiled(&statements);
            world.exec(":").ended(0);
            let before = world.before();
            // For writing too, a pipe would wait for whoever reads.
            for line in
                [": < pipe", ": > pipe", ": <> pipe", ": < socket", ": > socket", ": < device", ": > device"]
            {
                let ran = world.exec(&format!("( {line} ) 2> /dev/null && echo open; :"));
                assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{line}: {ran:?}");
            }
            let opened =
                unwalled(world, "( : <> pipe ) && echo open; ( : < device ) 2> /dev/null && echo open; :");
            assert_eq!(opened.out.lines().count(), 1 + usize::from(is_there), "{opened:?}");
            world.nothing_left(&before);
            // Whoever has another name of it has the same pipe, socket or device.
            for path in [&pipe, &socket, &device] {
                if path.symlink_metadata().is_ok() {
                    let other = world.path("project/other");
                    fs::hard_link(path, &other).unwrap();
                    world.exec("echo ran").refused(&format!("`{path}` has 2 hard links"), "break the link");
                    fs::remove_file(&other).unwrap();
                }
            }
            world.exec(":").ended(0);
            drop(listener);
            // What a manifest or a record must not be: nothing waits for a writer.
            let run = |arguments: &[&str]| Ran::from(world.palisade(arguments).output().unwrap());
            run(&["exec", "pipe", "-c", "echo ran"]).refused("it is not a plain file", "give the path");
            run(&["exec", "../agent.manifest.yaml", "--report", "pipe", "-c", "echo ran"])
                .refused("something else than a file", "name a file");
            // Left in the directory of journals, it keeps nobody waiting.
            let kind = rustix::fs::FileType::Fifo;
            let place = world.path("state/palisade/runs/1-0");
            rustix::fs::mknodat(rustix::fs::CWD, place.as_str(), kind, mode, 0).unwrap();
            world.exec(":").ended(0);
        },
    },
    Scenario {
        name: "a pipe, a socket and a device in a denied directory",
        run: |world| {
            let pipe = world.path("project/keys/pipe");
            let mode = rustix::fs::Mode::from_raw_mode(0o666);
            rustix::fs::mknodat(rustix::fs::CWD, pipe.as_str(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let ran = world.exec("( : <> keys/pipe ) 2> /dev/null && echo open; :");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
            fs::hard_link(&pipe, world.path("project/other")).unwrap();
            world.exec("echo ran").refused("`", "break the link");
        },
    },
    Scenario {
        name: "ten thousand files in a denied directory",
        run: |world| {
            let many = world.path("project/keys/many");
            for directory in 0..100 {
                let directory = many.join(directory.to_string());
                fs::create_dir_all(&directory).unwrap();
                for file in 0..100 {
                    fs::write(directory.join(file.to_string()), "secret\n").unwrap();
                }
            }
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            let ran = world.exec(
                "for path in keys/many/*/*; do { read line < \"$path\"; } 2> /dev/null && echo read; done; :",
            );
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
            world.nothing_left(&before);
            // Every one is looked at, the last as the first.
            for file in ["0/0", "99/99", "57/3"] {
                let other = world.path("project/other");
                fs::hard_link(many.join(file), &other).unwrap();
                world.exec("echo ran").refused(&format!("{}", many.join(file)), "break the link");
                fs::remove_file(&other).unwrap();
            }
            // Denied one by one.
            world.compiled("root \"$workspace\" read-write\ndeny glob \"$workspace/keys/many/*/7*\"");
            let ran = world.exec("for path in keys/many/*/7*; do { read line < \"$path\"; } 2> /dev/null && echo read; done; :");
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
            world.exec("read line < keys/many/3/8").ended(0);
        },
    },
];

/// Every character of ASCII that a name can hold, by itself, and others that are easily mistaken.
fn odd_names() -> Vec<String> {
    let ascii = (1..128u8).map(char::from).filter(|character| *character != '/');
    let mut names: Vec<String> = ascii.map(|character| format!("{character}")).collect();
    let others = [
        "é",
        "e\u{301}",
        "ß",
        "\u{202e}gnp",
        "\u{200b}",
        "\u{feff}",
        "\u{1F980}",
        "日本",
        "\u{10FFFF}",
        "..",
        "...",
        "$HOME",
    ];
    names.extend(others.map(str::to_owned));
    names.push("x".repeat(200));
    names.push("\n\\040\t\"'`$(echo)\u{7f}".to_owned());
    names
}

/// As a profile writes it.
fn escaped(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, character| {
        let _ = write!(text, "\\u{{{:x}}}", u32::from(character));
        text
    })
}

/// A line with arguments.
fn argued(world: &World, line: &str, arguments: &[String]) -> Ran {
    let manifest = world.path("agent.manifest.yaml");
    let words = ["exec", manifest.as_str(), "--", "/bin/sh", "-c", line, world.base.as_str()];
    Ran::from(world.palisade(&words).args(arguments).output().unwrap())
}

/// The same line without walls.
fn unwalled(world: &World, line: &str) -> Ran {
    let mut command = std::process::Command::new("/bin/sh");
    Ran::from(command.args(["-c", line]).current_dir(world.path("project")).output().unwrap())
}
