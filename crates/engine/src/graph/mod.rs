//! The graph of a run: nodes, typed edges, and the queues of nodes that may run or must be ended.
//!
//! A node runs when all dependencies that it waits for are done, which is counted rather than searched. In
//! identifiers, a dependent of a node is its `user`. Three properties of a node spread along the edges, each of
//! them once:
//!
//! ```text
//!   demand   user ──► dependencies   a node that is not demanded never runs
//!   done     dependency ──► users    its users may run, or are poisoned if it failed
//!   released user ──► dependencies   no reader is left: an ephemeral resource is closed, a provider ended
//! ```
//!
//! **Invariant:** each edge is visited a constant number of times, so a run is linear in nodes and edges.
//! **Invariant:** a node is released only when each of its dependents either has let it go or will never run.

pub(crate) mod create_first;
pub(crate) mod dependencies;
pub(crate) mod function_uses;
mod input_roots;
pub(crate) mod provider_name;
pub(crate) mod rerun;
pub(crate) mod retained;
pub(crate) mod template;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// The index of a node in the [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct NodeIx(pub(crate) u32);

/// The index of a module instance in the walk's list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleIx(pub(crate) u32);

/// The thing that a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeKind {
    /// A declaration of a module: an index into its [`Template`](template::Template).
    Declared { module: ModuleIx, local: u32 },
    /// The empty configuration of a provider for which the root module has no block.
    ImplicitProvider { index: u32 },
    /// A resource that the state has and the configuration does not, with all its instances. In a destroy plan,
    /// every resource of the state.
    Orphan { index: u32 },
    /// The import of one object.
    Import,
    /// The destruction of one instance.
    Destroy { index: u32 },
    /// Completes when everything is destroyed that must be destroyed before the instances of a resource.
    DestroyReady { index: u32 },
    /// Completes when all instances of a resource that the plan destroys are destroyed.
    DestroyDone { index: u32 },
    /// Completes when all instances of a resource are applied, in all module instances. The objects that are
    /// destroyed after them wait for it.
    Applied,
    /// Completes when all managed resources are applied. Data sources of `check` blocks run after it, so that they
    /// see the result.
    AllApplied,
}

/// The reason why one node depends on another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum EdgeKind {
    /// Reads the value of the dependency.
    Value,
    /// Reads the value to determine the number of instances.
    Repetition,
    /// Reads the value in a condition.
    Condition,
    /// Names the dependency in `depends_on`, of its own block or of a module call around it.
    DependsOn,
    /// Reads the value in a provisioner. Active only where the provisioner will run.
    Provisioner,
    /// Uses the provider configuration.
    Provider,
    /// Plans the object that the `import` block names, if one of the instances does not have an object.
    Import,
    /// Runs after the dependency, for an order that the engine requires.
    Order,
    /// Runs after work that concerns some of its instances or objects. If that work fails, those fail, not the
    /// node.
    Partial,
    /// Does not wait for the dependency, but may need it later, and so keeps it from being released.
    Hold,
}

impl EdgeKind {
    /// Returns true if an expression of the dependent refers to the dependency, other than to determine the number
    /// of instances.
    pub(crate) fn is_reference(self) -> bool {
        matches!(
            self,
            EdgeKind::Value | EdgeKind::Condition | EdgeKind::DependsOn | EdgeKind::Provisioner
        )
    }
}

/// The progress of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Not demanded.
    Idle,
    /// Waits for its dependencies.
    Waiting,
    /// May run, or is running.
    Ready,
    /// Ended successfully.
    Done,
    /// Failed, or was skipped because a dependency failed.
    Failed,
}

const NO_EDGE: u32 = u32::MAX;

/// The number of nodes that [`Graph::take_unannounced`] waits for: to look at a few costs more than they are worth.
const ANNOUNCED_AT_ONCE: usize = 16;

struct Node {
    kind: NodeKind,
    status: Status,
    /// True if a dependency failed.
    poisoned: bool,
    /// True if no dependent will read the node any more.
    released: bool,
    /// True if the node has let go of its dependencies.
    let_go: bool,
    /// True if something must be ended when the node is released. The walk ends it and then calls
    /// [`Graph::let_go`].
    closes: bool,
    /// True if that has begun.
    ended: bool,
    /// True if the node runs once more, because dependents need its value.
    redo: bool,
    /// The number of active edges to dependencies that are not done.
    pending: u32,
    /// The number of edges from dependents that may still read the node.
    holds: u32,
    /// The heads of the linked lists of edges.
    first_dependency: u32,
    first_user: u32,
}

#[derive(Clone, Copy)]
struct Edge {
    dependency: NodeIx,
    user: NodeIx,
    kind: EdgeKind,
    /// True if the user waits for the dependency.
    active: bool,
    next_dependency: u32,
    next_user: u32,
}

/// Nodes and edges, with the queues of nodes to handle next.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The indices of unused entries in `edges`.
    unused: Vec<u32>,
    ready: VecDeque<NodeIx>,
    /// The number of nodes at the front of `ready` that [`Graph::take_unannounced`] has returned or left out.
    announced: usize,
    closing: VecDeque<NodeIx>,
    /// The dependents that wait for a node that runs once more.
    redo_users: FxHashMap<NodeIx, Vec<NodeIx>>,
}

impl Graph {
    /// Adds a node that is not demanded yet.
    pub(crate) fn add_node(&mut self, kind: NodeKind) -> NodeIx {
        let node = NodeIx(self.nodes.len() as u32);
        self.nodes.push(Node {
            kind,
            status: Status::Idle,
            poisoned: false,
            released: false,
            let_go: false,
            closes: false,
            ended: false,
            redo: false,
            pending: 0,
            holds: 0,
            first_dependency: NO_EDGE,
            first_user: NO_EDGE,
        });
        node
    }

    /// The number of nodes. Their indices run from 0 up to this number, exclusive.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(crate) fn kind(&self, node: NodeIx) -> NodeKind {
        self.node(node).kind
    }

    pub(crate) fn status(&self, node: NodeIx) -> Status {
        self.node(node).status
    }

    /// Returns true if a dependency of the node failed.
    pub(crate) fn is_poisoned(&self, node: NodeIx) -> bool {
        self.node(node).poisoned
    }

    /// Declares that something must be ended when the node is released.
    pub(crate) fn set_closes(&mut self, node: NodeIx) {
        self.node_mut(node).closes = true;
    }

    /// Adds an inactive edge. Does nothing if both ends are the same node, or if the user has let go of its
    /// dependencies already.
    pub(crate) fn add_edge(&mut self, dependency: NodeIx, user: NodeIx, kind: EdgeKind) {
        if dependency == user || self.node(user).let_go {
            return;
        }
        self.revive(dependency);
        self.link(dependency, user, kind);
        self.node_mut(dependency).holds += 1;
    }

    /// Undoes the release of nodes that never ran, because a new dependent may need them.
    fn revive(&mut self, node: NodeIx) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let it = self.node_mut(node);
            if !it.released || it.status != Status::Idle {
                continue;
            }
            it.released = false;
            it.ended = false;
            if !std::mem::replace(&mut it.let_go, false) {
                continue;
            }
            let dependencies: Vec<NodeIx> =
                self.dependencies(node).map(|(dependency, ..)| dependency).collect();
            for dependency in dependencies {
                self.node_mut(dependency).holds += 1;
                work.push(dependency);
            }
        }
    }

    /// Activates the edges of the given kinds: their dependencies are demanded, and the user waits for them.
    pub(crate) fn activate(&mut self, user: NodeIx, kinds: impl Fn(EdgeKind) -> bool) {
        self.activate_some(user, |_, kind| kinds(kind));
    }

    /// Like [`activate`](Graph::activate), for edges that are chosen by their dependency and their kind.
    pub(crate) fn activate_some(
        &mut self,
        user: NodeIx,
        counts: impl Fn(NodeIx, EdgeKind) -> bool,
    ) {
        let mut demanded = Vec::new();
        let mut next = self.node(user).first_dependency;
        while next != NO_EDGE {
            let index = next as usize;
            next = self.edges[index].next_dependency;
            if self.edges[index].active
                || self.edges[index].kind == EdgeKind::Hold
                || !counts(self.edges[index].dependency, self.edges[index].kind)
            {
                continue;
            }
            self.edges[index].active = true;
            let dependency = self.edges[index].dependency;
            match self.node(dependency).status {
                Status::Done => {}
                Status::Failed => self.node_mut(user).poisoned = true,
                Status::Idle => {
                    demanded.push(dependency);
                    self.node_mut(user).pending += 1;
                }
                Status::Waiting | Status::Ready => self.node_mut(user).pending += 1,
            }
        }
        // The list runs from the newest edge to the oldest, but nodes run in source order.
        demanded.reverse();
        for dependency in demanded {
            self.mark_demanded(dependency);
        }
    }

    /// Moves a node out of [`Status::Idle`] without activating any edge. The walk activates the edges, because it
    /// knows which ones count.
    fn mark_demanded(&mut self, node: NodeIx) {
        let it = self.node_mut(node);
        if it.status == Status::Idle {
            it.status = Status::Waiting;
            // The walk takes the node from the queue and activates its edges.
            self.ready.push_back(node);
        }
    }

    /// Demands a node, so that it runs.
    pub(crate) fn demand(&mut self, node: NodeIx) {
        self.mark_demanded(node);
    }

    /// Makes a waiting node ready if none of its active edges leads to an unfinished dependency.
    pub(crate) fn wait(&mut self, node: NodeIx) {
        let it = self.node_mut(node);
        if it.status == Status::Waiting && it.pending == 0 {
            it.status = Status::Ready;
            self.ready.push_back(node);
        }
    }

    /// The next node to handle: [`Status::Waiting`] if it was just demanded, [`Status::Ready`] if it may run.
    pub(crate) fn next_ready(&mut self) -> Option<NodeIx> {
        self.announced = self.announced.saturating_sub(1);
        self.ready.pop_front()
    }

    /// The nodes that became ready since the last call, without those that cannot run. Empty until there are
    /// [`ANNOUNCED_AT_ONCE`] of them.
    pub(crate) fn take_unannounced(&mut self) -> Vec<NodeIx> {
        if self.ready.len() < self.announced + ANNOUNCED_AT_ONCE {
            return Vec::new();
        }
        let new = self.ready.iter().copied().skip(self.announced);
        let runs = |node: &NodeIx| {
            let it = self.node(*node);
            it.status == Status::Ready && !it.poisoned
        };
        let new = new.filter(runs).collect();
        self.announced = self.ready.len();
        new
    }

    /// The next released node that must be ended.
    pub(crate) fn next_closing(&mut self) -> Option<NodeIx> {
        while let Some(node) = self.closing.pop_front() {
            let it = self.node_mut(node);
            // The node may have been revived, and released once more, since it was queued.
            if it.released && !it.let_go && !std::mem::replace(&mut it.ended, true) {
                return Some(node);
            }
        }
        None
    }

    /// Moves a ready node back to waiting, after edges were added that it must wait for.
    pub(crate) fn wait_again(&mut self, node: NodeIx) {
        self.node_mut(node).status = Status::Waiting;
        self.wait(node);
    }

    /// Marks a node as ended, and wakes its dependents. If `keeps` is true, the node holds its dependencies until
    /// it is released, because its value is ephemeral or something stays open.
    pub(crate) fn finish(&mut self, node: NodeIx, ok: bool, keeps: bool) {
        self.node_mut(node).status = if ok { Status::Done } else { Status::Failed };
        if std::mem::take(&mut self.node_mut(node).redo) {
            for user in self.redo_users.remove(&node).unwrap_or_default() {
                self.dependency_ended(user, ok);
                self.wait(user);
            }
            self.settle(node);
            return;
        }
        let mut woken = Vec::new();
        let mut next = self.node(node).first_user;
        while next != NO_EDGE {
            let Edge { next_user, active, user, kind, .. } = self.edges[next as usize];
            next = next_user;
            if active {
                self.dependency_ended(user, ok || kind == EdgeKind::Partial);
                woken.push(user);
            }
        }
        // The list runs from the newest edge to the oldest.
        for user in woken.into_iter().rev() {
            self.wait(user);
        }
        if !keeps {
            self.let_go(node);
        }
        self.settle(node);
    }

    fn dependency_ended(&mut self, user: NodeIx, ok: bool) {
        let user = self.node_mut(user);
        user.poisoned |= !ok;
        user.pending -= 1;
    }

    /// Adds an active edge.
    pub(crate) fn add_active_edge(&mut self, dependency: NodeIx, user: NodeIx, kind: EdgeKind) {
        let before = self.node(user).first_dependency;
        self.add_edge(dependency, user, kind);
        let edge = self.node(user).first_dependency;
        if edge == before {
            return;
        }
        self.edges[edge as usize].active = true;
        match self.node(dependency).status {
            Status::Done => {}
            Status::Failed => self.node_mut(user).poisoned |= kind != EdgeKind::Partial,
            Status::Waiting | Status::Ready => self.node_mut(user).pending += 1,
            Status::Idle => {
                self.node_mut(user).pending += 1;
                self.mark_demanded(dependency);
            }
        }
    }

    /// Makes a node run after another one, whether it is demanded already or will be.
    pub(crate) fn add_order(&mut self, before: NodeIx, after: NodeIx) {
        match self.node(after).status {
            Status::Idle => self.add_edge(before, after, EdgeKind::Order),
            _ => self.add_active_edge(before, after, EdgeKind::Order),
        }
    }

    /// Releases a node if no dependent will read it any more. The caller must call it once for nodes that have no
    /// dependents at all.
    pub(crate) fn settle(&mut self, node: NodeIx) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let it = self.node_mut(node);
            let ended = matches!(it.status, Status::Idle | Status::Done | Status::Failed);
            if it.released || it.holds > 0 || !ended {
                continue;
            }
            it.released = true;
            if it.closes {
                self.closing.push_back(node);
            } else {
                self.drop_holds(node, &mut work);
            }
        }
    }

    /// Lets go of all dependencies of the node.
    pub(crate) fn let_go(&mut self, node: NodeIx) {
        let mut work = Vec::new();
        self.drop_holds(node, &mut work);
        for dependency in work {
            self.settle(dependency);
        }
    }

    fn drop_holds(&mut self, node: NodeIx, settle: &mut Vec<NodeIx>) {
        if std::mem::replace(&mut self.node_mut(node).let_go, true) {
            return;
        }
        let mut next = self.node(node).first_dependency;
        while next != NO_EDGE {
            let edge = &self.edges[next as usize];
            next = edge.next_dependency;
            let dependency = edge.dependency;
            self.nodes[dependency.0 as usize].holds -= 1;
            settle.push(dependency);
        }
    }

    /// The dependencies of a node, with the kind of the edge and whether it is active; newest edge first.
    pub(crate) fn dependencies(
        &self,
        node: NodeIx,
    ) -> impl Iterator<Item = (NodeIx, EdgeKind, bool)> + '_ {
        let mut next = self.node(node).first_dependency;
        std::iter::from_fn(move || {
            let edge = self.edges.get(next as usize)?;
            next = edge.next_dependency;
            Some((edge.dependency, edge.kind, edge.active))
        })
    }

    /// Adds an edge to both lists that it belongs to.
    fn link(&mut self, dependency: NodeIx, user: NodeIx, kind: EdgeKind) {
        let edge = Edge {
            dependency,
            user,
            kind,
            active: false,
            next_dependency: self.node(user).first_dependency,
            next_user: self.node(dependency).first_user,
        };
        let place = match self.unused.pop() {
            Some(place) => {
                self.edges[place as usize] = edge;
                place
            }
            None => {
                self.edges.push(edge);
                self.edges.len() as u32 - 1
            }
        };
        self.node_mut(user).first_dependency = place;
        self.node_mut(dependency).first_user = place;
    }

    /// The dependents of a node, with the kind of the edge; newest edge first.
    pub(crate) fn users(&self, node: NodeIx) -> impl Iterator<Item = (NodeIx, EdgeKind)> + '_ {
        let mut next = self.node(node).first_user;
        std::iter::from_fn(move || {
            let edge = self.edges.get(next as usize)?;
            next = edge.next_user;
            Some((edge.user, edge.kind))
        })
    }

    /// Returns true if the node has dependents.
    pub(crate) fn has_users(&self, node: NodeIx) -> bool {
        self.node(node).first_user != NO_EDGE
    }

    /// Returns true if any node failed or was skipped.
    pub(crate) fn any_failed(&self) -> bool {
        self.nodes.iter().any(|it| it.status == Status::Failed)
    }

    /// The nodes that were demanded and never ended. After a run, these are the members of a cycle and their
    /// dependents.
    pub(crate) fn stuck(&self) -> Vec<NodeIx> {
        let ids = (0..self.nodes.len() as u32).map(NodeIx);
        ids.filter(|it| matches!(self.node(*it).status, Status::Waiting | Status::Ready)).collect()
    }

    fn node(&self, node: NodeIx) -> &Node {
        &self.nodes[node.0 as usize]
    }

    fn node_mut(&mut self, node: NodeIx) -> &mut Node {
        &mut self.nodes[node.0 as usize]
    }
}
