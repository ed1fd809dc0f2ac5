//! The grammar of HCL: the order of tokens, the error for each unexpected token, and the position at which parsing
//! resumes.
//!
//! The first error of a text has the summary, detail and position that OpenTofu reports, since users search for
//! those. OpenTofu stops after an error; this grammar continues:
//!
//! - an error in an item skips the rest of its line, but not the lines below;
//! - inside brackets, where newlines have no meaning, a line such as `name =` or `type "label" {` still ends all
//!   of them;
//! - a part that is read after an error keeps its node, so that names in it still resolve.

mod body;
mod expr;
mod forms;
mod template;

use crate::parser::Parser;
use crate::syntax_kind::SyntaxKind::*;

/// Parses a file, or a chunk of one.
pub(crate) fn source_file(p: &mut Parser<'_>) {
    let root = p.start();
    body::items(p);
    root.complete(p, SOURCE_FILE);
}

/// Parses one expression up to the end of the text.
pub(crate) fn expression_file(p: &mut Parser<'_>) {
    let root = p.start();
    expr::expr(p);
    finish_expression(p);
    root.complete(p, EXPR_FILE);
}

/// Parses a name with steps up to the end of the text.
pub(crate) fn traversal_file(p: &mut Parser<'_>) {
    let root = p.start();
    expr::absolute_traversal(p);
    finish_expression(p);
    root.complete(p, EXPR_FILE);
}

fn finish_expression(p: &mut Parser<'_>) {
    if p.at(EOF) {
        return;
    }
    if p.failures() == 0 {
        p.error(
            "Extra characters after expression",
            "An expression was successfully parsed, but extra characters were found after it.",
        );
    }
    take_rest(p);
}

/// Parses a template without quotes.
pub(crate) fn template_file(p: &mut Parser<'_>) {
    let root = p.start();
    template::parts(p, EOF);
    take_rest(p);
    root.complete(p, TEMPLATE_FILE);
}

fn take_rest(p: &mut Parser<'_>) {
    if !p.at(EOF) {
        let rest = p.start();
        while !p.at(EOF) {
            p.bump();
        }
        rest.complete(p, ERROR);
    }
}

#[cfg(test)]
mod tests;
