//! What holds for every text, written once: the property tests ask it of texts shaped like the language, and the fuzz targets of any bytes.
#![allow(dead_code, reason = "each program uses a part of it")]

use palisade::finding::{Finding, Severity};
use palisade::host::{Host as _, RecordedHost, Remembering};
use palisade::manifest::{self, Manifest};
use palisade::pipeline::{self, Request};
use palisade::resolve::MemoryLoader;
use palisade::sbpl::{self, Engine, NoImports, Operation, Params, Profile, Subject, print, read};
use palisade::source::{FileId, Sources};
use palisade::syntax::outline::{PieceKind, outline};
use palisade::syntax::{self, Parsed};

fn parsed(text: &str) -> (Sources, FileId, Parsed) {
    let mut sources = Sources::new();
    let id = sources.add("x.palisade", None, text);
    let parsed = syntax::parse(&sources, id);
    (sources, id, parsed)
}

/// Every place that findings name is a place in a text.
fn places(sources: &Sources, findings: &[Finding]) {
    for finding in findings {
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in finding.labels.iter().map(|label| label.span).chain(edits) {
            assert!(sources.file(span.file).text.get(span.range()).is_some(), "{finding:?}");
        }
    }
}

/// A tree as text, without the places that layout changes.
fn tree(parsed: &Parsed) -> String {
    let whole = format!("{:?}", parsed.file);
    let mut out = String::with_capacity(whole.len());
    let mut rest = &*whole;
    while let Some(at) = rest.find("Span {") {
        let end = rest[at..].find('}').map_or(rest.len(), |end| at + end + 1);
        out.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    out + rest
}

/// Every word and comment, in order.
fn words(text: &str) -> Vec<&str> {
    let kept = |kind| !matches!(kind, PieceKind::EndOfLine | PieceKind::Semicolon);
    let pieces = outline(text).pieces.into_iter().filter(|piece| kept(piece.kind));
    pieces.map(|piece| text[piece.range()].trim_end()).collect()
}

/// A profile's text: it gets an answer; the outline holds all of it; the grammar as a whole says the same; what is laid out anew is the
/// same tree, and laying it out once more changes nothing.
pub fn profile_text(text: &str) {
    let (sources, id, before) = parsed(text);
    places(&sources, &before.findings);
    assert!(before.file.is_some() || !before.findings.is_empty());

    let mut end = 0;
    let blank = |text: &str| text.chars().all(|c| matches!(c, ' ' | '\t' | '\u{feff}'));
    let cut = outline(text);
    if cut.long_lines.is_empty() {
        for piece in &cut.pieces {
            assert!(blank(&text[end..piece.range().start]), "{piece:?}");
            end = piece.range().end;
        }
        assert!(blank(&text[end..]));
    }

    if before.findings.is_empty() {
        assert!(syntax::accepts(text), "the grammar's `file` says otherwise");
    } else if syntax::accepts(text) {
        let beyond_grammar =
            ["repeated-statement", "hidden-character", "edition", "limit-amount", "unknown-word"];
        for finding in &before.findings {
            // A name is a string to the grammar; that nothing in it is filled in, and that it is none of a group, is told later.
            let in_name =
                ["has no meaning in a name", "` is quoted"].iter().any(|end| finding.message.ends_with(end));
            assert!(in_name || beyond_grammar.contains(&finding.rule), "{finding:?}");
        }
    }

    let once = syntax::format(&sources, id);
    let (sources, id, after) = parsed(&once);
    assert_eq!(syntax::format(&sources, id), once, "formatting twice is not formatting once");
    assert_eq!(words(&once), words(text));
    assert_eq!(tree(&after), tree(&before));
    assert_eq!(after.findings.len(), before.findings.len());
}

/// A Seatbelt profile's text: it gets an answer; its data read back as they are printed; an understood one is printed to what decides the same.
pub fn seatbelt_text(text: &str) {
    let mut sources = Sources::new();
    let file = sources.add("x.sb", None, text);
    let data = |text: &str| {
        let mut sources = Sources::new();
        let file = sources.add("x.sb", None, text);
        let read = read::read(&sources, file);
        (read.findings.is_empty(), read.data.iter().map(print::datum).collect::<Vec<_>>())
    };
    if let (true, first) = data(text) {
        assert_eq!(data(&first.join("\n")), (true, first));
    }
    let evaluation = sbpl::evaluate(&mut sources, file, &Params::default(), &NoImports);
    places(&sources, &sbpl::lint::run(&sources, &evaluation));
    if !evaluation.findings.is_empty() {
        return;
    }
    let first = evaluation.profile;
    let printed = print::profile(&first);
    let second = match Profile::parse(&printed, &Params::default(), &NoImports) {
        Ok(second) => second,
        Err(findings) => panic!("{printed}\n{findings:#?}"),
    };
    assert_eq!(print::profile(&second), printed);
    for name in ["file-read-data", "file-write-create", "network-outbound", "process-exec*", "mach-lookup"] {
        let operation = Operation::named(name).expect("an operation");
        for engine in [Engine::PerOperation, Engine::LastMatch] {
            for path in ["/", "/a", "/Users/dev/project/.env"] {
                let verdict =
                    |profile: &Profile| profile.decide(operation, &Subject::path(path), engine).verdict;
                assert_eq!(verdict(&first), verdict(&second), "{name} {path}\n{printed}");
            }
        }
    }
}

/// A profile on a machine: it gets an answer, the same from `findings`; what compiles reads back, and on a Mac means its plan.
///
/// Gives whether it compiled.
pub fn checked_text(text: &str, machine: &RecordedHost, host: &Remembering<'_>) -> bool {
    let mut sources = Sources::new();
    let file = sources.add("case.palisade", Some("/case.palisade".into()), text);
    let request = Request {
        workspace: machine.workspace().expect("a workspace").to_path_buf(),
        set: [("NAME".to_owned(), "value".to_owned())].into(),
        target: host.system(),
        artifacts: Vec::new(),
    };
    let checked = pipeline::check(&mut sources, file, &MemoryLoader::default(), host, &request);
    places(&sources, &checked.findings);
    let mut others = Sources::new();
    let file = others.add("case.palisade", Some("/case.palisade".into()), text);
    let findings = pipeline::findings(&mut others, file, &MemoryLoader::default(), host, &request);
    assert_eq!(findings, checked.findings);
    let Some(bound) = &checked.bound else { return false };
    // Findings or not, what is planned must be what is written; the translation is validated in there.
    let artifact = match pipeline::compile(&sources, bound, host, "case.sb") {
        Ok(artifact) => artifact,
        Err(failure) => panic!("{failure}"),
    };
    let clean = checked.findings.iter().all(|finding| finding.severity != Severity::Error);
    let Ok(artifact) = artifact else { return false };
    let read =
        manifest::read(&artifact.manifest).unwrap_or_else(|error| panic!("{error}\n{}", artifact.manifest));
    assert_eq!(manifest::write(&read).expect("a text"), artifact.manifest);
    if let Some(seatbelt) = &artifact.seatbelt {
        seatbelt_text(seatbelt);
    }
    clean
}

/// A manifest's text: where the reader of plain manifests gives a value, the reader of all of YAML gives the same; with the digest that
/// belongs to it, it is read or refused; and what is read is written to a text that is read as the same.
pub fn manifest_text(text: &str, as_yaml: impl Fn(&str) -> Option<Manifest>) {
    let plain = manifest::plain::read::<Manifest>(text);
    if plain.is_some() {
        assert_eq!(plain, as_yaml(text));
    }
    let _ = manifest::read(text);
    if let Some(read) = plain.filter(|read| read.schema == manifest::SCHEMA) {
        let written = manifest::write(&read).expect("a text");
        assert_eq!(manifest::read(&written).expect("what was written"), read);
        for rule in read.rules {
            let _ = palisade::plan::Rule::try_from(rule);
        }
    }
}
