use super::*;
use crate::finding::Edit;
use crate::source::Span;

const PROFILE: &str = r#"edition 1

profile "pr-review" {
    use "std/secrets"
    root "$workspace"         read-write
    root "$workspace/vendor"  read-only   # readable, write-protected
    root "~"                  read-only

    deny "$workspace/link-to-env"
    tools @inspection gti
    expect {
        read "$workspace/.env" denied
    }
}
"#;

fn sources() -> (Sources, FileId, FileId) {
    let mut sources = Sources::new();
    let profile = sources.add("pr-review.palisade", None, PROFILE);
    let fragment =
        sources.add("std/secrets", None, "fragment \"secrets\" {\n    root \"/home/dev\" read-write\n}\n");
    (sources, profile, fragment)
}

fn span(sources: &Sources, file: FileId, text: &str) -> Span {
    let at = sources.file(file).text.find(text).expect("a text of the source");
    Span::new(file, at..at + text.len())
}

fn findings(sources: &Sources, profile: FileId, fragment: FileId) -> Vec<Finding> {
    let at = |text| span(sources, profile, text);
    let denial = at("deny \"$workspace/link-to-env\"");
    let edit = Edit { span: denial, replacement: String::new() };
    vec![
        Finding::new(
            "conflicting-roots",
            Severity::Error,
            "the root `/home/dev` is both read-only and read-write",
        )
        .at(at("root \"~\"                  read-only"), "read-only here")
        .at(span(sources, fragment, "root \"/home/dev\" read-write"), "read-write here")
        .help("remove the one that is not meant; order decides nothing"),
        Finding::new("broad-root", Severity::Warning, "the root `/home/dev` is very broad")
            .at(
                at("root \"~\"                  read-only"),
                "the whole home directory, with every credential in it, may be read",
            )
            .help("state the few directories that the work needs"),
        Finding::new(
            "symlinked-denial",
            Severity::Error,
            "the denied path `/home/dev/project/link-to-env` is a symbolic link to what can be read",
        )
        .at(denial, "`/home/dev/project/link-to-env` is a link to `.env`")
        .help("deny the real path: `/home/dev/project/.env`")
        .fix("deny the real path", vec![edit], false),
        Finding::new("missing-tool", Severity::Error, "the tool `gti` is not installed")
            .at(at("gti"), "required here")
            .help("`git` is installed; otherwise install `gti`, or move it to `optional-tools`"),
        Finding::new("skipped-tool", Severity::Note, "`file`, `patch` are not available here")
            .at(at("@inspection"), "granted nothing")
            .help("nothing need be done; name a tool under `tools` where the work cannot do without"),
        Finding::new(
            "failed-expectation",
            Severity::Error,
            "`read /home/dev/project/.env` is allowed, not denied",
        )
        .at(at("read \"$workspace/.env\" denied"), "expected to be denied")
        .at(at("root \"$workspace\"         read-write"), "allowed by this")
        .help(
            "decided by pr-review.palisade:5 root \"$workspace\" read-write; change that, or the expectation",
        ),
    ]
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ snapshot_path => "../../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

fn report(style: Style) -> String {
    let (sources, profile, fragment) = sources();
    render(&sources, &findings(&sources, profile, fragment), "pr-review.palisade", style)
}

#[test]
fn a_report_in_eighty_columns() {
    let text = report(Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    snapshot("human-unicode", &text);
}

#[test]
fn a_report_in_ascii_without_notes() {
    let text = report(Style { unicode: false, notes: false, ..Style::default() });
    assert!(text.is_ascii(), "{text}");
    assert!(!text.contains("skipped-tool"));
    snapshot("human-ascii", &text);
}

#[test]
fn colours_only_when_asked() {
    assert!(!report(Style::default()).contains('\u{1b}'));
    snapshot("human-color", &report(Style { color: true, ..Style::default() }).replace('\u{1b}', "ESC"));
}

#[test]
fn rules_are_links_only_when_asked() {
    let (sources, profile, fragment) = sources();
    let finding = &findings(&sources, profile, fragment)[0];
    let style = Style { links: true, ..Style::default() };
    let text = drawn(&sources, finding, &[], Some("https://example.com/{rule}.html"), style);
    let link = format!("\u{1b}]8;;https://example.com/{0}.html\u{1b}\\", finding.rule);
    assert!(text.contains(&link), "{text:?}");
    // Nothing else is another text.
    let links = regex::Regex::new("\u{1b}]8;;[^\u{1b}]*\u{1b}\\\\").unwrap();
    let plain = links.replace_all(&text, "").replace("] \n", "]\n");
    assert_eq!(plain, one(&sources, finding, Style::default()));
    assert_eq!(drawn(&sources, finding, &[], None, style), plain);
}

#[test]
fn a_report_in_forty_columns() {
    snapshot("human-narrow", &report(Style { width: 40, ..Style::default() }));
}

#[test]
fn hostile_text_is_written_out_and_long_lines_are_cut() {
    let mut sources = Sources::new();
    let filler = "x".repeat(2000);
    let text = format!(
        "root \"\u{1b}]0;owned\u{7}\u{202e}gnp.exe\" read-only\r\n{filler} deny\t\"here\" {filler}\nroot \"\u{9b}31m日本\"\n"
    );
    let id = sources.add("evil\u{1b}[2J.palisade", None, text);
    let findings = [
        Finding::new("missing-root", Severity::Error, "the root `\u{1b}[31m\n` does not exist").at(
            span(&sources, id, "root \"\u{1b}]0;owned\u{7}\u{202e}gnp.exe\" read-only"),
            "nothing\u{8} is there",
        ),
        Finding::new("unexamined", Severity::Error, "far to the right")
            .at(span(&sources, id, "deny\t\"here\""), "here")
            .help("a help\u{1b}[1m"),
        Finding::new("missing-root", Severity::Error, "no place"),
    ];
    let text = render(&sources, &findings, "evil\u{7}", Style::default());
    assert!(!text.chars().any(|character| character != '\n' && super::super::terminal::is_hidden(character)));
    snapshot("human-hostile", &text);
}

#[test]
fn wide_letters_take_two_columns() {
    let mut sources = Sources::new();
    let long = "日本語".repeat(40);
    let text = format!("root \"/{long}\" read-only deny \"/{long}/x\" read-only\nroot \"/日本\" read-only\n");
    let id = sources.add("wide.palisade", None, text);
    for place in [format!("\"/{long}\""), format!("\"/{long}/x\""), "\"/日本\"".to_owned()] {
        let finding = Finding::new("x", Severity::Error, "m").at(span(&sources, id, &place), "here");
        let report = one(&sources, &finding, Style::default());
        let width = report.lines().map(textwrap::core::display_width).max().unwrap_or_default();
        assert!(width <= 80, "{width}\n{report}");
        assert!(report.contains("here"), "{report}");
    }
}

#[test]
fn a_label_far_to_the_right_fits_beside_what_it_points_at() {
    let long = "x".repeat(60);
    for (line, places) in [
        (format!("env {{ set A \"{long}\"; mask B for }}"), vec!["for"]),
        (
            format!("root \"/a\" read-only; env {{ set A \"{long}\"; mask B for }} }}"),
            vec!["for", "root \"/a\""],
        ),
        (
            format!("root \"/a\" read-only; env {{ set A \"{long}\"; mask B for }} }}"),
            vec!["root \"/a\"", "for"],
        ),
        ("tools git rg; limits { time 10s; output 1MiB; processes 1; time 20s }".into(), vec!["time 20s"]),
        (format!("{long}{long} time 10s; {long} time 20s; {long}{long}"), vec!["time 10s", "time 20s"]),
        (format!("deny \"{long}{long}\""), vec!["deny"]),
        (format!("deny \"{long}{long}\"; end"), vec!["end"]),
    ] {
        let mut sources = Sources::new();
        let id = sources.add("far.palisade", None, format!("edition 1\n{line}\n"));
        let finding = Finding::new("x", Severity::Error, "m");
        let finding = places.iter().fold(finding, |finding, place| {
            finding.at(span(&sources, id, place), "a quoted host is missing after what stands right here")
        });
        for unicode in [true, false] {
            let report = one(&sources, &finding, Style { unicode, ..Style::default() });
            let width = report.lines().map(textwrap::core::display_width).max().unwrap_or_default();
            assert!(width <= 80, "{width}\n{report}");
            assert!(report.contains(places[0]) && report.contains("a quoted host"), "{report}");
        }
    }
}

#[test]
fn the_summary_counts() {
    let (sources, ..) = sources();
    assert_eq!(render(&sources, &[], "a.palisade", Style::default()), "no findings in a.palisade\n");
    let note = [Finding::new("x", Severity::Note, "m")];
    let style = Style { notes: false, ..Style::default() };
    assert_eq!(
        render(&sources, &note, "a.palisade", style),
        "no findings in a.palisade (1 note not shown)\n"
    );
}

proptest::proptest! {
    /// Whatever the text and wherever the places, a report is drawn and none of the source's hidden characters are in it.
    #[test]
    fn any_place_in_any_text_can_be_drawn(
        text in "[ -~\n\t\r\u{1b}äé日\u{202e}]{0,300}",
        ends in proptest::collection::vec((0usize..320, 0usize..320), 1..4),
        width in 1usize..120,
    ) {
        let mut sources = Sources::new();
        let id = sources.add("p", None, text.clone());
        let mut finding = Finding::new("x", Severity::Error, "m");
        for (a, b) in ends {
            let clip = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let (a, b) = (clip(a), clip(b));
            finding = finding.at(Span::new(id, a.min(b)..a.max(b)), "here");
        }
        let report = render(&sources, &[finding], "p", Style { width, ..Style::default() });
        proptest::prop_assert!(report.contains("here"), "{}", report);
        proptest::prop_assert!(!report.chars().any(|c| c != '\n' && super::super::terminal::is_hidden(c)));
        proptest::prop_assert!(!report.contains("Failed to read"), "{}", report);
    }
}
