//! What provisioners that run at destruction may refer to. The analysis refuses the rest, and so does whoever would run
//! one, in the same words: nothing else has a value while objects are destroyed.

use crate::{
    expr::{ExprId, Ref},
    item::{Item, RefPlace, RefTarget},
};

/// The id of the diagnostic.
pub const ID: &str = "invalid-destroy-reference";

/// Its summary.
pub const SUMMARY: &str = "Invalid reference from destroy provisioner";

/// Its detail.
pub const DETAIL: &str = "Destroy-time provisioners and their connection configurations may only reference attributes of the related resource, \
                          via 'self', 'count.index', or 'each.key'.\n\nReferences to other resources during the destroy phase can cause \
                          dependency cycles and interact poorly with create_before_destroy.";

/// The references of an item that would have no value when its provisioners run.
pub fn refused(item: &Item) -> impl Iterator<Item = ExprId> + '_ {
    let at_destroy = item.refs.iter().filter(|it| it.place == RefPlace::DestroyProvisioner);
    at_destroy.filter(|it| !is_available(&it.target)).map(|it| it.expr)
}

/// Whether a reference has a value while the object is destroyed. `each.value` has none: it comes from the configuration.
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
