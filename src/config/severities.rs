//! How severe a rule's findings are, once settings and command line have spoken.

use super::globs::Globs;
use super::keys::SETTINGS;
use crate::finding::{Finding, RuleInfo, Severity};
use crate::lint;
use crate::syntax::words::either_word;
use camino::Utf8Path;
use std::collections::BTreeMap;

/// What a rule is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Its findings are not shown and count for nothing.
    Off,
    At(Severity),
}

impl Setting {
    /// The setting of that name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "off" => Some(Self::Off),
            "note" => Some(Self::At(Severity::Note)),
            "warning" => Some(Self::At(Severity::Warning)),
            "error" => Some(Self::At(Severity::Error)),
            _ => None,
        }
    }

    /// Those that a rule may have: what cannot be allowed in a profile cannot be lowered either.
    pub fn allowed_for(info: &RuleInfo) -> impl Iterator<Item = &'static str> {
        let least = if info.allowable { Self::Off } else { Self::At(info.severity) };
        SETTINGS.into_iter().filter(move |name| Self::of(name) >= Some(least))
    }
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub help: String,
    /// Whether it is the rule that cannot be meant, and not what it is set to.
    pub of_rule: bool,
}

/// The rules that settings know: those of `check`.
pub fn rules() -> impl Iterator<Item = &'static RuleInfo> {
    lint::infos_of_check()
}

/// The rule and the setting that two words mean.
///
/// # Errors
/// No such rule or setting, or a rule that must not be set so.
pub fn setting_of(rule: &str, setting: &str) -> Result<(&'static str, Setting), Refusal> {
    let refuse = |message: String, help: String, of_rule| Refusal { message, help, of_rule };
    let Some(info) = rules().find(|info| info.name == rule) else { return Err(no_rule(rule)) };
    let shown = crate::syntax::shown(setting);
    let Some(value) = Setting::of(setting) else {
        let nearest = crate::syntax::nearest(setting, SETTINGS);
        let help = match nearest {
            Some(near) => format!("the nearest is `{near}`"),
            None => format!("a rule is set to {}", either_word(SETTINGS)),
        };
        let message = format!("`{shown}` is no severity");
        return Err(refuse(message, help, false));
    };
    if !info.allowable && value < Setting::At(info.severity) {
        let message = if value == Setting::Off {
            format!("`{rule}` cannot be turned off")
        } else {
            format!("`{rule}` cannot be lowered to `{setting}`")
        };
        let help = format!(
            "what it finds cannot be allowed, so it stays {} {} at least; `palisade explain {rule}` says why",
            if info.severity == Severity::Error { "an" } else { "a" },
            info.severity.name()
        );
        return Err(refuse(message, help, false));
    }
    Ok((info.name, value))
}

fn no_rule(rule: &str) -> Refusal {
    let shown = crate::syntax::shown(rule);
    let refusal = |message: String, help: String| Refusal { message, help, of_rule: true };
    if lint::find_rule(rule).is_some() {
        let message = format!("`{shown}` is a rule of `palisade sb check`, which takes no settings");
        return refusal(message, "remove the line".to_owned());
    }
    if lint::describe(rule).is_some() {
        let message = format!("`{shown}` is always an error: nothing can be compiled with one");
        return refusal(message, "remove the line".to_owned());
    }
    let nearest = crate::syntax::nearest(rule, rules().map(|info| info.name));
    let help = match nearest {
        Some(near) => format!("the nearest is `{near}`"),
        None => "`palisade rules` lists them all".to_owned(),
    };
    refusal(format!("there is no rule `{shown}`"), help)
}

/// Settings of rules, by name.
pub type Rules = BTreeMap<&'static str, Setting>;

/// Settings of rules for some files.
#[derive(Debug, Clone)]
pub struct Override {
    pub paths: Globs,
    pub rules: Rules,
}

/// Every setting of rules. The command line beats the overrides, of which the last one counts, and those beat the rest.
#[derive(Debug, Clone, Default)]
pub struct Severities {
    pub rules: Rules,
    pub overrides: Vec<Override>,
    pub command_line: Rules,
}

impl Severities {
    /// How severe a finding is in a file, named relative to the settings, `None` where it is elsewhere; `None` where its rule is off there. A finding
    /// that cannot be allowed is never less severe than it was found.
    pub fn of(&self, finding: &Finding, path: Option<&Utf8Path>) -> Option<Severity> {
        let setting = self.setting(finding.rule, path);
        let is_allowable = lint::find_rule(finding.rule).is_some_and(|info| info.allowable);
        match setting {
            None => Some(finding.severity),
            Some(Setting::At(severity)) if is_allowable => Some(severity),
            Some(Setting::Off) if is_allowable => None,
            Some(Setting::At(severity)) => Some(severity.max(finding.severity)),
            Some(Setting::Off) => Some(finding.severity),
        }
    }

    /// The same for what compiles: what is an error without settings stays one.
    pub fn of_compiling(&self, finding: &Finding, path: Option<&Utf8Path>) -> Option<Severity> {
        match finding.severity {
            Severity::Error => Some(Severity::Error),
            _ => self.of(finding, path),
        }
    }

    fn setting(&self, rule: &str, path: Option<&Utf8Path>) -> Option<Setting> {
        let overridden = || {
            let path = path?;
            let mut here = self.overrides.iter().rev().filter(|it| it.paths.matches(path));
            here.find_map(|it| it.rules.get(rule))
        };
        self.command_line.get(rule).or_else(overridden).or_else(|| self.rules.get(rule)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rule: &str, setting: &str) -> Refusal {
        setting_of(rule, setting).unwrap_err()
    }

    #[test]
    fn what_cannot_be_allowed_is_never_lowered() {
        let mut seen = (false, false);
        for info in rules() {
            for name in SETTINGS {
                let setting = Setting::of(name).unwrap();
                let lowers = setting < Setting::At(info.severity);
                let result = setting_of(info.name, name);
                assert_eq!(result.is_err(), lowers && !info.allowable, "{} {name}", info.name);
                assert_eq!(result.is_ok(), Setting::allowed_for(info).any(|it| it == name));
                seen = (seen.0 || result.is_ok(), seen.1 || result.is_err());
            }
        }
        assert_eq!(seen, (true, true));
        assert_eq!(refused("missing-root", "off").message, "`missing-root` cannot be turned off");
    }

    #[test]
    fn a_wrong_word_has_the_nearest() {
        assert_eq!(refused("brod-root", "off").help, "the nearest is `broad-root`");
        assert_eq!(refused("broad-root", "warnings").help, "the nearest is `warning`");
        assert!(refused("no-sandbox", "error").message.contains("sb check"));
        assert!(refused("syntax", "note").message.contains("always an error"));
    }

    #[test]
    fn the_nearer_setting_counts() {
        let rules = |setting| Rules::from([("broad-root", setting)]);
        let of =
            |paths: &str, setting| Override { paths: Globs::new([paths]).unwrap(), rules: rules(setting) };
        let mut all = Severities {
            rules: rules(Setting::At(Severity::Note)),
            overrides: vec![of("a", Setting::Off), of("a/b", Setting::At(Severity::Error))],
            command_line: Rules::new(),
        };
        let finding = Finding::new("broad-root", Severity::Warning, "m");
        let other = Finding::new("any-port", Severity::Warning, "m");
        let at = |all: &Severities, path: &str| all.of(&finding, Some(Utf8Path::new(path)));
        assert_eq!(at(&all, "x"), Some(Severity::Note));
        assert_eq!(all.of(&finding, None), Some(Severity::Note));
        assert_eq!(at(&all, "a/x"), None);
        assert_eq!(at(&all, "a/b"), Some(Severity::Error));
        assert_eq!(all.of(&other, None), Some(Severity::Warning));
        all.command_line = rules(Setting::At(Severity::Warning));
        assert_eq!(at(&all, "a/x"), Some(Severity::Warning));
    }

    #[test]
    fn an_error_stays_one_for_what_compiles() {
        let mut all = Severities::default();
        all.rules.insert("writable-policy", Setting::Off);
        let finding = Finding::new("writable-policy", Severity::Error, "m");
        assert_eq!(all.of(&finding, None), None);
        assert_eq!(all.of_compiling(&finding, None), Some(Severity::Error));
    }

    /// Even where a setting slipped in that the reader refuses.
    #[test]
    fn what_cannot_be_allowed_is_never_less_severe_than_found() {
        let mut all = Severities::default();
        for info in rules().filter(|info| !info.allowable) {
            for setting in [Setting::Off, Setting::At(Severity::Note)] {
                all.rules.insert(info.name, setting);
                let finding = Finding::new(info.name, Severity::Error, "m");
                assert_eq!(all.of(&finding, None), Some(Severity::Error), "{}", info.name);
            }
        }
    }
}
