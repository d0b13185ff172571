//! In: a plan. Out: the text of a `.sb` file, Seatbelt's own profile language, meant to be read by people first.

mod operations;
mod preamble;
mod quote;

pub use quote::Unspeakable;

use crate::bind::plan::SCRATCH_PARAMETER;
use crate::plan::{Effect, OriginKind, Plan, Rule, Scope};
use crate::policy::{Ipc, Network};
use camino::{Utf8Path, Utf8PathBuf};
use quote::{comment, quoted};
use std::fmt::Write as _;

/// Writes the profile of a plan made for macOS.
///
/// Every rule is stated for leaf operations and with a filter, in the plan's order. So it decides the same whether the last
/// matching rule wins over all operations or for each operation on its own with wildcards as fallback: the two readings of
/// published measurements never differ on it.
///
/// # Errors
/// A path that has no safe spelling in a profile.
pub fn seatbelt(plan: &Plan, name: &str) -> Result<String, Unspeakable> {
    let mut text = String::new();
    preamble::header(&mut text, name);
    preamble::closed_by_default(&mut text);
    preamble::every_program(&mut text);
    network(&mut text, &plan.network);
    if plan.ipc == Ipc::SharedMemory {
        section(&mut text, "shared memory");
        text.push_str(
            "(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-data)\n",
        );
        text.push_str("(allow ipc-posix-shm-write-unlink ipc-sysv-shm)\n");
    }
    let mut last = None;
    for rule in &plan.rules {
        if last != Some(rule.origin.kind) {
            section(&mut text, title(rule.origin.kind));
            last = Some(rule.origin.kind);
        }
        write_rule(&mut text, rule)?;
    }
    Ok(text)
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n;; {title}");
}

fn title(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::System => "what every program needs of the system",
        OriginKind::Scratch => "the command's own temporary directory",
        OriginKind::Ancestor => "the way to what is granted",
        OriginKind::Tool => "tools",
        OriginKind::Need => "needs",
        OriginKind::Root => "roots",
        OriginKind::Worktree => "the repository of a linked worktree",
        OriginKind::Executable => "programs in roots",
        OriginKind::Guard => "guards",
        OriginKind::Pin => "what keeps protected paths where they are",
        OriginKind::Denial => "denials",
    }
}

fn network(text: &mut String, network: &Network) {
    section(text, "network");
    match network {
        Network::Off | Network::Only(_) => text.push_str("; off: (deny default) holds\n"),
        Network::All => {
            text.push_str("(allow network-outbound (remote ip))\n");
            text.push_str("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
            text.push_str("(allow network-inbound (local ip))\n(allow network-bind (local ip))\n(allow system-socket)\n");
            text.push_str(
                "(allow mach-lookup (global-name \"com.apple.trustd\" \"com.apple.trustd.agent\"))\n",
            );
            text.push_str("(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\"))\n");
            text.push_str(
                "(allow mach-lookup (global-name \"com.apple.SystemConfiguration.DNSConfiguration\"))\n",
            );
        }
    }
}

fn write_rule(text: &mut String, rule: &Rule) -> Result<(), Unspeakable> {
    let effect = match rule.effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    };
    let operations = operations::leaves(rule.operations).join(" ");
    // Whether `subpath` holds a path that is a plain file is disputed, so a denial names it both ways.
    let filter = match (rule.scope, rule.effect) {
        (Scope::Literal, _) => format!("(literal {})", path(&rule.path)?),
        (Scope::Subtree, Effect::Allow) => format!("(subpath {})", path(&rule.path)?),
        (Scope::Subtree, Effect::Deny) => {
            let path = path(&rule.path)?;
            format!("(literal {path}) (subpath {path})")
        }
    };
    let _ = writeln!(text, "({effect} {operations} {filter})  ; {}", comment(&rule.origin.text));
    Ok(())
}

fn path(path: &Utf8Path) -> Result<String, Unspeakable> {
    match path.strip_prefix(SCRATCH_PARAMETER) {
        Ok(below) if below == Utf8PathBuf::new() => Ok("(param \"SCRATCH\")".into()),
        Ok(below) => Ok(format!("(string-append (param \"SCRATCH\") {})", quoted(&format!("/{below}"))?)),
        Err(_) => quoted(path.as_str()),
    }
}
