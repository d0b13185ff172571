//! The unix sockets that a command may connect to.

use super::Builder;
use crate::bind::BoundPath;
use crate::host::{Kind, Resolution};
use crate::plan::{Effect, Operation, Operations, OriginKind, PlannedSocket, Scope};

/// To be seen, as whoever connects looks for it first; never to be replaced, which the rules of roots say.
const CONNECTING: Operations = Operations::READING.union(Operations::of(&[Operation::Connect]));

/// Adds the rules. Where something else than a socket stands, and where a command could have put the socket itself, nothing is granted.
/// What is missing may be made later.
pub(super) fn add(builder: &mut Builder<'_>) -> Vec<PlannedSocket> {
    let mut planned = Vec::new();
    let (policy, binding) = (builder.policy, builder.binding);
    for (BoundPath { found, .. }, line) in binding.sockets.iter().zip(&policy.unix) {
        let Ok(Resolution { canonical, entry, hops, .. }) = found else { continue };
        let is_socket = entry.as_ref().is_none_or(|entry| entry.kind == Kind::Socket);
        if !is_socket || binding.is_writable(policy, canonical) || binding.is_plantable(policy, hops) {
            continue;
        }
        let origin = builder.statement(OriginKind::Socket, line.span);
        builder.rule(Effect::Allow, CONNECTING, Scope::Literal, canonical, origin.clone());
        builder.links.extend(hops.iter().cloned());
        planned.push(PlannedSocket { path: canonical.clone(), origin });
    }
    planned.sort_by(|a, b| a.path.cmp(&b.path));
    planned.dedup_by(|a, b| a.path == b.path);
    planned
}
