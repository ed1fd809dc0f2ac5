//! The properties of the client, from the parameters of `initialize`.

use serde::Deserialize;
use serde_json::Value as Json;
use tower_lsp_server::ls_types::{Uri, WorkspaceFolder};

/// The capabilities of the client that the server uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Client {
    /// True if the client pulls diagnostics, so that the server does not push them.
    pub(crate) pulls_diagnostics: bool,
    /// True if the server may ask the client to pull diagnostics again.
    pub(crate) refreshes_diagnostics: bool,
    pub(crate) refreshes_inlay_hints: bool,
    pub(crate) refreshes_code_lenses: bool,
    pub(crate) refreshes_semantic_tokens: bool,
    /// True if the client watches the files that the server registers.
    pub(crate) watches_files: bool,
    /// True if the client answers requests for the user's settings.
    pub(crate) sends_settings: bool,
    pub(crate) has_related_information: bool,
    pub(crate) takes_snippets: bool,
    /// True if the client accepts definitions as links with the whole range of the declaration.
    pub(crate) links_definitions: bool,
    pub(crate) nests_symbols: bool,
    /// True if the client shows `mayfly/status` in a status line.
    pub(crate) shows_status: bool,
    /// The client's command that shows references for a code lens.
    pub(crate) show_references: Option<String>,
    /// True if workspace edits may carry document versions.
    pub(crate) versioned_edits: bool,
}

/// The part of the parameters of `initialize` that the server uses. Capabilities stay JSON: the protocol's types for
/// them are 80 structures, of which fifteen fields are used, and a client whose others are malformed can be served.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InitializeParams {
    pub(crate) capabilities: Json,
    pub(crate) initialization_options: Option<Json>,
    /// The folders of the workspace. Older clients name a root instead.
    pub(crate) workspace_folders: Option<Vec<WorkspaceFolder>>,
    pub(crate) root_uri: Option<Uri>,
}

impl InitializeParams {
    /// The encodings of positions that the client offers.
    pub(crate) fn position_encodings(&self) -> Vec<&str> {
        let offered = self.capabilities.pointer("/general/positionEncodings");
        let offered = offered.and_then(Json::as_array).into_iter().flatten();
        offered.filter_map(Json::as_str).collect()
    }
}

impl Client {
    pub(crate) fn of(params: &InitializeParams) -> Client {
        let find = |path| params.capabilities.pointer(path).filter(|it| !it.is_null());
        let has = |path| find(path).is_some();
        let is_true = |path| find(path).and_then(Json::as_bool) == Some(true);
        Client {
            pulls_diagnostics: has("/textDocument/diagnostic"),
            refreshes_diagnostics: is_true("/workspace/diagnostics/refreshSupport"),
            refreshes_inlay_hints: is_true("/workspace/inlayHint/refreshSupport"),
            refreshes_code_lenses: is_true("/workspace/codeLens/refreshSupport"),
            refreshes_semantic_tokens: is_true("/workspace/semanticTokens/refreshSupport"),
            watches_files: is_true("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            sends_settings: is_true("/workspace/configuration"),
            has_related_information: is_true("/textDocument/publishDiagnostics/relatedInformation"),
            takes_snippets: is_true("/textDocument/completion/completionItem/snippetSupport"),
            links_definitions: is_true("/textDocument/definition/linkSupport"),
            nests_symbols: is_true(
                "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport",
            ),
            shows_status: is_true("/experimental/statusNotification"),
            show_references: find("/experimental/showReferencesCommandId")
                .and_then(Json::as_str)
                .map(str::to_owned),
            versioned_edits: is_true("/workspace/workspaceEdit/documentChanges"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn client(params: Json) -> Client {
        Client::of(&serde_json::from_value(params).expect("are parameters"))
    }

    #[test]
    fn capabilities_are_read_from_their_places() {
        let yes = json!({ "refreshSupport": true });
        let client = client(json!({ "capabilities": {
            "textDocument": {
                "completion": { "completionItem": { "snippetSupport": true } },
                "definition": { "linkSupport": true },
                "diagnostic": {},
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "publishDiagnostics": { "relatedInformation": true },
            },
            "workspace": {
                "codeLens": yes, "diagnostics": yes, "inlayHint": yes, "semanticTokens": yes,
                "configuration": true,
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "workspaceEdit": { "documentChanges": true },
            },
            "experimental": { "statusNotification": true, "showReferencesCommandId": "show" },
        } }));
        let all = Client {
            pulls_diagnostics: true,
            refreshes_diagnostics: true,
            refreshes_inlay_hints: true,
            refreshes_code_lenses: true,
            refreshes_semantic_tokens: true,
            watches_files: true,
            sends_settings: true,
            has_related_information: true,
            takes_snippets: true,
            links_definitions: true,
            nests_symbols: true,
            shows_status: true,
            show_references: Some("show".to_owned()),
            versioned_edits: true,
        };
        assert_eq!(client, all);
    }

    #[test]
    fn malformed_capability_is_one_that_the_client_lacks() {
        for capabilities in [
            json!({}),
            json!(null),
            json!([1]),
            json!({ "textDocument": { "diagnostic": null, "definition": { "linkSupport": "yes" } } }),
            json!({ "workspace": true, "experimental": { "showReferencesCommandId": 1 } }),
        ] {
            assert_eq!(client(json!({ "capabilities": capabilities })), Client::default());
        }
        assert_eq!(client(json!({})), Client::default());
    }
}
