use super::*;

const KIND: NodeKind = NodeKind::DestroyDone { index: 0 };

/// Runs a graph of `edges` (user, dependency) from `demanded`, and compares what happened, in order, with
/// `expected`. Nodes in `failing` fail; nodes in `closing` must be ended.
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
fn graph_runs_dependencies_first() {
    check(3, &[(0, 1), (1, 2)], &[0], &[], &[], "run 2, run 1, run 0");
}

#[test]
fn graph_runs_only_demanded_nodes() {
    check(3, &[(1, 2)], &[0], &[], &[2], "run 0");
}

#[test]
fn failed_node_skips_its_dependents_only() {
    check(4, &[(0, 1), (1, 2)], &[0, 3], &[2], &[], "run 3, fail 2, skip 1, skip 0");
}

#[test]
fn open_nodes_close_after_their_last_dependent_in_reverse_order() {
    // 0 depends on 1, which is opened with 2; 3 depends on 2 too.
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
fn released_node_runs_if_a_later_dependent_needs_it() {
    let mut graph = Graph::default();
    let [opened, provider, late] = [(); 3].map(|()| graph.add_node(KIND));
    graph.set_closes(opened);
    graph.add_edge(opened, provider, EdgeKind::Value);
    graph.settle(provider);
    assert_eq!(graph.next_closing(), Some(opened), "the node has no dependent");
    graph.let_go(opened);
    graph.add_edge(provider, late, EdgeKind::Provider);
    for node in [opened, provider] {
        graph.demand(node);
        graph.next_ready();
        graph.activate(node, |_| true);
        graph.wait(node);
        graph.next_ready();
        graph.finish(node, true, true);
        assert_eq!(graph.next_closing(), None, "a dependent waits");
    }
    graph.finish(late, true, false);
    assert_eq!(graph.next_closing(), Some(opened));
}

#[test]
fn part_of_a_graph_runs_and_closes_a_second_time() {
    // 0 and 3 depend on 1, which depends on 2 and must be ended. Only 0 runs again, and 1 for it.
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

/// Runs the demanded nodes to their end. Returns what happened, in order.
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
fn ready_nodes_are_announced_once_and_many_at_a_time() {
    let mut graph = Graph::default();
    let nodes: Vec<_> = (0..40).map(|_| graph.add_node(KIND)).collect();
    nodes.iter().for_each(|it| graph.demand(*it));
    let mut announced = Vec::new();
    while let Some(node) = graph.next_ready() {
        graph.wait(node);
        announced.extend(graph.take_unannounced());
    }
    assert!(announced.len() > 40 - ANNOUNCED_AT_ONCE && announced.is_sorted(), "{announced:?}");
    assert!(announced.windows(2).all(|it| it[0] != it[1]));
}

#[test]
fn open_node_closes_after_its_dependent_failed() {
    check(2, &[(0, 1)], &[0], &[0], &[1], "run 1, fail 0, close 1");
}
