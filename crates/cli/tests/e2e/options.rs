//! Options that several commands have, and `init -from-module` and `show -module`, compared with the real `tofu` where
//! it is available.

use std::process::Command;

use crate::{
    bench::Bench,
    tofu::{both_streams, programs, words},
};

const DEPRECATED: &str = r#"
variable "old" {
  default    = null
  deprecated = "gone from NAME"
}
output "o" {
  value      = 1
  deprecated = "no NAME"
}
"#;

const CALLS: &str = r#"
module "near" {
  source = "./near"
  old    = "x"
}
module "far" {
  source = "git::file://REPOSITORY"
}
output "a" {
  value = "${module.near.o}${module.far.o}"
}
"#;

/// A root module in the directory `origin` that calls a module of its own and a module of a package.
fn calling() -> Bench {
    let bench = Bench::new();
    bench.write("../repo/main.tf", &DEPRECATED.replace("NAME", "afar"));
    let repository = bench.root().join("repo");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
        let output = command.args(arguments).current_dir(&repository).output();
        assert!(output.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message=a"]);
    bench.write("origin/near/main.tf", &DEPRECATED.replace("NAME", "nearby"));
    let source = repository.display().to_string();
    bench.write("origin/main.tf", &CALLS.replace("REPOSITORY", &source));
    bench
}

#[test]
fn deprecation_flag_selects_modules_whose_warnings_are_shown() {
    for program in programs() {
        let (bench, name) = (calling(), program.name());
        let run = |arguments: &[&str]| program.run(&bench, "origin", arguments);
        run(&["init"]).succeeds();
        let shown = |flag: &str| {
            let out = words(&run(&["plan", flag]).succeeds().out);
            ["gone from nearby", "no nearby", "no afar"].map(|it| out.contains(it))
        };
        assert_eq!(shown("-deprecation=module:all"), [true, true, true], "{name}");
        assert_eq!(shown("-deprecation=module:local"), [true, true, false], "{name}");
        assert_eq!(shown("-deprecation=module:none"), [false, false, false], "{name}");
        let json = run(&["validate", "-json", "-deprecation=module:none"]).succeeds().json();
        assert_ne!(json["warning_count"], 0, "{name}: JSON has all warnings");
        run(&["plan", "-deprecation=x"]).fails();
    }
}

#[test]
fn refresh_only_reports_an_error_that_holds_for_every_run() {
    const MODULE: &str = r#"
variable "names" {
  default = []
  validation {
    condition     = length(var.names) > 0
    error_message = "There is no name."
  }
}
"#;
    for program in programs() {
        let bench = Bench::new();
        bench.write("c/m/main.tf", MODULE);
        bench.write("c/main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 0\n}\n");
        let run = |arguments: &[&str]| program.run(&bench, "c", arguments);
        run(&["init"]).succeeds();
        for arguments in [
            &["plan"][..],
            &["plan", "-refresh-only"],
            &["apply", "-refresh-only", "-auto-approve"],
        ] {
            let said = words(&run(arguments).fails().err);
            assert!(said.contains("There is no name."), "{} {arguments:?}: {said}", program.name());
        }
    }
}

#[test]
fn init_copies_a_module_into_an_empty_directory() {
    for program in programs() {
        let (bench, name) = (calling(), program.name());
        let run = |folder: &str, source: &str| {
            std::fs::create_dir_all(bench.path(folder)).expect("can be made");
            program.run(&bench, folder, ["init", &format!("-from-module={source}")])
        };
        let ended = run("local", "../origin").succeeds();
        assert!(ended.out.starts_with("Copying configuration from \"../origin\"...\n"), "{name}");
        assert!(bench.path("local/near/main.tf").exists(), "{name}");
        assert!(bench.path("local/.terraform/modules/far/main.tf").exists(), "{name}");
        let repository = format!("git::file://{}", bench.root().join("repo").display());
        run("git", &repository).succeeds();
        assert_eq!(bench.read("git/main.tf"), bench.read("../repo/main.tf"), "{name}");
        assert!(!bench.path("git/.git").exists(), "{name}");
        assert!(!bench.path("git/.terraform/init-from-module").exists() || name == "tofu");
        let full = run("git", &repository).fails();
        full.shows(&["The working directory already contains files"]);
        let ended = run("none", "../nothing").fails();
        ended.shows(&["Error: Failed to download module"]);
        assert!(!bench.path("none/main.tf").exists(), "{name}");
        run("part", "../origin//near").succeeds();
        assert_eq!(bench.read("part/main.tf"), bench.read("origin/near/main.tf"), "{name}");
    }
}

const DECLARATIONS: &str = r#"
variable "x" {
  type      = string
  default   = "d"
  sensitive = true
}
provider "random" {
  alias = "other"
}
resource "random_pet" "p" {
  count  = 2
  prefix = "p-${var.x}"
  provisioner "local-exec" {
    command = "true"
  }
}
ephemeral "random_password" "e" {
  length     = 3
  depends_on = [random_pet.p]
}
module "c" {
  source   = "../child"
  for_each = toset(["a"])
  old      = var.x
}
output "o" {
  value     = random_pet.p[*].id
  sensitive = true
}
"#;

#[test]
fn show_prints_declarations_of_an_uninitialized_module() {
    let mut printed = Vec::new();
    for program in programs() {
        let bench = Bench::new();
        bench.write("module/main.tf", DECLARATIONS);
        bench.write("broken/main.tf", "resource \"a\" {\n");
        let show = |arguments: &[&str]| program.run(&bench, ".", [&["show"], arguments].concat());
        printed.push(show(&["-json", "-module=module"]).succeeds().json());
        show(&["-module=module"]).fails().shows(&["requires -json to be specified"]);
        show(&["-json", "-module=none"]).fails().shows(&["Failed to read module directory"]);
        show(&["-json", "-module=broken"]).fails();
        show(&["-json", "-module=module", "x"]).fails();
    }
    assert!(printed.iter().all(|it| *it == printed[0]), "{printed:#?}");
    let root = &printed[0]["root_module"];
    assert_eq!(root["resources"][0]["address"], "random_pet.p");
    assert_eq!(root["module_calls"]["c"], serde_json::json!({ "source": "../child" }));
}

#[test]
fn console_writes_values_into_the_file_of_json_into() {
    for program in programs() {
        let bench = Bench::with_main("variable \"x\" {\n  default = 1\n}\n");
        let run = |argument: &str| program.run(&bench, ".", ["console", argument]);
        run("-json-into=o.jsonl").input("var.x\n{ a = 1 }\nlocal.y\n").fails();
        let text = String::from_utf8(bench.read("o.jsonl")).expect("is text");
        let lines = text.lines().map(|it| serde_json::from_str(it).expect("is JSON"));
        let messages = lines.skip(1).map(|it: serde_json::Value| it["@message"].clone());
        let expected = ["1", "{\n  \"a\" = 1\n}", "Error: Reference to undeclared local value"];
        assert_eq!(messages.collect::<Vec<_>>(), expected, "{}", program.name());
        run("-json").input("1\n").fails();
    }
}

#[test]
fn version_writes_its_document_into_the_file_of_json_into() {
    let bench = Bench::new();
    let text = bench.mayfly(".", ["version", "-json-into=v.json"]).succeeds().out;
    assert!(text.starts_with("Mayfly v"));
    let document = bench.mayfly(".", ["version", "-json"]).succeeds().out;
    assert_eq!(bench.read("v.json"), document.as_bytes());
}

const TEST: &str = r#"
run "setup" {
  module {
    source = "./setup"
  }
}
"#;

#[test]
fn providers_of_test_files_are_in_the_tree() {
    for program in programs() {
        let bench = Bench::with_main("");
        bench.write("setup/main.tf", "resource \"terraform_data\" \"a\" {}\n");
        bench.write("tests/a.tftest.hcl", TEST);
        program.run(&bench, ".", ["init"]).succeeds();
        let shown = |arguments: &[&str]| {
            let arguments = [&["providers"], arguments].concat();
            words(&program.run(&bench, ".", arguments).succeeds().out)
        };
        let expected = "Providers required by configuration: . └── test.tests.a └── run.setup └── \
                        provider[terraform.io/builtin/terraform]";
        assert_eq!(shown(&[]), expected, "{}", program.name());
        assert!(!shown(&["-test-directory=setup"]).contains("run.setup"), "{}", program.name());
    }
}

#[test]
fn init_locks_a_state_that_it_copies() {
    let bench = Bench::with_main("output \"a\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let backend = "terraform {\n  backend \"local\" {\n    path = \"there\"\n  }\n}\n";
    bench.write("backend.tf", backend);
    let init =
        |arguments: &[&str]| bench.mayfly(".", [&["init", "-migrate-state"], arguments].concat());
    init(&["-lock-timeout=x"]).fails().shows(&["A duration is a number with a unit"]);
    init(&["-lock=false", "-lock-timeout=x"]).succeeds();
    assert!(bench.path("there").exists());
}

#[test]
fn push_only_says_that_it_is_no_longer_supported() {
    for program in programs() {
        let bench = Bench::new();
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        for arguments in [&["push"][..], &["push", "directory", "-flag=1"]] {
            let ended = run(arguments).fails();
            let (out, err) = both_streams(&ended);
            assert_eq!(out, "", "{}", program.name());
            assert_eq!(
                err,
                "Error: Command \"mayfly push\" is no longer supported This command was used to push configuration to \
                 Terraform Enterprise legacy (v1), which has now reached end-of-life. To push configuration to a new \
                 cloud backend, use its REST API.",
                "{}",
                program.name()
            );
        }
        run(&["push", "-help"]).succeeds().shows(&["no longer supported"]);
    }
}

#[test]
fn goal_flags_of_refresh_are_checked_and_have_no_effect() {
    let config = "resource \"terraform_data\" \"a\" {}\noutput \"o\" {\n  value = 1\n}\n";
    let accepted: &[&[&str]] = &[
        &["-destroy"],
        &["-refresh-only"],
        &["-refresh=false"],
        &["-replace=terraform_data.a"],
        &["-destroy", "-replace=terraform_data.a"],
    ];
    let refused: &[(&[&str], &str)] = &[
        (&["-destroy", "-refresh-only"], "Incompatible plan mode options"),
        (&["-refresh-only", "-refresh=false"], "Incompatible refresh options"),
        (&["-replace=module.m"], "Invalid force-replace address \"module.m\""),
    ];
    for program in programs() {
        let bench = Bench::with_main(config);
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        run(&["init"]).succeeds();
        run(&["apply", "-auto-approve"]).succeeds();
        for flags in accepted {
            run(&[&["refresh"], *flags].concat())
                .succeeds()
                .shows(&["Refreshing state...", "o = 1"]);
            assert_eq!(bench.state(".")["resources"].as_array().map(Vec::len), Some(1));
        }
        for (flags, summary) in refused {
            let ended = run(&[&["refresh"], *flags].concat()).fails();
            ended.shows(&[&format!("Error: {summary}")]);
        }
    }
}
