//! A machine read from a file: the same answers everywhere, so that a profile for a Mac is checked on Linux and tests are exact.

use super::recording::{
    BinaryField, Fields, KindName, Listed, Mode, Question, Recording, Unlisted, hex, normal,
};
use super::{Binary, Entry, Host, HostError, Identity, Kind, Mount, resolve, spelling};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Why a text is not a recording.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` is not a recorded machine: {reason}")]
pub struct RecordingError {
    pub name: String,
    pub reason: String,
}

/// A recorded or handwritten machine. See `Recording` for the form.
#[derive(Debug, Clone)]
pub struct RecordedHost {
    system: System,
    architecture: String,
    home: Utf8PathBuf,
    workspace: Option<Utf8PathBuf>,
    case_insensitive: bool,
    developer_directory: Option<Utf8PathBuf>,
    mounts: Vec<Mount>,
    unlisted: Unlisted,
    entries: BTreeMap<Utf8PathBuf, Listed>,
    /// Every directory that is there, listed or implied, and the names listed below it.
    children: BTreeMap<Utf8PathBuf, BTreeSet<String>>,
    /// From the folded spelling to the listed one, where case does not matter.
    folded: HashMap<Utf8PathBuf, Utf8PathBuf>,
}

/// Whether a text has the form of a recording, whatever is wrong with what it says.
pub fn is_one(text: &str) -> bool {
    let fields: Result<serde_yaml::Mapping, _> = serde_yaml::from_str(text);
    fields.is_ok_and(|fields| {
        ["system", "architecture", "home", "entries"].iter().all(|&it| fields.contains_key(it))
    })
}

impl RecordedHost {
    /// Reads a recording. `name` is what errors call it.
    ///
    /// # Errors
    /// YAML that does not parse, an unknown field or word, a path that is not absolute and normalised or stands twice, an entry whose fields
    /// contradict each other.
    pub fn from_yaml(text: &str, name: &str) -> Result<Self, RecordingError> {
        let error = |reason: String| RecordingError { name: name.to_owned(), reason };
        let recording: Recording = serde_yaml::from_str(text).map_err(|why| error(why.to_string()))?;
        let Recording {
            system,
            architecture,
            home,
            workspace,
            case_insensitive,
            developer_directory,
            mounts,
            unlisted,
            entries,
        } = recording;
        let case_insensitive = case_insensitive.unwrap_or(system == System::Macos);
        let mounted = mounts.iter().flat_map(|mount| [&mount.place, &mount.root]);
        for path in std::iter::once(&home).chain(&developer_directory).chain(&workspace).chain(mounted) {
            normal(path).map_err(|why| error(format!("`{path}` {why}")))?;
        }
        for (path, listed) in &entries {
            if let Listed::Fields(fields) = listed {
                consistent(fields).map_err(|why| error(format!("`{path}` {why}")))?;
            }
        }
        let mut host = Self {
            system,
            architecture,
            home,
            workspace,
            case_insensitive,
            developer_directory,
            mounts,
            unlisted,
            children: BTreeMap::from([("/".into(), BTreeSet::new())]),
            folded: HashMap::new(),
            entries,
        };
        for (path, listed) in &host.entries {
            if *listed != Listed::Missing {
                link_into_parents(&mut host.children, path);
            }
        }
        host.check_parents().map_err(error)?;
        if case_insensitive {
            host.fold_names().map_err(error)?;
        }
        Ok(host)
    }

    /// What `$workspace` was when it was recorded.
    pub fn workspace(&self) -> Option<&Utf8Path> {
        self.workspace.as_deref()
    }

    fn check_parents(&self) -> Result<(), String> {
        for parent in self.children.keys() {
            match self.entries.get(parent) {
                None | Some(Listed::Unreadable) => {}
                Some(Listed::Fields(fields)) if kind(fields) == KindName::Directory => {}
                Some(_) => return Err(format!("`{parent}` has entries below it but is not a directory")),
            }
        }
        Ok(())
    }

    fn fold_names(&mut self) -> Result<(), String> {
        for path in self.entries.keys().chain(self.children.keys()) {
            if let Some(other) = self.folded.insert(spelling::fold(path), path.clone())
                && other != *path
                && [&other, path].iter().any(|it| self.entries.get(*it) != Some(&Listed::Missing))
            {
                return Err(format!("`{other}` and `{path}` are one path where case does not matter"));
            }
        }
        Ok(())
    }

    /// The path as it is listed, its parent's symlinks followed as a kernel would.
    fn place(&self, path: &Utf8Path) -> Result<Utf8PathBuf, HostError> {
        let path = self.listed_spelling(path);
        if self.entries.contains_key(&path) {
            return Ok(path);
        }
        let through_link = path.ancestors().skip(1).any(|ancestor| {
            matches!(self.entries.get(ancestor), Some(Listed::Fields(fields)) if kind(fields) == KindName::Symlink)
        });
        let (true, Some(parent), Some(name)) = (through_link, path.parent(), path.file_name()) else {
            return Ok(path);
        };
        match resolve::resolve(self, parent) {
            Ok(found) => Ok(self.listed_spelling(&found.canonical.join(name))),
            Err(resolve::ResolveError::Host(error)) => Err(error),
            // A place at which nothing can be.
            Err(_) => Ok(path),
        }
    }

    fn listed_spelling(&self, path: &Utf8Path) -> Utf8PathBuf {
        if self.case_insensitive {
            for (ancestor, rest) in
                path.ancestors().map(|ancestor| (ancestor, path.strip_prefix(ancestor).unwrap_or(path)))
            {
                if let Some(listed) = self.folded.get(&spelling::fold(ancestor)) {
                    return if rest.as_str().is_empty() { listed.clone() } else { listed.join(rest) };
                }
            }
        }
        path.to_path_buf()
    }

    fn find(&self, path: &Utf8Path, question: Question) -> Result<Option<&Listed>, HostError> {
        match self.entries.get(path) {
            Some(Listed::Unreadable) => Err(HostError::Denied(path.into())),
            Some(Listed::Fields(fields)) => match fields.refused.get(&question) {
                Some(refusal) => Err(refusal.error(path)),
                None => Ok(self.entries.get(path)),
            },
            None if path.ancestors().any(|above| self.entries.get(above) == Some(&Listed::Unreadable)) => {
                Err(HostError::Denied(path.into()))
            }
            other => Ok(other),
        }
    }

    /// Whether something listed says that nothing is at a path which is itself not listed.
    fn known_missing(&self, path: &Utf8Path) -> bool {
        if self.unlisted == Unlisted::Missing {
            return true;
        }
        let mut below = path;
        for ancestor in path.ancestors().skip(1) {
            match self.entries.get(ancestor) {
                Some(Listed::Fields(fields)) if kind(fields) == KindName::Directory => {
                    let name = below.file_name().unwrap_or_default();
                    let named = fields.names.as_ref().is_some_and(|names| names.iter().any(|it| it == name));
                    return (fields.names.is_some() || fields.complete) && !named;
                }
                Some(Listed::Unreadable) => return false,
                Some(_) => return true,
                None if self.children.contains_key(ancestor) => return false,
                None => below = ancestor,
            }
        }
        false
    }

    /// The fields of a regular file, for the questions that only a file answers.
    fn file(&self, path: &Utf8Path, question: Question) -> Result<(Utf8PathBuf, Fields), HostError> {
        let path = self.place(path)?;
        let other = |reason: &str| HostError::Other { path: path.clone(), reason: reason.into() };
        let machine = Some(Binary { machine: self.architecture.clone(), ..Binary::default() });
        let fields = match self.find(&path, question)? {
            Some(Listed::Fields(fields)) if kind(fields) == KindName::File => (**fields).clone(),
            Some(Listed::Program | Listed::Library) => {
                Fields { binary: Some(BinaryField(machine)), ..Fields::default() }
            }
            None if !self.children.contains_key(&path) && !self.known_missing(&path) => {
                return Err(HostError::NotRecorded(path));
            }
            Some(Listed::Missing) | None if !self.children.contains_key(&path) => {
                return Err(other("nothing is there"));
            }
            _ => return Err(other("it is not a regular file")),
        };
        Ok((path, fields))
    }

    /// What to answer where a field is left out: the default by hand, a refusal in a recording.
    fn or_default<T>(&self, path: &Utf8Path, default: T) -> Result<T, HostError> {
        match self.unlisted {
            Unlisted::Missing => Ok(default),
            Unlisted::Unknown => Err(HostError::NotRecorded(path.into())),
        }
    }
}

impl Host for RecordedHost {
    fn system(&self) -> System {
        self.system
    }

    fn architecture(&self) -> &str {
        &self.architecture
    }

    fn home(&self) -> &Utf8Path {
        &self.home
    }

    fn case_insensitive(&self) -> bool {
        self.case_insensitive
    }

    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        let path = self.place(path)?;
        match self.find(&path, Question::Examine)? {
            Some(Listed::Missing) => Ok(None),
            Some(Listed::Fields(fields)) => Ok(Some(entry(&path, fields))),
            Some(Listed::Program) => {
                Ok(Some(entry(&path, &Fields { mode: Some(Mode(0o755)), ..Fields::default() })))
            }
            Some(Listed::Library | Listed::Unreadable) => Ok(Some(entry(&path, &Fields::default()))),
            None if self.children.contains_key(&path) => {
                Ok(Some(entry(&path, &Fields { kind: Some(KindName::Directory), ..Fields::default() })))
            }
            None if self.known_missing(&path) => Ok(None),
            None => Err(HostError::NotRecorded(path)),
        }
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        let path = self.place(path)?;
        let listed = || self.children.get(&path).into_iter().flatten().cloned().collect::<Vec<_>>();
        match self.find(&path, Question::List)? {
            Some(Listed::Fields(fields)) if kind(fields) == KindName::Directory => match &fields.names {
                Some(names) => Ok(names.clone()),
                None if fields.complete => Ok(listed()),
                None => self.or_default(&path, listed()),
            },
            None if self.children.contains_key(&path) => self.or_default(&path, listed()),
            None if !self.known_missing(&path) => Err(HostError::NotRecorded(path)),
            None | Some(Listed::Missing) => Err(HostError::Other { path, reason: "nothing is there".into() }),
            Some(_) => Err(HostError::Other { path, reason: "it is not a directory".into() }),
        }
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        let (path, fields) = self.file(path, Question::Head)?;
        let Some(mut bytes) = head(&fields) else { return self.or_default(&path, Vec::new()) };
        let whole = fields.size.is_none_or(|size| bytes.len() as u64 >= size);
        if bytes.len() < limit && !whole {
            self.or_default(&path, ())?;
        }
        bytes.truncate(limit);
        Ok(bytes)
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        let (path, fields) = self.file(path, Question::Digest)?;
        if let Some(digest) = fields.sha256 {
            return Ok(digest);
        }
        let bytes = head(&fields).unwrap_or_else(|| path.as_str().into());
        self.or_default(&path, hex(&Sha256::digest(bytes)))
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        let (path, fields) = self.file(path, Question::Binary)?;
        match fields.binary {
            Some(BinaryField(Some(mut binary))) if binary.machine.is_empty() => {
                binary.machine.clone_from(&self.architecture);
                Ok(Some(binary))
            }
            Some(BinaryField(binary)) => Ok(binary),
            None => self.or_default(&path, None),
        }
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        let path = self.listed_spelling(&directory.join(name));
        Ok(path.file_name().unwrap_or(name).to_owned())
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        Ok(self.mounts.clone())
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.developer_directory.as_deref()
    }
}

fn link_into_parents(children: &mut BTreeMap<Utf8PathBuf, BTreeSet<String>>, path: &Utf8Path) {
    let mut below = path;
    for parent in path.ancestors().skip(1) {
        let names = children.entry(parent.to_path_buf()).or_default();
        if !names.insert(below.file_name().unwrap_or_default().to_owned()) {
            break;
        }
        below = parent;
    }
}

fn kind(fields: &Fields) -> KindName {
    match fields.kind {
        Some(kind) => kind,
        None if fields.target.is_some() => KindName::Symlink,
        None if fields.names.is_some() || fields.complete => KindName::Directory,
        None => KindName::File,
    }
}

fn head(fields: &Fields) -> Option<Vec<u8>> {
    match (&fields.head, &fields.head_hex) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(digits)) => unhex(digits),
        (None, None) => None,
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

/// Refuses fields that do not go together: what is ignored would be a test that says less than it seems to.
fn consistent(fields: &Fields) -> Result<(), &'static str> {
    let kind = kind(fields);
    if (kind == KindName::Symlink) != fields.target.is_some() {
        return Err("must have a `target` if and only if it is a symlink");
    }
    if kind != KindName::Directory && (fields.names.is_some() || fields.complete) {
        return Err("is not a directory but lists names");
    }
    let of_files = fields.head.is_some() || fields.head_hex.is_some() || fields.sha256.is_some();
    if kind != KindName::File && (of_files || fields.binary.is_some()) {
        return Err("is not a file but has a file's fields");
    }
    if fields.head.is_some() && fields.head_hex.is_some() {
        return Err("has both `head` and `head-hex`");
    }
    if fields.head_hex.as_ref().is_some_and(|digits| unhex(digits).is_none()) {
        return Err("has a `head-hex` that is not hexadecimal");
    }
    let is_digest = |text: &String| {
        text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if !fields.sha256.as_ref().is_none_or(is_digest) {
        return Err("has a `sha256` that is not 64 lower-case hexadecimal digits");
    }
    Ok(())
}

fn entry(path: &Utf8Path, fields: &Fields) -> Entry {
    let kind = kind(fields);
    let (mode, links) = match kind {
        KindName::Directory => (0o755, 2),
        KindName::Symlink => (0o777, 1),
        _ => (0o644, 1),
    };
    let digest: [u8; 32] = Sha256::digest(path.as_str()).into();
    let made = digest.iter().take(6).fold(0, |number, &byte| number << 8 | u64::from(byte));
    let content = fields
        .target
        .as_ref()
        .map(|target| target.as_str().len())
        .or_else(|| head(fields).map(|it| it.len()));
    Entry {
        kind: match kind {
            KindName::File => Kind::File,
            KindName::Directory => Kind::Directory,
            KindName::Symlink => Kind::Symlink(fields.target.clone().unwrap_or_default()),
            KindName::Socket => Kind::Socket,
            KindName::Fifo => Kind::Fifo,
            KindName::CharacterDevice => Kind::CharacterDevice,
            KindName::BlockDevice => Kind::BlockDevice,
        },
        identity: Identity { device: fields.device.unwrap_or(1), inode: fields.inode.unwrap_or(made) },
        links: fields.links.unwrap_or(links),
        mode: fields.mode.map_or(mode, |mode| mode.0),
        uid: fields.uid.unwrap_or(0),
        gid: fields.gid.unwrap_or(0),
        size: fields.size.unwrap_or(content.unwrap_or(0) as u64),
        modified: 0,
    }
}

#[cfg(test)]
mod tests;
