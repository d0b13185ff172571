//! What stands in the text: every kind of path in its place, and nothing that a reviewer does not see.

use crate::plans::{plan, rule};
use palisade::emit::{self, Seatbelt, Unspeakable, validate};
use palisade::plan::{Effect, Operations, OriginKind, Plan, Scope, Spelling};

fn denying(paths: &[String]) -> Plan {
    let mut rules = vec![rule(
        Effect::Allow,
        Operations::READING.union(Operations::WRITING),
        Scope::Subtree,
        "/w",
        OriginKind::Root,
    )];
    rules.extend(paths.iter().map(|path| {
        let mut rule = rule(Effect::Deny, Operations::ALL, Scope::Subtree, path, OriginKind::Denial);
        rule.origin.text = "case.palisade:3 deny glob \"/w/**\"".into();
        rule
    }));
    plan(rules, Spelling::Folded)
}

fn emitted(plan: &Plan) -> Seatbelt {
    let seatbelt = emit::seatbelt(plan, "case").unwrap();
    assert_eq!(validate::check(plan, &seatbelt), Ok(()));
    seatbelt
}

#[test]
fn the_paths_of_one_statement_share_a_rule_of_bounded_size() {
    let paths: Vec<String> =
        (0..400).map(|number| format!("/w/a-name-that-is-long/file-{number:04}.pem")).collect();
    let text = emitted(&denying(&paths)).text;
    let denials: Vec<&str> = text.split(";; denials").nth(1).unwrap().split("(deny ").skip(1).collect();
    assert_eq!(denials.len(), 3, "two of at most 16 KiB, and the sentinel's");
    for denial in denials {
        let size: usize =
            denial.split('"').skip(1).step_by(2).filter(|it| it.starts_with("/w/")).map(str::len).sum();
        assert!(size <= 16 << 10, "{size}");
    }
    for path in &paths {
        assert!(text.contains(&format!("    (literal \"{path}\") (subpath \"{path}\")")));
    }
}

#[test]
fn a_long_or_hidden_path_is_a_parameter() {
    let long = format!("/w/{}", "long".repeat(70));
    let hidden = "/w/a\u{202e}b".to_owned();
    let seatbelt = emitted(&denying(&[long.clone(), hidden.clone()]));
    assert_eq!(seatbelt.parameters["PATH_1"], long);
    assert_eq!(seatbelt.parameters["PATH_2"], hidden);
    assert!(!seatbelt.text.contains('\u{202e}') && !seatbelt.text.contains(&long));
}

#[test]
fn a_name_composed_and_decomposed_is_denied_in_both() {
    let text = emitted(&denying(&["/w/caf\u{e9}".into()])).text;
    for spelling in ["/w/caf\u{e9}", "/w/cafe\u{301}"] {
        assert!(text.contains(&format!("(literal \"{spelling}\") (subpath \"{spelling}\")")));
    }
}

#[test]
fn what_has_no_safe_spelling_is_refused() {
    assert!(matches!(emit::seatbelt(&denying(&["/w/a\nb".into()]), "case"), Err(Unspeakable::Control(_))));
    let twins = denying(&["/w/\u{e9}".into(), "/w/\u{c9}".into()]);
    assert!(matches!(emit::seatbelt(&twins, "case"), Err(Unspeakable::Twins(..))));
    // A grant that a filter would take for one of what an earlier rule denies.
    let mut lifted = denying(&["/W/x".into()]);
    lifted.rules.rotate_left(1);
    assert!(matches!(emit::seatbelt(&lifted, "case"), Err(Unspeakable::Twins(..))));
    // Denials of both are what they say.
    emitted(&denying(&["/w/.env".into(), "/w/.ENV".into()]));
}

#[test]
fn comments_show_what_is_hidden_and_keep_to_their_line() {
    let mut plan = denying(&["/w/x".into()]);
    plan.rules[1].origin.text = "deny \"x\u{202e}\"\n(allow default)".into();
    let text = emitted(&plan).text;
    assert!(text.contains(r#"; deny "x\u{202e}" (allow default)"#));
    assert!(!text.contains("\n(allow default)"));
}

#[test]
fn the_sentinel_is_denied_last_of_all() {
    let text = emitted(&denying(&["/w/x".into()])).text;
    let last = text.lines().last().unwrap();
    let (operations, path) = last.split_once(" (literal ").unwrap();
    assert!(path.starts_with("(string-append (param \"SCRATCH\") \"/.palisade-sentinel\")))"), "{path}");
    let operations: Vec<&str> = operations.strip_prefix("(deny ").unwrap().split(' ').collect();
    for operation in [
        "file-read-data",
        "file-read-metadata",
        "file-write-data",
        "file-write-unlink",
        "file-write-create",
        "file-link",
    ] {
        assert!(operations.contains(&operation), "{operation}");
    }
}

/// A path beside one rule's may be another spelling of a second rule's, which the disk takes for the same.
#[test]
fn a_neighbour_that_is_a_twin_is_no_difference() {
    use Effect::{Allow, Deny};
    let writable = Operations::READING.union(Operations::WRITING);
    let rules = vec![
        rule(Allow, Operations::READING, Scope::Subtree, "/w", OriginKind::Root),
        rule(Deny, Operations::WRITING, Scope::Subtree, "/w", OriginKind::Root),
        rule(Allow, writable, Scope::Subtree, "/w/Docs", OriginKind::Root),
        rule(Deny, Operations::ALL, Scope::Subtree, "/w/docsx", OriginKind::Denial),
    ];
    emitted(&plan(rules, Spelling::Folded));
}

/// Five thousand denials, as `deny gitignored` may give, are written and proven in a time that a person does not notice. The time itself is
/// printed, not asserted.
#[test]
fn thousands_of_denials_are_compared_one_by_one() {
    if crate::is_long() {
        for count in [1_250, 2_500] {
            let paths: Vec<String> =
                (0..count).map(|number| format!("/w/d{}/f{number}.key", number % 50)).collect();
            let plan = denying(&paths);
            let seatbelt = emit::seatbelt(&plan, "case").unwrap();
            let before = std::time::Instant::now();
            assert_eq!(validate::check(&plan, &seatbelt), Ok(()));
            println!("{count} proven in {:?}", before.elapsed());
        }
    }
    let paths: Vec<String> = (0..5_000).map(|number| format!("/w/d{}/f{number}.key", number % 50)).collect();
    let plan = denying(&paths);
    let before = std::time::Instant::now();
    let seatbelt = emit::seatbelt(&plan, "case").unwrap();
    let written = before.elapsed();
    assert_eq!(validate::check(&plan, &seatbelt), Ok(()));
    println!("written in {written:?}, proven in {:?}", before.elapsed() - written);
    // One denial gone is found among them all.
    let gone = seatbelt
        .text
        .replace("(literal \"/w/d7/f4007.key\") (subpath \"/w/d7/f4007.key\")", "(literal \"/x\")");
    assert_ne!(gone, seatbelt.text);
    assert!(validate::check(&plan, &Seatbelt { text: gone, ..seatbelt }).is_err());
}
