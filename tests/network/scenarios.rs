//! What must arrive beyond, and what must not, by every way there is.

use crate::suite::{Ran, Scenario};
use crate::world::{BANNER, SILENT, SOURCE};
use std::process::Stdio;
use std::time::{Duration, Instant};

const WAYS: [&str; 4] = ["connect", "http", "socks", "capture"];

/// Texts that one program reads as an admitted host and the next as another, and addresses that lead inside.
const HOSTILE: [&str; 34] = [
    "evil\\0.good.com",
    "good.com\\0.evil.com",
    "good.com\\r\\nX: y",
    "good.com evil.com",
    "good.com\\t",
    "user@good.com",
    "good.com:443@evil.com",
    "good.com%00.evil.com",
    "good%2ecom",
    "good.com\\\\",
    "good.com#evil.com",
    "good.com?evil.com",
    "good.com.evil.com",
    "evilgood.com",
    "good.com..",
    "evil.com",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1",
    "0.0.0.0",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::1%25lo]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
    "[::7f00:1]",
    "169.254.169.254",
    "localhost",
    "sub.localhost",
    "93.184.216.34",
    "xn--good.com",
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "an admitted host is reached by every way",
        run: |world| {
            world.compiled("only { allow \"good.com\"; allow \"good.com:8080\"; allow \"*.good.com:7777\" }");
            for way in ["connect", "socks", "capture"] {
                assert_eq!(world.answer(&[way, "good.com", "443", "hi"]), "hi<end>", "{way}");
                assert_eq!(world.answer(&[way, "WWW.good.com.", "7777", "hi"]), "hi<end>", "{way}");
            }
            let answer = world.answer(&["http", "good.com", "8080", ""]);
            assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("GET /path HTTP/1.1|"), "{answer}");
            assert!(answer.contains("good.com:8080|"), "{answer}");
            let seen = world.seen.lines();
            assert!(seen.iter().any(|line| line == "tcp 93.184.216.34:8080"), "{seen:?}");
        },
    },
    Scenario {
        name: "no other host is reached, and nobody is asked for its name",
        run: |world| {
            world.compiled("only { allow \"good.com\"; allow \"*.other.com\"; deny \"bad.other.com:*\" }");
            for host in ["evil.com", "www.good.com", "other.com", "bad.other.com", "secret.evil.com"] {
                for way in WAYS {
                    let ran = world.ask(&[way, host, "443", "hi"]);
                    let refused = ran.out.starts_with("failed") || ran.out.starts_with("HTTP/1.1 403");
                    assert!(refused, "{way} {host}: {ran:?}");
                    assert!(ran.err.contains("refused: `"), "{ran:?}");
                }
            }
            for way in WAYS {
                let ran = world.ask(&[way, "good.com", "22", "hi"]);
                assert!(!ran.out.contains("hi<end>"), "another port, {way}: {ran:?}");
            }
            assert_eq!(world.seen.lines(), Vec::<String>::new());
        },
    },
    Scenario {
        name: "what two programs read differently is refused by every way",
        run: |world| {
            world.compiled("only { allow \"good.com\"; allow \"good.com:80\" }");
            for host in HOSTILE {
                for (way, port) in WAYS.into_iter().flat_map(|way| [(way, "443"), (way, "80")]) {
                    // A question mark ends the host of a URL, and what is asked of `good.com` then is admitted.
                    if way == "http" && host.contains('?') {
                        continue;
                    }
                    let out = world.answer(&[way, host, port, "hi"]);
                    let refused = out.starts_with("failed") || out.starts_with("HTTP/1.1 4");
                    assert!(refused, "{way} {host}:{port}: {out}");
                }
            }
            for port in ["0", "0443", "65536", " 443", "443x", "", "+443", "-1"] {
                for way in ["connect", "http"] {
                    let out = world.answer(&[way, "good.com", port, "hi"]);
                    assert!(out.starts_with("failed") || out.starts_with("HTTP/1.1 4"), "{port:?}: {out}");
                }
            }
            assert_eq!(world.seen.lines(), Vec::<String>::new());
        },
    },
    Scenario {
        name: "a request that is two is none",
        run: |world| {
            world.compiled("only { allow \"good.com:80\" }");
            for head in [
                "GET / HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\n",
                "GET https://good.com/ HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\n",
                "GET http://u:p@good.com/ HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\n",
                "POST http://good.com/ HTTP/1.1\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n",
                "POST http://good.com/ HTTP/1.1\\r\\nContent-Length: 3\\r\\nContent-Length: 4\\r\\n\\r\\nabcd",
                "GET http://good.com/ HTTP/1.1\\r\\nHost : evil.com\\r\\n\\r\\n",
                "GET http://good.com/ HTTP/1.1\\r\\nA: b\\r\\n folded\\r\\n\\r\\n",
                "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n",
            ] {
                let out = world.answer(&["head", head]);
                assert!(out.starts_with("HTTP/1.1 4") || out.starts_with("failed"), "{head}: {out}");
            }
            assert_eq!(world.seen.lines(), Vec::<String>::new());
            // The second goes nowhere.
            let two = "GET http://good.com/one HTTP/1.1\\r\\nHost: good.com\\r\\n\\r\\nGET http://evil.com/two HTTP/1.1\\r\\nHost: evil.com\\r\\n\\r\\n";
            let out = world.answer(&["head", two]);
            assert!(
                out.starts_with("HTTP/1.1 200") && out.contains("/one") && !out.contains("/two"),
                "{out}"
            );
            assert!(!world.seen.lines().iter().any(|line| line.contains("evil") || line.contains("two")));
        },
    },
    Scenario {
        name: "a name that leads inside is refused, and only addresses that were judged are dialled",
        run: |world| {
            world.compiled(
                "only { allow \"*.com\"; allow \"private.com\"; allow \"mixed.com\"; allow \"loop.com\"; allow \"metadata.com\"; allow \"near.com\"; allow \"zero.com\"; allow \"rebind.com\"; allow \"10.0.0.5\" }"
                    .replace("allow \"*.com\"; ", "")
                    .as_str(),
            );
            for (name, reason) in [
                ("private.com", "private-address"),
                ("loop.com", "this-machine"),
                ("metadata.com", "link-local-address"),
                ("near.com", "own-address"),
                ("zero.com", "this-machine"),
            ] {
                let out = world.answer(&["connect", name, "443", "hi"]);
                assert_eq!(out, format!("failed: 403 {reason}"), "{name}");
                for way in ["socks", "capture"] {
                    assert!(world.answer(&[way, name, "443", "hi"]).starts_with("failed"), "{way} {name}");
                }
            }
            let connected = |lines: Vec<String>| -> Vec<String> {
                lines.into_iter().filter(|line| line.starts_with("tcp")).collect()
            };
            assert_eq!(connected(world.seen.lines()), Vec::<String>::new());
            assert_eq!(world.answer(&["connect", "mixed.com", "443", "hi"]), "hi<end>");
            assert_eq!(connected(world.seen.lines()), ["tcp 93.184.216.35:443"]);
            // Asked once for each connection, and what was found then is what is dialled.
            world.seen.forget();
            let first = world.answer(&["connect", "rebind.com", "443", "hi"]);
            let second = world.answer(&["connect", "rebind.com", "443", "hi"]);
            assert!(second == "failed: 403 this-machine", "{first} {second}");
            // An address that a profile names is reached, although it is inside.
            assert_eq!(world.answer(&["capture", "10.0.0.5", "443", "hi"]), "hi<end>");
        },
    },
    Scenario {
        name: "a denied address is denied to every name that leads there",
        run: |world| {
            world.compiled("only { allow \"good.com\"; allow \"mixed.com\"; deny \"93.184.216.34:*\" }");
            assert_eq!(world.answer(&["connect", "good.com", "443", "hi"]), "failed: 403 denied");
            let ran = world.ask(&["capture", "good.com", "443", "hi"]);
            assert!(ran.out.starts_with("failed"), "{ran:?}");
            assert!(ran.err.contains("`deny \"93.184.216.34:*\"` in `network only` denies it"), "{ran:?}");
            assert!(!world.seen.lines().iter().any(|line| line.starts_with("tcp")));
            assert_eq!(world.answer(&["connect", "mixed.com", "443", "hi"]), "hi<end>");
        },
    },
    Scenario {
        name: "TLS with another name than the admitted one goes nowhere",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            for way in ["connect", "socks", "capture"] {
                let answer = world.answer(&["hello", way, "good.com", "443", "good.com"]);
                assert!(answer.contains("good.com") && answer.ends_with("<end>"), "{way}: {answer}");
                world.seen.forget();
                let ran = world.ask(&["hello", way, "good.com", "443", "evil.com"]);
                assert!(ran.out.starts_with("failed"), "{way}: {ran:?}");
                assert!(ran.err.contains("sni-mismatch"), "{way}: {ran:?}");
                let seen = world.seen.lines();
                assert!(!seen.iter().any(|line| line.starts_with("bytes")), "{way}: {seen:?}");
            }
        },
    },
    Scenario {
        name: "there is no way but these",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            for to in ["9.9.9.9:53", "8.8.8.8:53", "93.184.216.34:443", "11.0.0.1:53"] {
                assert!(world.answer(&["udp", to, "x"]).starts_with("failed"), "{to}");
            }
            for port in ["22", "7777", "9999"] {
                assert!(
                    world.answer(&["capture", "93.184.216.34", port, "x"]).starts_with("failed"),
                    "{port}"
                );
            }
            for (family, kind, protocol) in [
                (libc::AF_PACKET, libc::SOCK_RAW, 0),
                (libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
                (libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP),
                (libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP),
                (libc::AF_VSOCK, libc::SOCK_STREAM, 0),
                (libc::AF_UNIX, libc::SOCK_STREAM, 0),
                (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT),
            ] {
                let numbers = [family, kind, protocol].map(|number| number.to_string());
                let [family, kind, protocol] = numbers.each_ref().map(String::as_str);
                let answer = world.answer(&["socket", family, kind, protocol]);
                assert!(answer.starts_with("failed"), "{numbers:?}: {answer}");
            }
            assert_eq!(world.seen.lines(), Vec::<String>::new());
            // What the walls of `network all` let through, so that the above says something.
            world.compiled("all");
            assert_eq!(world.answer(&["capture", "93.184.216.34", "7777", "x"]), "x<end>");
            assert_eq!(world.answer(&["resolve", "good.com"]), "93.184.216.34");
        },
    },
    Scenario {
        name: "a command's own servers are its own affair",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            assert_eq!(world.answer(&["listen"]), "own");
            assert_eq!(world.answer(&["resolve", "localhost"]).replace("::1", "").trim(), "127.0.0.1");
        },
    },
    Scenario {
        name: "many at once, a server that speaks first, and one that never does",
        run: |world| {
            world.compiled(&format!(
                "only {{ allow \"good.com\"; allow \"good.com:{BANNER}\"; allow \"good.com:{SILENT}\"; allow \"good.com:{SOURCE}\" }}"
            ));
            let banner = world.answer(&["first", "good.com", &BANNER.to_string()]);
            assert!(banner.starts_with("SSH-2.0"), "{banner}");
            assert_eq!(world.answer(&["many", "200", "good.com", "443"]), "200  still<end>");
            let more = world.ask(&["many", "300", "good.com", "443"]);
            assert!(more.out.starts_with("256 "), "{more:?}");
            assert!(more.err.contains("too-many-connections"), "{more:?}");
            let bytes = (64 << 20).to_string();
            assert_eq!(world.answer(&["source", &bytes, "good.com", &SOURCE.to_string()]), bytes);
            // Whoever is never answered does not keep the end waiting.
            let silent = SILENT.to_string();
            let before = Instant::now();
            let words = ["exec", "../limited.manifest.yaml"];
            let _ = words;
            let mut child = world
                .asking(&[], &["first", "good.com", &silent])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(300));
            rustix::process::kill_process(
                rustix::process::Pid::from_child(&child),
                rustix::process::Signal::TERM,
            )
            .unwrap();
            child.wait().unwrap();
            assert!(before.elapsed() < Duration::from_secs(6));
        },
    },
    Scenario {
        name: "a refusal says which line would admit, and a run says what was refused",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            let out = world.answer(&["http", "evil.com", "80", ""]);
            assert!(out.contains("X-Proxy-Error: not-allowed") && out.contains("evil.com:80"), "{out}");
            let ran = world.ask(&["connect", "evil.com", "8443", ""]);
            assert!(ran.err.contains("refused: `evil.com:8443` (not-allowed)"), "{ran:?}");
            assert!(ran.err.contains("`allow \"evil.com:8443\"`"), "{ran:?}");
        },
    },
    Scenario {
        name: "every connection is logged, where the command cannot change it",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            let (log, report) = (world.path("state/log"), world.path("state/report"));
            let options = ["--network-log", log.as_str(), "--report", report.as_str()];
            for host in ["good.com", "evil.com"] {
                let ran =
                    Ran::from(world.asking(&options, &["connect", host, "443", "hi"]).output().unwrap());
                assert_eq!(ran.code, Some(0), "{ran:?}");
            }
            let lines: Vec<serde_json::Value> = std::fs::read_to_string(&log)
                .unwrap()
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(lines.len(), 2, "{lines:?}");
            assert_eq!((&lines[0]["ev"], &lines[0]["ip"]), (&"close".into(), &"93.184.216.34".into()));
            assert_eq!((&lines[1]["ev"], &lines[1]["host"]), (&"deny".into(), &"evil.com".into()));
            let report: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
            assert_eq!(report["network"]["refused"][0]["line"], "allow \"evil.com\"");
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
            // Nowhere else.
            let inside = world.path("project/log");
            let refused = |options: &[&str], saying: &str| {
                let ran = Ran::from(world.asking(options, &["listen"]).output().unwrap());
                assert_eq!(ran.code, Some(125), "{ran:?}");
                assert!(ran.err.contains(saying) && ran.err.contains("nothing was run"), "{ran:?}");
            };
            refused(&["--network-log", inside.as_str()], "the command could replace the log");
            assert!(!inside.exists());
            std::os::unix::fs::symlink(&inside, world.path("state/link")).unwrap();
            refused(&["--network-log", world.path("state/link").as_str()], "connections cannot be logged");
            refused(&["--network-log", world.path("state").as_str()], "connections cannot be logged");
            world.compiled("off");
            refused(&["--network-log", log.as_str()], "`network off`");
        },
    },
    Scenario {
        name: "what carries the connections is behind walls itself, and goes when the program is killed",
        run: |world| {
            world.compiled(&format!("only {{ allow \"good.com:{SILENT}\" }}"));
            let mut child = world
                .asking(&[], &["first", "good.com", &SILENT.to_string()])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let children = || -> Vec<(i32, String)> {
                let of = format!("PPid:\t{}\n", child.id());
                let pids = std::fs::read_dir("/proc").unwrap().flatten();
                let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
                let statuses = pids.filter_map(|pid| {
                    Some((pid, std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?))
                });
                statuses.filter(|(_, status)| status.contains(&of)).collect()
            };
            let deadline = Instant::now() + Duration::from_secs(10);
            let gateway = loop {
                let found = children().into_iter().find(|(_, status)| {
                    let thread_count = status.lines().find_map(|line| line.strip_prefix("Threads:\t"));
                    thread_count.is_some_and(|count| count != "1")
                });
                match found {
                    Some(found) => break found,
                    None => assert!(Instant::now() < deadline, "{:?}", children()),
                }
            };
            for line in ["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] {
                assert!(gateway.1.contains(line), "{line}: {}", gateway.1);
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let deadline = Instant::now() + Duration::from_secs(5);
            while std::path::Path::new(&format!("/proc/{}/status", gateway.0)).exists() {
                assert!(Instant::now() < deadline, "it lives on");
                std::thread::sleep(Duration::from_millis(10));
            }
        },
    },
    Scenario {
        name: "where what carries the connections is killed, no other way opens",
        run: |world| {
            world.compiled("only { allow \"good.com\" }");
            let child = world
                .asking(&[], &["many", "2000", "evil.com", "443"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let of = format!("PPid:\t{}\n", child.id());
            let deadline = Instant::now() + Duration::from_secs(10);
            let gateway = loop {
                assert!(Instant::now() < deadline);
                let pids = std::fs::read_dir("/proc").unwrap().flatten();
                let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
                let found = pids.find(|pid| {
                    std::fs::read_to_string(format!("/proc/{pid}/status"))
                        .is_ok_and(|status| status.contains(&of) && !status.contains("Threads:\t1\n"))
                });
                if let Some(pid) = found.and_then(rustix::process::Pid::from_raw) {
                    break pid;
                }
            };
            rustix::process::kill_process(gateway, rustix::process::Signal::KILL).unwrap();
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert!(ran.out.starts_with("0 "), "{ran:?}");
            assert!(ran.err.contains("what carried its connections ended early"), "{ran:?}");
        },
    },
];
