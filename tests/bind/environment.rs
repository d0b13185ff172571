//! Where a command starts and what it finds in its environment.

use crate::road::{debian, machine, walk};
use palisade::plan::Operation;

#[test]
fn it_starts_in_the_workspace_where_a_root_holds_it_and_else_where_it_is_told() {
    let host = machine(&["/w/src: directory", "/data/sub: directory", "/link: -> data"]);
    assert_eq!(walk(&host, "root \"/w\" read-only").plan().working_directory, "/w");
    assert_eq!(
        walk(&host, "root \"/w/src\" read-only\nworking-directory \"/w/src\"").plan().working_directory,
        "/w/src"
    );
    let walked = walk(&host, "root \"/data\" read-only");
    assert_eq!(walked.errors(), ["missing-working-directory"]);
    let walked = walk(&host, "root \"/data\" read-only\nworking-directory \"/link/sub\"");
    assert_eq!((walked.plan().working_directory.as_str(), walked.errors()), ("/data/sub", vec![]));
}

#[test]
fn the_path_names_the_directories_of_tools_and_no_other() {
    let path = |statements: &str| {
        walk(&debian(), &format!("root \"$workspace\" read-only\n{statements}")).plan().environment.set["PATH"].clone()
    };
    assert_eq!(path(""), "/usr/bin:/bin");
    assert_eq!(path("tools git sh"), "/usr/bin:/bin");
    assert_eq!(
        path("tool \"~/.pyenv/versions/3.12.1/bin/python3\"\ntools git"),
        "/home/dev/.pyenv/versions/3.12.1/bin:/usr/bin:/bin"
    );
}

#[test]
fn a_stated_tool_is_found_before_programs_of_its_name_that_are_not_granted() {
    let host = machine(&[
        "/usr/bin/python3: program",
        "/usr/bin/git: program",
        "/usr/bin/env: program",
        "/usr/bin/node: program",
        "/odd/place/bin/python3: program",
        "/odd/place/bin/git: program",
        "/odd/tool/bin/show: { mode: \"0755\", head: \"#!/usr/bin/env node\\n\" }",
    ]);
    let walk = |statements: &str| walk(&host, &format!("root \"$workspace\" read-only\n{statements}"));
    let path = |statements: &str| walk(statements).plan().environment.set["PATH"].clone();
    let odd = "tool \"/odd/place/bin/python3\"";
    for statements in [odd.to_owned(), format!("tools env\n{odd}")] {
        assert_eq!(path(&statements), "/odd/place/bin:/usr/bin:/bin", "{statements}");
    }
    // Where env is to find the interpreter of a script comes after all that is stated.
    let script = "tool \"/odd/tool/bin/show\"";
    assert_eq!(path(&format!("{script}\n{odd}")), "/odd/tool/bin:/odd/place/bin:/usr/bin:/bin");
    // In the order in which they are stated, but for what a program without a grant would hide.
    assert_eq!(path(&format!("tool \"/usr/bin/env\"\n{odd}")), "/odd/place/bin:/usr/bin:/bin");
    let both = "tool \"/usr/bin/python3\"\ntool \"/odd/place/bin/python3\"";
    assert_eq!(path(both), "/usr/bin:/odd/place/bin:/bin");
    let told = |statements: &str| -> Vec<String> {
        let walked = walk(statements);
        let of_rule = walked.checked.findings.iter().filter(|finding| finding.rule == "shadowed-tool");
        of_rule.map(|finding| finding.message.clone()).collect()
    };
    assert_eq!(told(both), ["`python3` is granted twice, and `/usr/bin/python3` comes first on PATH"]);
    assert_eq!(told(odd), [""; 0]);
    assert_eq!(
        told(&format!("{odd}\ntools git")),
        ["`/odd/place/bin/git` comes first on PATH, and is not granted"]
    );
    assert_eq!(told("tools git python3\ntool \"/odd/place/bin/git\"").len(), 2);
}

#[test]
fn an_interpreter_that_env_has_to_find_is_on_the_path_and_may_run() {
    let walked =
        walk(&debian(), "root \"$workspace\" read-only\ntool \"~/.nvm/versions/node/v20.1.0/bin/npm\"");
    let set = &walked.plan().environment.set;
    assert!(
        set["PATH"].split(':').any(|place| place == "/home/dev/.nvm/versions/node/v20.1.0/bin"),
        "{}",
        set["PATH"]
    );
    assert!(walked.allows(Operation::Exec, "/home/dev/.nvm/versions/node/v20.1.0/bin/node"));
    assert!(walked.allows(Operation::Exec, "/usr/bin/env"));
}

#[test]
fn a_script_brings_its_interpreter_and_the_manifest_says_that_it_can_be_run_by_itself() {
    let walked = walk(&debian(), "root \"$workspace\" read-only\ntools format-report");
    assert!(walked.allows(Operation::Exec, "/usr/bin/python3.11"));
    assert!(walked.plan().losses.iter().any(|loss| loss.text.contains("`format-report` is a script")));
}

#[test]
fn nothing_of_the_caller_s_but_what_is_passed_on() {
    let walked = walk(
        &machine(&["/w/x: file"]),
        "root \"/w\" read-only\nenv { pass TERM; set LANG \"C.UTF-8\"; pass LC_TIME }",
    );
    let environment = &walked.plan().environment;
    assert_eq!(environment.pass, ["LC_TIME", "TERM"]);
    assert_eq!(environment.set["LANG"], "C.UTF-8");
    assert!(!environment.set.contains_key("LC_ALL"), "it would win over what the profile states");
    assert_eq!(environment.set["HOME"], "/var/empty");
    assert_eq!(environment.set["GIT_CONFIG_GLOBAL"], "/dev/null");
    assert_eq!(environment.set["TMPDIR"], walked.plan().scratch);
}

#[test]
fn what_is_passed_is_the_caller_s_value_whatever_palisade_sets_by_default() {
    let host = machine(&["/w/x: file"]);
    let defaults = walk(&host, "root \"/w\" read-only").plan().environment.set.clone();
    assert!(defaults.contains_key("GIT_CONFIG_GLOBAL") && defaults.contains_key("LC_ALL"));
    for name in defaults.keys() {
        let walked = walk(&host, &format!("root \"/w\" read-only\nenv {{ pass {name} }}"));
        let environment = &walked.plan().environment;
        assert_eq!(environment.pass, [name.as_str()]);
        assert!(!environment.set.contains_key(name), "{name}");
    }
}

#[test]
fn what_may_run_in_a_root_is_not_chosen_by_a_link_that_a_command_may_have_put_there() {
    let statements = "root \"/w\" read-write\nexecutable \"/w/build\"";
    let walked = walk(&machine(&["/w/build: directory"]), statements);
    assert!(walked.allows(Operation::Exec, "/w/build/test"));
    for target in ["/usr", "/", "other"] {
        let walked = walk(&machine(&[&format!("/w/build: -> {target}"), "/w/other/x: file"]), statements);
        for path in ["/usr/bin/gdb", "/w/other/x", "/w/build/x"] {
            assert!(!walked.allows(Operation::Exec, path), "{target}: {path}");
            assert!(!walked.allows(Operation::Map, path), "{target}: {path}");
        }
        assert!(
            walked.checked.findings.iter().any(|finding| finding.rule == "useless-executable"),
            "{target}"
        );
    }
}
