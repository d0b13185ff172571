//! `host record`: what a compile asks of a machine, written down.

use crate::Place;

/// A manifest without what differs between machines by nature.
fn without_cache(text: &str) -> String {
    let end = text.find("\ncache:").expect("a cache");
    text[..end].to_owned()
}

fn project() -> Place {
    let place = Place::with(
        "a.palisade",
        "root \"$workspace\" read-write\nroot \"$workspace/vendor\" read-only\ndeny \"$workspace/.env\"\n\
         deny glob \"$workspace/**/*.pem\"\ndeny gitignored \"$workspace\"\nnetwork off",
    );
    for name in [".env", "certs/a.pem", "vendor/lib.c", "src/main.c", "debug.log"] {
        place.write(name, "x");
    }
    place.write(".gitignore", "*.log\n");
    std::os::unix::fs::symlink("src", place.path.join("code")).unwrap();
    place
}

#[test]
fn compiling_from_the_recording_gives_the_same_bytes() {
    let place = project();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("host.yaml");
    let file = file.to_str().unwrap();
    place.run(&["host", "record", "a.palisade", "-o", file]).exits(0);
    let printed = place.run(&["host", "record", "a.palisade"]).exits(0).out;
    assert_eq!(printed, std::fs::read_to_string(file).unwrap());
    place.run(&["compile", "a.palisade"]).exits(0);
    let live = place.read("a.manifest.yaml");
    place.run(&["compile", "a.palisade", "--host", file]).exits(0);
    assert_eq!(without_cache(&place.read("a.manifest.yaml")), without_cache(&live));
}

#[test]
fn what_was_not_asked_is_not_known() {
    let place = project();
    let recording = place.run(&["host", "record", "a.palisade"]).exits(0).out;
    let out = Place::empty();
    out.write("host.yaml", &recording);
    out.profile("other.palisade", "root \"$workspace\" read-only\ndeny \"/never-asked/x\"");
    out.run(&["check", "other.palisade", "--host", "host.yaml"]).exits(1).says("is not in the recording");
}

#[test]
fn a_recording_takes_the_place_of_a_recording_and_of_nothing_else() {
    let place = project();
    place.write("victim", "precious");
    place.write("list.yaml", "system: linux\nhome: /home/x\n");
    std::os::unix::fs::symlink("victim", place.path.join("link.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path.join("dangling.yaml")).unwrap();
    let profile = place.read("a.palisade");
    for file in ["a.palisade", "victim", "list.yaml", "link.yaml", "dangling.yaml", "src"] {
        place
            .run(&["host", "record", "a.palisade", "-o", file])
            .exits(2)
            .says(&format!("`{file}` was not written: something else than a recorded machine stands there"))
            .says("name another file");
    }
    assert_eq!((place.read("a.palisade"), place.read("victim")), (profile, "precious".to_owned()));
    assert!(!place.exists("nowhere"));
    place.run(&["host", "record", "a.palisade", "-o", "host.yaml"]).exits(0);
    place.write("host.yaml", "# by hand\nsystem: beos\narchitecture: x\nhome: /\nentries: {}\n");
    place.run(&["host", "record", "a.palisade", "-o", "host.yaml"]).exits(0);
    assert!(!place.read("host.yaml").contains("by hand"));
}

#[test]
fn a_recording_replaces_a_planted_link_and_does_not_write_through_it() {
    let place = project();
    place.run(&["host", "record", "a.palisade", "-o", "other.yaml"]).exits(0);
    let old = place.read("other.yaml").replace("system: ", "system:   ");
    place.write("other.yaml", &old);
    std::os::unix::fs::symlink("other.yaml", place.path.join("host.yaml")).unwrap();
    place.run(&["host", "record", "a.palisade", "-o", "host.yaml"]).exits(0);
    assert_eq!(place.read("other.yaml"), old);
    assert!(place.read("host.yaml").contains("system: "));
    assert!(!place.path.join("host.yaml").is_symlink());
}

#[test]
fn a_profile_that_is_not_understood_is_not_recorded() {
    let place = Place::empty();
    place.write("a.palisade", "profile {{{");
    place.run(&["host", "record", "a.palisade", "-o", "host.yaml"]).exits(1).says("nothing was recorded");
    assert!(!place.exists("host.yaml"));
    place.run(&["host", "record", "gone.palisade"]).exits(2);
}
