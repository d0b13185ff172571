//! What is wrong beyond the grammar, and what people are told.

use crate::{body, fragment, options, profile, resolve_with};
use palisade::policy::Network;

/// One mistake: the message, what is underlined, and a piece of the help.
#[track_caller]
fn mistake(statements: &str, message: &str, underlined: &str, help: &str) {
    let case = body(statements);
    assert_eq!(case.found(), [(message, underlined)]);
    let said = case.only().help.as_deref().unwrap_or_default();
    assert!(said.contains(help), "{said}");
}

#[test]
fn variables() {
    mistake(
        "deny \"$worskpace/a\"",
        "unknown variable `$worskpace`",
        "$worskpace",
        "did you mean `$workspace`?",
    );
    mistake("deny \"$HOME/a\"", "unknown variable `$HOME`", "$HOME", "did you mean `$home`?");
    mistake("deny \"$cwd/a\"", "unknown variable `$cwd`", "$cwd", "did you mean `$workspace`?");
    mistake("deny \"${xyzzy}\"", "unknown variable `$xyzzy`", "${xyzzy}", "`param xyzzy");
    mistake("param a\ndeny \"$a\"", "the parameter `a` has no value", "param a", "`--set a=VALUE`");
    mistake("param home \"x\"", "`$home` has its value already", "home", "");
    mistake("param a-b \"x\"", "`a-b` cannot be the name of a parameter", "a-b", "letters, digits and `_`");
    mistake("param a \"$b\"", "`$b` cannot stand in a default", "$b", "`$workspace` and `$home` only");
    let both = body("deny \"$aa/$bb\"");
    assert_eq!(both.found(), [("unknown variable `$aa`", "$aa"), ("unknown variable `$bb`", "$bb")]);
}

#[test]
fn settings_of_parameters_that_are_not_there() {
    let mut options = options();
    options.set.insert("outptu".into(), "x".into());
    let case = resolve_with(&profile("param output \"x\""), &[], &options);
    assert_eq!(case.found(), [("`--set outptu`: no such parameter", "")]);
    assert_eq!(case.only().help.as_deref(), Some("did you mean `output`?"));
}

#[test]
fn paths() {
    mistake("deny \"\"", "an empty path", "\"\"", "`$workspace`");
    mistake("deny \"~root/x\"", "`~root` is not a home", "\"~root/x\"", "`./~root`");
    mistake(
        "deny gitignored \".\" except \"../x\"",
        "`../x` cannot be excepted",
        "\"../x\"",
        "below the path",
    );
}

#[test]
fn patterns() {
    mistake(
        "deny glob \"**/*.pem\"",
        "the pattern `**/*.pem` hangs on no directory",
        "\"**/*.pem\"",
        "`\"$workspace/…\"`",
    );
    mistake("deny glob \"/a/../b\"", "`..` in a pattern", "\"/a/../b\"", "write the path out");
    let case = body("deny glob \"/a/[b\"\ndeny glob \"/a/{b\"");
    let underlined: Vec<_> = case.found().into_iter().map(|(_, text)| text).collect();
    assert_eq!(underlined, ["\"/a/[b\"", "\"/a/{b\""]);
}

#[test]
fn tools() {
    mistake(
        "tools \"/usr/bin/git\"",
        "`/usr/bin/git` is a path, not the name of a tool",
        "\"/usr/bin/git\"",
        "`tool \"/usr/bin/git\"`",
    );
    mistake("tools \"..\"", "`..` is a directory", "\"..\"", "`tool \"PATH\"`");
    mistake("optional-tools \"\"", "a tool without a name", "\"\"", "");
    mistake("tools @inspectoin", "unknown group `@inspectoin`", "@inspectoin", "did you mean `@inspection`?");
    mistake("group write [ a ]", "the group `@write` is defined by `std/write`", "write", "another name");
    mistake("group mine [ @write ]\ntools @mine", "a group in a group", "@write", "");
    mistake("needs ttls", "unknown need `ttls`", "ttls", "did you mean `tls`?");
    mistake("needs certificates", "unknown need `certificates`", "certificates", "did you mean `tls`?");
    mistake("needs xyzzy", "unknown need `xyzzy`", "xyzzy", "`cpu-info`");
}

#[test]
fn environment() {
    mistake(
        "env { set \"A=B\" \"x\" }",
        "`A=B` cannot be the name of a variable",
        "\"A=B\"",
        "`set A \"…\"`",
    );
    mistake("env { pass \"1A\" }", "`1A` cannot be the name of a variable", "\"1A\"", "");
}

#[test]
fn hosts() {
    mistake("network only { allow \"**.x.com\" }", "`**.` has no meaning", "\"**.x.com\"", "`*.x.com`");
    for port in ["0", "65536", "05432", "99999999999999999999"] {
        let said = format!("`{port}` is not a port");
        mistake(&format!("network only {{ localhost {port} }}"), &said, port, "1 to 65535");
    }
    mistake(
        "network only { allow \"localhost:80\" }",
        "`localhost` is the command's own",
        "\"localhost:80\"",
        "write `localhost 80`",
    );
    mistake(
        "network only { allow \"127.0.0.1\" }",
        "`127.0.0.1` is this machine",
        "\"127.0.0.1\"",
        "`localhost PORT`",
    );
    mistake(
        "network only { allow \"224.0.0.1\" }",
        "`224.0.0.1` is no machine of the public network",
        "\"224.0.0.1\"",
        "multicast",
    );
    mistake("network only { allow \"*\" }", "`*` allows every host", "\"*\"", "`network all`");
    mistake(
        "network only { allow \"127.1\" }",
        "`127.1` reads as an address, but is none written out",
        "\"127.1\"",
        "four decimal numbers",
    );
    mistake(
        "network only { allow \"169.254.169.254\" }",
        "`169.254.169.254` can never be allowed",
        "\"169.254.169.254\"",
        "credentials",
    );
    mistake(
        "expect { connect \"*.x.com\" denied }",
        "an expectation about many hosts",
        "\"*.x.com\"",
        "ask about one",
    );
}

#[test]
fn expectations() {
    mistake("expect { raed \"a\" denied }", "unknown operation `raed`", "raed", "did you mean `read`?");
    mistake("expect { run \"git\" allowed }", "unknown operation `run`", "run", "did you mean `exec`?");
    mistake("expect { exec \"..\" allowed\nread \"$x\" denied }", "unknown variable `$x`", "$x", "");
}

#[test]
fn blocks_for_the_other_system_are_checked_too() {
    mistake("on macos { deny \"$x\" }", "unknown variable `$x`", "$x", "");
    mistake("on macos { tools @nope }", "unknown group `@nope`", "@nope", "");
    mistake("on macos { seatbelt \"(allow signal)\" because \" \" }", "an empty reason", "\" \"", "say why");
}

#[test]
fn uses() {
    mistake(
        "use \"std/gti\"",
        "no fragment `std/gti` ships with the program",
        "\"std/gti\"",
        "did you mean `std/git`?",
    );
    mistake(
        "use \"std/git.palisade\"",
        "no fragment `std/git.palisade` ships with the program",
        "\"std/git.palisade\"",
        "did you mean `std/git`?",
    );
    mistake("use \"git\"", "there is no file `/work/git`", "\"git\"", "`std/git`");
    mistake(
        "use \"nope.palisade\"",
        "there is no file `/work/nope.palisade`",
        "\"nope.palisade\"",
        "relative to the file",
    );
    mistake("param a \"x\"\nuse \"$a\"", "`$a` cannot stand in `use`", "$a", "must not hang on a parameter");
    mistake(
        "use \"p.palisade\"",
        "a fragment uses itself: p.palisade -> p.palisade",
        "use \"p.palisade\"",
        "third fragment",
    );
}

#[test]
fn a_profile_is_no_fragment() {
    let case =
        resolve_with(&profile("use \"q.palisade\""), &[("/work/q.palisade", &profile(""))], &options());
    assert_eq!(case.found(), [("`q.palisade` is a profile, not a fragment", "\"q.palisade\"")]);
    assert_eq!(case.sources.text(case.only().labels[1].span), "profile \"p\"");
}

#[test]
fn a_cycle_shows_its_chain() {
    let files = [
        ("/work/a.palisade", fragment("use \"b.palisade\"")),
        ("/work/b.palisade", fragment("use \"c.palisade\"")),
        ("/work/c.palisade", fragment("use \"./a.palisade\"")),
    ];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let case = resolve_with(&profile("use \"a.palisade\""), &files, &options());
    let finding = case.only();
    assert_eq!(
        finding.message,
        "a fragment uses itself: a.palisade -> b.palisade -> c.palisade -> a.palisade"
    );
    let places: Vec<_> = finding.labels.iter().map(|label| case.sources.place(label.span)).collect();
    assert_eq!(places, ["c.palisade:3", "a.palisade:3", "b.palisade:3"]);
}

#[test]
fn a_wrong_fragment_is_told_of_in_its_own_text() {
    let case = resolve_with(
        &profile("use \"f.palisade\""),
        &[("/work/f.palisade", &fragment("rot \"x\""))],
        &options(),
    );
    assert_eq!(case.found(), [("unknown word `rot`", "rot")]);
}

#[test]
fn endless_uses_end() {
    let files: Vec<(String, String)> = (0..300)
        .map(|n| (format!("/work/f{n}.palisade"), fragment(&format!("use \"f{}.palisade\"", n + 1))))
        .collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let case = resolve_with(&profile("use \"f0.palisade\""), &files, &options());
    assert_eq!(case.found(), [("too many files are used", "use \"f127.palisade\"")]);
}

#[test]
fn what_may_be_asked() {
    let mistake = |line: &str, message: &str, underlined: &str, help: &str| {
        mistake(&format!("network only {{ {line} }}"), message, underlined, help);
    };
    mistake(
        "allow \"*.x.com\" methods GET",
        "`*.x.com` is many hosts, and connections are read of single ones",
        "\"*.x.com\"",
        "`api.x.com`",
    );
    mistake(
        "inspect \"10.1.2.3\"",
        "`10.1.2.3` is an address, and connections are read of names only",
        "\"10.1.2.3\"",
        "certificate",
    );
    mistake(
        "inspect \"x.com:*\"",
        "every port of `x.com`, and connections are read of one",
        "\"x.com:*\"",
        "write `x.com`",
    );
    mistake("inspect \"https://x.com/a\"", "a URL is not a host", "\"https://x.com/a\"", "`x.com`");
    mistake(
        "allow \"x.com\" methods CONNECT",
        "`CONNECT` opens a tunnel, in which nothing can be read",
        "CONNECT",
        "",
    );
    mistake("allow \"x.com\" methods GET GET", "`GET` twice", "GET", "take it out");
    for (path, message, help) in [
        ("", "a path that does not begin with `/`", "`/**`"),
        ("a", "a path that does not begin with `/`", "write `/a`"),
        ("/a?b", "a query in a path", "queries are not compared"),
        ("https://x.com/a", "a URL is not a path", "write `/a`"),
        ("/a//b", "an empty segment in a path", "one `/`"),
        ("/a/../b", "a segment of dots in a path", "the path that it leads to"),
        ("/a%2", "`%` without two hexadecimal digits in a path", "`%25`"),
        ("/a%2Fb", "a character in a path that servers read differently", "in no path that is compared"),
        ("/**/a", "`**` in a path that goes on after it", "`**` stands last"),
        ("/a*", "`*` in a segment that is more than that", "one whole segment"),
    ] {
        mistake(&format!("allow \"x.com\" paths \"{path}\""), message, &format!("\"{path}\""), help);
    }
    // Half of what is said would allow more.
    let case = body("network only { allow \"x.com\" methods GET paths \"/a*\" \"/b\"; allow \"y.com\" }");
    let policy = case.resolved.policy.as_ref().expect("a policy");
    let Network::Only(rules) = policy.network() else { panic!() };
    assert_eq!(rules.iter().map(|rule| rule.pattern.host.as_str()).collect::<Vec<_>>(), ["y.com"]);
    let fine =
        body("network only { allow \"x.com\" methods QUERY M-SEARCH PURGE paths [ \"/\" \"/a/*/\" ] }");
    assert_eq!(fine.found(), []);
}

#[test]
fn masks() {
    let hosts = "network only { allow \"x.com\"; deny \"z.com\"; allow \"*.y.com\" }";
    let in_env = |line: &str, message: &str, underlined: &str, help: &str| {
        mistake(&format!("{hosts}\nenv {{ {line} }}"), message, underlined, help);
    };
    in_env(
        "mask A for \"*.y.com\"",
        "`*.y.com` is many hosts, and a secret is shown to single ones",
        "\"*.y.com\"",
        "name each",
    );
    in_env(
        "mask A for \"1.2.3.4\"",
        "`1.2.3.4` is an address, and a secret is shown to names only",
        "\"1.2.3.4\"",
        "",
    );
    in_env(
        "mask A for \"x.com:*\"",
        "every port of `x.com`, and a secret is shown to one",
        "\"x.com:*\"",
        "write `x.com`",
    );
    in_env(
        "mask A for \"w.com\"",
        "`A` is masked for `w.com`, which is not allowed",
        "\"w.com\"",
        "`allow \"w.com\"`",
    );
    in_env(
        "mask A for \"x.com:80\"",
        "`A` is masked for `x.com:80`, which is not allowed",
        "\"x.com:80\"",
        "`allow \"x.com:80\"`",
    );
    in_env(
        "mask A for \"z.com\"",
        "`A` is masked for `z.com`, which is not allowed",
        "\"z.com\"",
        "one of the two",
    );
    in_env("mask A for \"x.com\" \"x.com:443\"", "`x.com:443` is named twice", "\"x.com:443\"", "");
    in_env("mask \"1A\" for \"x.com\"", "`1A` cannot be the name of a variable", "\"1A\"", "");
    mistake(
        "network all\nenv { mask A for \"x.com\" }",
        "`A` is masked, and the network is open",
        "mask A for \"x.com\"",
        "`network only { allow \"x.com\" }`",
    );
    mistake(
        "env { mask A for \"x.com\" }",
        "`A` is masked, and the network is off",
        "mask A for \"x.com\"",
        "network only",
    );
    let fine = body(&format!("{hosts}\nenv {{ mask A for \"x.com\" \"api.y.com\"; mask B for \"x.com\" }}"));
    assert_eq!(fine.found(), []);
    let masks: Vec<_> =
        fine.policy().masks.iter().map(|mask| (mask.name.as_str(), mask.hosts.len())).collect();
    assert_eq!(masks, [("A", 2), ("B", 1)]);
    // A fragment may leave it to the profile which hosts there are.
    let alone = resolve_with(&fragment("env { mask A for \"x.com\" }"), &[], &options());
    assert_eq!(alone.found(), []);
    let over = |own: &str, used: &str| {
        let text = profile(&format!("use \"f.palisade\"\n{hosts}\nenv {{ {own} }}"));
        resolve_with(&text, &[("/work/f.palisade", &fragment(&format!("env {{ {used} }}")))], &options())
    };
    let mask = "mask A for \"x.com\"";
    for (own, used, message) in [
        ("pass A", mask, "`A` is passed as it is, and a fragment masks it"),
        ("set A \"x\"", mask, "`A` is set, and a fragment masks it"),
        (mask, "pass A", "`A` is masked, and a fragment passes it as it is"),
        (mask, "set A \"x\"", "`A` is masked, and a fragment sets it"),
    ] {
        assert_eq!(over(own, used).found(), [(message, own)]);
    }
    // Whether it is masked is alike; of the hosts, the profile has the say.
    let masked = over(mask, "mask A for \"api.y.com\"");
    assert_eq!((masked.found().len(), masked.policy().masks.len()), (0, 1));
    let set = over("set A \"x\"", "pass A");
    assert_eq!((set.found().len(), set.policy().env.len()), (0, 1));
}

#[test]
fn what_is_no_host_but_a_socket_or_a_request() {
    let fix = |line: &str| {
        let case = body(&format!("network only {{ {line} }}"));
        let finding = case.only().clone();
        let edits =
            finding.fix.map(|fix| fix.edits.iter().map(|edit| edit.replacement.clone()).collect::<Vec<_>>());
        (finding.message, finding.help.unwrap_or_default(), edits)
    };
    let socket = |line: &str, right: &str| {
        let (message, help, edits) = fix(line);
        assert_eq!((message.as_str(), help), ("a path is not a host", format!("write `{right}`")), "{line}");
        assert_eq!(edits, Some(vec![right.to_owned()]), "{line}");
    };
    socket("allow \"/run/docker.sock\"", "unix \"/run/docker.sock\"");
    socket("allow \"unix:/run/x.sock\"", "unix \"/run/x.sock\"");
    socket("allow \"unix:///run/x.sock\"", "unix \"/run/x.sock\"");
    socket("allow \"~/x.sock\"", "unix \"~/x.sock\"");
    for line in
        ["allow \"$workspace\"", "allow \"$workspace/x y\"", "deny \"/run/docker.sock\"", "inspect \"$home\""]
    {
        let (message, help, edits) = fix(line);
        assert_eq!((message.as_str(), edits), ("a path is not a host", None), "{line}");
        assert!(!help.is_empty() && !help.contains("``"), "{line}: {help}");
    }
    for (text, right) in [
        ("GET https://a.example.net/", "`allow \"a.example.net\" methods GET paths \"/\"`"),
        ("POST https://a.example.net:8443/x?y", "`allow \"a.example.net:8443\" methods POST paths \"/x\"`"),
        ("get http://a.example.net/a//b", "`allow \"a.example.net:80\"`"),
        ("GET https://*.example.net/", "methods GET"),
    ] {
        for word in ["allow", "inspect", "deny"] {
            let (message, help, edits) = fix(&format!("{word} \"{text}\""));
            assert_eq!((message.as_str(), edits), ("a request is not a host", None), "{text}");
            assert!(help.contains(right), "{text}: {help}");
        }
    }
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let (_, help, edits) = fix(&format!("allow \"{host}:5432\""));
        assert!(help.contains("write `localhost 5432`"), "{help}");
        assert_eq!(edits, Some(vec!["localhost 5432".to_owned()]));
    }
    assert_eq!(fix("allow \"localhost\"").2, None);
    assert_eq!(fix("unix \"@abstract\"").0, "a socket without a path");
    let (message, _, edits) = fix("unix \"unix:/run/x.sock\"");
    assert_eq!(message, "`unix:` before the path of a socket");
    assert_eq!(edits, Some(vec!["\"/run/x.sock\"".to_owned()]));
    assert_eq!(fix("allow \"https://\"").2, None);
    assert_eq!(body("network only { unix \"./@x\"; allow \"unix:443\" }").found(), []);
}

#[test]
fn a_path_of_requests_is_named_once() {
    for second in ["/a", "/%61"] {
        let line = format!("allow \"x.com\" paths \"/a\" \"/b\" \"{second}\"");
        mistake(&format!("network only {{ {line} }}"), "`/a` twice", &format!("\"{second}\""), "take it out");
    }
    assert_eq!(body("network only { allow \"x.com\" paths \"/a\" \"/a/\" \"/A\" \"/*\" }").found(), []);
}

#[test]
fn a_port_of_5000_digits_is_not_repeated() {
    let case = body(&format!("network only {{ localhost {} }}", "5".repeat(5000)));
    assert!(case.only().message.chars().count() < 100);
}

#[test]
fn expectations_about_requests() {
    let expect = |subject: &str, message: &str, help: &str| {
        let quoted = format!("\"{subject}\"");
        mistake(&format!("expect {{ request {quoted} denied }}"), message, &quoted, help);
    };
    expect("https://x.com/", "a request without a method", "`GET https://api.example.com/path`");
    expect("G/T https://x.com/", "`G/T` is no method", "`GET`");
    expect("GET x.com/a", "a URL that begins with neither `https://` nor `http://`", "");
    expect("GET https://*.x.com/", "`*` in a host", "of one host");
    mistake("expect { fetch \"x\" denied }", "unknown operation `fetch`", "fetch", "did you mean `request`?");
    assert_eq!(body("expect { request \"GET https://x.com/a?b\" denied }").found(), []);
    let other = body("expect { request \"get https://b\u{fc}cher.de/\" denied }");
    assert_eq!(other.found(), []);
    assert_eq!(other.policy().expectations[0].subject, "get https://xn--bcher-kva.de/");
}

#[test]
fn fragments_that_differ_are_told_of_at_both_places() {
    let uses = "use \"a.palisade\"\nuse \"b.palisade\"";
    for (a, b, what) in [
        ("network off", "network all", "`network`"),
        ("network only { allow \"x.com\" }", "network off", "`network`"),
        ("network all", "network only { localhost 5432 }", "`network`"),
        ("network off", "network only { }", "`network`"),
        ("ipc off", "ipc shared-memory", "`ipc`"),
        ("limits { time 3s }", "limits { time 4s }", "the limit `time`"),
        ("env { set A \"x\" }", "env { pass A }", "the variable `A`"),
        ("env { mask A for \"x.com\" }", "env { pass A }", "the variable `A`"),
        ("env { mask A for \"x.com\" }", "env { mask A for \"x.com:8443\" }", "the variable `A`"),
        ("param p \"x\"", "param p \"y\"", "the parameter `p`"),
    ] {
        let hosts = if a.contains("mask") { "\nnetwork only { allow \"x.com\" }" } else { "" };
        let text = profile(&format!("{uses}{hosts}"));
        let (a, b) = (fragment(a), fragment(b));
        let case = resolve_with(&text, &[("/work/a.palisade", &a), ("/work/b.palisade", &b)], &options());
        let finding = case.only();
        assert_eq!(finding.message, format!("two fragments differ in {what}"));
        let places: Vec<_> = finding.labels.iter().map(|label| case.sources.place(label.span)).collect();
        assert_eq!(places, ["b.palisade:3", "a.palisade:3"]);
    }
}

#[test]
fn allowances_that_are_none() {
    mistake(
        "deny \"a\" # palisade: allow() why",
        "an allowance that names no rule",
        "# palisade: allow() why",
        "`# palisade: allow(",
    );
    mistake("deny \"a\" # palisade: allow x", "an allowance that names no rule", "# palisade: allow x", "");
    mistake(
        "deny \"a\" # palisade: ignore(x) why",
        "`palisade: ignore(x) why` is no allowance",
        "# palisade: ignore(x) why",
        "did you mean `allow`?",
    );
    mistake(
        "# palisade: allow(x) why\n\ndeny \"a\"",
        "an allowance that stands at no statement",
        "# palisade: allow(x) why",
        "directly above",
    );
}

/// Each of these would not end if time grew with the square of its size.
#[test]
fn hostile_profiles_get_an_answer() {
    let many = |line: fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    let statements = [
        many(|n| format!("param p{n} \"x\"\ndeny \"$q{n}\"\n")),
        many(|n| format!("on macos {{ deny \"{n}\" }}\nroot \"{n}\" read-only\n")),
        many(|n| format!("group g{n} [ a ]\ntools @h{n}\n")),
        many(|n| format!("# palisade: allow(r{n}) why\n")),
        many(|n| format!("use \"nope{n}\"\n")),
        many(|_| "tools @inspection @write @build\n".to_owned()),
    ];
    for statements in statements {
        let case = body(&statements);
        assert!(case.resolved.findings.len() <= palisade::syntax::MAX_FINDINGS + 1);
    }
}
