//! Groups of tools: those of the files at hand, and those that ship with the program.

use super::standard;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::{self, ToolName};
use crate::source::{FileId, Sources, Span};
use crate::syntax::ast::{File, StatementKind, Word};
use crate::syntax::{self, MAX_FINDINGS, nearest, shown};
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Clone)]
struct Group {
    members: Vec<Word>,
    span: Span,
    statement: Span,
    uses: usize,
    /// The fragment of `policies/std` that defines it, where no file at hand does.
    standard: Option<&'static str>,
}

/// Those of `policies/std`, read once for all profiles. Their places are in no `Sources`, and nobody is shown them.
static SHIPPED: LazyLock<BTreeMap<String, Group>> = LazyLock::new(|| {
    let mut shipped = BTreeMap::new();
    for (fragment, text) in standard::FRAGMENTS {
        let mut scratch = Sources::new();
        let id = scratch.add(fragment, None, text);
        let groups = groups_of(syntax::parse(&scratch, id).file.as_ref(), Some(fragment));
        shipped.extend(groups.into_iter().map(|(name, group)| (name.value, group)));
    }
    shipped
});

#[derive(Debug, Default)]
pub struct Groups {
    by_name: BTreeMap<String, Group>,
    /// Standard fragments that were needed for their groups, in the order met.
    pub files: Vec<FileId>,
}

impl Groups {
    /// The groups of all files. Those of `policies/std` are known without `use`, and cannot be defined anew.
    pub fn define(sources: &Sources, files: &[File], findings: &mut Vec<Finding>) -> Self {
        let mut groups = Self { by_name: SHIPPED.clone(), files: Vec::new() };
        for file in files {
            // Also where it is checked as a file, in a copy of this repository.
            let own = standard::text(&file.name.value) == Some(&*sources.file(file.id).text);
            for (word, group) in groups_of(Some(file), None) {
                for member in &group.members {
                    if member.value.starts_with('@') {
                        findings.push(
                            Finding::new("group", Severity::Error, "a group in a group")
                                .at(member.span, "here")
                                .help("a group holds names of tools; name several groups where tools are listed"),
                        );
                    }
                }
                match groups.by_name.get(&word.value) {
                    // The very fragment that the name is known from.
                    Some(known) if known.standard.is_some() && own => {}
                    Some(known) if known.standard.is_some() => {
                        let fragment = known.standard.unwrap_or_default();
                        let message =
                            format!("the group `@{}` is defined by `std/{fragment}`", shown(&word.value));
                        let finding = Finding::new("group", Severity::Error, message)
                            .at(word.span, "defined again here");
                        findings.push(
                            finding.help(
                                "give yours another name: `@` names must mean the same to every reader",
                            ),
                        );
                    }
                    Some(known) if known.span.file != group.span.file => findings.push(
                        Finding::new(
                            "group",
                            Severity::Error,
                            format!("the group `@{}` is defined twice", shown(&word.value)),
                        )
                        .at(word.span, "again here")
                        .at(known.span, "first here")
                        .help("give one of them another name"),
                    ),
                    // Twice in one file: told of by the parser.
                    Some(_) => {}
                    None => {
                        groups.by_name.insert(word.value, group);
                    }
                }
            }
        }
        groups
    }

    /// The groups of the files at hand, with how often each was used.
    pub fn stated(&self) -> Vec<policy::Group> {
        let own = self.by_name.iter().filter(|(_, group)| group.standard.is_none());
        own.map(|(name, group)| policy::Group { name: name.clone(), span: group.statement, uses: group.uses })
            .collect()
    }

    /// The members of `@name`, each as a tool asked for by the group.
    pub fn members(
        &mut self,
        sources: &mut Sources,
        word: &Word,
        statement: Span,
        findings: &mut Vec<Finding>,
    ) -> Vec<ToolName> {
        let name = word.value.strip_prefix('@').unwrap_or(&word.value);
        if let Some(group) = self.by_name.get_mut(name) {
            group.uses += 1;
        }
        let Some(group) = self.by_name.get(name) else {
            let known = self.by_name.keys().map(String::as_str);
            let finding =
                Finding::new("unknown-group", Severity::Error, format!("unknown group `@{}`", shown(name)));
            let finding = finding.at(word.span, "not defined");
            // Looking through all groups takes time, and by then there is enough to do.
            if findings.len() >= MAX_FINDINGS {
                findings.push(finding);
                return Vec::new();
            }
            let meant = nearest(name, known);
            findings.push(match meant {
                Some(meant) => {
                    let edit = Edit { span: word.span, replacement: format!("@{meant}") };
                    let finding = finding.help(format!("did you mean `@{meant}`?"));
                    finding.fix(format!("write `@{meant}`"), vec![edit], false)
                }
                None => {
                    let shipped = self.by_name.iter().filter(|(_, group)| group.standard.is_some());
                    let shipped: Vec<String> = shipped.map(|(name, _)| format!("`@{name}`")).collect();
                    let name = shown(name);
                    finding.help(format!(
                        "there are {}; another is defined with `group {name} [ … ]`",
                        shipped.join(", ")
                    ))
                }
            });
            return Vec::new();
        };
        // What a group holds is part of what the profile means: its source belongs to the sources.
        if let Some(fragment) = group.standard {
            let shown = format!("std/{fragment}");
            let known =
                sources.files().find(|(_, file)| file.name == shown && file.path.is_none()).map(|(id, _)| id);
            let id = known
                .unwrap_or_else(|| sources.add(shown, None, standard::text(fragment).unwrap_or_default()));
            if !self.files.contains(&id) {
                self.files.push(id);
            }
        }
        let tool = |member: &Word| ToolName {
            name: member.value.clone(),
            span: word.span,
            statement,
            group: Some(name.to_owned()),
        };
        group.members.iter().filter(|member| !member.value.starts_with('@')).map(tool).collect()
    }
}

fn groups_of(file: Option<&File>, standard: Option<&'static str>) -> Vec<(Word, Group)> {
    let statements = file.into_iter().flat_map(|file| &file.statements);
    let groups = statements.filter_map(|statement| match &statement.kind {
        StatementKind::Group { name, members } => {
            let (members, span, statement) = (members.clone(), name.span, statement.span);
            Some((name.clone(), Group { members, span, statement, uses: 0, standard }))
        }
        _ => None,
    });
    groups.collect()
}
