//! Mistakes people make, and what they are told.

use crate::{body, case};

/// One mistake in a statement of a profile: the message, what is underlined, and a piece of the help.
#[track_caller]
fn mistake(statement: &str, message: &str, underlined: &str, help: &str) {
    let case = body(statement);
    let finding = case.only();
    assert_eq!((finding.message.as_str(), case.underlined(finding)), (message, underlined), "{finding:#?}");
    let said = finding.help.as_deref().unwrap_or_default();
    assert!(said.contains(help), "help of `{statement}`: {said}");
}

/// A mistake that is gone after its fix; what stands there then.
#[track_caller]
fn fixes(statement: &str, right: &str) {
    let before = body(statement);
    before.only();
    let after = before.fixed();
    assert_eq!(after, format!("edition 1\nprofile \"p\" {{\n{right}\n}}\n"));
    assert_eq!(case(&after).found(), [], "{after}");
}

#[test]
fn words_that_are_none() {
    mistake("rot \"x\" read-only", "unknown word `rot`", "rot", "did you mean `root`?");
    mistake("include \"std/git\"", "unknown word `include`", "include", "did you mean `use`?");
    mistake("allow \"/srv\"", "unknown word `allow`", "allow", "did you mean `root`?");
    mistake("filesystem \"/srv\"", "unknown word `filesystem`", "filesystem", "did you mean `root`?");
    mistake("cwd \"/srv\"", "unknown word `cwd`", "cwd", "did you mean `working-directory`?");
    mistake("xyzzy", "unknown word `xyzzy`", "xyzzy", "statements begin with `description`");
    mistake("\"/srv\" read-only", "expected a word, found `\"/srv\"`", "\"/srv\"", "statements begin with");
    fixes("mount \"x\" read-only", "root \"x\" read-only");
}

#[test]
fn roots() {
    mistake(
        "root \"x\"",
        "expected `read-only` or `read-write` after `\"x\"`",
        "\"x\"",
        "`root \"x\" read-only` or `root \"x\" read-write`",
    );
    mistake("root \"x\" rw", "unknown word `rw`", "rw", "did you mean `read-write`?");
    mistake("root \"x\" readonly", "unknown word `readonly`", "readonly", "did you mean `read-only`?");
    mistake(
        "root read-write \"x\"",
        "the path comes before what may be done with it",
        "read-write",
        "write `root \"x\" read-write`",
    );
    mistake(
        "root $workspace/src read-only",
        "expected a quoted path, found `$workspace/src`",
        "$workspace/src",
        "texts are quoted: `\"$workspace/src\"`",
    );
    mistake("root", "expected a quoted path after `root`", "root", "");
    mistake(
        "root \"x\" read-only \"y\"",
        "unexpected `\"y\"` after the end of the statement",
        "\"y\"",
        "write the statement again",
    );
    mistake("root \"x\" read-only { }", "`root` takes no block", "{", "");
    mistake(
        "deny \"x\" read-write",
        "unexpected `read-write` after the end of the statement",
        "read-write",
        "only `root` says",
    );
    fixes("root ro \"x\"", "root \"x\" read-only");
    fixes("root $workspace read-only", "root \"$workspace\" read-only");
    fixes("root \"x\" rw", "root \"x\" read-write");
}

#[test]
fn two_statements_on_one_line() {
    mistake("deny \"x\" deny \"y\"", "two statements on one line", "deny", "a `;` between them");
    fixes("deny \"x\" deny \"y\"", "deny \"x\" ; deny \"y\"");
}

#[test]
fn lists() {
    mistake("tools", "expected a tool's name or an `@group` after `tools`", "tools", "`tools [ ]`");
    mistake(
        "tools git, jq",
        "expected a tool's name or an `@group`, found `git,`",
        "git,",
        "parted by blanks",
    );
    mistake("tools g++", "expected a tool's name or an `@group`, found `g++`", "g++", "is quoted: `\"g++\"`");
    mistake(
        "tools /usr/bin/git",
        "expected a tool's name or an `@group`, found `/usr/bin/git`",
        "/usr/bin/git",
        "`tool \"/usr/bin/git\"`",
    );
    mistake("needs \"tls\"", "expected a name, found `\"tls\"`", "\"tls\"", "without quotes");
    mistake("tools [ git", "a list that is not closed", "[", "close it with `]`");
    fixes("tools git, jq", "tools git jq");
    fixes("tools g++ make", "tools \"g++\" make");
    fixes("needs \"tls\"", "needs tls");
}

#[test]
fn modes() {
    mistake("network on", "unknown word `on`", "on", "did you mean `all`?");
    mistake("network none", "unknown word `none`", "none", "did you mean `off`?");
    mistake("network", "expected `off`, `all` or `only { … }` after `network`", "network", "");
    mistake("network only", "expected `{` after `network only`", "network only", "`network only { … }`");
    mistake("network off { }", "`network off` takes no block", "{", "`network only { … }`");
    mistake("ipc on", "unknown word `on`", "on", "did you mean `shared-memory`?");
    mistake("on windows { }", "expected `macos` or `linux`, found `windows`", "windows", "");
    mistake("on darwin { }", "unknown word `darwin`", "darwin", "did you mean `macos`?");
}

#[test]
fn reasons() {
    mistake("unguard \"x\"", "expected `because` after `\"x\"`", "\"x\"", "a reason is required");
    mistake("unguard \"x\" because", "expected a quoted reason after `because`", "because", "");
    mistake("unguard \"x\" because tests", "expected a quoted reason, found `tests`", "tests", "\"tests\"");
}

#[test]
fn denials() {
    mistake(
        "deny golb \"/x\"",
        "expected a quoted path, `glob \"…\"` or `gitignored \"…\"`, found `golb`",
        "golb",
        "did you mean `glob`?",
    );
    mistake("deny glob", "expected a quoted pattern after `glob`", "glob", "");
    mistake("deny gitignored \"x\" except", "expected a quoted name after `except`", "except", "");
}

#[test]
fn amounts() {
    mistake("limits { time 30 }", "`30` has no unit", "30", "`ms`, `s`, `m` or `h`");
    mistake("limits { time 5min }", "unknown unit `min`", "5min", "did you mean `5m`?");
    mistake("limits { output 5s }", "`s` is not a unit of `output`", "5s", "`KiB`");
    mistake("limits { processes 0 }", "a limit of `0` would let nothing run", "0", "");
    mistake("limits { output 99999999999GiB }", "`99999999999GiB` is too large", "99999999999GiB", "");
    mistake("limits { timeout 5s }", "unknown word `timeout`", "timeout", "did you mean `time`?");
    mistake(
        "limits { time = 5s }",
        "expected an amount such as `30s`, `4MiB` or `256`, found `=`",
        "=",
        "parted by blanks",
    );
    mistake("limits { time }", "expected an amount such as `30s`, `4MiB` or `256` after `time`", "time", "");
    fixes("limits { time 5min }", "limits { time 5m }");
}

#[test]
fn entries_of_blocks() {
    mistake("env { export A \"x\" }", "unknown word `export`", "export", "did you mean `set`?");
    mistake("env { set A }", "expected a quoted value after `A`", "A", "");
    mistake("env { set A x }", "expected a quoted value, found `x`", "x", "`\"x\"`");
    mistake("env { A \"x\" }", "unknown word `A`", "A", "write `set A \"VALUE\"`, or `pass A`");
    mistake("network only { permit \"x.com\" }", "unknown word `permit`", "permit", "did you mean `allow`?");
    mistake("network only { allow x.com }", "expected a quoted host, found `x.com`", "x.com", "`\"x.com\"`");
    mistake("network only { localhost }", "expected a port after `localhost`", "localhost", "");
    mistake("network only { localhost \"80\" }", "expected a port, found `\"80\"`", "\"80\"", "");
    mistake(
        "network only { localhost 80 81 }",
        "unexpected `81` after the end of the statement",
        "81",
        "one port a line",
    );
    mistake("network only { localhost :80 }", "expected a port, found `:80`", ":80", "");
    mistake(
        "network only { loopback 80 }",
        "unknown word `loopback`",
        "loopback",
        "did you mean `localhost`?",
    );
    mistake("network only { socket \"/x\" }", "unknown word `socket`", "socket", "did you mean `unix`?");
    mistake("localhost 80", "unknown word `localhost`", "localhost", "");
    mistake("expect { read \"x\" yes }", "unknown word `yes`", "yes", "did you mean `allowed`?");
    mistake(
        "expect { read \"x\" }",
        "expected `allowed` or `denied` after `\"x\"`",
        "\"x\"",
        "must be the answer",
    );
}

#[test]
fn what_may_be_asked_of_a_host() {
    let mistake = |line: &str, message: &str, underlined: &str, help: &str| {
        mistake(&format!("network only {{ {line} }}"), message, underlined, help);
    };
    let fixes = |line: &str, right: &str| {
        fixes(&format!("network only {{ {line} }}"), &format!("network only {{ {right} }}"));
    };
    let missing = "expected a method such as `GET` after `methods`";
    mistake("allow \"x.com\" methods", missing, "methods", "write `methods GET HEAD`");
    mistake("allow \"x.com\" method GET", "unknown word `method`", "method", "did you mean `methods`?");
    mistake("allow \"x.com\" path \"/a\"", "unknown word `path`", "path", "did you mean `paths`?");
    mistake("allow \"x.com\" verbs GET", "unknown word `verbs`", "verbs", "did you mean `methods`?");
    mistake("allow \"x.com\" methods GET path \"/a\"", "unknown word `path`", "path", "`paths`");
    let found = "expected a method such as `GET`, found";
    mistake("allow \"x.com\" methods get", &format!("{found} `get`"), "get", "in upper case");
    mistake("allow \"x.com\" methods \"GET\"", &format!("{found} `\"GET\"`"), "\"GET\"", "without quotes");
    mistake(
        "allow \"x.com\" methods GET,HEAD",
        &format!("{found} `GET,HEAD`"),
        "GET,HEAD",
        "parted by blanks",
    );
    mistake("allow \"x.com\" methods *", &format!("{found} `*`"), "*", "where `methods` is left out");
    mistake("allow \"x.com\" methods [ ]", "an empty list of methods", "]", "nothing could be asked then");
    mistake("allow \"x.com\" paths [ ]", "an empty list of paths", "]", "nothing could be asked then");
    mistake("allow \"x.com\" GET", "`methods` is missing before `GET`", "GET", "write `methods GET`");
    mistake("allow \"x.com\" \"/a\"", "`paths` is missing before `\"/a\"`", "\"/a\"", "write `paths \"/a\"`");
    mistake(
        "allow \"x.com\" \"y.com\"",
        "unexpected `\"y.com\"` after the host",
        "\"y.com\"",
        "one host a line",
    );
    mistake(
        "allow \"x.com\" paths",
        "expected a quoted path of requests after `paths`",
        "paths",
        "every one is allowed",
    );
    mistake("allow \"x.com\" paths /a", "expected a quoted path of requests, found `/a`", "/a", "`\"/a\"`");
    mistake(
        "allow \"x.com\" paths \"/a\" methods GET",
        "`methods` after `paths`",
        "methods",
        "methods GET paths",
    );
    mistake(
        "deny \"x.com\" methods GET",
        "`methods` after a denial",
        "methods",
        "`allow \"HOST\" methods GET HEAD`",
    );
    mistake("inspect \"x.com\" methods GET", "`methods` after `inspect`", "methods", "write `allow`");
    mistake("inspect x.com", "expected a quoted host, found `x.com`", "x.com", "`\"x.com\"`");
    mistake("intercept \"x.com\"", "unknown word `intercept`", "intercept", "did you mean `inspect`?");
    mistake("methods GET", "unknown word `methods`", "methods", "on the line of its `allow`");
    fixes("allow \"x.com\" methods get", "allow \"x.com\" methods GET");
    fixes("allow \"x.com\" methods GET post", "allow \"x.com\" methods GET POST");
    fixes("allow \"x.com\" methods GET,head", "allow \"x.com\" methods GET HEAD");
    fixes("allow \"x.com\" methods [ \"GET\" ]", "allow \"x.com\" methods [ GET ]");
    fixes("allow \"x.com\" GET HEAD", "allow \"x.com\" methods GET HEAD");
    fixes("allow \"x.com\" \"/a\" \"/b\"", "allow \"x.com\" paths \"/a\" \"/b\"");
    fixes(
        "allow \"x.com\" paths \"/a\" \"/b\" methods GET HEAD",
        "allow \"x.com\" methods GET HEAD paths \"/a\" \"/b\"",
    );
    fixes("inspect \"x.com\" methods GET", "allow \"x.com\" methods GET");
}

#[test]
fn masked_variables() {
    let mistake = |line: &str, message: &str, underlined: &str, help: &str| {
        mistake(&format!("env {{ {line} }}"), message, underlined, help);
    };
    let fixes = |line: &str, right: &str| fixes(&format!("env {{ {line} }}"), &format!("env {{ {right} }}"));
    mistake("mask A", "expected `for` after `A`", "A", "`mask A for \"api.example.com\"`");
    mistake("mask A for", "expected a quoted host after `for`", "for", "hosts that get the value");
    mistake("mask A for [ ]", "an empty list of hosts", "]", "name a host");
    mistake("mask A \"x.com\"", "expected `for`, found `\"x.com\"`", "\"x.com\"", "stand after `for`");
    mistake("mask A to \"x.com\"", "expected `for`, found `to`", "to", "did you mean `for`?");
    mistake("mask A for x.com", "expected a quoted host, found `x.com`", "x.com", "`\"x.com\"`");
    mistake("mask for \"x.com\"", "expected a variable's name, found `for`", "for", "`mask NAME for");
    mistake("mask $A for \"x.com\"", "expected a variable's name, found `$A`", "$A", "without `$`");
    mistake(
        "mask A=b for \"x.com\"",
        "expected a variable's name, found `A=b`",
        "A=b",
        "stands in no profile",
    );
    mistake("pass $A", "expected a variable's name, found `$A`", "$A", "without `$`");
    mistake("secret A for \"x.com\"", "unknown word `secret`", "secret", "did you mean `mask`?");
    fixes("mask A \"x.com\"", "mask A for \"x.com\"");
    fixes("mask A to \"x.com\"", "mask A for \"x.com\"");
    fixes("mask $A for \"x.com\"", "mask A for \"x.com\"");
    super::mistakes::mistake("mask A for \"x.com\"", "unknown word `mask`", "mask", "stands in `env { … }`");
    super::mistakes::mistake(
        "inspect \"x.com\"",
        "unknown word `inspect`",
        "inspect",
        "in `network only { … }`",
    );
}

#[test]
fn strings() {
    mistake("deny \"x", "a text that is not closed", "\"x", "close it with `\"`");
    mistake("deny r#\"x\"", "a text that is not closed", "r#\"x\"", "close it with `\"#`");
    mistake("deny \"a\\qb\"", "unknown escape `\\q`", "\\q", "in `r#\"…\"#` nothing is special");
    mistake("deny \"\\u{d800}\"", "`\\u{d800}` is not a character", "\\u{d800}", "");
    mistake("deny \"\\u{0}\"", "no text may hold a NUL", "\\u{0}", "");
    mistake(
        "deny \"\\u{1234567}\"",
        "an escape `\\u{…}` holds one to six hexadecimal digits",
        "\\u{1234567}",
        "",
    );
    mistake("deny \"a$ b\"", "a `$` that names no variable", "$", "write `\\$`");
    mistake("deny \"${a-b}\"", "a `$` that names no variable", "$", "`${name}`");
    mistake("deny \"a\tb\"", "a character that cannot be seen: U+0009", "\t", "`\\t`");
    mistake("deny \"a\u{202e}b\"", "a character that cannot be seen: U+202E", "\u{202e}", "`\\u{202e}`");
    mistake("deny r\"a\u{200b}b\"", "a character that cannot be seen: U+200B", "\u{200b}", "remove it");
    mistake("deny \"a\" # \u{2067}x", "a character that cannot be seen: U+2067", "\u{2067}", "remove it");
    fixes("deny \"a$\"", "deny \"a\\$\"");
    fixes("deny \"a\u{202f}b\"", "deny \"a\\u{202f}b\"");
}

#[test]
fn statements_in_the_wrong_place() {
    mistake(
        "seatbelt \"(allow x)\" because \"y\"",
        "`seatbelt` stands outside `on macos`",
        "seatbelt",
        "`on macos {",
    );
    mistake(
        "on linux { seatbelt \"(allow x)\" because \"y\" }",
        "there is no Seatbelt on Linux",
        "seatbelt",
        "",
    );
    mistake("on macos { use \"x\" }", "`use` cannot stand in an `on` block", "use", "move it out");
    let case = case("edition 1\nfragment \"f\" {\n  working-directory \"x\"\n}\n");
    assert_eq!(case.found(), [("a fragment has no working directory".into(), "working-directory")]);
}

#[test]
fn a_forgotten_brace_is_told_of_where_it_is_missed() {
    let case = body("env {\n  set A \"x\"\nlimits { time 3s }\nroot \"x\" read-only");
    let finding = case.only();
    assert_eq!(finding.message, "`limits` cannot stand in `env`");
    assert_eq!(case.underlined(finding), "limits");
    assert_eq!(case.sources.line_column(finding.labels[1].span).line, 3);
    assert_eq!(case.keywords(), ["env", "limits", "root"]);
}

#[test]
fn an_open_block_names_where_it_was_opened_and_where_the_text_ends() {
    let case = case("edition 1\nprofile \"p\" {\n  deny \"x\"\n");
    let finding = case.only();
    assert_eq!(finding.message, "the block of `profile` is not closed");
    assert_eq!(
        finding.labels.iter().map(|label| case.sources.text(label.span)).collect::<Vec<_>>(),
        ["{", "\""]
    );
}

#[test]
fn braces_too_many_or_in_the_wrong_place() {
    let too_many = case("edition 1\nprofile \"p\" {\n}\n}\n");
    assert_eq!(too_many.found(), [("a `}` that closes nothing".into(), "}")]);
    let after = case("edition 1\nprofile \"p\" {\n}\ndeny \"x\"\n");
    assert_eq!(after.found(), [("`deny` stands outside the profile".into(), "deny")]);
    let same_line = body("limits { time 3s } deny \"x\"");
    assert_eq!(same_line.found(), [("text after the closing brace".into(), "deny")]);
    assert_eq!(same_line.keywords(), ["limits", "deny"]);
    let below = body("env\n{\n set A \"x\"\n}");
    assert_eq!(below.found(), [("the `{` is not on the line of its statement".into(), "{")]);
    assert_eq!(below.keywords(), ["env"]);
    assert_eq!(body("{ }").found(), [("a block that belongs to no statement".into(), "{")]);
}

#[test]
fn heads() {
    assert_eq!(case("").found(), [("the file holds no profile".into(), "")]);
    assert_eq!(case("# nothing\n").found(), [("the file holds no profile".into(), "")]);
    assert_eq!(
        case("edition 1\ndeny \"x\"\ndeny \"y\"\n").found(),
        [("`deny` stands outside a profile".into(), "deny")]
    );
    assert_eq!(case("edition 1\nprofil \"p\" {\n}\n").found(), [("unknown word `profil`".into(), "profil")]);
    assert_eq!(
        case("edition 1\nprofile p {\n}\n").found(),
        [("expected a quoted name, found `p`".into(), "p")]
    );
    assert_eq!(
        case("edition 1\nprofile \"p\"\n").found(),
        [("expected `{` after `profile \"p\"`".into(), "profile \"p\"")]
    );
    assert_eq!(case("edition 1\nprofile \"\" {\n}\n").found(), [("a profile without a name".into(), "\"\"")]);
    let two = case("edition 1\nprofile \"a\" {\n}\nprofile \"b\" {\n}\n");
    assert_eq!(two.found(), [("a second profile or fragment in one file".into(), "profile \"b\"")]);
}

#[test]
fn editions() {
    let missing = case("profile \"p\" {\n}\n");
    assert_eq!(missing.found(), [("the file does not say its edition".into(), "profile \"p\"")]);
    assert_eq!(missing.fixed(), "edition 1\n\nprofile \"p\" {\n}\n");
    assert_eq!(case("edition 2\nprofile \"p\" {\n}\n").found(), [("unknown edition `2`".into(), "2")]);
    assert_eq!(
        case("edition\nprofile \"p\" {\n}\n").found(),
        [("expected a number after `edition`".into(), "edition")]
    );
    assert_eq!(
        case("edition 1\nedition 1\nprofile \"p\" {\n}\n").found(),
        [("`edition` is stated twice".into(), "edition 1")]
    );
}

#[test]
fn what_can_be_said_once() {
    for (statements, message) in [
        ("network off\nnetwork all", "`network` is stated twice"),
        ("ipc off\nipc off", "`ipc` is stated twice"),
        ("description \"a\"\ndescription \"b\"", "`description` is stated twice"),
        ("working-directory \"a\"\nworking-directory \"b\"", "`working-directory` is stated twice"),
        ("limits { time 3s }\nlimits { time 4s }", "the limit `time` is stated twice"),
        ("env { set A \"x\"; pass A }", "the variable `A` is stated twice"),
        ("env { mask A for \"x.com\"; pass A }", "the variable `A` is stated twice"),
        ("param a\nparam a \"x\"", "the parameter `a` is stated twice"),
        ("group g [ a ]\ngroup g [ b ]", "the group `@g` is stated twice"),
        ("network off\non macos { network all }", "`network` is stated twice"),
    ] {
        let case = body(statements);
        let finding = case.only();
        assert_eq!(finding.message, message);
        assert_eq!(finding.labels.len(), 2);
        assert!(finding.labels[0].span > finding.labels[1].span, "the later one is the main place");
    }
    assert_eq!(body("on macos { network all }\non linux { network off }").found(), []);
}

#[test]
fn every_wrong_statement_is_told_of_in_one_run() {
    let case = body(
        "root \"a\"\nnetwrk off\nenv {\n  sett A \"x\"\n  set B \"y\"\n  set C\n}\ntools git\nenvironment {\n  passs D\n}\ndeny 'x'",
    );
    let underlined: Vec<&str> = case.found().into_iter().map(|(_, text)| text).collect();
    assert_eq!(underlined, ["\"a\"", "netwrk", "sett", "C", "environment", "passs", "'x'"]);
    assert_eq!(case.keywords(), ["env", "tools"]);
}

#[test]
fn ports_and_sockets_as_other_programs_write_them() {
    let line = |line: &str| format!("network only {{ {line} }}");
    for (written, underlined, message, right) in [
        ("localhost:5432", "localhost:5432", "`:` before a port", "localhost 5432"),
        ("localhost \"5432\"", "\"5432\"", "expected a port, found `\"5432\"`", "localhost 5432"),
        ("localhost :5432", ":5432", "expected a port, found `:5432`", "localhost 5432"),
        ("localhost '5432'", "'5432'", "expected a port, found `'5432'`", "localhost 5432"),
        (
            "unix:/run/x.sock",
            "unix:/run/x.sock",
            "`unix:` before the path of a socket",
            "unix \"/run/x.sock\"",
        ),
        (
            "unix:///run/x.sock",
            "unix:///run/x.sock",
            "`unix:` before the path of a socket",
            "unix \"/run/x.sock\"",
        ),
    ] {
        mistake(&line(written), message, underlined, &format!("write `{right}`"));
        fixes(&line(written), &line(right));
    }
    mistake(&line("localhost \"70000\""), "expected a port, found `\"70000\"`", "\"70000\"", "");
    mistake(
        &line("unix glob \"/run/*.sock\""),
        "expected a quoted path, found `glob`",
        "glob",
        "a pattern cannot be a socket",
    );
    mistake(
        "root glob \"/x\" read-only",
        "expected a quoted path, found `glob`",
        "glob",
        "only `deny` takes a pattern",
    );
    for text in ["unix glob \"/run/*.sock\"", "localhost \"70000\"", "unix file \"/run/x\""] {
        let case = body(&line(text));
        assert!(case.parsed.findings.iter().all(|finding| finding.fix.is_none()), "{text}");
    }
}
