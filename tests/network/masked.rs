//! Masked variables: what the command has of them, where their values come from and stay, and what its programs are told to trust.

use crate::suite::{Ran, Scenario, World};
use crate::world::SILENT;
use std::fs;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const VALUE: &str = "tok_Zk3Vq8WmR2xY7pLs9TbN";
const HOSTS: &str = "only { allow \"good.com\"; allow \"slow.com:9\"; allow \"other.com:80\" }";

/// What no value of a variable can be, and what is said of it.
const USELESS: [(&str, &str); 9] = [
    ("", "its value is empty"),
    ("tok_abc1234", "its value is shorter than 12 characters"),
    ("tok_Zk3Vq8W\nmR2xY7pLs9TbN", "its value cannot stand in a header"),
    ("tok_Zk3Vq8W\tmR2xY7pLs9TbN", "its value cannot stand in a header"),
    ("tok_Zk3Vq8WmR2xY7pLs9TbN ", "its value cannot stand in a header"),
    ("tok_Zk3Vq8WmR2xY7pLs9TbN\n", "its value cannot stand in a header"),
    ("tök_Zk3Vq8WmR2xY7pLs9TbN", "its value cannot stand in a header"),
    ("\x7ftok_Zk3Vq8WmR2xY7pLs9TbN", "its value cannot stand in a header"),
    ("----------abc-------------", "its value has fewer than 12 letters and digits"),
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a masked variable is a placeholder inside",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let inside = |name: &str| masked(world, &[], VALUE, &["env", name]);
            let ran = inside("TOKEN");
            let seen = ran.out.trim_end();
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(seen.starts_with("tok_") && seen.len() == VALUE.len() && seen != VALUE, "{seen}");
            assert_ne!(inside("TOKEN").out.trim_end(), seen, "one of each run");
            assert!(!ran.err.contains("Zk3V") && !ran.err.contains(seen), "{ran:?}");
        },
    },
    Scenario {
        name: "the value is in the memory of the gateway and of no other process",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let file = world.path("home/token");
            fs::write(&file, VALUE).unwrap();
            std::os::unix::fs::chown(&file, Some(world.uid), Some(world.uid)).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            let (from_file, from_command) = (format!("TOKEN={file}"), format!("TOKEN=cat {file}"));
            let by_file = ["--secret-file", from_file.as_str()];
            let by_command = ["--secret-command", from_command.as_str()];
            for options in [&[][..], &by_file, &by_command] {
                stays_in_gateway(world, options);
            }
        },
    },
    Scenario {
        name: "nothing inside can look at the memory and the environment of what built the walls",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            for file in ["environ", "mem", "maps", "cmdline"] {
                let ran = masked(world, &[], VALUE, &["read", &format!("/proc/1/{file}")]);
                assert!(ran.out.starts_with("failed: "), "{file}: {ran:?}");
            }
        },
    },
    Scenario {
        name: "values come from files and commands too",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let file = world.path("home/token");
            let write = |text: &str, mode: u32| {
                fs::write(&file, text).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                std::os::unix::fs::chown(&file, Some(world.uid), Some(world.uid)).unwrap();
            };
            let from_file = format!("TOKEN={file}");
            write(&format!("{VALUE}\n"), 0o600);
            // What is stated comes before the environment, which may hold anything.
            for other in [None, Some("short")] {
                let mut command = world.asking(&["--secret-file", &from_file], &["env", "TOKEN"]);
                other.map(|value| command.env("TOKEN", value));
                let ran: Ran = command.output().unwrap().into();
                assert_eq!(ran.out.trim_end().len(), VALUE.len(), "{ran:?}");
                assert_eq!(ran.err, "", "{ran:?}");
            }
            write(VALUE, 0o644);
            let ran = unset(world, &["--secret-file", &from_file], &["env", "TOKEN"]);
            assert_eq!((ran.code, ran.out.trim_end().len()), (Some(0), VALUE.len()), "{ran:?}");
            assert!(ran.err.contains("may be read by others") && ran.err.contains("chmod 600 "), "{ran:?}");
            write(&format!("{VALUE}\n\n"), 0o600);
            let ran = unset(world, &["--secret-file", &from_file], &["env", "TOKEN"]);
            refused(&ran, "`TOKEN`: its value cannot stand in a header");

            let command = format!("TOKEN=echo asked >&2; printf '%s\\r\\n' {VALUE}");
            let ran = unset(world, &["--secret-command", &command], &["env", "TOKEN"]);
            assert_eq!((ran.code, ran.out.trim_end().len()), (Some(0), VALUE.len()), "{ran:?}");
            assert_eq!(ran.err, "asked\n");
            for (line, said) in [
                ("exit 3", "its command failed (exit status: 3)"),
                ("kill -9 $$", "its command failed (signal: 9"),
                ("true", "its value is empty"),
                ("while :; do echo 0123456789; done", "longer than 8 KiB"),
            ] {
                refused(
                    &unset(world, &["--secret-command", &format!("TOKEN={line}")], &["env", "TOKEN"]),
                    said,
                );
            }
        },
    },
    Scenario {
        name: "a value that is missing or of no use is refused, and not said",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let ran = unset(world, &[], &["listen"]);
            refused(&ran, "`TOKEN`: it is masked, and is not set");
            assert!(ran.err.contains("--secret-file TOKEN=PATH"), "{ran:?}");
            for (value, said) in USELESS {
                let ran = masked(world, &[], value, &["listen"]);
                refused(&ran, said);
                assert!(value.is_empty() || !ran.err.contains(value.trim()), "{ran:?}");
            }
            refused(&masked(world, &[], &"a1".repeat(4097), &["listen"]), "longer than 8 KiB");

            let (file, missing) = (world.path("home"), world.path("home/missing"));
            let command = "OTHER=echo";
            for (options, said) in [
                (
                    vec!["--secret-command", command],
                    "a value is given for a variable that the manifest does not mask",
                ),
                (
                    vec!["--secret-command", "TOKEN=echo", "--secret-file", "TOKEN=x"],
                    "its value is given twice",
                ),
                (vec!["--secret-file", &format!("TOKEN={file}")], "is a directory"),
                (vec!["--secret-file", &format!("TOKEN={missing}")], "cannot be read: No such file"),
                (vec!["--secret-file", "TOKEN=/dev/null"], "the command may read its file"),
            ] {
                refused(&masked(world, &options, VALUE, &["listen"]), said);
            }
            // It may be the value, in the wrong place.
            let ran = masked(world, &["--secret-file", VALUE], VALUE, &["listen"]);
            refused(&ran, "not given a name, `=` and where its value is");
            assert!(!ran.err.contains(VALUE), "{ran:?}");
            let ran = masked(world, &["--secret-file", &format!("TOKEN={VALUE}")], VALUE, &["listen"]);
            refused(&ran, "its file cannot be read");
            assert!(!ran.err.contains(VALUE), "{ran:?}");
            let ran = masked(world, &["--secret-file", &format!("{VALUE}=x")], VALUE, &["listen"]);
            refused(&ran, "a variable that the manifest does not mask");
            assert!(!ran.err.contains(VALUE), "{ran:?}");
            // Where the command is given it, by whatever way.
            let stream = world.path("home/stream");
            fs::write(&stream, VALUE).unwrap();
            let options = ["--secret-file", &format!("TOKEN={stream}")];
            let ran = world.asking(&options, &["listen"]).stdin(fs::File::open(&stream).unwrap()).output();
            refused(&ran.unwrap().into(), "its file is a standard stream");
            // Where the command itself may read it, or by another name might.
            let inside = world.path("project/token");
            fs::write(&inside, VALUE).unwrap();
            let outside = world.path("home/token");
            fs::hard_link(&inside, &outside).unwrap();
            for (path, said) in
                [(&inside, "the command may read its file"), (&outside, "has another hard link")]
            {
                refused(
                    &masked(world, &["--secret-file", &format!("TOKEN={path}")], VALUE, &["listen"]),
                    said,
                );
            }
            // Where nothing is masked either.
            compiled(world, "set OTHER \"x\"");
            refused(
                &unset(world, &["--secret-command", command], &["listen"]),
                "the profile masks no variable",
            );
        },
    },
    Scenario {
        name: "where connections are read, programs are told what to trust",
        run: |world| {
            compiled(
                world,
                "mask TOKEN for \"good.com\"; pass CURL_CA_BUNDLE; pass SSL_CERT_DIR\n  set PIP_CERT \"/mine\" # palisade: allow(proxy-variable) what is set stands\n ",
            );
            let (bundle, system) = ("/.palisade/trust.pem", "/etc/ssl/certs/ca-certificates.crt");
            // One of the machine, one that the caller names, and the one of the run.
            let further = world.path("home/company.pem");
            fs::write(&further, authority("company")).unwrap();
            let ask = |words: &[&str]| {
                let mut command = world.asking(&[], words);
                command.env("TOKEN", VALUE).env("CURL_CA_BUNDLE", &further).env("SSL_CERT_DIR", "/none");
                command.env("SSL_CERT_FILE", system);
                Ran::from(command.output().unwrap())
            };
            for (name, value) in [
                ("SSL_CERT_FILE", bundle),
                ("CURL_CA_BUNDLE", bundle),
                ("PIP_CERT", "/mine"),
                ("SSL_CERT_DIR", "unset"),
                ("WGETRC", "/.palisade/wgetrc"),
            ] {
                assert_eq!(ask(&["env", name]).out.trim_end(), value, "{name}");
            }
            let text = ask(&["read", bundle]).out;
            assert_eq!(text.matches("BEGIN CERTIFICATE").count(), 3, "{text}");
            // Each run has an authority of its own.
            let other = ask(&["read", system]).out;
            assert_eq!(other.matches("BEGIN CERTIFICATE").count(), 3, "{other}");
            assert_ne!(text, other);
            assert_eq!(
                ask(&["read", "/.palisade/wgetrc"]).out.trim_end(),
                format!("ca_certificate = {bundle}")
            );
            for path in [bundle, system, "/.palisade/other"] {
                assert!(ask(&["write", path]).out.starts_with("failed: "), "{path}");
            }
        },
    },
    Scenario {
        name: "where no connection is read, nothing of that is there",
        run: |world| {
            compiled(world, "set OTHER \"x\"");
            for name in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "JAVA_TOOL_OPTIONS", "WGETRC"] {
                assert_eq!(world.answer(&["env", name]), "unset");
            }
            assert!(world.answer(&["read", "/.palisade/trust.pem"]).starts_with("failed: "));
            let text = world.answer(&["read", "/etc/ssl/certs/ca-certificates.crt"]);
            assert_eq!(text.matches("BEGIN CERTIFICATE").count(), 1, "{text}");
        },
    },
    Scenario {
        name: "a placeholder on its way elsewhere is stopped, and said before everything else",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let report = world.path("state/report");
            let head =
                "GET http://other.com/ HTTP/1.1\\r\\nHost: other.com\\r\\nX-Token: {TOKEN}\\r\\n\\r\\n";
            let ran = masked(world, &["--report", report.as_str()], VALUE, &["head", head]);
            assert!(ran.code == Some(0) && ran.out.starts_with("HTTP/1.1 403"), "{ran:?}");
            let said = "palisade: ALARM: the placeholder of `TOKEN` was on its way to `other.com:80`, and was stopped\n";
            assert!(ran.err.starts_with(said), "{ran:?}");
            let seen = world.seen.lines();
            assert!(!seen.iter().any(|line| line.contains("tok_")), "{seen:?}");
            let text = fs::read_to_string(&report).unwrap();
            assert!(!text.contains("tok_"), "{text}");
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(report["network"]["misdirected"][0]["secret"], "TOKEN", "{text}");
        },
    },
    Scenario {
        name: "what cannot be read of the caller's authorities is said",
        run: |world| {
            compiled(world, "mask TOKEN for \"good.com\"");
            let mut command = world.asking(&[], &["env", "TOKEN"]);
            command.env("TOKEN", VALUE).env("NODE_EXTRA_CA_CERTS", "/missing.pem");
            let ran: Ran = command.output().unwrap().into();
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(
                ran.err.contains("the authorities in `/missing.pem`, which `NODE_EXTRA_CA_CERTS` names"),
                "{ran:?}"
            );
        },
    },
];

/// A certificate of an authority, as text.
pub fn authority(name: &str) -> String {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    params.self_signed(&key).unwrap().pem()
}

fn compiled(world: &World, env: &str) {
    let text = format!(
        "edition 1\nprofile \"agent\" {{\n root \"$workspace\" read-write\n tool \"{}\"\n env {{ {env} }}\n network {HOSTS}\n}}\n",
        world.client
    );
    fs::write(world.path("agent.palisade"), text).unwrap();
    let ran: Ran = world.palisade(&["compile", "../agent.palisade"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn masked(world: &World, options: &[&str], value: &str, words: &[&str]) -> Ran {
    world.asking(options, words).env("TOKEN", value).output().unwrap().into()
}

fn unset(world: &World, options: &[&str], words: &[&str]) -> Ran {
    world.asking(options, words).output().unwrap().into()
}

#[track_caller]
fn refused(ran: &Ran, said: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{ran:?}");
    assert!(ran.err.contains(said) && ran.err.contains("nothing was run"), "{said}: {ran:?}");
    assert!(!ran.err.contains("Zk3V"), "{ran:?}");
}

/// Looks for the value in the memory of every process of a run.
fn stays_in_gateway(world: &World, options: &[&str]) {
    world.seen.forget();
    let mut command = world.asking(options, &["first", "slow.com", &SILENT.to_string()]);
    let quiet = command.env("TOKEN", VALUE).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().unwrap();
    let top = i32::try_from(child.id()).unwrap();
    let connected = || world.seen.lines().iter().any(|line| line.ends_with(&format!(":{SILENT}")));
    let deadline = Instant::now() + Duration::from_secs(10);
    while !connected() {
        assert!(Instant::now() < deadline, "it never got there");
        std::thread::sleep(Duration::from_millis(10));
    }
    let all = descendants(top);
    assert!(all.len() >= 3, "pid 1, the command and the gateway: {all:?}");
    let holding: Vec<i32> = all.iter().copied().filter(|pid| holds(*pid, VALUE)).collect();
    let alive: Vec<bool> = all.iter().map(|pid| status(*pid).is_some()).collect();
    let threads = |pid: &i32| status(*pid).is_some_and(|status| !status.contains("Threads:\t1\n"));
    let gateway: Vec<i32> = all.iter().copied().filter(threads).collect();
    let above = holds(top, VALUE);
    let shown = fs::read(format!("/proc/{top}/environ")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive.iter().all(|alive| *alive), "{all:?}");
    assert_eq!(gateway.len(), 1, "{all:?}");
    assert_eq!(holding, gateway, "{options:?}: of {all:?}");
    assert!(!above, "{options:?}: the program itself");
    assert!(!shown.windows(VALUE.len()).any(|part| part == VALUE.as_bytes()));
}

fn status(pid: i32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).ok()
}

/// All processes below one.
fn descendants(top: i32) -> Vec<i32> {
    let mut found = vec![top];
    let mut at = 0;
    while let Some(parent) = found.get(at) {
        let of = format!("PPid:\t{parent}\n");
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        found.extend(pids.filter(|pid| status(*pid).is_some_and(|status| status.contains(&of))));
        at += 1;
    }
    found.split_off(1)
}

/// Whether a value stands anywhere in what a process can write to.
fn holds(pid: i32, value: &str) -> bool {
    let of = Path::new("/proc").join(pid.to_string());
    let maps = fs::read_to_string(of.join("maps")).unwrap();
    let mut memory = fs::File::open(of.join("mem")).unwrap();
    let mut looked = 0;
    let mut found = false;
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        let mut part = vec![0; usize::try_from(number(to) - number(from)).unwrap()];
        memory.seek(std::io::SeekFrom::Start(number(from))).unwrap();
        // The kernel's own pages cannot be read.
        if memory.read_exact(&mut part).is_ok() {
            looked += 1;
            found |= part.windows(value.len()).any(|part| part == value.as_bytes());
        }
    }
    assert!(looked > 2, "{pid}: {maps}");
    found
}
