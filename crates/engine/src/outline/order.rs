//! Cycles of an outline, and edges that others imply.

use hir::components::for_each_component;

use super::{Outline, OutlineEdge};

/// The number of nodes beyond which implied edges stay. The bits of reachable nodes would take too much memory.
const MOST_REDUCED: usize = 20_000;

impl Outline {
    /// The edges within cycles. Empty for a graph without any.
    pub fn cyclic_edges(&self) -> Vec<OutlineEdge> {
        let component = self.components();
        let is_within =
            |it: &&OutlineEdge| component[it.user as usize] == component[it.dependency as usize];
        self.edges.iter().filter(is_within).copied().collect()
    }

    /// The graph without the edges that other edges imply. A graph with cycles, or with more than
    /// [`MOST_REDUCED`] nodes, stays as it is.
    pub(super) fn reduced(mut self) -> Outline {
        if self.nodes.len() > MOST_REDUCED {
            return self;
        }
        let component = self.components();
        let count = self.nodes.len();
        // Components are numbered from dependencies to users. Without cycles, each has one node.
        let mut by_component = vec![0; count];
        for (node, component) in component.iter().enumerate() {
            by_component[*component as usize] = node;
        }
        if component.iter().copied().max().is_some_and(|it| it as usize + 1 != count) {
            return self;
        }
        let mut kept = Vec::new();
        let mut reached = vec![Vec::new(); count];
        for node in by_component {
            let mut dependencies = self.dependencies(node as u32);
            // The latest first: a node that is implied comes before the one that implies it.
            dependencies.sort_by_key(|it| std::cmp::Reverse(component[*it as usize]));
            let mut bits = vec![0u64; count.div_ceil(64)];
            for dependency in dependencies {
                let (word, bit) = (dependency as usize / 64, 1u64 << (dependency % 64));
                if bits[word] & bit == 0 {
                    kept.push(OutlineEdge { user: node as u32, dependency });
                    bits[word] |= bit;
                    let of_dependency: &[u64] = &reached[dependency as usize];
                    bits.iter_mut().zip(of_dependency).for_each(|(it, other)| *it |= other);
                }
            }
            reached[node] = bits;
        }
        kept.sort_unstable();
        self.edges = kept;
        self
    }

    /// The strongly connected component of each node. A component has a higher number than those that it depends on.
    fn components(&self) -> Vec<u32> {
        let mut component = vec![0; self.nodes.len()];
        let mut next = 0;
        let starts: Vec<usize> = (0..=self.nodes.len() as u32).map(|it| self.start(it)).collect();
        let target = |node: usize, edge: usize| {
            let edges = &self.edges[starts[node]..starts[node + 1]];
            edges.get(edge).map(|it| it.dependency as usize)
        };
        for_each_component(self.nodes.len(), target, |members| {
            members.iter().for_each(|it| component[*it] = next);
            next += 1;
        });
        component
    }

    /// The index of the first edge of a node, or of the first one behind it.
    fn start(&self, node: u32) -> usize {
        self.edges.partition_point(|it| it.user < node)
    }

    fn dependencies(&self, node: u32) -> Vec<u32> {
        let edges = &self.edges[self.start(node)..self.start(node + 1)];
        edges.iter().map(|it| it.dependency).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::{OutlineKind, OutlineNode};

    fn outline(edges: &[[u32; 2]]) -> Outline {
        let count = edges.iter().flatten().max().map_or(0, |it| it + 1);
        let node = |it: u32| OutlineNode { name: it.to_string(), kind: OutlineKind::Other };
        let mut edges: Vec<_> =
            edges.iter().map(|[user, dependency]| edge(*user, *dependency)).collect();
        edges.sort_unstable();
        Outline { nodes: (0..count).map(node).collect(), edges }
    }

    fn edge(user: u32, dependency: u32) -> OutlineEdge {
        OutlineEdge { user, dependency }
    }

    #[test]
    fn reduction_removes_edges_that_longer_paths_imply() {
        let reduced = outline(&[[0, 1], [1, 2], [2, 3], [0, 2], [0, 3], [1, 3], [4, 3]]).reduced();
        assert_eq!(reduced.edges, [edge(0, 1), edge(1, 2), edge(2, 3), edge(4, 3)]);
        assert!(reduced.cyclic_edges().is_empty());
    }

    #[test]
    fn graph_with_a_cycle_keeps_its_edges() {
        let edges = [[0, 1], [0, 2], [1, 2], [2, 1], [2, 3]];
        let same = outline(&edges).reduced();
        assert_eq!(same.edges.len(), edges.len());
        assert_eq!(same.cyclic_edges(), [edge(1, 2), edge(2, 1)]);
    }
}
