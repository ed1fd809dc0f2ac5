//! The creation of an object.

use http_client::Method;

use super::{
    import::identity,
    method,
    read::{Reading, read_back},
};
use crate::restful::{
    ephemeral_body::{Bodies, remember},
    expression::expand::{expand_body, expand_path},
    output,
    request::{build::DefaultContentType, client::Answer},
    schema::{headers_of, query_of},
    session::{Outgoing, Parameters, Session, expanded_path, selected, text, unusable},
    waiting::{Begun, Guarded, await_end, precheck},
};
use mayfly_sdk::erased::{Change, StepResult};
use mayfly_sdk::{Diagnostic, Object};

/// Creates the object. After the answer of the API, an error leaves a state with what is known of it.
pub(super) async fn create(session: &mut Session<'_>, change: &mut Change) -> StepResult {
    let planned = change.planned.clone();
    let bodies = Bodies::of(&planned, &change.config)?;
    if let Some(ephemeral) = &bodies.ephemeral {
        session.hidden.add_body(&ephemeral.tree);
    }
    if planned.bool("check_existance") == Some(true) {
        check_absence(session, &planned).await?;
    }
    let parameters = session.parameters(&planned, "create", None);
    let path = text(&planned, "path");
    let guarded =
        Guarded { attribute: "precheck_create", path: "", document: &[], parameters: &parameters };
    let _locks = precheck(session, &planned, &guarded).await?;
    let answer = session
        .send(Outgoing {
            name: "Create",
            method: method(&planned, "create_method", &session.settings.methods.create),
            path: &path,
            parameters: &parameters,
            body: bodies.merged().map(|it| it.text()),
            content_type: DefaultContentType::Always,
            is_operation: false,
        })
        .await?;
    let answer = session.accepted("Create", answer)?;
    let document = created(&planned, &answer).map_err(orphaned)?;
    let id = identify(&planned, &document).map_err(orphaned)?;
    remember(&mut change.private, bodies.applied());
    let created = Created { planned: &planned, parameters: &parameters, bodies: &bodies };
    created.finish(session, change, &answer, &document, id).await
}

/// An object that the API has created.
struct Created<'a> {
    planned: &'a Object,
    parameters: &'a Parameters,
    bodies: &'a Bodies,
}

impl Created<'_> {
    async fn finish(
        &self,
        session: &Session<'_>,
        change: &mut Change,
        answer: &Answer,
        document: &[u8],
        id: String,
    ) -> StepResult {
        self.keep(change, document, &id);
        let begun = Begun {
            attribute: "poll_create",
            answer,
            url: &id,
            document,
            parameters: self.parameters,
        };
        await_end(session, self.planned, &begun).await?;
        let session = &session.finishing();
        let reread = self.read_after(session, document).await?;
        let document = reread.as_deref().unwrap_or(document);
        if reread.is_some() {
            let id = identify(self.planned, document)?;
            self.keep(change, document, &id);
        }
        let reading =
            Reading { of: change.state.clone(), reference: document, updates_body: false };
        let shape = self.bodies.applied().map(|it| it.shape());
        change.state = read_back(session, &reading, shape, "creation").await?;
        change.identity = Some(identity(&change.state)?);
        Ok(())
    }

    /// Keeps what is known of the object, in case that a later step fails.
    fn keep(&self, change: &mut Change, document: &[u8], id: &str) {
        let mut state = self.planned.clone();
        state.set("id", id);
        let shape = self.bodies.applied().map(|it| it.shape());
        if output::store(&mut state, document, shape).is_err() {
            output::clear(&mut state);
        }
        change.identity = identity(&state).ok();
        change.state = state;
    }

    /// Makes the request of `post_create_read`. `None` if there is none.
    async fn read_after(
        &self,
        session: &Session<'_>,
        document: &[u8],
    ) -> Result<Option<Vec<u8>>, Diagnostic> {
        let Some(read) = self.planned.object("post_create_read") else { return Ok(None) };
        let invalid =
            |error: &dyn std::fmt::Display| unusable("post_create_read", &error.to_string());
        let path = expand_path(&text(&read, "path"), &text(self.planned, "path"), document);
        let parameters = session.parameters(self.planned, "read", Some(document));
        let (query, headers) = (query_of(&read.attr("query")), headers_of(&read.attr("header")));
        let outgoing = Outgoing {
            name: "Post-create read",
            method: Method::GET,
            path: &path.map_err(|it| invalid(&it))?,
            parameters: &parameters.with(query, headers, Some(document)),
            body: None,
            content_type: DefaultContentType::Never,
            is_operation: false,
        };
        let answer = session.send(outgoing).await?;
        let answer = session.accepted("Post-create read", answer)?;
        let selector = read.string("selector").map(|it| expand_body(&it, &answer.body));
        let selector = selector.transpose().map_err(|it| invalid(&it))?;
        let part = selected("post_create_read", selector.as_deref(), &answer.body)?;
        part.map(Some).ok_or_else(|| invalid(&"the answer has nothing at `selector`"))
    }
}

/// Checks that the object does not exist yet.
async fn check_absence(session: &Session<'_>, planned: &Object) -> StepResult {
    let path = text(planned, "path");
    let outgoing = Outgoing {
        name: "Existence check",
        method: Method::GET,
        path: &path,
        parameters: &session.parameters(planned, "read", None),
        body: None,
        content_type: DefaultContentType::Never,
        is_operation: false,
    };
    let answer = session.send(outgoing).await?;
    if answer.status.as_u16() == 404 {
        return Ok(());
    }
    let detail = format!(
        "{path} answers {} to a read, so there is an object already, or it cannot be ruled out. \
         Import it, or remove `check_existance`.",
        answer.status.as_u16()
    );
    Err(Diagnostic::error("Resource already exists", detail))
}

/// The part of the answer that is the object.
fn created(planned: &Object, answer: &Answer) -> Result<Vec<u8>, Diagnostic> {
    let selector = planned.string("create_selector");
    selected("create_selector", selector.as_deref(), &answer.body)?
        .ok_or_else(|| unusable("create_selector", "the answer has nothing at this path"))
}

/// The path of the object.
fn identify(planned: &Object, document: &[u8]) -> Result<String, Diagnostic> {
    Ok(expanded_path(planned, "read_path", document)?.unwrap_or_else(|| text(planned, "path")))
}

/// Tells that the object exists without a state.
fn orphaned(mut error: Diagnostic) -> Diagnostic {
    error.detail = format!(
        "{} The API has created the object, but where it is cannot be told from the answer, so it \
         is not in the state. Remove it from the API, or import it.",
        error.detail
    );
    error
}
