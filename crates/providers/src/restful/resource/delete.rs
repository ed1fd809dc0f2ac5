//! The deletion of an object.

use http_client::{Method, StatusCode};

use super::method;
use crate::{
    restful::{
        ephemeral_body::applied,
        output,
        request::build::DefaultContentType,
        session::{Outgoing, Session, expanded_path, expanded_text, json_of, text},
        waiting::{Begun, Guarded, await_end, precheck},
    },
    sdk::{Existing, StepResult},
};

/// Deletes the object. One that does not exist counts as deleted.
pub(super) async fn delete(session: &mut Session<'_>, existing: &Existing) -> StepResult {
    let state = &existing.state;
    if let Some(applied) = applied(&existing.private)? {
        session.hidden.add_shape(applied.shape());
    }
    let reference = output::document(state)?;
    let parameters = session.parameters(state, "delete", Some(&reference));
    let id = text(state, "id");
    let guarded = Guarded {
        attribute: "precheck_delete",
        path: &id,
        document: &reference,
        parameters: &parameters,
    };
    let _locks = precheck(session, state, &guarded).await?;
    let method = method(state, "delete_method", &session.settings.methods.delete);
    let body = match expanded_text(state, "delete_body_raw", &reference)? {
        Some(raw) => Some(raw),
        None => json_of(state, "delete_body")?,
    };
    let path = expanded_path(state, "delete_path", &reference)?.unwrap_or(id);
    let outgoing = Outgoing {
        name: "Delete",
        method: method.clone(),
        path: &path,
        parameters: &parameters,
        body,
        content_type: DefaultContentType::WithBody,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    if method == Method::DELETE && answer.status == StatusCode::NOT_FOUND {
        return Ok(());
    }
    let answer = session.accepted("Delete", answer)?;
    let begun = Begun {
        attribute: "poll_delete",
        answer: &answer,
        url: &path,
        document: &reference,
        parameters: &parameters,
    };
    await_end(session, state, &begun).await
}
