//! The managed `restful_resource`, schema version 2 (`docs/restful.md`, "`restful_resource`").

use std::collections::BTreeSet;

use values::Value;

use crate::restful::{
    document::{convert::to_json, select::Document},
    ephemeral_body,
    expression::expand::validate_path,
    output::Output,
    schema::{Arguments, DeleteArguments, ObjectPrecheck, Polling, Precheck, Texts, Verb},
};
use mayfly_sdk::{Diagnostics, Model, Object};

/// An object of an HTTP API.
#[derive(Clone, Model)]
#[model(version = 2, validate = validate_write_only, validate = ephemeral_body::validate)]
pub(in crate::restful) struct ApiObject {
    /// The path of the object.
    #[attribute(computed, keeps_state)]
    pub(super) id: Option<String>,
    /// The path of the request that creates the object.
    #[attribute(requires_replace)]
    pub(super) path: String,
    /// The properties of the object.
    #[attribute(required)]
    pub(super) body: Value,
    /// The part of the body that is never stored; it is merged into `body` in requests.
    #[attribute(write_only)]
    pub(super) ephemeral_body: Value,
    /// Parts of `body` that the API does not return (gjson).
    pub(super) write_only_attrs: Option<Texts>,
    /// Parts of `body` whose change replaces the object (gjson).
    pub(super) force_new_attrs: Option<BTreeSet<Option<String>>>,
    #[flatten]
    pub(super) arguments: Arguments,
    #[flatten]
    pub(super) create: CreateArguments,
    #[flatten]
    pub(super) read: ReadArguments,
    #[flatten]
    pub(super) update: UpdateArguments,
    #[flatten]
    pub(super) delete: Deletion,
    #[flatten]
    pub(super) output: Output,
}

/// The arguments of the creation.
#[derive(Clone, Model)]
pub(super) struct CreateArguments {
    /// By default that of the provider.
    #[attribute(one_of("PUT", "POST", "PATCH"))]
    pub(super) create_method: Option<Verb>,
    /// Fail if the object exists already.
    pub(super) check_existance: Option<bool>,
    /// The part of the answer that is the object (gjson).
    pub(super) create_selector: Option<String>,
    #[flatten(prefix = "create_")]
    pub(super) arguments: Arguments,
    /// Conditions for the request: each is a lock or a status of the API.
    pub(super) precheck_create: Option<Vec<Precheck>>,
    pub(super) poll_create: Option<Polling>,
    /// A read between the creation and the first `read_path`.
    pub(super) post_create_read: Option<PostCreateRead>,
}

/// A read after the creation.
#[derive(Clone, Model)]
pub(super) struct PostCreateRead {
    /// The path to read.
    #[attribute(check = validate_path)]
    pub(super) path: String,
    #[flatten]
    pub(super) arguments: Arguments,
    /// The part of the answer to use (gjson).
    pub(super) selector: Option<String>,
}

/// The arguments of reads.
#[derive(Clone, Model)]
pub(super) struct ReadArguments {
    /// The path of the object; by default `path`. It can use $(path) and $(body.x).
    #[attribute(check = validate_path)]
    pub(super) read_path: Option<String>,
    /// As `create_selector`.
    pub(super) read_selector: Option<String>,
    /// A text with $(body) that replaces the answer.
    pub(super) read_response_template: Option<String>,
    #[flatten(prefix = "read_")]
    pub(super) arguments: Arguments,
}

/// The arguments of updates.
#[derive(Clone, Model)]
pub(super) struct UpdateArguments {
    /// By default the `id`.
    #[attribute(check = validate_path)]
    pub(super) update_path: Option<String>,
    /// By default that of the provider.
    #[attribute(one_of("PUT", "PATCH", "POST"))]
    pub(super) update_method: Option<Verb>,
    /// Send the whole body in updates by PATCH, in place of a merge patch.
    pub(super) merge_patch_disabled: Option<bool>,
    /// Changes of the body of updates, in order.
    pub(super) update_body_patches: Option<Vec<BodyPatch>>,
    #[flatten(prefix = "update_")]
    pub(super) arguments: Arguments,
    /// Conditions for the request: each is a lock or a status of the API.
    pub(super) precheck_update: Option<Vec<ObjectPrecheck>>,
    pub(super) poll_update: Option<Polling>,
}

/// A change of the body of updates.
#[derive(Clone, Model)]
#[model(exactly_one_of(raw_json, removed), validate = validate_removed)]
pub(super) struct BodyPatch {
    /// A path in the language of sjson.
    pub(super) path: String,
    /// The new part as JSON; $(body.x) works.
    pub(super) raw_json: Option<String>,
    /// True removes the part.
    pub(super) removed: Option<bool>,
}

/// The arguments of the deletion.
#[derive(Clone, Model)]
#[model(conflicting("delete_body", delete_body_raw))]
pub(super) struct Deletion {
    /// By default that of the provider.
    #[attribute(one_of("DELETE", "POST", "PUT", "PATCH"))]
    pub(super) delete_method: Option<Verb>,
    /// The body of the deletion as a text; $(body.x) works.
    pub(super) delete_body_raw: Option<String>,
    #[flatten]
    pub(super) request: DeleteArguments,
}

fn validate_removed(patch: &Object, diagnostics: &mut Diagnostics) {
    if patch.bool(BodyPatch::REMOVED) == Some(false) {
        let detail = "`removed` can only be true. Leave it out to keep the part.";
        let path = patch.path_of(BodyPatch::REMOVED);
        diagnostics.error_at(path, "Invalid Attribute Value", detail);
    }
}

/// Checks that each path of `write_only_attrs` exists in the body.
fn validate_write_only(config: &Object, diagnostics: &mut Diagnostics) {
    if config.is_unknown(ApiObject::BODY) {
        return;
    }
    let Ok(Some(json)) = to_json(&config.attr(ApiObject::BODY)) else { return };
    let Ok(document) = Document::parse(json.as_bytes()) else { return };
    for path in config.strings(ApiObject::WRITE_ONLY_ATTRS) {
        let problem = match document.select(&path) {
            Ok(Some(_)) => continue,
            Ok(None) => format!("`body` has nothing at the path {path:?}."),
            Err(error) => error.to_string(),
        };
        let at = config.path_of(ApiObject::WRITE_ONLY_ATTRS);
        diagnostics.error_at(at, "Invalid path in \"write_only_attrs\"", problem);
    }
}
