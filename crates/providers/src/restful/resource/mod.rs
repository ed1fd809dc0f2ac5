//! `restful_resource` as a managed resource: an object of the API that is created, read, updated and deleted.
//!
//! Start reading at [`ManagedResource`], then [`create`], [`read`], [`update`] and [`delete`] for the requests, and
//! [`import`] for the identity. [`upgrade`] reads the states of older versions.
//!
//! **Invariant:** once an object may exist, every error leaves a state that can find it again, or says that it cannot
//! be found: its path is in an answer that did not arrive or cannot be used.
//! **Invariant:** a state never has a part that `ephemeral_body` set.

mod create;
mod delete;
mod import;
mod read;
mod schema;
mod update;
mod upgrade;

use provider::{BoxFuture, ImportTarget};
use values::{Path, Type, Value};

pub(super) use self::{delete::Destruction, upgrade::upgraded};
use super::{
    document::{convert::to_json, patch, select::Document},
    ephemeral_body, output,
    schema::{EPHEMERAL_BODY, validate_prechecks},
    session::{Client, text, tree_of, unusable},
};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object, PlanChange,
    schema::Schema,
    validate::{conflicting, exactly_one_of},
};

/// The managed resource.
pub(super) struct ManagedResource;

impl Resource<Client> for ManagedResource {
    fn type_name(&self) -> &'static str {
        "restful_resource"
    }

    fn schema(&self) -> Schema {
        schema::schema()
    }

    fn identity_schema(&self) -> Option<Schema> {
        Some(import::identity_schema())
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        for prechecks in ["precheck_create", "precheck_update", "precheck_delete"] {
            validate_prechecks(config, prechecks, diagnostics);
        }
        for (_, patch) in config.objects("update_body_patches") {
            exactly_one_of(&patch, &["raw_json", "removed"], diagnostics);
            if patch.bool("removed") == Some(false) {
                let detail = "`removed` can only be true. Leave it out to keep the part.";
                diagnostics.error_at(patch.path_of("removed"), "Invalid Attribute Value", detail);
            }
        }
        conflicting(config, "delete_body", "delete_body_raw", diagnostics);
        validate_write_only(config, diagnostics);
        ephemeral_body::validate(config, diagnostics);
    }

    fn plan<'a>(&'a self, _: &'a Client, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if change.prior.is_null() {
                return Ok(());
            }
            if is_forced(&change.prior, &change.planned)? {
                change.requires_replace.push(Path::root().attr("body"));
            }
            plan_ephemeral(change)
        })
    }

    fn create<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(
            async move { create::create(&mut client.session(&change.stop).await?, change).await },
        )
    }

    fn read<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            read::refresh(&mut client.session(&existing.stop).await?, existing).await
        })
    }

    fn update<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(
            async move { update::update(&mut client.session(&change.stop).await?, change).await },
        )
    }

    fn delete<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            delete::delete(&mut client.session(&existing.stop).await?, existing).await
        })
    }

    fn import<'a>(
        &'a self,
        _: &'a Client,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move { import::import(target, existing) })
    }

    fn upgrade(
        &self,
        from: i64,
        state: serde_json::Value,
    ) -> Result<serde_json::Value, Diagnostic> {
        upgraded(from, state)
    }
}

/// Plans a changed `ephemeral_body`: the answer of the API is then unknown, which makes the change visible.
pub(super) fn plan_ephemeral(change: &mut PlanChange) -> StepResult {
    if ephemeral_body::changed(&change.config.attr(EPHEMERAL_BODY), &change.private)? {
        let active = output::active(&change.planned);
        change.planned.set(active, Value::unknown(Type::Dynamic));
    }
    Ok(())
}

/// Checks that each path of `write_only_attrs` exists in the body.
fn validate_write_only(config: &Object, diagnostics: &mut Diagnostics) {
    if config.is_unknown("body") {
        return;
    }
    let Ok(Some(json)) = to_json(&config.attr("body")) else { return };
    let Ok(document) = Document::parse(json.as_bytes()) else { return };
    for path in config.strings("write_only_attrs") {
        let problem = match document.select(&path) {
            Ok(Some(_)) => continue,
            Ok(None) => format!("`body` has nothing at the path {path:?}."),
            Err(error) => error.to_string(),
        };
        let at = config.path_of("write_only_attrs");
        diagnostics.error_at(at, "Invalid path in \"write_only_attrs\"", problem);
    }
}

/// Returns true if the body changes at a path of `force_new_attrs`.
fn is_forced(prior: &Object, planned: &Object) -> Result<bool, Diagnostic> {
    let paths = planned.strings("force_new_attrs");
    if paths.is_empty() || planned.is_unknown("body") {
        return Ok(false);
    }
    let (before, after) = (tree_of(prior, "body")?, tree_of(planned, "body")?);
    let (Some(before), Some(after)) = (before, after) else { return Ok(false) };
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

/// The method of an operation: the one that the object names, else that of the provider.
fn method(of: &Object, name: &str, default: &http_client::Method) -> http_client::Method {
    let own = text(of, name);
    http_client::Method::from_bytes(own.as_bytes()).unwrap_or_else(|_| default.clone())
}
