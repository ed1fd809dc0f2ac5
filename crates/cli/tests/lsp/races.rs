//! Files, modules and folders that appear and disappear during an editor session.

use serde_json::{Value, json};

use crate::bench::{Session, workspace};

const BAD: &str = "locals {\n  a = local.gone\n}\n";
const GOOD: &str = "locals {\n  a = 1\n}\n";

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|it| it["code"].as_str()).collect()
}

fn has(code: &'static str) -> impl Fn(&[Value]) -> bool {
    move |found| codes(found).contains(&code)
}

fn watched(session: &mut Session, changes: &[(&str, u8)]) {
    let of = |(path, kind): &(&str, u8)| json!({ "uri": session.uri(path), "type": kind });
    let changes: Vec<Value> = changes.iter().map(of).collect();
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
}

/// The capabilities of an editor that reports file changes and does not pull diagnostics.
fn watching() -> Value {
    let mut capabilities = editor::usual_capabilities();
    capabilities["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    capabilities
}

fn serve(fixture: &str) -> Session {
    Session::with(workspace(fixture), watching())
}

fn path(session: &Session, path: &str) -> std::path::PathBuf {
    session.root.path().join("work").join(path)
}

const CALL: &str = "module \"m\" {\n  source = \"./m\"\n}\n";

fn called_and_bad() -> String {
    format!("//- /main.tf\n{CALL}//- /m/main.tf\n{BAD}")
}

#[test]
fn diagnostics_of_a_no_longer_called_module_are_withdrawn() {
    let mut session = serve(&called_and_bad());
    session.open_file("main.tf");
    session.diagnostics_when("m/main.tf", has("undeclared-reference"));
    session.set("main.tf", "");
    session.diagnostics_when("m/main.tf", <[Value]>::is_empty);
    session.set("main.tf", CALL);
    session.diagnostics_when("m/main.tf", has("undeclared-reference"));
    session.leave();
}

/// A module that is not called is checked as a root module, whose outputs must not be ephemeral.
#[test]
fn open_uncalled_module_is_checked_as_a_root_module() {
    let output = "variable \"e\" {\n  ephemeral = true\n}\noutput \"o\" {\n  value     = var.e\n  \
                  ephemeral = true\n}\n";
    let mut session = serve(&format!("//- /main.tf\n{CALL}//- /m/main.tf\n{output}"));
    session.open_file("main.tf");
    session.open_file("m/main.tf");
    assert_eq!(session.diagnostics("m/main.tf"), Vec::<Value>::new());
    session.set("main.tf", "");
    session.diagnostics_when("m/main.tf", has("ephemeral-root-output"));
    session.set("main.tf", CALL);
    session.diagnostics_when("m/main.tf", <[Value]>::is_empty);
    session.leave();
}

#[test]
fn open_root_module_can_become_a_called_module() {
    let mut session = serve(&format!("//- /a/main.tf\n//- /b/main.tf\n{GOOD}"));
    session.open_file("a/main.tf");
    session.open_file("b/main.tf");
    session.set("a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\n");
    // Unchanged diagnostics are not published again, so pull them.
    assert_eq!(session.pull("a/main.tf"), Vec::<Value>::new());
    assert_eq!(session.pull("b/main.tf"), Vec::<Value>::new());
    session.leave();
}

#[test]
fn open_file_survives_deletion_of_its_directory() {
    let mut session = serve(&called_and_bad());
    session.open_file("m/main.tf");
    session.open_file("main.tf");
    session.diagnostics_when("m/main.tf", has("undeclared-reference"));
    std::fs::remove_dir_all(path(&session, "m")).expect("can be removed");
    watched(&mut session, &[("m/main.tf", 3)]);
    session.set("m/main.tf", GOOD);
    assert_eq!(session.diagnostics("m/main.tf"), Vec::<Value>::new());
    session.close("m/main.tf");
    // The module no longer exists, so its caller has an error.
    session.diagnostics_when("main.tf", has("module-not-installed"));
    session.leave();
}

/// Some editors report only the change of the directory.
#[test]
fn deleted_and_restored_directory_updates_diagnostics() {
    let mut session = serve(&called_and_bad());
    session.open_file("main.tf");
    session.diagnostics_when("m/main.tf", has("undeclared-reference"));
    std::fs::rename(path(&session, "m"), path(&session, "away")).expect("can be moved");
    watched(&mut session, &[("m", 3)]);
    session.diagnostics_when("main.tf", has("module-not-installed"));
    session.diagnostics_when("m/main.tf", <[Value]>::is_empty);
    std::fs::rename(path(&session, "away"), path(&session, "m")).expect("can be moved");
    watched(&mut session, &[("m", 1)]);
    session.diagnostics_when("main.tf", <[Value]>::is_empty);
    session.diagnostics_when("m/main.tf", has("undeclared-reference"));
    session.leave();
}

#[test]
fn server_watcher_follows_removed_and_recreated_directories() {
    let mut session = Session::new(&format!(
        "//- /caller/main.tf\nmodule \"m\" {{\n  source = \"../mods/m\"\n}}\n//- /mods/m/main.tf\n{BAD}"
    ));
    session.open_file("caller/main.tf");
    session.diagnostics_when("mods/m/main.tf", has("undeclared-reference"));
    std::fs::remove_dir_all(path(&session, "mods")).expect("can be removed");
    session.diagnostics_when("caller/main.tf", has("module-not-installed"));
    session.write("mods/m/main.tf", GOOD);
    session.diagnostics_when("caller/main.tf", <[Value]>::is_empty);
    session.write("mods/m/main.tf", BAD);
    session.diagnostics_when("mods/m/main.tf", has("undeclared-reference"));
    session.leave();
}

#[test]
fn server_watcher_notices_installed_modules() {
    let call = "module \"m\" {\n  source = \"a/b/c\"\n}\n";
    let mut session = Session::new(&format!("//- /main.tf\n{call}"));
    session.open_file("main.tf");
    session.diagnostics_when("main.tf", has("module-not-installed"));
    session.write(".terraform/modules/m/main.tf", GOOD);
    let manifest = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"registry.terraform.io/a/b/c","Version":"1.0.0","Dir":".terraform/modules/m"}]}"#;
    session.write(".terraform/modules/modules.json", manifest);
    session.diagnostics_when("main.tf", <[Value]>::is_empty);
    session.leave();
}

#[test]
fn file_hidden_by_a_tofu_file_is_not_part_of_the_module() {
    let mut session = serve(&format!("//- /main.tofu\n{GOOD}//- /main.tf\n{GOOD}"));
    session.open_file("main.tofu");
    assert_eq!(session.diagnostics("main.tofu"), Vec::<Value>::new());
    // If the file counted, the local would be declared twice.
    session.open_file("main.tf");
    session.open(".hidden.tf", GOOD);
    assert_eq!(session.pull("main.tofu"), Vec::<Value>::new());
    session.set("main.tf", BAD);
    assert_eq!(session.pull("main.tf"), Vec::<Value>::new());
    // The file becomes visible, with the unsaved text of the editor.
    session.close("main.tofu");
    std::fs::remove_file(path(&session, "main.tofu")).expect("can be removed");
    watched(&mut session, &[("main.tofu", 3)]);
    session.diagnostics_when("main.tf", has("undeclared-reference"));
    session.leave();
}

#[test]
fn text_from_the_editor_has_no_encoding_error() {
    let mut session = serve("//- /main.tf\n");
    std::fs::write(path(&session, "main.tf"), b"locals {\n  a = \"\xff\"\n}\n").expect("written");
    session.write("other.tf", "locals {\n  b = 1\n}\n");
    session.open_file("other.tf");
    session.diagnostics_when("main.tf", has("invalid-encoding"));
    session.open("main.tf", "locals {\n  c = 1\n}\n");
    session.diagnostics_when("main.tf", |found| !has("invalid-encoding")(found));
    session.close("main.tf");
    session.diagnostics_when("main.tf", has("invalid-encoding"));
    session.leave();
}

#[test]
fn reopened_file_gets_its_diagnostics_again() {
    let mut session = serve(&format!("//- /main.tf\n{BAD}"));
    for _ in 0..3 {
        session.open_file("main.tf");
        session.diagnostics_when("main.tf", has("undeclared-reference"));
        session.close("main.tf");
    }
    session.leave();
}

#[test]
fn diagnostics_of_a_removed_workspace_folder_are_withdrawn() {
    let mut session = serve(&format!(
        "//- /a/main.tf\n{GOOD}//- /a/b.tf\n{}//- /c/main.tf\n{GOOD}",
        BAD.replace("a =", "b =")
    ));
    let folder = |session: &Session, name: &str| json!({ "uri": session.uri(name), "name": name });
    let (a, c, all) = (folder(&session, "a"), folder(&session, "c"), folder(&session, ""));
    session.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [a, c], "removed": [all] } }),
    );
    session.open_file("a/main.tf");
    session.diagnostics_when("a/b.tf", has("undeclared-reference"));
    session.close("a/main.tf");
    session.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [], "removed": [a] } }),
    );
    session.diagnostics_when("a/b.tf", <[Value]>::is_empty);
    session.leave();
}

/// A symbol search loads files that are not open. Their diagnostics are published, and the earlier ones stay.
#[test]
fn files_loaded_for_a_symbol_search_are_checked() {
    let mut session = serve(&format!("//- /a/main.tf\n{BAD}//- /b/main.tf\n{BAD}"));
    session.open_file("a/main.tf");
    session.diagnostics_when("a/main.tf", has("undeclared-reference"));
    session.request("workspace/symbol", json!({ "query": "a" })).expect("an answer");
    session.diagnostics_when("b/main.tf", has("undeclared-reference"));
    session.leave();
}

#[test]
fn workspace_pull_reports_files_that_left_the_configuration() {
    let mut capabilities = watching();
    capabilities["textDocument"]["diagnostic"] = json!({});
    let mut session = Session::with(workspace(&called_and_bad()), capabilities);
    session.open_file("main.tf");
    let report = session.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let report = report.expect("an answer");
    let id = &report["items"][0]["resultId"];
    assert_eq!(report["items"][0]["uri"], session.uri("m/main.tf"));
    session.set("main.tf", "");
    let previous = json!([{ "uri": session.uri("m/main.tf"), "value": id }]);
    let report = session.request("workspace/diagnostic", json!({ "previousResultIds": previous }));
    let report = report.expect("an answer");
    assert_eq!(report["items"][0]["uri"], session.uri("m/main.tf"));
    assert_eq!(report["items"][0]["items"], json!([]));
    session.leave();
}

#[test]
fn missing_provider_of_two_configurations_is_reported_once() {
    const MISSING: &str = "no schema of example/x: run \"mayfly init\"";
    let text = "terraform {\n  required_providers {\n    x = {\n      source = \"example/x\"\n    }\n  }\n}\n";
    let mut capabilities = watching();
    capabilities["experimental"] = json!({ "statusNotification": true });
    let fixture = format!("//- /a/main.tf\n{text}//- /b/main.tf\n{text}");
    let mut session = Session::with(workspace(&fixture), capabilities);
    session.open_file("a/main.tf");
    assert_eq!(session.notification("mayfly/status")["message"], MISSING);
    session.open_file("b/main.tf");
    assert_eq!(session.notification("mayfly/status")["message"], MISSING);
    session.leave();
}
