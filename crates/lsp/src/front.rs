//! The handlers of requests and notifications. Each handler queues its message before its first await.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::Sender,
};

use tokio::sync::oneshot;
use tower_lsp_server::{
    LanguageServer,
    jsonrpc::{Error, Result},
    ls_types::*,
};

use crate::{
    checks, convert,
    documents::path_of,
    message::Message,
    snapshot::{Interest, Needs, Snapshot, Target, TypedRequest},
};

/// The number of retries after edits, for requests whose answers do not depend on a position in the old text.
const PERSISTENT: u8 = 20;

/// The client-facing end of the message queue.
pub(crate) struct LanguageFrontEnd {
    messages: Sender<Message>,
    shut_down: Arc<AtomicBool>,
}

/// Cancels the computation of an answer when the handler of a cancelled request is dropped.
struct InterestGuard(Arc<Interest>);

impl Drop for InterestGuard {
    fn drop(&mut self) {
        self.0.lose();
    }
}

impl LanguageFrontEnd {
    pub(crate) fn new(messages: Sender<Message>, shut_down: Arc<AtomicBool>) -> LanguageFrontEnd {
        LanguageFrontEnd { messages, shut_down }
    }

    fn send(&self, message: Message) {
        // If the server thread is gone, the process is about to end.
        let _ = self.messages.send(message);
    }

    /// Makes a request about a file of a module. `None` if the file is not part of a module.
    async fn request_for_file<R: Send + 'static>(
        &self,
        uri: &Uri,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        self.ask_with(uri, Needs::File, attempts, compute).await
    }

    /// Makes a request about a file of a module or about a test file, whose target has the module under test.
    async fn ask_of_tests_too<R: Send + 'static>(
        &self,
        uri: &Uri,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        let Some(path) = path_of(uri) else { return Ok(None) };
        let own = path.clone();
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            let target = target.or_else(|| snapshot.test_target(&own));
            Ok(target.and_then(|target| compute(snapshot, target)))
        };
        self.request(Some(path), needs, attempts, compute).await
    }

    /// Makes a request about a file of a module that may need more data than the file.
    async fn ask_with<R: Send + 'static>(
        &self,
        uri: &Uri,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        let Some(path) = path_of(uri) else { return Ok(None) };
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            Ok(target.and_then(|target| compute(snapshot, target)))
        };
        self.request(Some(path), needs, attempts, compute).await
    }

    /// Makes a request about a file of a module, a test file or a variables file.
    async fn ask_of_either<R: Send + 'static>(
        &self,
        uri: &Uri,
        attempts: u8,
        of_module: impl Fn(&Snapshot, Target) -> Option<R> + Send + 'static,
        of_variables_file: impl Fn(&Snapshot, &str) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        let Some(path) = path_of(uri) else { return Ok(None) };
        let own = path.clone();
        let compute = move |snapshot: &Snapshot, target: Option<Target>| {
            Ok(match target.or_else(|| snapshot.test_target(&own)) {
                Some(target) => of_module(snapshot, target),
                None => of_variables_file(snapshot, &own),
            })
        };
        self.request(Some(path), Needs::File, attempts, compute).await
    }

    /// Requests the formatting of a file or of a range of it.
    async fn format(&self, uri: &Uri, range: Option<Range>) -> Result<Option<Vec<TextEdit>>> {
        self.ask_of_either(
            uri,
            0,
            move |snapshot, target| convert::formatting(snapshot, target, range),
            move |snapshot, path| convert::formatting_of_variables_file(snapshot, path, range),
        )
        .await
    }

    /// Makes a request about a position in a file.
    async fn ask_at<R: Send + 'static>(
        &self,
        place: TextDocumentPositionParams,
        compute: impl Fn(&Snapshot, Target, Position) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        self.ask_at_with(place, Needs::File, compute).await
    }

    /// Makes a request about a position in a file that may need more data than the file.
    async fn ask_at_with<R: Send + 'static>(
        &self,
        place: TextDocumentPositionParams,
        needs: Needs,
        compute: impl Fn(&Snapshot, Target, Position) -> Option<R> + Send + 'static,
    ) -> Result<Option<R>> {
        let TextDocumentPositionParams { text_document, position } = place;
        let compute =
            move |snapshot: &Snapshot, target: Target| compute(snapshot, target, position);
        self.ask_of_tests_too(&text_document.uri, needs, 0, compute).await
    }

    /// Makes a request about a path, or about the whole workspace if `path` is `None`.
    async fn request<R: Send + 'static>(
        &self,
        path: Option<String>,
        needs: Needs,
        attempts: u8,
        compute: impl Fn(&Snapshot, Option<Target>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let interest = Arc::<Interest>::default();
        let (reply, answer) = oneshot::channel();
        let request =
            TypedRequest { path, needs, interest: Arc::clone(&interest), reply, compute, attempts };
        self.send(Message::Request(Box::new(request)));
        let _guard = InterestGuard(interest);
        answer.await.unwrap_or_else(|_| Err(Error::request_cancelled()))
    }
}

impl LanguageServer for LanguageFrontEnd {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Initialize(Box::new(params), reply));
        answer.await.map_err(|_| Error::internal_error())
    }

    async fn initialized(&self, _: InitializedParams) {
        self.send(Message::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        self.shut_down.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.send(Message::Open(params.text_document));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.send(Message::Change(params));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.send(Message::Close(params.text_document.uri));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let changed = params.changes.iter().filter_map(|it| path_of(&it.uri));
        self.send(Message::Watched(changed.collect()));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.send(Message::Folders(params.event));
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.send(Message::Settings(params.settings));
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let previous = params.previous_result_id;
        let Some(path) = path_of(&params.text_document.uri) else {
            return Ok(checks::empty_report().into());
        };
        let own = path.clone();
        let report = move |snapshot: &Snapshot, target: Option<Target>| {
            let previous = previous.as_deref();
            Ok(match target {
                Some(target) => checks::report(snapshot, target, previous),
                None => checks::report_outside_modules(snapshot, &own, previous),
            })
        };
        let report = self.request(Some(path), Needs::Configuration, PERSISTENT, report).await?;
        Ok(report.into())
    }

    async fn workspace_diagnostic(
        &self,
        params: WorkspaceDiagnosticParams,
    ) -> Result<WorkspaceDiagnosticReportResult> {
        let previous = params.previous_result_ids;
        self.request(None, Needs::Callers, PERSISTENT, move |snapshot, _| {
            Ok(checks::workspace_report(snapshot, &previous).into())
        })
        .await
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let TextDocumentPositionParams { text_document, position } =
            params.text_document_position_params;
        self.ask_of_either(
            &text_document.uri,
            0,
            move |snapshot, target| convert::hover(snapshot, target, position),
            move |snapshot, path| convert::hover_in_variables_file(snapshot, path, position),
        )
        .await
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
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
        .await
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        let TextDocumentPositionParams { text_document, position } =
            params.text_document_position_params;
        self.ask_of_tests_too(
            &text_document.uri,
            Needs::File,
            PERSISTENT,
            move |snapshot, target| convert::signature_help(snapshot, target, position),
        )
        .await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        self.ask_with(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            move |snapshot, target| convert::inlay_hints(snapshot, target, params.range),
        )
        .await
    }

    async fn semantic_tokens_full(
        &self,
        params: SemanticTokensParams,
    ) -> Result<Option<SemanticTokensResult>> {
        let tokens = self
            .ask_of_tests_too(
                &params.text_document.uri,
                Needs::Configuration,
                PERSISTENT,
                convert::semantic_tokens,
            )
            .await?;
        Ok(tokens.map(SemanticTokensResult::Tokens))
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        let tokens = self
            .ask_of_tests_too(
                &params.text_document.uri,
                Needs::Configuration,
                PERSISTENT,
                move |snapshot, target| convert::semantic_tokens_in(snapshot, target, params.range),
            )
            .await?;
        Ok(tokens.map(SemanticTokensRangeResult::Tokens))
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        self.ask_at(params.text_document_position_params, convert::definition).await
    }

    async fn goto_declaration(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        self.ask_at(params.text_document_position_params, convert::definition).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let with_declarations = params.context.include_declaration;
        let place = params.text_document_position;
        self.ask_at_with(place, Needs::Callers, move |snapshot, target, position| {
            convert::references(snapshot, target, position, with_declarations)
        })
        .await
    }

    async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        self.ask_at(params.text_document_position_params, convert::highlights).await
    }

    async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>> {
        self.ask_at(params, |snapshot, target, position| {
            Some(convert::prepare_rename(snapshot, target, position))
        })
        .await?
        .transpose()
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let new_name = params.new_name;
        let place = params.text_document_position;
        let answer = self
            .ask_at_with(place, Needs::Callers, move |snapshot, target, position| {
                Some(convert::rename(snapshot, target, position, &new_name))
            })
            .await?;
        Ok(answer.transpose()?.flatten())
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        self.ask_of_tests_too(
            &params.text_document.uri,
            Needs::File,
            PERSISTENT,
            convert::document_symbols,
        )
        .await
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<WorkspaceSymbolResponse>> {
        self.send(Message::LoadEverything);
        self.request(None, Needs::Callers, PERSISTENT, move |snapshot, _| {
            let found = convert::workspace_symbols(snapshot, &params.query);
            Ok(Some(WorkspaceSymbolResponse::Nested(found)))
        })
        .await
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, PERSISTENT, convert::folds)
            .await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        self.format(&params.text_document.uri, None).await
    }

    async fn range_formatting(
        &self,
        params: DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        self.format(&params.text_document.uri, Some(params.range)).await
    }

    async fn selection_range(
        &self,
        params: SelectionRangeParams,
    ) -> Result<Option<Vec<SelectionRange>>> {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, 0, move |snapshot, target| {
            convert::selections(snapshot, target, &params.positions)
        })
        .await
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        self.ask_of_tests_too(&params.text_document.uri, Needs::File, PERSISTENT, convert::links)
            .await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.ask_with(
            &params.text_document.uri,
            Needs::Configuration,
            PERSISTENT,
            convert::lenses::code_lenses,
        )
        .await
    }

    async fn code_lens_resolve(&self, lens: CodeLens) -> Result<CodeLens> {
        let uri =
            lens.data.as_ref().and_then(|data| data.get("uri")?.as_str()?.parse::<Uri>().ok());
        let Some(uri) = uri else { return Ok(lens) };
        let unresolved = lens.clone();
        let resolved = self.ask_with(&uri, Needs::Callers, PERSISTENT, move |snapshot, target| {
            convert::lenses::resolve(snapshot, target, lens.clone())
        });
        Ok(resolved.await?.unwrap_or(unresolved))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let uri = params.text_document.uri.clone();
        self.request_for_file(&uri, 0, move |snapshot, target| {
            convert::code_actions(snapshot, target, &params)
        })
        .await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        self.ask_at(params.text_document_position_params, convert::calls::prepare).await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        self.ask_with(&params.item.uri, Needs::Callers, 0, convert::calls::incoming).await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        self.request_for_file(&params.item.uri, 0, convert::calls::outgoing).await
    }
}
