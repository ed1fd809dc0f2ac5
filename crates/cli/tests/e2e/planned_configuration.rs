//! `apply FILE` and `show FILE` use the configuration in the plan file, regardless of the working directory.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use state::{PlanFile, PlannedFile};

use crate::{
    bench::{Bench, Ended},
    search::Canaries,
};

const MAIN: &str = r#"
variable "v" {
  type    = string
  default = "planned"
}
module "m" {
  source = "./m"
}
resource "terraform_data" "a" {
  input = "${var.v} ${file("a.txt")}"
}
output "o" {
  value = "${terraform_data.a.output} ${module.m.o}"
}
"#;

const MODULE: &str = "resource \"terraform_data\" \"b\" {\n  input = \"planned\"\n}\noutput \"o\" \
                      {\n  value = \"${terraform_data.b.output} ${path.module}\"\n}\n";

fn planned() -> Bench {
    let bench = Bench::new();
    bench.write("c/main.tf", MAIN);
    bench.write("c/m/main.tf", MODULE);
    bench.write("c/a.txt", "text");
    bench.mayfly("c", ["plan", "-out=p"]).succeeds();
    bench
}

const DIFFERS: &str = "Warning: The configuration in this directory is not the one that is applied";

/// Applies the plan, which must do what was planned.
#[track_caller]
fn applies(bench: &Bench) -> Ended {
    let ended = bench.mayfly("c", ["apply", "p"]).succeeds();
    ended.shows(&["Resources: 2 added, 0 changed, 0 destroyed.", "o = \"planned text planned m\""]);
    assert_eq!(bench.state("c")["outputs"]["o"]["value"], "planned text planned m");
    ended
}

#[track_caller]
fn applies_with_warning(change: impl FnOnce(&Bench), lines: &[&str]) {
    let bench = planned();
    change(&bench);
    let ended = applies(&bench);
    ended.shows(&[DIFFERS]);
    ended.shows(lines);
    ended.shows(&["make a new plan"]);
}

fn remove(bench: &Bench, name: &str) {
    fs::remove_file(bench.path(name)).expect("was there");
}

#[test]
fn apply_of_a_saved_plan_ignores_current_configuration_files() {
    applies(&planned()).lacks(&["Warning"]);
    applies_with_warning(
        |it| it.write("c/main.tf", &MAIN.replace("var.v", "upper(var.v)")),
        &["- main.tf was changed"],
    );
    applies_with_warning(
        |it| it.write("c/more.tf", "resource \"terraform_data\" \"more\" {}\n"),
        &["- more.tf was added"],
    );
    applies_with_warning(
        |it| it.write("c/main.tofu", "output \"o\" {\n  value = \"other\"\n}\n"),
        &["- main.tf is gone", "- main.tofu was added"],
    );
    applies_with_warning(|it| it.write("c/main.tf", "resource {"), &["- main.tf was changed"]);
    applies_with_warning(
        |it| it.write("c/m/main.tf", &MODULE.replace("planned", "other")),
        &["- m/main.tf was changed"],
    );
    applies_with_warning(|it| remove(it, "c/m/main.tf"), &["- m/main.tf is gone"]);
    applies_with_warning(
        |it| {
            it.write(
                "c/b.tf",
                "terraform {\n  backend \"local\" {\n    path = \"x.tfstate\"\n  }\n}\n",
            )
        },
        &["- b.tf was added"],
    );
    applies_with_warning(
        |it| it.write("c/b.tf", "terraform {\n  backend \"s3\" {}\n}\n"),
        &["- b.tf was added"],
    );
    applies_with_warning(
        |it| it.write("c/r.tf", "terraform {\n  required_version = \">= 99\"\n}\n"),
        &["- r.tf was added"],
    );
}

#[test]
fn saved_plan_applies_without_configuration_files() {
    let bench = planned();
    remove(&bench, "c/main.tf");
    fs::remove_dir_all(bench.path("c/m")).expect("was there");
    applies(&bench).lacks(&["Warning"]);
    // Neither the data directory nor the original directory is needed.
    let bench = planned();
    bench.write("elsewhere/a.txt", "text");
    fs::copy(bench.path("c/p"), bench.path("elsewhere/p")).expect("is copied");
    let ended = bench.mayfly("elsewhere", ["apply", "-json", "p"]).succeeds();
    ended.shows(&["Resources: 2 added"]);
    let shown = |folder: &str, flags: &[&str]| {
        bench.mayfly(folder, [&["show"], flags, &["p"]].concat()).succeeds().out
    };
    assert_eq!(shown("elsewhere", &[]), shown("c", &[]));
    assert_eq!(shown("elsewhere", &["-json"]), shown("c", &["-json"]));
    assert!(shown("elsewhere", &["-json"]).contains("\"module_calls\""));
}

#[test]
fn variables_file_that_contradicts_the_plan_is_an_error() {
    let bench = planned();
    bench.write("c/terraform.tfvars", "v = \"other\"\n");
    let mismatch = "Error: Mismatch between input and plan variable value";
    bench.mayfly("c", ["apply", "p"]).fails().shows(&[mismatch, "\"v\""]);
    assert!(!bench.path("c/terraform.tfstate").exists());
    bench.write("c/terraform.tfvars", "v = \"planned\"\nundeclared = 1\n");
    applies(&bench).shows(&["Warning: Value for undeclared variable"]);
}

/// Checks that an apply stops if the result of a file function in `expression` changed since the plan.
#[track_caller]
fn stops(expression: &str, change: impl FnOnce(&Bench), line: &str) {
    let bench = Bench::new();
    bench.write("c/main.tf", &format!("output \"o\" {{\n  value = {expression}\n}}\n"));
    bench.write("c/a.txt", "text");
    bench.mayfly("c", ["plan", "-out=p"]).succeeds();
    change(&bench);
    let ended = bench.mayfly("c", ["apply", "p"]).fails();
    ended.shows(&["Error: File was changed after the plan was made", line, "make a new plan"]);
    assert!(!bench.path("c/terraform.tfstate").exists(), "nothing is written");
}

#[test]
fn changed_file_that_a_function_reads_stops_the_apply() {
    let other = |it: &Bench| it.write("c/a.txt", "hello");
    let gone = |it: &Bench| remove(it, "c/a.txt");
    stops("file(\"a.txt\")", other, "- \"a.txt\" was changed");
    stops("file(\"a.txt\")", gone, "- \"a.txt\" is gone");
    stops("templatefile(\"a.txt\", {})", other, "- \"a.txt\" was changed");
    stops("filebase64sha256(\"./a.txt\")", other, "- \"./a.txt\" was changed");
    stops("fileexists(\"a.txt\")", gone, "- \"a.txt\" is gone");
    let created = |it: &Bench| it.write("c/b.txt", "");
    stops("try(file(\"b.txt\"), \"\")", created, "- \"b.txt\" was created");
    stops("fileexists(\"b.txt\")", created, "- \"b.txt\" was created");
    let pipe = |it: &Bench| {
        remove(it, "c/a.txt");
        let path = it.path("c/a.txt");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .expect("is made");
    };
    stops("file(\"a.txt\")", pipe, "- \"a.txt\" is gone");
}

#[test]
fn changed_file_that_apply_does_not_read_is_allowed() {
    let main = |more: &str| {
        format!(
            "resource \"terraform_data\" \"kept\" {{\n  input = file(\"kept.txt\")\n}}\nresource \
             \"terraform_data\" \"new\" {{\n  input = \"{more}\"\n}}\n"
        )
    };
    let bench = Bench::new();
    bench.write("c/main.tf", &main("a"));
    bench.write("c/kept.txt", "text");
    bench.mayfly("c", ["apply", "-auto-approve"]).succeeds();
    bench.write("c/main.tf", &main("b"));
    bench.mayfly("c", ["plan", "-out=p"]).succeeds();
    // No change is planned for the resource, so its file is not needed.
    remove(&bench, "c/kept.txt");
    bench.mayfly("c", ["apply", "p"]).succeeds().shows(&["0 added, 1 changed, 0 destroyed"]);
}

#[test]
fn saved_plan_records_the_state_path() {
    let bench = Bench::new();
    let main = "variable \"name\" {\n  default = \"a\"\n}\nterraform {\n  backend \"local\" {\n    \
                path = \"states/${var.name}.tfstate\"\n  }\n}\nresource \"terraform_data\" \"a\" {}\n";
    bench.write("c/main.tf", main);
    bench.mayfly("c", ["init"]).succeeds();
    bench.mayfly("c", ["plan", "-out=p"]).succeeds();
    for folder in ["elsewhere", "moved"] {
        bench.write(&format!("{folder}/x"), "");
        fs::copy(bench.path("c/p"), bench.path(&format!("{folder}/p"))).expect("is copied");
    }
    bench.mayfly("elsewhere", ["apply", "p"]).succeeds();
    assert!(bench.path("elsewhere/states/a.tfstate").exists());
    // The states were migrated after the plan, so the state at the old place is outdated.
    bench.write("c/main.tf", &main.replace("states/", "other/"));
    bench.mayfly("c", ["init", "-reconfigure"]).succeeds();
    let ended = bench.mayfly("c", ["apply", "p"]).fails();
    ended.shows(&[
        "Saved plan is for a state in another place",
        "states/a.tfstate",
        "other/a.tfstate",
    ]);
    assert!(!bench.path("c/states/a.tfstate").exists());
}

#[test]
fn module_source_read_from_a_file_is_that_of_the_plan() {
    let bench = Bench::new();
    bench.write("c/main.tf", "module \"m\" {\n  source = \
                              yamldecode(file(\"versions.yaml\")).m\n}\noutput \"o\" {\n  value = module.m.o\n}\n");
    bench.write("c/versions.yaml", "m: ./one\n");
    for name in ["one", "two"] {
        bench.write(
            &format!("c/{name}/main.tf"),
            &format!("output \"o\" {{\n  value = \"{name}\"\n}}\n"),
        );
    }
    bench.mayfly("c", ["init"]).succeeds();
    bench.mayfly("c", ["plan", "-out=p"]).succeeds();
    let shown = bench.mayfly("c", ["show", "-json", "p"]).succeeds().json();
    assert!(shown["configuration"]["root_module"]["module_calls"]["m"]["module"].is_object());
    bench.write("c/versions.yaml", "m: ./two\n");
    bench.mayfly("c", ["apply", "p"]).fails().shows(&["Error: "]);
    assert!(!bench.path("c/terraform.tfstate").exists());
    bench.write("c/versions.yaml", "m: ./one\n");
    fs::remove_dir_all(bench.path("c/one")).expect("was there");
    bench.mayfly("c", ["apply", "p"]).succeeds().shows(&["o = \"one\""]);
}

/// Creates a mirror with two versions of a provider, both of which run this program.
fn with_mirror(bench: &Bench) {
    let platform =
        format!("linux_{}", if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" });
    for version in ["1.0.0", "2.0.0"] {
        let program = format!(
            "mirror/example.com/tests/parts/{version}/{platform}/terraform-provider-parts_v{version}"
        );
        let script = format!(
            "#!/bin/sh\n# {version}\nexec {} serve-bundled-provider registry.opentofu.org/mayfly/playground\n",
            env!("CARGO_BIN_EXE_mayfly")
        );
        bench.write(&program, &script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(bench.path(&program), mode).expect("the mode can be set");
    }
    let folder = bench.path("mirror");
    let rc = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {folder:?}\n  }}\n}}\n"
    );
    bench.write("rc", &rc);
}

#[test]
#[cfg(target_os = "linux")]
fn saved_plan_uses_its_own_provider_versions() {
    let bench = Bench::new();
    with_mirror(&bench);
    let main = |version: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    playground = {{\n      source  = \
             \"example.com/tests/parts\"\n      version = \"{version}\"\n    }}\n  \
             }}\n}}\nresource \"playground_parameter\" \"a\" {{\n  name  = \"a\"\n  type  = \
             \"String\"\n  value = \"x\"\n}}\n"
        )
    };
    let run = |arguments: &[&str]| {
        bench.mayfly("c", arguments).env("TF_CLI_CONFIG_FILE", bench.path("rc")).end()
    };
    bench.write("c/main.tf", &main("1.0.0"));
    run(&["init"]).exits(0);
    run(&["plan", "-out=p"]).exits(0);
    // Another version is now locked and installed besides the planned one.
    bench.write("c/main.tf", &main("2.0.0"));
    run(&["init", "-upgrade"]).exits(0);
    let planned = bench.path(".terraform/providers/example.com/tests/parts/1.0.0");
    let planned =
        Path::new(&bench.path("c")).join(planned.strip_prefix(bench.path(".")).expect("below"));
    assert!(planned.exists(), "{}", planned.display());
    fs::rename(&planned, bench.path("away")).expect("is moved");
    let ended = run(&["apply", "p"]).exits(1);
    ended.shows(&[
        "Error: Required plugins are not installed",
        "there is no package for example.com/tests/parts 1.0.0",
        "mayfly init",
    ]);
    ended.lacks(&["playground_parameter.a: Creating"]);
    fs::rename(bench.path("away"), &planned).expect("is moved");
    fs::remove_file(bench.path("c/main.tf")).expect("was there");
    fs::remove_file(bench.path("c/.terraform.lock.hcl")).expect("was there");
    run(&["apply", "p"]).exits(0).shows(&["Resources: 1 added"]);
}

/// Applies a plan file that was tampered with. The result must be an error or the planned operation.
#[track_caller]
fn check_tampered(tamper: impl FnOnce(&mut PlanFile), parts: &[&str]) {
    let bench = planned();
    let program = concat!("mayfly ", env!("CARGO_PKG_VERSION"));
    let mut file = PlanFile::read(&bench.read("c/p"), program).expect("is a plan");
    tamper(&mut file);
    fs::write(bench.path("c/p"), file.write().expect("can be written")).expect("is written");
    bench.mayfly("c", ["apply", "p"]).fails().shows(parts);
    let shown = bench.mayfly("c", ["show", "-json", "p"]).end();
    assert!(shown.code >= 0, "ended by a signal: {}", shown.err);
    assert!(!bench.path("c/terraform.tfstate").exists(), "nothing was applied");
}

#[test]
fn tampered_configuration_in_a_plan_file_is_an_error() {
    let text = |file: &mut PlanFile, key: &str, text: &[u8]| {
        let module = file.config.modules.get_mut(key).expect("is there");
        module.files.insert("main.tf".to_owned(), text.to_vec());
    };
    check_tampered(|it| text(it, "", b"resource {"), &["Error: ", "main.tf"]);
    check_tampered(|it| text(it, "", b"\xff\xfe"), &["Error: "]);
    check_tampered(
        |it| text(it, "", "module \"m\" {\n  source = \"./.\"\n}\n".as_bytes()),
        &["Error: "],
    );
    check_tampered(|it| text(it, "m", &b"[".repeat(100_000)), &["Error: "]);
    check_tampered(
        |it| {
            it.config.modules.get_mut("m").expect("is there").dir =
                "../../../etc\u{1b}[31m".to_owned()
        },
        &["Error: "],
    );
    check_tampered(
        |it| drop(it.config.modules.remove("m")),
        &["Error: Unreadable module directory"],
    );
    check_tampered(|it| it.config.modules.clear(), &["Error: "]);
    check_tampered(|it| it.locks = b"provider {".to_vec(), &["Invalid plan file", "lock file"]);
    check_tampered(|it| it.plan.backend.type_name = "s3".to_owned(), &["Invalid plan file", "s3"]);
    check_tampered(
        |it| {
            it.plan.files.read.insert("/dev/zero".to_owned(), PlannedFile::Content([0; 32]));
        },
        &["\"/dev/zero\" is gone"],
    );
    check_tampered(
        |it| {
            it.plan.files.read.insert("\u{1b}[31m".to_owned(), PlannedFile::Exists);
        },
        &["was changed after the plan", "is gone"],
    );
}

const SECRETS: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "token" {
  type      = string
  ephemeral = true
}
resource "playground_secret" "s" {
  name             = "s"
  value_wo         = "${var.token} ${file("secret.txt")}"
  value_wo_version = 1
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "env > seen"
  }
}
"#;

#[test]
fn plan_file_contains_no_ephemeral_values_or_file_contents() {
    let mut canaries = Canaries::new();
    let bench = Bench::new();
    bench.write("c/main.tf", SECRETS);
    bench.write("c/secret.txt", &canaries.add_word("a file that a function reads"));
    let token = canaries.add_word("a variables file");
    bench.write("c/secret.auto.tfvars", &format!("token = \"{token}\"\n"));
    bench.mayfly("c", ["plan", "-out=p"]).env("TF_LOG", "TRACE").succeeds();
    canaries.assert_not_written(&bench);
    let bytes = bench.read("c/p");
    let zip = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).expect("a plan is a zip");
    let names = zip.file_names().map(|it| it.expect("is text").into_owned());
    let mut names: Vec<String> = names.filter(|it| it != ".terraform.lock.hcl").collect();
    names.sort();
    assert_eq!(
        names,
        ["tfconfig/m-/main.tf", "tfconfig/modules.json", "tfplan", "tfstate", "tfstate-prev"]
    );
    for arguments in [&["show", "p"][..], &["show", "-json", "p"], &["apply", "p"]] {
        let ended = bench.mayfly("c", arguments).env("TF_LOG", "TRACE").succeeds();
        canaries.assert_not_printed(&ended);
        canaries.assert_not_written(&bench);
    }
    // The error about a changed file names the file and shows none of its content.
    bench.write("c/secret.txt", &canaries.add_word("another file"));
    fs::remove_file(bench.path("c/terraform.tfstate")).expect("was written");
    let ended = bench.mayfly("c", ["apply", "p"]).fails();
    ended.shows(&["\"secret.txt\" was changed"]);
    canaries.assert_not_printed(&ended);
}

#[test]
fn planned_declarations_decide_the_environment_of_children() {
    let bench = Bench::new();
    bench.write("c/main.tf", SECRETS);
    bench.write("c/secret.txt", "text");
    bench.mayfly("c", ["plan", "-out=p"]).env("TF_VAR_token", "kanarek").succeeds();
    // The current configuration no longer declares the variable as ephemeral.
    bench.write("c/main.tf", "variable \"token\" {}\n");
    let run = bench.mayfly("c", ["apply", "p"]).env("TF_VAR_token", "kanarek");
    run.env("TF_VAR_other", "inherited").succeeds();
    let seen = String::from_utf8(bench.read("c/seen")).expect("text");
    assert!(!seen.contains("kanarek"), "{seen}");
    assert!(seen.contains("TF_VAR_other=inherited"), "{seen}");
}

const PROVIDERS: &str = r#"
terraform {
  required_providers {
    playground = {
      source  = "mayfly/playground"
      version = ">= 0.0.1, < 9.0.0"
    }
  }
}
provider "playground" {
  alias = "b"
}
resource "playground_parameter" "a" {
  name  = "a"
  type  = "String"
  value = "x"
}
module "m" {
  source    = "./m"
  providers = { playground = playground.b }
}
"#;

const PROVIDERS_OF_A_CALL: &str = r#"
terraform {
  required_providers {
    playground = {
      source  = "mayfly/playground"
      version = "> 0.0.0"
    }
  }
}
resource "playground_parameter" "c" {
  name  = "c"
  type  = "String"
  value = "x"
}
"#;

#[test]
fn configurations_of_providers_have_the_constraints_of_their_modules() {
    let bench = Bench::with_main(PROVIDERS);
    bench.write("m/main.tf", PROVIDERS_OF_A_CALL);
    bench.mayfly(".", ["init"]).succeeds();
    let shown = bench.mayfly(".", ["show", "-json", "-config"]).succeeds().out;
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("is JSON");
    let source = "registry.opentofu.org/mayfly/playground";
    let constraint = ">= 0.0.1, < 9.0.0";
    // A configuration that the caller passes is not listed again for the called module.
    assert_eq!(
        shown["provider_config"],
        serde_json::json!({
            "playground": {
                "name": "playground", "full_name": source, "version_constraint": constraint,
            },
            "playground.b": {
                "name": "playground", "full_name": source, "alias": "b",
                "version_constraint": constraint,
            },
        })
    );
    let called = &shown["root_module"]["module_calls"]["m"]["module"]["resources"][0];
    assert_eq!(called["provider_config_key"], "playground.b");
}
