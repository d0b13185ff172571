//! Who decides.

use crate::{case, profile};
use palisade::sbpl::decide::{Address, Decider, Fact, Transport};
use palisade::sbpl::vocabulary::Builtin;
use palisade::sbpl::{Decision, Engine, NoImports, Operation, Params, PathCase, Profile, Subject, Verdict};

fn operation(name: &str) -> Operation {
    Operation::named(name).unwrap_or_else(|| panic!("{name}"))
}

fn ask(profile: &Profile, name: &str, subject: &Subject) -> Decision {
    profile.decide(operation(name), subject, Engine::PerOperation)
}

fn verdict(profile: &Profile, name: &str, path: &str) -> Verdict {
    ask(profile, name, &Subject::path(path)).verdict
}

#[derive(serde::Deserialize)]
struct Vector {
    name: String,
    profile: String,
    op: String,
    path: String,
    expect: String,
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("vectors.json")).expect("sound vectors")
}

/// Outcomes that were reported from real systems.
#[test]
fn every_published_outcome_is_ours() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 26);
    for vector in vectors {
        let profile = Profile::parse(&vector.profile, &Params::default(), &NoImports).expect(&vector.name);
        let expected = if vector.expect == "allow" { Verdict::Allow } else { Verdict::Deny };
        assert_eq!(verdict(&profile, &vector.op, &vector.path), expected, "{}", vector.name);
    }
}

/// The naive engine is there because it is wrong: it must disagree with some of them.
#[test]
fn plain_last_match_does_not_explain_them() {
    let disagreeing: Vec<String> = vectors()
        .into_iter()
        .filter(|vector| {
            let profile = Profile::parse(&vector.profile, &Params::default(), &NoImports).expect("a profile");
            let subject = Subject::path(vector.path.as_str());
            let found = profile.decide(operation(&vector.op), &subject, Engine::LastMatch).verdict;
            (found == Verdict::Allow) != (vector.expect == "allow")
        })
        .map(|vector| vector.name)
        .collect();
    assert!(disagreeing.iter().any(|name| name.starts_with("greywall#20 allow")), "{disagreeing:?}");
    assert!(disagreeing.iter().any(|name| name.starts_with("mxc#749 filtered deny")), "{disagreeing:?}");
    assert!(disagreeing.len() < 13, "{disagreeing:?}");
}

#[test]
fn a_decision_names_its_rule() {
    let profile =
        profile("(deny default)(allow file-read* (subpath \"/a\"))(deny file-read-data (literal \"/a/x\"))");
    let read = operation("file-read-data");
    assert_eq!(ask(&profile, "file-read-data", &Subject::path("/a/x")).rule(), Some(2));
    let below = ask(&profile, "file-read-data", &Subject::path("/a/y"));
    assert_eq!(below.certain, Some(Decider::Rule { index: 1, operation: operation("file-read*") }));
    assert_eq!(ask(&profile, "file-read-data", &Subject::path("/b")).rule(), Some(0));
    let link = ask(&profile, "file-link", &Subject::path("/b"));
    assert_eq!(
        link.certain,
        Some(Decider::Builtin { operation: operation("file-link"), builtin: Builtin::Allow })
    );
    assert!(read.is_leaf());
}

#[test]
fn what_is_not_known_is_unknown_unless_it_cannot_matter() {
    let forms = "(deny default)(allow file-read* (subpath \"/a\"))(deny file-read-data (require-all (subpath \"/a\") (vnode-type SOCKET)))";
    let socket = profile(forms);
    assert_eq!(verdict(&socket, "file-read-data", "/a/x"), Verdict::Unknown);
    assert_eq!(verdict(&socket, "file-read-data", "/b"), Verdict::Deny);
    assert_eq!(verdict(&socket, "file-read-metadata", "/a/x"), Verdict::Allow);
    let file = Subject::path("/a/x").with("vnode-type", Fact::Is(b"REGULAR-FILE".to_vec()));
    assert_eq!(ask(&socket, "file-read-data", &file).verdict, Verdict::Allow);
    // Both ways lead to the same.
    let same =
        profile("(deny default)(allow file-read* (vnode-type SOCKET))(allow file-read* (subpath \"/\"))");
    assert_eq!(verdict(&same, "file-read-data", "/x"), Verdict::Allow);
    let param = profile("(deny default)(allow file-read* (subpath (param \"X\")))");
    assert_eq!(verdict(&param, "file-read-data", "/x"), Verdict::Unknown);
    let condition = profile("(deny default)(when (param \"X\") (allow file-read*))");
    let decision = ask(&condition, "file-read-data", &Subject::path("/x"));
    assert_eq!((decision.verdict, decision.perhaps.len(), decision.rule()), (Verdict::Unknown, 1, None));
    let class = profile("(deny default)(allow file-read* (regex #\"^/\\d$\"))");
    assert_eq!(verdict(&class, "file-read-data", "/1"), Verdict::Unknown);
    let torn = profile(r#"(deny default)(allow file-read* (literal #"/a\"b"))"#);
    assert_eq!(verdict(&torn, "file-read-data", "/a\"b"), Verdict::Unknown);
}

#[test]
fn an_unread_import_can_decide_only_what_no_own_rule_does() {
    let imported = profile(
        "(import \"system.sb\")(deny default)(deny file-read-data (subpath \"/a\"))(deny file-read* (subpath \"/a\"))",
    );
    assert_eq!(verdict(&imported, "file-read-data", "/a/x"), Verdict::Deny);
    // A rule in the import for the very operation would beat ours for the wildcard.
    assert_eq!(verdict(&imported, "file-read-metadata", "/a/x"), Verdict::Unknown);
    let after = profile("(deny file-read-data (subpath \"/a\"))(import \"system.sb\")");
    assert_eq!(verdict(&after, "file-read-data", "/a/x"), Verdict::Unknown);
    // A filtered rule beats an unfiltered one, but not a filtered one of the import that may be.
    let unfiltered = profile("(import \"system.sb\")(deny file-read-data)");
    assert_eq!(verdict(&unfiltered, "file-read-data", "/a/x"), Verdict::Unknown);
}

#[test]
fn the_kernel_decides_some_things_itself() {
    let closed = profile("(deny default)");
    assert_eq!(verdict(&closed, "file-clone", "/x"), Verdict::Allow);
    assert_eq!(verdict(&profile("(allow default)"), "job-creation", "/x"), Verdict::Deny);
    assert_eq!(verdict(&closed, "mach-task-read", "/x"), Verdict::Unknown);
    // Denying the wildcard above an operation that is open by itself changes nothing; a rule of its own does.
    assert_eq!(verdict(&profile("(deny default)(deny file*)"), "file-lock", "/x"), Verdict::Allow);
    assert_eq!(verdict(&profile("(deny default)(deny file-lock)"), "file-lock", "/x"), Verdict::Deny);
    // What the kernel allows a wildcard, its children inherit.
    assert_eq!(verdict(&profile("(deny default)(deny nvram*)"), "nvram-set", "/x"), Verdict::Deny);
    assert_eq!(verdict(&closed, "nvram-set", "/x"), Verdict::Allow);
    let to = |target: &str| Subject::any().with("target", Fact::Is(target.into()));
    assert_eq!(ask(&closed, "signal", &to("self")).verdict, Verdict::Allow);
    assert_eq!(ask(&closed, "signal", &to("others")).verdict, Verdict::Deny);
    assert_eq!(ask(&closed, "signal", &Subject::any()).verdict, Verdict::Unknown);
}

#[test]
fn connections_sockets_and_names() {
    let profile = profile(
        "(deny default)(allow network-outbound (remote tcp \"*:443\") (remote ip \"localhost:*\") (literal \"/s\"))
         (allow mach-lookup (global-name \"com.apple.trustd\") (global-name-prefix \"org.\"))",
    );
    let to = |transport, loopback, port| {
        let remote =
            Address { transport: Some(transport), family: None, loopback: Some(loopback), port: Some(port) };
        ask(&profile, "network-outbound", &Subject::connection(Address::default(), remote)).verdict
    };
    assert_eq!(to(Transport::Tcp, false, 443), Verdict::Allow);
    assert_eq!(to(Transport::Udp, false, 443), Verdict::Deny);
    assert_eq!(to(Transport::Udp, true, 53), Verdict::Allow);
    let anywhere = Subject::connection(Address::default(), Address::default());
    assert_eq!(ask(&profile, "network-outbound", &anywhere).verdict, Verdict::Unknown);
    assert_eq!(verdict(&profile, "network-outbound", "/s"), Verdict::Allow);
    assert_eq!(verdict(&profile, "network-outbound", "/t"), Verdict::Deny);
    let named = |name: &str| ask(&profile, "mach-lookup", &Subject::named("global-name", name)).verdict;
    assert_eq!(named("com.apple.trustd"), Verdict::Allow);
    assert_eq!(named("COM.apple.trustd"), Verdict::Deny);
    assert_eq!(named("org.x"), Verdict::Allow);
}

#[test]
fn the_disk_decides_about_case_and_expressions_never_fold_it() {
    let forms = "(allow default)(deny file-read-data (literal \"/a/.env\") (regex #\"/key$\"))";
    let mut folding = profile(forms);
    assert_eq!(verdict(&folding, "file-read-data", "/A/.ENV"), Verdict::Deny);
    assert_eq!(verdict(&folding, "file-read-data", "/a/KEY"), Verdict::Allow);
    folding.case = PathCase::Sensitive;
    assert_eq!(verdict(&folding, "file-read-data", "/A/.ENV"), Verdict::Allow);
    assert_eq!(case(forms).rules().len(), 2);
}
