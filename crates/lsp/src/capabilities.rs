//! Capabilities of the client and of the server.

use serde_json::Value;
use tower_lsp_server::ls_types::*;

use crate::{convert::tokens, position::Encoding};

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
    pub(crate) tells_settings: bool,
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
            tells_settings: workspace.configuration == Some(true),
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

/// The trigger character that begins the next part of a path; elsewhere it is the division operator.
pub(crate) const SLASH: &str = "/";

/// The capabilities of the server.
pub(crate) fn server(encoding: Encoding, client: &Client) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: client.pulls_diagnostics.then(|| {
            DiagnosticServerCapabilities::Options(DiagnosticOptions {
                identifier: Some("mayfly".to_owned()),
                inter_file_dependencies: true,
                workspace_diagnostics: true,
                work_done_progress_options: WorkDoneProgressOptions::default(),
            })
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "\"", "[", SLASH].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            retrigger_characters: Some(vec![")".to_owned()]),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_range_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        // A lens needs the client's command that shows references; without it a click would do nothing.
        code_lens_provider: client
            .show_references
            .is_some()
            .then_some(CodeLensOptions { resolve_provider: Some(true) }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_EXTRACT,
                CodeActionKind::REFACTOR_INLINE,
                CodeActionKind::REFACTOR_REWRITE,
            ]),
            ..CodeActionOptions::default()
        })),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: tokens::TYPES.to_vec(),
                    token_modifiers: tokens::modifiers(),
                },
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            },
        )),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}

/// The registration of the files whose changes on the disk the client reports.
pub(crate) fn watched() -> Vec<Registration> {
    let watch = |pattern: &str| FileSystemWatcher {
        glob_pattern: GlobPattern::String(pattern.to_owned()),
        kind: None,
    };
    let options = DidChangeWatchedFilesRegistrationOptions {
        watchers: vec![
            watch("**/*.{tf,tofu,tf.json,tofu.json}"),
            watch("**/*.{tfvars,tfvars.json}"),
            watch("**/.terraform.lock.hcl"),
            watch("**/.terraform/modules/modules.json"),
        ],
    };
    vec![Registration {
        id: "mayfly-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: serde_json::to_value(options).ok(),
    }]
}
