//! The graph of an operation in the DOT language.

use std::fmt::Write as _;

use engine::{Outline, OutlineEdge, OutlineKind, OutlineNode};
use sorted::TreeSet;

/// The options of a drawing.
#[derive(Clone, Copy, Default)]
pub struct GraphStyle {
    /// True if the ends of provider configurations are drawn too.
    pub verbose: bool,
    /// True if the edges of cycles are colored.
    pub draws_cycles: bool,
}

/// The graph as a text in the DOT language. Nodes and edges are sorted by their names.
pub fn graph(outline: &Outline, style: GraphStyle) -> String {
    let mut nodes: Vec<&OutlineNode> = outline.nodes.iter().collect();
    sorted::sort_by_key(&mut nodes, |it| &it.name);
    let node = |it: &OutlineNode| Some(format!("{} [{}]", name(it), attributes(it, style)?));
    let nodes: Vec<String> = nodes.into_iter().filter_map(node).collect();
    let cyclic: TreeSet<OutlineEdge> = match style.draws_cycles {
        true => outline.cyclic_edges().into_iter().collect(),
        false => TreeSet::new(),
    };
    let edge = |it: &OutlineEdge| {
        let [user, dependency] =
            [it.user, it.dependency].map(|it| name(&outline.nodes[it as usize]));
        let color = if cyclic.contains(it) { " [color = \"red\", penwidth = \"2.0\"]" } else { "" };
        format!("{user} -> {dependency}{color}")
    };
    let mut edges: Vec<String> = outline.edges.iter().map(edge).collect();
    sorted::sort(&mut edges);
    let mut text =
        "digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n"
            .to_owned();
    for line in nodes.iter().chain(&edges) {
        let _ = writeln!(text, "\t\t{line}");
    }
    text.push_str("\t}\n}\n");
    text
}

fn name(node: &OutlineNode) -> String {
    quoted(&format!("[root] {}", node.name))
}

/// The label and the shape of a node. `None` for a node that is drawn only as the end of edges.
fn attributes(node: &OutlineNode, style: GraphStyle) -> Option<String> {
    let (label, shape) = match &node.kind {
        OutlineKind::Resource(address)
        | OutlineKind::Ephemeral(address)
        | OutlineKind::Object(address) => (address, "box"),
        OutlineKind::Provider => (&node.name, "diamond"),
        OutlineKind::ProviderClose if style.verbose => (&node.name, "diamond"),
        OutlineKind::Variable => (&node.name, "note"),
        _ => return None,
    };
    Some(format!("label = {}, shape = \"{shape}\"", quoted(label)))
}

/// A text as a quoted identifier. Keys of instances may have any character.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
