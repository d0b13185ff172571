//! What the parser understands.

use crate::{body, case};
use palisade::syntax::ast::*;

fn kinds(statements: &str) -> Vec<StatementKind> {
    let case = body(statements);
    assert_eq!(case.found(), []);
    case.parsed.file.expect("a file").statements.into_iter().map(|statement| statement.kind).collect()
}

fn literal(text: &Text) -> String {
    let part = |part: &TextPart| match part {
        TextPart::Literal(literal) => literal.clone(),
        TextPart::Variable(name) => format!("<{}>", name.value),
    };
    text.parts.iter().map(part).collect()
}

fn denied(statement: &str) -> String {
    match kinds(statement).as_slice() {
        [StatementKind::Deny(text)] => literal(text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_whole_language() {
    let text = include_str!("whole.palisade");
    let case = case(text);
    assert_eq!(case.found(), []);
    let mut seen: Vec<&str> = case.keywords();
    let file = case.parsed.file.as_ref().expect("a file");
    for statement in &file.statements {
        if let StatementKind::On { statements, .. } = &statement.kind {
            seen.extend(statements.iter().map(|statement| statement.kind.keyword()));
        }
    }
    for word in palisade::syntax::words::STATEMENTS {
        assert!(seen.contains(&word), "`{word}` is in no statement");
    }
    assert_eq!(file.name.value, "whole");
    assert_eq!(case.sources.text(file.head), "profile \"whole\"");
}

#[test]
fn texts() {
    assert_eq!(denied("deny \"a\\\\b\\\"c\\n\\t\\r\\$\\u{e9}\""), "a\\b\"c\n\t\r$é");
    assert_eq!(denied("deny \"$a/${b}c/$d-e.$f\""), "<a>/<b>c/<d>-e.<f>");
    assert_eq!(denied("deny r\"\\$a\\n\""), "\\$a\\n");
    assert_eq!(denied("deny r##\"a\"#b # c\"##"), "a\"#b # c");
    assert_eq!(denied("deny \"a # { [ ; b\" # c"), "a # { [ ; b");
    assert_eq!(denied("deny \"\""), "");
    assert_eq!(denied("deny \"файл 文\""), "файл 文");
}

#[test]
fn spans_are_of_what_was_written() {
    let case = body("root \"$workspace/a\" read-only # c");
    let file = case.parsed.file.as_ref().expect("a file");
    let statement = &file.statements[0];
    assert_eq!(case.sources.text(statement.span), "root \"$workspace/a\" read-only");
    let StatementKind::Root { path, access } = &statement.kind else { panic!() };
    assert_eq!(case.sources.text(path.span), "\"$workspace/a\"");
    assert_eq!(case.sources.text(access.span), "read-only");
    let TextPart::Variable(name) = &path.parts[0] else { panic!() };
    assert_eq!(case.sources.text(name.span), "$workspace");
    let comment = &file.comments[0];
    assert_eq!((comment.text.as_str(), comment.own_line), ("c", false));
    assert_eq!(case.sources.text(comment.span), "# c");
}

#[test]
fn lists_run_over_lines_in_brackets() {
    let words = |statement: &str| match kinds(statement).remove(0) {
        StatementKind::Tools(words) => words.into_iter().map(|word| word.value).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(words("tools a \"[\" @b \"g++\" python3.12"), ["a", "[", "@b", "g++", "python3.12"]);
    assert_eq!(words("tools [ a # why\n\n b\n# c\n @d ]"), ["a", "b", "@d"]);
    assert_eq!(words("tools [ ]"), Vec::<String>::new());
}

#[test]
fn statements_end_with_lines_semicolons_and_braces() {
    let case = case("edition 1;profile \"p\" { deny \"a\";deny \"b\"; ; limits{time 3s;output 1KiB} }");
    assert_eq!(case.found(), []);
    assert_eq!(case.keywords(), ["deny", "deny", "limits"]);
}

#[test]
fn line_ends_and_marks_of_other_systems_change_nothing() {
    let unix = include_str!("whole.palisade");
    let kinds = |text: &str| {
        let case = case(text);
        assert_eq!(case.found(), []);
        case.keywords().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&format!("\u{feff}{}", unix.replace('\n', "\r\n"))), kinds(unix));
}

#[test]
fn limits_are_in_base_units() {
    let StatementKind::Limits(limits) =
        kinds("limits { time 2m; cpu 500ms; output 3KiB; processes 7 }").remove(0)
    else {
        panic!()
    };
    let amounts: Vec<_> = limits.iter().map(|limit| (limit.kind.name(), limit.amount)).collect();
    assert_eq!(amounts, [("time", 120_000), ("cpu", 500), ("output", 3072), ("processes", 7)]);
}

#[test]
fn every_entry_of_a_block_is_there() {
    let statements = kinds(
        "network only { allow \"a\" methods GET HEAD paths [ \"/x\"\n\"/y\" ]; inspect \"i\"; deny \"b\"; localhost 5432; unix \"/s\" }\nenv { set A \"x\"; pass B; set \"C\" r\"y\"; mask D for \"h\" \"i\" }\nexpect { read \"a\" allowed; exec \"b\" denied }",
    );
    let StatementKind::Network(network) = &statements[0] else { panic!() };
    let Network::Only(rules) = &network.value else { panic!() };
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| match &rule.kind {
            NetworkItemKind::Allow { host, methods, paths } => {
                let methods = methods.iter().map(|method| method.value.clone());
                let words: Vec<String> =
                    [literal(host)].into_iter().chain(methods).chain(paths.iter().map(literal)).collect();
                ("allow", words.join(" "))
            }
            NetworkItemKind::Inspect(host) => ("inspect", literal(host)),
            NetworkItemKind::Deny(text) => ("deny", literal(text)),
            NetworkItemKind::Unix(text) => ("unix", literal(text)),
            NetworkItemKind::Localhost(port) => ("localhost", port.value.clone()),
        })
        .collect();
    let expected = [
        ("allow", "a GET HEAD /x /y"),
        ("inspect", "i"),
        ("deny", "b"),
        ("localhost", "5432"),
        ("unix", "/s"),
    ];
    assert_eq!(rules, expected.map(|(word, text)| (word, text.to_owned())));
    let StatementKind::Env(items) = &statements[1] else { panic!() };
    let items: Vec<_> = items
        .iter()
        .map(|item| {
            (
                item.name.value.as_str(),
                match &item.kind {
                    EnvItemKind::Set(value) => Some(literal(value)),
                    EnvItemKind::Pass => None,
                    EnvItemKind::Mask(hosts) => {
                        Some(hosts.iter().map(literal).collect::<Vec<_>>().join(" for "))
                    }
                },
            )
        })
        .collect();
    assert_eq!(
        items,
        [
            ("A", Some("x".to_owned())),
            ("B", None),
            ("C", Some("y".to_owned())),
            ("D", Some("h for i".to_owned()))
        ]
    );
    let StatementKind::Expect(lines) = &statements[2] else { panic!() };
    let lines: Vec<_> =
        lines.iter().map(|line| (line.operation.value.as_str(), line.allowed.value)).collect();
    assert_eq!(lines, [("read", true), ("exec", false)]);
}
