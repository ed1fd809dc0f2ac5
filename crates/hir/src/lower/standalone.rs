//! Lowers an expression or a template that is in no block.

use syntax::{TextRange, TextSize, flat::FlatParse};
use values::Str;

use crate::{
    expr::{ExprId, Exprs, SymbolId},
    lower::{item_ctx::ItemCtx, problem::Problem, source_map::SourceMap},
};

/// An expression outside of a block.
pub struct StandaloneExpression {
    /// The arena with the expression and its descendants.
    pub exprs: Exprs,
    /// The expression itself.
    pub root: ExprId,
    /// The ranges of all parts.
    pub source_map: SourceMap,
    /// The problems of the text.
    pub problems: Vec<Problem>,
}

/// Lowers an expression outside of a block.
pub fn lower_expression(text: &str) -> StandaloneExpression {
    let parse = FlatParse::expression(text);
    let mut problems: Vec<Problem> = parse.errors().iter().map(Problem::syntax).collect();
    let mut ctx = ItemCtx::new(&mut problems);
    let expr = parse.expression_file().and_then(|file| file.expr());
    let root = ctx.expr_opt(expr, TextRange::default());
    let source_map = ctx.take_source_map();
    let (exprs, _) = ctx.into_exprs();
    StandaloneExpression { exprs, root, source_map, problems }
}

/// The text of a template file.
pub struct StandaloneTemplate {
    /// The arena with the template and its descendants.
    pub exprs: Exprs,
    /// The template itself.
    pub root: ExprId,
    /// The variables of the template, each with its symbol.
    pub free_names: Vec<(Str, SymbolId)>,
    /// The problems of the text.
    pub problems: Vec<Problem>,
}

/// Lowers the text of a template file (`templatefile`). Names that are not bound in the template are its
/// variables. They have no `var.` prefix; each becomes a symbol in `free_names`.
pub fn lower_template(text: &str) -> StandaloneTemplate {
    let parse = FlatParse::template(text);
    let mut problems: Vec<Problem> = parse.errors().iter().map(Problem::syntax).collect();
    let mut ctx = ItemCtx::new(&mut problems);
    ctx.free_names = Some(Vec::new());
    let range = TextRange::up_to(TextSize::of(text));
    let root = match parse.template_file() {
        Some(tree) => ctx.template(&syntax::template::bare(&tree), range),
        None => ctx.expr_opt(None, range),
    };
    let free_names = ctx.free_names.take().unwrap_or_default();
    let (exprs, _) = ctx.into_exprs();
    StandaloneTemplate { exprs, root, free_names, problems }
}
