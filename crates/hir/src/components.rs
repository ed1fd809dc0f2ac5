//! The strongly connected components of a graph.

/// Visits the strongly connected components of a graph, each after the components it depends on (Tarjan's algorithm,
/// without recursion). The nodes are numbered from 0 to `count`; `target` returns the node at the end of an edge, which
/// it finds by its first node and its index there, and `None` behind the last edge. The time is linear in nodes and
/// edges.
pub fn for_each_component(
    count: usize,
    target: impl Fn(usize, usize) -> Option<usize>,
    mut visit: impl FnMut(&[usize]),
) {
    const UNSEEN: u32 = u32::MAX;
    let (mut number, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut work, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if number[root] != UNSEEN {
            continue;
        }
        work.push((root, 0));
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(target) = target(node, edge) {
                work.push((node, edge + 1));
                if number[target] == UNSEEN {
                    work.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(number[target]);
                }
                continue;
            }
            if low[node] == number[node] {
                let from = stack.iter().rposition(|&it| it == node).unwrap_or_default();
                stack[from..].iter().for_each(|&member| on_stack[member] = false);
                visit(&stack[from..]);
                stack.truncate(from);
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
}
