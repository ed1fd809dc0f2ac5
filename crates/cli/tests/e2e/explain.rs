//! The `explain` command, the ids in messages, and the consolidation of diagnostics with the same summary.

use crate::bench::Bench;

#[test]
fn explain_prints_the_page_of_an_id() {
    let bench = Bench::new();
    let page = bench.mayfly(".", ["explain", "ephemeral-value-misuse"]).succeeds();
    assert!(page.out.starts_with("\nephemeral-value-misuse\n\nError: Invalid use"), "{}", page.out);
    page.shows(&["    resource \"playground_secret\" \"s\" {\n", "value_wo_version = 1"]);
    page.lacks(&["```", "# ephemeral-value-misuse"]);
    let bracketed = bench.mayfly(".", ["explain", "[ephemeral-value-misuse]"]).succeeds();
    assert_eq!(page.out, bracketed.out);
}

#[test]
fn explain_lists_all_ids_and_suggests_a_similar_one() {
    let bench = Bench::new();
    let list = bench.mayfly(".", ["explain", "-ids"]).succeeds();
    assert_eq!(list.out, bench.mayfly(".", ["explain"]).succeeds().out);
    list.shows(&["\nsyntax-error ", "  Error: Argument or block definition required\n"]);
    assert!(list.out.lines().count() > 200, "{}", list.out);
    for (given, meant) in [("syntx-error", "syntax-error"), ("dependency-cycl", "dependency-cycle")]
    {
        let unknown = bench.mayfly(".", ["explain", given]).fails();
        unknown.shows(&["Error: Nothing to explain", &format!("Did you mean \"{meant}\"?")]);
    }
    bench.mayfly(".", ["explain", "s3cret-Word"]).fails().lacks(&["s3cret"]);
}

#[test]
fn validate_json_ids_are_accepted_by_explain() {
    let bench = Bench::with_main("locals {\n  a = var.nope\n}\n");
    let said = bench.mayfly(".", ["validate", "-json"]).end().json();
    let id = said["diagnostics"][0]["id"].as_str().expect("a text");
    bench
        .mayfly(".", ["explain", id])
        .succeeds()
        .shows(&["Reference to undeclared input variable"]);
}

/// A configuration with a chain from a variable to two objects.
const CHAIN: &str = r#"variable "release" {
  type = string
}

variable "token" {
  type      = string
  sensitive = true
  default   = "canary"
}

locals {
  image = "img-${var.release}"
}

resource "terraform_data" "web" {
  triggers_replace = local.image
  input            = var.token
}

output "id" {
  value = terraform_data.web.id
}
"#;

/// Applies [`CHAIN`] with the release 1, and sets the release to 2.
fn released() -> Bench {
    let bench = Bench::with_main(CHAIN);
    bench.write("terraform.tfvars", "release = \"1\"\n");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("terraform.tfvars", "release = \"2\"\n");
    bench
}

#[test]
fn explain_follows_a_change_of_the_directory_to_its_root() {
    let bench = released();
    let text = bench.mayfly(".", ["explain", "terraform_data.web"]).succeeds();
    let expected = "\
terraform_data.web must be replaced because:
  - triggers_replace changes from \"img-1\" to \"img-2\", which forces replacement  main.tf:16
    - local.image is \"img-2\"                                                    main.tf:12
      - var.release is \"2\", set in a variables file                             terraform.tfvars:1
";
    assert_eq!(text.out, expected);
    let flag = bench.mayfly(".", ["explain", "local.image", "-var=release=3", "-refresh=false"]);
    flag.succeeds()
        .shows(&["local.image is \"img-3\" because:", "var.release is \"3\", set by -var"]);
    let overview = bench.mayfly(".", ["explain"]).succeeds();
    overview.shows(&["-/+ terraform_data.web  triggers_replace changes", "  ~ output.id "]);
    for answer in [&text, &overview] {
        answer.lacks(&["canary"]);
    }
    bench.mayfly(".", ["explain", "terraform_data.web.input"]).succeeds().lacks(&["canary"]);
}

#[test]
fn explain_answers_about_a_plan_file_as_text_and_json() {
    let bench = released();
    bench.mayfly(".", ["plan", "-out=plan.bin"]).succeeds();
    // The working directory no longer decides.
    bench.write("main.tf", "locals {}\n");
    let text = bench.mayfly(".", ["explain", "-plan=plan.bin", "output.id"]).succeeds();
    text.shows(&[
        "output.id is known only after apply because:\n",
        "terraform_data.web.id is computed by the provider when it creates the new object",
        "var.release is \"2\", set when the plan was made",
    ]);
    let arguments = ["explain", "-plan=plan.bin", "-json", "terraform_data.web"];
    let json = bench.mayfly(".", arguments).succeeds().json();
    assert_eq!(json["format_version"], "1.0");
    let web = &json["findings"][0];
    assert_eq!(web["action"], serde_json::json!(["delete", "create"]));
    let forcing = &web["because"][0];
    assert_eq!(forcing["fact"], "forces_replacement");
    assert_eq!(forcing["after"], "\"img-2\"");
    assert_eq!(forcing["place"]["line"], 16);
    assert!(!json.to_string().contains("canary"), "{json}");
    let both = ["explain", "-plan=plan.bin", "-var=release=3", "terraform_data.web"];
    bench.mayfly(".", both).fails().shows(&["A saved plan contains its variables"]);
}

#[test]
fn explain_names_addresses_near_a_wrong_one() {
    let bench = released();
    let unknown = bench.mayfly(".", ["explain", "terraform_data.wbe"]).fails();
    unknown.shows(&["Error: Nothing to explain", "  - terraform_data.web\n"]);
    bench.mayfly(".", ["explain", "kanarek..x"]).fails().lacks(&["kanarek"]);
}

/// Consolidates diagnostics with the same summary, worded as in OpenTofu. A flag disables it.
#[test]
fn diagnostics_with_one_summary_are_consolidated() {
    let resource = |name: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{\n  depends_on = [\"terraform_data.a\"]\n}}\n"
        )
    };
    let all = ["b", "c", "d"].map(resource).concat();
    let bench = Bench::with_main(&format!("resource \"terraform_data\" \"a\" {{}}\n{all}"));
    let quoted = "Warning: Quoted references are deprecated";
    let count = |flags: &[&str]| {
        let said = bench.mayfly(".", [&["validate"], flags].concat()).succeeds();
        (said.out.matches(quoted).count(), said.out)
    };
    let (warnings, shown) = count(&[]);
    assert_eq!(warnings, 1);
    assert!(shown.contains("\n(and 2 more similar warnings elsewhere)\n"), "{shown}");
    assert_eq!(count(&["-consolidate-warnings=false"]).0, 3);
    let (_, compact) = count(&["-compact-warnings"]);
    assert!(compact.contains("deprecated\n  on main.tf line 3 (and 2 more)\n"), "{compact}");
    bench.write("more.tf", "locals {\n  a = var.x\n  b = var.y\n}\n");
    let undeclared = "Error: Reference to undeclared input variable";
    for (flag, errors) in [("-consolidate-errors=false", 2), ("-consolidate-errors", 1)] {
        let said = bench.mayfly(".", ["validate", flag]).fails();
        assert_eq!(said.err.matches(undeclared).count(), errors, "{}", said.err);
    }
}

/// The hover at the first occurrence of a word, with the plan's part only.
fn planned_at(editor: &mut editor::Editor, word: &str) -> String {
    let at = editor.text("main.tf").find(word).expect("the word is there") + 1;
    let hover = editor.ask_at("textDocument/hover", "main.tf", at);
    let text = hover["contents"]["value"].as_str().unwrap_or_default().to_owned();
    text.split_once("\n---\n").map(|(_, planned)| planned.to_owned()).unwrap_or_default()
}

/// A language server with a connected editor.
struct Connected {
    editor: editor::Editor,
    server: std::process::Child,
}

fn connected(bench: &Bench) -> Connected {
    let mut server = bench.mayfly(".", ["lsp"]).spawn();
    let from_server = server.stdout.take().expect("is piped");
    let to_server = server.stdin.take().expect("is piped");
    let capabilities = editor::usual_capabilities();
    let mut editor =
        editor::Editor::connect(from_server, to_server, &bench.path("."), capabilities);
    editor.open_file("main.tf");
    // The hover of an argument needs the schemas, which the server reads in the background. This
    // request waits for them.
    let document = serde_json::json!({ "textDocument": { "uri": editor.uri("main.tf") } });
    editor.request("textDocument/semanticTokens/full", document).expect("an answer");
    Connected { editor, server }
}

#[test]
fn hover_shows_the_causes_of_the_last_plan() {
    let bench = released();
    bench.write(".terraform/keep", "");
    bench.mayfly(".", ["plan"]).succeeds();
    let Connected { mut editor, mut server } = connected(&bench);
    let header = planned_at(&mut editor, "\"web\"");
    assert!(header.contains("At the last plan ("), "{header}");
    assert!(
        header.contains("terraform_data.web must be replaced because:\n- triggers_replace"),
        "{header}"
    );
    assert!(
        header.contains("var.release is \"2\", set in a variables file (terraform.tfvars:1)"),
        "{header}"
    );
    let argument = planned_at(&mut editor, "triggers_replace");
    assert!(argument.contains("- triggers_replace changes from"), "{argument}");
    assert!(!argument.contains("before this file was changed"), "{argument}");
    assert_eq!(planned_at(&mut editor, "image = "), "", "a local value has no planned change");
    let edited = format!("# Edited.\n{}", editor.text("main.tf"));
    editor.set("main.tf", &edited);
    let header = planned_at(&mut editor, "\"web\"");
    assert!(header.contains(", before this file was changed:"), "{header}");
    bench.write(".terraform/mayfly-causes.json", "{\"version\":1,\"changes\":[[[");
    assert_eq!(planned_at(&mut editor, "\"web\""), "", "a damaged record counts as missing");
    bench.mayfly(".", ["plan"]).succeeds();
    assert!(planned_at(&mut editor, "\"web\"").contains("must be replaced"));
    let record = std::fs::read_to_string(bench.path(".terraform/mayfly-causes.json"));
    assert!(!record.expect("there is a record").contains("canary"));
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert_eq!(planned_at(&mut editor, "\"web\""), "", "an apply removes the record");
    editor.leave();
    assert!(server.wait().expect("can be waited for").success());
}

/// The text of the record of the last plan, and the time of its last change.
fn record(bench: &Bench) -> (String, std::time::SystemTime) {
    let path = bench.path(".terraform/mayfly-causes.json");
    let time = std::fs::metadata(&path).and_then(|it| it.modified()).expect("there is a record");
    (std::fs::read_to_string(path).expect("is readable"), time)
}

#[test]
fn watch_reports_the_causes_of_news_and_records_all_causes() {
    let bench = released();
    bench.write(".terraform/keep", "");
    let started = bench.mayfly(".", ["watch", "-json"]).start();
    let planned = |number: u32| started.wait_for(&format!("\"ok\":true,\"plan\":{number},"));
    planned(1);
    bench.write("terraform.tfvars", "release = \"3\"\n");
    planned(2);
    // Each plan writes its record before the next one starts.
    bench.write("terraform.tfvars", "release = \"3\"\n# Without effect.\n");
    planned(3);
    let (_, written) = record(&bench);
    bench.write("terraform.tfvars", "release = \"3\"\n# Without effect again.\n");
    planned(4);
    started.signal(rustix::process::Signal::INT);
    let ended = started.end().exits(0);
    ended.lacks(&["canary"]);
    let (text, after) = record(&bench);
    assert_eq!(written, after, "a record with the same causes is not written again");
    assert!(text.contains("to \\\"img-3\\\", which forces replacement"), "{text}");
    assert!(!text.contains("canary"), "{text}");

    let lines = ended.json_lines();
    let causes: Vec<_> = lines.iter().filter(|it| it["type"] == "plan_finished").collect();
    let causes: Vec<_> = causes.iter().map(|it| &it["causes"]).collect();
    let at_variable = serde_json::json!({ "file": "terraform.tfvars", "line": 1, "column": 11 });
    for (causes, image) in [(causes[0], "img-2"), (causes[1], "img-3")] {
        assert_eq!(causes[0]["address"], "terraform_data.web");
        let text = causes[0]["text"].as_str().expect("is a text");
        let start = format!("triggers_replace changes from \"img-1\" to \"{image}\"");
        assert!(text.starts_with(&start) && text.contains(" <- var.release is "), "{text}");
        assert_eq!(causes[0]["place"], at_variable);
    }
    assert_eq!(causes[0][1]["address"], "output.id", "all changes of the first plan are news");
    assert_eq!(causes[1].as_array().map(Vec::len), Some(1), "the output did not change since");
    assert_eq!(*causes[2], serde_json::json!([]));
}
