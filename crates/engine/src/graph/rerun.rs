//! Running part of a graph again: new edges for changed nodes, and nodes that go back to their beginning.

use sorted::TreeSet;

use crate::graph::{Edge, EdgeKind, Graph, NO_EDGE, NodeIx, Status};

impl Graph {
    /// Runs a finished node once more, and makes `user` wait for it.
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

    /// Replaces the dependencies of a node in a finished graph with `edges`, followed by the old edges that `stay`
    /// accepts.
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

    /// Removes an edge from the list of dependents of its dependency.
    pub(super) fn unlink_user(&mut self, edge: u32) {
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

    /// Returns true if a node has ended or never ran, has let go of its dependencies, and is not held by a
    /// dependent.
    pub(crate) fn is_at_rest(&self, node: NodeIx) -> bool {
        let it = self.node(node);
        it.let_go && it.holds == 0 && matches!(it.status, Status::Idle | Status::Done)
    }

    /// Resets nodes of a finished graph to the state before the run, as if they were not demanded yet. All other
    /// nodes stay as they are: only nodes of this set may wait for nodes of this set.
    pub(crate) fn begin_again(&mut self, nodes: &TreeSet<NodeIx>) {
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
}
