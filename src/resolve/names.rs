//! Names of tools and variables, and the operations of `expect`.

use super::hosts;
use crate::finding::{Edit, Finding, Severity};
use crate::plan::question::Question;
use crate::plan::request::{Request, RequestFault};
use crate::source::Spanned;
use crate::syntax::ast::Word;
use crate::syntax::{nearest, shown};

/// What is wrong with the name of a tool.
pub fn tool(name: &Word) -> Option<Finding> {
    let error = |message: String| Finding::new("tool-name", Severity::Error, message).at(name.span, "here");
    let value = &name.value;
    let by_path = |value: &str| {
        format!("a program outside the known places is stated by its path: `tool \"{}\"`", shown(value))
    };
    match value.as_str() {
        "" => Some(error("a tool without a name".into()).help("remove it")),
        "." | ".." => Some(error(format!("`{value}` is a directory")).help(by_path("PATH"))),
        _ if value.contains('\0') => {
            Some(error("a NUL in the name of a tool".into()).help("no file can have such a name"))
        }
        _ if value.contains('/') => {
            Some(error(format!("`{}` is a path, not the name of a tool", shown(value))).help(by_path(value)))
        }
        _ if value.len() > 255 => {
            Some(error("a name of more than 255 bytes".into()).help("no file can have such a name"))
        }
        _ => None,
    }
}

/// What is wrong with the name of an environment variable. Names are those of the shell (POSIX, 8.1, and lower case): what else
/// `execve` would take, no shell can read.
pub fn variable(name: &Word) -> Option<Finding> {
    let value = &name.value;
    let good = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if good {
        return None;
    }
    let message = format!("`{}` cannot be the name of a variable", shown(value));
    let finding = Finding::new("variable-name", Severity::Error, message).at(name.span, "here");
    Some(match value.split_once('=') {
        Some((before, _)) => finding.help(format!("a value is written apart: `set {} \"…\"`", shown(before))),
        None => finding.help("a name is letters, digits and `_`, and begins with no digit"),
    })
}

/// What is wrong with an operation of `expect`.
pub fn operation(word: &Word) -> Option<Finding> {
    if Question::WORDS.contains(&word.value.as_str()) {
        return None;
    }
    let guess = match word.value.to_lowercase().as_str() {
        "execute" | "run" | "spawn" => Some("exec"),
        "delete" | "rm" | "unlink" => Some("remove"),
        "mv" | "move" => Some("rename"),
        "ls" | "dir" | "readdir" => Some("list"),
        "stat" => Some("metadata"),
        "modify" | "edit" | "append" | "overwrite" => Some("write"),
        "network" | "net" | "host" => Some("connect"),
        "ask" | "curl" | "fetch" | "get" | "http" | "https" | "post" | "url" => Some("request"),
        "mkdir" | "new" | "touch" => Some("create"),
        "open" | "cat" => Some("read"),
        other => nearest(other, Question::WORDS),
    };
    let finding =
        Finding::new("unknown-word", Severity::Error, format!("unknown operation `{}`", shown(&word.value)));
    let finding = finding.at(word.span, "not an operation");
    Some(match guess {
        Some(meant) => {
            let edit = Edit { span: word.span, replacement: meant.into() };
            finding.help(format!("did you mean `{meant}`?")).fix(
                format!("write `{meant}`"),
                vec![edit],
                false,
            )
        }
        None => finding
            .help(format!("operations are {}", Question::WORDS.map(|word| format!("`{word}`")).join(", "))),
    })
}

/// The host of an expectation about `connect`, as `host:port`; one host, so no `*`.
pub fn host(text: &Spanned<String>) -> Result<String, Box<Finding>> {
    let refused = |message: String, help: String| {
        Box::new(Finding::new("host", Severity::Error, message).at(text.span, "here").help(help))
    };
    // Expecting that a forbidden host is denied is a fine test: so it is read as one to deny.
    match hosts::parse(&text.value, false) {
        Ok(pattern) => match (pattern.below, pattern.port) {
            (false, Some(port)) => Ok(format!("{}:{port}", pattern.host)),
            _ => Err(refused(
                "an expectation about many hosts".into(),
                "ask about one: `connect \"api.example.com:443\" denied`".into(),
            )),
        },
        Err(error) => Err(refused(error.message, error.help)),
    }
}

/// What is wrong with the subject of an expectation about `request`.
pub fn request(text: &Spanned<String>) -> Option<Finding> {
    let fault = Request::parse(&text.value).err()?;
    let finding = Finding::new("request", Severity::Error, fault.to_string()).at(text.span, "here");
    Some(match &fault {
        RequestFault::Host(_) => finding.help("write `GET https://api.example.com/path`, of one host"),
        fault => finding.help(fault.help()),
    })
}
