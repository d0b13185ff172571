//! Unix sockets that a command may connect to.

use crate::road::{Walked, machine, walk};
use palisade::plan::Operation;

fn on(entries: &[&str], roots: &str, path: &str) -> Walked {
    let mut all = vec![
        "/w/src: directory",
        "/run/db/one.sock: socket",
        "/run/db/two.sock: socket",
        "/run/db/file: file",
    ];
    all.extend(entries);
    walk(
        &machine(&all),
        &format!("root \"$workspace\" read-only\n{roots}\nnetwork only {{ unix \"{path}\" }}"),
    )
}

fn planned(walked: &Walked) -> Vec<&str> {
    walked.plan().unix.iter().map(|socket| socket.path.as_str()).collect()
}

#[test]
fn the_one_that_is_stated_and_no_other() {
    let walked = on(&[], "root \"/run/db\" read-only", "/run/db/one.sock");
    assert_eq!((walked.errors(), planned(&walked)), (vec![], vec!["/run/db/one.sock"]));
    assert!(walked.allows(Operation::Connect, "/run/db/one.sock"));
    for path in ["/run/db/two.sock", "/run/db", "/run/db/one.sock/x", "/run/db/one.sockx"] {
        assert!(!walked.allows(Operation::Connect, path), "{path}");
    }
    assert!(!walked.allows(Operation::Create, "/run/db/one.sock"));
    assert!(!walked.allows(Operation::Write, "/run/db/one.sock"));
}

#[test]
fn where_links_lead_and_what_is_made_later() {
    let walked = on(&["/var/run: -> ../run", "/run/now: -> db/one.sock"], "", "/var/run/now");
    assert_eq!((walked.errors(), planned(&walked)), (vec![], vec!["/run/db/one.sock"]));
    let links: Vec<&str> = walked.plan().links.iter().map(|hop| hop.link.as_str()).collect();
    assert!(links.contains(&"/var/run") && links.contains(&"/run/now"), "{links:?}");
    let walked = on(&[], "", "/run/db/late.sock");
    assert_eq!((walked.errors(), planned(&walked)), (vec![], vec!["/run/db/late.sock"]));
    assert_eq!(walked.finding("missing-socket").message, "the socket `/run/db/late.sock` does not exist");
}

#[test]
fn what_cannot_be_granted_is_an_error_and_grants_nothing() {
    let plant = ["/w/out: directory", "/w/out/s.sock: socket", "/w/out/l: -> /run/db/one.sock"];
    for (entries, roots, path, message) in [
        (&[][..], "", "/run/db/file", "`/run/db/file` is not a socket"),
        (&[], "", "/run/db", "`/run/db` is not a socket"),
        (&[], "deny \"/run/db\"", "/run/db/one.sock", "the socket `/run/db/one.sock` is denied"),
        (
            &plant,
            "root \"/w/out\" read-write",
            "/w/out/s.sock",
            "the socket `/w/out/s.sock` lies where the command may write",
        ),
        (
            &plant,
            "root \"/w/out\" read-write",
            "/w/out/l",
            "the socket `/run/db/one.sock` lies where the command may write",
        ),
        (
            &plant,
            "root \"/w/out\" read-write",
            "/w/out/new.sock",
            "the socket `/w/out/new.sock` lies where the command may write",
        ),
    ] {
        let walked = on(entries, roots, path);
        assert_eq!(walked.errors(), ["unusable-socket"], "{path}");
        assert_eq!(walked.finding("unusable-socket").message, message);
        assert!(!walked.allows(Operation::Connect, path), "{path}");
    }
}

#[test]
fn one_of_somebody_else_s_authority_is_an_error_by_whatever_name() {
    let entries = [
        "/run/docker.sock: socket",
        "/srv/x/docker.sock: socket",
        "/run/d: -> docker.sock",
        "/var/run: -> ../run",
    ];
    for path in
        ["/run/docker.sock", "/var/run/docker.sock", "/run/d", "/srv/x/docker.sock", "/tmp/ssh-x/agent.7"]
    {
        assert_eq!(on(&entries, "", path).errors(), ["authority-socket"], "{path}");
    }
}

#[test]
fn lists_add_up_and_one_mode_of_the_profile_stands_over_all() {
    let host = machine(&["/w/src: directory", "/run/a.sock: socket", "/run/b.sock: socket"]);
    let walked = walk(
        &host,
        "root \"$workspace\" read-only\nnetwork only { unix \"/run/a.sock\" }\non linux { network only { unix \"/run/b.sock\" } }",
    );
    assert_eq!(planned(&walked), ["/run/a.sock", "/run/b.sock"]);
}

#[test]
fn an_expectation_asks_about_a_socket_with_or_without_its_kind_before_it() {
    for (expected, errors) in [
        ("connect \"/run/db/one.sock\" allowed", 0),
        ("connect \"unix:/run/db/one.sock\" allowed", 0),
        ("connect \"unix:/run/db/two.sock\" denied", 0),
        ("connect \"unix:/run/db/one.sock\" denied", 1),
        ("connect \"unix:/run/db/two.sock\" allowed", 1),
    ] {
        let walked = on(&[], &format!("expect {{ {expected} }}"), "/run/db/one.sock");
        assert_eq!(walked.errors().len(), errors, "{expected}");
    }
}

/// A line names a socket by what it says: also by a link that the command, whose `/tmp` is its own, does not see.
#[test]
fn a_link_that_the_line_names_is_known_where_it_is_not_seen() {
    let entries = ["/tmp/one: -> /run/db/one.sock", "/tmp/other: -> /run/db/one.sock"];
    for (expected, errors) in [
        ("connect \"/tmp/one\" allowed", 0),
        ("connect \"/tmp/other\" denied", 0),
        ("read \"/tmp/one\" denied", 0),
        ("connect \"/tmp/one\" denied", 1),
    ] {
        let walked = on(&entries, &format!("expect {{ {expected} }}"), "/tmp/one");
        assert_eq!(walked.errors().len(), errors, "{expected}");
    }
}
