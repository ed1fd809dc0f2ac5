//! The update of an object.

use http_client::Method;

use super::{
    arguments::{ApiObject, BodyPatch},
    import::identity,
    read::{Reading, read_back},
};
use crate::restful::{
    document::{
        applied::Applied,
        edit::{delete, set_raw},
        tree::Tree,
    },
    ephemeral_body::{Bodies, applied, changed, merge, merge_patch, remember},
    expression::expand::expand_body,
    request::{build::DefaultContentType, locks::HeldLocks},
    session::{Expression, Outgoing, Session, tree_of, unusable},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::{Call, Diagnostic, PrivateState};

/// Updates the object. Nothing is sent if neither the body nor `ephemeral_body` changes.
pub(super) async fn update(
    session: &mut Session<'_>,
    prior: &ApiObject,
    mut planned: ApiObject,
    call: &mut Call,
) -> Result<ApiObject, Diagnostic> {
    planned.id.clone_from(&prior.id);
    let bodies = Bodies::of(&planned.body, &planned.ephemeral_body)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    let before = applied(&call.private)?;
    let reference = prior.output.document()?;
    let patches = planned.update.update_body_patches.as_deref().unwrap_or_default();
    let update = Update {
        prior: tree_of("body", &prior.body)?,
        body: patched(patches, bodies.body.clone(), &reference)?,
        planned: &planned,
        bodies: &bodies,
        before: before.as_ref(),
        reference: &reference,
    };
    let is_changed = changed(&planned.ephemeral_body, &call.private)?;
    // The locks of the prechecks are held until the object was read.
    let _locks = match is_changed || update.prior != update.body {
        true => update.send(session, &mut call.private).await?,
        false => HeldLocks::new(),
    };
    let reading = Reading { of: planned, reference: &reference, updates_body: false };
    let shape = bodies.applied().map(|it| it.shape());
    let state = read_back(&session.finishing(), reading, shape, "update").await?;
    call.identity = Some(identity(&state)?);
    remember(&mut call.private, bodies.applied());
    Ok(state)
}

/// Applies `update_body_patches` to the body.
fn patched(
    patches: &[BodyPatch],
    body: Option<Tree>,
    reference: &[u8],
) -> Result<Option<Tree>, Diagnostic> {
    if patches.is_empty() {
        return Ok(body);
    }
    let invalid = |it: &dyn std::fmt::Display| unusable("update_body_patches", &it.to_string());
    let mut document = body.map(|it| it.text()).unwrap_or_default();
    for BodyPatch { path, raw_json, .. } in patches {
        document = match raw_json {
            None => delete(document.as_bytes(), path).map_err(|it| invalid(&it))?,
            Some(raw) => {
                let raw = expand_body(raw, reference).map_err(|it| invalid(&it))?;
                set_raw(document.as_bytes(), path, raw.as_bytes()).map_err(|it| invalid(&it))?
            }
        };
    }
    Tree::parse(document.as_bytes()).map(Some).map_err(|it| invalid(&it))
}

/// An update that is to be sent.
struct Update<'a> {
    /// The body of the state.
    prior: Option<Tree>,
    /// The new body without `ephemeral_body`.
    body: Option<Tree>,
    /// The new object with the `id` of the prior one.
    planned: &'a ApiObject,
    bodies: &'a Bodies,
    /// The `ephemeral_body` of the last request.
    before: Option<&'a Applied>,
    /// The answer that is known, for expressions.
    reference: &'a [u8],
}

impl Update<'_> {
    async fn send(
        &self,
        session: &Session<'_>,
        private: &mut PrivateState,
    ) -> Result<HeldLocks, Diagnostic> {
        let planned = self.planned;
        let arguments = &planned.update;
        let parameters =
            session.parameters(&planned.arguments, &arguments.arguments, Some(self.reference));
        let id = planned.id.as_deref().unwrap_or_default();
        let guarded = Guarded {
            attribute: "precheck_update",
            path: id,
            document: self.reference,
            parameters: &parameters,
        };
        let locks = precheck(session, arguments.precheck_update.as_ref(), &guarded).await?;
        let method = arguments.update_method.as_ref().map(|it| &it.0);
        let method = method.unwrap_or(&session.settings.methods.update).clone();
        let path = Expression::new("update_path", arguments.update_path.as_ref());
        let path = path.path(&planned.path, self.reference)?.unwrap_or_else(|| id.to_owned());
        let outgoing = Outgoing {
            name: "Update",
            body: self.request_body(session, &method)?,
            method,
            path: &path,
            parameters: &parameters,
            content_type: DefaultContentType::Always,
            is_operation: false,
        };
        // From here on the API may have the old parts, the new ones, or both.
        let unconfirmed = Applied::unconfirmed(self.before, self.bodies.applied());
        remember(private, unconfirmed.as_ref());
        let answer = session.send(outgoing).await?;
        if answer.status.is_client_error() {
            remember(private, self.before);
        }
        let answer = session.accepted("Update", answer)?;
        let url = answer.url.expose();
        let begun = Begun {
            attribute: "poll_update",
            answer: &answer,
            url: &url,
            document: self.reference,
            parameters: &parameters,
        };
        await_end(session, arguments.poll_update.as_ref(), &begun).await?;
        Ok(locks)
    }

    fn request_body(
        &self,
        session: &Session<'_>,
        method: &Method,
    ) -> Result<Option<String>, Diagnostic> {
        let is_whole = self.planned.update.merge_patch_disabled;
        let is_whole = is_whole.unwrap_or(session.settings.merge_patch_disabled);
        let ephemeral = self.bodies.ephemeral.as_ref();
        match (&self.prior, &self.body) {
            (Some(prior), Some(body)) if method == Method::PATCH && !is_whole => {
                let patch = merge_patch(prior, self.before, body, ephemeral);
                patch.map(|it| Some(it.text())).map_err(|it| unusable("body", &it.to_string()))
            }
            (_, body) => Ok(merge(body.clone(), ephemeral).map(|it| it.text())),
        }
    }
}
