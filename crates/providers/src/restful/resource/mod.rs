//! `restful_resource` as a managed resource: an object of the API that is created, read, updated and deleted.
//!
//! Start reading at [`ManagedResource`], then [`create`], [`read`], [`update`] and [`delete`] for the requests, and
//! [`import`] for the identity. [`arguments`] is the schema; [`upgrade`] reads the states of older versions.
//!
//! **Invariant:** once an object may exist, every error leaves a state that can find it again, or says that it cannot
//! be found: its path is in an answer that did not arrive or cannot be used.
//! **Invariant:** a state never has a part that `ephemeral_body` set.

mod arguments;
mod create;
mod delete;
mod import;
mod read;
mod update;
mod upgrade;

use values::{Type, Value};

use self::arguments::ApiObject;
pub(super) use self::{delete::Destruction, upgrade::upgrades};
use super::{
    document::{patch, select::Document},
    ephemeral_body, output,
    schema::EPHEMERAL_BODY,
    session::{Client, tree_of, unusable},
};
use mayfly_sdk::{Call, Diagnostic, Import, Object, PlanChange, Resource, Upgrade, schema::Schema};

/// The managed resource.
pub(super) struct ManagedResource;

impl Resource<Client> for ManagedResource {
    type Model = ApiObject;

    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    fn identity_schema(&self) -> Option<Schema> {
        Some(import::identity_schema())
    }

    async fn plan(&self, _: &Client, change: &mut PlanChange) -> Result<(), Diagnostic> {
        if change.is_creation() {
            return Ok(());
        }
        if is_forced(&change.prior, &change.planned)? {
            change.require_replace(ApiObject::BODY);
        }
        plan_ephemeral(change)
    }

    async fn create(
        &self,
        client: &Client,
        planned: ApiObject,
        call: &mut Call,
    ) -> Result<ApiObject, Diagnostic> {
        create::create(&mut client.session(&call.stop).await?, planned, call).await
    }

    async fn read(
        &self,
        client: &Client,
        state: ApiObject,
        call: &mut Call,
    ) -> Result<Option<ApiObject>, Diagnostic> {
        read::refresh(&mut client.session(&call.stop).await?, state, call).await
    }

    async fn update(
        &self,
        client: &Client,
        prior: ApiObject,
        planned: ApiObject,
        call: &mut Call,
    ) -> Result<ApiObject, Diagnostic> {
        update::update(&mut client.session(&call.stop).await?, &prior, planned, call).await
    }

    async fn delete(
        &self,
        client: &Client,
        state: ApiObject,
        call: &mut Call,
    ) -> Result<(), Diagnostic> {
        delete::delete(&mut client.session(&call.stop).await?, &state, &call.private).await
    }

    async fn import(
        &self,
        _: &Client,
        target: Import,
        call: &mut Call,
    ) -> Result<Option<ApiObject>, Diagnostic> {
        let imported = import::imported(&target)?;
        call.identity = Some(import::identity(&imported)?);
        Ok(Some(imported))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        upgrades()
    }
}

/// Plans a changed `ephemeral_body`: the answer of the API is then unknown, which makes the change visible.
pub(super) fn plan_ephemeral(change: &mut PlanChange) -> Result<(), Diagnostic> {
    if ephemeral_body::changed(&change.config.attr(EPHEMERAL_BODY), &change.private)? {
        let active = output::active(&change.planned);
        change.planned.set(active, Value::unknown(Type::Dynamic));
    }
    Ok(())
}

/// Returns true if the body changes at a path of `force_new_attrs`.
fn is_forced(prior: &Object, planned: &Object) -> Result<bool, Diagnostic> {
    let paths = planned.strings(ApiObject::FORCE_NEW_ATTRS);
    if paths.is_empty() || planned.is_unknown(ApiObject::BODY) {
        return Ok(false);
    }
    let [before, after] = [prior, planned].map(|it| tree_of("body", &it.attr(ApiObject::BODY)));
    let (Some(before), Some(after)) = (before?, after?) else { return Ok(false) };
    if before == after {
        return Ok(false);
    }
    // Bodies without a common structure change as a whole.
    let changes = patch::diff(&before, &after).unwrap_or(after).text();
    let changes = Document::parse(changes.as_bytes());
    let changes = changes.map_err(|it| unusable("force_new_attrs", &it.to_string()))?;
    for path in paths {
        let found = changes.select(&path);
        if found.map_err(|it| unusable("force_new_attrs", &it.to_string()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
