//! The grammar of HCL: what is read after what, which error each surprise is, and where reading goes on after it.
//!
//! The first error of a text is the one that the reference reports, in its words and at its place, since users search for those.
//! After an error the reference says nothing more; this grammar goes on:
//!
//! - an error in an item costs the rest of its line, and not the lines below;
//! - inside brackets, where newlines mean nothing, a line such as `name =` or `type "label" {` ends them all the same;
//! - a part that is read after an error keeps its node, so that names in it are still resolved.

mod body;
mod expr;
mod forms;
mod template;

use crate::parser::Parser;
use crate::syntax_kind::SyntaxKind::*;

/// A file, or a chunk of one.
pub(crate) fn source_file(p: &mut Parser<'_>) {
    let root = p.start();
    body::items(p);
    root.complete(p, SOURCE_FILE);
}

/// One expression and nothing else.
pub(crate) fn expression_file(p: &mut Parser<'_>) {
    let root = p.start();
    expr::expr(p);
    finish_expression(p);
    root.complete(p, EXPR_FILE);
}

/// A name and steps, and nothing else.
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

/// A template without quotes.
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
