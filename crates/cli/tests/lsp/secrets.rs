//! No answer of the server contains the value of a secret.

use serde_json::{Value, json};

use crate::bench::Session;

/// A word that occurs only in secrets.
const SECRET: &str = "hush";

const FIXTURE: &str = r#"
//- /main.tf
variable "password" {
  type      = string
  default   = "hush-variable"
  ephemeral = true
}

variable "key" {
  type      = object({ name = string, value = string })
  default   = { name = "plain", value = "hush-object" }
  sensitive = true
}

locals {
  upper  = upper(var.password)
  copied = { name = var.key.name, nested = [var.key, var.password] }
  marked = sensitive("plain")
}

resource "terraform_data" "t" {
  for_each = { for name in [var.key.name] : nonsensitive(name) => name }
  input    = local.upper
}

module "m" {
  source = "./m"
  in     = local.copied
}

output "o" {
  value = "${local.upper} ${local.copied.name} ${module.m.out} ${local.mis}"
}
//- /m/main.tf
variable "in" {
  type    = any
  default = "plain"
}

output "out" {
  value = var.in.nested[0].value
}
//- /terraform.tfvars
password = "hush-file"
key      = { name = "hush-name", value = "hush-value" }
"#;

/// The requests for every position, by server capability.
const QUESTIONS: &[(&str, &str)] = &[
    ("hoverProvider", "textDocument/hover"),
    ("completionProvider", "textDocument/completion"),
    ("signatureHelpProvider", "textDocument/signatureHelp"),
    ("definitionProvider", "textDocument/definition"),
    ("documentHighlightProvider", "textDocument/documentHighlight"),
];

/// The requests for every word.
const OF_WORDS: &[(&str, &str)] = &[
    ("referencesProvider", "textDocument/references"),
    ("renameProvider", "textDocument/prepareRename"),
    ("renameProvider", "textDocument/rename"),
    ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
];

/// The requests for every file.
const OF_FILES: &[(&str, &str)] = &[
    ("inlayHintProvider", "textDocument/inlayHint"),
    ("semanticTokensProvider", "textDocument/semanticTokens/full"),
    ("semanticTokensProvider", "textDocument/semanticTokens/range"),
    ("documentSymbolProvider", "textDocument/documentSymbol"),
    ("diagnosticProvider", "textDocument/diagnostic"),
    ("foldingRangeProvider", "textDocument/foldingRange"),
    ("documentFormattingProvider", "textDocument/formatting"),
    ("documentRangeFormattingProvider", "textDocument/rangeFormatting"),
    ("documentLinkProvider", "textDocument/documentLink"),
    ("selectionRangeProvider", "textDocument/selectionRange"),
    ("codeActionProvider", "textDocument/codeAction"),
    ("codeLensProvider", "textDocument/codeLens"),
];

/// Fails if the server announces a capability that this test does not request.
fn check_all_are_asked(session: &Session) {
    let asked = QUESTIONS.iter().chain(OF_WORDS).chain(OF_FILES).map(|(capability, _)| *capability);
    let asked: Vec<&str> = asked.chain(["workspaceSymbolProvider"]).collect();
    let capabilities = session.server["capabilities"].as_object().expect("is announced");
    let can: Vec<&String> = capabilities.keys().filter(|it| it.ends_with("Provider")).collect();
    assert!(can.len() > 10, "{can:?}");
    for it in can {
        assert!(asked.contains(&it.as_str()), "nothing is asked of {it}");
    }
}

/// The offsets at which words begin.
fn words(text: &str) -> Vec<usize> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let before = std::iter::once(' ').chain(text.chars());
    let begins = text.char_indices().zip(before);
    begins
        .filter(|((_, it), before)| is_word(*it) && !is_word(*before))
        .map(|((at, _), _)| at)
        .collect()
}

/// All answers of the server about a file.
fn ask_all(session: &mut Session, path: &str, said: &mut Vec<Value>) {
    let text = session.text(path).to_owned();
    let whole = session.range(path, 0..text.len());
    for at in 0..text.len() {
        said.extend(QUESTIONS.iter().map(|(_, question)| session.ask_at(question, path, at)));
    }
    for at in words(&text) {
        for (_, question) in OF_WORDS {
            let mut params = session.at(path, at);
            params["context"] = json!({ "includeDeclaration": true });
            params["newName"] = json!("other");
            // Some words cannot be renamed. The error must not contain a secret either.
            said.push(session.request(question, params).unwrap_or_else(|error| error));
        }
    }
    let diagnostics = session.pull(path);
    for (_, question) in OF_FILES {
        let params = json!({
            "textDocument": { "uri": session.uri(path) },
            "range": whole,
            "positions": [whole["start"], whole["end"]],
            "context": { "diagnostics": diagnostics },
            "options": { "tabSize": 2, "insertSpaces": true },
        });
        let answer = session.request(question, params).unwrap_or_else(|error| error);
        match answer.as_array() {
            // The edit of a quick fix may contain the text of the file, so only its title is checked.
            Some(actions) if *question == "textDocument/codeAction" => {
                said.extend(actions.iter().map(|it| it["title"].clone()));
            }
            _ => said.push(answer),
        }
    }
}

#[test]
fn no_response_or_notification_contains_a_secret() {
    let mut session = Session::new(FIXTURE);
    check_all_are_asked(&session);
    let mut said: Vec<Value> = Vec::new();
    for path in ["main.tf", "m/main.tf", "terraform.tfvars"] {
        session.open_file(path);
        ask_all(&mut session, path, &mut said);
    }
    said.push(session.request("workspace/symbol", json!({ "query": "" })).expect("names"));
    // Incomplete text in place of a secret.
    for broken in [
        "password = \"hush-typed",
        "password = hush-typed\nkey = { hush-name = \"hush-value\" }\n",
        "other = { } }\npassword = [\"hush-typed\"]\nkey = \"hush-value\"\n",
    ] {
        session.set("terraform.tfvars", broken);
        said.extend(session.pull("terraform.tfvars"));
        ask_all(&mut session, "terraform.tfvars", &mut said);
    }
    said.extend(session.left_over());
    assert!(said.iter().any(|it| it.to_string().contains("ephemeral")), "secrets are spoken of");
    for it in &said {
        let text = it.to_string();
        assert!(!text.contains(SECRET), "{text}");
    }
    session.leave();
}

/// Log messages and status messages contain no text of an open file.
#[test]
fn text_of_open_files_is_not_logged() {
    let mut session = Session::new(FIXTURE);
    session.open_file("main.tf");
    session.pull("main.tf");
    let messages = session.left_over();
    let logged = |it: &&Value| {
        it["method"].as_str().is_some_and(|it| it.starts_with("window/") || it == "mayfly/status")
    };
    assert!(messages.iter().filter(logged).all(|it| !it.to_string().contains(SECRET)));
    session.leave();
}
