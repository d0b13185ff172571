//! The paths of the rules and their ancestors, as a tree.

use super::Kind;
use super::want::{Want, want};
use crate::exec::near::holds;
use crate::plan::{Decider, Operations};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashSet;

/// One path.
#[derive(Debug)]
pub struct Node {
    pub path: Utf8PathBuf,
    pub kind: Kind,
    /// What is allowed on the path itself.
    pub own: Operations,
    pub want: Want,
    /// Whether something below it is to be seen.
    pub passage: bool,
    /// Indices into [`Tree::nodes`], in the order of their names.
    pub children: Vec<usize>,
}

/// All paths, parents before children; the first is `/`.
#[derive(Debug)]
pub struct Tree {
    pub nodes: Vec<Node>,
}

impl Tree {
    pub fn new(
        paths: impl Iterator<Item = Utf8PathBuf>,
        decider: &Decider<'_>,
        kind: &dyn Fn(&Utf8Path) -> Kind,
    ) -> Self {
        let mut all = vec![Utf8PathBuf::from("/")];
        let mut seen = HashSet::from([String::from("/")]);
        for path in paths {
            let mut at = path.as_path();
            while seen.insert(at.as_str().to_owned()) {
                all.push(at.to_path_buf());
                match at.parent() {
                    Some(parent) => at = parent,
                    None => break,
                }
            }
        }
        // By component, so that a parent comes right before what lies below it: a slash sorts before every other character.
        all.sort_unstable_by(|a, b| by_component(a).cmp(by_component(b)));
        let mut nodes: Vec<Node> = Vec::with_capacity(all.len());
        let mut open: Vec<usize> = Vec::new();
        for path in all {
            while open.last().is_some_and(|&above| !holds(&nodes[above].path, &path)) {
                open.pop();
            }
            let at = nodes.len();
            if let Some(&above) = open.last() {
                nodes[above].children.push(at);
            }
            open.push(at);
            let kind = kind(&path);
            let own = decider.allowed(&path);
            let want = want(decider, &path, own, &kind);
            nodes.push(Node { path, kind, own, want, passage: false, children: Vec::new() });
        }
        for at in (0..nodes.len()).rev() {
            let passage = nodes[at]
                .children
                .iter()
                .any(|&child| nodes[child].passage || nodes[child].want != Want::Nothing);
            nodes[at].passage = passage;
        }
        Self { nodes }
    }
}

fn by_component(path: &Utf8Path) -> impl Iterator<Item = u8> {
    path.as_str().bytes().map(|byte| if byte == b'/' { 0 } else { byte })
}
