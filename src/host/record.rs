//! Recording a machine: whatever is asked of it is written down, absences and refusals too.

use super::recording::{
    BinaryField, Fields, KindName, Listed, Question, Recording, Refusal, Unlisted, normal,
};
use super::{Binary, Entry, Host, HostError, Mount};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything that was answered about one path.
#[derive(Debug, Default)]
struct Answers {
    examined: Option<Result<Option<Entry>, HostError>>,
    listed: Option<Result<Vec<String>, HostError>>,
    head: Option<Result<Vec<u8>, HostError>>,
    digest: Option<Result<String, HostError>>,
    binary: Option<Result<Option<Binary>, HostError>>,
}

/// A host that passes every question on to another one and keeps the answers.
pub struct Recorder<'a> {
    host: &'a dyn Host,
    workspace: Option<Utf8PathBuf>,
    answers: Mutex<BTreeMap<Utf8PathBuf, Answers>>,
}

impl<'a> Recorder<'a> {
    pub fn new(host: &'a dyn Host) -> Self {
        Self { host, workspace: None, answers: Mutex::new(BTreeMap::new()) }
    }

    /// The recorder that also writes down what `$workspace` is, for whoever compiles from the recording.
    pub fn with_workspace(self, workspace: &Utf8Path) -> Self {
        Self { workspace: Some(workspace.to_path_buf()), ..self }
    }

    /// The recording as YAML, sorted by path. [`super::RecordedHost::from_yaml`] gives from it the same answer to every question that was
    /// asked. It holds no times; only inode numbers differ between machines that are otherwise the same.
    ///
    /// # Errors
    /// Only where the serializer fails.
    pub fn recording(self) -> Result<String, serde_yaml::Error> {
        let answers = self.answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        let recording = Recording {
            system: self.host.system(),
            architecture: self.host.architecture().to_owned(),
            home: self.host.home().to_path_buf(),
            workspace: self.workspace.clone(),
            case_insensitive: Some(self.host.case_insensitive())
                .filter(|insensitive| *insensitive != (self.host.system() == System::Macos)),
            developer_directory: self.host.developer_directory().map(Utf8Path::to_path_buf),
            mounts: self.host.mounts().unwrap_or_default(),
            unlisted: Unlisted::Unknown,
            entries: answers
                .into_iter()
                .filter(|(path, _)| normal(path).is_ok())
                .map(|(path, answers)| (path, listed(answers)))
                .collect(),
        };
        serde_yaml::to_string(&recording)
    }

    fn answers(&self) -> MutexGuard<'_, BTreeMap<Utf8PathBuf, Answers>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the answers about `path` are kept: under the disk's own spelling, so that another spelling of it finds them too.
    fn key(&self, path: &Utf8Path) -> Utf8PathBuf {
        let path: Utf8PathBuf = path.components().collect();
        if !self.host.case_insensitive() {
            return path;
        }
        path.iter().fold(Utf8PathBuf::new(), |parent, name| {
            let spelled = self.host.spelling(&parent, name);
            parent.join(spelled.unwrap_or_else(|_| name.to_owned()))
        })
    }

    fn keep<T: Clone>(
        &self,
        path: &Utf8Path,
        answer: Result<T, HostError>,
        place: impl FnOnce(&mut Answers) -> &mut Option<Result<T, HostError>>,
    ) -> Result<T, HostError> {
        // What kind of thing it is goes with every answer: a recording must not leave that to be guessed.
        let examined = self.host.lstat(path);
        let mut all = self.answers();
        let answers = all.entry(self.key(path)).or_default();
        answers.examined.get_or_insert(examined);
        *place(answers) = Some(answer.clone());
        answer
    }
}

impl Host for Recorder<'_> {
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
        let answer = self.host.lstat(path);
        self.answers().entry(self.key(path)).or_default().examined = Some(answer.clone());
        answer
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        self.keep(path, self.host.read_dir(path), |answers| &mut answers.listed)
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        let answer = self.host.head(path, limit);
        let known =
            match (&answer, self.answers().get(&self.key(path)).and_then(|answers| answers.head.as_ref())) {
                // Of two looks the longer one is kept.
                (Ok(bytes), Some(Ok(known))) if known.len() > bytes.len() => Ok(known.clone()),
                _ => answer.clone(),
            };
        let _ = self.keep(path, known, |answers| &mut answers.head);
        answer
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        self.keep(path, self.host.digest(path), |answers| &mut answers.digest)
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        self.keep(path, self.host.binary(path), |answers| &mut answers.binary)
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        self.host.spelling(directory, name)
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        self.host.mounts()
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.host.developer_directory()
    }
}

fn listed(answers: Answers) -> Listed {
    let mut refused = BTreeMap::new();
    let mut fields = match answers.examined {
        Some(Ok(Some(entry))) => Fields::of(&entry),
        Some(Ok(None)) => return Listed::Missing,
        Some(Err(error)) => {
            refused.insert(Question::Examine, Refusal::of(&error));
            let kind = if answers.listed.is_some() { KindName::Directory } else { KindName::File };
            Fields { kind: Some(kind), ..Fields::default() }
        }
        None => Fields::default(),
    };
    fields.names = taken(answers.listed, Question::List, &mut refused);
    if let Some(bytes) = taken(answers.head, Question::Head, &mut refused) {
        match String::from_utf8(bytes) {
            Ok(text) => fields.head = Some(text),
            Err(error) => fields.head_hex = Some(super::recording::hex(error.as_bytes())),
        }
    }
    fields.sha256 = taken(answers.digest, Question::Digest, &mut refused);
    fields.binary = taken(answers.binary, Question::Binary, &mut refused).map(BinaryField);
    fields.refused = refused;
    Listed::Fields(Box::new(fields))
}

fn taken<T>(
    answer: Option<Result<T, HostError>>,
    question: Question,
    refused: &mut BTreeMap<Question, Refusal>,
) -> Option<T> {
    match answer? {
        Ok(value) => Some(value),
        Err(error) => {
            refused.insert(question, Refusal::of(&error));
            None
        }
    }
}

#[cfg(test)]
mod tests;
