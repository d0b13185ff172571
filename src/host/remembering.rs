//! A host that is asked each question about a path once: what several parts of one compile, or many profiles of one check, look at is read
//! once and is the same for all.

use super::{Binary, Entry, Host, HostError, Listing, Mount};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::any::{Any, TypeId};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

type Answers<T, K = Utf8PathBuf> = RwLock<HashMap<K, Result<T, HostError>>>;

/// Remembers what a path is, what a directory holds, and of files what was asked of them: never a whole one.
pub struct Remembering<'h> {
    host: &'h dyn Host,
    entries: Answers<Option<Entry>>,
    names: Answers<Vec<String>>,
    listings: Answers<Listing>,
    /// With how much was asked for.
    heads: Answers<Vec<u8>, (Utf8PathBuf, usize)>,
    digests: Answers<String>,
    binaries: Answers<Option<Binary>>,
    /// A directory, and a name as it was asked for.
    spellings: Answers<String, (Utf8PathBuf, String)>,
    conclusions: Conclusions,
}

/// What later stages have made of a host's answers, so that many profiles on one machine share it. What is kept must follow from the host
/// and the question alone.
#[derive(Default)]
pub struct Conclusions(RwLock<HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>>);

impl Conclusions {
    /// The conclusion of this type about a question, drawn once.
    pub fn of<T: Any + Send + Sync>(&self, question: &str, draw: impl FnOnce() -> T) -> Arc<T> {
        let key = (TypeId::of::<T>(), question.to_owned());
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(Ok(kept)) = kept.map(Arc::downcast::<T>) {
            return kept;
        }
        // Nothing is held meanwhile: two that ask at once conclude the same.
        let drawn = Arc::new(draw());
        let kept: Arc<dyn Any + Send + Sync> = drawn.clone();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, kept);
        drawn
    }
}

/// What follows from a host's answers: drawn once where it remembers, else each time.
pub fn concluded<T: Any + Send + Sync>(host: &dyn Host, question: &str, draw: impl FnOnce() -> T) -> Arc<T> {
    match host.conclusions() {
        Some(conclusions) => conclusions.of(question, draw),
        None => Arc::new(draw()),
    }
}

impl<'h> Remembering<'h> {
    pub fn new(host: &'h dyn Host) -> Self {
        Self {
            host,
            entries: Answers::default(),
            names: Answers::default(),
            listings: Answers::default(),
            heads: Answers::default(),
            digests: Answers::default(),
            binaries: Answers::default(),
            spellings: Answers::default(),
            conclusions: Conclusions::default(),
        }
    }
}

/// The longest beginning of a file that is kept, in bytes: what is read of a script, of a link of git's, of a list of what git ignores.
const LONGEST_HEAD: usize = 64 << 10;

fn known<T: Clone, K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized>(
    answers: &Answers<T, K>,
    question: &Q,
) -> Option<Result<T, HostError>> {
    answers.read().unwrap_or_else(PoisonError::into_inner).get(question).cloned()
}

fn keep<T, K: Eq + Hash>(answers: &Answers<T, K>, question: K, answer: Result<T, HostError>) {
    answers.write().unwrap_or_else(PoisonError::into_inner).insert(question, answer);
}

fn remembered<T: Clone, K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ToOwned<Owned = K> + ?Sized>(
    answers: &Answers<T, K>,
    question: &Q,
    ask: impl FnOnce() -> Result<T, HostError>,
) -> Result<T, HostError> {
    if let Some(answer) = known(answers, question) {
        return answer;
    }
    // Nothing is held while asking: two that ask at once get the same answer twice, and nothing waits.
    let answer = ask();
    keep(answers, question.to_owned(), answer.clone());
    answer
}

impl Host for Remembering<'_> {
    fn system(&self) -> System {
        self.host.system()
    }

    fn architecture(&self) -> &str {
        self.host.architecture()
    }

    fn home(&self) -> &Utf8Path {
        self.host.home()
    }

    fn case_insensitive(&self) -> bool {
        self.host.case_insensitive()
    }

    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        remembered(&self.entries, path, || self.host.lstat(path))
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        remembered(&self.names, path, || self.host.read_dir(path))
    }

    fn list(&self, directory: &Utf8Path) -> Result<Listing, HostError> {
        remembered(&self.listings, directory, || self.host.list(directory))
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        let question = (directory.to_path_buf(), name.to_owned());
        remembered(&self.spellings, &question, || self.host.spelling(directory, name))
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        let question = (path.to_path_buf(), limit);
        if let Some(answer) = known(&self.heads, &question) {
            return answer;
        }
        let answer = self.host.head(path, limit);
        if answer.as_ref().is_ok_and(|head| head.len() <= LONGEST_HEAD) {
            keep(&self.heads, question, answer.clone());
        }
        answer
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        remembered(&self.digests, path, || self.host.digest(path))
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        remembered(&self.binaries, path, || self.host.binary(path))
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        self.host.mounts()
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.host.developer_directory()
    }

    fn conclusions(&self) -> Option<&Conclusions> {
        Some(&self.conclusions)
    }
}
