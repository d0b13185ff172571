//! A manifest for macOS that grants nothing.

use crate::manifest::{Environment, Limits, Manifest, Network, SCHEMA};
use crate::policy::{Ipc, System};
use std::collections::BTreeMap;

pub fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA,
        palisade: String::new(),
        profile: "test".into(),
        description: None,
        target: System::Macos,
        architecture: "aarch64".into(),
        sources: Vec::new(),
        seatbelt: None,
        workspace: "/w".into(),
        parameters: BTreeMap::new(),
        parameters_of_seatbelt: BTreeMap::new(),
        seatbelt_rules: Vec::new(),
        working_directory: "/w".into(),
        roots: Vec::new(),
        protected: Vec::new(),
        network: Network::Off,
        hosts: Vec::new(),
        localhost: Vec::new(),
        unix: Vec::new(),
        ipc: Ipc::Off,
        needs: Vec::new(),
        limits: Limits::default(),
        environment: Environment::default(),
        shell: "/bin/bash".into(),
        tools: Vec::new(),
        skipped_tools: Vec::new(),
        losses: Vec::new(),
        assumptions: Vec::new(),
        checks: Vec::new(),
        links: Vec::new(),
        rules: Vec::new(),
        files: Vec::new(),
        cache: Vec::new(),
    }
}
