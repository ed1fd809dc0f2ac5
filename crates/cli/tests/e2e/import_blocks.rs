//! `import` blocks, `plan -generate-config-out` and `import -config`, as a person and a script see them.

use serde_json::json;

use crate::bench::Bench;

const HEAD: &str = r#"terraform {
  required_providers {
    playground = { source = "mayfly/playground" }
  }
}
"#;

const CONFIG: &str = r#"
resource "terraform_data" "same" {}
resource "terraform_data" "updated" { input = "new" }
resource "terraform_data" "each" {
  for_each = toset(["a"])
}
import {
  to = terraform_data.same
  id = "one"
}
import {
  to = terraform_data.updated
  id = "two"
}
import {
  for_each = ["a"]
  to       = terraform_data.each[each.value]
  id       = "number-${each.key}"
}
output "id" { value = terraform_data.same.id }
"#;

#[test]
fn saved_plan_with_imports_is_shown_and_applied() {
    let bench = Bench::with_main(CONFIG);
    let planned = bench.mayfly(".", ["plan", "-out=p"]).succeeds();
    planned.shows(&[
        "terraform_data.same: Preparing import... [id=one]\nterraform_data.same: Refreshing state... [id=one]",
        "  # terraform_data.each[\"a\"] will be imported\n  # (imported from \"number-0\")\n    resource",
        "  # terraform_data.updated will be updated in-place\n  # (imported from \"two\")\n  ~ resource",
        "Plan: 3 to import, 0 to add, 1 to change, 0 to destroy.",
    ]);
    bench.mayfly(".", ["show", "p"]).succeeds().shows(&["(imported from \"two\")", "3 to import"]);
    let plan = bench.mayfly(".", ["show", "-json", "p"]).succeeds().json();
    let change = |address: &str| {
        let changes = plan["resource_changes"].as_array().expect("a list");
        let found = changes.iter().find(|it| it["address"] == address);
        found.expect("is planned")["change"].clone()
    };
    let same = change("terraform_data.same");
    assert_eq!((&same["actions"], &same["importing"]), (&json!(["no-op"]), &json!({"id": "one"})));
    assert_eq!(change("terraform_data.updated")["actions"], json!(["update"]));
    let applied = bench.mayfly(".", ["apply", "p"]).succeeds();
    applied.shows(&[
        "terraform_data.updated: Importing... [id=two]\nterraform_data.updated: Import complete [id=two]",
        "terraform_data.updated: Modifying... [id=two]",
        "Apply complete! Resources: 3 imported, 0 added, 1 changed, 0 destroyed.",
        "id = \"one\"",
    ]);
    let ids = bench.mayfly(".", ["state", "show", "terraform_data.each[\"a\"]"]).succeeds();
    ids.shows(&["\"number-0\""]);
    // The blocks may stay: the state has their objects.
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).succeeds().shows(&["No changes."]);
    bench.mayfly(".", ["destroy", "-auto-approve"]).succeeds().shows(&["3 destroyed."]);
}

#[test]
fn json_plan_has_the_imported_objects() {
    let bench = Bench::with_main(CONFIG);
    let lines = bench.mayfly(".", ["plan", "-json"]).succeeds().out;
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let of = |kind: &str| lines.iter().filter(|it| it["type"] == kind).collect::<Vec<_>>();
    let changes = of("planned_change");
    let actions: Vec<_> = changes
        .iter()
        .map(|it| (&it["change"]["action"], &it["change"]["importing"]["id"]))
        .collect();
    let expected = [("import", "number-0"), ("import", "one"), ("update", "two")]
        .map(|(a, b)| (json!(a), json!(b)));
    assert_eq!(actions, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    assert_eq!(of("change_summary")[0]["changes"]["import"], 3);
    let code = bench.mayfly(".", ["plan", "-detailed-exitcode"]).end();
    assert_eq!(code.code, 2);
}

/// The file has the bytes that `fmt` would write, and it is a valid configuration with which nothing is left to plan.
#[test]
fn generated_configuration_is_formatted_and_valid() {
    let bench = Bench::new();
    let create = "resource \"playground_secret\" \"s\" {\n  name     = \"s\"\n  value_wo = \"hunter2hunter2\"\n}\n";
    bench.write("a/main.tf", &format!("{HEAD}{create}"));
    let store = bench.path("store").display().to_string();
    let run = |folder: &str, arguments: &[&str]| {
        bench.mayfly(folder, arguments).env("PLAYGROUND_STORE", &store)
    };
    run("a", &["init"]).succeeds();
    run("a", &["apply", "-auto-approve"]).succeeds();
    let import = "import {\n  to = playground_secret.s\n  id = \"s\"\n}\n";
    bench.write("b/main.tf", &format!("{HEAD}{import}"));
    run("b", &["init"]).succeeds();
    run("b", &["plan"]).fails().shows(&[
        "Error: Configuration for import target does not exist",
        "-generate-config-out=generated.tf",
    ]);
    let planned = run("b", &["plan", "-out=p", "-generate-config-out=generated.tf"]).succeeds();
    planned.shows(&[
        "  # (config will be generated)\n  # (imported from \"s\")",
        "Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.",
        "Warning: Config generation is experimental",
        "Mayfly has generated configuration and written it to generated.tf.",
    ]);
    let generated = String::from_utf8(bench.read("b/generated.tf")).expect("text");
    assert!(
        generated.starts_with(
            "# __generated__ by OpenTofu\n# Please review these resources and move them into your main \
             configuration files.\n\n# __generated__ by OpenTofu from \"s\"\nresource \"playground_secret\" \
             \"s\" {\n"
        ),
        "{generated}"
    );
    assert!(generated.contains("= null # write-only\n"), "{generated}");
    assert!(!generated.contains("hunter2"), "{generated}");
    run("b", &["fmt", "-check"]).succeeds();
    run("b", &["validate"]).succeeds();
    let existing = run("b", &["plan", "-generate-config-out=generated.tf"]).fails();
    existing.shows(&["Error: Target generated file already exists"]);
    let destroy = run("b", &["plan", "-destroy", "-generate-config-out=other.tf"]).fails();
    destroy.shows(&["Error: Invalid generate-config-out flag"]);
    // No configuration is missing, so no file is written.
    let nowhere = run("b", &["plan", "-generate-config-out=none/x.tf"]).succeeds();
    nowhere.shows(&["1 to import"]);
    // The plan file has the configuration, too.
    std::fs::remove_file(bench.path("b/generated.tf")).expect("is there");
    run("b", &["plan", "-generate-config-out=none/x.tf"])
        .fails()
        .shows(&["Error: Failed to create target generated file"]);
    run("b", &["apply", "p"]).succeeds().shows(&["1 imported"]);
    bench.write("b/main.tf", &format!("{HEAD}{generated}"));
    run("b", &["plan"]).succeeds().shows(&["No changes."]);
}

#[test]
fn import_reads_the_configuration_of_another_directory() {
    let bench = Bench::new();
    bench.write("work/terraform.tfvars", "value = \"x\"\n");
    bench.write(
        "work/config/main.tf",
        "variable \"value\" {}\nresource \"terraform_data\" \"d\" { input = var.value }\n",
    );
    bench.write("work/empty/none.txt", "");
    let empty = bench.mayfly("work", ["import", "-config=empty", "terraform_data.d", "i"]).fails();
    empty
        .shows(&["Error: No OpenTofu configuration files", "The directory empty does not contain"]);
    let imported = bench.mayfly("work", ["import", "-config=config", "terraform_data.d", "i"]);
    imported.succeeds().shows(&["Import successful!"]);
    assert_eq!(bench.state("work")["resources"][0]["name"], "d");
    let elsewhere = bench.mayfly("work", ["import", "-config=config", "terraform_data.e", "i"]);
    elsewhere.fails().shows(&["terraform_data.e", "does not exist in the configuration"]);
}
