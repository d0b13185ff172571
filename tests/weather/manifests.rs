//! A manifest that is not what was compiled. That each byte counts is shown in `tests/manifest.rs`; here the program has to say so.

use crate::suite::Scenario;
use crate::world::{PROFILE, World};
use sha2::{Digest, Sha256};

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a manifest edited by one byte",
        run: |world| {
            let text = ready(world);
            let step = text.len() / 40;
            for at in (0..text.len()).step_by(step).chain(text.len() - 80..text.len()) {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
                refused(world, &bytes, "", &format!("byte {at}"));
            }
        },
    },
    Scenario {
        name: "a truncated manifest, and one with more at its end",
        run: |world| {
            let text = ready(world);
            let step = text.len() / 40;
            for length in (0..text.len()).step_by(step).chain(text.len() - 80..text.len()) {
                refused(world, &text.as_bytes()[..length], "", &format!("length {length}"));
            }
            for more in ["\n", "\0", "roots: []\n", &text] {
                refused(world, format!("{text}{more}").as_bytes(), "digest", more);
            }
            refused(world, b"\xff\xfe", "cannot be read", "not text");
        },
    },
    Scenario {
        name: "a manifest of a newer version",
        run: |world| {
            let text = ready(world);
            let newer = sealed(&text, |body| body.replacen("\nschema: 1\n", "\nschema: 2\n", 1));
            refused(world, newer.as_bytes(), "has schema 2, and this program reads schema 1", "newer");
            world.write("agent.manifest.yaml", &newer);
            world.exec("echo ran").helps("use the version of palisade that compiled it");
            // Of a form that this one can read, and may misread all the same.
            let own = env!("CARGO_PKG_VERSION");
            let written = |by: &str| {
                sealed(&text, |body| {
                    body.replacen(&format!("\npalisade: {own}\n"), &format!("\npalisade: {by}\n"), 1)
                })
            };
            for by in ["999.0.0", "999.0.0-rc.1"] {
                let says = format!("was written by palisade {by}, which is newer than this one, {own}");
                refused(world, written(by).as_bytes(), &says, by);
                world.write("agent.manifest.yaml", &written(by));
                world.exec("echo ran").helps("use the version of palisade that compiled it");
                let ran = world.ran(&["compile", "--check", world.path("agent.palisade").as_str()]);
                assert!(
                    ran.code == Some(1) && ran.err.contains(&says) && ran.err.contains("use that version"),
                    "{ran:?}"
                );
            }
            refused(world, written("tomorrow").as_bytes(), "is no version of palisade", "no version");
            world.write("agent.manifest.yaml", &written("0.0.0"));
            world.exec("echo ran").ended(0);
            // With things that nobody knows of yet.
            let newer = sealed(&text, |body| {
                body.replacen("\nschema: 1\n", "\nschema: 2\nwall-of-tomorrow: high\n", 1)
            });
            refused(world, newer.as_bytes(), "has schema 2", "newer, and with a field");
            let none = sealed(&text, |body| body.replacen("\nschema: 1\n", "\n", 1));
            refused(world, none.as_bytes(), "cannot be read", "of no version");
        },
    },
    Scenario {
        name: "a manifest with an unknown field",
        run: |world| {
            let text = ready(world);
            let same = sealed(&text, str::to_owned);
            assert_eq!(same, text);
            for (at, more) in [
                ("\nipc: off\n", "\nipc: off\nwall-of-tomorrow: high\n"),
                ("\nlimits:", "\nwall-of-tomorrow: {}\nlimits:"),
            ] {
                let edited = sealed(&text, |body| body.replacen(at, more, 1));
                refused(world, edited.as_bytes(), "wall-of-tomorrow", more);
            }
        },
    },
];

fn ready(world: &World) -> String {
    world.compiled(PROFILE);
    world.exec(":").ended(0);
    world.read("agent.manifest.yaml")
}

/// Changed, with a true digest at its end all the same.
fn sealed(text: &str, change: impl FnOnce(&str) -> String) -> String {
    let body = change(&text[..text.rfind("digest: sha256:").unwrap()]);
    let digest = palisade::manifest::hex(&Sha256::digest(body.as_bytes()));
    format!("{body}digest: sha256:{digest}\n")
}

#[track_caller]
fn refused(world: &World, bytes: &[u8], saying: &str, what: &str) {
    std::fs::write(world.path("agent.manifest.yaml"), bytes).unwrap();
    let before = world.before();
    let ran = world.exec("echo ran");
    assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{what}: {ran:?}");
    assert!(ran.err.contains(saying), "{what}: {ran:?}");
    assert!(ran.err.contains("help: "), "{what}: {ran:?}");
    world.nothing_left(&before);
}
