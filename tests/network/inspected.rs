//! Connections that are read: what is asked on them, with what values, and what is not.

use crate::suite::{Ran, Scenario, World};
use crate::world::TLS;
use std::fs;

const VALUE: &str = "tok_Zk3Vq8WmR2xY7pLs9TbN";

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a value is put in on the way to its host, and does not come back",
        run: |world| {
            compiled(world, "allow \"good.com:8443\"");
            for way in ["connect", "socks", "capture"] {
                world.seen.forget();
                let ran = ask(
                    world,
                    way,
                    "good.com",
                    "GET / HTTP/1.1\\r\\nHost: good.com:8443\\r\\nAuthorization: Bearer $TOKEN\\r\\nConnection: close\\r\\n\\r\\n",
                );
                assert!(
                    ran.out.contains("authorization: Bearer tok_") && !ran.out.contains(VALUE),
                    "{way}: {ran:?}"
                );
                let asked = asked(world);
                assert!(asked[0].contains(&format!("authorization: Bearer {VALUE}")), "{way}: {asked:?}");
                assert_eq!(ran.err, "", "{way}: {ran:?}");
            }
        },
    },
    Scenario {
        name: "what no line allows is refused, and the line is said that would allow it",
        run: |world| {
            compiled(world, "allow \"good.com:8443\" methods GET");
            let ran = ask(
                world,
                "connect",
                "good.com",
                "PUT /here HTTP/1.1\\r\\nHost: good.com:8443\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n",
            );
            assert!(
                ran.out.starts_with("HTTP/1.1 403 Forbidden") && ran.out.contains("request-not-allowed"),
                "{ran:?}"
            );
            assert!(ran.out.contains("allow \\\\\\\"good.com:8443\\\\\\\" methods PUT"), "{ran:?}");
            assert_eq!(asked(world), [""; 0]);
            assert!(ran.err.contains("`good.com:8443` (request-not-allowed)"), "{ran:?}");
            let ran = ask(
                world,
                "connect",
                "good.com",
                "GET /here HTTP/1.1\\r\\nHost: good.com:8443\\r\\nConnection: close\\r\\n\\r\\n",
            );
            assert!(ran.out.starts_with("HTTP/1.1 200 OK"), "{ran:?}");
        },
    },
    Scenario {
        name: "a placeholder on its way elsewhere is an alarm",
        run: |world| {
            compiled(world, "allow \"good.com:8443\"; inspect \"other.com:8443\"");
            let ran = ask(
                world,
                "capture",
                "other.com",
                "GET /?q=$TOKEN HTTP/1.1\\r\\nHost: other.com:8443\\r\\n\\r\\n",
            );
            assert!(
                ran.out.starts_with("HTTP/1.1 403 Forbidden") && ran.out.contains("secret-misdirected"),
                "{ran:?}"
            );
            assert_eq!(asked(world), [""; 0]);
            assert!(
                ran.err.contains("TOKEN") && ran.err.contains("other.com:8443") && !ran.err.contains("tok_"),
                "{ran:?}"
            );
        },
    },
    Scenario {
        name: "a server that the caller's authorities do not vouch for is not spoken to",
        run: |world| {
            compiled(world, "allow \"good.com:8443\"");
            let mut command = world.asking(
                &[],
                &words(
                    "connect",
                    "good.com",
                    "GET / HTTP/1.1\\r\\nHost: good.com:8443\\r\\nA: $TOKEN\\r\\n\\r\\n",
                ),
            );
            let ran: Ran = command.env("TOKEN", VALUE).output().unwrap().into();
            assert!(ran.out.starts_with("failed: "), "{ran:?}");
            assert!(ran.err.contains("`good.com:8443` (untrusted)"), "{ran:?}");
            assert_eq!(asked(world), [""; 0]);
        },
    },
    Scenario {
        name: "256 connections are read at once",
        run: |world| {
            compiled(world, "inspect \"good.com:8443\"");
            let ran: Ran = with(world, &["tls-many", "256", "good.com", "8443"]).output().unwrap().into();
            assert_eq!(ran.out.trim_end(), "256", "{ran:?}");
        },
    },
];

/// The requests that arrived beyond.
fn asked(world: &World) -> Vec<String> {
    let tls = format!("tls {TLS} ");
    world.seen.lines().iter().filter_map(|line| line.strip_prefix(&tls)).map(str::to_owned).collect()
}

fn words<'w>(way: &'w str, host: &'w str, message: &'w str) -> [&'w str; 5] {
    ["tls", way, host, "8443", message]
}

fn with(world: &World, words: &[&str]) -> std::process::Command {
    let mut command = world.asking(&[], words);
    command.env("TOKEN", VALUE).env("SSL_CERT_FILE", &world.authority);
    command
}

fn ask(world: &World, way: &str, host: &str, message: &str) -> Ran {
    let ran: Ran = with(world, &words(way, host, message)).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn compiled(world: &World, hosts: &str) {
    let text = format!(
        "edition 1\nprofile \"agent\" {{\n root \"$workspace\" read-write\n tool \"{}\"\n env {{ mask TOKEN for \"good.com:8443\" }}\n network only {{ {hosts} }}\n}}\n",
        world.client
    );
    fs::write(world.path("agent.palisade"), text).unwrap();
    let ran: Ran = world.palisade(&["compile", "../agent.palisade"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
