use crate::finding::{Edit, Finding};
use crate::host::resolve::resolve;
use crate::lint::Context;
use crate::policy::{DenialKind, Network, NetworkRule, PolicyPath};
use crate::source::Span;

rule! {
    /// A path taken literally that is written like a pattern, or like another tool's variable.
    ///
    /// ## What it does
    ///
    /// Reports a `deny`, `root`, `executable`, `unguard` or `unix` whose path is not there and holds, in the part that is
    /// not there, a `*`, `?`, `[` or `{`, a name with blanks at its ends, `%NAME%`, `$NAME` or `${NAME}` taken
    /// literally, or a `~` that is no home. And after `paths`, a segment like `{id}`, `:id`, `<id>` or `[0-9]`, by which
    /// other tools mean any one.
    ///
    /// ## Why it is bad
    ///
    /// A quoted path means itself: `deny "$workspace/*.pem"` denies one file whose name is `*.pem`, and every key
    /// in the workspace stays open. Nothing else would say so, since a denial of what is not there yet is
    /// sound.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/*.pem"
    /// }
    /// ```
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.example.com" paths "/items/{id}" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/*.pem"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name with a percent sign, and no variable.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/100%.txt"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write `deny glob "…"` where a pattern is meant, `*` for any one segment after `paths`, `$home` or a `param` where a variable is, and take out
    /// blanks that are not part of the name. Where the name really is written so, allow it with the reason.
    name: "literal-pattern",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// What a name that is taken literally seems to have been meant as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    Pattern,
    Variable,
    Home,
    Trimmed,
}

impl Meant {
    /// By one component of a path.
    fn by(name: &str) -> Option<Self> {
        if holds_variable(name) {
            Some(Self::Variable)
        } else if name.contains(['*', '?', '[', '{']) {
            Some(Self::Pattern)
        } else if name == "~" {
            Some(Self::Home)
        } else if name.trim() != name {
            Some(Self::Trimmed)
        } else {
            None
        }
    }

    fn label(self, name: &str) -> String {
        match self {
            Self::Pattern => format!("`{name}` is one literal name here, not a pattern"),
            Self::Variable => format!("`{name}` is a literal name here, and no variable is filled in"),
            Self::Home => {
                "`~` is a literal name here: only `~/` at the beginning of a quoted path is the home".into()
            }
            Self::Trimmed => format!("the name `{name}` has blanks at its ends"),
        }
    }
}

/// `$NAME` and `${NAME}` of a shell, `%NAME%` of another system's.
fn holds_variable(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |text: &str| {
        text.starts_with(begins)
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')'))
    };
    let after_dollar = |(at, _): (usize, &str)| {
        let rest = &name[at + 1..];
        rest.starts_with('{') || rest.starts_with(begins)
    };
    let percents: Vec<&str> = name.split('%').collect();
    name.match_indices('$').any(after_dollar)
        || percents.len() > 2 && percents[1..percents.len() - 1].iter().any(|part| is_name(part))
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let policy = context.policy;
    let denied = policy.denials.iter().filter_map(|denial| match &denial.kind {
        DenialKind::Path(path) => Some((path, denial.span)),
        _ => None,
    });
    let roots = policy.roots.iter().map(|root| (&root.path, root.span));
    let executables = policy.executables.iter().map(|path| (path, path.span));
    let sockets = policy.unix.iter().map(|socket| (&socket.path, socket.span));
    let unguards = policy.unguards.iter().map(|unguard| (&unguard.path, unguard.span));
    for (path, span) in denied {
        look(context, path, span, true, findings);
    }
    for (path, span) in roots.chain(executables).chain(unguards).chain(sockets) {
        look(context, path, span, false, findings);
    }
    if let Network::Only(rules) = policy.network() {
        rules.iter().for_each(|rule| look_asked(rule, findings));
    }
}

/// The paths of requests: what other tools let stand for any segment is itself.
fn look_asked(rule: &NetworkRule, findings: &mut Vec<Finding>) {
    for path in rule.requests.iter().flat_map(|requests| &requests.paths) {
        let segments: Vec<&[u8]> = path.segments().collect();
        let Some(name) = segments.iter().find(|segment| stands_for_any(segment)) else { continue };
        let meant: Vec<_> = segments
            .iter()
            .map(|segment| if stands_for_any(segment) { "*".into() } else { String::from_utf8_lossy(segment) })
            .collect();
        let name = String::from_utf8_lossy(name);
        findings.push(
            INFO.finding(format!("the path `{path}` is taken literally"))
                .at(rule.span, format!("`{name}` is one literal segment here"))
                .help(format!(
                    "only `*`, one segment, and `**`, all that follow, stand for others: `/{}`",
                    meant.join("/")
                )),
        );
    }
}

/// `{id}`, `:id`, `<id>`, `[0-9]` and `(.*)`, alone or with something beside them.
fn stands_for_any(segment: &[u8]) -> bool {
    let pair = |open: u8, close: u8| {
        let open = segment.iter().position(|byte| *byte == open);
        open.is_some_and(|at| segment[at..].contains(&close))
    };
    let named = segment.strip_prefix(b":").is_some_and(|rest| {
        rest.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
    });
    let groups = segment.starts_with(b"(") && segment.ends_with(b")");
    named || groups || [(b'{', b'}'), (b'[', b']'), (b'<', b'>')].into_iter().any(|(open, close)| pair(open, close))
}

fn look(context: &Context<'_>, path: &PolicyPath, span: Span, denies: bool, findings: &mut Vec<Finding>) {
    // Cheap, and enough for nearly every path.
    if !path.path.as_str().split('/').any(|name| Meant::by(name).is_some()) {
        return;
    }
    let Ok(found) = resolve(context.host, &path.path) else { return };
    if found.exists() {
        return;
    }
    let Ok(missing) = found.canonical.strip_prefix(&found.existing) else { return };
    let mut names = missing.components().map(|name| name.as_str());
    let Some((name, meant)) = names.find_map(|name| Meant::by(name).map(|meant| (name, meant))) else {
        return;
    };
    let finding = INFO
        .finding(format!("there is no `{}`, and the path is taken literally", path.path))
        .at(span, meant.label(name));
    findings.push(match meant {
        Meant::Pattern if denies => finding.help("write `deny glob \"…\"` if a pattern is meant").fix(
            "make it a pattern",
            as_pattern(context, path.span),
            false,
        ),
        Meant::Pattern => finding.help("only `deny glob \"…\"` takes a pattern: name each path"),
        Meant::Variable => finding.help(
            "write `$home`, `$workspace` or a `param` in a quoted text that is not raw; the caller's variables are not filled in",
        ),
        Meant::Home => finding.help("write `$home` where the home is meant"),
        Meant::Trimmed => finding.help("take the blanks out, or allow this with the reason"),
    });
}

/// The edits that make a path a pattern, which says where it begins.
fn as_pattern(context: &Context<'_>, path: Span) -> Vec<Edit> {
    let at = |offset: u32| Span { start: path.start + offset, end: path.start + offset, ..path };
    let mut edits = vec![Edit { span: at(0), replacement: "glob ".into() }];
    let is_relative = |text: &str| !text.starts_with(['/', '~', '$']);
    if context.sources.text(path).strip_prefix('"').is_some_and(is_relative) {
        edits.push(Edit { span: at(1), replacement: "$workspace/".into() });
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::Meant;
    use crate::host::Kind;
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn segments_by_which_other_tools_mean_any_one() {
        for segment in ["{id}", ":id", "[0-9]", "<id>", "(.*)", "v{n}", "[id].json"] {
            assert!(super::stands_for_any(segment.as_bytes()), "{segment}");
        }
        for segment in ["*", "**", "a:b", ":", ":8080", "(x", "a]b[", "}", "1.0", "~user", "@scope", ""] {
            assert!(!super::stands_for_any(segment.as_bytes()), "{segment}");
        }
        let mut case = Case::in_workspace();
        case.limited("a.com", &[], &["/items/:id/x", "/fine/*"]);
        assert_eq!(
            case.findings("literal-pattern").into_iter().filter_map(|finding| finding.help).collect::<Vec<_>>(),
            ["only `*`, one segment, and `**`, all that follow, stand for others: `/items/*/x`"]
        );
    }

    #[test]
    fn tells_what_a_name_was_meant_as() {
        for name in ["*", "*.pem", "?.key", "[ab]", "{a,b}", "a*b"] {
            assert_eq!(Meant::by(name), Some(Meant::Pattern), "{name}");
        }
        for name in ["%USERPROFILE%", "${HOME}", "$HOME", "a${x", "%ProgramFiles(x86)%", "x%TEMP%y"] {
            assert_eq!(Meant::by(name), Some(Meant::Variable), "{name}");
        }
        for name in [" x", "x ", "\tx", "x\u{a0}"] {
            assert_eq!(Meant::by(name), Some(Meant::Trimmed), "{name}");
        }
        assert_eq!(Meant::by("~"), Some(Meant::Home));
        for name in ["a b", "x~", "100%", "50%-60%", "$", "$5", "a]", "}", ".env", "%20%", ""] {
            assert_eq!(Meant::by(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_missing_and_looks_like_something_else_is_reported_whatever_the_statement() {
        let mut case = Case::in_workspace();
        case.machine.add("/home/dev/project/[id]/page.js", Kind::File);
        case.deny("/home/dev/project/*.pem")
            .deny("/home/dev/project/[id]")
            .deny("/home/dev/project/[id]/secret")
            .deny("/home/dev/project/.env.local")
            .root("/home/dev/%DOCS%", Access::ReadOnly)
            .executable("/home/dev/project/bin ")
            .unguard("/home/dev/project/.{claude,codex}");
        assert_eq!(
            case.found("literal-pattern"),
            [
                "there is no `/home/dev/project/*.pem`, and the path is taken literally\n\
                 deny \"/home/dev/project/*.pem\" -- `*.pem` is one literal name here, not a pattern",
                "there is no `/home/dev/%DOCS%`, and the path is taken literally\n\
                 root \"/home/dev/%DOCS%\" read-only -- `%DOCS%` is a literal name here, and no variable is filled in",
                "there is no `/home/dev/project/bin `, and the path is taken literally\n\
                 \"/home/dev/project/bin \" -- the name `bin ` has blanks at its ends",
                "there is no `/home/dev/project/.{claude,codex}`, and the path is taken literally\n\
                 unguard \"/home/dev/project/.{claude,codex}\" because \"it is ours\" -- `.{claude,codex}` is one literal \
                 name here, not a pattern",
            ]
        );
    }

    #[test]
    fn a_pattern_is_one_word_away_and_only_for_a_denial() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/*.pem").executable("/home/dev/project/*/bin");
        let findings = case.findings("literal-pattern");
        let fix = findings[0].fix.clone().unwrap();
        assert!(!fix.safe);
        assert_eq!(fix.edits[0].replacement, "glob ");
        assert_eq!(fix.edits[0].span.start, findings[0].labels[0].span.start + "deny ".len() as u32);
        assert!(findings[1].fix.is_none());
    }
}
