//! The provider requirements of a configuration as a tree.

use addr::ProviderSource;

/// A node of a tree of text.
pub struct TreeNode {
    /// The text of the node.
    pub text: String,
    /// The nodes below.
    pub children: Vec<TreeNode>,
}

/// The text for a required provider. `constraint` is empty if every version is accepted.
pub fn required_provider(source: &ProviderSource, constraint: &str) -> String {
    match constraint {
        "" => format!("provider[{source}]"),
        _ => format!("provider[{source}] {constraint}"),
    }
}

/// A tree whose root is a dot.
pub fn tree(nodes: &[TreeNode]) -> String {
    let mut text = ".\n".to_owned();
    branch(nodes, "", &mut text);
    text
}

fn branch(nodes: &[TreeNode], indent: &str, text: &mut String) {
    for (idx, node) in nodes.iter().enumerate() {
        let is_last = idx + 1 == nodes.len();
        let (mark, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
        text.push_str(&format!("{indent}{mark}{}\n", node.text));
        branch(&node.children, &format!("{indent}{below}"), text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_marks_last_nodes_and_indents_their_children() {
        let node = |text: &str, children| TreeNode { text: text.to_owned(), children };
        let nodes = [
            node("a", vec![node("b", vec![node("c", vec![])]), node("d", vec![])]),
            node("e", vec![node("f", vec![])]),
        ];
        let expected = ".\n├── a\n│   ├── b\n│   │   └── c\n│   └── d\n└── e\n    └── f\n";
        assert_eq!(tree(&nodes), expected);
    }
}
