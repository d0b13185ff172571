//! The syntax tree: what a file says, with the place of each part, before anything is looked up.

use crate::source::{FileId, Span, Spanned};

/// A word: a name that needs no quotes, or a quoted one (`"g++"`).
pub type Word = Spanned<String>;

/// A quoted string, unescaped, cut where a `$name` stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub parts: Vec<TextPart>,
    /// Whether it was written `r#"…"#`: then nothing in it is special, not even a leading `~/`.
    pub raw: bool,
    /// With its quotes.
    pub span: Span,
}

/// A piece of a [`Text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    Literal(String),
    /// `$name` or `${name}`, with its own place.
    Variable(Word),
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub id: FileId,
    pub edition: Option<Spanned<u32>>,
    pub kind: FileKind,
    pub name: Word,
    /// The `profile "name"` or `fragment "name"` part.
    pub head: Span,
    pub statements: Vec<Statement>,
    pub comments: Vec<Comment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Profile,
    Fragment,
}

/// A comment, from `#` to the end of its line, for allowances and for formatting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub span: Span,
    /// Without the `#`, trimmed.
    pub text: String,
    /// Bytes between the comment's start and its text: the `#` and blanks.
    pub lead: u32,
    /// Whether nothing but white space stands before it on its line.
    pub own_line: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

impl Statement {
    /// The entries of a block or list that are no statements themselves.
    pub fn entries(&self) -> Vec<Span> {
        match &self.kind {
            StatementKind::Env(items) => items.iter().map(|item| item.span).collect(),
            StatementKind::Limits(limits) => limits.iter().map(|limit| limit.span).collect(),
            StatementKind::Expect(lines) => lines.iter().map(|line| line.span).collect(),
            StatementKind::Network(network) => match &network.value {
                Network::Only(rules) => rules.iter().map(|rule| rule.span).collect(),
                _ => Vec::new(),
            },
            StatementKind::Tools(words)
            | StatementKind::OptionalTools(words)
            | StatementKind::Needs(words) => words.iter().map(|word| word.span).collect(),
            _ => Vec::new(),
        }
    }
}

/// Every statement of the language. Those in a list may be written several times, except where
/// [`StatementKind::is_single`] says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementKind {
    Description(Text),
    Use(Text),
    Param {
        name: Word,
        default: Option<Text>,
    },
    Root {
        path: Text,
        access: Spanned<Access>,
    },
    Deny(Text),
    DenyGlob(Text),
    DenyGitignored {
        path: Text,
        except: Vec<Text>,
    },
    GitWorktree(Text),
    Executable(Text),
    Unguard {
        path: Text,
        because: Text,
    },
    Network(Spanned<Network>),
    Ipc(Spanned<Ipc>),
    Needs(Vec<Word>),
    /// `tools` lists hold names and `@groups`, the latter with their `@`.
    Tools(Vec<Word>),
    OptionalTools(Vec<Word>),
    /// `tool "PATH"`.
    Tool(Text),
    /// `group name [ … ]`: names a list of tools, used as `@name`.
    Group {
        name: Word,
        members: Vec<Word>,
    },
    Env(Vec<EnvItem>),
    Limits(Vec<Limit>),
    WorkingDirectory(Text),
    /// `on macos { … }`: statements for one system only.
    On {
        system: Spanned<System>,
        statements: Vec<Statement>,
    },
    /// Only inside `on macos`.
    Seatbelt {
        rule: Text,
        because: Text,
    },
    Expect(Vec<Expectation>),
}

impl StatementKind {
    /// The word the statement begins with.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Description(_) => "description",
            Self::Use(_) => "use",
            Self::Param { .. } => "param",
            Self::Root { .. } => "root",
            Self::Deny(_) | Self::DenyGlob(_) | Self::DenyGitignored { .. } => "deny",
            Self::GitWorktree(_) => "git-worktree",
            Self::Executable(_) => "executable",
            Self::Unguard { .. } => "unguard",
            Self::Network(_) => "network",
            Self::Ipc(_) => "ipc",
            Self::Needs(_) => "needs",
            Self::Tools(_) => "tools",
            Self::OptionalTools(_) => "optional-tools",
            Self::Tool(_) => "tool",
            Self::Group { .. } => "group",
            Self::Env(_) => "env",
            Self::Limits(_) => "limits",
            Self::WorkingDirectory(_) => "working-directory",
            Self::On { .. } => "on",
            Self::Seatbelt { .. } => "seatbelt",
            Self::Expect(_) => "expect",
        }
    }

    /// Whether a policy may state it once only.
    pub fn is_single(&self) -> bool {
        matches!(self, Self::Description(_) | Self::Network(_) | Self::Ipc(_) | Self::WorkingDirectory(_))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    Linux,
    Macos,
}

impl System {
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Macos => "macos",
        }
    }

    /// The system this program was built for.
    pub fn this() -> Self {
        if cfg!(target_os = "macos") { Self::Macos } else { Self::Linux }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    Off,
    All,
    Only(Vec<NetworkItem>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkItem {
    pub kind: NetworkItemKind,
    pub span: Span,
}

/// A line of `network only { … }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkItemKind {
    /// `allow "HOST"`, and what may be asked there: without methods by any, without paths for any.
    Allow {
        host: Text,
        methods: Vec<Word>,
        paths: Vec<Text>,
    },
    /// `inspect "HOST"`: allowed, whatever is asked, over connections that are read.
    Inspect(Text),
    Deny(Text),
    /// `localhost PORT`, with the number as it was written.
    Localhost(Word),
    /// `unix "PATH"`.
    Unix(Text),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ipc {
    Off,
    SharedMemory,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvItem {
    pub name: Word,
    pub kind: EnvItemKind,
    pub span: Span,
}

/// What a line of `env` does with its variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvItemKind {
    /// `set NAME "value"`.
    Set(Text),
    /// `pass NAME`: the caller's.
    Pass,
    /// `mask NAME for "HOST" …`: something like the caller's, which only these hosts get.
    Mask(Vec<Text>),
}

/// One limit, in its base unit: milliseconds for `time` and `cpu`, bytes for sizes, a count for the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    pub kind: LimitKind,
    pub amount: u64,
    pub span: Span,
}

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitKind {
    /// Wall-clock time.
    Time,
    /// Processor time, each process (`RLIMIT_CPU`, setrlimit(2)).
    Cpu,
    /// Bytes on standard output and standard error together.
    Output,
    /// Open files, each process (`RLIMIT_NOFILE`).
    OpenFiles,
    /// Processes and threads at one time.
    Processes,
    /// Bytes in the private temporary directory.
    TemporarySpace,
    /// Bytes in one written file (`RLIMIT_FSIZE`).
    FileSize,
}

impl LimitKind {
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::Cpu,
        Self::Output,
        Self::OpenFiles,
        Self::Processes,
        Self::TemporarySpace,
        Self::FileSize,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpu => "cpu",
            Self::Output => "output",
            Self::OpenFiles => "open-files",
            Self::Processes => "processes",
            Self::TemporarySpace => "temporary-space",
            Self::FileSize => "file-size",
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Time | Self::Cpu => Unit::Milliseconds,
            Self::Output | Self::TemporarySpace | Self::FileSize => Unit::Bytes,
            Self::OpenFiles | Self::Processes => Unit::Count,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Written `ms`, `s`, `m` or `h`.
    Milliseconds,
    /// Written `B`, `KiB`, `MiB` or `GiB`, or `kB`, `MB`, `GB`.
    Bytes,
    /// A bare number.
    Count,
}

/// One line of an `expect` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// `read`, `write`, `exec`, `connect`, …; see `plan::Question`.
    pub operation: Word,
    pub subject: Text,
    pub allowed: Spanned<bool>,
    pub span: Span,
}
