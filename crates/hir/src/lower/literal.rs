//! Reads expressions that must be literals or single words.

use syntax::flat::ast;

/// The decoded text of a quoted template without interpolations. `None` for other expressions.
pub(super) fn literal_string(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::QuotedTemplate(quoted) => quoted.literal_text(),
        _ => None,
    }
}

/// The value of a literal `true` or `false`, also in parentheses. `None` for other expressions.
pub(super) fn literal_bool(expr: &ast::Expr) -> Option<bool> {
    match expr {
        ast::Expr::Literal(it) => match it.kind()? {
            ast::LiteralKind::Bool(value) => Some(value),
            _ => None,
        },
        ast::Expr::Paren(it) => literal_bool(&it.expr()?),
        _ => None,
    }
}

/// A single name, such as a keyword of a type constraint. `None` for other expressions.
pub(super) fn keyword(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Reference(it) => Some(it.name()?.to_string()),
        _ => None,
    }
}
