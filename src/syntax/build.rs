//! What the grammar matched, as syntax tree. Texts in it have been checked before (see `strings`).

use super::ast::*;
use super::grammar::Rule;
use super::strings;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, Span, Spanned};
use pest::iterators::Pair;

/// Builds from one parsed stretch of a file.
pub struct Builder<'f> {
    pub file: FileId,
    /// Where the parsed stretch begins in the file.
    pub base: usize,
    pub findings: &'f mut Vec<Finding>,
}

impl Builder<'_> {
    pub fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        Span::new(self.file, self.base + span.start()..self.base + span.end())
    }

    /// A statement that stands on one line, or whose list does.
    pub fn statement(&mut self, pair: Pair<'_, Rule>) -> Option<StatementKind> {
        let rule = pair.as_rule();
        let mut inner = Parts::of(pair);
        Some(match rule {
            Rule::description => StatementKind::Description(self.text(&mut inner)?),
            Rule::use_file => StatementKind::Use(self.text(&mut inner)?),
            Rule::param => {
                let name = self.name(&mut inner)?;
                StatementKind::Param { name, default: self.text(&mut inner) }
            }
            Rule::root => {
                let path = self.text(&mut inner)?;
                let access = inner.take(Rule::access)?;
                let value = if access.as_str() == "read-only" { Access::ReadOnly } else { Access::ReadWrite };
                StatementKind::Root { path, access: Spanned::new(value, self.span(&access)) }
            }
            Rule::deny => match inner.next()? {
                quoted if quoted.as_rule() == Rule::quoted => {
                    StatementKind::Deny(strings::text(self.file, self.base, quoted))
                }
                glob if glob.as_rule() == Rule::deny_glob => {
                    StatementKind::DenyGlob(self.text(&mut Parts::of(glob))?)
                }
                ignored => {
                    let mut inner = Parts::of(ignored);
                    let path = self.text(&mut inner)?;
                    let names = inner.take(Rule::exceptions).map(Pair::into_inner).into_iter().flatten();
                    let names = names.filter(|pair| pair.as_rule() == Rule::quoted);
                    let except = names.map(|pair| strings::text(self.file, self.base, pair)).collect();
                    StatementKind::DenyGitignored { path, except }
                }
            },
            Rule::git_worktree => StatementKind::GitWorktree(self.text(&mut inner)?),
            Rule::executable => StatementKind::Executable(self.text(&mut inner)?),
            Rule::tool => StatementKind::Tool(self.text(&mut inner)?),
            Rule::working_directory => StatementKind::WorkingDirectory(self.text(&mut inner)?),
            Rule::unguard => {
                StatementKind::Unguard { path: self.text(&mut inner)?, because: self.text(&mut inner)? }
            }
            Rule::seatbelt => {
                StatementKind::Seatbelt { rule: self.text(&mut inner)?, because: self.text(&mut inner)? }
            }
            Rule::network => {
                let mode = inner.take(Rule::network_mode)?;
                let value = if mode.as_str() == "all" { Network::All } else { Network::Off };
                StatementKind::Network(Spanned::new(value, self.span(&mode)))
            }
            Rule::ipc => {
                let mode = inner.take(Rule::ipc_mode)?;
                let value = if mode.as_str() == "off" { Ipc::Off } else { Ipc::SharedMemory };
                StatementKind::Ipc(Spanned::new(value, self.span(&mode)))
            }
            Rule::needs => {
                let names = inner.take(Rule::names)?.into_inner();
                let names = names.filter(|pair| pair.as_rule() == Rule::name);
                StatementKind::Needs(names.map(|name| self.bare(&name)).collect())
            }
            Rule::tools => StatementKind::Tools(self.members(&mut inner)?),
            Rule::optional_tools => StatementKind::OptionalTools(self.members(&mut inner)?),
            Rule::group => {
                StatementKind::Group { name: self.name(&mut inner)?, members: self.members(&mut inner)? }
            }
            _ => return None,
        })
    }

    pub fn host_rule(&mut self, pair: Pair<'_, Rule>) -> Option<NetworkItem> {
        let span = self.span(&pair);
        let mut inner = Parts(pair.into_inner());
        let kind = match inner.next()?.as_rule() {
            Rule::kw_allow => NetworkItemKind::Allow {
                host: self.text(&mut inner)?,
                methods: self.methods(&inner),
                paths: self.texts(&mut inner),
            },
            Rule::kw_inspect => NetworkItemKind::Inspect(self.text(&mut inner)?),
            Rule::kw_deny => NetworkItemKind::Deny(self.text(&mut inner)?),
            Rule::kw_unix => NetworkItemKind::Unix(self.text(&mut inner)?),
            _ => NetworkItemKind::Localhost(self.bare(&inner.take(Rule::number)?)),
        };
        Some(NetworkItem { kind, span })
    }

    pub fn variable_rule(&mut self, pair: Pair<'_, Rule>) -> Option<EnvItem> {
        let span = self.span(&pair);
        let mut inner = Parts(pair.into_inner());
        let word = inner.next()?.as_rule();
        let name = inner.take(Rule::variable_name)?.into_inner().next()?;
        let name = self.word(name)?;
        let kind = match word {
            Rule::kw_set => EnvItemKind::Set(self.text(&mut inner)?),
            Rule::kw_mask => EnvItemKind::Mask(self.texts(&mut inner)),
            _ => EnvItemKind::Pass,
        };
        Some(EnvItem { name, kind, span })
    }

    pub fn expectation(&mut self, pair: Pair<'_, Rule>) -> Option<Expectation> {
        let span = self.span(&pair);
        let mut inner = Parts::of(pair);
        let operation = self.name(&mut inner)?;
        let subject = self.text(&mut inner)?;
        let verdict = inner.take(Rule::verdict)?;
        let allowed = Spanned::new(verdict.as_str() == "allowed", self.span(&verdict));
        Some(Expectation { operation, subject, allowed, span })
    }

    /// The word of a name, a group's name, or a quoted text without variables.
    pub fn word(&mut self, pair: Pair<'_, Rule>) -> Option<Word> {
        if pair.as_rule() != Rule::quoted {
            return Some(self.bare(&pair));
        }
        let text = strings::text(self.file, self.base, pair);
        let mut value = String::new();
        for part in &text.parts {
            match part {
                TextPart::Literal(literal) => value.push_str(literal),
                TextPart::Variable(name) => {
                    let message = format!("`${}` has no meaning in a name", name.value);
                    let finding = Finding::new("syntax", Severity::Error, message).at(name.span, "here");
                    self.findings.push(finding.help("a name is written out; `\\$` is the character itself"));
                    return None;
                }
            }
        }
        if value.starts_with('@') {
            let finding = Finding::new("syntax", Severity::Error, format!("`{value}` is quoted"));
            self.findings
                .push(finding.at(text.span, "a group").help("write the name of a group without quotes"));
            return None;
        }
        Some(Word::new(value, text.span))
    }

    fn bare(&self, pair: &Pair<'_, Rule>) -> Word {
        Word::new(pair.as_str().to_owned(), self.span(pair))
    }

    fn name(&self, inner: &mut Parts<'_>) -> Option<Word> {
        inner.take(Rule::name).map(|pair| self.bare(&pair))
    }

    fn text(&self, inner: &mut Parts<'_>) -> Option<Text> {
        inner.take(Rule::quoted).map(|pair| strings::text(self.file, self.base, pair))
    }

    /// The methods that follow; those after them stay.
    fn methods(&self, inner: &Parts<'_>) -> Vec<Word> {
        let list = inner.0.clone().find(|pair| pair.as_rule() == Rule::methods);
        let methods = list.map(Pair::into_inner).into_iter().flatten();
        methods.filter(|pair| pair.as_rule() == Rule::method).map(|pair| self.bare(&pair)).collect()
    }

    fn texts(&self, inner: &mut Parts<'_>) -> Vec<Text> {
        let texts = inner.take(Rule::quoted_list).map(Pair::into_inner).into_iter().flatten();
        let texts = texts.filter(|pair| pair.as_rule() == Rule::quoted);
        texts.map(|pair| strings::text(self.file, self.base, pair)).collect()
    }

    /// All words of a list, or none where one of them is wrong: half a list would be another policy.
    fn members(&mut self, inner: &mut Parts<'_>) -> Option<Vec<Word>> {
        let mut words = Vec::new();
        let mut sound = true;
        for member in inner.take(Rule::members)?.into_inner().filter(|pair| pair.as_rule() == Rule::member) {
            match member.into_inner().next().and_then(|pair| self.word(pair)) {
                Some(word) => words.push(word),
                None => sound = false,
            }
        }
        sound.then_some(words)
    }
}

/// What stands in a rule.
struct Parts<'i>(pest::iterators::Pairs<'i, Rule>);

impl<'i> Parts<'i> {
    /// Without the word that the rule begins with: it has done its work.
    fn of(pair: Pair<'i, Rule>) -> Self {
        let mut inner = pair.into_inner();
        if inner.peek().is_some_and(|first| is_keyword(first.as_rule())) {
            inner.next();
        }
        Self(inner)
    }

    fn next(&mut self) -> Option<Pair<'i, Rule>> {
        self.0.next()
    }

    /// The next part of that kind; those before it are passed over.
    fn take(&mut self, rule: Rule) -> Option<Pair<'i, Rule>> {
        self.0.find(|pair| pair.as_rule() == rule)
    }
}

fn is_keyword(rule: Rule) -> bool {
    format!("{rule:?}").starts_with("kw_")
}
