//! Bodies that are read before anything is evaluated: those of `backend` and `encryption`.

use db::Summary;

use crate::{
    analysis::{infer::Infer, problem::ItemProblem},
    expr::{Expr, ExprId, Literal},
    fix::Fix,
    item::{Attr, Block, Body},
    statics, suggest,
};

/// The error for an argument whose value is not known before a plan.
pub(super) fn not_known(attr: &Attr, subject: &str) -> ItemProblem {
    let detail = format!("Unsuitable value of {subject}: {}.", statics::NOT_KNOWN);
    ItemProblem::new(attr.value.into(), Summary::INVALID_STATIC_VALUE, detail)
}

/// Refuses `dynamic` blocks in a body that is read before anything is evaluated.
pub(super) fn refuse_dynamic_blocks(infer: &mut Infer<'_>, body: &Body) {
    for block in body.blocks.iter().filter(|it| it.dynamic.is_some()) {
        let detail = format!(
            "Blocks of type \"dynamic\" are not expected here: this is read before anything is \
             evaluated. Write the \"{}\" block itself.",
            block.kind
        );
        infer.problems.push(ItemProblem::new(
            block.node.into(),
            Summary::UNSUPPORTED_BLOCK,
            detail,
        ));
    }
}

/// Visits the arguments that the schema declares, including those of nested blocks, except arguments that already
/// have an error.
pub(super) fn for_each_argument(
    infer: &mut Infer<'_>,
    body: &Body,
    schema: &provider::Block,
    visit: &mut impl FnMut(&mut Infer<'_>, &Attr, &provider::Attribute),
) {
    let faults = infer.faults();
    let mut open = vec![(body, schema)];
    while let Some((body, schema)) = open.pop() {
        for attr in &body.attrs {
            let Some(attribute) = schema.attributes().get(&attr.name) else { continue };
            infer.problems.extend(object_names(infer, attr, attribute));
            if !infer.is_faulty(attr.value, &faults) {
                visit(infer, attr, attribute);
            }
        }
        let known = |it: &'_ Block| schema.blocks().get(&it.kind).map(|nested| &nested.block);
        let nested = body.blocks.iter().rev();
        open.extend(nested.filter_map(|it| Some((&it.body, known(it)?))));
    }
}

/// Warns about attributes of an object that its type does not have. OpenTofu ignores them, so they are no error,
/// but a misspelled name has no effect.
fn object_names(
    infer: &Infer<'_>,
    attr: &Attr,
    attribute: &provider::Attribute,
) -> Vec<ItemProblem> {
    let (Some(object), Expr::Object(items)) = (attribute.nested(), &infer.exprs[attr.value]) else {
        return Vec::new();
    };
    let known = object.attributes();
    let unknown = |key: ExprId| match &infer.exprs[key] {
        Expr::Literal(Literal::String(name)) if !known.contains_key(&**name) => {
            let close = suggest::closest(name, known.keys().map(|it| &**it));
            let hint = suggest::question(close);
            let detail = format!("\"{}\" has no attribute \"{name}\".{hint}", attr.name);
            let problem = ItemProblem::new(key.into(), Summary::UNSUPPORTED_ARGUMENT, detail);
            Some(problem.at_most(db::Severity::Warning).fixed_by(Fix::last(name, close)))
        }
        _ => None,
    };
    items.iter().filter_map(|it| unknown(it.key)).collect()
}
