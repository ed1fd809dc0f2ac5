//! Maps a path into a body's value to all expressions that the value at this path is computed from.

use values::{Kind, Path, Step, Value};

use crate::{
    expr::ExprId,
    item::{Block, Body},
};

/// An expression, and the part of its value.
#[derive(Clone, Debug)]
pub struct PathExpr {
    /// The expression.
    pub expr: ExprId,
    /// The steps from the value of the expression to the part.
    pub rest: Box<[Step]>,
}

impl PathExpr {
    fn whole(expr: ExprId) -> PathExpr {
        PathExpr { expr, rest: Box::default() }
    }
}

/// The expressions of a body that the value at a path is computed from. Empty if the body does not set it.
pub fn exprs_at(body: &Body, path: &Path) -> Vec<PathExpr> {
    let mut found = Vec::new();
    at_path(&[body], path.steps(), &mut found);
    found
}

/// Collects the expressions at a path of bodies. A path that the bodies do not have leads to nothing: the provider
/// computes that attribute.
fn at_path(bodies: &[&Body], path: &[Step], found: &mut Vec<PathExpr>) {
    let Some((step, rest)) = path.split_first() else {
        return bodies.iter().for_each(|body| everything(body, found));
    };
    let name = match step {
        Step::Attr(name) => &**name,
        Step::Index(key) => match key.kind() {
            Kind::String(text) => &**text,
            _ => return,
        },
    };
    for body in bodies {
        let attrs = body.attrs.iter().filter(|it| *it.name == *name);
        found.extend(attrs.map(|it| PathExpr { expr: it.value, rest: rest.into() }));
        let blocks = body.blocks.iter().filter(|it| *it.kind == *name);
        let blocks: Vec<&Block> = blocks.collect();
        if !blocks.is_empty() {
            within_blocks(&blocks, rest, found);
        }
    }
}

/// Collects the expressions at a path of the blocks of one type.
fn within_blocks(blocks: &[&Block], path: &[Step], found: &mut Vec<PathExpr>) {
    let first_dynamic = blocks.iter().position(|it| it.dynamic.is_some());
    let (chosen, rest) = match path.split_first() {
        Some((Step::Index(key), rest)) => match index_of(key) {
            // A block behind a dynamic one may have any index.
            Some(index) if first_dynamic.is_none_or(|it| index < it) => {
                (blocks.get(index..=index).unwrap_or_default(), rest)
            }
            _ => (&blocks[first_dynamic.unwrap_or(0)..], rest),
        },
        _ => (blocks, path),
    };
    for block in chosen {
        of_dynamic(block, found);
    }
    let bodies: Vec<&Body> = chosen.iter().map(|it| &it.body).collect();
    at_path(&bodies, rest, found);
}

fn index_of(key: &Value) -> Option<usize> {
    match key.kind() {
        Kind::Number(number) => number.to_usize(),
        _ => None,
    }
}

fn everything(body: &Body, found: &mut Vec<PathExpr>) {
    found.extend(body.attrs.iter().map(|it| PathExpr::whole(it.value)));
    for block in &body.blocks {
        of_dynamic(block, found);
        everything(&block.body, found);
    }
}

fn of_dynamic(block: &Block, found: &mut Vec<PathExpr>) {
    if let Some(dynamic) = &block.dynamic {
        found.push(PathExpr::whole(dynamic.for_each));
        found.extend(dynamic.labels.iter().copied().map(PathExpr::whole));
    }
}
