//! The graph of an operation for people and tools: named nodes and their dependencies, as `graph` prints them.
//!
//! ```text
//!   templates of the modules ──configuration──► outline ──reduced──► outline without edges that others imply
//!   objects of the state ─────destruction────►    │
//!   changes of a plan ────────changes────────────►┘
//! ```
//!
//! The names are those of OpenTofu's graph, because scripts search for them. Nodes stand for declarations, not for
//! instances, except for objects that a plan or a state names.
//!
//! **Invariant:** the order of nodes and edges depends only on the inputs.

mod changes;
mod configuration;
mod destruction;
mod order;

use std::sync::Arc;

use hir::Program;
use rustc_hash::FxHashMap;
use sorted::TreeSet;
use state::{Plan, State};

/// A graph of named nodes.
#[derive(Default)]
pub struct Outline {
    /// The nodes. Names are unique.
    pub nodes: Vec<OutlineNode>,
    /// The edges, sorted.
    pub edges: Vec<OutlineEdge>,
}

/// A node of an [`Outline`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineNode {
    /// The name, such as `module.a.local.b (expand)`.
    pub name: String,
    /// The thing that the node stands for.
    pub kind: OutlineKind,
}

/// The things that nodes stand for, as far as they look different in a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    /// A resource block, with its address.
    Resource(String),
    /// An ephemeral resource block, with its address. It is open from here to its end.
    Ephemeral(String),
    /// An object that a plan changes, with the address of its block.
    Object(String),
    /// A provider configuration.
    Provider,
    /// The end of the use of a provider configuration.
    ProviderClose,
    /// A variable of the root module.
    Variable,
    /// An output of the root module.
    Output,
    /// The end of everything in a called module.
    ModuleClose,
    /// The report of a check.
    CheckReport,
    /// Everything else: drawings show it only as the end of edges.
    Other,
}

/// A dependency between two nodes, which are indices into [`Outline::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutlineEdge {
    /// The node that depends on the other one.
    pub user: u32,
    /// The node that comes first.
    pub dependency: u32,
}

/// The name of the node that depends on all others.
const ROOT: &str = "root";

impl Outline {
    /// The graph of a plan of this configuration.
    pub fn of_plan(program: &Arc<Program>) -> Outline {
        configuration::outline(program).finished()
    }

    /// The graph of a plan that destroys all objects of a state.
    pub fn of_destroy_plan(program: &Arc<Program>, state: &State) -> Outline {
        destruction::of_state(program, state).finished()
    }

    /// The graph of the apply of a plan. `program` is the planned configuration, `state` the state before.
    pub fn of_apply(program: &Arc<Program>, plan: &Plan, state: &State) -> Outline {
        changes::outline(program, plan, state).finished()
    }
}

/// A graph that is being built.
#[derive(Default)]
struct Draft {
    nodes: Vec<OutlineNode>,
    edges: TreeSet<OutlineEdge>,
    by_name: FxHashMap<String, u32>,
}

impl Draft {
    /// The node with this name, which is added if it is new.
    fn node(&mut self, name: String, kind: OutlineKind) -> u32 {
        let next = self.nodes.len() as u32;
        let nodes = &mut self.nodes;
        *self.by_name.entry(name).or_insert_with_key(|name| {
            nodes.push(OutlineNode { name: name.clone(), kind });
            next
        })
    }

    /// A node that drawings show only as the end of edges.
    fn plain(&mut self, name: String) -> u32 {
        self.node(name, OutlineKind::Other)
    }

    fn depend(&mut self, user: u32, dependency: u32) {
        if user != dependency {
            self.edges.insert(OutlineEdge { user, dependency });
        }
    }

    /// Makes an object depend on its provider configuration, and the end of that configuration on the object. Returns
    /// the end.
    fn use_provider(&mut self, user: u32, provider: &str) -> u32 {
        let opened = self.node(provider.to_owned(), OutlineKind::Provider);
        let closed = self.node(format!("{provider} (close)"), OutlineKind::ProviderClose);
        self.depend(user, opened);
        self.depend(closed, opened);
        self.depend(closed, user);
        closed
    }

    /// The nodes that a node depends on.
    fn dependencies(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let begin = |user| OutlineEdge { user, dependency: 0 };
        self.edges.range(begin(node)..begin(node + 1)).map(|it| it.dependency)
    }

    /// Removes nodes with their edges.
    fn without(self, is_removed: impl Fn(u32) -> bool) -> Draft {
        let mut kept = Draft::default();
        let nodes = self.nodes.into_iter().zip(0..);
        let index: Vec<Option<u32>> = nodes
            .map(|(it, node)| (!is_removed(node)).then(|| kept.node(it.name, it.kind)))
            .collect();
        for edge in self.edges {
            if let (Some(user), Some(dependency)) =
                (index[edge.user as usize], index[edge.dependency as usize])
            {
                kept.depend(user, dependency);
            }
        }
        kept
    }

    /// Adds the root, and removes the edges that others imply.
    fn finished(mut self) -> Outline {
        let used: TreeSet<u32> = self.edges.iter().map(|it| it.dependency).collect();
        let root = self.plain(ROOT.to_owned());
        for node in (0..root).filter(|it| !used.contains(it)) {
            self.depend(root, node);
        }
        Outline { nodes: self.nodes, edges: self.edges.into_iter().collect() }.reduced()
    }
}
