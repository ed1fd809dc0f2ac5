//! Capabilities of the client.

use serde_json::Value;
use tower_lsp_server::ls_types::InitializeParams;

/// The capabilities of the client that the server uses.
#[derive(Clone, Debug, Default)]
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

impl Client {
    pub(crate) fn of(params: &InitializeParams) -> Client {
        let all = &params.capabilities;
        let text = all.text_document.clone().unwrap_or_default();
        let workspace = all.workspace.clone().unwrap_or_default();
        let completion = text.completion.and_then(|it| it.completion_item);
        Client {
            pulls_diagnostics: text.diagnostic.is_some(),
            refreshes_diagnostics: workspace
                .diagnostics
                .is_some_and(|it| it.refresh_support == Some(true)),
            refreshes_inlay_hints: workspace
                .inlay_hint
                .is_some_and(|it| it.refresh_support == Some(true)),
            refreshes_code_lenses: workspace
                .code_lens
                .is_some_and(|it| it.refresh_support == Some(true)),
            refreshes_semantic_tokens: workspace
                .semantic_tokens
                .is_some_and(|it| it.refresh_support == Some(true)),
            watches_files: workspace
                .did_change_watched_files
                .is_some_and(|it| it.dynamic_registration == Some(true)),
            sends_settings: workspace.configuration == Some(true),
            has_related_information: text
                .publish_diagnostics
                .is_some_and(|it| it.related_information == Some(true)),
            takes_snippets: completion.is_some_and(|it| it.snippet_support == Some(true)),
            links_definitions: text.definition.is_some_and(|it| it.link_support == Some(true)),
            nests_symbols: text
                .document_symbol
                .is_some_and(|it| it.hierarchical_document_symbol_support == Some(true)),
            shows_status: all
                .experimental
                .as_ref()
                .and_then(|it| it.get("statusNotification"))
                .and_then(Value::as_bool)
                .unwrap_or(false),
            show_references: show_references(all.experimental.as_ref()),
            versioned_edits: workspace
                .workspace_edit
                .is_some_and(|it| it.document_changes == Some(true)),
        }
    }
}

/// The client's command that shows references, if it names one.
fn show_references(experimental: Option<&Value>) -> Option<String> {
    Some(experimental?.get("showReferencesCommandId")?.as_str()?.to_owned())
}
