//! What tools are given. Libraries that many share become one rule each, which names those that need it.

use super::{Binding, Builder};
use crate::bind::tools::{Grant, Lookup, Tool};
use crate::plan::{
    Decider, Effect, Operation, Operations, Origin, OriginKind, PlannedTool, Rule, Scope, SkippedTool,
    Spelling,
};
use crate::policy::System;
use crate::source::Span;
use camino::Utf8PathBuf;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Shared {
    operations: Operations,
    role: &'static str,
    users: Vec<String>,
    origin: Option<Origin>,
}

impl Builder<'_> {
    /// Adds the rules of every tool that was found, and of the shell.
    pub(super) fn tools(&mut self) -> (Vec<PlannedTool>, Vec<SkippedTool>) {
        let binding: &Binding = self.binding;
        let mut shared: BTreeMap<(Utf8PathBuf, Scope), Shared> = BTreeMap::new();
        let mut planned = Vec::new();
        let mut skipped = Vec::new();
        for bound in &binding.tools {
            let origin = self.statement(OriginKind::Tool, bound.asked.span);
            match &bound.lookup {
                Lookup::Found(tool) => {
                    self.share(&mut shared, tool, &origin);
                    planned.push(plan_tool(tool, bound.optional, origin));
                }
                Lookup::Missing { .. } if bound.optional => skipped.push(SkippedTool {
                    name: bound.asked.name.clone(),
                    reason: "not installed".into(),
                    span: bound.asked.span,
                }),
                Lookup::Broken { path, reason } if bound.optional => skipped.push(SkippedTool {
                    name: bound.asked.name.clone(),
                    reason: format!("`{path}` {reason}"),
                    span: bound.asked.span,
                }),
                _ => {}
            }
        }
        for bound in &binding.tool_paths {
            if let Lookup::Found(tool) = &bound.lookup {
                let origin = self.statement(OriginKind::Tool, bound.asked.span);
                self.share(&mut shared, tool, &origin);
                planned.push(plan_tool(tool, false, origin));
            }
        }
        if let Lookup::Found(shell) = &binding.shell {
            let origin =
                Origin { kind: OriginKind::Tool, text: "the shell, which can always run".into(), span: None };
            self.share(&mut shared, shell, &origin);
        }
        if self.policy.target == System::Macos {
            // What may be run by itself may also be run for a script: Seatbelt asks for the latter in its own words.
            for grant in shared.values_mut().filter(|grant| grant.operations.contains(Operation::Exec)) {
                grant.operations = grant.operations.union(Operations::of(&[Operation::Interpret]));
            }
        }
        let place = |span| self.sources.stable_place(self.policy.name.span.file, span);
        self.rules
            .extend(shared.into_iter().map(|((path, scope), shared)| rule(&place, path, scope, shared)));
        self.shut();
        planned.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
        planned.dedup_by(|a, b| a.name == b.name && a.path == b.path);
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        skipped.dedup_by(|a, b| a.name == b.name);
        (planned, skipped)
    }

    /// A program among the modules of a tool cannot be started, and so cannot be given to a loader instead, unless another tool is it.
    fn shut(&mut self) {
        let tools = self.binding.tools.iter().map(|bound| &bound.lookup);
        let stated = self.binding.tool_paths.iter().map(|bound| &bound.lookup);
        let found = tools.chain(stated).chain([&self.binding.shell]).filter_map(Lookup::tool);
        let programs: BTreeSet<&Utf8PathBuf> = found.flat_map(|tool| &tool.shut).collect();
        let decider = Decider::new(&self.rules, Spelling::Exact);
        let shut = programs.into_iter().filter(|program| !decider.decide(Operation::Exec, program).allowed);
        let rules: Vec<Rule> = shut
            .map(|program| Rule {
                effect: Effect::Deny,
                operations: Operations::of(&[Operation::Map]),
                scope: Scope::Literal,
                path: program.clone(),
                origin: Origin {
                    kind: OriginKind::Tool,
                    text: "a program among a tool's modules".into(),
                    span: None,
                },
            })
            .collect();
        self.rules.extend(rules);
    }

    fn share(&mut self, shared: &mut BTreeMap<(Utf8PathBuf, Scope), Shared>, tool: &Tool, origin: &Origin) {
        self.links.extend(tool.hops.iter().cloned());
        for Grant { path, scope, operations, role } in &tool.grants {
            let entry = shared.entry((path.clone(), *scope)).or_default();
            entry.operations = entry.operations.union(*operations);
            entry.users.push(tool.name.clone());
            // The program of one tool can be the helper of another: what stands in the manifest is the nearer role.
            if entry.origin.is_none() || (*role == "program" && entry.role != "program") {
                entry.role = role;
                entry.origin = Some(origin.clone());
            }
        }
    }
}

/// The rule of one path, named after the statement that asks for it first.
fn rule(place: &dyn Fn(Span) -> String, path: Utf8PathBuf, scope: Scope, shared: Shared) -> Rule {
    let Shared { operations, role, mut users, origin } = shared;
    users.sort();
    users.dedup();
    let text = match users.as_slice() {
        [only] => format!("{role} of {only}"),
        [first, second] => format!("{role} of {first} and {second}"),
        [first, .., _] => format!("{role} of {first} and {} more", users.len() - 1),
        [] => role.to_owned(),
    };
    let span = origin.and_then(|origin| origin.span);
    let text = match span {
        Some(span) => format!("{} {text}", place(span)),
        None => text,
    };
    Rule {
        effect: Effect::Allow,
        operations,
        scope,
        path,
        origin: Origin { kind: OriginKind::Tool, text, span },
    }
}

fn plan_tool(tool: &Tool, optional: bool, origin: Origin) -> PlannedTool {
    let trees = tool.grants.iter().filter(|grant| grant.scope == Scope::Subtree);
    PlannedTool {
        name: tool.name.clone(),
        path: tool.path.clone(),
        real: tool.real.clone(),
        source: tool.source.clone(),
        interpreter: tool.interpreter.clone(),
        trees: trees.map(|grant| grant.path.clone()).collect(),
        optional,
        origin,
    }
}
