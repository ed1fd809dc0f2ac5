//! The methods of the protocol that the server handles: a table from their names to the handlers.
//!
//! The library's router would compile a handler for each method of the protocol, most of which the server does not
//! have.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tower_lsp_server::{
    jsonrpc::{Error, Result},
    ls_types::*,
};

use crate::{
    documents::path_of,
    front::{LanguageFrontEnd, PendingAnswer},
    message::Message,
};

/// The parameters of a message. `None` if it has none.
pub(crate) struct Params(pub(crate) Option<Json>);

impl Params {
    fn read<P: DeserializeOwned>(self) -> Result<P> {
        let params = self.0.ok_or_else(|| Error::invalid_params("Missing params field"))?;
        serde_json::from_value(params).map_err(|error| Error::invalid_params(error.to_string()))
    }

    /// Some clients send `null` where no parameters belong.
    fn none(self) -> Result<()> {
        match self.0 {
            None | Some(Json::Null) => Ok(()),
            Some(_) => Err(Error::invalid_params("Unexpected params field")),
        }
    }
}

impl LanguageFrontEnd {
    /// Calls the handler of a request.
    ///
    /// # Errors
    ///
    /// If there is no such request, or its parameters have another structure.
    pub(crate) fn request(&self, method: &str, params: Params) -> Result<PendingAnswer> {
        Ok(match method {
            "initialize" => self.initialize(params.read()?),
            "shutdown" => {
                params.none()?;
                PendingAnswer::null()
            }
            "callHierarchy/incomingCalls" => self.incoming_calls(params.read()?),
            "callHierarchy/outgoingCalls" => self.outgoing_calls(params.read()?),
            "codeLens/resolve" => self.code_lens_resolve(params.read()?),
            "textDocument/codeAction" => self.code_action(params.read()?),
            "textDocument/codeLens" => self.code_lens(params.read()?),
            "textDocument/completion" => self.completion(params.read()?),
            "textDocument/declaration" | "textDocument/definition" => {
                self.definition(params.read()?)
            }
            "textDocument/diagnostic" => self.diagnostic(params.read()?),
            "textDocument/documentHighlight" => self.document_highlight(params.read()?),
            "textDocument/documentLink" => self.document_link(params.read()?),
            "textDocument/documentSymbol" => self.document_symbol(params.read()?),
            "textDocument/foldingRange" => self.folding_range(params.read()?),
            "textDocument/formatting" => self.formatting(params.read()?),
            "textDocument/hover" => self.hover(params.read()?),
            "textDocument/inlayHint" => self.inlay_hint(params.read()?),
            "textDocument/prepareCallHierarchy" => self.prepare_call_hierarchy(params.read()?),
            "textDocument/prepareRename" => self.prepare_rename(params.read()?),
            "textDocument/rangeFormatting" => self.range_formatting(params.read()?),
            "textDocument/references" => self.references(params.read()?),
            "textDocument/rename" => self.rename(params.read()?),
            "textDocument/selectionRange" => self.selection_range(params.read()?),
            "textDocument/semanticTokens/full" => self.semantic_tokens_full(params.read()?),
            "textDocument/semanticTokens/range" => self.semantic_tokens_range(params.read()?),
            "textDocument/signatureHelp" => self.signature_help(params.read()?),
            "workspace/diagnostic" => self.workspace_diagnostic(params.read()?),
            "workspace/symbol" => self.symbol(params.read()?),
            _ => return Err(Error::method_not_found()),
        })
    }

    /// Calls the handler of a notification. Ignores a notification that the server does not know.
    ///
    /// # Errors
    ///
    /// If its parameters have another structure. The protocol has no answer for that.
    pub(crate) fn notify(&self, method: &str, params: Params) -> Result<()> {
        let message = match method {
            "initialized" => Message::Initialized,
            "textDocument/didChange" => Message::Change(params.read()?),
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = params.read()?;
                Message::Close(params.text_document.uri)
            }
            "textDocument/didOpen" => {
                let params: DidOpenTextDocumentParams = params.read()?;
                Message::Open(params.text_document)
            }
            "workspace/didChangeConfiguration" => {
                let params: DidChangeConfigurationParams = params.read()?;
                Message::Settings(params.settings)
            }
            "workspace/didChangeWatchedFiles" => {
                let params: DidChangeWatchedFilesParams = params.read()?;
                Message::Watched(params.changes.iter().filter_map(|it| path_of(&it.uri)).collect())
            }
            "workspace/didChangeWorkspaceFolders" => {
                let params: DidChangeWorkspaceFoldersParams = params.read()?;
                Message::Folders(params.event)
            }
            _ => return Ok(()),
        };
        self.send(message);
        Ok(())
    }
}
