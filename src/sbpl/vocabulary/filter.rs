//! The filters: which attribute of an access each looks at, how it compares, and where it applies (published filter table of 15.x).

use Values::{Exact, Name, Network, Number, Path, Words};
use std::sync::LazyLock;

/// What values an attribute has, and so which forms its filters take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Compared whole, at and below, by prefix, or by expression.
    Path,
    /// Compared whole, by prefix, or by expression.
    Name,
    /// A text compared whole.
    Exact,
    /// One of these words; any word or number where the list is empty, because no published table has them all.
    Words(&'static [&'static str]),
    /// A number, or a system's name for one.
    Number,
    /// An end of a connection: `ip`, `tcp4` …, with an optional `"host:port"`.
    Network,
}

/// An attribute that a filter can look at.
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    /// The kind of filter, as the table of operations names it; empty where no published table says.
    pub kind: &'static str,
    pub values: Values,
}

/// How a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    Whole,
    /// The path, or one below it.
    Subpath,
    Prefix,
    Regex,
}

const TARGETS: Values = Words(&["self", "pgrp", "others", "children", "same-sandbox", "initproc"]);

const VNODE_TYPES: Values = Words(&[
    "REGULAR-FILE",
    "DIRECTORY",
    "BLOCK-DEVICE",
    "CHARACTER-DEVICE",
    "SYMLINK",
    "SOCKET",
    "FIFO",
    "TTY",
]);

const fn attribute(name: &'static str, kind: &'static str, values: Values) -> Attribute {
    Attribute { name, kind, values }
}

static ATTRIBUTES: [Attribute; 56] = [
    attribute("path", "path", Path),
    attribute("mount-relative-path", "path", Path),
    attribute("mount-root-path", "", Path),
    attribute("fileprovider-syncroot-path", "", Path),
    attribute("process-path", "process", Path),
    attribute("appleevent-destination", "ae-destination", Name),
    attribute("control-name", "socket", Name),
    attribute("extension-class", "extension-class", Name),
    attribute("filesystem-name", "fs", Name),
    attribute("global-name", "mach", Name),
    attribute("info-type", "info", Name),
    attribute("iokit-connection", "iokit-connection", Name),
    attribute("iokit-property", "iokit-property", Name),
    attribute("iokit-registry-entry-class", "iokit-user-client", Name),
    attribute("ipc-posix-name", "posix-ipc", Name),
    attribute("kext-bundle-id", "kext-bundle-id", Name),
    attribute("local-name", "mach", Name),
    attribute("mac-policy-name", "", Name),
    attribute("message-name", "", Name),
    attribute("notification-name", "notification", Name),
    attribute("nvram-variable", "nvram", Name),
    attribute("preference-domain", "preference-domain", Name),
    attribute("right-name", "auth-right-name", Name),
    attribute("signing-identifier", "process", Name),
    attribute("snapshot-name", "", Name),
    attribute("sysctl-name", "sysctl", Name),
    attribute("target-signing-identifier", "target", Name),
    attribute("xattr", "xattr", Name),
    attribute("xpc-service-name", "mach", Name),
    attribute("extension", "extension", Exact),
    attribute("profile-flag", "", Exact),
    attribute("require-target-with-entitlement", "", Exact),
    attribute("state-flag", "", Exact),
    attribute("storage-class", "", Exact),
    attribute("target", "target", TARGETS),
    attribute("vnode-type", "vnode-type", VNODE_TYPES),
    attribute("process-attribute", "process", Words(&[])),
    attribute("system-attribute", "system", Words(&[])),
    attribute("file-attribute", "", Words(&[])),
    attribute("csr", "system", Number),
    attribute("device-major", "device", Number),
    attribute("device-minor", "device", Number),
    attribute("fcntl-command", "", Number),
    attribute("file-mode", "file-mode", Number),
    attribute("fsctl-command", "fsctl", Number),
    attribute("ioctl-command", "ioctl", Number),
    attribute("kernel-mig-routine", "", Number),
    attribute("mac-syscall-number", "", Number),
    attribute("machtrap-number", "", Number),
    attribute("privilege-id", "priv", Number),
    attribute("signal-number", "signal", Number),
    attribute("socket-domain", "socket", Number),
    attribute("socket-protocol", "socket", Number),
    attribute("socket-type", "socket", Number),
    attribute("syscall-number", "syscall", Number),
    attribute("uid", "process", Number),
];

static LOCAL: Attribute = attribute("local", "network", Network);
static REMOTE: Attribute = attribute("remote", "network", Network);

/// Other names of whole filters.
const ALIASES: [(&str, &str); 10] = [
    ("literal", "path"),
    ("prefix", "path-prefix"),
    ("regex", "path-regex"),
    ("subpath", "path-subpath"),
    ("from", "local"),
    ("to", "remote"),
    ("mach-extension", "extension"),
    ("granted-extensions", "extension"),
    ("iokit-user-client-class", "iokit-registry-entry-class"),
    ("iokit-user-client-class-regex", "iokit-registry-entry-class-regex"),
];

/// Every filter by name, sorted.
static FILTERS: LazyLock<Vec<(String, &'static Attribute, Form)>> = LazyLock::new(|| {
    let mut filters = Vec::new();
    for attribute in ATTRIBUTES.iter().chain([&LOCAL, &REMOTE]) {
        let name = attribute.name;
        filters.push((name.to_owned(), attribute, Form::Whole));
        if matches!(attribute.values, Path | Name) {
            filters.push((format!("{name}-prefix"), attribute, Form::Prefix));
            filters.push((format!("{name}-regex"), attribute, Form::Regex));
        }
        if let (Path, Some(stem)) = (attribute.values, name.strip_suffix("path")) {
            filters.push((format!("{name}-subpath"), attribute, Form::Subpath));
            if !stem.is_empty() {
                for (end, form) in [
                    ("literal", Form::Whole),
                    ("subpath", Form::Subpath),
                    ("prefix", Form::Prefix),
                    ("regex", Form::Regex),
                ] {
                    filters.push((format!("{stem}{end}"), attribute, form));
                }
            }
        }
    }
    for (alias, meant) in ALIASES {
        if let Some(found) = filters.iter().find(|(name, ..)| name == meant) {
            filters.push((alias.to_owned(), found.1, found.2));
        }
    }
    filters.retain(|(name, ..)| name != "path-subpath");
    filters.sort_by(|a, b| a.0.cmp(&b.0));
    filters
});

/// The filter of that name or alias.
pub fn filter_named(name: &str) -> Option<(&'static Attribute, Form)> {
    let at = FILTERS.binary_search_by(|(filter, ..)| filter.as_str().cmp(name)).ok()?;
    FILTERS.get(at).map(|(_, attribute, form)| (*attribute, *form))
}

/// Names of every filter and alias.
pub fn filter_names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|(name, ..)| name.as_str())
}

impl Attribute {
    /// The name of its filter of that form, as profiles usually write it.
    pub fn filter_name(&self, form: Form) -> String {
        match (self.name, form) {
            ("path", Form::Whole) => "literal".into(),
            ("path", Form::Subpath) => "subpath".into(),
            ("path", Form::Prefix) => "prefix".into(),
            ("path", Form::Regex) => "regex".into(),
            (name, Form::Whole) => name.into(),
            (name, Form::Prefix) => format!("{name}-prefix"),
            (name, Form::Regex) => format!("{name}-regex"),
            (name, Form::Subpath) => format!("{}subpath", name.strip_suffix("path").unwrap_or(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_one_to_one_with_forms() {
        assert!(FILTERS.windows(2).all(|pair| pair[0].0 < pair[1].0), "{FILTERS:?}");
        for (alias, _) in ALIASES {
            assert!(filter_named(alias).is_some(), "{alias}");
        }
        assert_eq!(filter_named("regex").unwrap(), filter_named("path-regex").unwrap());
        assert_eq!(filter_named("global-name-prefix").unwrap().1, Form::Prefix);
        assert!(filter_named("global-name-subpath").is_none());
    }

    #[test]
    fn a_filter_is_written_as_it_is_read() {
        for (_, attribute, form) in FILTERS.iter() {
            assert_eq!(filter_named(&attribute.filter_name(*form)), Some((*attribute, *form)));
        }
    }
}
