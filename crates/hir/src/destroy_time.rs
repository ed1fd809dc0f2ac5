//! The references that destroy-time provisioners may use. Only the object itself has values while it is destroyed.
//! The analysis and the engine share this check, so both report the same diagnostic.

use crate::{
    expr::{ExprId, Ref},
    item::{Item, RefPlace, RefTarget},
};

/// The detail of the diagnostic.
pub const DETAIL: &str = "Destroy-time provisioners and their connection configurations may only \
                          reference attributes of the related resource, via 'self', 'count.index', \
                          or 'each.key'.\n\nReferences to other resources during the destroy phase \
                          can cause dependency cycles and interact poorly with create_before_destroy.";

/// The references of an item that have no value when its destroy-time provisioners run.
pub fn refused(item: &Item) -> impl Iterator<Item = ExprId> + '_ {
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
