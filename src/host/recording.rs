//! The form of a recorded machine: YAML that `host record` writes and that people write by hand.

use super::{Binary, HostError, Identity, Kind, Mount};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use serde::de::{self, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// What a recording says of a path it does not list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// Nothing is there, and a listed file is what its fields and the defaults say: for machines written by hand.
    Missing,
    /// It was never asked, so it is not known: for machines that were recorded.
    #[default]
    Unknown,
}

/// A whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Recording {
    pub system: System,
    pub architecture: String,
    pub home: Utf8PathBuf,
    /// What `$workspace` was when it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Utf8PathBuf>,
    /// Default: as the system's own disks are, so on a Mac.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_directory: Option<Utf8PathBuf>,
    /// Every mount that can be reached, where a file system is seen at more than one place. Default: none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    #[serde(default)]
    pub unlisted: Unlisted,
    #[serde(deserialize_with = "entries")]
    pub entries: BTreeMap<Utf8PathBuf, Listed>,
}

/// One path: a word for the common cases, or all its fields.
///
/// Words: `file`, `directory`, `socket`, `fifo`, `-> TARGET`, `missing`, `unreadable`, `program` (an executable file, static, for the
/// recorded architecture), `library` (a file that can be mapped, for that architecture).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    Missing,
    /// Any question about it is refused.
    Unreadable,
    Program,
    Library,
    Fields(Box<Fields>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KindName {
    #[default]
    File,
    Directory,
    Symlink,
    Socket,
    Fifo,
    CharacterDevice,
    BlockDevice,
}

/// The fields of a path. What is left out of a handwritten machine has the default said here; of a recorded one, it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Fields {
    /// Left out: a symlink where there is a target, a directory where names are listed, else a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<KindName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Utf8PathBuf>,
    /// Four octal digits, in quotes. Default: `"0644"`, of directories `"0755"`, of links `"0777"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Hard links. Default: 1, of directories 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u64>,
    /// Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Bytes. Default: the length of `head`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<u64>,
    /// Default: made from the path. Two paths with the same `inode` are one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// The names in a directory. Default in a handwritten machine: the entries below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Whether the entries below a directory are all that is in it, in a recorded machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// The file's first bytes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The same in hexadecimal, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_hex: Option<String>,
    /// Default: that of `head`, else one made from the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// `none`, or what the file says. Default: `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<BinaryField>,
    /// Questions that got no answer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<Question, Refusal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    Examine,
    List,
    Head,
    Digest,
    Binary,
}

/// A [`HostError`] about one path, written `denied`, `not-recorded`, `not-utf8 PATH` or `other REASON`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Denied,
    NotUtf8(Utf8PathBuf),
    NotRecorded,
    Other(String),
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Denied => serializer.serialize_str("denied"),
            Self::NotRecorded => serializer.serialize_str("not-recorded"),
            Self::NotUtf8(path) => serializer.collect_str(&format_args!("not-utf8 {path}")),
            Self::Other(reason) => serializer.collect_str(&format_args!("other {reason}")),
        }
    }
}

impl<'de> Deserialize<'de> for Refusal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.split_once(' ').unwrap_or((&text, "")) {
            ("denied", "") => Ok(Self::Denied),
            ("not-recorded", "") => Ok(Self::NotRecorded),
            ("not-utf8", path) if !path.is_empty() => Ok(Self::NotUtf8(path.into())),
            ("other", reason) => Ok(Self::Other(reason.to_owned())),
            _ => Err(de::Error::custom(format!("unknown refusal `{text}`"))),
        }
    }
}

impl Refusal {
    pub fn of(error: &HostError) -> Self {
        match error {
            HostError::Denied(_) => Self::Denied,
            HostError::NotUtf8(path) => Self::NotUtf8(path.clone()),
            HostError::NotRecorded(_) => Self::NotRecorded,
            HostError::Other { reason, .. } => Self::Other(reason.clone()),
        }
    }

    pub fn error(&self, path: &Utf8Path) -> HostError {
        match self {
            Self::Denied => HostError::Denied(path.into()),
            Self::NotUtf8(name) => HostError::NotUtf8(name.clone()),
            Self::NotRecorded => HostError::NotRecorded(path.into()),
            Self::Other(reason) => HostError::Other { path: path.into(), reason: reason.clone() },
        }
    }
}

/// Permission bits, written in octal and in quotes: YAML readers disagree on what a bare `0644` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:04o}", self.0))
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match u32::from_str_radix(&text, 8) {
            Ok(mode) if mode <= 0o7777 && text.len() == 4 => Ok(Self(mode)),
            _ => Err(de::Error::custom(format!("`{text}` is not a mode of four octal digits"))),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryField(pub Option<Binary>);

impl Serialize for BinaryField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_str("none"),
            Some(binary) => binary.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BinaryField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Field;
        impl<'de> Visitor<'de> for Field {
            type Value = BinaryField;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`none` or the fields of a binary")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<BinaryField, E> {
                if word == "none" {
                    Ok(BinaryField(None))
                } else {
                    Err(E::custom(format!("unknown word `{word}`")))
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BinaryField, A::Error> {
                Binary::deserialize(MapAccessDeserializer::new(map)).map(|binary| BinaryField(Some(binary)))
            }
        }
        deserializer.deserialize_any(Field)
    }
}

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_str("missing"),
            Self::Unreadable => serializer.serialize_str("unreadable"),
            Self::Program => serializer.serialize_str("program"),
            Self::Library => serializer.serialize_str("library"),
            Self::Fields(fields) => fields.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = Listed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word such as `file` or `-> target`, or the fields of an entry")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Listed, E> {
                let kind = |kind| Listed::Fields(Box::new(Fields { kind: Some(kind), ..Fields::default() }));
                Ok(match word {
                    "missing" => Listed::Missing,
                    "unreadable" => Listed::Unreadable,
                    "program" => Listed::Program,
                    "library" => Listed::Library,
                    "file" => kind(KindName::File),
                    "directory" => kind(KindName::Directory),
                    "socket" => kind(KindName::Socket),
                    "fifo" => kind(KindName::Fifo),
                    _ => match word.strip_prefix("-> ") {
                        Some(target) => Listed::Fields(Box::new(Fields {
                            target: Some(target.into()),
                            ..Fields::default()
                        })),
                        None => return Err(E::custom(format!("unknown word `{word}`"))),
                    },
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Listed, A::Error> {
                Fields::deserialize(MapAccessDeserializer::new(map))
                    .map(|fields| Listed::Fields(Box::new(fields)))
            }
        }
        deserializer.deserialize_any(Entry)
    }
}

impl Fields {
    /// The fields of what `lstat` said.
    pub fn of(entry: &super::Entry) -> Self {
        let (kind, target) = match &entry.kind {
            Kind::File => (KindName::File, None),
            Kind::Directory => (KindName::Directory, None),
            Kind::Symlink(target) => (KindName::Symlink, Some(target.clone())),
            Kind::Socket => (KindName::Socket, None),
            Kind::Fifo => (KindName::Fifo, None),
            Kind::CharacterDevice => (KindName::CharacterDevice, None),
            Kind::BlockDevice => (KindName::BlockDevice, None),
        };
        let Identity { device, inode } = entry.identity;
        Self {
            kind: Some(kind),
            target,
            mode: Some(Mode(entry.mode)),
            links: Some(entry.links),
            uid: Some(entry.uid),
            gid: Some(entry.gid),
            size: Some(entry.size),
            device: Some(device),
            inode: Some(inode),
            ..Self::default()
        }
    }
}

/// A map of entries in which no path stands twice.
fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Utf8PathBuf, Listed>, D::Error> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = BTreeMap<Utf8PathBuf, Listed>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("entries by path")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some((path, listed)) = map.next_entry::<Utf8PathBuf, Listed>()? {
                if let Err(why) = normal(&path) {
                    return Err(de::Error::custom(format!("`{path}` {why}")));
                }
                let again = format!("`{path}` stands twice");
                if entries.insert(path, listed).is_some() {
                    return Err(de::Error::custom(again));
                }
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries)
}

/// Whether a path is absolute and has one spelling only.
pub fn normal(path: &Utf8Path) -> Result<(), &'static str> {
    let Some(rest) = path.as_str().strip_prefix('/') else { return Err("is not an absolute path") };
    if !rest.is_empty() && rest.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err("is not normalised");
    }
    Ok(())
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
