//! The files that make up a profile: itself, and every fragment that it uses, each once.

use super::{LoadFailure, Loader, Options, standard};
use crate::finding::{Finding, Severity};
use crate::policy::Used;
use crate::source::{FileId, Sources, Span};
use crate::syntax::ast::{File, FileKind, StatementKind, Text, TextPart, Word};
use crate::syntax::{self, nearest, shown};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

/// More files than anyone will review: what uses them is broken, or hostile.
const MAX_FILES: usize = 128;

/// Everything that was read, the profile first.
pub struct Gathered {
    /// The profile's.
    pub name: Word,
    pub files: Vec<File>,
    pub uses: Vec<Used>,
}

/// What makes two `use` statements name the same file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Standard(String),
    Path(Utf8PathBuf),
    /// Standard input, or a text in memory.
    Text(FileId),
}

/// A `use` statement that has not been followed yet.
struct Pending {
    text: Text,
    span: Span,
    /// Which file says it.
    from: usize,
}

struct Gathering<'a> {
    sources: &'a mut Sources,
    loader: &'a dyn Loader,
    options: &'a Options,
    findings: &'a mut Vec<Finding>,
    files: Vec<File>,
    /// For each file: the one that used it first, and where. The chain of a cycle is read from it.
    parents: Vec<Option<(usize, Span)>>,
    seen: HashMap<Key, Option<usize>>,
    uses: Vec<Used>,
}

/// Reads everything that `file` uses. What cannot be read is told of and left out.
pub fn gather(
    sources: &mut Sources,
    loader: &dyn Loader,
    file: File,
    options: &Options,
    findings: &mut Vec<Finding>,
) -> Gathered {
    let name = file.name.clone();
    let source = sources.file(file.id);
    let key = match &source.path {
        // The canonical path, so that a fragment which uses the profile is found out.
        Some(path) => Key::Path(loader.read(path).map_or_else(|_| path.clone(), |(path, _)| path)),
        None => Key::Text(file.id),
    };
    let seen = HashMap::from([(key, Some(0))]);
    let mut gathering = Gathering {
        sources,
        loader,
        options,
        findings,
        files: Vec::new(),
        parents: vec![None],
        seen,
        uses: Vec::new(),
    };
    // Depth first, without recursion: a long chain of files must not end the program.
    let mut pending = uses_of(&file, 0);
    gathering.files.push(file);
    while let Some(next) = pending.pop() {
        if let Some(index) = gathering.follow(&next)
            && let Some(file) = gathering.files.get(index)
        {
            pending.extend(uses_of(file, index));
        }
    }
    Gathered { name, files: gathering.files, uses: gathering.uses }
}

/// In reverse, so that the first is taken first from the end.
fn uses_of(file: &File, from: usize) -> Vec<Pending> {
    let uses = file.statements.iter().rev().filter_map(|statement| match &statement.kind {
        StatementKind::Use(text) => Some(Pending { text: text.clone(), span: statement.span, from }),
        _ => None,
    });
    uses.collect()
}

impl Gathering<'_> {
    /// Follows one `use`; gives the index of the file if it had not been read before.
    fn follow(&mut self, pending: &Pending) -> Option<usize> {
        let written = self.written(&pending.text)?;
        let (key, name, path, bytes) = self.read(&written, pending)?;
        match self.seen.get(&key) {
            Some(Some(index)) => {
                let index = *index;
                if self.is_ancestor(index, pending.from) {
                    self.cycle(index, pending);
                } else if let Some(file) = self.files.get(index) {
                    self.uses.push(Used { span: pending.span, file: file.id });
                }
                return None;
            }
            // Read before, and told of.
            Some(None) => return None,
            None => {}
        }
        self.seen.insert(key.clone(), None);
        if self.files.len() >= MAX_FILES {
            let finding = error("use", "too many files are used").at(pending.span, "one too many");
            self.findings.push(finding.help(format!("a profile may use {MAX_FILES} files, itself included")));
            return None;
        }
        let id = match syntax::load(self.sources, &name, path.as_deref(), bytes) {
            Ok(id) => id,
            Err(failure) => {
                self.findings.push(error("use", failure.to_string()).at(pending.text.span, "used here"));
                return None;
            }
        };
        let parsed = syntax::parse(self.sources, id);
        self.findings.extend(parsed.findings);
        let file = parsed.file?;
        if file.kind == FileKind::Profile {
            self.findings.push(
                error("use", format!("`{}` is a profile, not a fragment", shown(&name)))
                    .at(pending.text.span, "used here")
                    .at(file.head, "a profile stands by itself")
                    .help("move what both need into a `fragment \"NAME\" { … }`, and use that in both"),
            );
            return None;
        }
        let index = self.files.len();
        self.seen.insert(key, Some(index));
        self.uses.push(Used { span: pending.span, file: id });
        self.parents.push(Some((pending.from, pending.span)));
        self.files.push(file);
        Some(index)
    }

    /// The text of a `use`. Only the two variables that are known before any file is read may stand in it.
    fn written(&mut self, text: &Text) -> Option<String> {
        let mut written = String::new();
        for part in &text.parts {
            match part {
                TextPart::Literal(literal) => written.push_str(literal),
                TextPart::Variable(name) if name.value == "workspace" => {
                    written.push_str(self.options.workspace.as_str());
                }
                TextPart::Variable(name) if name.value == "home" => {
                    written.push_str(self.options.home.as_str())
                }
                TextPart::Variable(name) => {
                    let message = format!("`${}` cannot stand in `use`", shown(&name.value));
                    self.findings.push(error("use", message).at(name.span, "here").help(
                        "which files are read must not hang on a parameter; only `$workspace` and `$home` can stand here",
                    ));
                    return None;
                }
            }
        }
        if written.is_empty() {
            self.findings.push(error("use", "`use` without a file").at(text.span, "empty"));
            return None;
        }
        match written.strip_prefix("~/") {
            Some(rest) if !text.raw => Some(self.options.home.join(rest).into_string()),
            _ => Some(written),
        }
    }

    #[allow(clippy::type_complexity)]
    fn read(
        &mut self,
        written: &str,
        pending: &Pending,
    ) -> Option<(Key, String, Option<Utf8PathBuf>, Vec<u8>)> {
        if let Some(name) = written.strip_prefix("std/") {
            let Some(text) = standard::text(name) else {
                self.unknown_standard(name, pending);
                return None;
            };
            return Some((Key::Standard(name.into()), written.into(), None, text.as_bytes().to_vec()));
        }
        let from = self.files.get(pending.from).map(|file| self.sources.file(file.id));
        let directory = from.and_then(|source| source.path.as_deref()).and_then(Utf8Path::parent);
        let path = match directory {
            _ if Utf8Path::new(written).is_absolute() => Utf8PathBuf::from(written),
            Some(directory) => directory.join(written),
            None => {
                let finding = error(
                    "use",
                    format!("`{}` is relative to a text that is in no directory", shown(written)),
                );
                let finding = finding.at(pending.text.span, "used here");
                self.findings.push(finding.help("write the whole path, or give the profile as a file"));
                return None;
            }
        };
        // Shown as the user would find it: beside the name under which the using file was given.
        let beside = from.and_then(|source| Utf8Path::new(&source.name).parent());
        let name = beside.map_or_else(|| Utf8PathBuf::from(written), |directory| directory.join(written));
        match self.loader.read(&path) {
            Ok((canonical, bytes)) => Some((Key::Path(canonical), name.into_string(), Some(path), bytes)),
            Err(failure) => {
                let finding = error("use", failure.to_string()).at(pending.text.span, "used here");
                let bare = standard::FRAGMENTS.iter().any(|(of, _)| *of == written);
                self.findings.push(match failure {
                    LoadFailure::Missing(_) if bare => {
                        finding.help(format!("the fragment that ships with the program is `std/{written}`"))
                    }
                    _ => finding.help("a path is relative to the file that says it"),
                });
                None
            }
        }
    }

    fn unknown_standard(&mut self, name: &str, pending: &Pending) {
        let names = || standard::FRAGMENTS.iter().map(|(name, _)| *name);
        let stem = name.strip_suffix(".palisade").unwrap_or(name);
        let meant = names().find(|known| *known == stem).or_else(|| nearest(stem, names()));
        let finding = error("use", format!("no fragment `std/{}` ships with the program", shown(name)));
        let finding = finding.at(pending.text.span, "unknown");
        self.findings.push(match meant {
            Some(meant) => {
                let edit =
                    crate::finding::Edit { span: pending.text.span, replacement: format!("\"std/{meant}\"") };
                let finding = finding.help(format!("did you mean `std/{meant}`?"));
                finding.fix(format!("use `std/{meant}`"), vec![edit], false)
            }
            None => finding.help(format!(
                "there are {}",
                names().map(|name| format!("`std/{name}`")).collect::<Vec<_>>().join(", ")
            )),
        });
    }

    /// Whether `index` is `of`, or used it directly or through others.
    fn is_ancestor(&self, index: usize, of: usize) -> bool {
        let mut at = of;
        loop {
            if at == index {
                return true;
            }
            match self.parents.get(at).copied().flatten() {
                Some((parent, _)) => at = parent,
                None => return false,
            }
        }
    }

    fn cycle(&mut self, start: usize, pending: &Pending) {
        let name = |index: usize| {
            self.files.get(index).map_or_else(String::new, |file| self.sources.file(file.id).name.clone())
        };
        let mut chain = vec![name(start)];
        let mut places = Vec::new();
        let mut at = pending.from;
        while at != start {
            chain.push(name(at));
            let Some((parent, span)) = self.parents.get(at).copied().flatten() else { break };
            places.push((span, name(at)));
            at = parent;
        }
        chain.push(name(start));
        chain.reverse();
        let message = format!("a fragment uses itself: {}", chain.join(" -> "));
        let mut finding = error("use", message).at(pending.span, "this closes the circle");
        for (span, name) in places.into_iter().rev() {
            finding = finding.at(span, format!("`{}` is used here", shown(&name)));
        }
        self.findings.push(finding.help("move what both need into a third fragment"));
    }
}

fn error(rule: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(rule, Severity::Error, message)
}
