//! `-target`, `-exclude`, `-refresh-only`, `refresh` and changes from outside, from the command line.

use serde_json::Value as Json;

use crate::bench::Bench;

const MAIN: &str = r#"
terraform {
  required_providers {
    local = {
      source = "mayfly/local"
    }
  }
}
resource "local_file" "a" {
  filename = "a.txt"
  content  = "a"
}
resource "local_file" "b" {
  filename = "b.txt"
  content  = "b"
}
resource "terraform_data" "user" {
  input = local_file.a.content_md5
}
output "b" {
  value = local_file.b.content_md5
}
"#;

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["init"]).succeeds();
    bench
}

/// The document of a saved plan.
fn plan_json(bench: &Bench, flags: &[&str]) -> Json {
    bench.mayfly(".", [&["plan", "-out=p"], flags].concat()).succeeds();
    let shown = bench.mayfly(".", ["show", "-json", "p"]).succeeds().out;
    serde_json::from_str(&shown).expect("is JSON")
}

#[test]
fn saved_plan_with_targets_applies_only_these() {
    let bench = bench();
    bench.write("targets", "# The first file.\n\nlocal_file.a\n");
    let plan = plan_json(&bench, &["-target-file=targets"]);
    assert_eq!(plan["complete"], false);
    assert_eq!(plan["resource_changes"].as_array().map(Vec::len), Some(1));
    let applied = bench.mayfly(".", ["apply", "p"]).succeeds();
    applied.shows(&["Warning: Applied changes may be incomplete", "1 added"]);
    let list = bench.mayfly(".", ["state", "list"]).succeeds().out;
    assert_eq!(list, "local_file.a\n");
    let plan = plan_json(&bench, &["-exclude=local_file.b"]);
    let changes = plan["resource_changes"].as_array().expect("is a list");
    let addresses: Vec<&str> = changes.iter().filter_map(|it| it["address"].as_str()).collect();
    assert_eq!(addresses, ["local_file.a", "terraform_data.user"]);
    assert_eq!(plan_json(&bench, &[])["complete"], true);
}

#[test]
fn wrong_addresses_are_refused_together_before_anything_runs() {
    let bench = bench();
    bench.write("targets", "local_file.a\n  # comment\nlocal_file.a[\nsecret = \"hidden\"\n");
    let ended = bench.mayfly(".", ["plan", "-target=1", "-target-file=targets"]).fails();
    ended.shows(&["Error: Invalid target \"1\"", "on targets line 3", "on targets line 4"]);
    assert!(!format!("{}{}", ended.out, ended.err).contains("hidden"), "{}", ended.err);
    let both = bench.mayfly(".", ["apply", "-target=a.b", "-exclude-file=targets"]).fails();
    both.shows(&["mutually-exclusive"]);
    bench.mayfly(".", ["plan", "-exclude-file=none"]).fails().shows(&["none cannot be read"]);
    let modes: &[(&[&str], &str)] = &[
        (&["plan", "-destroy", "-refresh-only"], "Incompatible plan mode options"),
        (&["apply", "-refresh-only", "-refresh=false"], "Incompatible refresh options"),
        (&["plan", "-refresh-only", "-replace=local_file.a"], "Unsupported plan mode"),
        (&["destroy", "-refresh-only"], "is not valid for \"mayfly destroy\""),
        (&["destroy", "-destroy"], "always runs in destroy mode"),
    ];
    for (arguments, shown) in modes {
        bench.mayfly(".", *arguments).fails().shows(&[shown]);
    }
}

#[test]
fn change_from_outside_is_shown_where_the_plan_depends_on_it() {
    let bench = bench();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("a.txt", "outside");
    let plan = bench.mayfly(".", ["plan", "-detailed-exitcode"]).end();
    assert_eq!(plan.code, 2, "{}", plan.err);
    plan.shows(&["Objects have changed outside of OpenTofu", "# local_file.a has been deleted"]);
    let document = plan_json(&bench, &[]);
    assert_eq!(document["resource_drift"][0]["address"], "local_file.a");
    let relevant = document["relevant_attributes"].as_array().expect("is a list");
    assert!(relevant.iter().any(|it| it["resource"] == "local_file.a"), "{relevant:?}");
    let lines = bench.mayfly(".", ["plan", "-json"]).succeeds().out;
    assert!(lines.contains("\"local_file.a: Drift detected (delete)\""), "{lines}");
}

#[test]
fn refresh_only_asks_before_it_writes_the_state() {
    let bench = bench();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let nothing = bench.mayfly(".", ["plan", "-refresh-only", "-detailed-exitcode"]).succeeds();
    nothing.shows(&["No changes.", "still matches the configuration"]);
    bench.write("b.txt", "outside");
    let plan = bench.mayfly(".", ["plan", "-refresh-only", "-detailed-exitcode"]).end();
    assert_eq!(plan.code, 2, "{}", plan.err);
    plan.shows(&["# local_file.b has been deleted", "This is a refresh-only plan"]);
    let declined = bench.mayfly(".", ["apply", "-refresh-only"]).input("no\n").fails();
    declined.shows(&["Would you like to update the OpenTofu state to reflect", "Apply cancelled."]);
    let list = || bench.mayfly(".", ["state", "list"]).succeeds().out;
    assert!(list().contains("local_file.b\n"));
    let applied = bench.mayfly(".", ["apply", "-refresh-only"]).input("yes\n").succeeds();
    applied.shows(&["Apply complete! Resources: 0 added, 0 changed, 0 destroyed."]);
    assert_eq!(list(), "local_file.a\nterraform_data.user\n");
}

#[test]
fn refresh_writes_the_state_without_questions_and_shows_outputs() {
    let bench = bench();
    let empty = bench.mayfly(".", ["refresh"]).succeeds();
    empty.shows(&["Warning: Empty or non-existent state"]);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("a.txt", "outside");
    let refreshed = bench.mayfly(".", ["refresh", "-target=local_file.a"]).succeeds();
    refreshed.shows(&["local_file.a: Refreshing state...", "Outputs:"]);
    assert!(!refreshed.out.contains("Apply complete"), "{}", refreshed.out);
    assert!(!refreshed.out.contains("Objects have changed"), "{}", refreshed.out);
    let list = bench.mayfly(".", ["state", "list"]).succeeds().out;
    assert_eq!(list, "local_file.b\nterraform_data.user\n");
    let lines = bench.mayfly(".", ["refresh", "-json"]).succeeds().out;
    assert!(lines.lines().all(|it| serde_json::from_str::<Json>(it).is_ok()), "{lines}");
    assert!(lines.contains("\"type\":\"outputs\""), "{lines}");
}

#[test]
fn json_lines_have_the_error_of_a_move_that_targets_leave_out() {
    let bench = bench();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let config = MAIN.replace("\"a\" {", "\"moved\" {").replace("file.a.", "file.moved.");
    let moved = "moved {\n  from = local_file.a\n  to   = local_file.moved\n}\n";
    bench.write("main.tf", &format!("{config}{moved}"));
    let lines = bench.mayfly(".", ["plan", "-json", "-target=local_file.b"]).fails().out;
    assert!(lines.contains("Moved resource instances excluded by targeting"), "{lines}");
}
