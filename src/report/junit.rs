//! A run in the XML that test reports come in: a suite for each host, a test case for each profile, which fails where a finding makes the run fail.

use super::concise;
use super::run::{Found, Problem, Run};
use super::terminal::shown;
use crate::finding::Severity;
use crate::source::FileId;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::borrow::Cow;
use std::io;

/// The document, with a line end.
///
/// # Errors
/// Only where it cannot be written to memory.
pub fn run(run: &Run) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    document(&mut writer, run)?;
    let text = String::from_utf8(writer.into_inner()).map_err(io::Error::other)?;
    Ok(text + "\n")
}

type Xml = Writer<Vec<u8>>;

fn document(writer: &mut Xml, run: &Run) -> io::Result<()> {
    let hosts: Vec<(usize, &str)> = match run.hosts.as_slice() {
        [] => vec![(0, "")],
        hosts => hosts.iter().map(String::as_str).enumerate().collect(),
    };
    let cases = hosts.iter().map(|(host, name)| (*name, cases(run, *host)));
    let suites: Vec<(&str, Vec<Case>)> = cases.filter(|(_, cases)| !cases.is_empty()).collect();
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    let (tests, failures) = (all().count() + run.problems.len(), all().filter(|case| case.fails()).count());
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let name = format!("palisade {}", run.command);
    let counts = counted(tests, failures, run.problems.len());
    let element = writer.create_element("testsuites").with_attributes([("name", name.as_str())]);
    element.with_attributes(pairs(&counts)).write_inner_content(|writer| {
        for (host, cases) in &suites {
            suite(writer, &name, host, cases)?;
        }
        if !run.problems.is_empty() {
            let counts = counted(run.problems.len(), 0, run.problems.len());
            let element = writer.create_element("testsuite").with_attribute(("name", "input"));
            element
                .with_attributes(pairs(&counts))
                .write_inner_content(|writer| run.problems.iter().try_for_each(|it| problem(writer, it)))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// One profile on one host.
struct Case {
    name: String,
    /// What makes the run fail: how much of it, and what it says.
    failure: Option<(String, String)>,
    /// The rest.
    output: String,
}

impl Case {
    fn fails(&self) -> bool {
        self.failure.is_some()
    }
}

fn cases(run: &Run, host: usize) -> Vec<Case> {
    let mut by_profile: std::collections::BTreeMap<FileId, Vec<&Found>> =
        run.profiles.iter().map(|profile| (*profile, Vec::new())).collect();
    for found in &run.findings {
        for (profile, _) in found.seen.iter().filter(|(_, on)| *on == host) {
            by_profile.entry(*profile).or_default().push(found);
        }
    }
    by_profile.into_iter().map(|(profile, found)| case(run, profile, &found)).collect()
}

fn case(run: &Run, profile: FileId, found: &[&Found]) -> Case {
    let (failing, rest): (Vec<&Found>, Vec<&Found>) = found.iter().partition(|found| run.fails(found));
    let text = |found: &[&Found]| -> String {
        let one = |found: &&Found| {
            let line = concise::render(&run.sources, std::slice::from_ref(&found.finding), run.name(profile));
            let help = found.finding.help.as_deref();
            line + &help.map(|help| format!("  help: {}\n", shown(help))).unwrap_or_default()
        };
        found.iter().map(one).collect()
    };
    let count = |severity: Severity| {
        let count = failing.iter().filter(|found| found.finding.severity == severity).count();
        (count > 0).then(|| format!("{count} {}{}", severity.name(), if count == 1 { "" } else { "s" }))
    };
    let counts: Vec<String> =
        [Severity::Error, Severity::Warning, Severity::Note].into_iter().filter_map(count).collect();
    Case {
        name: run.name(profile).to_owned(),
        failure: (!failing.is_empty()).then(|| (counts.join(", "), text(&failing))),
        output: text(&rest),
    }
}

fn suite(writer: &mut Xml, command: &str, host: &str, cases: &[Case]) -> io::Result<()> {
    let name = if host.is_empty() { command } else { host };
    let counts = counted(cases.len(), cases.iter().filter(|case| case.fails()).count(), 0);
    let element = writer.create_element("testsuite").with_attribute(("name", &*plain(name)));
    element.with_attributes(pairs(&counts)).write_inner_content(|writer| {
        for case in cases {
            let element = writer
                .create_element("testcase")
                .with_attribute(("classname", &*plain(name)))
                .with_attribute(("name", &*plain(&case.name)));
            if !case.fails() && case.output.is_empty() {
                element.write_empty()?;
                continue;
            }
            element.write_inner_content(|writer| {
                if let Some((counts, text)) = &case.failure {
                    let element =
                        writer.create_element("failure").with_attribute(("message", counts.as_str()));
                    element.write_text_content(BytesText::new(&lines(text)))?;
                }
                if !case.output.is_empty() {
                    let element = writer.create_element("system-out");
                    element.write_text_content(BytesText::new(&lines(&case.output)))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

fn problem(writer: &mut Xml, problem: &Problem) -> io::Result<()> {
    let name = problem.path.as_ref().map(|path| path.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "command line".to_owned());
    let element = writer
        .create_element("testcase")
        .with_attribute(("classname", "input"))
        .with_attribute(("name", &*plain(&name)));
    element.write_inner_content(|writer| {
        let element = writer.create_element("error").with_attribute(("message", &*plain(&problem.message)));
        element.write_text_content(BytesText::new(&plain(problem.help.as_deref().unwrap_or_default())))?;
        Ok(())
    })?;
    Ok(())
}

fn counted(tests: usize, failures: usize, errors: usize) -> [(&'static str, String); 4] {
    let [tests, failures, errors] = [tests, failures, errors].map(|count| count.to_string());
    [("tests", tests), ("failures", failures), ("errors", errors), ("skipped", "0".to_owned())]
}

fn pairs<'a>(counts: &'a [(&'static str, String); 4]) -> impl Iterator<Item = (&'a str, &'a str)> {
    counts.iter().map(|(name, count)| (*name, count.as_str()))
}

/// One line that XML can hold: two characters that are hidden from nobody are none of its characters either (XML 1.0, section 2.2). What has a
/// meaning in XML is escaped by the writer.
fn plain(text: &str) -> Cow<'_, str> {
    let text = shown(text);
    if !text.contains(['\u{fffe}', '\u{ffff}']) {
        return text;
    }
    Cow::Owned(text.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}"))
}

/// The same for a text of several lines.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", plain(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quick_xml::Reader;

    proptest! {
        /// Whatever stands in a name or a text, the document can be read, and gives back both with the hidden characters written out.
        #[test]
        fn any_text_is_read_back(
            name in "([ -~é😀]|\n|\r|]]>|<!--|&amp;|\u{0}|\u{1b}|\u{fffe}|\u{ffff}){1,30}",
            text in "([ -~é😀]|\n|]]>|</failure>|&|\u{8}|\u{ffff}){1,30}",
        ) {
            let mut writer = Writer::new(Vec::new());
            let failure = Some(("1 error".to_owned(), text.clone()));
            suite(&mut writer, "x", "h", &[Case { name: name.clone(), failure, output: String::new() }]).unwrap();
            let xml = String::from_utf8(writer.into_inner()).unwrap();
            let is_none_of_xml = |c: char| (c.is_control() && c != '\n') || c == '\u{ffff}' || c == '\u{fffe}';
            prop_assert!(!xml.contains(is_none_of_xml), "{}", xml);
            let (mut reader, mut named, mut said) = (Reader::from_str(&xml), None, String::new());
            loop {
                match reader.read_event().unwrap() {
                    Event::Start(tag) if tag.name().as_ref() == "testcase" => {
                        let value = tag.try_get_attribute("name").unwrap().unwrap();
                        named = Some(quick_xml::escape::unescape(&value.value).unwrap().into_owned());
                    }
                    Event::Text(part) => said.push_str(&part),
                    Event::GeneralRef(part) => {
                        let entity = format!("&{};", &*part);
                        said.push_str(&quick_xml::escape::unescape(&entity).unwrap());
                    }
                    Event::Eof => break,
                    _ => {}
                }
            }
            prop_assert_eq!(named.unwrap(), plain(&name));
            prop_assert_eq!(said, lines(&text));
        }
    }
}
