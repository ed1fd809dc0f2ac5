//! The handlers of requests. Each handler queues its message and returns at once; the answer comes later.

use std::sync::{Arc, mpsc::Sender};

use serde::Serialize;
use serde_json::Value as Json;
use tokio::sync::oneshot;
use tower_lsp_server::ls_types::*;

use crate::{
    checks,
    client::InitializeParams,
    convert,
    documents::path_of,
    message::Message,
    snapshot::{
        Answer, Compute, Interest, Needs, QueuedRequest, Snapshot, Target, internal_error, json_of,
    },
};

/// The number of retries after edits, for requests whose answers do not depend on a position in the old text.
const PERSISTENT: u8 = 20;

/// The client-facing end of the message queue.
pub(crate) struct LanguageFrontEnd {
    messages: Sender<Message>,
}

/// The answer to a request, which may not be known yet. The computation of an answer that is dropped is cancelled.
pub(crate) enum PendingAnswer {
    Known(Answer),
    Requested(oneshot::Receiver<Answer>, InterestGuard),
}

impl PendingAnswer {
    /// Returns the answer as soon as it is known.
    pub(crate) async fn wait(self) -> Answer {
        match self {
            PendingAnswer::Known(answer) => answer,
            PendingAnswer::Requested(answer, _guard) => {
                // The server thread drops a request only if it fails.
                answer.await.unwrap_or_else(|_| Err(internal_error()))
            }
        }
    }

    /// An answer without a result.
    pub(crate) fn null() -> PendingAnswer {
        PendingAnswer::Known(Ok(Json::Null))
    }
}

/// Cancels the computation of an answer when it is dropped, because the client has cancelled the request.
pub(crate) struct InterestGuard(Arc<Interest>);

impl Drop for InterestGuard {
    fn drop(&mut self) {
        self.0.lose();
    }
}

impl LanguageFrontEnd {
    pub(crate) fn new(messages: Sender<Message>) -> LanguageFrontEnd {
        LanguageFrontEnd { messages }
    }

    /// Queues a message.
    pub(crate) fn send(&self, message: Message) {
        // If the server thread is gone, the process is about to end.
        let _ = self.messages.send(message);
    }

    /// Makes a request about a file of a module. The answer is `null` if the file is not part of a module.
    fn request_for_file<R: Serialize>(
        &self,
        uri: &Uri,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        self.ask_with(uri, Needs::File, attempts, compute)
    }

    /// Makes a request about a file of a module or about a test file, whose target has the module under test.
    fn ask_of_tests_too<R: Serialize>(
        &self,
        uri: &Uri,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        self.ask_about(uri, needs, attempts, move |snapshot, target| {
            json_of(&compute(snapshot, target))
        })
    }

    /// Makes a request about a file of a module or about a test file, whose computation may refuse it.
    fn ask_about(
        &self,
        uri: &Uri,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Answer + Send + 'static,
    ) -> PendingAnswer {
        let Some(path) = path_of(uri) else { return PendingAnswer::null() };
        let own = path.clone();
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            let target = target.or_else(|| snapshot.test_target(&own));
            target.map_or(Ok(Json::Null), |target| compute(snapshot, target))
        };
        self.ask(Some(path), needs, attempts, compute)
    }

    /// Makes a request about a file of a module that may need more data than the file.
    fn ask_with<R: Serialize>(
        &self,
        uri: &Uri,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        let Some(path) = path_of(uri) else { return PendingAnswer::null() };
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            json_of(&target.and_then(|target| compute(snapshot, target)))
        };
        self.ask(Some(path), needs, attempts, compute)
    }

    /// Makes a request about a file of a module, a test file or a variables file.
    fn ask_of_either<R: Serialize>(
        &self,
        uri: &Uri,
        attempts: u8,
        of_module: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
        of_variables_file: impl Fn(&Snapshot, &str) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        let Some(path) = path_of(uri) else { return PendingAnswer::null() };
        let own = path.clone();
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            json_of(&match target.or_else(|| snapshot.test_target(&own)) {
                Some(target) => of_module(snapshot, target),
                None => of_variables_file(snapshot, &own),
            })
        };
        self.ask(Some(path), Needs::File, attempts, compute)
    }

    /// Requests the formatting of a file or of a range of it.
    fn format(&self, uri: &Uri, range: Option<Range>) -> PendingAnswer {
        self.ask_of_either(
            uri,
            0,
            move |snapshot, target| convert::formatting(snapshot, target, range),
            move |snapshot, path| convert::formatting_of_variables_file(snapshot, path, range),
        )
    }

    /// Makes a request about a position in a file.
    fn ask_at<R: Serialize>(
        &self,
        place: TextDocumentPositionParams,
        compute: impl Fn(&Snapshot, Target, Position) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        self.ask_at_with(place, Needs::File, compute)
    }

    /// Makes a request about a position in a file that may need more data than the file.
    fn ask_at_with<R: Serialize>(
        &self,
        place: TextDocumentPositionParams,
        needs: Needs,
        compute: impl Fn(&Snapshot, Target, Position) -> Option<R> + Send + 'static,
    ) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } = place;
        let compute =
            move |snapshot: &Snapshot, target: Target| compute(snapshot, target, position);
        self.ask_of_tests_too(&text_document.uri, needs, 0, compute)
    }

    /// Makes a request about a path, or about the whole workspace if `path` is `None`.
    fn ask(
        &self,
        path: Option<String>,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Option<Target>) -> Answer + Send + 'static,
    ) -> PendingAnswer {
        let interest = Arc::<Interest>::default();
        let guard = InterestGuard(Arc::clone(&interest));
        let (reply, answer) = oneshot::channel();
        let compute: Compute = Box::new(compute);
        let request = QueuedRequest { path, needs, interest, reply, compute, attempts };
        self.send(Message::Request(request));
        PendingAnswer::Requested(answer, guard)
    }
}

/// The handlers.
impl LanguageFrontEnd {
    pub(crate) fn initialize(&self, params: InitializeParams) -> PendingAnswer {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Initialize(Box::new(params), reply));
        PendingAnswer::Requested(answer, InterestGuard(Arc::default()))
    }

    pub(crate) fn diagnostic(&self, params: DocumentDiagnosticParams) -> PendingAnswer {
        let previous = params.previous_result_id;
        let Some(path) = path_of(&params.text_document.uri) else {
            return PendingAnswer::Known(diagnostics(checks::empty_report()));
        };
        let own = path.clone();
        let report = move |snapshot: &Snapshot, target: Option<Target>| {
            let previous = previous.as_deref();
            diagnostics(match target {
                Some(target) => checks::report(snapshot, target, previous),
                None => checks::report_outside_modules(snapshot, &own, previous),
            })
        };
        self.ask(Some(path), Needs::Configuration, PERSISTENT, report)
    }

    pub(crate) fn workspace_diagnostic(&self, params: WorkspaceDiagnosticParams) -> PendingAnswer {
        let previous = params.previous_result_ids;
        self.ask(None, Needs::Callers, PERSISTENT, move |snapshot, _| {
            let report = checks::workspace_report(snapshot, &previous);
            json_of(&WorkspaceDiagnosticReportResult::from(report))
        })
    }

    pub(crate) fn hover(&self, params: HoverParams) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } =
            params.text_document_position_params;
        self.ask_of_either(
            &text_document.uri,
            0,
            move |snapshot, target| convert::hover(snapshot, target, position),
            move |snapshot, path| convert::hover_in_variables_file(snapshot, path, position),
        )
    }

    pub(crate) fn completion(&self, params: CompletionParams) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let trigger = params.context.and_then(|it| it.trigger_character);
        self.ask_of_either(
            &text_document.uri,
            PERSISTENT,
            move |snapshot, target| {
                convert::completion(snapshot, target, position, trigger.as_deref())
            },
            move |snapshot, path| convert::completion_in_variables_file(snapshot, path, position),
        )
    }

    pub(crate) fn signature_help(&self, params: SignatureHelpParams) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } =
            params.text_document_position_params;
        self.ask_of_tests_too(
            &text_document.uri,
            Needs::File,
            PERSISTENT,
            move |snapshot, target| convert::signature_help(snapshot, target, position),
        )
    }

    pub(crate) fn inlay_hint(&self, params: InlayHintParams) -> PendingAnswer {
        self.ask_with(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            move |snapshot, target| convert::inlay_hints(snapshot, target, params.range),
        )
    }

    pub(crate) fn semantic_tokens_full(&self, params: SemanticTokensParams) -> PendingAnswer {
        self.ask_of_tests_too(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            convert::semantic_tokens,
        )
    }

    pub(crate) fn semantic_tokens_range(&self, params: SemanticTokensRangeParams) -> PendingAnswer {
        self.ask_of_tests_too(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            move |snapshot, target| convert::semantic_tokens_in(snapshot, target, params.range),
        )
    }

    /// The definition is the answer to a request for the declaration, too.
    pub(crate) fn definition(&self, params: GotoDefinitionParams) -> PendingAnswer {
        self.ask_at(params.text_document_position_params, convert::definition)
    }

    pub(crate) fn references(&self, params: ReferenceParams) -> PendingAnswer {
        let with_declarations = params.context.include_declaration;
        let place = params.text_document_position;
        self.ask_at_with(place, Needs::Callers, move |snapshot, target, position| {
            convert::references(snapshot, target, position, with_declarations)
        })
    }

    pub(crate) fn document_highlight(&self, params: DocumentHighlightParams) -> PendingAnswer {
        self.ask_at(params.text_document_position_params, convert::highlights)
    }

    pub(crate) fn prepare_rename(&self, params: TextDocumentPositionParams) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } = params;
        self.ask_about(&text_document.uri, Needs::File, 0, move |snapshot, target| {
            json_of(&convert::prepare_rename(snapshot, target, position)?)
        })
    }

    pub(crate) fn rename(&self, params: RenameParams) -> PendingAnswer {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let new_name = params.new_name;
        self.ask_about(&text_document.uri, Needs::Callers, 0, move |snapshot, target| {
            json_of(&convert::rename(snapshot, target, position, &new_name)?)
        })
    }

    pub(crate) fn document_symbol(&self, params: DocumentSymbolParams) -> PendingAnswer {
        self.ask_of_tests_too(
            &params.text_document.uri,
            Needs::File,
            PERSISTENT,
            convert::document_symbols,
        )
    }

    pub(crate) fn symbol(&self, params: WorkspaceSymbolParams) -> PendingAnswer {
        self.send(Message::LoadEverything);
        self.ask(None, Needs::Callers, PERSISTENT, move |snapshot, _| {
            let found = convert::workspace_symbols(snapshot, &params.query);
            json_of(&WorkspaceSymbolResponse::Nested(found))
        })
    }

    pub(crate) fn folding_range(&self, params: FoldingRangeParams) -> PendingAnswer {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, PERSISTENT, convert::folds)
    }

    pub(crate) fn formatting(&self, params: DocumentFormattingParams) -> PendingAnswer {
        self.format(&params.text_document.uri, None)
    }

    pub(crate) fn range_formatting(&self, params: DocumentRangeFormattingParams) -> PendingAnswer {
        self.format(&params.text_document.uri, Some(params.range))
    }

    pub(crate) fn selection_range(&self, params: SelectionRangeParams) -> PendingAnswer {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, 0, move |snapshot, target| {
            convert::selections(snapshot, target, &params.positions)
        })
    }

    pub(crate) fn document_link(&self, params: DocumentLinkParams) -> PendingAnswer {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, PERSISTENT, convert::links)
    }

    pub(crate) fn code_lens(&self, params: CodeLensParams) -> PendingAnswer {
        self.ask_with(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            convert::lenses::code_lenses,
        )
    }

    pub(crate) fn code_lens_resolve(&self, lens: CodeLens) -> PendingAnswer {
        let uri =
            lens.data.as_ref().and_then(|data| data.get("uri")?.as_str()?.parse::<Uri>().ok());
        let Some(path) = uri.as_ref().and_then(path_of) else {
            return PendingAnswer::Known(json_of(&lens));
        };
        self.ask(Some(path), Needs::Callers, PERSISTENT, move |snapshot, target| {
            let resolve = |target| convert::lenses::resolve(snapshot, target, lens.clone());
            json_of(&target.and_then(resolve).as_ref().unwrap_or(&lens))
        })
    }

    pub(crate) fn code_action(&self, params: CodeActionParams) -> PendingAnswer {
        let uri = params.text_document.uri.clone();
        self.request_for_file(&uri, 0, move |snapshot, target| {
            convert::code_actions(snapshot, target, &params)
        })
    }

    pub(crate) fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> PendingAnswer {
        self.ask_at(params.text_document_position_params, convert::calls::prepare)
    }

    pub(crate) fn incoming_calls(&self, params: CallHierarchyIncomingCallsParams) -> PendingAnswer {
        self.ask_with(&params.item.uri, Needs::Callers, 0, convert::calls::incoming)
    }

    pub(crate) fn outgoing_calls(&self, params: CallHierarchyOutgoingCallsParams) -> PendingAnswer {
        self.request_for_file(&params.item.uri, 0, convert::calls::outgoing)
    }
}

fn diagnostics(report: DocumentDiagnosticReport) -> Answer {
    json_of(&DocumentDiagnosticReportResult::from(report))
}
