//! The update of an object.

use http_client::Method;

use super::{
    import::identity,
    method,
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
    output,
    request::{build::DefaultContentType, locks::HeldLocks},
    schema::EPHEMERAL_BODY,
    session::{Outgoing, Session, expanded_path, text, tree_of, unusable},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::erased::{Change, StepResult};
use mayfly_sdk::{Diagnostic, Object};

/// Updates the object. Nothing is sent if neither the body nor `ephemeral_body` changes.
pub(super) async fn update(session: &mut Session<'_>, change: &mut Change) -> StepResult {
    let planned = change.planned.clone();
    let bodies = Bodies::of(&planned, &change.config)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    let before = applied(&change.private)?;
    let reference = output::document(&change.prior)?;
    let update = Update {
        prior: tree_of(&change.prior, "body")?,
        body: patched(&planned, bodies.body.clone(), &reference)?,
        planned: &planned,
        bodies: &bodies,
        before: before.as_ref(),
        reference: &reference,
    };
    let is_changed = changed(&change.config.attr(EPHEMERAL_BODY), &change.private)?;
    // The locks of the prechecks are held until the object was read.
    let _locks = match is_changed || update.prior != update.body {
        true => update.send(session, change).await?,
        false => HeldLocks::new(),
    };
    let mut of = planned.clone();
    of.set("id", change.prior.attr("id"));
    let reading = Reading { of, reference: &reference, updates_body: false };
    let shape = bodies.applied().map(|it| it.shape());
    change.state = read_back(&session.finishing(), &reading, shape, "update").await?;
    change.identity = Some(identity(&change.state)?);
    remember(&mut change.private, bodies.applied());
    Ok(())
}

/// Applies `update_body_patches` to the body.
fn patched(
    planned: &Object,
    body: Option<Tree>,
    reference: &[u8],
) -> Result<Option<Tree>, Diagnostic> {
    let patches = planned.objects("update_body_patches");
    if patches.is_empty() {
        return Ok(body);
    }
    let invalid = |it: &dyn std::fmt::Display| unusable("update_body_patches", &it.to_string());
    let mut document = body.map(|it| it.text()).unwrap_or_default();
    for (_, patch) in patches {
        let path = text(&patch, "path");
        document = match patch.string("raw_json") {
            None => delete(document.as_bytes(), &path).map_err(|it| invalid(&it))?,
            Some(raw) => {
                let raw = expand_body(&raw, reference).map_err(|it| invalid(&it))?;
                set_raw(document.as_bytes(), &path, raw.as_bytes()).map_err(|it| invalid(&it))?
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
    planned: &'a Object,
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
        change: &mut Change,
    ) -> Result<HeldLocks, Diagnostic> {
        let parameters = session.parameters(self.planned, "update", Some(self.reference));
        let id = text(&change.prior, "id");
        let guarded = Guarded {
            attribute: "precheck_update",
            path: &id,
            document: self.reference,
            parameters: &parameters,
        };
        let locks = precheck(session, self.planned, &guarded).await?;
        let method = method(self.planned, "update_method", &session.settings.methods.update);
        let path = expanded_path(self.planned, "update_path", self.reference)?.unwrap_or(id);
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
        remember(&mut change.private, unconfirmed.as_ref());
        let answer = session.send(outgoing).await?;
        if answer.status.is_client_error() {
            remember(&mut change.private, self.before);
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
        await_end(session, self.planned, &begun).await?;
        Ok(locks)
    }

    fn request_body(
        &self,
        session: &Session<'_>,
        method: &Method,
    ) -> Result<Option<String>, Diagnostic> {
        let is_whole = self.planned.bool("merge_patch_disabled");
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
