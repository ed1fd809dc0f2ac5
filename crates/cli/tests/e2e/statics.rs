//! Static evaluation: the modules that are called and the place of the state, which are decided before a plan.

use std::{fs, process::Command};

use crate::{bench::Bench, console::Terminal};

/// A variable that selects one of two modules.
const CHOSEN: &str = r#"
variable "flavour" {
  type = string
}
locals {
  directory = "./modules/${var.flavour}"
}
module "m" {
  source = local.directory
}
output "size" {
  value = module.m.size
}
"#;

fn chosen() -> Bench {
    let bench = Bench::with_main(CHOSEN);
    for (name, size) in [("small", "1"), ("large", "100")] {
        let text = format!(
            "resource \"terraform_data\" \"r\" {{\n  input = {size}\n}}\noutput \"size\" {{\n  \
             value = terraform_data.r.output\n}}\n"
        );
        bench.write(&format!("modules/{name}/main.tf"), &text);
    }
    bench
}

#[test]
fn variable_selects_the_module_source() {
    let bench = chosen();
    let unset = "It depends on var.flavour, which is not available";
    for command in ["init", "validate", "plan"] {
        let ended = bench.mayfly(".", [command, "-no-color"]).fails();
        ended.shows(&["Error: Unable to compute static value", "source = local.directory", unset]);
        // Consequential errors are not reported.
        assert_eq!(ended.printed().matches("Error: ").count(), 1, "{}", ended.printed());
    }
    bench
        .mayfly(".", ["init", "-var", "flavour=small"])
        .succeeds()
        .shows(&["- m in modules/small"]);
    let manifest = String::from_utf8(bench.read(".terraform/modules/modules.json")).expect("text");
    assert!(manifest.contains(r#""Source":"./modules/small""#), "{manifest}");
    bench.mayfly(".", ["validate", "-var=flavour=small"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_VAR_flavour", "small").succeeds();
    bench.write("terraform.tfvars", "flavour = \"large\"\n");
    bench.mayfly(".", ["plan", "-no-color"]).succeeds().shows(&["100"]);
    bench
        .mayfly(".", ["console", "-var=flavour=small"])
        .input("module.m.size\n")
        .succeeds()
        .shows(&["1\n"]);
    bench.mayfly(".", ["plan", "-var=flavour=none"]).fails().shows(&["There is no module at"]);
}

#[test]
fn saved_plan_keeps_its_computed_module_sources() {
    let bench = chosen();
    bench.mayfly(".", ["init", "-var=flavour=large"]).succeeds();
    bench.mayfly(".", ["plan", "-var=flavour=large", "-out=p"]).succeeds();
    let shown = bench.mayfly(".", ["show", "-json", "p"]).succeeds().json();
    let call = &shown["configuration"]["root_module"]["module_calls"]["m"];
    assert_eq!(call["source"], "./modules/large", "{shown}");
    bench.mayfly(".", ["apply", "p"]).succeeds().shows(&["size = 100"]);
    bench.mayfly(".", ["destroy", "-auto-approve", "-var=flavour=large"]).succeeds();
}

#[test]
fn watch_follows_a_changed_module_source() {
    let bench = chosen();
    bench.write("terraform.tfvars", "flavour = \"small\"\n");
    bench.mayfly(".", ["init"]).succeeds();
    let watch = bench.mayfly(".", ["watch", "-no-color"]).start();
    watch.wait_for("Plan: 1 to add");
    bench.write("terraform.tfvars", "flavour = \"none\"\n");
    watch.wait_for("There is no module at \"./modules/none\"");
    bench.write("terraform.tfvars", "flavour = \"large\"\n");
    watch.wait_for_times("Plan: 1 to add", 2);
    // The files of the newly called module are watched, too.
    bench.write("modules/large/main.tf", "locals {\n  a = nothing.b\n}\n");
    watch.wait_for("Reference to undeclared resource");
    watch.interrupt();
    watch.end();
}

fn git(bench: &Bench, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(bench.path("net"))
        .args(["-c", "user.name=n", "-c", "user.email=n@example.com"])
        .args(arguments)
        .status();
    assert!(status.expect("git is there: it brought this repository").success());
}

/// Creates a repository with two versions of a module.
fn repository(bench: &Bench) -> String {
    fs::create_dir_all(bench.path("net")).expect("can be made");
    git(bench, &["init", "--quiet", "--initial-branch=main"]);
    for version in ["v1", "v2"] {
        bench.write(
            "net/main.tf",
            &format!("output \"version\" {{\n  value = \"this is {version}\"\n}}\n"),
        );
        git(bench, &["add", "-A"]);
        git(bench, &["commit", "--quiet", "-m", "m"]);
        git(bench, &["tag", version]);
    }
    bench.path("net").display().to_string()
}

#[test]
fn init_installs_the_package_of_a_computed_source() {
    let bench = Bench::new();
    let text = r#"
variable "release" {
  default = "1"
}
module "m" {
  source = "git::file://REPOSITORY?ref=v${var.release}"
}
output "version" {
  value = module.m.version
}
"#;
    let text = text.replace("REPOSITORY", &repository(&bench));
    bench.write("main.tf", &text);
    bench.mayfly(".", ["init"]).succeeds().shows(&["?ref=v1 for m"]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["this is v1"]);
    bench.mayfly(".", ["plan", "-var=release=2", "-no-color"]).fails().shows(&[
        "Error: Module source has changed",
        "?ref=v1\"",
        "Run \"mayfly init\"",
    ]);
    bench.mayfly(".", ["init", "-var=release=2"]).succeeds().shows(&["?ref=v2 for m"]);
    bench.mayfly(".", ["plan", "-var=release=2"]).succeeds().shows(&["this is v2"]);
    bench.mayfly(".", ["validate"]).fails().shows(&["Module source has changed"]);
}

/// A module that is called twice and calls a different package each time.
#[test]
fn module_called_twice_can_call_two_packages() {
    let bench = Bench::new();
    let text = r#"
module "old" {
  source  = "./inner"
  release = "1"
}
module "new" {
  source  = "./inner"
  release = "2"
}
output "versions" {
  value = "${module.old.version} and ${module.new.version}"
}
"#;
    let inner = r#"
variable "release" {}
module "m" {
  source = "git::file://REPOSITORY?ref=v${var.release}"
}
output "version" {
  value = module.m.version
}
"#;
    let inner = inner.replace("REPOSITORY", &repository(&bench));
    bench.write("main.tf", text);
    bench.write("inner/main.tf", &inner);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().shows(&["this is v1 and this is v2"]);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    // All packages are installed and stay so.
    bench.mayfly(".", ["init"]).succeeds().lacks(&["Downloading"]);
}

/// A module that calls different modules each time is checked only once.
#[test]
fn error_in_a_module_with_varying_sources_is_reported_once() {
    let bench = Bench::with_main(
        r#"
module "one" {
  source = "./inner"
  where  = "a"
}
module "two" {
  source = "./inner"
  where  = "b"
}
"#,
    );
    bench.write("a/main.tf", "locals {}\n");
    bench.write("b/main.tf", "locals {}\n");
    bench.write(
        "inner/main.tf",
        r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "where" {}
module "m" {
  source = "../${var.where}"
}
resource "playground_database" "d" {
  identifier          = "d"
  password_wo         = "x"
  password_wo_version = 1
  allocated_storage   = 0
}
"#,
    );
    bench.mayfly(".", ["init"]).succeeds();
    let ended = bench.mayfly(".", ["validate", "-no-color"]).fails();
    assert_eq!(ended.printed().matches("Error: ").count(), 1, "{}", ended.printed());
}

#[test]
fn module_version_can_come_from_a_local() {
    let bench = Bench::with_main(
        r#"
variable "most" {
  default = "< 3.0"
}
locals {
  constraint = ">= 1.0, ${var.most}"
}
module "m" {
  source  = "example/m/cloud"
  version = local.constraint
}
"#,
    );
    // The manifest and directory as another tool leaves them.
    bench.write(".terraform/modules/m/main.tf", "locals {}\n");
    bench.write(
        ".terraform/modules/modules.json",
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"registry.opentofu.org/example/m/cloud","Version":"2.1.0","Dir":".terraform/modules/m"}]}"#,
    );
    bench.mayfly(".", ["init"]).succeeds().shows(&["Initializing modules..."]);
    bench.mayfly(".", ["validate"]).succeeds();
    bench.mayfly(".", ["validate", "-var=most=< 2.0", "-no-color"]).fails().shows(&[
        "Error: Module version requirements have changed",
        "the installed version 2.1.0 is not one of \">= 1.0, < 2.0\"",
    ]);
    bench.mayfly(".", ["init", "-var=most=newest"]).fails().shows(&["Invalid version constraint"]);
}

/// A state whose place depends on a variable.
const PLACED: &str = r#"
variable "environment" {
  default = "test"
}
terraform {
  backend "local" {
    path          = "states/${var.environment}.tfstate"
    workspace_dir = "states/${var.environment}"
  }
}
resource "terraform_data" "r" {
  input = 1
}
output "made" {
  value = terraform_data.r.output
}
"#;

#[test]
fn state_lies_at_the_path_of_the_backend() {
    let bench = Bench::with_main(PLACED);
    let required = "Backend initialization required, please run \"mayfly init\"";
    bench.mayfly(".", ["plan"]).fails().shows(&[required]);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(
        bench.path("states/test.tfstate").exists() && !bench.path("terraform.tfstate").exists()
    );
    bench.mayfly(".", ["output", "made"]).succeeds().shows(&["1"]);
    bench.mayfly(".", ["state", "list"]).succeeds().shows(&["terraform_data.r"]);
    bench.mayfly(".", ["show"]).succeeds().shows(&["terraform_data.r"]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
    // Another workspace.
    bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_WORKSPACE", "blue").succeeds();
    assert!(bench.path("states/test/blue/terraform.tfstate").exists());
    // The state of another environment is elsewhere, and must not be started anew by mistake.
    for command in
        [vec!["plan"], vec!["output"], vec!["state", "list"], vec!["apply", "-auto-approve"]]
    {
        let ended = bench.mayfly(".", command).arg("-var=environment=production").fails();
        ended.shows(&["Backend initialization required", "states/production.tfstate"]);
    }
    assert!(!bench.path("states/production.tfstate").exists());
    let changed = bench.mayfly(".", ["init", "-var=environment=production"]).fails();
    changed.shows(&["Backend configuration changed", "-migrate-state", "-reconfigure"]);
    bench.mayfly(".", ["init", "-reconfigure", "-var=environment=production"]).succeeds();
    bench.mayfly(".", ["plan", "-var=environment=production"]).succeeds().shows(&["1 to add"]);
    bench.mayfly(".", ["init", "-reconfigure"]).succeeds();
    bench.mayfly(".", ["destroy", "-auto-approve"]).succeeds().shows(&["1 destroyed"]);
}

#[test]
fn init_migrate_state_copies_states() {
    let bench = Bench::with_main("resource \"terraform_data\" \"r\" {}\n");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_WORKSPACE", "blue").succeeds();
    let before = bench.read("terraform.tfstate");
    bench.write(
        "backend.tf",
        "terraform {\n  backend \"local\" {\n    path = \"kept/here.tfstate\"\n  }\n}\n",
    );
    bench.mayfly(".", ["plan"]).fails().shows(&["Backend initialization required"]);
    bench.mayfly(".", ["init"]).fails().shows(&["Backend configuration changed"]);
    // Existing states are not overwritten. The other workspaces stay in their old place.
    bench.write(
        "backend.tf",
        "terraform {\n  backend \"local\" {\n    path          = \
                               \"kept/here.tfstate\"\n    workspace_dir = \"kept\"\n  }\n}\n",
    );
    bench.write("kept/blue/terraform.tfstate", "{}");
    bench.mayfly(".", ["init", "-migrate-state"]).fails().shows(&["would be overwritten"]);
    assert!(!bench.path("kept/here.tfstate").exists());
    fs::remove_file(bench.path("kept/blue/terraform.tfstate")).expect("was there");
    bench
        .mayfly(".", ["init", "-migrate-state"])
        .succeeds()
        .shows(&["Copied the state of the workspace \"blue\""]);
    assert_eq!(bench.read("kept/here.tfstate"), before);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
    bench.mayfly(".", ["plan"]).env("TF_WORKSPACE", "blue").succeeds().shows(&["No changes."]);
    bench
        .mayfly(".", ["init", "-migrate-state", "-reconfigure"])
        .fails()
        .shows(&["Invalid combination of options"]);
}

#[test]
fn saved_plan_finds_the_state_of_its_computed_backend() {
    let bench = Bench::with_main(&PLACED.replace("  default = \"test\"\n", ""));
    bench.mayfly(".", ["init", "-var=environment=a"]).succeeds();
    bench.mayfly(".", ["plan", "-var=environment=a", "-out=p"]).succeeds();
    bench.mayfly(".", ["apply", "p"]).succeeds();
    assert!(bench.path("states/a.tfstate").exists());
    bench.mayfly(".", ["output", "made"]).fails().shows(&["It depends on var.environment"]);
    bench.mayfly(".", ["output", "-var=environment=a", "made"]).succeeds().shows(&["1"]);
}

#[test]
fn an_override_file_replaces_a_backend() {
    let bench = Bench::with_main("terraform {\n  backend \"s3\" {}\n}\n");
    bench.mayfly(".", ["init"]).fails().shows(&["the backend \"s3\""]);
    bench.write(
        "x_override.tf",
        "terraform {\n  backend \"local\" {\n    path = \"x.tfstate\"\n  }\n}\n",
    );
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(bench.path("x.tfstate").exists());
}

/// A directory that was initialized with another backend has its state there.
#[test]
fn recorded_remote_backend_stops_plan_until_reconfigured() {
    let bench = Bench::with_main("locals {}\n");
    bench.write(
        ".terraform/terraform.tfstate",
        r#"{"version":3,"backend":{"type":"s3","config":{"bucket":"b"},"hash":1}}"#,
    );
    bench.mayfly(".", ["plan"]).fails().shows(&["initialized with the backend \"s3\""]);
    bench.mayfly(".", ["init"]).fails().shows(&["cannot migrate the state"]);
    bench.mayfly(".", ["init", "-reconfigure"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds();
}

/// A resource in a state whose place is given on the command line.
const PARTIAL: &str =
    "terraform {\n  backend \"local\" {\n  }\n}\nresource \"terraform_data\" \"r\" {\n}\n";

#[test]
fn backend_config_flag_sets_the_state_path() {
    let bench = Bench::with_main(PARTIAL);
    bench.mayfly(".", ["init", "-backend-config=path=states/a.tfstate"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(bench.path("states/a.tfstate").exists() && !bench.path("terraform.tfstate").exists());
    // The arguments of `init` stay valid for later commands, including another `init`.
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["init", "-backend-config", "path=states/a.tfstate"]).succeeds();
    bench.mayfly(".", ["state", "list"]).succeeds().shows(&["terraform_data.r"]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
    // A change of the place on the command line is handled like one in the configuration.
    let other = "-backend-config=path=states/b.tfstate";
    let changed = bench.mayfly(".", ["init", other]).fails();
    changed.shows(&["Backend configuration changed", "-migrate-state", "-reconfigure"]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
    bench.mayfly(".", ["init", "-migrate-state", other]).succeeds().shows(&["Copied the state"]);
    assert!(bench.path("states/b.tfstate").exists());
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
    // A saved plan is for this state.
    bench.mayfly(".", ["plan", "-destroy", "-out=p"]).succeeds();
    bench.mayfly(".", ["apply", "p"]).succeeds().shows(&["1 destroyed"]);
    // The place is no longer given.
    bench.mayfly(".", ["init", "-reconfigure"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(bench.path("terraform.tfstate").exists());
}

#[test]
fn changed_backend_block_drops_earlier_backend_config() {
    let bench = Bench::with_main(PARTIAL);
    bench.mayfly(".", ["init", "-backend-config=workspace_dir=spaces"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_WORKSPACE", "blue").succeeds();
    assert!(bench.path("spaces/blue/terraform.tfstate").exists());
    bench.write(
        "main.tf",
        &PARTIAL.replace("\"local\" {\n", "\"local\" {\n    path = \"x.tfstate\"\n"),
    );
    let required = "Backend initialization required";
    bench.mayfly(".", ["plan"]).fails().shows(&[required, "x.tfstate", "spaces"]);
    bench.mayfly(".", ["init"]).fails().shows(&["Backend configuration changed"]);
    bench.mayfly(".", ["init", "-reconfigure", "-backend-config=path=y.tfstate"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(bench.path("y.tfstate").exists() && !bench.path("x.tfstate").exists());
    // Writing the recorded place into the configuration needs no initialization.
    bench.write(
        "main.tf",
        &PARTIAL.replace("\"local\" {\n", "\"local\" {\n    path = \"y.tfstate\"\n"),
    );
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
}

#[test]
fn backend_config_file_sets_the_state_path() {
    let bench = Bench::with_main(PARTIAL);
    bench.write("a.hcl", "path = \"from/file.tfstate\"\nworkspace_dir = \"spaces\"\n");
    bench.write("b.json", "{\"workspace_dir\": null}");
    let flags = ["init", "-backend-config=a.hcl", "-backend-config=b.json"];
    bench.mayfly(".", flags).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    assert!(bench.path("from/file.tfstate").exists());
    bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_WORKSPACE", "blue").succeeds();
    assert!(bench.path("terraform.tfstate.d/blue/terraform.tfstate").exists());
    let wrong = [
        ("pth = \"x\"\n", "Unsupported argument"),
        ("path = [\"x\"]\n", "Incorrect attribute value type"),
        ("path = var.secretly\n", "Variables not allowed"),
        ("path = \"\"\n", "Invalid local state file path"),
        ("secretly {\n}\n", "Unexpected block"),
        ("path = \"secretly\n", "Error: "),
    ];
    for (text, summary) in wrong {
        bench.write("wrong.hcl", text);
        let ended = bench.mayfly(".", ["init", "-backend-config=wrong.hcl"]).fails();
        ended.shows(&[summary, "wrong.hcl"]);
        assert!(!ended.printed().contains("secretly"), "{}", ended.printed());
    }
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
}

#[test]
fn backend_config_without_a_backend_block_is_a_warning() {
    let bench = Bench::with_main("locals {}\n");
    let ended = bench.mayfly(".", ["init", "-backend-config=path=x.tfstate"]).succeeds();
    ended.shows(&["Warning: Missing backend configuration"]);
    bench.mayfly(".", ["plan"]).succeeds();
}

/// Flags with the first message of both programs.
const FLAGS_OF_BACKENDS: &[(&[&str], &str)] = &[
    (&["-backend-config=pth=x"], "Invalid backend configuration argument"),
    (&["-backend-config==x"], "Invalid backend configuration argument"),
    (&["-backend-config=path="], "Invalid local state file path"),
    (&["-backend-config=nowhere.hcl"], "Failed to read file"),
    (
        &["-backend-config=path=a", "-backend-config=nothing=b"],
        "Invalid backend configuration argument",
    ),
    (&["-backend-config=path=a", "-backend-config=path=b"], "successfully initialized"),
    (&["-backend-config="], "successfully initialized"),
];

/// Backend blocks with the first error of both programs.
const BACKENDS: &[(&str, &str)] = &[
    ("backend \"nope\" {}", "Unsupported backend type"),
    ("backend \"etcd\" {}", "Unsupported backend type"),
    ("backend \"s3\" {\n bucket = []\n }", "Incorrect attribute value type"),
    ("backend \"s3\" {\n bukcet = 1\n bucket = \"a\"\n key = \"b\"\n }", "Unsupported argument"),
    ("backend \"s3\" {\n region = \"r\"\n bucket = \"a\"\n key = \"/b\"\n }", "Invalid"),
    ("backend \"gcs\" {\n bucket = \"a\"\n x {}\n }", "Unsupported block type"),
    (
        "backend \"http\" {\n address = \"http://x\"\n retry_max = \"many\"\n }",
        "Incorrect attribute value type",
    ),
    (
        "backend \"http\" {\n address = \"http://x\"\n dynamic \"x\" {\n for_each = []\n content {}\n }\n }",
        "Unsupported block type",
    ),
    (
        "backend \"consul\" {\n path = \"p\"\n gzip = \"often\"\n }",
        "Incorrect attribute value type",
    ),
    ("backend \"pg\" {\n conn = \"p\"\n }", "Unsupported argument"),
    (
        "backend \"kubernetes\" {\n secret_suffix = \"s\"\n exec {\n comand = \"p\"\n }\n }",
        "Unsupported argument",
    ),
    ("backend \"azurerm\" {\n use_cli = \"si\"\n }", "Incorrect attribute value type"),
    ("backend \"cos\" {\n region = \"r\"\n bucket = \"b\"\n nope = 1\n }", "Unsupported argument"),
    ("backend \"oss\" {\n bucket = \"b\"\n encrypt = \"x\"\n }", "Incorrect attribute value type"),
    ("backend \"local\" {\n path = \"\"\n }", "Invalid local state file path"),
    ("backend \"local\" {\n path = []\n }", "Incorrect attribute value type"),
    (
        "backend \"remote\" {\n organization = \"o\"\n workspaces {\n name = \"a\"\n prefix = \"b\"\n }\n }",
        "Invalid workspaces configuration",
    ),
    (
        "cloud {\n organization = \"o\"\n workspaces {\n nope = \"a\"\n }\n }",
        "Unsupported argument",
    ),
    (
        "cloud {\n organization = \"o\"\n workspaces {\n name = \"a\"\n tags = [\"b\"]\n }\n }",
        "Invalid workspaces configuration",
    ),
];

/// Runs `init` with `program`, or with Mayfly for `None`, and checks its first message.
fn says(program: Option<&str>, bench: &Bench, flags: &[&str], expected: &str) {
    let arguments = [&["init", "-input=false", "-no-color"], flags].concat();
    let ended = match program {
        Some(program) => {
            bench.program(program, ".", &arguments).env("CHECKPOINT_DISABLE", "1").end()
        }
        None => bench.mayfly(".", &arguments).end(),
    };
    let printed = ended.printed();
    let first = printed.split("Error: ").nth(1).unwrap_or(&printed);
    assert!(first.contains(expected), "{program:?} {flags:?} {expected}:\n{printed}");
}

#[test]
fn backend_errors_of_init_match_terraform() {
    let with_terraform = Command::new("terraform").arg("version").output().is_ok();
    let programs = [None, Some("terraform")];
    for program in programs.into_iter().filter(|it| it.is_none() || with_terraform) {
        for (flags, expected) in FLAGS_OF_BACKENDS {
            let bench = Bench::with_main("terraform {\n  backend \"local\" {}\n}\n");
            says(program, &bench, flags, expected);
        }
        for (text, expected) in BACKENDS {
            let bench = Bench::with_main(&format!("terraform {{\n {text}\n}}\n"));
            says(program, &bench, &[], expected);
        }
    }
}

/// `init` asks for the variables of static evaluation on a terminal only.
#[test]
fn init_prompts_for_variables_of_module_sources() {
    let bench = chosen();
    let nested = "variable \"inner\" {\n  type = string\n}\nmodule \"n\" {\n  source = \
                  \"./${var.inner}\"\n}\noutput \"size\" {\n  value = 1\n}\n";
    bench.write("modules/nested/main.tf", nested);
    bench.write("modules/nested/deep/main.tf", "locals {\n}\n");
    let more = "variable \"inner\" {\n  description = \"Which one.\"\n  type        = \
                string\n}\nvariable \"secret\" {\n  sensitive = true\n}\n";
    let main =
        CHOSEN.replace("source = local.directory", "source = local.directory\n  inner = var.inner");
    bench.write("main.tf", &format!("{main}{more}"));
    let mut terminal = Terminal::run(&bench, &["init"]);
    terminal.press("", "var.flavour\r\n  Enter a value: ");
    terminal.press("nested\r", "Which one.");
    terminal.press("deep\r", "successfully initialized");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
    let manifest = String::from_utf8(bench.read(".terraform/modules/modules.json")).expect("text");
    assert!(manifest.contains("./modules/nested") && manifest.contains("./deep"), "{manifest}");
    let refused = Terminal::run(&bench, &["init", "-input=false"]).end();
    assert_eq!(refused.0, Some(1), "{}", refused.1);
    assert!(refused.1.contains("Unable to compute static value"), "{}", refused.1);
    // Input from a pipe is not an answer.
    let ended = bench.mayfly(".", ["init"]).input("small\n").fails();
    ended.shows(&["Unable to compute static value"]);
}

/// Arguments of `encryption` and of provider instances may come from variables, like sources. Secrets are not
/// shown.
#[test]
fn encryption_and_provider_instances_are_checked_with_variable_values() {
    let bench = Bench::with_main(
        r#"
variable "rounds" {
  default = 600000
}
variable "passphrase" {
  type      = string
  sensitive = true
}
variable "regions" {
  type = set(string)
}
terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = var.passphrase
      iterations = var.rounds
    }
  }
}
provider "terraform" {
  alias    = "by_region"
  for_each = var.regions
}
resource "terraform_data" "r" {
  provider = terraform.by_region["west"]
}
"#,
    );
    let validate = |flags: &[&str]| {
        let arguments = [&["validate", "-no-color"], flags].concat();
        bench.mayfly(".", arguments).env("TF_VAR_passphrase", "kanarek").fails()
    };
    let found = |flags: &[&str], expected: &[&str]| {
        let ended = validate(flags);
        ended.shows(expected);
        assert!(!ended.printed().contains("kanarek"), "{}", ended.printed());
    };
    found(&[], &["Unable to compute static value", "var.regions"]);
    let west = r#"-var=regions=["west"]"#;
    found(&[west], &["Not supported yet"]);
    found(&[west, "-var=rounds=1000"], &["iterations = var.rounds", "dangerously low"]);
    found(&[west, "-var=rounds=many"], &["a number is required"]);
    let other = r#"-var=regions=["north", "wets"]"#;
    // Errors in the encryption block suppress the error that encryption is not supported.
    let few = "-var=rounds=1000";
    found(&[few, other], &["Provider instance not present", "Did you mean \"wets\"?"]);
    found(&[few, "-var=regions=[null]"], &["a set that has null in it"]);
}
