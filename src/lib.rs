//! Palisade: a policy compiler and linter for sandboxing AI agents and local MCP servers.
//!
//! ```text
//! text ──parse──▶ AST ──resolve──▶ Policy ──bind to a host──▶ Plan ──emit──▶ .sb + manifest ──exec──▶ walls
//!      syntax         resolve              bind                     emit, manifest           exec
//!                                          ▲ lint looks at every stage
//! ```
//!
//! Each stage is a folder, and depends only on those to its left; [`pipeline`] is the only place where they meet.

pub mod baseline;
pub mod bind;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod emit;
pub mod exec;
pub mod finding;
pub mod fix;
pub mod host;
pub mod lint;
pub mod manifest;
pub mod network;
pub mod pipeline;
pub mod plan;
pub mod policy;
pub mod report;
pub mod resolve;
pub mod sbpl;
pub mod source;
pub mod syntax;
mod sys;
