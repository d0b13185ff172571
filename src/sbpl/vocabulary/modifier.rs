//! The modifiers: what may stand in `(with …)`, and on which rules (published modifier table of 15.x).

use Argument::{Nothing, Optional, Text, Word};
use Effects::{Allow, Both, Deny};

/// What stands behind a modifier's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    Nothing,
    /// A word or a number: `EPERM`, `SIGKILL`, 9.
    Word,
    Text,
    /// Nothing, a word, a number or a text.
    Optional,
}

/// On which rules a modifier may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effects {
    Allow,
    Deny,
    Both,
}

/// A modifier of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct ModifierInfo {
    pub name: &'static str,
    effects: Effects,
    pub argument: Argument,
}

impl ModifierInfo {
    pub fn fits_allow(&self) -> bool {
        self.effects != Deny
    }

    pub fn fits_deny(&self) -> bool {
        self.effects != Allow
    }
}

const fn modifier(name: &'static str, effects: Effects, argument: Argument) -> ModifierInfo {
    ModifierInfo { name, effects, argument }
}

static MODIFIERS: [ModifierInfo; 22] = [
    modifier("report", Allow, Nothing),
    modifier("no-report", Deny, Nothing),
    modifier("send-signal", Both, Word),
    modifier("errno", Deny, Word),
    modifier("message", Both, Text),
    modifier("no-sandbox", Allow, Nothing),
    modifier("default-sandbox", Allow, Text),
    modifier("telemetry", Both, Optional),
    modifier("telemetry-backtrace", Both, Optional),
    modifier("authority", Both, Optional),
    modifier("enable-state-flag", Both, Optional),
    modifier("grant", Allow, Optional),
    modifier("no-times", Allow, Optional),
    modifier("user-approval", Allow, Optional),
    modifier("no-approval-prompt", Allow, Optional),
    modifier("assign-storage-class", Allow, Optional),
    modifier("no-storage-class", Allow, Optional),
    modifier("sip-override", Both, Nothing),
    modifier("partial-symbolication", Both, Nothing),
    modifier("no-callout", Both, Nothing),
    modifier("termination", Both, Nothing),
    modifier("message-filter", Allow, Optional),
];

const ALIASES: [(&str, &str); 3] =
    [("no-log", "no-report"), ("no-profile", "no-sandbox"), ("rootless", "sip-override")];

/// The modifier of that name or alias.
pub fn modifier_named(name: &str) -> Option<&'static ModifierInfo> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, meant)| meant);
    MODIFIERS.iter().find(|info| info.name == name)
}

/// Names of every modifier and alias.
pub fn modifier_names() -> impl Iterator<Item = &'static str> {
    MODIFIERS.iter().map(|info| info.name).chain(ALIASES.iter().map(|(alias, _)| *alias))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_mean_what_they_stand_for() {
        assert_eq!(modifier_named("no-log").unwrap().name, "no-report");
        assert!(modifier_names().all(|name| modifier_named(name).is_some()));
        assert!(!modifier_named("no-report").unwrap().fits_allow());
        assert!(!modifier_named("no-profile").unwrap().fits_deny());
    }
}
