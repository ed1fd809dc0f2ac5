//! Each feature once, through the protocol. What the answers say is tested where they are made, in `ide`.

use serde_json::json;

use crate::bench::Session;

const STORE: &str = r#"
//- /main.tf
variable "password" {
  type        = string
  description = "To get in."
  default     = "hush-hush"
  ephemeral   = true
}

locals {
  upper = upper("x")
}

module "m" {
  source = "./m"
  in     = local.upper
}

output "o" {
  value = module.m.out
}
//- /m/main.tf
variable "in" {
  type = string
}

output "out" {
  value = var.in
}
"#;

#[test]
fn hover_tells_and_keeps_secrets() {
    let mut session = Session::new(STORE);
    session.open_file("main.tf");
    session.replace("main.tf", "upper(\"x\")", "upper(var.password)");
    let at = session.find("main.tf", "var.password") + 5;
    let hover = session.ask_at("textDocument/hover", "main.tf", at);
    let text = hover["contents"]["value"].as_str().expect("a card");
    assert!(text.contains("To get in.") && text.contains("ephemeral"), "{text}");
    assert!(!text.contains("hush"), "{text}");
    assert_eq!(session.text_in("main.tf", &hover["range"]), "password");
    session.leave();
}

#[test]
fn completion_proposes_what_fits() {
    let mut session = Session::new(STORE);
    session.open_file("main.tf");
    session.replace("main.tf", "value = module.m.out", "value = module.m.");
    let at = session.find("main.tf", "value = module.m.") + "value = module.m.".len();
    let list = session.ask_at("textDocument/completion", "main.tf", at);
    let labels: Vec<&str> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|it| it["label"].as_str())
        .collect();
    assert_eq!(labels, ["out"]);
    session.leave();
}

#[test]
fn signatures_hints_and_tokens() {
    let mut session = Session::new(STORE);
    session.open_file("main.tf");
    let at = session.find("main.tf", "\"x\"");
    let help = session.ask_at("textDocument/signatureHelp", "main.tf", at);
    assert_eq!(help["signatures"][0]["label"], "upper(str: string): string");
    session.replace("main.tf", "upper(\"x\")", "upper(var.password)");
    let document = json!({ "uri": session.uri("main.tf") });
    let all = session.range("main.tf", 0..session.text("main.tf").len());
    let hints = session
        .request("textDocument/inlayHint", json!({ "textDocument": document, "range": all }))
        .expect("hints");
    let labels: Vec<&str> =
        hints.as_array().expect("a list").iter().filter_map(|it| it["label"].as_str()).collect();
    assert!(labels.iter().any(|it| it.contains("ephemeral")), "{labels:?}");
    let tokens = session
        .request("textDocument/semanticTokens/full", json!({ "textDocument": document }))
        .expect("tokens");
    let data = tokens["data"].as_array().expect("numbers");
    assert!(!data.is_empty() && data.len() % 5 == 0);
    session.leave();
}
