//! `check --fix` and `check --diff`: what is changed, what is not, and what is said of both.

use crate::{HOSTS, Place, Ran};
use std::os::unix::fs::{PermissionsExt as _, symlink};

const REPEATED: &str = "root \"$workspace\" read-only\nroot \"$workspace\" read-only";

impl Place {
    fn on_debian(&self, arguments: &[&str]) -> Ran {
        let host = format!("--host={HOSTS}/debian.yaml");
        self.run(&[arguments, &[&host]].concat())
    }

    fn on_both(&self, arguments: &[&str]) -> Ran {
        let hosts = [format!("--host={HOSTS}/debian.yaml"), format!("--host={HOSTS}/mac.yaml")];
        self.run(&[arguments, &[&hosts[0], &hosts[1]]].concat())
    }
}

fn profile(statements: &str) -> String {
    format!("edition 1\nprofile \"case\" {{\n    {}\n}}\n", statements.replace('\n', "\n    "))
}

#[test]
fn safe_fixes_are_made_until_none_is_left_and_the_rest_is_counted() {
    let place = Place::with(
        "a.palisade",
        "param docs \"~/other\"\n# for the review\nroot \"$workspace\" read-only   # all of it\n\
         root \"$workspace/src\" read-only\nroot \"$workspace/src\" read-only\ntools g++ git, find\nenv { pass GITHUB_TOKEN }",
    );
    // Behind the mistakes of the language stand those that only a check finds.
    let ran =
        place.on_debian(&["check", "--fix", "a.palisade"]).exits(1).says("the tool `g++` is not installed");
    assert!(ran.out.ends_with("5 fixed, 1 fixable with --unsafe-fixes\n"), "{}", ran.out);
    let left = "# for the review\nroot \"$workspace\" read-only   # all of it\ntools \"g++\" git find\n\
                env { pass GITHUB_TOKEN }";
    assert_eq!(place.read("a.palisade"), profile(left));
    let again = place.on_debian(&["check", "--fix", "a.palisade"]).exits(1).says("0 fixed");
    assert_eq!((place.read("a.palisade"), again.err.as_str()), (profile(left), ""));
    place.on_debian(&["check", "--fix", "--unsafe-fixes", "a.palisade"]).exits(1).says("1 fixed\n");
    assert!(place.read("a.palisade").contains("\n    env { }\n"));
}

#[test]
fn a_diff_shows_what_would_change_and_writes_nothing() {
    let place = Place::with("a.palisade", &format!("{REPEATED}\ntools gti"));
    place.profile("b.palisade", "root \"$workspace\" read-only");
    let before = place.read("a.palisade");
    let ran = place.on_debian(&["check", "--diff", "."]).exits(1);
    assert_eq!(
        ran.out,
        "--- a.palisade\n+++ a.palisade\n@@ -1,6 +1,5 @@\n edition 1\n profile \"case\" {\n     root \"$workspace\" read-only\n\
         -    root \"$workspace\" read-only\n     tools gti\n }\n"
    );
    assert_eq!(ran.err, "1 would be fixed, 1 fixable with --unsafe-fixes\n");
    let ran = place.on_debian(&["check", "--diff", "--unsafe-fixes", "."]).exits(1).says("2 would be fixed");
    assert!(ran.out.contains("-    tools gti\n+    tools git\n"), "{}", ran.out);
    assert_eq!(place.read("a.palisade"), before);
    // Findings alone do not make it fail.
    place.profile("a.palisade", "root \"$workspace\" read-only\ntools none-such-tool");
    let ran = place.on_debian(&["check", "--diff", "."]).exits(0).says("0 would be fixed");
    assert_eq!(ran.out, "");
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    let place = Place::with("a.palisade", REPEATED);
    for arguments in [
        &["check", "--fix", "--diff", "."][..],
        &["check", "--unsafe-fixes", "."],
        &["check", "--diff", "--format", "json", "."],
    ] {
        place.on_debian(arguments).exits(2);
    }
    assert_eq!(place.read("a.palisade"), profile(REPEATED));
}

#[test]
fn standard_input_is_fixed_onto_standard_output() {
    let place = Place::empty();
    let host = format!("--host={HOSTS}/debian.yaml");
    let text = profile(REPEATED).replace('\n', "\r\n");
    let text = format!("\u{feff}{text}");
    let ran = place.run_with(&["check", "--fix", "-", &host], &text).exits(0);
    let fixed = profile("root \"$workspace\" read-only").replace('\n', "\r\n");
    assert_eq!(ran.out, format!("\u{feff}{fixed}"));
    assert!(
        ran.err.ends_with("1 fixed\n") && ran.err.contains("no findings in standard input"),
        "{}",
        ran.err
    );
    // What cannot be fixed comes out as it went in.
    let ran = place.run_with(&["check", "--fix", "-", &host], "edition 1\n").exits(1);
    assert_eq!(ran.out, "edition 1\n");
    let ran = place.run_with(&["check", "--diff", "-", &host], &text).exits(1);
    assert!(ran.out.starts_with("--- standard input\n"), "{}", ran.out);
}

#[test]
fn formats_for_programs_stay_whole() {
    for format in ["json", "sarif"] {
        let place = Place::with("a.palisade", REPEATED);
        let ran = place.on_debian(&["check", "--fix", "--format", format, "."]).exits(0);
        serde_json::from_str::<serde_json::Value>(&ran.out).expect("one JSON document");
        assert_eq!(ran.err, "1 fixed\n");
    }
}

#[test]
fn a_file_keeps_its_mode_and_its_link() {
    let place = Place::empty();
    place.profile("policies/real.txt", REPEATED);
    let real = place.path.join("policies/real.txt");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("policies/real.txt", place.path.join("a.palisade")).unwrap();
    place.on_debian(&["check", "--fix", "a.palisade"]).exits(0);
    assert_eq!(place.read("policies/real.txt"), profile("root \"$workspace\" read-only"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
    assert!(place.path.join("a.palisade").is_symlink());
}

/// A repository with such a link in it must not have a check write elsewhere.
#[test]
fn a_link_that_leads_out_of_what_was_given_is_not_followed() {
    let place = Place::empty();
    place.profile("elsewhere/real.palisade", REPEATED);
    std::fs::create_dir(place.path.join("repository")).unwrap();
    symlink("../elsewhere/real.palisade", place.path.join("repository/a.palisade")).unwrap();
    let ran = place.on_debian(&["check", "--fix", "repository"]).exits(1);
    assert!(
        ran.err.contains("not fixed (remove the repetition): it stands in a file that was not given"),
        "{}",
        ran.err
    );
    assert_eq!(place.read("elsewhere/real.palisade"), profile(REPEATED));
}

#[test]
fn where_an_input_cannot_be_read_nothing_is_written() {
    let place = Place::with("a.palisade", REPEATED);
    std::fs::write(place.path.join("latin.palisade"), b"edition 1\nprofile \"\xe9\" {}\n").unwrap();
    for option in ["--fix", "--diff"] {
        place
            .on_debian(&["check", option, "."])
            .exits(2)
            .says("nothing is fixed, since not everything could be read");
        assert_eq!(place.read("a.palisade"), profile(REPEATED));
    }
}

#[test]
fn a_file_that_is_write_protected_or_changes_meanwhile_is_not_replaced() {
    let place = Place::with("a.palisade", REPEATED);
    let path = place.path.join("a.palisade");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    place.on_debian(&["check", "--fix", "."]).exits(2).says("`a.palisade` cannot be written");
    assert_eq!(place.read("a.palisade"), profile(REPEATED));
}

#[test]
fn a_fragment_is_fixed_only_where_it_was_given_and_all_who_use_it_agree() {
    let fragment = "edition 1\nfragment \"shared\" {\n    param docs \"~/other\"\n    root \"$workspace/src\" read-only\n}\n";
    let make = || {
        let place = Place::empty();
        place.write("shared.palisade", fragment);
        place.profile("one.palisade", "use \"shared.palisade\"\nroot \"$workspace\" read-only");
        place
    };
    // Not given.
    let place = make();
    let ran = place.on_debian(&["check", "--fix", "one.palisade"]).exits(1);
    assert!(
        ran.err.contains("[unused-param] not fixed (remove the parameter): it stands in a file"),
        "{}",
        ran.err
    );
    assert_eq!(place.read("shared.palisade"), fragment);
    // Given, and used by nobody else.
    place.on_debian(&["check", "--fix", "."]).exits(0).says("1 fixed");
    assert!(!place.read("shared.palisade").contains("param"));
    // Another profile reads the parameter.
    let place = make();
    place.profile(
        "two.palisade",
        "use \"shared.palisade\"\nroot \"$workspace\" read-only\nroot \"$docs\" read-only",
    );
    let ran = place.on_debian(&["check", "--fix", "."]).exits(1);
    assert!(ran.err.contains("not every profile and host that it concerns offers it"), "{}", ran.err);
    assert_eq!(place.read("shared.palisade"), fragment);
}

#[test]
fn what_ships_with_the_program_is_never_changed() {
    let place = Place::with(
        "a.palisade",
        "use \"std/git\"\nuse \"std/git\"\nroot \"$workspace\" read-only\ntools git",
    );
    place.on_debian(&["check", "--fix", "."]).exits(0).says("1 fixed");
    assert_eq!(
        place.read("a.palisade"),
        profile("use \"std/git\"\nroot \"$workspace\" read-only\ntools git")
    );
}

/// On one host the inner denial is needed, on the other the outer one holds it: `~/work` leads to the workspace there.
#[test]
fn a_denial_that_is_needed_on_one_host_stays_on_all() {
    let statements = "root \"$workspace\" read-only\nroot \"~/project\" read-only\ndeny \"~/project/.env\"\n\
                      deny \"$workspace/.env\"\ntools cat";
    let place = Place::with("a.palisade", statements);
    // One host: the two are one file there, which another host need not think.
    let ran = place.on_debian(&["check", "--fix", "a.palisade"]).exits(1);
    assert_eq!(place.read("a.palisade"), profile(statements));
    assert!(ran.out.contains("0 fixed, 2 fixable with --unsafe-fixes"), "{}", ran.out);
    // Two that agree to a fix which is said to change the meaning.
    place.on_both(&["check", "--fix", "--unsafe-fixes", "a.palisade"]).exits(0).says("2 fixed");
    // Two of which one has no such file elsewhere.
    let other = "root \"$workspace\" read-only\nroot \"~/work\" read-only\ntools cat";
    place.profile("a.palisade", other);
    let ran = place.on_both(&["check", "--fix", "--unsafe-fixes", "a.palisade"]).exits(1);
    assert_eq!(place.read("a.palisade"), profile(other));
    assert!(
        ran.err.contains("[repeated-root] not fixed (remove the repetition): not every profile and host"),
        "{}",
        ran.err
    );
}

/// A safe fix that only one host offers is made where the other loses and gains nothing by it.
#[test]
fn a_fix_of_one_host_alone_must_change_nothing_for_the_others() {
    let block = |system: &str| {
        format!("root \"$workspace\" read-only\non {system} {{\n    tools cat\n    tools cat\n}}")
    };
    let place = Place::with("a.palisade", &block("linux"));
    place.on_both(&["check", "--fix", "a.palisade"]).exits(0).says("1 fixed");
    assert_eq!(
        place.read("a.palisade"),
        profile("root \"$workspace\" read-only\non linux {\n    tools cat\n}")
    );
    // The Mac has no such directory: there the statement is an error, and grants nothing either.
    place.profile(
        "b.palisade",
        "root \"$workspace\" read-only\nroot \"$workspace/target\" read-only\ntools cat",
    );
    place.on_both(&["check", "--fix", "b.palisade"]).exits(0).says("1 fixed");
    assert_eq!(place.read("b.palisade"), profile("root \"$workspace\" read-only\ntools cat"));
    // An allowance that the Mac has nothing for, and the other has.
    let allowed = "root \"$workspace\" read-only\n# palisade: allow(unmatched-denial) made by the build\n\
                   deny glob \"$workspace/**/*.o\"\ntools cat";
    place.profile("c.palisade", allowed);
    let ran = place.on_both(&["check", "--fix", "c.palisade"]).exits(1);
    assert!(ran.err.contains("[unused-allowance] not fixed (remove the comment): not every"), "{}", ran.err);
    assert_eq!(place.read("c.palisade"), profile(allowed));
}

/// Root could write to it all the same.
#[test]
fn what_cannot_be_written_is_neither_counted_nor_left_out_of_the_report() {
    for mode in [0o444, 0o2644] {
        let place = Place::empty();
        place.profile("a.palisade", "root \"$workspace\" read-only\nparam unread \"x\"");
        let path = place.path.join("a.palisade");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let before = place.read("a.palisade");
        let ran = place.on_debian(&["check", "--fix", "."]).exits(2).says("`a.palisade` cannot be written");
        assert!(ran.out.contains("unused-param") && ran.out.contains("0 fixed"), "{}", ran.out);
        assert_eq!(place.read("a.palisade"), before);
    }
}
