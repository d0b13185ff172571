//! The plan's rules as Seatbelt's. Every rule is stated for leaf operations and with a filter, in the plan's order. So it decides the same
//! whether the last matching rule wins over all operations, or for each operation on its own with wildcards as fallback.

use super::quote::{Texts, Unspeakable, comment};
use super::spellings::Spellings;
use crate::plan::seatbelt as operations;
use crate::plan::{Effect, Operations, OriginKind, Rule, Scope};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Bytes of paths in one rule. They are compiled into one pattern of at most 65,535 bytes, and how much of it a path takes is not
/// published; this is the size at which a fix in the field splits rules.
const MAX_PATHS: usize = 16 << 10;

/// Rules of one statement that stand together.
struct Group<'a> {
    effect: Effect,
    operations: Operations,
    origin: &'a str,
    rules: Vec<&'a Rule>,
}

/// Writes rules of one kind.
pub fn write(
    text: &mut String,
    texts: &mut Texts,
    spellings: &Spellings<'_>,
    rules: &[Rule],
) -> Result<(), Unspeakable> {
    for group in groups(rules) {
        write_group(text, texts, spellings, &group)?;
    }
    Ok(())
}

/// Neighbours of one effect and one set of operations may change places; of those, the rules of one statement are put together.
fn groups(rules: &[Rule]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in rules.chunk_by(|a, b| (a.effect, a.operations) == (b.effect, b.operations)) {
        let mut known: HashMap<&str, usize> = HashMap::new();
        for rule in run {
            let origin = rule.origin.text.as_str();
            let at = *known.entry(origin).or_insert_with(|| {
                let (effect, operations) = (rule.effect, rule.operations);
                groups.push(Group { effect, operations, origin, rules: Vec::new() });
                groups.len() - 1
            });
            groups[at].rules.push(rule);
        }
    }
    groups
}

fn write_group(
    text: &mut String,
    texts: &mut Texts,
    spellings: &Spellings<'_>,
    group: &Group<'_>,
) -> Result<(), Unspeakable> {
    let effect = match group.effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    };
    let head = format!("({effect} {}", operations::leaves(group.operations).join(" "));
    let origin = comment(group.origin);
    if let [only] = group.rules.as_slice() {
        let (filters, _) = filters(texts, spellings, only)?;
        let _ = writeln!(text, "{head} {filters})  ; {origin}");
        return Ok(());
    }
    let mut lines: Vec<String> = Vec::new();
    let mut size = 0;
    let mut flush = |lines: &mut Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "{head}  ; {origin}\n    {})", lines.join("\n    "));
            lines.clear();
        }
    };
    for rule in &group.rules {
        let (filters, bytes) = filters(texts, spellings, rule)?;
        if size + bytes > MAX_PATHS {
            flush(&mut lines);
            size = 0;
        }
        size += bytes;
        lines.push(filters);
    }
    flush(&mut lines);
    Ok(())
}

/// The filters of a rule, and how many bytes of path are in them.
fn filters(
    texts: &mut Texts,
    spellings: &Spellings<'_>,
    rule: &Rule,
) -> Result<(String, usize), Unspeakable> {
    let paths = match rule.effect {
        // A grant is for the path as the disk spells it, which is how the kernel asks.
        Effect::Allow => vec![rule.path.clone()],
        Effect::Deny => spellings.denied(&rule.path),
    };
    let mut filters: Vec<String> = Vec::new();
    let mut bytes = 0;
    for path in &paths {
        let written = texts.path(path)?;
        // Whether `subpath` holds a path that is a plain file is disputed; where a file may stand it is named both ways.
        let both = rule.effect == Effect::Deny
            || matches!(rule.origin.kind, OriginKind::Executable | OriginKind::Tool | OriginKind::Need);
        if rule.scope == Scope::Literal || both {
            filters.push(format!("(literal {written})"));
            bytes += path.as_str().len();
        }
        if rule.scope == Scope::Subtree {
            filters.push(format!("(subpath {written})"));
            bytes += path.as_str().len();
        }
    }
    Ok((filters.join(" "), bytes))
}
