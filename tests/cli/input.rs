//! What cannot be read, and what is read from elsewhere.

use crate::{HOSTS, Place};

const CLEAN: &str = "root \"$workspace\" read-only";

#[cfg(target_os = "linux")]
fn fifo(place: &Place, name: &str) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, place.path.join(name).as_std_path(), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}

/// There is no safe call for it there; mkfifo(1) is part of the base system.
#[cfg(not(target_os = "linux"))]
fn fifo(place: &Place, name: &str) {
    let made = std::process::Command::new("/usr/bin/mkfifo").arg(place.path.join(name)).status();
    assert!(made.unwrap().success());
}

#[test]
fn what_is_no_text_is_unreadable_and_nothing_hangs() {
    let place = Place::with("good.palisade", CLEAN);
    std::fs::create_dir(place.path.join("dir.palisade")).unwrap();
    std::fs::write(place.path.join("nul.palisade"), b"edition 1\n\0").unwrap();
    std::fs::write(place.path.join("latin.palisade"), b"edition 1\nprofile \"\xe9\" {}\n").unwrap();
    std::fs::write(place.path.join("huge.palisade"), vec![b'#'; (4 << 20) + 1]).unwrap();
    fifo(&place, "fifo.palisade");
    for (name, said) in [
        ("gone.palisade", "cannot be read"),
        ("nul.palisade", "NUL"),
        ("latin.palisade", "not UTF-8"),
        ("huge.palisade", "bytes long"),
        ("fifo.palisade", "not a plain file"),
        ("/dev/zero", "not a plain file"),
    ] {
        for verb in ["check", "compile", "fmt"] {
            let ran = if verb == "fmt" { place.run(&[verb, name]) } else { place.on_examples(&[verb, name]) };
            ran.exits(2).says(said);
        }
        place.on_examples(&["why", "read", "/x", "--profile", name]).exits(2).says(said);
        place.run(&["run", name, "--", "true"]).exits(125).says(said);
    }
    place.on_examples(&["compile", "dir.palisade"]).exits(2).says("directory");
    for host in ["gone.yaml", "fifo.palisade", "dir.palisade", "nul.palisade", "latin.palisade"] {
        place.run(&["check", "good.palisade", "--host", host]).exits(2).says(host);
        place.run(&["exec", host, "--", "true"]).exits(125).says(host);
    }
    place.write("host.yaml", "system: linux\nsurprise: 1\n");
    place.run(&["check", "good.palisade", "--host", "host.yaml"]).exits(2).says("is not a recorded machine");
}

#[test]
fn a_fifo_that_is_used_by_a_profile_does_not_hang() {
    let place = Place::with("a.palisade", &format!("{CLEAN}\nuse \"fifo.palisade\""));
    fifo(&place, "fifo.palisade");
    place.on_examples(&["check", "a.palisade"]).exits(1).says("is not a regular file");
}

#[test]
fn a_profile_from_standard_input() {
    let place = Place::empty();
    let text = format!("edition 1\nprofile \"x\" {{\n{CLEAN}\n}}\n");
    let host = format!("--host={HOSTS}/examples.yaml");
    place.run_with(&["check", "-", &host], &text).exits(0);
    place.run_with(&["check", "-", &host], "profile").exits(1).says("standard input");
    place.run_with(&["compile", "-", &host], &text).exits(2).says("--out-dir");
    place.run_with(&["compile", "-", "--out-dir", ".", &host], &text).exits(0);
    assert!(place.exists("profile.manifest.yaml"));
}

#[test]
fn parameters_are_set_and_only_those_declared() {
    let place = Place::with(
        "a.palisade",
        "param part \"src\"\nroot \"$workspace/$part\" read-only\nworking-directory \"$workspace/$part\"",
    );
    let why =
        |set: &str, path: &str| place.on_examples(&["why", "read", path, "-p", "a.palisade", "--set", set]);
    place.on_examples(&["check", "a.palisade"]).exits(0);
    why("part=docs", "docs/guide.md").exits(0);
    why("part=docs", "src/lib.rs").exits(1);
    place.on_examples(&["check", "a.palisade", "--set", "part=gone"]).exits(1).says("missing-root");
    place.on_examples(&["check", "a.palisade", "--set", "prat=docs"]).exits(1).says("prat").says("part");
}

#[test]
fn a_mac_needs_a_recording_of_one() {
    let place = Place::with("a.palisade", CLEAN);
    if cfg!(target_os = "linux") {
        place.run(&["check", "a.palisade", "--target", "macos"]).exits(1).says("host record");
    }
    place
        .on_examples(&["compile", "a.palisade", "--target", "macos"])
        .exits(1)
        .says("a profile for macos needs a macos machine");
    place
        .on_mac(&["check", "a.palisade", "--target", "linux"])
        .exits(1)
        .says("a profile for linux needs a linux machine");
    place.on_mac(&["compile", "a.palisade", "--target", "macos"]).exits(0);
    assert!(place.exists("a.sb") && place.exists("a.manifest.yaml"));
}

#[test]
fn ports_and_sockets_of_this_machine_are_compiled_for_a_mac() {
    let lines = "network only { localhost 5432; unix \"/private/var/run/db.sock\" }";
    let place = Place::with("a.palisade", &format!("root \"$workspace\" read-only\n{lines}"));
    place.on_mac(&["compile", "a.palisade"]).exits(0);
    assert!(place.read("a.sb").contains("(remote tcp \"localhost:5432\")"));
    for (asked, code) in [
        ("localhost:5432", 0),
        ("localhost:5433", 1),
        ("unix:/private/var/run/db.sock", 0),
        ("/private/var/run/db.sock", 0),
        ("unix:/private/var/run/other.sock", 1),
    ] {
        place.on_mac(&["why", "connect", asked]).exits(code);
    }
}

#[test]
fn a_list_of_hosts_is_compiled_for_both_systems() {
    let list = "network only { allow \"example.com\" }";
    let place = Place::with("a.palisade", &format!("root \"$workspace\" read-only\n{list}"));
    place.on_examples(&["compile", "a.palisade"]).exits(0);
    assert!(place.read("a.manifest.yaml").contains("network: only"));
    place.on_mac(&["compile", "a.palisade"]).exits(0);
    assert!(place.read("a.sb").contains("(param \"PROXY_PORT\")"));
    for (host, code) in [("example.com", 0), ("example.com:22", 1), ("example.org", 1)] {
        place.on_mac(&["why", "connect", host]).exits(code);
    }
}

#[test]
fn a_tree_as_deep_as_paths_may_be_is_walked() {
    let place = Place::with(
        "a.palisade",
        "root \"$workspace\" read-only\ndeny glob \"$workspace/**/*.pem\"\ndeny gitignored \"$workspace\"",
    );
    place.write(".gitignore", "*.log\n");
    let mut deep = place.path.clone();
    while deep.as_str().len() < 3900 {
        deep.push("d");
    }
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("k.pem"), "").unwrap();
    std::fs::write(deep.join("k.log"), "").unwrap();
    for name in ["k.pem", "k.log"] {
        place
            .run(&["why", "read", deep.join(name).as_str(), "-p", "a.palisade"])
            .exits(1)
            .says("denied: read");
    }
}

#[test]
fn names_that_could_be_read_as_something_else_are_only_names() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-only\ndeny glob \"$workspace/**/*.pem\"");
    for name in [
        "a\nb.pem",
        "- x: [1].pem",
        "\u{1b}[31mred.pem",
        "\"quoted\" #.pem",
        "\u{202e}mep.pem",
        "digest: sha256:00.pem",
    ] {
        std::fs::write(place.path.join(name), "").unwrap();
    }
    std::os::unix::fs::symlink("a.palisade", place.path.join("l.txt")).unwrap();
    fifo(&place, "pipe.pem");
    let ran = place.run(&["compile", "a.palisade", "--fail-on", "error"]).exits(0);
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'));
    let manifest = palisade::manifest::read(&place.read("a.manifest.yaml")).unwrap();
    let protected: Vec<_> = manifest.protected.iter().filter_map(|it| it.path.file_name()).collect();
    for name in ["a\nb.pem", "- x: [1].pem", "\u{1b}[31mred.pem", "pipe.pem", "digest: sha256:00.pem"] {
        assert!(protected.contains(&name), "{name:?}");
    }
}

#[test]
fn a_parameter_set_twice_is_a_usage_error() {
    let place = Place::with("a.palisade", &format!("{CLEAN}\nparam part \"src\"\ndeny \"$workspace/$part\""));
    for second in ["part=docs", "part=src"] {
        let sets = ["--set", "part=src", "--set", second];
        for verb in [
            &["check", "a.palisade"][..],
            &["compile", "a.palisade"],
            &["why", "read", "/x", "-p", "a.palisade"],
        ] {
            let arguments: Vec<&str> = verb.iter().copied().chain(sets).collect();
            place.on_examples(&arguments).exits(2).says("`--set part` is given twice");
        }
    }
}
