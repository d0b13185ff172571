//! `compile`: what is written, where, and how.

use crate::{Place, snapshot};

const CLEAN: &str = "root \"$workspace\" read-only\nroot \"$workspace/review\" read-write";

#[test]
fn it_writes_beside_the_profile_or_where_it_is_told() {
    let place = Place::with("policies/a.palisade", CLEAN);
    place.on_examples(&["compile", "policies/a.palisade"]).exits(0).says("wrote ");
    assert!(place.exists("policies/a.manifest.yaml") && !place.exists("policies/a.sb"));
    std::fs::create_dir(place.path.join("out")).unwrap();
    place.on_examples(&["compile", "policies/a.palisade", "--out-dir", "out"]).exits(0);
    assert!(place.exists("out/a.manifest.yaml"));
    place
        .on_examples(&["compile", "policies/a.palisade", "--out-dir", "gone"])
        .exits(2)
        .says("cannot be written: there is no directory");
    assert!(!place.exists("gone"));
    place.on_mac(&["compile", "policies/a.palisade", "--out-dir", "out"]).exits(1);
    assert!(!place.exists("out/a.sb"), "the profile has errors there");
}

/// A list without an entry is off, which every system can hold.
#[test]
fn a_list_of_hosts_that_allows_none_is_off() {
    for list in ["network only { }", "network only { deny \"example.com\" }"] {
        let place = Place::with("a.palisade", &format!("root \"$workspace\" read-only\n{list}"));
        place.on_mac(&["compile", "a.palisade"]).exits(0);
        assert!(place.read("a.sb").contains(";; network\n; off: (deny default) holds\n"));
        place.on_mac(&["why", "connect", "example.com"]).exits(1);
    }
}

#[test]
fn a_path_without_a_spelling_is_shown_where_it_is_stated() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-write\ndeny \"$workspace/a\\nb\"");
    place.on_mac(&["compile", "a.palisade"]).exits(1).says("control character").says("a.palisade:4");
}

#[test]
fn the_same_again_gives_the_same_bytes() {
    let place = Place::with("a.palisade", CLEAN);
    place.on_examples(&["compile", "a.palisade"]).exits(0);
    let first = place.read("a.manifest.yaml");
    place.on_examples(&["compile", "a.palisade"]).exits(0);
    assert_eq!(place.read("a.manifest.yaml"), first);
}

#[test]
fn a_live_workspace_compiles_to_the_same_bytes_whether_or_not_it_was_compiled_before() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-write");
    place.run(&["compile", "a.palisade"]).exits(0);
    place.run(&["compile", "a.palisade", "--check"]).exits(0);
    // A profile beside it that is compiled later changes nothing either.
    place.profile("b.palisade", "root \"$workspace\" read-only");
    place.run(&["compile", "a.palisade"]).exits(0);
    place.run(&["compile", "b.palisade"]).exits(0);
    place.run(&["compile", "a.palisade", "--check"]).exits(0);
    place.run(&["why", "write", "b.manifest.yaml", "-p", "a.palisade"]).exits(1);
    place.run(&["why", "write", "a.manifest.yaml", "-p", "a.palisade"]).exits(1);
}

#[test]
fn check_writes_nothing_and_tells_what_is_stale() {
    let place = Place::with("a.palisade", CLEAN);
    place.on_examples(&["compile", "a.palisade", "--check"]).exits(1).says("cannot be read");
    assert!(!place.exists("a.manifest.yaml"));
    place.on_examples(&["compile", "a.palisade"]).exits(0);
    place.on_examples(&["compile", "a.palisade", "--check"]).exits(0);
    place.profile("a.palisade", &format!("{CLEAN}\ndeny \"$workspace/.env\""));
    let stale = place.read("a.manifest.yaml");
    place
        .on_examples(&["compile", "a.palisade", "--check"])
        .exits(1)
        .says("is not what compiling would give");
    assert_eq!(place.read("a.manifest.yaml"), stale);
    let place = Place::with("m.palisade", "root \"$workspace\" read-only");
    place.on_mac(&["compile", "m.palisade"]).exits(0);
    place.on_mac(&["compile", "m.palisade", "--check"]).exits(0);
    place.write("m.sb", &format!("{}(allow default)\n", place.read("m.sb")));
    place.on_mac(&["compile", "m.palisade", "--check"]).exits(1).says("m.sb");
}

#[test]
fn a_link_planted_at_the_place_is_replaced_and_not_written_through() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-only");
    place.write("victim", "precious");
    for name in ["a.manifest.yaml", "a.sb"] {
        std::os::unix::fs::symlink("victim", place.path.join(name)).unwrap();
    }
    place.on_mac(&["compile", "a.palisade"]).exits(0);
    assert_eq!(place.read("victim"), "precious");
    for name in ["a.manifest.yaml", "a.sb"] {
        assert!(place.path.join(name).symlink_metadata().unwrap().is_file(), "{name}");
    }
    let left: Vec<_> =
        place.path.read_dir_utf8().unwrap().map(|it| it.unwrap().file_name().to_owned()).collect();
    assert_eq!(left.len(), 4, "nothing else is left: {left:?}");
}

#[test]
fn an_old_artifact_stays_where_the_profile_has_errors() {
    let place = Place::with("a.palisade", CLEAN);
    place.on_examples(&["compile", "a.palisade"]).exits(0);
    let old = place.read("a.manifest.yaml");
    place.profile("a.palisade", "root \"$workspace/gone\" read-only");
    let ran = place.on_examples(&["compile", "a.palisade"]).exits(1);
    assert_eq!(place.read("a.manifest.yaml"), old);
    snapshot("nothing-compiled", &place, &ran.err);
}

#[test]
fn warnings_keep_from_compiling_only_where_asked() {
    let place = Place::with("a.palisade", &format!("{CLEAN}\nparam unused \"x\""));
    place
        .on_examples(&["compile", "a.palisade", "--fail-on", "warning"])
        .exits(1)
        .says("nothing was compiled");
    assert!(!place.exists("a.manifest.yaml"));
    place.on_examples(&["compile", "a.palisade"]).exits(0).says("unused-param");
}
