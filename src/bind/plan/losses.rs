//! The loss report: what a profile says and the target's walls cannot hold in full. Said at compile time, in the manifest.

use crate::bind::worktree::packed_references;
use crate::bind::{Binding, Worktree};
use crate::host::Host;
use crate::host::spelling::{MOST_VARIANTS, variants};
use crate::plan::Loss;
use crate::policy::{Access, DenialKind, LimitKind, Network, Policy, System};
use crate::source::Span;
use camino::Utf8Path;

/// Everything of this policy that the target's walls hold only in part.
pub fn of(host: &dyn Host, policy: &Policy, binding: &Binding) -> Vec<Loss> {
    let case_insensitive = host.case_insensitive();
    let mut losses = Vec::new();
    if policy.target == System::Macos {
        if !case_insensitive {
            losses.push(Loss {
                text: "Seatbelt compares paths without the case of letters, so that on this disk a grant holds for a name that differs \
                       only in case too"
                    .into(),
                span: None,
            });
        }
        let denied = binding.denied().into_iter().chain(binding.write_protected(policy));
        let missing = denied.filter(|(_, entry)| case_insensitive && entry.is_none());
        let unwritten =
            |path: &Utf8Path| path.components().any(|name| variants(name.as_str(), MOST_VARIANTS).is_none());
        for (path, _) in missing.filter(|(path, _)| unwritten(path)) {
            losses.push(Loss {
                text: format!("`{path}` is missing, has more spellings than are written, and may be made in one of the others"),
                span: None,
            });
        }
        of_the_proxy(policy, &mut losses);
        losses.extend(reading(policy).into_iter().map(|span| Loss {
            text: "programs that check certificates by the system's own service, as those written in Go and those of Apple do, do not take the \
                   authority of connections that are read from their environment, and fail at this host"
                .into(),
            span: Some(span),
        }));
        if let Some(limit) = policy.limits.get(&LimitKind::Processes) {
            losses.push(Loss {
                text: "a limit of processes counts the user's processes outside too, as many as run when the command starts; run by root, \
                       whose processes the kernel does not count, the command is refused"
                    .into(),
                span: Some(limit.span),
            });
        }
    }
    for denial in &policy.denials {
        let what = match denial.kind {
            DenialKind::Path(_) => continue,
            DenialKind::Glob(_) => "matches the pattern",
            DenialKind::Gitignored { .. } => "git ignores",
        };
        losses.push(Loss {
            text: format!("a file that {what} and is made after compiling is not denied until the profile is compiled again"),
            span: Some(denial.span),
        });
        if matches!(denial.kind, DenialKind::Gitignored { .. }) {
            losses.push(Loss {
                text:
                    "whoever may write an ignore file, the command too, decides what the next compile denies; the user's own `core.excludesFile` is not read, and a tracked file that a pattern matches is denied too"
                        .into(),
                span: Some(denial.span),
            });
        }
    }
    for root in policy.roots.iter().filter(|root| root.access == Access::ReadWrite) {
        losses.push(Loss {
            text: "a profile or a manifest under a new name can be made by the command, but in a folder that holds nothing else: \
                   run what somebody has read"
                .into(),
            span: Some(root.span),
        });
        losses.push(Loss {
            text: "below its top, only repositories that were there when this was compiled are guarded: what the command makes there \
                   (a repository, an editor's or an agent's configuration) other programs may act on"
                .into(),
            span: Some(root.span),
        });
    }
    for denial in &binding.denials {
        let Some(Ok(found)) = &denial.found else { continue };
        if !found.exists() && found.canonical.parent() != Some(&found.existing) {
            losses.push(Loss {
                text:
                    "the directory that would hold it is missing too, and cannot be made while a command runs"
                        .into(),
                span: policy.denials.get(denial.statement).map(|denial| denial.span),
            });
        }
    }
    if policy.target == System::Linux {
        let watched = binding.guards.iter().any(|guard| guard.keep_absent && guard.lifted_by.is_none());
        if watched {
            losses.push(Loss {
                text: "`commondir` in a repository cannot be kept from being made: whoever makes it is ended, and it is moved away".into(),
                span: None,
            });
        }
        for bound in &binding.worktrees {
            let Worktree::Linked { common_dir, .. } = &bound.worktree else { continue };
            if packed_references(host, common_dir).is_none() {
                losses.push(Loss {
                    text: "git cannot remove references from here (`branch -d`, `bisect`): it makes `packed-refs.lock` beside the \
                           repository's configuration, unless `packed-refs` is a link into a directory of its own"
                        .into(),
                    span: Some(bound.asked.span),
                });
            }
        }
        if let Some(limit) = policy.limits.get(&LimitKind::Processes) {
            losses.push(Loss {
                text: "run by root, a limit of processes holds as a limit of that many and 300 more".into(),
                span: Some(limit.span),
            });
        }
        for bound in &binding.tools {
            let Some(tool) = bound.lookup.tool() else { continue };
            let Some(interpreter) = &tool.interpreter else { continue };
            losses.push(Loss {
                text: format!(
                    "`{}` is a script, and its interpreter `{interpreter}` can be run by itself too",
                    tool.name
                ),
                span: Some(bound.asked.span),
            });
        }
        for seatbelt in &policy.seatbelt {
            losses.push(Loss {
                text: "a seatbelt rule means nothing on Linux".into(),
                span: Some(seatbelt.span),
            });
        }
    }
    losses.extend(reading(policy).into_iter().map(|span| Loss {
        text: "connections to this host are read: they speak HTTP/1.1 only, and clients that know its certificate beforehand or show one of \
               their own (mutual TLS) fail"
            .into(),
        span: Some(span),
    }));
    losses
}

/// The lines by which connections to a host are read.
fn reading(policy: &Policy) -> Vec<Span> {
    let rules = match policy.network() {
        Network::Only(rules) => rules.as_slice(),
        Network::Off | Network::All => &[],
    };
    let asked = rules.iter().filter(|rule| rule.requests.is_some()).map(|rule| rule.span);
    asked.chain(policy.masks.iter().map(|mask| mask.span)).collect()
}

/// What comes of it that Seatbelt tells ports of this machine apart, and no hosts.
fn of_the_proxy(policy: &Policy, losses: &mut Vec<Loss>) {
    let network = policy.network.as_ref().map(|network| network.span);
    let needs_tls = policy.needs.iter().find(|need| need.value == "tls");
    if let (Some(tls), true) = (needs_tls, *policy.network() != Network::All) {
        losses.push(Loss {
            text: "`needs tls` is a way past `network`: to check a certificate, trustd may ask the hosts that it names, and it runs outside"
                .into(),
            span: Some(tls.span),
        });
    }
    if !matches!(policy.network(), Network::Only(_)) {
        return;
    }
    let texts = [
        "a program that takes no notice of the variables of a proxy (`HTTPS_PROXY` and others) reaches no host: macOS has nothing that \
         would take its connections there, and no name can be looked up",
        "while a command runs, other programs on this machine may use its proxy too: it asks for no password, since many clients have none to give",
        "the command can neither listen nor reach its own servers, on loopback either: Seatbelt does not tell their ports from those of others",
    ];
    losses.extend(texts.map(|text| Loss { text: text.into(), span: network }));
}
