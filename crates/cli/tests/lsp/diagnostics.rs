//! Diagnostics while the user types.

use editor::Editor;
use serde_json::{Value, json};

use crate::bench::{Session, workspace};

const MODULES: &str = r#"
//- /main.tf
variable "password" {
  type      = string
  ephemeral = true
}

locals {
  plain = "plain"
}

module "m" {
  source = "./m"
  in     = local.plain
}

output "o" {
  value = module.m.out
}
//- /other.tf
resource "terraform_data" "t" {
  input = local.plain
}
//- /m/main.tf
variable "in" {
  type = string
}

output "out" {
  value = "${var.in}!"
}
"#;

/// The summaries with the texts at their ranges.
fn shown(editor: &Editor, path: &str, diagnostics: &[Value]) -> Vec<String> {
    let one = |it: &Value| {
        let summary = it["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
        format!("{summary} @ {}", editor.text_in(path, &it["range"]))
    };
    diagnostics.iter().map(one).collect()
}

#[test]
fn message_contains_the_chain_for_clients_without_related_information() {
    let mut capabilities = editor::usual_capabilities();
    capabilities["textDocument"]["publishDiagnostics"] = json!({});
    let mut session = Session::with(workspace(MODULES), capabilities);
    session.open_file("main.tf");
    session.diagnostics("main.tf");
    session.replace("main.tf", "\"plain\"", "var.password");
    session.diagnostics("main.tf");
    let found = session.diagnostics("other.tf");
    assert_eq!(found[0]["relatedInformation"], Value::Null);
    assert_eq!(
        found[0]["message"],
        "Invalid use of an ephemeral value\n\n\
         \"input\" cannot accept an ephemeral value because it is not a write-only attribute, \
         meaning it will be written to the state.\n\n\
         - var.password is ephemeral (main.tf line 7)\n\
         - variable \"password\" is declared ephemeral (main.tf line 3)"
    );
    session.leave();
}

#[test]
fn misuse_is_published_while_typed_and_withdrawn_when_undone() {
    let mut session = Session::new(MODULES);
    session.open_file("main.tf");
    assert_eq!(session.diagnostics("main.tf"), Vec::<Value>::new());
    session.replace("main.tf", "\"plain\"", "var.password");
    let found = session.diagnostics("main.tf");
    assert_eq!(
        shown(&session, "main.tf", &found),
        ["Invalid usage of ephemeral value @ local.plain"]
    );
    let chain: Vec<&str> = found[0]["relatedInformation"]
        .as_array()
        .expect("has a chain")
        .iter()
        .filter_map(|it| it["message"].as_str())
        .collect();
    assert_eq!(
        chain,
        [
            "var.password is ephemeral",
            "variable \"password\" is declared ephemeral",
            "the variable is declared here"
        ]
    );
    // The diagnostics of a file that is not open are sent afterwards.
    let elsewhere = session.diagnostics("other.tf");
    assert!(
        elsewhere[0]["message"]
            .as_str()
            .is_some_and(|it| it.starts_with("Invalid use of an ephemeral value"))
    );
    session.replace("main.tf", "plain = var.password", "plain = \"again\"");
    assert_eq!(session.diagnostics("main.tf"), Vec::<Value>::new());
    assert_eq!(session.diagnostics("other.tf"), Vec::<Value>::new());
    session.leave();
}

#[test]
fn output_that_becomes_ephemeral_is_reported_in_callers() {
    let mut session = Session::new(MODULES);
    session.open_file("m/main.tf");
    session.replace("m/main.tf", "\"${var.in}!\"", "\"${var.in}!\"\n  ephemeral = true");
    let found = session.diagnostics_when("main.tf", |found| !found.is_empty());
    let summary = found[0]["message"].as_str().unwrap_or_default();
    assert!(summary.starts_with("Output not marked as ephemeral"), "{summary}");
    session.leave();
}

#[test]
fn pulling_client_gets_no_published_diagnostics() {
    let mut capabilities = editor::usual_capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    capabilities["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    let mut session = Session::with(workspace(MODULES), capabilities);
    session.open_file("main.tf");
    assert_eq!(session.pull("main.tf"), Vec::<Value>::new());
    session.replace("main.tf", "\"plain\"", "var.password");
    let found = session.pull("main.tf");
    assert_eq!(
        shown(&session, "main.tf", &found),
        ["Invalid usage of ephemeral value @ local.plain"]
    );
    // The diagnostics of the other files in the module changed, too.
    session.notification("workspace/diagnostic/refresh");
    let params = json!({ "previousResultIds": [] });
    let report = session.request("workspace/diagnostic", params).expect("an answer");
    let uris: Vec<&str> = report["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|it| it["uri"].as_str())
        .collect();
    assert_eq!(uris, [session.uri("main.tf"), session.uri("other.tf")]);
    // Unchanged diagnostics are not sent again.
    let previous: Vec<Value> = report["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|it| json!({ "uri": it["uri"], "value": it["resultId"] }))
        .collect();
    let again = session
        .request("workspace/diagnostic", json!({ "previousResultIds": previous }))
        .expect("an answer");
    assert!(
        again["items"]
            .as_array()
            .is_some_and(|items| items.iter().all(|it| it["kind"] == "unchanged"))
    );
    assert!(session.left_over().iter().all(|it| it["method"] != "textDocument/publishDiagnostics"));
    session.leave();
}

#[test]
fn watched_file_changes_update_diagnostics() {
    let mut session = Session::new(MODULES);
    session.open_file("main.tf");
    assert_eq!(session.diagnostics("main.tf"), Vec::<Value>::new());
    session.write("locals.tf", "locals {\n  more = local.nothing\n}\n");
    let changed = json!([{ "uri": session.uri("locals.tf"), "type": 1 }]);
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": changed }));
    let found = session.diagnostics("locals.tf");
    assert!(
        found[0]["message"]
            .as_str()
            .is_some_and(|it| it.starts_with("Reference to undeclared local value"))
    );
    std::fs::remove_file(session.root.path().join("work/locals.tf")).expect("can be removed");
    let changed = json!([{ "uri": session.uri("locals.tf"), "type": 3 }]);
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": changed }));
    assert_eq!(session.diagnostics("locals.tf"), Vec::<Value>::new());
    // For an open file the text of the editor counts, regardless of the disk.
    session.write("main.tf", "not a configuration");
    let changed = json!([{ "uri": session.uri("main.tf"), "type": 2 }]);
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": changed }));
    assert_eq!(session.pull("main.tf"), Vec::<Value>::new());
    // For a closed file the text on disk counts.
    session.close("main.tf");
    let found = session.diagnostics("main.tf");
    assert!(!found.is_empty());
    session.leave();
}

#[test]
fn unsaved_new_file_is_part_of_the_module() {
    let mut session = Session::new(MODULES);
    session.open_file("main.tf");
    session.replace("main.tf", "\"plain\"", "local.added");
    assert_eq!(session.diagnostics("main.tf").len(), 1);
    session.open("added.tf", "locals {\n  added = 1\n}\n");
    session.diagnostics_when("main.tf", <[Value]>::is_empty);
    session.close("added.tf");
    session.diagnostics_when("main.tf", |found| found.len() == 1);
    session.leave();
}

#[test]
fn positions_use_the_negotiated_encoding() {
    let text = "locals {\n  a = \"é𝒳\" + local.b\n}\n";
    for (encoding, column) in [("utf-8", 17), ("utf-16", 14), ("utf-32", 13)] {
        let mut capabilities = editor::usual_capabilities();
        capabilities["general"] = json!({ "positionEncodings": [encoding, "utf-16"] });
        let mut session = Session::with(workspace("//- /main.tf\n"), capabilities);
        assert_eq!(session.server["capabilities"]["positionEncoding"], encoding);
        session.open("main.tf", text);
        let found = session.diagnostics("main.tf");
        let undeclared = found.iter().find(|it| it["code"] == "undeclared-reference");
        let start = &undeclared.expect("local.b is not declared")["range"]["start"];
        assert_eq!(*start, json!({ "line": 1, "character": column }), "{encoding}");
        session.leave();
    }
}

#[test]
fn server_watches_files_if_the_client_cannot() {
    // The usual capabilities do not include file watching.
    let mut session = Session::new(MODULES);
    session.open_file("main.tf");
    assert_eq!(session.diagnostics("main.tf"), Vec::<Value>::new());
    session.write("m/main.tf", "variable \"in\" {}\noutput \"other\" {\n  value = 1\n}\n");
    // A read during the write sees an empty file, which has two problems.
    let found = session.diagnostics_when("main.tf", |found| found.len() == 1);
    assert_eq!(shown(&session, "main.tf", &found), ["Unsupported attribute @ .out"]);
    session.leave();
}

#[test]
fn deprecated_output_reference_has_the_deprecated_tag() {
    let files =
        MODULES.replace("value = \"${var.in}!\"", "value = var.in\n  deprecated = \"Use it.\"");
    let mut session = Session::new(&files);
    session.open_file("main.tf");
    let found = session.diagnostics("main.tf");
    let shown = shown(&session, "main.tf", &found);
    assert_eq!(shown, ["Value derived from a deprecated source @ module.m.out"]);
    // 2 is DiagnosticTag.Deprecated, 2 is DiagnosticSeverity.Warning.
    assert_eq!((&found[0]["tags"], &found[0]["severity"]), (&json!([2]), &json!(2)));
}

#[test]
fn provisioner_plugin_is_known_once_it_is_installed_and_is_never_started() {
    let mut session = Session::new(
        r#"
//- /main.tf
resource "terraform_data" "a" {
  provisioner "echo" {
    text = nope.x
  }
  provisioner "later" {}
}
//- /terraform.d/plugins/terraform-provisioner-echo
#!/bin/sh
echo started >> "$0.started"
"#,
    );
    session.open_file("main.tf");
    let found = session.diagnostics("main.tf");
    assert_eq!(
        shown(&session, "main.tf", &found),
        [
            "Reference to undeclared resource @ nope.x",
            "Missing required provisioner plugin @ provisioner \"later\"",
        ]
    );
    session.write("terraform-provisioner-later", "");
    let uri = session.uri("terraform-provisioner-later");
    let changes = json!({ "changes": [{ "uri": uri, "type": 1 }] });
    session.notify("workspace/didChangeWatchedFiles", changes);
    let found = session.diagnostics("main.tf");
    assert_eq!(shown(&session, "main.tf", &found), ["Reference to undeclared resource @ nope.x"]);
    let started = "work/terraform.d/plugins/terraform-provisioner-echo.started";
    assert!(!session.root.path().join(started).exists());
    session.leave();
}
