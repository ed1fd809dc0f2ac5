//! Tests of the trees, and of each error's text and position, which equal OpenTofu's.

mod errors;
mod recovery;
mod trees;

use std::fmt::Write as _;

use rowan::NodeOrToken;

use crate::{Parse, SyntaxNode};

/// Renders a tree as nested parentheses: kinds of nodes and texts of tokens, without trivia.
fn outline(node: &SyntaxNode) -> String {
    let mut out = format!("({}", format!("{:?}", node.kind()).to_lowercase());
    for child in node.children_with_tokens() {
        match child {
            NodeOrToken::Node(node) => {
                let _ = write!(out, " {}", outline(&node));
            }
            NodeOrToken::Token(token) if token.kind().is_trivia() => {}
            NodeOrToken::Token(token) => {
                let _ = write!(out, " {}", token.text().replace('\n', "⏎"));
            }
        }
    }
    out.push(')');
    out
}

/// Renders the errors of a text: the offset, the marked part and the summary of each.
fn errors<T>(parse: &Parse<T>, text: &str) -> String {
    let mut out = String::new();
    for error in parse.errors() {
        let part = text[error.range].replace('\n', "⏎");
        let at = u32::from(error.range.start());
        let _ = writeln!(out, "{at} `{part}` {}", error.summary);
    }
    out
}
