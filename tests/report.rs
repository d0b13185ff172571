//! Reports of findings that profiles seldom give: about texts that are no files, about no place, over several lines, from several machines.

use camino::Utf8Path;
use palisade::finding::{Edit, Finding, Severity};
use palisade::report::collect::Collector;
use palisade::report::origin::{Origin, STANDARD_INPUT};
use palisade::report::whereabouts::Whereabouts;
use palisade::report::{Problem, ProblemKind, Run, concise, github, human, json, junit, sarif};
use palisade::source::{FileId, Sources, Span};
use serde_json::{Value, json};
use std::path::Path;

/// The repository is `/repo`.
fn origin(path: &Path) -> Origin {
    match path.strip_prefix("/repo") {
        Ok(below) => Origin::Repository(below.to_path_buf()),
        Err(_) => Origin::Elsewhere(path.to_path_buf()),
    }
}

fn at(sources: &Sources, file: FileId, text: &str) -> Span {
    let start = sources.file(file).text.find(text).expect("a text of the source");
    Span::new(file, start..start + text.len())
}

/// One profile of that name and text, where it lies, a shipped fragment that it uses, and what was found, on no host.
fn run(
    name: &str,
    path: Option<&str>,
    text: &str,
    found: impl Fn(&Sources, FileId, FileId) -> Vec<Finding>,
) -> Run {
    let mut sources = Sources::new();
    let profile = sources.add(name, path.map(Utf8Path::new), text);
    let shipped = sources.add("std/git", None, "edition 1\nfragment \"git\" {\n    tools git\n}\n");
    let findings = found(&sources, profile, shipped);
    let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
    let id = collector.profile(sources.file(profile));
    collector.add(id, 0, &sources, findings);
    collector.finish("check", Vec::new(), Severity::Warning)
}

fn sarif_of(run: &Run) -> Value {
    serde_json::from_str(&sarif::run(run).unwrap()).unwrap()
}

fn json_of(run: &Run) -> Value {
    let document: Value = serde_json::from_str(&json::run(run).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../docs/schemas/findings-1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    document
}

fn place(location: &Value) -> (String, Option<u64>) {
    let physical = &location["physicalLocation"];
    let uri = physical["artifactLocation"]["uri"].as_str().unwrap().to_owned();
    (uri, physical["region"]["startLine"].as_u64())
}

const PROFILE: &str = "edition 1\nprofile \"p\" {\n    use \"std/git\"\n}\n";

#[test]
fn a_finding_in_a_shipped_fragment_stands_at_the_profile_that_uses_it() {
    let run = run("p.palisade", Some("/repo/policies/p.palisade"), PROFILE, |sources, _, shipped| {
        let edit = Edit { span: at(sources, shipped, "git\n"), replacement: String::new() };
        let finding = Finding::new("missing-tool", Severity::Error, "the tool `git` is not installed");
        vec![finding.at(at(sources, shipped, "tools git"), "required here").fix(
            "remove it",
            vec![edit],
            true,
        )]
    });
    let document = sarif_of(&run);
    let result = &document["runs"][0]["results"][0];
    assert_eq!(place(&result["locations"][0]), ("policies/p.palisade".to_owned(), Some(1)));
    assert_eq!(place(&result["relatedLocations"][0]), ("palisade:std/git".to_owned(), Some(3)));
    // Nobody can change what ships with the program.
    assert!(result["fixes"].is_null());
    // Nobody can open it either, so the text comes along.
    let artifacts = document["runs"][0]["artifacts"].as_array().unwrap();
    assert!(artifacts[0]["contents"].is_null());
    assert!(artifacts[1]["contents"]["text"].as_str().unwrap().contains("fragment \"git\""));
    assert_eq!(
        github::run(&run, true),
        "::error file=policies/p.palisade,title=missing-tool::the tool `git` is not installed%0Ain std/git:3%0Arequired here\n"
    );
    assert_eq!(json_of(&run)["findings"][0]["labels"][0]["uri"], "palisade:std/git");
}

#[test]
fn standard_input_is_no_file() {
    let run = run(STANDARD_INPUT, None, PROFILE, |sources, profile, _| {
        vec![Finding::new("use", Severity::Error, "m").at(at(sources, profile, "use \"std/git\""), "here")]
    });
    let document = sarif_of(&run);
    let result = &document["runs"][0]["results"][0];
    assert_eq!(place(&result["locations"][0]), ("palisade:standard-input".to_owned(), Some(3)));
    assert_eq!(github::run(&run, true), "::error title=use::m%0Ain standard input:3%0Ahere\n");
    assert_eq!(
        json_of(&run)["profiles"],
        json!([{"name": "standard input", "uri": "palisade:standard-input"}])
    );
}

#[test]
fn a_finding_about_no_statement_is_about_its_profile() {
    let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
    let mut sources = Sources::new();
    for name in ["a", "b"] {
        let path = format!("/repo/{name}.palisade");
        let file = sources.add(format!("{name}.palisade"), Some(Utf8Path::new(&path)), name);
        collector.profile(sources.file(file));
    }
    let files: Vec<FileId> = sources.files().map(|(id, _)| id).collect();
    for file in &files {
        collector.add(*file, 0, &sources, vec![Finding::new("missing-tool", Severity::Warning, "no shell")]);
    }
    let run = collector.finish("check", Vec::new(), Severity::Warning);
    assert_eq!(run.findings.len(), 2);
    assert_ne!(run.findings[0].fingerprint, run.findings[1].fingerprint);
    assert_eq!(
        concise::run(&run),
        "a.palisade: warning[missing-tool] no shell\nb.palisade: warning[missing-tool] no shell\n"
    );
    let text = human::run(&run, human::Style::default());
    assert!(text.contains("in a.palisade") && text.contains("in b.palisade"), "{text}");
    assert!(text.ends_with("2 warnings in 2 profiles\n"), "{text}");
    assert!(github::run(&run, false).starts_with("::warning file=a.palisade,title=missing-tool::no shell\n"));
    let document = sarif_of(&run);
    assert_eq!(place(&document["runs"][0]["results"][1]["locations"][0]), ("b.palisade".to_owned(), Some(1)));
    json_of(&run);
}

#[test]
fn regions_and_fixes_are_counted_as_each_format_counts() {
    // A line end of two characters, one that is two code units, a tab, and a place that is several lines.
    let text = "\u{feff}edition 1\r\nprofile \"😀\" {\r\n\troot \"é\"\r\n}\r\n";
    let run = run("p", Some("/repo/p"), text, |sources, profile, _| {
        let edit = Edit { span: at(sources, profile, "\troot \"é\"\r\n"), replacement: "x\n".into() };
        let before = Edit { span: at(sources, profile, "edition"), replacement: "y".into() };
        vec![
            Finding::new("edition", Severity::Note, "m").at(at(sources, profile, "edition"), ""),
            Finding::new("use", Severity::Error, "m")
                .at(at(sources, profile, "{\r\n\troot \"é\"\r\n}"), "")
                .at(at(sources, profile, "{"), "begins")
                .fix("f", vec![before, edit], false),
        ]
    });
    let region = |value: &Value| {
        ["startLine", "startColumn", "endLine", "endColumn"].map(|field| value[field].as_u64().unwrap())
    };
    let document = sarif_of(&run);
    let results = &document["runs"][0]["results"];
    let of = |location: &Value| region(&location["physicalLocation"]["region"]);
    assert_eq!(of(&results[0]["locations"][0]), [1, 1, 1, 8]);
    assert_eq!(of(&results[1]["locations"][0]), [2, 14, 4, 2]);
    assert_eq!(of(&results[1]["relatedLocations"][0]), [2, 14, 2, 15]);
    assert_eq!(results[1]["relatedLocations"][0]["message"]["text"], "begins");
    let fix = &results[1]["fixes"][0];
    assert_eq!(fix["description"]["text"], "f (changes what the profile means)");
    let replacements = &fix["artifactChanges"][0]["replacements"];
    assert_eq!(region(&replacements[0]["deletedRegion"]), [1, 1, 1, 8]);
    assert_eq!(region(&replacements[1]["deletedRegion"]), [3, 1, 4, 1]);
    assert_eq!(replacements[1]["insertedContent"]["text"], "x\n");
    let document = json_of(&run);
    let label = &document["findings"][1]["labels"][0];
    assert_eq!(label["start"], json!({"offset": 29, "line": 2, "column": 13}));
    assert_eq!(label["end"]["line"], 4);
    // Notes are shown where they are asked for; columns stand only where one line is meant.
    assert_eq!(github::run(&run, false), "::error file=p,line=2,endLine=4,title=use::m%0Ap:2: begins\n");
    assert!(
        github::run(&run, true)
            .starts_with("::notice file=p,line=1,endLine=1,col=1,endColumn=8,title=edition::m\n")
    );
}

#[test]
fn fingerprints_hang_on_no_line_number() {
    let of = |text: &str| {
        let run = run("p", Some("/repo/p"), text, |sources, profile, _| {
            vec![Finding::new("use", Severity::Error, "m").at(at(sources, profile, "use"), "")]
        });
        sarif_of(&run)["runs"][0]["results"][0]["partialFingerprints"]["palisade/v1"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(of("a\nuse"), of("\n\n  use b"));
}

#[test]
fn hosts_agree_where_only_their_paths_differ() {
    let mut sources = Sources::new();
    let file = sources.add("p", Some(Utf8Path::new("/repo/p")), "root");
    let whereabouts = ["/home/dev", "/Users/dev"]
        .map(|home| Whereabouts { workspace: format!("{home}/work"), home: home.to_owned() });
    let mut collector =
        Collector::new(&origin, vec!["linux.yaml".into(), "mac.yaml".into()], whereabouts.to_vec());
    let profile = collector.profile(sources.file(file));
    for (host, home) in [(0, "/home/dev"), (1, "/Users/dev")] {
        let finding =
            Finding::new("missing-root", Severity::Error, format!("the root `{home}/work/x` does not exist"));
        let mut findings =
            vec![finding.at(at(&sources, file, "root"), "here").help(format!("make `{home}/y`"))];
        if host == 1 {
            findings.push(Finding::new("missing-tool", Severity::Note, "no shell"));
        }
        collector.add(profile, host, &sources, findings);
    }
    let run = collector.finish("check", Vec::new(), Severity::Warning);
    assert_eq!(
        concise::run(&run),
        "p: note[missing-tool] no shell (only on mac.yaml)\np:1:1: error[missing-root] the root `$workspace/x` does not exist\n"
    );
    assert_eq!(run.findings[1].finding.help.as_deref(), Some("make `~/y`"));
    assert!(human::run(&run, human::Style::default()).ends_with("1 error, 1 note in p on 2 hosts\n"));
    let junit = junit::run(&run).unwrap();
    assert!(
        junit.contains("<testsuites name=\"palisade check\" tests=\"2\" failures=\"2\" errors=\"0\""),
        "{junit}"
    );
    assert_eq!(junit.matches("<system-out>").count(), 1, "{junit}");
    assert_eq!(json_of(&run)["findings"][0]["hosts"], json!(["mac.yaml"]));
}

#[test]
fn a_run_that_read_nothing_says_so_in_every_document() {
    let problem =
        Problem::new(ProblemKind::Profile, Some("/repo/a{1}[b](2)\n".into()), "`a{1}[b](2)` is no\ntext");
    let run = Collector::new(&origin, Vec::new(), Vec::new()).finish(
        "check",
        vec![problem.help("remove it")],
        Severity::Warning,
    );
    assert_eq!(human::run(&run, human::Style::default()), "");
    assert_eq!(concise::run(&run), "");
    assert_eq!(
        github::run(&run, false),
        "::error file=a{1}[b](2)%0A,title=unreadable input::`a{1}[b](2)` is no\\ntext%0Ahelp: remove it\n"
    );
    let document = sarif_of(&run);
    let notification = &document["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    // Neither a placeholder nor a link.
    assert_eq!(
        notification["message"]["text"],
        "`a{{1}}\\[b](2)` is no\ntext\nhelp: remove it".replace("\\[b]", "\\[b\\]")
    );
    assert_eq!(document["runs"][0]["results"], json!([]));
    assert_eq!(json_of(&run)["problems"][0]["uri"], "a%7B1%7D%5Bb%5D%282%29%0A");
    let junit = junit::run(&run).unwrap();
    assert!(junit.contains("<testcase classname=\"input\" name=\"/repo/a{1}[b](2)\\n\">"), "{junit}");
}
