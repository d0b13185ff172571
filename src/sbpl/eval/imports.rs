//! `import`: files are read from the directories given, and from nowhere else. What is not there stays opaque.

use super::{Evaluator, NameKind, Refused, Value, unknown_name};
use crate::resolve::{LiveLoader, Loader};
use crate::sbpl::OpaqueImport;
use crate::sbpl::read::Datum;
use crate::sbpl::rule::Unknown;
use crate::source::Span;
use crate::syntax::{load, shown};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Imports may nest this deep.
const MAX_NESTING: usize = 16;

/// A profile may import so many files. Apple's import at most a dozen.
const MAX_IMPORTS: usize = 1000;

/// Where imported files come from.
pub trait Imports {
    /// The file of that name: what to call it, where it is, and its bytes; `None` where it is not at hand.
    fn load(&self, name: &str) -> Option<(String, Option<Utf8PathBuf>, Vec<u8>)>;
}

/// Every import stays opaque.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoImports;

impl Imports for NoImports {
    fn load(&self, _name: &str) -> Option<(String, Option<Utf8PathBuf>, Vec<u8>)> {
        None
    }
}

/// Files held in memory, by name.
#[derive(Debug, Clone, Default)]
pub struct InMemory(pub BTreeMap<String, String>);

impl Imports for InMemory {
    fn load(&self, name: &str) -> Option<(String, Option<Utf8PathBuf>, Vec<u8>)> {
        self.0.get(name).map(|text| (name.to_owned(), None, text.clone().into_bytes()))
    }
}

/// Directories that are searched in order. A name with `..` leads nowhere, and an absolute one only into one of them.
#[derive(Debug, Clone, Default)]
pub struct Directories(pub Vec<Utf8PathBuf>);

impl Imports for Directories {
    fn load(&self, name: &str) -> Option<(String, Option<Utf8PathBuf>, Vec<u8>)> {
        let name = Utf8Path::new(name);
        if name.as_str().is_empty() || name.components().any(|part| part.as_str() == "..") {
            return None;
        }
        self.0.iter().find_map(|directory| {
            let below = if name.is_absolute() { name.strip_prefix(directory).ok()? } else { name };
            let path = directory.join(below);
            let (canonical, bytes) = LiveLoader.read(&path).ok()?;
            Some((path.into_string(), Some(canonical), bytes))
        })
    }
}

impl Evaluator<'_> {
    pub(super) fn import(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        self.imported += 1;
        if self.imported > MAX_IMPORTS + 1 {
            return Err(Refused);
        }
        if self.imported > MAX_IMPORTS {
            return self.refuse(form.span, format!("more than {MAX_IMPORTS} imports"));
        }
        let [name] = args else { return self.refuse(form.span, "`import` takes one name") };
        let text = self.text(name)?;
        let Some(Ok(file)) = text.bytes().map(|bytes| std::str::from_utf8(bytes).map(str::to_owned)) else {
            self.opaque(text.shown(), form.span);
            return Ok(Value::Nothing);
        };
        let Some((shown_name, path, bytes)) = self.imports.load(&file) else {
            self.opaque(file, form.span);
            return Ok(Value::Nothing);
        };
        if self.importing.contains(&file) {
            return self.refuse(name.span, format!("`{}` imports itself", shown(&file)));
        }
        if self.importing.len() >= MAX_NESTING {
            return self.refuse(name.span, format!("imports nest more than {MAX_NESTING} deep"));
        }
        let id = match load(self.sources, &shown_name, path.as_deref(), bytes) {
            Ok(id) => id,
            Err(error) => return self.refuse(name.span, error.to_string()),
        };
        self.importing.push(file);
        self.file(id);
        self.importing.pop();
        Ok(Value::Nothing)
    }

    fn opaque(&mut self, name: String, span: Span) {
        let before = self.profile.rules.len();
        self.profile.opaque.push(OpaqueImport { name, call: None, span, before });
    }

    /// What an import that was not read may define, if there is one.
    pub(super) fn may_be_imported(&self, name: &str) -> Option<String> {
        let import = self.profile.opaque.iter().find(|import| import.call.is_none())?;
        // What is nearly a word of the language was probably meant to be it, wherever it stands.
        let is_near = [NameKind::Form, NameKind::Value]
            .into_iter()
            .any(|kind| unknown_name::near(kind, name).is_some());
        (!is_near).then(|| import.name.clone())
    }

    /// A call of what an unread import may define: it may make any rule, and give anything.
    pub(super) fn opaque_call(&mut self, import: String, name: &str, span: Span) -> Value {
        let name: Arc<str> = name.into();
        let before = self.profile.rules.len();
        self.profile.opaque.push(OpaqueImport { name: import, call: Some(name.clone()), span, before });
        Value::Unknown(Unknown::Call(name))
    }
}
