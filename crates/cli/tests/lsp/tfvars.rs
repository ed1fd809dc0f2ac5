//! Files that are not module sources: files that cannot be loaded, and variables files.

use std::{path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Session, workspace, write};

/// Diagnostic summaries with their files, sorted.
type Said = Vec<(String, String)>;

/// The result of `validate` in the directory of a workspace. A diagnostic without a `range` names its file in the
/// detail.
fn validated(session: &Session) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_mayfly"))
        .args(["validate", "-json"])
        .current_dir(session.root.path().join("work"))
        .env_clear()
        .env("HOME", session.root.path().join("home"))
        .output()
        .expect("runs");
    let all: Value = serde_json::from_slice(&output.stdout).expect("is JSON");
    let one = |it: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let detail = text(&it["detail"]);
        let mut words = detail.split(' ').map(|word| word.trim_end_matches(':'));
        let named =
            words.find(|word| word.contains(".tf") || word.contains(".tofu")).map(str::to_owned);
        let file = it["range"]["filename"].as_str().map(str::to_owned).or(named);
        (file.unwrap_or_default(), text(&it["summary"]))
    };
    let mut said: Said = all["diagnostics"].as_array().expect("a list").iter().map(one).collect();
    said.sort();
    said
}

/// The diagnostics of the server for a workspace whose `main.tf` is open, without hints.
fn told(session: &mut Session) -> Said {
    let params = json!({ "previousResultIds": [] });
    let report = session.request("workspace/diagnostic", params).expect("an answer");
    let root = session.uri("");
    let root = root.trim_end_matches('/').to_owned() + "/";
    let mut said = Said::new();
    for file in report["items"].as_array().expect("items") {
        let path = file["uri"].as_str().and_then(|uri| uri.strip_prefix(&root)).expect("is below");
        let items = file["items"].as_array().expect("a list").iter();
        for it in items.filter(|it| it["severity"] != 4) {
            let summary = it["message"].as_str().and_then(|it| it.lines().next());
            said.push((path.to_owned(), summary.unwrap_or_default().to_owned()));
        }
    }
    said.sort();
    said
}

fn pulling(root: TempDir) -> Session {
    let mut capabilities = editor::usual_capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    Session::with(root, capabilities)
}

#[track_caller]
fn check(fixture: &str, spoil: impl FnOnce(&Path), expected: &[(&str, &str)]) {
    let root = workspace(fixture);
    // Do this before the server reads the files, because it notices later changes only after a delay.
    spoil(&root.path().join("work"));
    let mut session = pulling(root);
    session.open_file("main.tf");
    let expected: Said =
        expected.iter().map(|(file, summary)| ((*file).into(), (*summary).into())).collect();
    assert_eq!(told(&mut session), expected, "the server");
    assert_eq!(validated(&session), expected, "validate");
    session.leave();
}

#[test]
fn server_and_validate_agree_on_unreadable_files() {
    check(
        "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n}\n//- /x.tf.json\n{\"a\": 1,}\n//- \
         /m/main.tf\nlocals {}\n//- /m/y.tofu.json\n{\"output\": {\"o\": {\"value\": \"${local.b}\"}}}\n",
        |_| {},
        &[
            ("m/y.tofu.json", "Reference to undeclared local value"),
            ("x.tf.json", "Trailing comma in object"),
        ],
    );
    #[cfg(unix)]
    check(
        "//- /main.tf\nlocals {}\n",
        |work| {
            let link = work.join("broken.tf");
            std::os::unix::fs::symlink("nowhere", link).expect("can be made");
        },
        &[("broken.tf", "Failed to read file")],
    );
    check(
        "//- /main.tf\nlocals {}\n",
        |work| {
            let path = work.join("latin.tf");
            std::fs::write(path, b"locals {\n  a = \"\xe9\"\n}\n").expect("can be written");
        },
        &[("latin.tf", "Invalid character encoding")],
    );
}

#[test]
fn server_and_validate_agree_on_missing_modules() {
    let fixture = "//- /main.tf\nmodule \"far\" {\n  source = \"example.com/a/b/c\"\n}\nmodule \
                   \"near\" {\n  source = \"./nowhere\"\n}\n";
    let mut session = pulling(workspace(fixture));
    session.open_file("main.tf");
    let told = told(&mut session);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told, validated(&session));
    session.leave();
}

#[test]
fn json_configuration_is_checked_while_typed() {
    let text = "{\"output\": {\"o\": {\"value\": \"\\u0041${local.b}\"}}}\n";
    let mut session = Session::new(&format!("//- /main.tf\nlocals {{}}\n//- /x.tf.json\n{text}"));
    session.open_file("x.tf.json");
    let found = session.diagnostics("x.tf.json");
    let start = text.find("local.b").expect("is in it");
    assert_eq!(
        found[0]["range"],
        json!({ "start": { "line": 0, "character": start }, "end": { "line": 0, "character": start + 7 } })
    );
    session.set("x.tf.json", &text.replace("local.b", "1"));
    assert_eq!(session.diagnostics_when("x.tf.json", <[Value]>::is_empty), Vec::<Value>::new());
    session.write("y.tf.json", "[1]\n");
    session.diagnostics_when("y.tf.json", |found| !found.is_empty());
    session.leave();
}

const VARIABLES: &str = r#"
//- /main.tf
variable "size" {
  type = number
}

variable "password" {
  type      = number
  ephemeral = true
  default   = 8142
}
//- /terraform.tfvars
size = 1
"#;

fn summaries(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|it| it["message"].as_str()?.lines().next()).collect()
}

#[test]
fn variables_file_is_checked_against_declarations_while_typed() {
    let mut session = Session::new(VARIABLES);
    session.open_file("terraform.tfvars");
    session.replace("terraform.tfvars", "1", "\"é\"\nsiez = 2\npassword = \"hunter2\"");
    let found = session.diagnostics("terraform.tfvars");
    assert_eq!(
        summaries(&found),
        [
            "Invalid value for input variable",
            "Value for undeclared variable",
            "Invalid value for input variable"
        ]
    );
    assert_eq!(session.text_in("terraform.tfvars", &found[1]["range"]), "siez");
    assert!(!found[2].to_string().contains("hunter2"), "{}", found[2]);
    // Changing the variable declaration updates the diagnostics of the variables file.
    session.open_file("main.tf");
    session.replace("main.tf", "variable \"size\"", "variable \"siez\"");
    let found = session.diagnostics_when("terraform.tfvars", |found| found.len() == 2);
    assert_eq!(session.text_in("terraform.tfvars", &found[0]["range"]), "size");
    session.set("terraform.tfvars", "siez = \n");
    let found = session.diagnostics("terraform.tfvars");
    assert_eq!(summaries(&found), ["Invalid expression"]);
    session.close("terraform.tfvars");
    session.diagnostics_when("terraform.tfvars", <[Value]>::is_empty);
    session.leave();
}

#[test]
fn variables_file_has_hover_and_completion() {
    let mut session = Session::new(VARIABLES);
    session.open_file("terraform.tfvars");
    let hover = session.ask_at("textDocument/hover", "terraform.tfvars", 1);
    let text = hover["contents"]["value"].as_str().expect("a card");
    assert!(text.contains("var.size: number"), "{text}");
    let end = session.text("terraform.tfvars").len();
    let list = session.ask_at("textDocument/completion", "terraform.tfvars", end);
    let items = list["items"].as_array().expect("items");
    let inserted: Vec<_> = items.iter().map(|it| &it["textEdit"]["newText"]).collect();
    assert_eq!(inserted, ["password = "]);
    assert!(!list.to_string().contains("8142"), "{list}");
    session.leave();
}

#[test]
fn closed_variables_file_is_not_checked() {
    let root = workspace(VARIABLES);
    write(root.path(), "terraform.tfvars", "nothing = 1\n");
    let mut capabilities = editor::usual_capabilities();
    capabilities["textDocument"]["diagnostic"] = json!({});
    let mut session = Session::with(root, capabilities);
    session.open_file("main.tf");
    assert_eq!(told(&mut session), Said::new());
    session.leave();
}
