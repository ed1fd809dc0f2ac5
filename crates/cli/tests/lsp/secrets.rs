//! Nothing that the server says holds the value of a secret, wherever it is asked.

use serde_json::{Value, json};

use crate::bench::Session;

/// A word that is in secrets only.
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

/// What is asked about places.
const QUESTIONS: &[&str] = &[
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/documentHighlight",
];

#[test]
fn no_answer_and_no_message_holds_a_secret() {
    let mut session = Session::new(FIXTURE);
    let mut said: Vec<Value> = Vec::new();
    for path in ["main.tf", "m/main.tf"] {
        session.open_file(path);
        let length = session.text(path).len();
        let whole = session.range(path, 0..length);
        let document = json!({ "uri": session.uri(path) });
        for at in 0..length {
            said.extend(QUESTIONS.iter().map(|question| session.ask_at(question, path, at)));
        }
        for (question, extra) in [
            ("textDocument/inlayHint", json!({ "range": whole })),
            ("textDocument/semanticTokens/full", json!({})),
            ("textDocument/documentSymbol", json!({})),
            ("textDocument/diagnostic", json!({})),
        ] {
            let mut params = extra;
            params["textDocument"] = document.clone();
            said.push(session.request(question, params).expect("an answer"));
        }
    }
    said.push(session.request("workspace/symbol", json!({ "query": "" })).expect("names"));
    said.extend(session.left_over());
    assert!(said.iter().any(|it| it.to_string().contains("ephemeral")), "secrets are spoken of");
    for it in &said {
        let text = it.to_string();
        assert!(!text.contains(SECRET), "{text}");
    }
    session.leave();
}

/// A quick fix may move the text that somebody wrote; it is the one answer that has to hold it.
#[test]
fn what_is_written_in_the_open_file_is_not_logged() {
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
