//! The plan to show.

use std::sync::Arc;

use provider::{Block, Schema};
use state::{Plan, ResourceChange};

use crate::Schemas;

/// A plan with the data needed to show it.
#[derive(Clone, Copy)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The schemas of its providers. An object without a schema is shown by the types of its values.
    pub schemas: Schemas<'a>,
    /// True if sensitive values are shown in clear text (`-show-sensitive`). Ephemeral values are never shown.
    pub show_sensitive: bool,
}

/// The data besides an object that decides how it is shown.
#[derive(Clone, Copy)]
pub(crate) struct ObjectView<'a> {
    /// The block of the object's schema. `None` if it is shown by the types of its values.
    pub(crate) block: Option<&'a Block>,
    /// True if sensitive values are shown in clear text.
    pub(crate) show_sensitive: bool,
    /// The data directory of the plan; empty if it is not known.
    pub(crate) data_dir: &'a str,
}

/// Finds the schemas of objects, most of which follow an object of the same type.
pub(crate) struct SchemaFinder<'a> {
    schemas: Schemas<'a>,
    last: Option<(&'a ResourceChange, Option<Arc<Schema>>)>,
}

impl<'a> SchemaFinder<'a> {
    pub(crate) fn new(schemas: Schemas<'a>) -> SchemaFinder<'a> {
        SchemaFinder { schemas, last: None }
    }

    /// The block of an object's schema. `None` if it is not known.
    pub(crate) fn block(&mut self, change: &'a ResourceChange) -> Option<&Block> {
        if !self.last.as_ref().is_some_and(|(last, _)| has_same_type(last, change)) {
            let resource = &change.addr.resource;
            let schemas = (self.schemas)(&change.provider.source);
            let schema = schemas.and_then(|it| it.of_mode(resource.mode, &resource.type_name));
            self.last = Some((change, schema));
        }
        let (_, schema) = self.last.as_ref()?;
        Some(schema.as_ref()?.block())
    }
}

fn has_same_type(a: &ResourceChange, b: &ResourceChange) -> bool {
    let (one, other) = (&a.addr.resource, &b.addr.resource);
    one.mode == other.mode
        && one.type_name == other.type_name
        && a.provider.source == b.provider.source
}
