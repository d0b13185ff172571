//! Environment, private directories, inherited descriptors, standard streams.

use crate::raw::no;
use crate::suite::{Probe, Scenario, denied, show, works};
use crate::system::DESCRIPTORS;
use crate::world::PROGRAMS;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::process::Stdio;

pub const PROBES: &[Probe] = &[
    denied("v01 see the caller's environment", |_| {
        if std::env::var_os("SUITE_SECRET").is_some() { Ok(()) } else { Err(no("absent")) }
    }),
    works("v04 write to TMPDIR", |_| {
        let path = std::env::temp_dir().join(format!("palisade-suite-{}", std::process::id()));
        fs::write(&path, "")?;
        fs::remove_file(path)
    }),
    works("v05 write to /dev/null and read /dev/zero", |_| {
        fs::OpenOptions::new().write(true).truncate(true).open("/dev/null")?.write_all(b"x")?;
        fs::File::open("/dev/zero")?.read_exact(&mut [0; 8])?;
        fs::File::open("/dev/urandom")?.read_exact(&mut [0; 8])
    }),
    denied("v07 write beside the private directories", |_| {
        // Without walls everybody may write here.
        let path = std::env::temp_dir().join(format!("palisade-suite-{}", std::process::id()));
        let outside = fs::write("/var/tmp/palisade-suite-outside", "");
        fs::write(&path, "")?;
        fs::remove_file(path)?;
        outside?;
        fs::remove_file("/var/tmp/palisade-suite-outside")
    }),
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "the environment is what the manifest says",
        run: |world| {
            let set = &mut world.manifest.environment.set;
            set.insert("LANG".into(), "C.UTF-8".into());
            world.manifest.environment.pass = vec!["PASSED".into(), "ABSENT".into(), "HOME".into()];
            let output = world.palisade(&["-c", "export -p"]).env("PASSED", "through").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let private = format!("TMPDIR='{}", crate::system::PRIVATE);
            for expected in ["LANG='C.UTF-8'", "PASSED='through'", "HOME='/var/empty'", &private] {
                let plain = expected.replace('\'', "");
                let quoted = expected.replace('\'', "\"");
                assert!(
                    [expected, &plain, &quoted].iter().any(|way| text.contains(*way)),
                    "{expected}: {text}"
                );
            }
            assert!(!text.contains("SUITE_SECRET") && !text.contains("ABSENT"), "{text}");
        },
    },
    Scenario {
        name: "v02 HOME is an empty directory that cannot be written",
        run: |world| {
            let output = world.shell("cd && echo * && : > file");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "*\n", "{}", show(&output));
            assert_ne!(output.status.code(), Some(0));
        },
    },
    Scenario {
        name: "TMPDIR is private and gone afterwards",
        run: |world| {
            let name = format!("palisade-suite-private-{}", std::process::id());
            let output = world.shell(&format!(
                "cd \"$TMPDIR\" && echo text > {name} && read line < {name} && echo $line && echo \"$TMPDIR\""
            ));
            let text = String::from_utf8_lossy(&output.stdout);
            let Some(("text", place)) = text.trim_end().split_once('\n') else { panic!("{}", show(&output)) };
            assert!(place.starts_with(crate::system::PRIVATE), "{place}");
            assert!(!std::path::Path::new(place).join(&name).exists());
            let again = world.shell(&format!("read line < \"$TMPDIR/{name}\""));
            assert_ne!(again.status.code(), Some(0));
        },
    },
    Scenario {
        name: "standard input, output and error pass through",
        run: |world| {
            let mut command =
                world.palisade(&["-c", "read line; echo \"out $line\"; echo \"err $line\" >&2"]);
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"text\n").unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.stdout, b"out text\n", "{}", show(&output));
            assert_eq!(output.stderr, b"err text\n", "{}", show(&output));
        },
    },
    Scenario {
        name: "standard output can be opened again by name",
        run: |world| {
            let open = |name: &str| {
                let path = world.place.base.join(name);
                let file = fs::File::create(&path).unwrap();
                std::os::unix::fs::chown(&path, Some(world.uid()), None).unwrap();
                (path, file)
            };
            let ((output, to_output), (errors, to_errors)) = (open("output"), open("errors"));
            let line = "echo one; echo two > /dev/stdout; echo three > /dev/stderr";
            let mut command = world.palisade(&["-c", line]);
            let status = command.stdout(to_output).stderr(to_errors).status().unwrap();
            assert_eq!(fs::read_to_string(errors).unwrap(), "three\n");
            assert_eq!(status.code(), Some(0));
            assert!(fs::read_to_string(output).unwrap().contains("two"));
        },
    },
    Scenario {
        name: "v03 a descriptor that the caller left open is not inherited",
        run: |world| {
            let outside = fs::File::open(world.place.outside("")).unwrap();
            let number = outside.as_raw_fd();
            // The shell opens descriptors of its own, but none of so high a number.
            let high = rustix::io::fcntl_dupfd_cloexec(&outside, 200 + number).unwrap();
            rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty()).unwrap();
            let line = format!("[ -e {DESCRIPTORS}/{} ] && echo open; :", high.as_raw_fd());
            let walled = world.shell(&line);
            assert_eq!(walled.stdout, b"", "{}", show(&walled));
            let control = world.user(&crate::world::shell_path()).args(["-c", &line]).output().unwrap();
            assert_eq!(control.stdout, b"open\n", "{}", show(&control));
        },
    },
    Scenario {
        name: "closed streams are no way for another file to become one",
        run: |world| {
            let ours = format!("for n in 0 1 2; do [ -c {DESCRIPTORS}/$n ] || exit 4; done");
            let ours = world.palisade(&["-c", &ours]);
            let line = "exec \"$0\" \"$@\" <&- >&- 2>&-";
            let mut command = world.user(&crate::world::shell_path());
            command.args(["-c", line, PROGRAMS.palisade.as_str()]).args(ours.get_args());
            assert_eq!(command.status().unwrap().code(), Some(0));
        },
    },
    Scenario {
        name: "a stream that is a directory is refused",
        run: |world| {
            let directory = fs::File::open(world.place.outside("")).unwrap();
            let output = world.palisade(&["-c", "exit 0"]).stdin(directory).output().unwrap();
            assert_eq!(output.status.code(), Some(125), "{}", show(&output));
            assert!(String::from_utf8_lossy(&output.stderr).contains("standard input is a directory"));
        },
    },
    Scenario {
        name: "a mode mask of the caller reaches the command",
        run: |world| {
            let output = world
                .user(&crate::world::shell_path())
                .args(["-c", "umask 027; exec \"$0\" \"$@\""])
                .args(world.palisade(&["-c", "umask"]).get_args().fold(
                    vec![PROGRAMS.palisade.as_str().into()],
                    |mut all, word| {
                        all.push(word.to_owned());
                        all
                    },
                ))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0027", "{}", show(&output));
        },
    },
];
