//! `plan -since`: the changes that the difference to a git revision causes.

use std::process::Command;

use serde_json::json;

use crate::bench::Bench;

const MAIN: &str = r#"
variable "password" {
  type      = string
  default   = "correct-horse"
  sensitive = true
}
resource "terraform_data" "same" {
  input = "1"
}
resource "terraform_data" "edited" {
  input = "1"
}
resource "terraform_data" "file" {
  input = file("${path.module}/text.txt")
}
resource "terraform_data" "each" {
  for_each = fileset(path.module, "items/*")
}
module "shared" {
  source = "../shared"
}
output "o" {
  value = "1"
}
"#;

const SHARED: &str = "resource \"terraform_data\" \"in\" {\n  input = \"1\"\n}\n";

fn git(bench: &Bench, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(bench.path("."))
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("is text").trim().to_owned()
}

fn commit(bench: &Bench) -> String {
    git(bench, &["add", "-A"]);
    git(bench, &["commit", "-q", "-m", "a commit"]);
    git(bench, &["rev-parse", "HEAD"])
}

/// A repository whose root module is in `root`, with an applied state and one commit after it that is not applied.
fn repository() -> Bench {
    let bench = Bench::new();
    bench.write(".gitignore", ".terraform\n*.tfstate*\n*.tfvars\nignored.txt\n");
    bench.write("root/main.tf", MAIN);
    bench.write("root/text.txt", "1");
    bench.write("root/items/a", "");
    bench.write("shared/main.tf", SHARED);
    bench.mayfly("root", ["init"]).succeeds();
    bench.mayfly("root", ["apply", "-auto-approve"]).succeeds();
    git(&bench, &["init", "-q"]);
    bench.write(
        "root/main.tf",
        &MAIN.replace("\"same\" {\n  input = \"1\"", "\"same\" {\n  input = \"2\""),
    );
    commit(&bench);
    bench
}

fn edit(bench: &Bench, path: &str, from: &str, to: &str) {
    let text = String::from_utf8(bench.read(path)).expect("is text");
    assert!(text.contains(from));
    bench.write(path, &text.replace(from, to));
}

/// The addresses in a list of the line `since`.
fn addresses(line: &serde_json::Value, list: &str) -> Vec<String> {
    let entries = line[list].as_array().expect("a list").iter();
    entries.map(|it| it["addr"].as_str().expect("an address").to_owned()).collect()
}

fn since_line(bench: &Bench, arguments: &[&str]) -> serde_json::Value {
    let planned = bench.mayfly("root", [&["plan", "-json"], arguments].concat()).succeeds();
    let lines = planned.json_lines();
    lines.into_iter().find(|it| it["type"] == json!("since")).expect("a line with the parts")
}

#[test]
fn plan_since_separates_caused_changes_from_pending_ones() {
    let bench = repository();
    let unchanged = bench.mayfly("root", ["plan", "-since=HEAD", "-detailed-exitcode"]).succeeds();
    unchanged.shows(&[
        "Changes since HEAD (",
        "No changes. The difference to HEAD causes no changes.",
        "Pending anyway, without the difference to HEAD: 1\n  ~ terraform_data.same update in-place\n",
    ]);
    let edited = "\"edited\" {\n  input = ";
    edit(&bench, "root/main.tf", &format!("{edited}\"1\""), &format!("{edited}\"2\""));
    edit(&bench, "root/main.tf", "value = \"1\"", "value = \"2\"");
    bench.write("root/text.txt", "2");
    bench.write("root/items/b", "not yet added");
    bench.write("shared/main.tf", &SHARED.replace('1', "2"));
    let planned =
        bench.mayfly("root", ["plan", "-since=main", "-detailed-exitcode", "-out=p"]).end();
    let planned = planned.exits(2);
    planned.shows(&[
        "Changes since main (",
        "# terraform_data.each[\"items/b\"] will be created",
        "# terraform_data.edited will be updated in-place",
        "# terraform_data.file will be updated in-place",
        "# module.shared.terraform_data.in will be updated in-place",
        "Plan: 1 to add, 3 to change, 0 to destroy.",
        "Changes to Outputs:\n  ~ o",
        "Pending anyway, without the difference to main: 1\n  ~ terraform_data.same update in-place\n",
        "The saved plan is the whole plan",
    ]);
    planned.lacks(&["# terraform_data.same will"]);
    bench.mayfly("root", ["show", "p"]).succeeds().shows(&["Plan: 1 to add, 4 to change"]);
    let line = since_line(&bench, &["-since=main"]);
    let commit = git(&bench, &["rev-parse", "HEAD"]);
    assert_eq!((&line["revision"], &line["commit"]), (&json!("main"), &json!(commit)));
    assert_eq!(addresses(&line, "pending"), ["terraform_data.same"]);
    assert_eq!(addresses(&line, "caused").len(), 5);
    assert_eq!(addresses(&line, "gone"), [""; 0]);
    bench.mayfly("root", ["apply", "p"]).succeeds().shows(&["1 added, 4 changed, 0 destroyed"]);
}

#[test]
fn pending_change_that_the_difference_reverts_is_listed() {
    let bench = repository();
    edit(&bench, "root/main.tf", "\"same\" {\n  input = \"2\"", "\"same\" {\n  input = \"1\"");
    let planned = bench.mayfly("root", ["plan", "-since=HEAD", "-html=p.html"]).succeeds();
    planned.shows(&[
        "No changes. The difference to HEAD causes no changes.",
        "Pending anyway, without the difference to HEAD: 0\n",
        "No longer pending, because of the difference to HEAD: 1\n  ~ terraform_data.same",
    ]);
    let html = String::from_utf8(bench.read("root/p.html")).expect("is text");
    assert!(html.contains("No longer pending"));
}

const PLAYGROUND: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
resource "playground_secret" "s" {
  name  = "a"
  value = "plain"
}
resource "playground_parameter" "p" {
  name  = "b"
  type  = "String"
  value = "1"
}
data "playground_secret" "d" {
  secret_id = playground_secret.s.id
}
"#;

#[test]
fn objects_and_data_sources_are_read_once_for_both_plans() {
    let bench = Bench::with_main(PLAYGROUND);
    bench.write(".gitignore", ".*\n*.tfstate*\n");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    git(&bench, &["init", "-q"]);
    commit(&bench);
    bench.write("main.tf", &PLAYGROUND.replace("\"1\"", "\"2\""));
    let reads = |arguments: &[&str]| {
        let count = || {
            let types = ["playground_secret", "playground_parameter"];
            let ledger = bench.ledger(".");
            types.map(|it| ledger.calls("read", it) + ledger.calls("read_data", it))
        };
        let before = count();
        bench.mayfly(".", arguments).succeeds();
        let after = count();
        [after[0] - before[0], after[1] - before[1]]
    };
    let once = reads(&["plan"]);
    assert!(once[0] > 0 && once[1] > 0, "{once:?}");
    assert_eq!(reads(&["plan", "-since=HEAD"]), once);
    bench
        .mayfly(".", ["plan", "-since=HEAD"])
        .succeeds()
        .shows(&["# playground_parameter.p will be updated in-place", "the difference to HEAD: 0"]);
    bench.assert_no_orphans(".");
}

#[test]
fn variables_have_the_same_values_at_the_revision() {
    let bench = repository();
    let declared =
        "variable \"size\" {\n}\nresource \"terraform_data\" \"sized\" {\n  input = var.size\n}\n";
    bench.write("root/sized.tf", declared);
    // The revision does not declare the variable.
    let line = since_line(&bench, &["-since=HEAD", "-var=size=3"]);
    assert_eq!(addresses(&line, "caused"), ["terraform_data.sized"]);
    commit(&bench);
    bench.write("root/s.auto.tfvars", "size = 4\n");
    let line = since_line(&bench, &["-since=HEAD"]);
    assert_eq!(addresses(&line, "caused"), [""; 0]);
    let answered = bench.mayfly("root", ["plan", "-since=HEAD"]).succeeds();
    answered.lacks(&["correct-horse"]);
}

const SIZED: &str = r#"
variable "size" {
  default = 0
}
variable "added" {
  default = 0
}
variable "gone" {
  default = 0
}
variable "named" {
}
variable "key" {
  sensitive = true
}
resource "terraform_data" "size" {
  input = var.size
}
resource "terraform_data" "added" {
  input = var.added
}
resource "terraform_data" "gone" {
  input = var.gone
}
resource "terraform_data" "key" {
  triggers_replace = var.key
}
resource "terraform_data" "named" {
  input = var.named
}
"#;

/// A repository with tracked variables files, applied and committed.
fn repository_with_variables() -> Bench {
    let bench = repository();
    bench.write(".gitignore", ".terraform\n*.tfstate*\n");
    bench.write("root/sized.tf", SIZED);
    bench.write("root/terraform.tfvars", "size = 1\nkey = \"canary-before\"\n");
    bench.write("root/gone.auto.tfvars", "gone = 1\n");
    bench.write("settings/named.tfvars", "named = 1\n");
    bench.mayfly("root", ["apply", "-auto-approve", NAMED]).succeeds();
    commit(&bench);
    bench
}

const NAMED: &str = "-var-file=../settings/named.tfvars";

#[test]
fn tracked_variables_files_count_as_they_are_at_the_revision() {
    let bench = repository_with_variables();
    let line = since_line(&bench, &["-since=HEAD", NAMED]);
    assert_eq!(addresses(&line, "caused"), [""; 0]);
    bench.write("root/terraform.tfvars", "size = 2\nkey = \"canary-after\"\n");
    bench.write("root/added.auto.tfvars", "added = 2\n");
    std::fs::remove_file(bench.path("root/gone.auto.tfvars")).expect("is there");
    bench.write("settings/named.tfvars", "named = 2\n");
    let line = since_line(&bench, &["-since=HEAD", NAMED]);
    let all = ["added", "gone", "key", "named", "size"].map(|it| format!("terraform_data.{it}"));
    assert_eq!(addresses(&line, "caused"), all);
    assert_eq!(addresses(&line, "pending"), [""; 0]);
    let shown = bench.mayfly("root", ["plan", "-since=HEAD", NAMED, "-html=p.html"]).succeeds();
    shown.shows(&["# terraform_data.key must be replaced", "(sensitive value)"]);
    shown.lacks(&["canary"]);
    assert!(!String::from_utf8_lossy(&bench.read("root/p.html")).contains("canary"));
    // A value of the command line counts for both.
    let line = since_line(&bench, &["-since=HEAD", NAMED, "-var=size=3", "-var=named=3"]);
    let caused = addresses(&line, "caused");
    assert_eq!(caused, ["added", "gone", "key"].map(|it| format!("terraform_data.{it}")));
}

#[test]
fn named_variables_file_may_be_new() {
    let bench = repository_with_variables();
    bench.write("settings/new.tfvars", "added = 5\nnamed = 5\n");
    // The revision has the default of one variable, and no value of the other one: today's value counts.
    let line = since_line(&bench, &["-since=HEAD", "-var-file=../settings/new.tfvars"]);
    assert_eq!(addresses(&line, "caused"), ["terraform_data.added"]);
    assert_eq!(addresses(&line, "pending"), ["terraform_data.named"]);
    let line = since_line(&bench, &["-since=HEAD", NAMED, "-var-file=../settings/new.tfvars"]);
    let caused = addresses(&line, "caused");
    assert_eq!(caused, ["added", "named"].map(|it| format!("terraform_data.{it}")));
}

#[test]
fn broken_variables_file_of_the_revision_is_shown_without_its_text() {
    let bench = repository_with_variables();
    bench.write("root/terraform.tfvars", "size = 1\nkey = \"canary-broken\n");
    commit(&bench);
    bench.write("root/terraform.tfvars", "size = 1\nkey = \"canary-before\"\n");
    let failed = bench.mayfly("root", ["plan", "-since=HEAD", NAMED]).fails();
    failed.shows(&["Error: Failed to compare with a revision", "on terraform.tfvars line 2"]);
    failed.lacks(&["canary"]);
}

#[test]
fn local_module_in_another_directory_than_at_the_revision_is_found_there() {
    let bench = repository();
    git(&bench, &["mv", "shared", "common"]);
    edit(&bench, "root/main.tf", "../shared", "../common");
    bench.mayfly("root", ["init"]).succeeds();
    let line = since_line(&bench, &["-since=HEAD"]);
    assert_eq!(addresses(&line, "caused"), [""; 0]);
    bench.write("common/main.tf", &SHARED.replace('1', "2"));
    let line = since_line(&bench, &["-since=HEAD"]);
    assert_eq!(addresses(&line, "caused"), ["module.shared.terraform_data.in"]);
}

#[test]
fn new_root_directory_is_caused_as_a_whole() {
    let bench = repository();
    bench.write("other/main.tf", "resource \"terraform_data\" \"a\" {}\n");
    bench.mayfly("other", ["init"]).succeeds();
    let planned = bench.mayfly("other", ["plan", "-since=HEAD"]).succeeds();
    planned.shows(&["# terraform_data.a will be created", "the difference to HEAD: 0"]);
}

#[test]
fn impossible_comparison_is_an_error_with_its_reason() {
    let bench = repository();
    let fails = |arguments: &[&str], shows: &[&str]| {
        let all = [&["plan"], arguments].concat();
        bench
            .mayfly("root", all)
            .fails()
            .shows(&[&["Error: Failed to compare with a revision"], shows].concat());
    };
    fails(&["-since=nowhere"], &["the repository has no such revision", "git fetch"]);
    fails(&["-since=--output=taken"], &["this cannot be the name of a revision"]);
    fails(&["-since="], &["this cannot be the name of a revision"]);
    assert!(!bench.path("root/taken").exists());
    bench.write(
        "root/broken.tf",
        "resource \"terraform_data\" \"b\" {\n  input = local.nothing\n}\n",
    );
    commit(&bench);
    bench.write("root/broken.tf", "");
    fails(&["-since=HEAD"], &["cannot be planned", "on broken.tf line 2", "local.nothing"]);
    bench.write(
        "root/broken.tf",
        "module \"m\" {\n  source  = \"a/b/c\"\n  version = \"1.0.0\"\n}\n",
    );
    commit(&bench);
    bench.write("root/broken.tf", "");
    fails(&["-since=HEAD"], &["Error: Module not installed"]);
    for mode in ["-destroy", "-refresh-only"] {
        bench.mayfly("root", ["plan", "-since=HEAD", mode]).fails().shows(&["-since cannot be"]);
    }
    let elsewhere = Bench::with_main("");
    let all = ["plan", "-since=HEAD"];
    elsewhere.mayfly(".", all).fails().shows(&["Error: Failed to compare with a revision", "git"]);
}

/// Settings of a repository that make git run programs.
#[test]
fn settings_of_the_repository_run_no_program() {
    let bench = repository();
    let evil = bench.path("evil.sh");
    bench.write("evil.sh", &format!("#!/bin/sh\ntouch {}\ncat\n", bench.path("taken").display()));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&evil, mode).expect("is ours");
    let evil = evil.display().to_string();
    for name in [
        "core.fsmonitor",
        "core.pager",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "diff.x.textconv",
        "core.sshCommand",
        "alias.cat-file",
        "core.editor",
        "pager.cat-file",
        "pager.ls-files",
    ] {
        git(&bench, &["config", name, &evil]);
    }
    bench.write(".gitattributes", "* filter=x diff=x\n");
    bench.write("root/items/c", "");
    bench.mayfly("root", ["plan", "-since=HEAD"]).succeeds().shows(&["items/c"]);
    assert!(!bench.path("taken").exists());
}
