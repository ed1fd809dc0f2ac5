//! The references and calls that destroy-time provisioners may use. Only the object itself has values while it is
//! destroyed. The analysis and the engine share this check, so both report the same diagnostic.

use crate::{
    expr::{ExprId, Ref},
    item::{Block, Body, Item, ItemKind, RefPlace, RefTarget},
    provider_function::{Name, calls},
};

/// The detail of the diagnostic.
pub const DETAIL: &str = "Destroy-time provisioners and their connection configurations may only \
                          reference attributes of the related resource, via 'self', 'count.index', \
                          or 'each.key'.\n\nReferences to other resources during the destroy phase \
                          can cause dependency cycles and interact poorly with create_before_destroy.";

/// The detail of the diagnostic for a call of a function of a provider configuration.
pub const CALL_DETAIL: &str = "Destroy-time provisioners and their connection configurations may not call functions of \
                               a provider configuration, because it may depend on other resources.\n\nReferences to \
                               other resources during the destroy phase can cause dependency cycles and interact \
                               poorly with create_before_destroy. Store the result in an attribute of the resource \
                               instead, such as \"input\" of terraform_data, and refer to that via 'self'.";

/// An expression in a destroy-time provisioner that has no value when that runs.
pub struct Refused {
    /// The expression.
    pub expr: ExprId,
    /// The detail of the diagnostic.
    pub detail: &'static str,
}

/// The expressions in the destroy-time provisioners of an item that have no value when these run.
/// `is_of_configuration` returns true for functions that only a provider configuration answers.
pub fn refused<'i>(
    item: &'i Item,
    is_of_configuration: &'i dyn Fn(Name<'_>) -> bool,
) -> impl Iterator<Item = Refused> + 'i {
    let calls = refused_calls(item, is_of_configuration).into_iter();
    let references = refused_references(item).map(|expr| Refused { expr, detail: DETAIL });
    references.chain(calls.map(|expr| Refused { expr, detail: CALL_DETAIL }))
}

/// The references of an item that have no value when its destroy-time provisioners run.
fn refused_references(item: &Item) -> impl Iterator<Item = ExprId> + '_ {
    let at_destroy = item.refs.iter().filter(|it| it.place == RefPlace::DestroyProvisioner);
    at_destroy.filter(|it| !is_available(&it.target)).map(|it| it.expr)
}

/// Returns true if a reference has a value while the object is destroyed. `each.value` has none: it comes from the
/// configuration.
fn is_available(target: &RefTarget) -> bool {
    match target {
        RefTarget::Ambient(reference) => !matches!(reference, Ref::EachValue),
        RefTarget::Variable(_)
        | RefTarget::Local(_)
        | RefTarget::Resource(_)
        | RefTarget::Module(_)
        | RefTarget::ModuleOutput(..) => false,
    }
}

/// The calls of functions of provider configurations in the destroy-time provisioners of an item, and in the
/// connection that they share.
fn refused_calls(item: &Item, is_of_configuration: &dyn Fn(Name<'_>) -> bool) -> Vec<ExprId> {
    let (provisioners, connection) = match &item.kind {
        ItemKind::Resource(it) => (&it.provisioners, &it.connection),
        ItemKind::Removed(it) => (&it.provisioners, &it.connection),
        _ => return Vec::new(),
    };
    let at_destroy = || provisioners.iter().filter(|it| it.at_destroy);
    if !item.exprs.calls_providers() || at_destroy().next().is_none() {
        return Vec::new();
    }
    let mut within = Vec::new();
    for it in at_destroy() {
        add_values(&it.body, &mut within);
    }
    let connections = at_destroy().filter_map(|it| it.connection.as_ref()).chain(connection);
    connections.for_each(|it| add_values(&it.body, &mut within));
    let mut next = 0;
    while let Some(&expr) = within.get(next) {
        item.exprs[expr].for_each_child(&mut |child| within.push(child));
        next += 1;
    }
    sorted::sort(&mut within);
    let refused = calls(&item.exprs).filter(|(_, name)| is_of_configuration(*name));
    refused.map(|(call, _)| call).filter(|it| within.binary_search(it).is_ok()).collect()
}

/// Adds the expressions of a body and of the blocks in it.
fn add_values(body: &Body, found: &mut Vec<ExprId>) {
    found.extend(body.attrs.iter().map(|it| it.value));
    for Block { body, dynamic, .. } in &body.blocks {
        let dynamic = dynamic.iter().flat_map(|it| it.labels.iter().copied().chain([it.for_each]));
        found.extend(dynamic);
        add_values(body, found);
    }
}
