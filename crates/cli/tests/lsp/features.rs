//! Tests each feature once through the protocol. The tests in `ide` check the content of the answers.

use serde_json::{Value, json};

use crate::bench::{Session, workspace};

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
fn hover_shows_marks_but_no_secret() {
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
fn completion_proposes_module_outputs() {
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
fn signature_help_inlay_hints_and_tokens_are_served() {
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
    assert!(!data.is_empty() && data.len().is_multiple_of(5));
    session.leave();
}

/// The texts at locations, with their files.
fn at(session: &Session, places: &Value) -> Vec<String> {
    let one = |it: &Value| {
        let path =
            path_of(session, it["uri"].as_str().or(it["targetUri"].as_str()).expect("a file"));
        let range = if it["range"].is_null() { &it["targetSelectionRange"] } else { &it["range"] };
        let line = range["start"]["line"].as_u64().expect("a line");
        format!("{path}:{line} {}", session.text_in(&path, range))
    };
    places.as_array().expect("a list").iter().map(one).collect()
}

fn path_of(session: &Session, uri: &str) -> String {
    uri.strip_prefix(&session.uri("")).expect("is in the workspace").to_owned()
}

/// The errors of a file, without the warning about a literal secret.
fn errors(session: &mut Session, path: &str) -> Vec<Value> {
    session.pull(path).into_iter().filter(|it| it["severity"] == 1).collect()
}

fn opened() -> Session {
    let mut session = Session::new(STORE);
    session.open_file("main.tf");
    session.open_file("m/main.tf");
    session
}

#[test]
fn definitions_and_references_cross_modules() {
    let mut session = opened();
    let at_out = session.find("main.tf", "module.m.out") + "module.m.".len();
    let found = session.ask_at("textDocument/definition", "main.tf", at_out);
    assert_eq!(at(&session, &found), ["m/main.tf:4 out"]);
    let at_argument = session.find("main.tf", "in     = local.upper");
    let found = session.ask_at("textDocument/definition", "main.tf", at_argument);
    assert_eq!(at(&session, &found), ["m/main.tf:0 in"]);
    let at_variable = session.find("m/main.tf", "variable \"in\"") + "variable \"".len();
    let mut params = session.at("m/main.tf", at_variable);
    params["context"] = json!({ "includeDeclaration": false });
    let found = session.request("textDocument/references", params.clone()).expect("places");
    let mut places = at(&session, &found);
    places.sort();
    assert_eq!(places, ["m/main.tf:5 in", "main.tf:13 in"]);
    params["context"] = json!({ "includeDeclaration": true });
    let found = session.request("textDocument/references", params).expect("places");
    assert_eq!(at(&session, &found).len(), 3);
    let found = session.ask_at("textDocument/documentHighlight", "m/main.tf", at_variable);
    let kinds: Vec<_> =
        found.as_array().expect("a list").iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, [3, 2]);
    session.leave();
}

/// Applies a workspace edit to the open texts.
fn apply(session: &mut Session, edit: &Value) {
    for document in edit["documentChanges"].as_array().expect("documents") {
        let path = path_of(session, document["textDocument"]["uri"].as_str().expect("a file"));
        let mut edits = document["edits"].as_array().expect("edits").clone();
        edits.sort_by_key(|it| std::cmp::Reverse(session.offset(&path, &it["range"]["start"])));
        for edit in edits {
            let from = session.offset(&path, &edit["range"]["start"]);
            let to = session.offset(&path, &edit["range"]["end"]);
            session.edit(&path, from..to, edit["newText"].as_str().expect("a text"));
        }
    }
}

#[test]
fn a_variable_is_renamed_with_the_arguments_that_set_it() {
    let mut session = opened();
    let at_variable = session.find("m/main.tf", "variable \"in\"") + "variable \"".len();
    let found = session.ask_at("textDocument/prepareRename", "m/main.tf", at_variable);
    assert_eq!(found["placeholder"], "in");
    let mut params = session.at("m/main.tf", at_variable);
    params["newName"] = json!("secret");
    let edit = session.request("textDocument/rename", params.clone()).expect("an edit");
    let versions: Vec<_> = edit["documentChanges"]
        .as_array()
        .expect("documents")
        .iter()
        .map(|it| it["textDocument"]["version"].clone())
        .collect();
    assert_eq!(versions, [1, 1]);
    apply(&mut session, &edit);
    assert!(
        session.text("main.tf").contains("secret     = local.upper"),
        "{}",
        session.text("main.tf")
    );
    assert!(session.text("m/main.tf").contains("value = var.secret"));
    assert_eq!(errors(&mut session, "main.tf"), Vec::<Value>::new());
    assert_eq!(errors(&mut session, "m/main.tf"), Vec::<Value>::new());
    // An invalid name is refused with a reason.
    let mut params = session.at("m/main.tf", at_variable);
    params["newName"] = json!("1 2");
    let refused = session.request("textDocument/rename", params).expect_err("is no name");
    assert!(refused["message"].as_str().is_some_and(|it| it.contains("name")), "{refused}");
    session.leave();
}

#[test]
fn document_and_workspace_symbols_are_served() {
    let mut session = opened();
    let document = json!({ "textDocument": { "uri": session.uri("main.tf") } });
    let outline = session.request("textDocument/documentSymbol", document).expect("an outline");
    let names: Vec<_> =
        outline.as_array().expect("a list").iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["password", "locals", "m", "o"]);
    assert_eq!(outline[1]["children"][0]["name"], "upper");
    // A module that is not open and not called.
    session.write("elsewhere/main.tf", "variable \"far_away\" {}\n");
    let changed = json!([{ "uri": session.uri("elsewhere/main.tf"), "type": 1 }]);
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": changed }));
    let found = session.request("workspace/symbol", json!({ "query": "faraway" })).expect("names");
    assert_eq!(found[0]["name"], "var.far_away");
    session.leave();
}

#[test]
fn folding_selection_and_links_are_served() {
    let mut session = opened();
    let uri = session.uri("main.tf");
    let document = json!({ "textDocument": { "uri": uri } });
    let folds = session.request("textDocument/foldingRange", document.clone()).expect("folds");
    let lines: Vec<_> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (it["startLine"].as_u64().unwrap_or(99), it["endLine"].as_u64().unwrap_or(99)))
        .collect();
    assert_eq!(lines, [(0, 4), (7, 8), (11, 13), (16, 17)]);
    let inside = session.find("main.tf", "\"x\"") + 1;
    let params = json!({ "textDocument": { "uri": uri }, "positions": [session.position("main.tf", inside)] });
    let mut selection =
        session.request("textDocument/selectionRange", params).expect("ranges")[0].take();
    let mut texts = Vec::new();
    while !selection.is_null() {
        texts.push(
            session
                .text_in("main.tf", &selection["range"])
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
        selection = selection["parent"].take();
    }
    texts.dedup();
    assert_eq!(texts[..4], ["x", "\"x\"", "(\"x\")", "upper(\"x\")"]);
    let links = session.request("textDocument/documentLink", document).expect("links");
    assert_eq!(session.text_in("main.tf", &links[0]["range"]), "./m");
    assert_eq!(links[0]["target"], session.uri("m/main.tf"));
    session.leave();
}

#[test]
fn documents_and_ranges_are_formatted_if_they_parse() {
    let mut session = Session::new(
        "//- /main.tf\nlocals {\na=\"é\" # é\nbb=1 # c\n}\nlocals {\nc=2\n}\n//- /terraform.tfvars\na=1\n",
    );
    session.open_file("main.tf");
    session.open_file("terraform.tfvars");
    let ask = |session: &mut Session, method: &str, path: &str, range: Value| {
        let options = json!({ "tabSize": 8, "insertSpaces": false });
        let document = json!({ "uri": session.uri(path) });
        let params = json!({ "textDocument": document, "range": range, "options": options });
        let edits = session.request(method, params).expect("edits");
        let edit =
            |it: &Value| format!("{:?}→{}", session.text_in(path, &it["range"]), it["newText"]);
        edits.as_array().map(|all| all.iter().map(edit).collect::<Vec<_>>().join(" "))
    };
    let whole = ask(&mut session, "textDocument/formatting", "main.tf", Value::Null);
    assert_eq!(
        whole.as_deref(),
        Some(r#"""→"  " ""→"  " ""→" " ""→"  " ""→" " ""→" " " "→"   " ""→"  " ""→" " ""→" ""#)
    );
    let line =
        json!({ "start": { "line": 5, "character": 0 }, "end": { "line": 6, "character": 0 } });
    let part = ask(&mut session, "textDocument/rangeFormatting", "main.tf", line);
    assert_eq!(part.as_deref(), Some(r#"""→"  " ""→" " ""→" ""#));
    let variables = ask(&mut session, "textDocument/formatting", "terraform.tfvars", Value::Null);
    assert_eq!(variables.as_deref(), Some(r#"""→" " ""→" ""#));
    session.replace("main.tf", "c=2", "c=(");
    assert_eq!(ask(&mut session, "textDocument/formatting", "main.tf", Value::Null), None);
    session.leave();
}

#[test]
fn code_lenses_count_references() {
    let mut capabilities = editor::usual_capabilities();
    capabilities["experimental"] = json!({ "showReferencesCommandId": "mayfly.showReferences" });
    let mut session = Session::with(workspace(STORE), capabilities);
    session.open_file("main.tf");
    session.open_file("m/main.tf");
    let document = json!({ "textDocument": { "uri": session.uri("m/main.tf") } });
    let lenses = session.request("textDocument/codeLens", document).expect("lenses");
    let titles: Vec<_> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["command"]["title"].clone())
        .collect();
    assert_eq!(titles, ["2 references", "1 reference"]);
    let lens = session.request("codeLens/resolve", lenses[1].clone()).expect("a lens");
    assert_eq!(lens["command"]["command"], "mayfly.showReferences");
    assert_eq!(at(&session, &lens["command"]["arguments"][2]), ["main.tf:17 out"]);
    session.leave();
}

#[test]
fn quick_fix_resolves_its_diagnostic() {
    let mut session = opened();
    session.replace("main.tf", "upper(\"x\")", "upper(var.password)");
    let found = errors(&mut session, "main.tf");
    assert_eq!(found.len(), 1, "{found:#?}");
    let params = json!({
        "textDocument": { "uri": session.uri("main.tf") },
        "range": found[0]["range"],
        "context": { "diagnostics": found, "only": ["quickfix"] },
    });
    let actions = session.request("textDocument/codeAction", params).expect("actions");
    let titles: Vec<_> = actions
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["title"].as_str().unwrap_or_default().to_owned())
        .collect();
    let ephemeral = titles
        .iter()
        .position(|it| it.starts_with("Declare variable"))
        .unwrap_or_else(|| panic!("{titles:?}"));
    assert_eq!(actions[ephemeral]["diagnostics"][0]["message"], found[0]["message"]);
    let edit = actions[ephemeral]["edit"].clone();
    apply(&mut session, &edit);
    assert!(session.text("m/main.tf").contains("ephemeral = true"));
    assert_eq!(errors(&mut session, "main.tf"), Vec::<Value>::new());
    session.leave();
}

#[test]
fn call_hierarchy_lists_callers_and_called_modules() {
    let mut session = opened();
    let at_output = session.find("m/main.tf", "output");
    let items = session.ask_at("textDocument/prepareCallHierarchy", "m/main.tf", at_output);
    assert_eq!(items[0]["name"], "m");
    let callers = session
        .request("callHierarchy/incomingCalls", json!({ "item": items[0] }))
        .expect("callers");
    assert_eq!(callers[0]["from"]["uri"], session.uri("main.tf"));
    assert_eq!(session.text_in("main.tf", &callers[0]["fromRanges"][0]), "m");
    let called = session
        .request("callHierarchy/outgoingCalls", json!({ "item": callers[0]["from"] }))
        .expect("called modules");
    assert_eq!(called[0]["to"]["uri"], session.uri("m/main.tf"));
    session.leave();
}

#[test]
fn status_names_a_missing_provider_and_mayfly_init() {
    let mut capabilities = editor::usual_capabilities();
    capabilities["experimental"] = json!({ "statusNotification": true });
    let fixture = "//- /main.tf\nresource \"nowhere_thing\" \"x\" {\n  a = 1\n}\n";
    let mut session = Session::with(workspace(fixture), capabilities);
    session.open_file("main.tf");
    let status = session.notification("mayfly/status");
    assert_eq!(status["severity"], "warning");
    let detail = status["detail"].as_str().expect("a text");
    assert!(detail.contains("hashicorp/nowhere") && detail.contains("mayfly init"), "{detail}");
    // Without a schema there are no errors about the body.
    assert_eq!(errors(&mut session, "main.tf"), Vec::<Value>::new());
    session.set("main.tf", "");
    session.leave();
}

#[test]
fn settings_disable_and_enable_inlay_hints() {
    let mut session = opened();
    let everything = session.range("main.tf", 0..session.text("main.tf").len());
    let params = json!({ "textDocument": { "uri": session.uri("main.tf") }, "range": everything });
    let count = |session: &mut Session| {
        let hints = session.request("textDocument/inlayHint", params.clone()).expect("hints");
        hints.as_array().map_or(0, Vec::len)
    };
    let before = count(&mut session);
    assert!(before > 0);
    let off =
        json!({ "mayfly": { "inlayHints": { "marks": false, "types": false, "unknown": false } } });
    session.notify("workspace/didChangeConfiguration", json!({ "settings": off }));
    assert_eq!(count(&mut session), 0);
    let on =
        json!({ "mayfly": { "inlayHints": { "marks": true, "types": true, "unknown": true } } });
    session.notify("workspace/didChangeConfiguration", json!({ "settings": on }));
    assert_eq!(count(&mut session), before);
    session.leave();
}

#[test]
fn module_source_completes_with_workspace_directories() {
    let fixture = "//- /main.tf\nmodule \"m\" {\n  source = \"./\"\n}\n//- \
                   /modules/vpc/main.tf\nlocals {}\n//- /modules/notes/a.txt\n\n//- \
                   /.terraform/modules/x/main.tf\nlocals {}\n";
    let mut session = Session::new(fixture);
    session.open_file("main.tf");
    session.diagnostics("main.tf");
    let at = session.find("main.tf", "./") + 2;
    let mut params = session.at("main.tf", at);
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": "/" });
    let list = session.request("textDocument/completion", params.clone()).expect("an answer");
    let inserted: Vec<_> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|it| &it["textEdit"]["newText"])
        .collect();
    assert_eq!(inserted, ["./modules/vpc"]);
    // A new module is offered, too.
    session.write("modules/db/main.tf", "locals {}\n");
    let uri = session.uri("modules/db/main.tf");
    let changes = json!({ "changes": [{ "uri": uri, "type": 1 }] });
    session.notify("workspace/didChangeWatchedFiles", changes);
    let list = session.request("textDocument/completion", params).expect("an answer");
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    // Elsewhere, `/` is a division.
    session.set("main.tf", "locals {\n  a = 4 /\n}\n");
    let at = session.find("main.tf", "/") + 1;
    let mut params = session.at("main.tf", at);
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": "/" });
    assert_eq!(session.request("textDocument/completion", params), Ok(Value::Null));
    session.leave();
}

#[test]
fn a_client_without_snippets_gets_the_name_of_a_function() {
    let mut capabilities = editor::usual_capabilities();
    capabilities["textDocument"]["completion"] = json!({});
    let mut session =
        Session::with(workspace("//- /main.tf\nlocals {\n  a = ab\n}\n"), capabilities);
    session.open_file("main.tf");
    let at = session.find("main.tf", "ab") + 2;
    let list = session.ask_at("textDocument/completion", "main.tf", at);
    let items = list["items"].as_array().expect("items");
    let abs = items.iter().find(|it| it["label"] == "abs").expect("is proposed");
    assert_eq!(abs["textEdit"]["newText"], "abs");
    session.leave();
}

const TESTED: &str = r#"
//- /main.tf
variable "region" {
  description = "Where it is."
}
resource "terraform_data" "web" {
  input = var.region
}
output "name" {
  value = terraform_data.web.id
}
//- /setup/main.tf
output "bucket" {
  description = "For the test."
  value       = "b"
}
//- /tests/web.tftest.hcl
run "setup" {
  module {
    source = "./setup"
  }
}
run "web" {
  variables {
    region = run.setup.bucket
  }
  assert {
    condition     = output.name != var.region
    error_message = "No."
  }
}
"#;

#[test]
fn test_file_has_hover_completion_and_navigation() {
    let mut session = Session::new(TESTED);
    let test = "tests/web.tftest.hcl";
    session.open_file(test);
    let hover = |session: &mut Session, place: &str, into: usize| {
        let at = session.find(test, place) + into;
        let hover = session.ask_at("textDocument/hover", test, at);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hover(&mut session, "run.setup.bucket", 12).contains("For the test."));
    assert!(hover(&mut session, "var.region", 5).contains("Where it is."));
    assert!(hover(&mut session, "assert {", 2).contains("must be true after the command"));
    let at = session.find(test, "output.name") + 8;
    let definition = session.ask_at("textDocument/definition", test, at);
    let main = session.uri("main.tf");
    let target = |it: &Value| it["targetUri"].as_str().or(it["uri"].as_str()).map(str::to_owned);
    assert_eq!(target(&definition[0]), Some(main), "{definition}");
    let at = session.find(test, "\"setup\" {") + 2;
    let highlights = session.ask_at("textDocument/documentHighlight", test, at);
    assert_eq!(highlights.as_array().map(Vec::len), Some(2), "{highlights}");
    session.replace(test, "output.name !=", "output. !=");
    let at = session.find(test, "output. !=") + "output.".len();
    let list = session.ask_at("textDocument/completion", test, at);
    assert_eq!(list["items"][0]["label"], "name", "{list}");
    // An edit of the module counts at once, and so does one that names another module for a run.
    session.open_file("main.tf");
    let at = session.find("main.tf", "\"region\"") + 2;
    let mut params = session.at("main.tf", at);
    params["context"] = json!({ "includeDeclaration": false });
    let found = session.request("textDocument/references", params).expect("places");
    let own = session.uri(test);
    let in_test = found.as_array().into_iter().flatten().filter(|it| it["uri"] == own.as_str());
    assert_eq!(in_test.count(), 2, "{found}");
    session.replace("main.tf", "Where it is.", "Elsewhere.");
    assert!(hover(&mut session, "var.region", 5).contains("Elsewhere."));
    session.replace(test, "\"./setup\"", "\"./nowhere\"");
    assert_eq!(hover(&mut session, "run.setup.bucket", 12), "");
    session.leave();
}
