//! Which paths are asked about: between them they touch every region that the rules of a plan make.

use crate::emit::spellings::Spellings;
use crate::host::fold;
use crate::host::spelling::{MOST_VARIANTS, variants};
use crate::plan::{Plan, Spelling};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization as _;

/// One path, and how the plan is asked about it.
pub struct Probe {
    pub path: Utf8PathBuf,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As it is spelled in a rule, or as nothing is.
    Exact,
    /// A path that no rule names, in this directory.
    Below,
    /// Another spelling of one that rules name.
    Twin,
}

/// Calls `ask` with each probe of a plan, until one fails.
pub fn each<E>(plan: &Plan, mut ask: impl FnMut(&Probe) -> Result<(), E>) -> Result<(), E> {
    let named: HashSet<&Utf8Path> = plan.rules.iter().flat_map(|rule| rule.path.ancestors()).collect();
    let folded: HashSet<Utf8PathBuf> = match plan.spelling {
        Spelling::Folded => named.iter().map(|path| fold(path)).collect(),
        Spelling::Exact => HashSet::new(),
    };
    let fresh = fresh_name(&named);
    let spellings = Spellings::of(plan);
    let mut asked: HashSet<Utf8PathBuf> = HashSet::new();
    let mut probe = |path: Utf8PathBuf, kind: Kind| -> Result<(), E> {
        if asked.contains(&path) || (kind == Kind::Twin && named.contains(path.as_path())) {
            return Ok(());
        }
        let probe = Probe { path, kind };
        ask(&probe)?;
        asked.insert(probe.path);
        Ok(())
    };
    // Named ones and what holds them first: another spelling of one may be a name of its own.
    for rule in &plan.rules {
        for path in rule.path.ancestors().take_while(|path| path.as_str() != "/") {
            probe(path.to_path_buf(), Kind::Exact)?;
        }
        probe("/".into(), Kind::Exact)?;
        probe(rule.path.join(&fresh), Kind::Below)?;
        probe(rule.path.join(&fresh).join("deeper"), Kind::Exact)?;
        for path in siblings(&rule.path, &fresh) {
            // What lies beside one path may be another spelling of a second.
            let twin = !named.contains(path.as_path()) && folded.contains(&fold(&path));
            probe(path, if twin { Kind::Twin } else { Kind::Exact })?;
        }
    }
    for rule in &plan.rules {
        for twin in twins(&rule.path, plan.spelling, &spellings) {
            probe(twin.join(&fresh), Kind::Twin)?;
            probe(twin, Kind::Twin)?;
        }
    }
    Ok(())
}

/// A name that is no component of any rule's path.
fn fresh_name(named: &HashSet<&Utf8Path>) -> String {
    let taken: HashSet<&str> =
        named.iter().flat_map(|path| path.components()).map(|component| component.as_str()).collect();
    let names = (0..).map(|number| format!("~fresh{number}~"));
    names.into_iter().find(|name| !taken.contains(name.as_str())).unwrap_or_default()
}

/// Paths that begin as this one does, or differ from it in a letter, and lie beside it.
fn siblings(path: &Utf8Path, fresh: &str) -> Vec<Utf8PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let mut siblings = vec![parent.join(fresh), parent.join(format!("{name}{fresh}"))];
    let mut shorter = name.to_owned();
    shorter.pop();
    if !shorter.is_empty() && shorter != "." && shorter != ".." {
        siblings.push(parent.join(shorter));
    }
    // What a pattern would make of a dot.
    if name.contains('.') {
        siblings.push(parent.join(name.replace('.', "_")));
    }
    siblings
}

/// Other spellings of one path, as a disk that folds case takes them for the same.
fn twins(path: &Utf8Path, spelling: Spelling, spellings: &Spellings<'_>) -> Vec<Utf8PathBuf> {
    if spelling == Spelling::Exact {
        return Vec::new();
    }
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    let mut twins = Vec::new();
    if spellings.is_unmade(path)
        && let (Some(parent), Some(name)) = (path.parent(), path.file_name())
    {
        twins.extend(unmade_twins(name).into_iter().map(|name| parent.join(name)));
    }
    let mut written = vec![path.to_path_buf()];
    if !path.as_str().is_ascii() {
        written.push(path.as_str().nfc().collect::<String>().into());
        written.push(path.as_str().nfd().collect::<String>().into());
    }
    for path in written {
        let swapped = Utf8PathBuf::from(path.as_str().chars().map(swap).collect::<String>());
        let upper = Utf8PathBuf::from(path.as_str().to_ascii_uppercase());
        twins.extend([path, swapped, upper]);
    }
    twins
}

/// Spellings that who makes a name may choose: letters that fold to ASCII ones, ligatures, letters composed one by one.
fn unmade_twins(name: &str) -> Vec<String> {
    if variants(name, MOST_VARIANTS).is_none() {
        return Vec::new();
    }
    let pairs = [
        ("s", "\u{17f}"),
        ("k", "\u{212a}"),
        ("ss", "\u{df}"),
        ("ss", "\u{1e9e}"),
        ("st", "\u{fb06}"),
        ("fi", "\u{fb01}"),
    ];
    let lower = name.to_lowercase();
    let mut twins: Vec<String> = pairs
        .into_iter()
        .filter(|(plain, _)| lower.contains(plain))
        .flat_map(|(plain, other)| [lower.replacen(plain, other, 1), lower.replace(plain, other)])
        .collect();
    if !name.is_ascii() {
        let letters: Vec<String> = name.nfc().map(String::from).collect();
        for odd in 0..2 {
            let letter = |(at, letter): (usize, &String)| -> String {
                if at % 2 == odd { letter.nfd().collect() } else { letter.to_uppercase() }
            };
            twins.push(letters.iter().enumerate().map(letter).collect());
        }
    }
    twins
}
