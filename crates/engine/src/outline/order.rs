//! Cycles of an outline, and edges that others imply.

use super::{Outline, OutlineEdge};

/// The number of nodes beyond which implied edges stay. The bits of reachable nodes would take too much memory.
const MOST_REDUCED: usize = 20_000;

impl Outline {
    /// The edges within cycles. Empty for a graph without any.
    pub fn cyclic_edges(&self) -> Vec<OutlineEdge> {
        let component = Components::of(self).component;
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
        let Components { component, .. } = Components::of(&self);
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

    fn dependencies(&self, node: u32) -> Vec<u32> {
        let from = self.edges.partition_point(|it| it.user < node);
        let edges = self.edges[from..].iter().take_while(|it| it.user == node);
        edges.map(|it| it.dependency).collect()
    }
}

/// The strongly connected components of a graph, found by Tarjan's algorithm without recursion.
struct Components {
    /// The component of each node. A component has a higher number than those that it depends on.
    component: Vec<u32>,
    count: u32,
    /// The order of discovery, from 1. Zero for a node that was not seen yet.
    seen: Vec<u32>,
    lowest: Vec<u32>,
    stack: Vec<u32>,
}

/// The component of a node that has none yet.
const NONE: u32 = u32::MAX;

impl Components {
    fn of(outline: &Outline) -> Components {
        let count = outline.nodes.len();
        let mut components = Components {
            component: vec![NONE; count],
            count: 0,
            seen: vec![0; count],
            lowest: vec![0; count],
            stack: Vec::new(),
        };
        let mut clock = 0;
        for start in 0..count as u32 {
            components.visit(outline, start, &mut clock);
        }
        components
    }

    fn visit(&mut self, outline: &Outline, start: u32, clock: &mut u32) {
        let mut open: Vec<(u32, std::vec::IntoIter<u32>)> = Vec::new();
        let mut next = Some(start).filter(|it| self.seen[*it as usize] == 0);
        loop {
            if let Some(node) = next.take() {
                *clock += 1;
                self.seen[node as usize] = *clock;
                self.lowest[node as usize] = *clock;
                self.stack.push(node);
                open.push((node, outline.dependencies(node).into_iter()));
            }
            let Some((node, dependencies)) = open.last_mut() else { return };
            let node = *node;
            match dependencies.next() {
                Some(it) if self.seen[it as usize] == 0 => next = Some(it),
                Some(it) if self.component[it as usize] == NONE => {
                    let seen = self.seen[it as usize];
                    self.lower(node, seen);
                }
                Some(_) => {}
                None => {
                    open.pop();
                    self.close(node);
                    if let Some((user, _)) = open.last() {
                        let lowest = self.lowest[node as usize];
                        self.lower(*user, lowest);
                    }
                }
            }
        }
    }

    fn lower(&mut self, node: u32, to: u32) {
        let lowest = &mut self.lowest[node as usize];
        *lowest = (*lowest).min(to);
    }

    /// Ends a node. If it is the first one of its component, the component is complete.
    fn close(&mut self, node: u32) {
        if self.lowest[node as usize] != self.seen[node as usize] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.component[member as usize] = self.count;
            if member == node {
                break;
            }
        }
        self.count += 1;
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
