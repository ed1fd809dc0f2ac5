//! The deletion of an object, and the call at the destruction of an operation.

use http_client::{Method, StatusCode};

use super::method;
use crate::restful::{
    ephemeral_body::applied,
    output,
    request::build::DefaultContentType,
    session::{Outgoing, Session, expanded_path, expanded_text, json_of, text},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::erased::{Existing, StepResult};

/// The request of a destruction.
pub(in crate::restful) struct Destruction {
    /// The name of the API in messages.
    pub(in crate::restful) name: &'static str,
    pub(in crate::restful) method: Method,
    pub(in crate::restful) content_type: DefaultContentType,
    pub(in crate::restful) is_operation: bool,
    /// True if the status 404 is success.
    pub(in crate::restful) may_be_gone: bool,
}

/// Deletes the object. One that does not exist counts as deleted.
pub(super) async fn delete(session: &mut Session<'_>, existing: &Existing) -> StepResult {
    let method = method(&existing.state, "delete_method", &session.settings.methods.delete);
    let destruction = Destruction {
        name: "Delete",
        may_be_gone: method == Method::DELETE,
        method,
        content_type: DefaultContentType::WithBody,
        is_operation: false,
    };
    destruction.send(session, existing).await
}

impl Destruction {
    /// Sends the request with the `delete_` arguments of the state, and awaits its end.
    pub(in crate::restful) async fn send(
        self,
        session: &mut Session<'_>,
        existing: &Existing,
    ) -> StepResult {
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
        let body = match expanded_text(state, "delete_body_raw", &reference)? {
            Some(raw) => Some(raw),
            None => json_of(state, "delete_body")?,
        };
        let path = expanded_path(state, "delete_path", &reference)?.unwrap_or(id);
        let outgoing = Outgoing {
            name: self.name,
            method: self.method,
            path: &path,
            parameters: &parameters,
            body,
            content_type: self.content_type,
            is_operation: self.is_operation,
        };
        let answer = session.send(outgoing).await?;
        if self.may_be_gone && answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        let answer = session.accepted(self.name, answer)?;
        let begun = Begun {
            attribute: "poll_delete",
            answer: &answer,
            url: &path,
            document: &reference,
            parameters: &parameters,
        };
        await_end(session, state, &begun).await
    }
}
