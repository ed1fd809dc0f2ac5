//! The graph of a run as data: nodes, typed edges, and which node may run next.
//!
//! A node runs when everything that it waits for is done, which is counted, not searched. Three things can be said of a
//! node, each of which spreads along edges once:
//!
//! ```text
//!   demand   user ──► dependencies   someone needs it; what nobody demands never runs
//!   done     dependency ──► users    its users may run, or are poisoned if it failed
//!   released user ──► dependencies   nobody will read it any more: an ephemeral resource is closed, a provider ended
//! ```
//!
//! **Invariant:** each edge is looked at a constant number of times, so a run is linear in nodes and edges.
//! **Invariant:** a node is released only when each of its users either let it go or will never run.

mod dependencies;
mod retained;
mod template;
mod tree;

pub(crate) use self::{
    dependencies::Dependencies,
    retained::{Retained, reads_through},
    template::{Declared, Renewed, Template, Touched},
    tree::{ConfigTree, FoundConfig},
};

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

/// A node; an index into [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct NodeIx(pub(crate) u32);

/// A module instance of the run; an index into the walk's list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleIx(pub(crate) u32);

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeKind {
    /// Something that a module declares: an index into its [`Template`].
    Declared { module: ModuleIx, local: u32 },
    /// The empty configuration of a provider for which the root module has no block.
    ImplicitProvider { index: u32 },
    /// A resource that state knows and the configuration does not, with all its instances; in a destroy plan, every
    /// resource of the state.
    Orphan { index: u32 },
    /// Importing one object.
    Import,
    /// Destroying one instance.
    Destroy { index: u32 },
    /// Everything that must be destroyed before instances of a resource is.
    DestroyReady { index: u32 },
    /// All instances of a resource that are to be destroyed are.
    DestroyDone { index: u32 },
    /// All managed resources are applied: data sources of `check` blocks look at what came of it.
    AllApplied,
}

/// Why one node needs another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum EdgeKind {
    /// Reads its value.
    Value,
    /// Reads its value to know how many instances there are.
    Repetition,
    /// Reads its value in a condition.
    Condition,
    /// Named in `depends_on`, here or at a module call around.
    DependsOn,
    /// A provisioner reads its value: counts only where the provisioner will run.
    Provisioner,
    /// Uses the provider.
    Provider,
    /// Comes after it for a reason of the engine's own.
    Order,
    /// Comes after a destruction that concerns some of its instances. If that fails, these fail, not the node.
    Destroyed,
    /// Does not wait, but may come to need it: keeps it from being released.
    Hold,
}

/// How far a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Nobody demands it.
    Idle,
    /// Waits for others.
    Waiting,
    /// May run, or runs.
    Ready,
    /// Ended well.
    Done,
    /// Failed, or was skipped because something it needs failed.
    Failed,
}

const NO_EDGE: u32 = u32::MAX;

struct Node {
    kind: NodeKind,
    status: Status,
    /// Whether something that it needs failed.
    poisoned: bool,
    /// Whether nobody will read it any more.
    released: bool,
    /// Whether it has let go of what it needs.
    let_go: bool,
    /// Whether something must be ended when it is released: the walk does that, then calls [`Graph::let_go`].
    closes: bool,
    /// Whether that was begun.
    ended: bool,
    /// Whether it runs once more, for the sake of users that need its value.
    redo: bool,
    /// Active edges to nodes that are not done.
    pending: u32,
    /// Edges from users that may still read it.
    holds: u32,
    /// Heads of the lists of edges.
    first_dependency: u32,
    first_user: u32,
}

#[derive(Clone, Copy)]
struct Edge {
    dependency: NodeIx,
    user: NodeIx,
    kind: EdgeKind,
    /// Whether the user waits for it.
    active: bool,
    next_dependency: u32,
    next_user: u32,
}

/// Nodes and edges, with the queues of what to do next.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Places of edges that are no more.
    unused: Vec<u32>,
    ready: VecDeque<NodeIx>,
    closing: VecDeque<NodeIx>,
    /// Who waits for a node that runs once more.
    redo_users: FxHashMap<NodeIx, Vec<NodeIx>>,
}

impl Graph {
    /// Adds a node that nobody demands so far.
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

    /// Number of nodes; ids run from 0 to this.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn kind(&self, node: NodeIx) -> NodeKind {
        self.node(node).kind
    }

    pub(crate) fn status(&self, node: NodeIx) -> Status {
        self.node(node).status
    }

    /// Whether something that the node needs failed.
    pub(crate) fn is_poisoned(&self, node: NodeIx) -> bool {
        self.node(node).poisoned
    }

    /// Says that something must be ended when the node is released.
    pub(crate) fn set_closes(&mut self, node: NodeIx) {
        self.node_mut(node).closes = true;
    }

    /// Adds an edge. If the user is demanded already, an edge that it waits for becomes active at once.
    pub(crate) fn add_edge(&mut self, dependency: NodeIx, user: NodeIx, kind: EdgeKind) {
        if dependency == user || self.node(user).let_go {
            return;
        }
        self.revive(dependency);
        self.link(dependency, user, kind);
        self.node_mut(dependency).holds += 1;
    }

    /// Takes back the release of nodes that never ran, because somebody came who may need them.
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

    /// Makes the edges of the given kinds count: their targets are demanded, and the user waits for them.
    pub(crate) fn activate(&mut self, user: NodeIx, kinds: impl Fn(EdgeKind) -> bool) {
        self.activate_some(user, |_, kind| kinds(kind));
    }

    /// The same for edges that are chosen by what they lead to as well.
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
        // The list runs from the newest edge to the oldest; work is done in the order of the source.
        demanded.reverse();
        for dependency in demanded {
            self.mark_demanded(dependency);
        }
    }

    /// Takes a node out of [`Status::Idle`] without making any of its edges count: the walk does that, since it knows
    /// which ones do.
    fn mark_demanded(&mut self, node: NodeIx) {
        let it = self.node_mut(node);
        if it.status == Status::Idle {
            it.status = Status::Waiting;
            // It waits for the walk to look at it, which happens through the queue like everything else.
            self.ready.push_back(node);
        }
    }

    /// Demands a node.
    pub(crate) fn demand(&mut self, node: NodeIx) {
        self.mark_demanded(node);
    }

    /// Says that a node waits for nothing more than its active edges. It becomes ready when they are done.
    pub(crate) fn wait(&mut self, node: NodeIx) {
        let it = self.node_mut(node);
        if it.status == Status::Waiting && it.pending == 0 {
            it.status = Status::Ready;
            self.ready.push_back(node);
        }
    }

    /// The next node to look at: [`Status::Waiting`] if it was just demanded, [`Status::Ready`] if it may run.
    pub(crate) fn next_ready(&mut self) -> Option<NodeIx> {
        self.ready.pop_front()
    }

    /// The next node whose end is due.
    pub(crate) fn next_closing(&mut self) -> Option<NodeIx> {
        while let Some(node) = self.closing.pop_front() {
            let it = self.node_mut(node);
            // It may have been taken back, and released once more, since it was queued.
            if it.released && !it.let_go && !std::mem::replace(&mut it.ended, true) {
                return Some(node);
            }
        }
        None
    }

    /// Puts a ready node back to waiting, after edges were added that it must wait for.
    pub(crate) fn wait_again(&mut self, node: NodeIx) {
        self.node_mut(node).status = Status::Waiting;
        self.wait(node);
    }

    /// Says that a node has ended. If it `keeps` what it needs (its value is ephemeral, or something stays open), it lets
    /// go only when it is released.
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
                self.dependency_ended(user, ok || kind == EdgeKind::Destroyed);
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

    /// Runs a node that is done once more, and lets `user` wait for it.
    pub(crate) fn redo(&mut self, node: NodeIx, user: NodeIx) {
        let waiting = self.node_mut(user);
        waiting.status = Status::Waiting;
        waiting.pending += 1;
        self.redo_users.entry(node).or_default().push(user);
        let it = self.node_mut(node);
        if !std::mem::replace(&mut it.redo, true) {
            it.status = Status::Ready;
            self.ready.push_back(node);
        }
    }

    /// Adds an edge that counts at once.
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
            Status::Failed => self.node_mut(user).poisoned |= kind != EdgeKind::Destroyed,
            Status::Waiting | Status::Ready => self.node_mut(user).pending += 1,
            Status::Idle => {
                self.node_mut(user).pending += 1;
                self.mark_demanded(dependency);
            }
        }
    }

    /// Lets a node come after another one, whether it is demanded already or will be.
    pub(crate) fn add_order(&mut self, before: NodeIx, after: NodeIx) {
        match self.node(after).status {
            Status::Idle => self.add_edge(before, after, EdgeKind::Order),
            _ => self.add_active_edge(before, after, EdgeKind::Order),
        }
    }

    /// Releases a node if nobody will read it any more; to be called once for nodes that have no users at all.
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

    /// Lets go of everything that the node needs.
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

    /// What a node needs, with the reason and whether it counts, oldest edge last.
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

    /// Gives a node of a graph that has come to its end other edges to what it needs, before those that `stay`.
    pub(crate) fn rewire(
        &mut self,
        user: NodeIx,
        edges: &[(NodeIx, EdgeKind)],
        stay: impl Fn(NodeIx, EdgeKind) -> bool,
    ) {
        let old: Vec<(NodeIx, EdgeKind)> =
            self.dependencies(user).map(|(dependency, kind, _)| (dependency, kind)).collect();
        let mut next = std::mem::replace(&mut self.node_mut(user).first_dependency, NO_EDGE);
        while next != NO_EDGE {
            self.unlink_user(next);
            self.unused.push(next);
            next = self.edges[next as usize].next_dependency;
        }
        // The list runs from the newest edge to the oldest.
        let staying = old.into_iter().rev().filter(|(dependency, kind)| stay(*dependency, *kind));
        for (dependency, kind) in edges.iter().copied().chain(staying) {
            if dependency != user {
                self.link(dependency, user, kind);
            }
        }
    }

    /// Takes an edge out of the users of what it leads to.
    fn unlink_user(&mut self, edge: u32) {
        let Edge { dependency, next_user, .. } = self.edges[edge as usize];
        let mut next = self.node(dependency).first_user;
        if next == edge {
            self.node_mut(dependency).first_user = next_user;
            return;
        }
        while next != NO_EDGE {
            let it = &mut self.edges[next as usize];
            if it.next_user == edge {
                it.next_user = next_user;
                return;
            }
            next = it.next_user;
        }
    }

    /// Puts an edge into both lists that it belongs to.
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

    /// Who may come to need a node, with the reason, newest edge first.
    pub(crate) fn users(&self, node: NodeIx) -> impl Iterator<Item = (NodeIx, EdgeKind)> + '_ {
        let mut next = self.node(node).first_user;
        std::iter::from_fn(move || {
            let edge = self.edges.get(next as usize)?;
            next = edge.next_user;
            Some((edge.user, edge.kind))
        })
    }

    /// Whether a node has come to its end, and lets nothing wait for it.
    pub(crate) fn is_at_rest(&self, node: NodeIx) -> bool {
        let it = self.node(node);
        it.let_go && it.holds == 0 && matches!(it.status, Status::Idle | Status::Done)
    }

    /// Takes nodes of a graph that has come to its end back to before it began, as if nobody had demanded them so far. The
    /// others stay as they are: nothing waits for the nodes but some of themselves.
    pub(crate) fn begin_again(&mut self, nodes: &BTreeSet<NodeIx>) {
        for node in nodes {
            let it = self.node_mut(*node);
            (it.status, it.pending, it.holds) = (Status::Idle, 0, 0);
            (it.poisoned, it.released, it.let_go) = (false, false, false);
            (it.ended, it.redo) = (false, false);
        }
        for node in nodes {
            let mut next = self.node(*node).first_dependency;
            while next != NO_EDGE {
                let edge = &mut self.edges[next as usize];
                edge.active = false;
                next = edge.next_dependency;
                self.nodes[edge.dependency.0 as usize].holds += 1;
            }
            let mut next = self.node(*node).first_user;
            while next != NO_EDGE {
                let edge = &mut self.edges[next as usize];
                next = edge.next_user;
                edge.active &= nodes.contains(&edge.user);
            }
        }
    }

    /// Whether anything may come to need the node.
    pub(crate) fn has_users(&self, node: NodeIx) -> bool {
        self.node(node).first_user != NO_EDGE
    }

    /// Whether a node failed or was skipped.
    pub(crate) fn any_failed(&self) -> bool {
        self.nodes.iter().any(|it| it.status == Status::Failed)
    }

    /// Nodes that were demanded and never ended; after a run, the members of a cycle and what waits for them.
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

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: NodeKind = NodeKind::DestroyDone { index: 0 };

    /// Runs a graph of `edges` (user, dependency) from `demanded`; nodes in `failing` fail, those in `closing` must be
    /// ended. Gives what happened, in order.
    #[track_caller]
    fn check(
        nodes: u32,
        edges: &[(u32, u32)],
        demanded: &[u32],
        failing: &[u32],
        closing: &[u32],
        expected: &str,
    ) {
        let mut graph = Graph::default();
        for _ in 0..nodes {
            graph.add_node(KIND);
        }
        for &(user, dependency) in edges {
            graph.add_edge(NodeIx(dependency), NodeIx(user), EdgeKind::Value);
        }
        for &node in closing {
            graph.set_closes(NodeIx(node));
        }
        for &node in demanded {
            graph.demand(NodeIx(node));
        }
        for node in 0..nodes {
            graph.settle(NodeIx(node));
        }
        let mut log = Vec::new();
        loop {
            if let Some(node) = graph.next_ready() {
                if graph.status(node) == Status::Waiting {
                    graph.activate(node, |_| true);
                    graph.wait(node);
                } else if graph.is_poisoned(node) {
                    log.push(format!("skip {}", node.0));
                    graph.finish(node, false, false);
                } else {
                    let ok = !failing.contains(&node.0);
                    log.push(format!("{} {}", if ok { "run" } else { "fail" }, node.0));
                    graph.finish(node, ok, closing.contains(&node.0));
                }
            } else if let Some(node) = graph.next_closing() {
                if graph.status(node) != Status::Idle {
                    log.push(format!("close {}", node.0));
                }
                graph.let_go(node);
            } else {
                break;
            }
        }
        assert_eq!(log.join(", "), expected);
    }

    #[test]
    fn dependencies_run_first() {
        check(3, &[(0, 1), (1, 2)], &[0], &[], &[], "run 2, run 1, run 0");
    }

    #[test]
    fn what_nobody_demands_does_not_run() {
        check(3, &[(1, 2)], &[0], &[], &[2], "run 0");
    }

    #[test]
    fn failure_poisons_users_and_spares_others() {
        check(4, &[(0, 1), (1, 2)], &[0, 3], &[2], &[], "run 3, fail 2, skip 1, skip 0");
    }

    #[test]
    fn an_open_node_is_closed_after_its_last_user_and_in_reverse_order() {
        // 0 uses 1, which is opened with 2; 3 uses 2 too.
        check(
            4,
            &[(0, 1), (1, 2), (3, 2)],
            &[0, 3],
            &[],
            &[1, 2],
            "run 2, run 1, run 3, run 0, close 1, close 2",
        );
    }

    #[test]
    fn what_was_released_without_running_can_still_be_needed() {
        let mut graph = Graph::default();
        let [opened, provider, late] = [(); 3].map(|()| graph.add_node(KIND));
        graph.set_closes(opened);
        graph.add_edge(opened, provider, EdgeKind::Value);
        graph.settle(provider);
        assert_eq!(graph.next_closing(), Some(opened), "nobody needed it");
        graph.let_go(opened);
        graph.add_edge(provider, late, EdgeKind::Provider);
        for node in [opened, provider] {
            graph.demand(node);
            graph.next_ready();
            graph.activate(node, |_| true);
            graph.wait(node);
            graph.next_ready();
            graph.finish(node, true, true);
            assert_eq!(graph.next_closing(), None, "somebody needs it");
        }
        graph.finish(late, true, false);
        assert_eq!(graph.next_closing(), Some(opened));
    }

    #[test]
    fn a_part_runs_again_and_is_closed_again() {
        // 0 and 3 use 1, which is made from 2 and must be ended; only 0 runs again, and 1 for it.
        let mut graph = Graph::default();
        let nodes = [(); 4].map(|()| graph.add_node(KIND));
        for (user, dependency) in [(0, 1), (3, 1), (1, 2)] {
            graph.add_edge(nodes[dependency], nodes[user], EdgeKind::Value);
        }
        graph.set_closes(nodes[1]);
        assert_eq!(run(&mut graph, &[nodes[0], nodes[3]]), "2, 1, 0, 3, close 1");
        assert!(nodes.iter().all(|node| graph.is_at_rest(*node)));
        for _ in 0..2 {
            graph.begin_again(&[nodes[0], nodes[1]].into_iter().collect());
            assert_eq!(run(&mut graph, &[nodes[0]]), "1, 0, close 1");
            assert!(nodes.iter().all(|node| graph.is_at_rest(*node)));
        }
    }

    /// Runs what is demanded to its end; gives what happened, in order.
    fn run(graph: &mut Graph, demanded: &[NodeIx]) -> String {
        demanded.iter().for_each(|node| graph.demand(*node));
        let mut log = Vec::new();
        loop {
            if let Some(node) = graph.next_ready() {
                if graph.status(node) == Status::Waiting {
                    graph.activate(node, |_| true);
                    graph.wait(node);
                } else {
                    log.push(node.0.to_string());
                    graph.finish(node, true, node == NodeIx(1));
                }
            } else if let Some(node) = graph.next_closing() {
                log.push(format!("close {}", node.0));
                graph.let_go(node);
            } else {
                return log.join(", ");
            }
        }
    }

    #[test]
    fn an_open_node_is_closed_after_its_user_failed() {
        check(2, &[(0, 1)], &[0], &[0], &[1], "run 1, fail 0, close 1");
    }
}
