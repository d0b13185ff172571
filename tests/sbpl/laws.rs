//! What holds for every profile.

use crate::whole;
use palisade::sbpl::read::{accepts, read};
use palisade::sbpl::{Engine, NoImports, Operation, Params, Profile, Subject, Verdict, print};
use palisade::source::Sources;
use proptest::prelude::*;

fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "(",
        ")",
        "(version 1)",
        "(allow",
        "(deny",
        "default",
        "file-read*",
        "(literal",
        "(subpath",
        "\"/a\"",
        "#\"^/a\"",
        "(require-not",
        "(with",
        "no-log",
        "(define",
        "x",
        "(param \"X\")",
        "(if",
        "#t",
        "'",
        "\"",
        "\\",
        "#",
        ";",
        "\n",
        "#|",
        "12",
        "é",
        ".",
        "(import \"a\")",
        "(let ((x",
        "(lambda (x)",
        "\0",
        "\\\"",
        "#!",
        "(string-append",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(/[a-zA-Zé\"\\\\ .;()#|$]{1,6}){1,3}".prop_map(|path| print::quoted(path.as_bytes())),
        prop::collection::vec(1u8.., 0..8).prop_map(|bytes| print::quoted(&bytes)),
        "/[a-z.*\\[\\]^$\\\\]{0,6}x".prop_map(|raw| format!("#\"{raw}\"")),
        Just("(param \"HOME\")".to_owned()),
        Just("(string-append (param \"HOME\") \"/x\" (regex-quote (param \"B\")))".to_owned()),
    ]
}

fn filter() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (
            prop::sample::select(vec![
                "literal",
                "subpath",
                "prefix",
                "regex",
                "global-name-prefix",
                "xattr",
                "extension"
            ]),
            text()
        )
            .prop_map(|(name, text)| format!("({name} {text})")),
        (text(), text()).prop_map(|(a, b)| format!("(path {a} {b})")),
        Just("(vnode-type SOCKET TTY)".to_owned()),
        Just("(remote ip \"*:443\")".to_owned()),
        Just("(local unix-socket)".to_owned()),
        Just("(device-major 14)".to_owned()),
        Just("(file-mode #o4000)".to_owned()),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|filter| format!("(require-not {filter})")),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(require-all {})", all.join(" "))),
            prop::collection::vec(inner, 1..4).prop_map(|any| format!("(require-any {})", any.join(" "))),
        ]
    })
}

fn rule() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = Operation::all().map(Operation::name).collect();
    let operations = prop::collection::vec(prop::sample::select(names), 1..4);
    let modifier = prop::sample::select(vec!["", "", "(with message \"a\\\"b\")", "(with send-signal 9)"]);
    (prop::bool::ANY, operations, prop::collection::vec(filter(), 0..3), modifier).prop_map(
        |(allow, operations, filters, modifier)| {
            let effect = if allow { "allow" } else { "deny" };
            format!("({effect} {} {} {modifier})", operations.join(" "), filters.join(" "))
        },
    )
}

fn profile() -> impl Strategy<Value = String> {
    let form = prop_oneof![8 => rule(), 1 => rule().prop_map(|rule| format!("(when (param \"W\") {rule})")), 1 => Just("(import \"a.sb\")".to_owned())];
    prop::collection::vec(form, 0..10).prop_map(|forms| format!("(version 1)\n{}\n", forms.join("\n")))
}

fn parsed(text: &str) -> Profile {
    Profile::parse(text, &Params::default(), &NoImports)
        .unwrap_or_else(|findings| panic!("{text}\n{findings:#?}"))
}

/// Conditions and texts that hang on two parameters, and rules made of them.
fn condition() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "(param \"P\")",
        "(param \"Q\")",
        "(equal? (param \"P\") \"/a\")",
        "(string=? (param \"Q\") (param \"P\"))",
        "#t",
        "#f",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("(not {a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(and {a} {b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(or {a} {b})")),
        ]
    })
}

fn hanging_text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["\"/a\"", "\"/b\"", "(param \"P\")", "(param \"Q\")"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(or {a} {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(and {a} {b})")),
            (condition(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!("(if {c} {a} {b})")),
            (condition(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| format!("(cond ({c} {a}) (else {b}))")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("(let ((v {a})) (string-append v {b}))")),
        ]
    })
}

fn hanging_rule() -> impl Strategy<Value = String> {
    let effect = prop::sample::select(vec!["allow", "deny"]);
    let operation = prop::sample::select(vec!["file*", "file-read*", "file-read-data"]);
    let filter = prop_oneof![
        hanging_text().prop_map(|text| format!("(subpath {text})")),
        hanging_text().prop_map(|text| format!("(require-not (literal {text}))")),
        Just(String::new()),
    ];
    let rule = (effect, operation, filter)
        .prop_map(|(effect, operation, filter)| format!("({effect} {operation} {filter})"));
    (condition(), rule.clone(), rule, 0usize..5).prop_map(|(condition, a, b, form)| match form {
        0 => format!("(if {condition} {a} {b})"),
        1 => format!("(when {condition} {a})"),
        2 => format!("(or {condition} {a})"),
        3 => format!("(and {condition} {a} {b})"),
        _ => a,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_soup_gets_an_answer(text in soup()) {
        let case = whole(&text, &Params::default(), &NoImports);
        for finding in palisade::sbpl::lint::run(&case.sources, &case.evaluation) {
            for label in &finding.labels {
                prop_assert!(case.sources.file(label.span.file).text.get(label.span.range()).is_some());
            }
        }
    }

    #[test]
    fn any_string_gets_an_answer(text in "(?s).{0,200}") {
        whole(&text, &Params::default(), &NoImports);
    }

    /// Piece by piece, or as one file: the grammar gives the same answer, but for what only values can break.
    #[test]
    fn piece_by_piece_is_the_whole_grammar(text in soup()) {
        let mut sources = Sources::new();
        let file = sources.add("x.sb", None, text.as_str());
        let read = read(&sources, file);
        let beyond = ["this escape means nothing", "a text cannot hold a NUL"];
        let wrong = read.findings.iter().any(|finding| !beyond.iter().any(|m| finding.message == *m) && !finding.message.ends_with("too large a number"));
        let torn = text.contains("\\\"") || text.contains("\\ \"");
        if !torn {
            prop_assert_eq!(accepts(&text), !wrong, "{:?}", read.findings);
        }
    }

    /// print → read → print changes nothing, and neither does it what the profile decides.
    #[test]
    fn what_is_printed_reads_back(text in profile(), path in "(/[a-z.]{1,3}){1,3}") {
        let first = parsed(&text);
        let printed = print::profile(&first);
        let second = parsed(&printed);
        prop_assert_eq!(&print::profile(&second), &printed);
        for name in ["file-read-data", "file-write-create", "network-outbound", "file-link", "process-fork"] {
            let operation = Operation::named(name).expect("an operation");
            for engine in [Engine::PerOperation, Engine::LastMatch] {
                let subject = Subject::path(path.as_str());
                prop_assert_eq!(
                    first.decide(operation, &subject, engine).verdict,
                    second.decide(operation, &subject, engine).verdict
                );
            }
        }
    }

    #[test]
    fn data_read_back_as_they_were_printed(text in profile()) {
        let data = |text: &str| {
            let mut sources = Sources::new();
            let file = sources.add("x.sb", None, text);
            read(&sources, file).data.iter().map(print::datum).collect::<Vec<_>>()
        };
        let first = data(&text);
        prop_assert_eq!(data(&first.join("\n")), first);
    }

    /// Where every rule names the one leaf that is asked, filtered rules are asked in the same order by both engines.
    #[test]
    fn both_engines_agree_on_filtered_rules_for_one_leaf(
        rules in prop::collection::vec((prop::bool::ANY, prop::bool::ANY, "(/[ab]){1,3}"), 0..8),
        path in "(/[ab]){1,3}",
    ) {
        let rules: String = rules.iter().map(|(allow, tree, path)| {
            let effect = if *allow { "allow" } else { "deny" };
            let form = if *tree { "subpath" } else { "literal" };
            format!("({effect} file-read-data ({form} \"{path}\"))")
        }).collect();
        let profile = parsed(&format!("(version 1)(deny default){rules}"));
        let read = Operation::named("file-read-data").expect("an operation");
        let subject = Subject::path(path.as_str());
        let verdict = |engine| profile.decide(read, &subject, engine).verdict;
        prop_assert_eq!(verdict(Engine::PerOperation), verdict(Engine::LastMatch));
        prop_assert!(verdict(Engine::PerOperation) != Verdict::Unknown);
    }

    /// What more is known never turns an allowance into a denial or the reverse.
    #[test]
    fn knowing_more_only_settles(text in profile(), path in "(/[a-z.]{1,3}){1,3}", kind in prop::sample::select(vec!["SOCKET", "TTY", "DIRECTORY"])) {
        use palisade::sbpl::decide::Fact;
        let profile = parsed(&text);
        for operation in Operation::named("file*").expect("an operation").leaves() {
            let vague = profile.decide(operation, &Subject::path(path.as_str()), Engine::PerOperation).verdict;
            let subject = Subject::path(path.as_str()).with("vnode-type", Fact::Is(kind.into())).with("device-major", Fact::Number(14)).with("xattr", Fact::Absent);
            let exact = profile.decide(operation, &subject, Engine::PerOperation).verdict;
            prop_assert!(vague == Verdict::Unknown || vague == exact, "{operation:?} {vague:?} {exact:?}");
        }
    }

    /// What is certain without a parameter's value is so with every value.
    #[test]
    fn a_value_never_turns_what_was_certain(
        rules in prop::collection::vec(hanging_rule(), 1..6),
        path in prop::sample::select(vec!["/a", "/b", "/a/b", "/b/a"]),
    ) {
        let text = format!("(version 1)(deny default){}", rules.join(""));
        let read = Operation::named("file-read-data").expect("an operation");
        let verdict = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            let profile = Profile::parse(&text, &Params { given, complete: false }, &NoImports);
            profile.map(|profile| profile.decide(read, &Subject::path(path), Engine::PerOperation).verdict)
        };
        let Ok(vague) = verdict(&[]) else { return Err(TestCaseError::reject("not understood")) };
        for (p, q) in [("/a", "/a"), ("/a", "/b"), ("/b", "/a"), ("", "/b"), ("/b", "")] {
            if let Ok(exact) = verdict(&[("P", p), ("Q", q)]) {
                prop_assert!(vague == Verdict::Unknown || exact == vague || exact == Verdict::Unknown, "{text} {p} {q}");
            }
        }
    }
}
