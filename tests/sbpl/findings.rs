//! What each check finds, and what it leaves alone, over the kinds of filter, operation and text.

use crate::whole;
use palisade::finding::{Finding, Severity};
use palisade::sbpl::{NoImports, Params, PathCase, lint};

fn findings(forms: &str, given: &[(&str, &str)], case: PathCase) -> Vec<Finding> {
    let given = given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let mut read = whole(&format!("(version 1){forms}"), &Params { given, complete: false }, &NoImports);
    read.evaluation.profile.case = case;
    lint::run(&read.sources, &read.evaluation)
}

fn fires(rule: &str, forms: &str) -> bool {
    let found = findings(&format!("(deny default){forms}"), &[], PathCase::Insensitive);
    let broken: Vec<_> = found.iter().filter(|finding| finding.rule.starts_with("sb-syntax")).collect();
    assert!(broken.is_empty(), "{forms}\n{broken:#?}");
    found.iter().any(|finding| finding.rule == rule)
}

fn check(rule: &str, found: &[&str], not_found: &[&str]) {
    for forms in found {
        assert!(fires(rule, forms), "{rule} misses {forms}");
    }
    for forms in not_found {
        assert!(!fires(rule, forms), "{rule} is wrong about {forms}");
    }
}

#[test]
fn an_allowance_below_a_denied_wildcard_whatever_the_filter() {
    check(
        "leaf-beats-wildcard",
        &[
            r#"(allow file-read-data (subpath "/Users/d"))(deny file-read* (literal "/Users/d/.env"))"#,
            r#"(allow file-read-data (subpath "/Users/d"))(deny file*)"#,
            r#"(allow file-read-data)(deny file-read* (literal "/Users/d/.env"))"#,
            r#"(allow process-exec-interpreter (literal "/b"))(deny process-exec* (literal "/b"))"#,
            r#"(allow network-bind (subpath "/s"))(deny network-inbound (subpath "/s"))"#,
            r#"(allow mach-lookup (global-name "a"))(deny mach* (global-name "a"))"#,
            r#"(allow mach-lookup (global-name-regex #"^com[.]"))(deny mach* (global-name-prefix "com."))"#,
            r#"(allow sysctl-read (sysctl-name-prefix "k"))(deny sysctl* (sysctl-name "kern"))"#,
            r#"(allow network-outbound (remote ip "*:443"))(deny network*)"#,
            r#"(allow network-outbound (remote tcp "localhost:*"))(deny network* (remote ip "*:443"))"#,
            r#"(allow network-bind (local udp6 "*:53"))(deny network*)"#,
            r#"(allow process-info-pidinfo (target others))(deny process-info*)"#,
            r#"(allow file-read-data (regex #"^/Users/d"))(deny file-read* (literal "/Users/d/.env"))"#,
            r#"(allow file-read-data (subpath "/Users/d"))(deny file-read* (regex #"/[.][Ee][Nn][Vv]$"))"#,
            r#"(allow file-read-data (extension "a"))(deny file-read* (literal "/Users/d/.env"))"#,
            r#"(allow file-read-data (vnode-type DIRECTORY))(deny file-read* (literal "/Users/d/x"))"#,
            r#"(allow file-read-data (require-all (subpath "/d") (require-not (vnode-type SOCKET))))(deny file-read* (literal "/d/x"))"#,
            r#"(allow file-read-data (subpath (param "W")))(deny file-read* (literal (string-append (param "W") "/.env")))"#,
        ],
        &[
            r#"(allow file-read-data (subpath "/Users/d"))(deny file-read* (literal "/Users/e/.env"))"#,
            r#"(allow file-read-data (require-all (subpath "/d") (require-not (literal "/d/.env"))))(deny file-read* (literal "/d/.env"))"#,
            r#"(allow file-read-data (subpath "/Users/d"))(deny file-read* file-read-data (literal "/Users/d/.env"))"#,
            r#"(allow mach-lookup (global-name "a"))(deny mach* (global-name "b"))"#,
            r#"(allow network-outbound (remote ip "*:443"))(deny network* (remote ip "*:80"))"#,
            r#"(allow file-read-data (vnode-type DIRECTORY))(deny file-read* (vnode-type SOCKET))"#,
            r#"(allow file-read-data (subpath (param "A")))(deny file-read* (subpath (param "B")))"#,
        ],
    );
}

#[test]
fn a_fallback_behind_exceptions_from_it() {
    check(
        "unfiltered-override",
        &[
            r#"(deny file-read* (subpath "/s"))(allow file-read*)"#,
            r#"(deny file-read* (subpath "/s"))(allow file*)"#,
            r#"(deny file-read* (subpath "/s"))(allow default)"#,
            r#"(deny mach-lookup (global-name "s"))(allow process-fork mach-lookup)"#,
            r#"(deny file-read* (subpath "/s"))(if (param "X") (allow file-read*))"#,
        ],
        &[
            r#"(allow file-read*)(deny file-read* (subpath "/s"))"#,
            r#"(deny file* (subpath "/s"))(allow file-read*)"#,
            r#"(deny file-read* (subpath "/s"))(allow file-write*)"#,
        ],
    );
}

#[test]
fn paths_that_nothing_has() {
    for path in [
        "/tmp/x",
        "/var",
        "/TMP/x",
        "/Var/x",
        "/home/x",
        "//x",
        "/a//b",
        "/a/",
        "/a/../b",
        "/..",
        "/a/.",
        "~/x",
        "/System/Volumes/Data",
        "/system/volumes/data/x",
        "/System/Volumes/Data/Users/x",
    ] {
        let forms = format!("(deny file-read* (subpath \"{path}\"))");
        assert!(fires("dead-path", &forms), "{path}");
    }
    for path in
        ["/tmpx", "/private/tmp/x", "/a/..b", "/", "/System/Volumes/Preboot", "/System/Volumes/Database"]
    {
        let forms = format!("(deny file-read* (subpath \"{path}\"))(allow file-read* (literal \"{path}\"))");
        assert!(!fires("dead-path", &forms), "{path}");
    }
    check(
        "dead-path",
        &[
            r#"(deny file-read* (subpath (string-append "/tmp/" (param "T"))))"#,
            r#"(deny file-read* (subpath (string-append (param "T") "/")))"#,
            r#"(deny file-read* (subpath (string-append (param "T") "/../x")))"#,
            r#"(deny file-read* (literal (string-append (param "A") "//" (param "B"))))"#,
            r#"(deny file-read* (literal (string-append "~/" (param "B"))))"#,
            r#"(deny file-read* (prefix "/tmp/x"))"#,
            r#"(deny file-read* (prefix "/a//"))"#,
            r#"(deny file-read* (regex #"^/tmp/"))"#,
            r#"(deny file-read* (regex #"^/(tmp|var)/"))"#,
            r#"(deny file-read* (regex #"^/etc/[Pp]asswd$"))"#,
            r#"(deny file-read* (regex #"^/System/Volumes/Data/"))"#,
            r#"(deny file-read* (regex #"//"))"#,
            r#"(allow file-read-metadata (path-ancestors "/a/b/"))"#,
            r#"(deny network-outbound (remote unix-socket (literal "/var/run/x")))"#,
        ],
        &[
            r#"(allow file-read-metadata (literal "/tmp" "/Var" "/var/select/developer_dir"))"#,
            r#"(allow file-read-metadata (path-ancestors "/private/tmp/b"))"#,
            r#"(allow file-read-metadata (path-ancestors "/tmp/b"))"#,
            r#"(allow file-read-metadata (path-ancestors "/System/Volumes/Data/private"))"#,
            r#"(deny file-read* (prefix "/tmp"))"#,
            r#"(deny file-read* (prefix "/a/"))"#,
            r#"(deny file-read* (regex #"^/(private/)?tmp/[0-9]"))"#,
            r#"(deny file-read* (regex #"^/tmp"))"#,
            r#"(deny file-read* (regex #"/$"))"#,
            r#"(deny file-read* (subpath (string-append "/tmp" (param "T"))))"#,
            r#"(deny file-read* (subpath (string-append (param "T") "/x")))"#,
        ],
    );
    assert!(
        findings("(deny file-read* (subpath \"/TMP\"))", &[], PathCase::Sensitive)
            .iter()
            .all(|finding| finding.rule != "dead-path")
    );
}

#[test]
fn the_path_to_write_is_told_whole() {
    let long = "a".repeat(300);
    for (path, help) in [
        ("/tmp/x/".to_owned(), "write `/private/tmp/x`".to_owned()),
        ("/var//a/../c".to_owned(), "write `/private/var/c`".to_owned()),
        ("/System/Volumes/Data/tmp/q".to_owned(), "write `/private/tmp/q`".to_owned()),
        (format!("/tmp/{long}/"), format!("write `/private/tmp/{long}`")),
    ] {
        let found = findings(&format!("(deny file-read* (subpath \"{path}\"))"), &[], PathCase::Insensitive);
        let dead = found.iter().find(|finding| finding.rule == "dead-path").expect("a finding");
        assert_eq!((dead.severity, dead.help.as_deref()), (Severity::Error, Some(help.as_str())));
    }
}

#[test]
fn letters_of_one_case() {
    check(
        "case-sensitive-denial",
        &[
            r#"(deny file-read* (regex #"/[.]env$"))"#,
            r#"(deny file-read* (regex #"/é$"))"#,
            r#"(deny file-read* (regex #"/(ENV|env)$"))"#,
            r#"(allow file-read* (require-all (subpath "/a") (require-not (regex #"/[.]env$"))))"#,
            r#"(deny file-read* (regex (string-append "^" (regex-quote (param "H")) "/key$")))"#,
        ],
        &[
            r#"(deny file-read* (regex #"/(E|e)(N|n)(V|v)$"))"#,
            r#"(deny file-read* (regex #"/日$"))"#,
            r#"(deny file-read* (regex (string-append "^" (regex-quote (param "H")) "$")))"#,
            r#"(deny mach-lookup (global-name-regex #"^com"))"#,
        ],
    );
}

#[test]
fn backslashes_however_the_text_is_put_together() {
    check(
        "doubled-backslash",
        &[
            r#"(deny file-read* (regex #"/\\.env"))"#,
            r##"(define r #"/\\.env")(deny file-read* (regex r))"##,
            r##"(deny file-read* (regex (string-append #"a\" #"\.env")))"##,
            r#"(deny file-read* (regex "/\\\\.env"))"#,
            r#"(deny mach-lookup (global-name-regex #"com\\.apple"))"#,
        ],
        &[
            r#"(deny file-read* (regex "/\\.env"))"#,
            r#"(deny file-read* (literal #"/a\\b"))"#,
            r#"(deny file-read* (regex #"^/a[\\]b"))"#,
            r#"(deny file-read* (regex #"/\.\.env"))"#,
        ],
    );
}

const WORK: &str = r#"(allow file-read* file-write* (subpath "/Users/d/w"))"#;

#[test]
fn what_can_be_moved_out_of_its_denial() {
    let within = |forms: &str| format!("{WORK}{forms}");
    for forms in [
        r#"(deny file-read* (subpath "/Users/d/w/s"))"#,
        r#"(deny file-read* file-write* (subpath "/Users/d/w/a/s"))(deny file-write-unlink (literal "/Users/d/w"))"#,
        r#"(deny file-read* (regex #"/[.][Ee][Nn][Vv]$"))"#,
        r#"(deny file-read* (regex #"^/Users/d/w/.*/[Ss]$"))"#,
        r#"(deny file-read* (require-all (subpath "/Users/d/w/s") (vnode-type REGULAR-FILE)))"#,
    ] {
        assert!(fires("movable-denial", &within(forms)), "{forms}");
    }
    for forms in [
        r#"(deny file-read* file-write* (subpath "/Users/d/w/s"))(deny file-write-unlink (literal "/Users/d/w"))"#,
        r#"(deny file-read* file-write* (subpath "/Users/d/w/a/s"))(deny file-write-unlink (path-ancestors "/Users/d/w/a/s"))"#,
        r#"(deny file-read* (subpath "/Users/e/s"))"#,
    ] {
        assert!(!fires("movable-denial", &within(forms)), "{forms}");
    }
    check(
        "movable-denial",
        &[
            r#"(allow file-write* (subpath "/d/w"))(allow file-read* (require-all (subpath "/d/w") (require-not (subpath "/d/w/s"))))"#,
            r#"(allow file-read* file-write* (subpath (param "W")))(deny file-read* (subpath (string-append (param "W") "/s")))"#,
        ],
        &[
            r#"(allow file-write* file-read* (require-all (subpath "/d/w") (require-not (subpath "/d/w/s")) (require-not (literal "/d/w"))))"#,
        ],
    );
    let found = findings(
        "(allow default)(deny file-read* (subpath (string-append (param \"HOME\") \"/.ssh\")))",
        &[],
        PathCase::Insensitive,
    );
    let movable = found.iter().find(|finding| finding.rule == "movable-denial").expect("a finding");
    let help = movable.help.as_deref().unwrap_or_default();
    assert!(help.contains(r#"(literal (string-append (param "HOME") "/.ssh"))"#), "{help}");
}

#[test]
fn sockets_however_they_are_denied_as_files() {
    let open = |forms: &str| format!("(allow network-outbound){forms}");
    for forms in [
        r#"(deny file* (literal "/private/var/run/docker.sock"))"#,
        r#"(deny file-read-data (literal "/a/DOCKER.SOCK"))"#,
        r#"(deny file* (regex #"/[Dd]ocker[.][Ss]ock$"))"#,
        r#"(deny file* (subpath "/private/var/run"))"#,
        r#"(deny file* (subpath "/Users/d/.docker/run"))"#,
        r#"(deny file* (subpath "/Users/d/.gnupg"))"#,
        r#"(deny file* (vnode-type SOCKET))"#,
        r#"(deny file* (require-all (literal "/private/var/run/docker.sock") (vnode-type SOCKET)))"#,
        r#"(deny file-read* (literal (string-append (param "HOME") "/.docker/run/docker.sock")))"#,
        r#"(deny file* network-bind (literal "/private/var/run/docker.sock"))"#,
        r#"(allow file-read* (require-all (subpath "/private") (require-not (literal "/private/var/run/docker.sock"))))"#,
    ] {
        assert!(fires("socket-denied-as-file", &open(forms)), "{forms}");
    }
    check(
        "socket-denied-as-file",
        &[],
        &[
            r#"(deny file* (literal "/private/var/run/docker.sock"))"#,
            r#"(allow network-outbound (remote ip "*:*"))(deny file* (literal "/private/var/run/docker.sock"))"#,
            r#"(allow network*)(deny network* file* (literal "/private/var/run/docker.sock"))"#,
            r#"(allow network-outbound)(deny file* network-outbound (vnode-type SOCKET))"#,
            r#"(allow network-outbound)(deny file* (subpath "/Users/d/notes"))"#,
        ],
    );
}

/// The names in the finding that warns of open operations, or those in the one that only notes them.
fn open(forms: &str, severity: Severity) -> String {
    let found = findings(forms, &[], PathCase::Insensitive);
    let open =
        found.iter().filter(|finding| finding.rule == "open-operations" && finding.severity == severity);
    open.map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_operation_is_closed_by_a_denial_without_a_filter_and_by_nothing_else() {
    use Severity::{Note, Warning};
    let stays = |forms: &str, name: &str| open(forms, Warning).contains(&format!("`{name}`"));
    for forms in [
        "(deny default)",
        "",
        "(allow file-read*)",
        "(deny default)(deny file-link (subpath \"/\"))",
        "(deny default)(allow file-link (subpath \"/\"))",
        "(deny default)(deny file*)",
        "(deny default)(if (param \"X\") (deny file-link))",
    ] {
        assert!(stays(forms, "file-link"), "{forms}");
    }
    for forms in ["(deny default)(deny file-link)", "(deny default)(allow file-link)", "(allow default)"] {
        assert!(!stays(forms, "file-link"), "{forms}");
    }
    assert!(stays("(deny default)(allow process-info* (target same-sandbox))", "process-info*"));
    let some = "(deny default)(deny process-info-pidinfo nvram-get nvram-set nvram-delete)";
    assert!(!stays(some, "process-info*") && stays(some, "process-info-listpids"));
    assert!(!stays(some, "process-info-pidinfo") && !stays(some, "nvram*"));
    // What can hardly be closed is told, and is no reproach.
    assert!(
        !stays("(deny default)", "syscall-unix") && open("(deny default)", Note).contains("`syscall-unix`")
    );
    assert!(!open("(deny default)(deny syscall-unix)", Note).contains("`syscall-unix`"));
    // An import may close them.
    assert_eq!(open("(import \"x.sb\")(deny default)", Warning), "");
    assert!(open("(import \"x.sb\")(deny default)", Note).contains("`file-link`"));
}

#[test]
fn filters_that_no_operation_below_takes() {
    check(
        "inapplicable-filter",
        &[
            r#"(allow mach-lookup (literal "/x"))"#,
            r#"(allow file-read* (global-name "x"))"#,
            r#"(allow network-inbound (global-name "x"))"#,
            r#"(allow process-exec (target self))"#,
            r#"(allow nvram* (literal "/x"))"#,
            r#"(allow file-read* mach-lookup (literal "/x"))"#,
        ],
        &[
            r#"(allow mach* (global-name "x"))"#,
            r#"(allow process* (literal "/x"))"#,
            r#"(allow process-info* (target self))"#,
            r#"(deny default (literal "/x"))"#,
            r#"(allow file-lock (literal "/x"))"#,
            r#"(allow iokit-open-service (iokit-registry-entry-class "x"))"#,
        ],
    );
    let severity = |forms: &str| {
        let found = findings(forms, &[], PathCase::Insensitive);
        found.iter().find(|finding| finding.rule == "inapplicable-filter").map(|finding| finding.severity)
    };
    assert_eq!(severity("(allow default)(deny mach-lookup (literal \"/x\"))"), Some(Severity::Error));
    assert_eq!(severity("(allow mach-lookup (literal \"/x\"))"), Some(Severity::Warning));
}

#[test]
fn ports_are_digits() {
    for (address, wrong) in [
        ("*:80", false),
        ("localhost:*", false),
        ("*:+80", true),
        ("*:-1", true),
        ("*:65536", true),
        ("*:", true),
    ] {
        let forms = format!("(allow network-outbound (remote ip \"{address}\"))");
        assert_eq!(fires("remote-host", &forms), wrong, "{address}");
    }
}

#[test]
fn what_is_not_given_is_said_once_for_each() {
    let forms = r#"(allow default)(deny file-read* (subpath (param "A")) (subpath (param "A")))(if (param "B") (deny signal))"#;
    let notes = |given: &[(&str, &str)]| {
        let found = findings(forms, given, PathCase::Insensitive);
        let notes = found.into_iter().filter(|finding| finding.rule == "ungiven-parameter");
        notes.map(|finding| finding.help.unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(
        notes(&[]),
        ["`-D A=VALUE` lets the checks look further", "`-D B=VALUE` lets the checks look further"]
    );
    assert!(notes(&[("A", "/x"), ("B", "1")]).is_empty());
}
