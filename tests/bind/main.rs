//! What each statement is on a machine.

#[path = "../support/road.rs"]
mod road;

mod base;
mod denials;
mod environment;
mod executables;
mod gitignored;
mod guards;
mod links;
mod sockets;
mod worktree;
