//! From data to rules.

use crate::{Case, case, whole};
use palisade::sbpl::{InMemory, NoImports, Params};

fn with_params(given: &[(&str, &str)], complete: bool, forms: &str) -> Case {
    let given = given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    whole(&format!("(version 1){forms}"), &Params { given, complete }, &NoImports)
}

#[test]
fn rules_filters_and_modifiers_come_out_canonical() {
    for (form, printed) in [
        ("(deny default (with no-log))", "(deny default (with no-report))"),
        ("(allow process-exec file-unlink)", "(allow process-exec* file-write-unlink)"),
        (
            "(allow file-read* (path \"/a\") (path-regex #\"b\"))",
            "(allow file-read* (literal \"/a\") (regex \"b\"))",
        ),
        (
            "(allow file-read* (subpath \"/a\" \"/b\"))",
            "(allow file-read* (require-any (subpath \"/a\") (subpath \"/b\")))",
        ),
        (
            "(deny (with send-signal SIGKILL) (with message \"x\") file-ioctl)",
            "(deny file-ioctl (with send-signal SIGKILL) (with message \"x\"))",
        ),
        (
            "(allow network-outbound (to ip \"*:80\") (remote unix-socket (literal \"/s\")))",
            "(allow network-outbound (remote ip \"*:80\") (literal \"/s\"))",
        ),
        (
            "(allow signal (target self children))",
            "(allow signal (require-any (target self) (target children)))",
        ),
        ("(allow file-read* (file-mode #o4000))", "(allow file-read* (file-mode 2048))"),
        (
            "(allow file-ioctl (ioctl-command (_IO \"t\" 97)))",
            "(allow file-ioctl (ioctl-command (_IO \"t\" 97)))",
        ),
        (
            "(allow file-read-metadata (path-ancestors \"/a/b\"))",
            "(allow file-read-metadata (require-any (literal \"/\") (literal \"/a\")))",
        ),
        (
            "(with-filter (process-attribute is-x) (allow file-read* (literal \"/a\")) (allow signal))",
            "(allow file-read* (require-all (process-attribute is-x) (literal \"/a\")))\n(allow signal (process-attribute is-x))",
        ),
        (
            "(allow mach-lookup (global-name-prefix \"com.\") (require-not (require-all (local-name \"a\"))))",
            "(allow mach-lookup (global-name-prefix \"com.\") (require-not (require-all (local-name \"a\"))))",
        ),
    ] {
        assert_eq!(case(form).rules().join("\n"), printed, "{form}");
    }
}

#[test]
fn definitions_functions_and_scopes() {
    for (forms, path) in [
        ("(define a \"/x\") (allow file-read* (literal a))", "/x"),
        ("(define (f path) (string-append path \"/y\")) (allow file-read* (literal (f \"/x\")))", "/x/y"),
        ("(define f (lambda (x) (literal x))) (allow file-read* (f \"/x\"))", "/x"),
        ("(let ((a \"/x\") (b \"/y\")) (allow file-read* (literal (string-append a b))))", "/x/y"),
        ("(let* ((a \"/x\") (b (string-append a \"/y\"))) (allow file-read* (literal b)))", "/x/y"),
        ("(define a \"/x\") (define (f) a) (let ((a \"/z\")) (allow file-read* (literal (f))))", "/x"),
        (
            "(cond ((equal? \"a\" \"b\") (deny signal)) (#f 1) (else (allow file-read* (literal \"/x\"))))",
            "/x",
        ),
        (
            "(if (and #t (not #f)) (begin (debug deny) (allow file-read* (literal \"/x\"))) (deny signal))",
            "/x",
        ),
        (
            "(unless (or #f (not (defined? 'cons))) (when (defined? 'file-clone) (allow file-read* (literal \"/x\"))))",
            "/x",
        ),
        ("(define op file-read*) (allow op (literal \"/x\"))", "/x"),
    ] {
        assert_eq!(case(forms).rules(), [format!("(allow file-read* (literal \"{path}\"))")], "{forms}");
    }
    assert_eq!(
        case(r#"(allow file-read* (regex (regex-quote "/a.b[c]^$(|)*+?{\\")))"#).rules(),
        [r#"(allow file-read* (regex "/a\\.b\\[c]\\^\\$\\(\\|\\)\\*\\+\\?\\{\\\\"))"#]
    );
}

#[test]
fn parameters_are_data_and_unknown_ones_stay_unknown() {
    let forms = r#"(allow file-read* (subpath (string-append (param "HOME") "/x")))"#;
    assert_eq!(
        with_params(&[("HOME", "/a\"b")], true, forms).rules(),
        [r#"(allow file-read* (subpath "/a\"b/x"))"#]
    );
    assert_eq!(
        with_params(&[], false, forms).rules(),
        [r#"(allow file-read* (subpath (string-append (param "HOME") "/x")))"#]
    );
    let case = with_params(&[], true, forms);
    assert_eq!(
        case.found(),
        [("no value is given for this parameter, and a text is needed here", "(param \"HOME\")")]
    );
    assert!(case.evaluation.profile.params.contains("HOME"));
}

#[test]
fn what_hangs_on_an_unknown_parameter_is_marked() {
    let forms = r#"(if (equal? (param "NET") "YES") (allow network-outbound) (deny network-outbound))"#;
    assert_eq!(with_params(&[("NET", "YES")], false, forms).rules(), ["(allow network-outbound)"]);
    assert_eq!(with_params(&[], true, forms).rules(), ["(deny network-outbound)"]);
    assert_eq!(
        with_params(&[], false, forms).rules(),
        ["(if (param \"NET\") (allow network-outbound))", "(if (param \"NET\") (deny network-outbound))"]
    );
    assert_eq!(
        with_params(&[], false, "(when (param \"X\") (define a 1))").found(),
        [("what is defined here hangs on the parameter `X`, which is not given", "(define a 1)")]
    );
}

/// Whether a parameter is given, or a name defined, shows at run time: what comes of it there must be no guess.
#[test]
fn what_shows_at_run_time_only_is_no_answer() {
    for (forms, rules) in [
        (
            r#"(allow file-read* (subpath (or (param "X") "/d")))"#,
            vec![r#"(allow file-read* (subpath (param "X")))"#],
        ),
        (r#"(and (param "X") #f (allow signal))"#, vec![]),
        (r#"(and (param "X") (allow signal))"#, vec![r#"(if (param "X") (allow signal))"#]),
        (r#"(or (param "X") (allow signal))"#, vec![r#"(if (param "X") (allow signal))"#]),
        (r#"(or #f (and) (allow signal))"#, vec![]),
        ("(if (defined? 'future) (allow signal))", vec!["(if (defined? 'future) (allow signal))"]),
        (
            "(if (not (defined? 'future)) (allow signal) (deny signal))",
            vec!["(if (defined? 'future) (allow signal))", "(if (defined? 'future) (deny signal))"],
        ),
        ("(define x 1)(if (defined? 'x) (allow signal))", vec!["(allow signal)"]),
        ("(if (defined? 'mach-per-user-lookup) (allow signal))", vec!["(allow signal)"]),
    ] {
        assert_eq!(case(forms).rules(), rules, "{forms}");
    }
}

/// What an unread import may define can be called: it may do anything. What is nearly a word of the language is taken for a slip.
#[test]
fn calls_of_what_an_import_may_define() {
    let called = case(
        "(import \"system.sb\")(system-network)(allow file-read* (their-filter \"/x\"))(allow file-read* (subpath their-path))",
    );
    assert_eq!(
        called.rules(),
        ["(allow file-read* their-filter)", "(allow file-read* (subpath their-path))"]
    );
    let opaque: Vec<_> = called
        .evaluation
        .profile
        .opaque
        .iter()
        .map(|import| (import.name.as_str(), import.call.as_deref(), import.before))
        .collect();
    assert_eq!(
        opaque,
        [
            ("system.sb", None, 0),
            ("system.sb", Some("system-network"), 0),
            ("system.sb", Some("their-filter"), 0)
        ]
    );
    assert_eq!(case("(system-network)").found().len(), 1);
    assert_eq!(case("(import \"system.sb\")(alow signal)").found().len(), 1);
}

/// What the reader could not read is told of once, and by nobody else.
#[test]
fn what_cannot_be_read_is_told_of_once() {
    for forms in [
        "(deny file-read* (literal \"/a\\x4\"))",
        "(deny signal `x)",
        "(allow signal (with #\\a))",
        "(allow network-outbound (remote , \"*:80\"))",
        "(define (f `) 1)",
        "#| (allow nonsense) |# (allow signal)",
        "(let ((a `b)) (allow file-read* (literal a)))",
    ] {
        let case = case(forms);
        let found = case.evaluation.findings.iter();
        assert_eq!(found.map(|finding| finding.rule).collect::<Vec<_>>(), ["sb-syntax"], "{forms}");
        let all = palisade::sbpl::lint::run(&case.sources, &case.evaluation);
        assert!(all.iter().all(|finding| finding.rule != "dead-path"), "{forms} {all:#?}");
    }
}

#[test]
fn words_that_public_headers_list() {
    for (form, found) in [
        ("(deny file-read* (with errno ENOETN))", Some("did you mean `ENOENT`?")),
        ("(deny signal (with send-signal SIGKIL))", Some("did you mean `SIGKILL`?")),
        ("(allow signal (signal-number SIGNOPE))", None),
        ("(allow system-socket (socket-domain AF_SYSTM))", Some("did you mean `AF_SYSTEM`?")),
        ("(allow system-socket (socket-type SOCK_STERAM))", Some("did you mean `SOCK_STREAM`?")),
    ] {
        let case = case(form);
        assert_eq!(case.found().len(), 1, "{form}");
        if let Some(help) = found {
            assert_eq!(case.evaluation.findings[0].help.as_deref(), Some(help));
        }
    }
    for form in [
        "(deny file-read* (with errno EPERM))",
        "(deny file-read* (with errno 3))",
        "(allow signal (signal-number 0))",
        "(allow system-privilege (privilege-id PRIV_ANY_AT_ALL))",
        "(allow syscall-unix (syscall-number SYS_anything))",
        "(allow file-read* (file-attribute has-multiple-names))",
    ] {
        assert_eq!(case(form).found(), [], "{form}");
    }
    assert_eq!(
        case("(deny signal (with send-signal 99))").found(),
        [("99 is no value of `send-signal`", "99")]
    );
    assert_eq!(case("(cond)").found(), [("`cond` needs a clause", "(cond)")]);
}

#[test]
fn imports_are_evaluated_in_place_or_stay_opaque() {
    let files = InMemory(
        [
            ("a.sb".to_owned(), "(version 1)(define lib \"/lib\")(import \"b.sb\")(allow signal)".to_owned()),
            ("b.sb".to_owned(), "(deny default)".to_owned()),
            ("loop.sb".to_owned(), "(import \"loop.sb\")".to_owned()),
        ]
        .into(),
    );
    let run = |forms: &str| whole(&format!("(version 1)\n{forms}"), &Params::default(), &files);
    let case = run("(import \"a.sb\")(import \"c.sb\")(allow file-read* (subpath lib))");
    assert_eq!(case.rules(), ["(deny default)", "(allow signal)", "(allow file-read* (subpath \"/lib\"))"]);
    let opaque = &case.evaluation.profile.opaque;
    assert_eq!((opaque.len(), opaque[0].name.as_str(), opaque[0].before), (1, "c.sb", 2));
    assert_eq!(case.sources.place(case.evaluation.profile.rules[0].span), "b.sb:1");
    assert_eq!(run("(import \"loop.sb\")").found(), [("`loop.sb` imports itself", "\"loop.sb\"")]);
}

#[test]
fn imports_come_from_the_directories_given_and_nowhere_else() {
    use palisade::sbpl::{Directories, Imports};
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("in");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(outer.path().join("secret.sb"), "x").unwrap();
    std::fs::write(inner.join("a.sb"), "y").unwrap();
    let inner = camino::Utf8PathBuf::from_path_buf(inner).unwrap();
    let directories = Directories(vec![inner.clone()]);
    assert_eq!(directories.load("a.sb").unwrap().2, b"y");
    assert_eq!(directories.load(inner.join("a.sb").as_str()).unwrap().2, b"y");
    for name in ["../secret.sb", "", "/etc/passwd", "b.sb", inner.join("../secret.sb").as_str()] {
        assert!(directories.load(name).is_none(), "{name}");
    }
}

#[test]
fn everything_else_is_refused_by_name_and_place() {
    for (form, message, underlined) in [
        ("(alow signal)", "unknown filter or form `alow`", "alow"),
        ("(allow file-raed*)", "unknown operation `file-raed*`", "file-raed*"),
        ("(allow file-read* (subpth \"/\"))", "unknown filter or form `subpth`", "subpth"),
        ("(deny default (with no-repport))", "unknown modifier `no-repport`", "no-repport"),
        ("(allow signal (target slef))", "`slef` is no value of `target`", "slef"),
        ("(allow network-outbound (remote ipp))", "expected a protocol, found `ipp`", "ipp"),
        ("(macro (f x) x)", "`macro` is not evaluated here", "macro"),
        ("(for-each f g)", "`for-each` is not evaluated here", "for-each"),
        ("(trace \"f\")", "`trace` is not evaluated here", "trace"),
        ("(allow file-read* \"/x\")", "a text by itself is no filter", "\"/x\""),
        ("(allow (literal \"/x\"))", "`allow` needs an operation", "(allow (literal \"/x\"))"),
        ("(allow signal (with no-log))", "`no-report` stands on a denial only", "no-log"),
        ("(deny process-exec (with no-sandbox))", "`no-sandbox` stands on an allowance only", "no-sandbox"),
        ("(define allow deny)", "`allow` is a word of the language, and cannot be defined anew", "allow"),
        (
            "(define (subpath x) (literal x))",
            "`subpath` is a word of the language, and cannot be defined anew",
            "subpath",
        ),
        ("(allow file-read* (literal 3))", "expected a text, found a number", "3"),
        ("(allow file-read* (literal))", "`literal` needs a value", "(literal)"),
        ("(allow file-read* (require-all))", "`require-all` needs a filter", "(require-all)"),
        (
            "((lambda (x) x))",
            "wrong number of arguments: 1 are needed here, and 0 are given",
            "((lambda (x) x))",
        ),
        ("(quote (a))", "quoted lists are not evaluated here", "(a)"),
        ("()", "an empty list does nothing", "()"),
    ] {
        assert_eq!(case(form).found(), [(message, underlined)], "{form}");
    }
    let two = case("(allow file-raed* file-wriet* (literal \"/x\"))");
    assert_eq!(two.found().len(), 2, "{:?}", two.found());
    let help: Vec<_> = two.evaluation.findings.iter().filter_map(|finding| finding.help.as_deref()).collect();
    assert_eq!(help, ["did you mean `file-read*`?", "did you mean `file-write*`?"]);
}

#[test]
fn what_many_rules_share_is_counted_and_not_listed_without_end() {
    let many = case(&format!("(allow default){}", "(allow file-read* (subpath \"/tmp/x\"))\n".repeat(250)));
    let findings = palisade::sbpl::lint::run(&many.sources, &many.evaluation);
    assert_eq!(
        findings.iter().filter(|finding| finding.severity > palisade::finding::Severity::Note).count(),
        200
    );
    assert!(findings.iter().any(|finding| finding.message == "50 more of `dead-path` are not listed"));
}
