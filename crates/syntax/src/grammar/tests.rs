//! What is read as what, and each error of the reference in its words and at its place.

mod errors;
mod recovery;
mod trees;

use std::fmt::Write as _;

use rowan::NodeOrToken;

use crate::{Parse, SyntaxNode};

/// A tree as nested parentheses: kinds of nodes, texts of tokens, no trivia.
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

/// The errors of a text: the part that each is about, and its summary.
fn errors<T>(parse: &Parse<T>, text: &str) -> String {
    let mut out = String::new();
    for error in parse.errors() {
        let part = text[error.range].replace('\n', "⏎");
        let at = u32::from(error.range.start());
        let _ = writeln!(out, "{at} `{part}` {}", error.summary);
    }
    out
}
