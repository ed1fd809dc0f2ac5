//! Saved plans: the variables that an apply needs again, the content of the file, and files that are refused.

use std::{fs, io::Read};

use crate::{
    bench::{Bench, Ended},
    search::Canaries,
    tofu,
};

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = {
      source = "registry.opentofu.org/mayfly/playground"
    }
  }
}

variable "token" {
  type      = string
  ephemeral = true
}

variable "optional" {
  type      = string
  default   = "the default"
  ephemeral = true
}

variable "plain" {
  type    = string
  default = "plain"
}

ephemeral "playground_random" "value" {}

resource "playground_secret" "s" {
  name             = var.plain
  value_wo         = "${var.token} ${var.optional} ${ephemeral.playground_random.value.result}"
  value_wo_version = 1
}

resource "terraform_data" "seen" {
  provisioner "local-exec" {
    command     = "printf '%s/%s' \"$TOKEN\" \"$OPTIONAL\" > ../seen"
    environment = { TOKEN = var.token, OPTIONAL = var.optional }
  }
}
"#;

struct Planned {
    bench: Bench,
}

impl Planned {
    fn with(arguments: &[&str]) -> Planned {
        let bench = Bench::new();
        bench.write("c/main.tf", MAIN);
        bench
            .mayfly("c", ["plan", "-out=plan.bin"].iter().chain(arguments))
            .succeeds()
            .shows(&["Saved the plan to: plan.bin", "apply \"plan.bin\""]);
        Planned { bench }
    }

    fn apply(&self, arguments: &[&str]) -> Ended {
        self.bench.mayfly("c", ["apply"].iter().chain(arguments).chain(&["plan.bin"])).end()
    }

    /// The text that the provisioner wrote.
    fn seen(&self) -> Option<String> {
        fs::read_to_string(self.bench.path("seen")).ok()
    }

    /// Applies a plan that must be refused without any effect.
    #[track_caller]
    fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let ended = self.apply(arguments).exits(1);
        ended.shows(parts);
        assert_eq!(self.seen(), None, "nothing is done");
        assert_eq!(self.bench.ledger("c").count("created", "playground_secret"), 0);
        assert!(!self.bench.path("c/terraform.tfstate").exists(), "nothing is written");
    }
}

/// A plan with errors can be inspected but not applied.
#[test]
fn a_plan_with_errors_is_saved_and_refused() {
    let bench = Bench::new();
    bench.write(
        "c/main.tf",
        r#"
variable "needed" {}
resource "terraform_data" "a" {
  input = var.needed
  lifecycle {
    postcondition {
      condition     = self.input == "good"
      error_message = "Not good."
    }
  }
}
"#,
    );
    bench.mayfly("c", ["plan", "-input=false", "-out=plan.bin"]).end().exits(1);
    assert!(!bench.path("c/plan.bin").exists(), "nothing was planned");
    let failed = bench.mayfly("c", ["plan", "-var=needed=bad", "-out=plan.bin"]).end();
    failed.exits(1).shows(&["Resource postcondition failed"]);
    bench.mayfly("c", ["show", "plan.bin"]).succeeds().shows(&["terraform_data.a will be created"]);
    for json in [&[] as &[&str], &["-json"]] {
        let refused = bench.mayfly("c", ["apply"].iter().chain(json).chain(&["plan.bin"])).end();
        refused.exits(1).shows(&["Cannot apply incomplete plan"]);
    }
    assert!(!bench.path("c/terraform.tfstate").exists(), "nothing is written");
}

#[test]
fn set_ephemeral_variable_is_required_at_apply_and_may_differ() {
    let planned = Planned::with(&["-var=token=first"]);
    planned.refused(&[], &["No value for required variable", "token"]);
    planned.refused(&["-input=false"], &["No value for required variable", "token"]);
    planned.apply(&["-var=token=second"]).exits(0).shows(&["Apply complete! Resources: 2 added"]);
    assert_eq!(planned.seen().as_deref(), Some("second/the default"));
}

#[test]
fn set_ephemeral_variable_with_default_is_required_at_apply() {
    let planned = Planned::with(&["-var=token=first", "-var=optional=other"]);
    planned.refused(&["-var=token=first"], &["No value for required variable", "optional"]);
    planned.apply(&["-var=token=first", "-var=optional=third"]).exits(0);
    assert_eq!(planned.seen().as_deref(), Some("first/third"));
}

#[test]
fn ephemeral_variable_of_a_saved_plan_comes_from_the_environment() {
    let planned = Planned::with(&["-var=token=first"]);
    let ended = planned
        .bench
        .mayfly("c", ["apply", "plan.bin"])
        .env("TF_VAR_token", "from the environment")
        .end()
        .exits(0);
    ended.lacks(&["Enter a value"]);
    assert_eq!(planned.seen().as_deref(), Some("from the environment/the default"));
}

#[test]
fn ordinary_variable_of_a_saved_plan_must_not_differ() {
    let planned = Planned::with(&["-var=token=t", "-var=plain=blue"]);
    planned.refused(
        &["-var=token=t", "-var=plain=red"],
        &["Mismatch between input and plan variable value", "plain"],
    );
    planned.apply(&["-var=token=t", "-var=plain=blue"]).exits(0);
}

#[test]
fn plan_file_has_the_specified_entries_and_no_secret() {
    let mut canaries = Canaries::new();
    let token = format!("-var=token={}", canaries.add("token"));
    let planned = Planned::with(&[&token]);
    canaries.assert_not_written(&planned.bench);
    let bytes = planned.bench.read("c/plan.bin");
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).expect("a plan is a zip");
    let mut names: Vec<String> =
        zip.file_names().map(|it| it.expect("is text").into_owned()).collect();
    names.sort();
    let mut tfplan = Vec::new();
    zip.by_name("tfplan").expect("is there").read_to_end(&mut tfplan).expect("unpacks");
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|it| *it != ".terraform.lock.hcl").collect();
    assert_eq!(
        names,
        ["tfconfig/m-/main.tf", "tfconfig/modules.json", "tfplan", "tfstate", "tfstate-prev"]
    );
    // The address of the ephemeral resource occurs exactly once.
    let address = b"ephemeral.playground_random.value";
    assert_eq!(tfplan.windows(address.len()).filter(|it| it == address).count(), 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(planned.bench.path("c/plan.bin")).expect("is there").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    planned.bench.mayfly("c", ["show", "plan.bin"]).succeeds().shows(&[
        "playground_secret.s will be created",
        "(write-only attribute)",
        "Plan: 2 to add",
    ]);
    let shown = planned.bench.mayfly("c", ["show", "-json", "plan.bin"]).succeeds();
    let plan = shown.json();
    let changes = plan["resource_changes"].as_array().expect("a list");
    let addresses: Vec<&str> = changes.iter().filter_map(|it| it["address"].as_str()).collect();
    assert_eq!(addresses, ["playground_secret.s", "terraform_data.seen"]);
    let variables =
        plan["variables"].as_object().unwrap_or_else(|| panic!("an object in {plan:#}"));
    assert!(!variables.contains_key("token"), "{variables:?}");
    assert_eq!(variables["plain"]["value"], "plain");
    assert_eq!(changes[0]["change"]["after"]["value_wo"], serde_json::Value::Null);
    assert_eq!(plan["configuration"]["root_module"]["variables"]["token"]["ephemeral"], true);
    canaries.assert_not_printed(&shown);
}

#[test]
fn show_of_a_saved_plan_works_in_any_directory() {
    let bench = Bench::new();
    bench.write("c/main.tf", &format!("{MAIN}\nmodule \"m\" {{ source = \"../mod\" }}\n"));
    bench.write("mod/main.tf", "output \"o\" { value = 1 }\n");
    bench.mayfly("c", ["plan", "-out=plan.bin", "-var=token=t"]).succeeds();
    let show = |folder: &str, flag: &[&str]| {
        let arguments = [&["show"], flag, &["plan.bin"]].concat();
        bench.mayfly(folder, arguments).succeeds().out
    };
    let (text, json) = (show("c", &[]), show("c", &["-json"]));
    assert!(text.contains("(write-only attribute)") && json.contains("\"module_calls\""), "{json}");
    // Directories without a configuration, with an unrelated one, and with an invalid one.
    for (folder, main) in
        [("none", ""), ("other", "output \"x\" { value = 1 }\n"), ("broken", "resource {")]
    {
        bench.write(&format!("{folder}/main.tf"), main);
        fs::copy(bench.path("c/plan.bin"), bench.path(&format!("{folder}/plan.bin")))
            .expect("is copied");
        assert_eq!(show(folder, &[]), text, "{folder}");
        assert_eq!(show(folder, &["-json"]), json, "{folder}");
    }
}

#[test]
fn saved_plan_applies_only_to_its_state_version() {
    let planned = Planned::with(&["-var=token=t"]);
    let bench = &planned.bench;
    // Another apply changed the state first.
    bench.mayfly("c", ["apply", "-auto-approve", "-var=token=other"]).succeeds();
    planned.apply(&["-var=token=t"]).exits(1).shows(&["Saved plan is stale"]);
    bench.mayfly("c", ["plan", "-out=plan.bin", "-var=token=t", "-var=plain=p2"]).succeeds();
    // A later serial of the same lineage.
    let state = String::from_utf8(bench.read("c/terraform.tfstate")).expect("is text");
    let serial = bench.state("c")["serial"].as_u64().expect("has a serial");
    let next =
        state.replace(&format!("\"serial\": {serial}"), &format!("\"serial\": {}", serial + 1));
    assert_ne!(state, next);
    bench.write("c/terraform.tfstate", &next);
    planned.apply(&["-var=token=t"]).exits(1).shows(&["Saved plan is stale"]);
    // Another lineage.
    let lineage = bench.state("c")["lineage"].as_str().expect("has a lineage").to_owned();
    bench.write("c/terraform.tfstate", &state.replace(&lineage, &uuid::Uuid::new_v4().to_string()));
    planned.apply(&["-var=token=t"]).exits(1).shows(&["Saved plan does not match the given state"]);
    // The state that the plan was made for.
    bench.write("c/terraform.tfstate", &state);
    planned.apply(&["-var=token=t"]).exits(0);
    // A plan can be applied only once.
    planned.apply(&["-var=token=t"]).exits(1).shows(&["Saved plan is stale"]);
}

#[test]
fn a_plan_for_another_workspace_is_refused() {
    let planned = Planned::with(&["-var=token=t"]);
    let ended = planned
        .bench
        .mayfly("c", ["apply", "-var=token=t", "plan.bin"])
        .env("TF_WORKSPACE", "blue")
        .fails();
    ended.shows(&["workspace", "blue"]);
    planned
        .bench
        .mayfly("c", ["destroy", "plan.bin"])
        .fails()
        .shows(&["Destroy can't be called with a plan file"]);
    planned.apply(&["-var=token=t"]).exits(0);
}

#[test]
fn damaged_plan_file_is_an_error_and_changes_nothing() {
    let planned = Planned::with(&["-var=token=t"]);
    let whole = planned.bench.read("c/plan.bin");
    let path = planned.bench.path("c/plan.bin");
    let damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("can be written");
        planned.refused(&["-var=token=t"], &["Error: Failed to load \"plan.bin\" as a plan file"]);
    };
    for length in [0, 1, 30, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        damaged(&whole[..length]);
    }
    for step in 1..12 {
        let mut flipped = whole.clone();
        flipped[whole.len() * step / 12] ^= 1 << (step % 8);
        damaged(&flipped);
    }
    damaged(b"not a plan at all");
    damaged(&zip_of(&[("hello", b"world")]));
    damaged(&zip_of(&[("../escape", b"world"), ("tfplan", b"")]));
    damaged(&zip_of(&[
        ("tfplan", b"\xff\xff\xff\xff"),
        ("tfstate", b"{}"),
        ("tfstate-prev", b"{}"),
    ]));
    fs::write(&path, &whole).expect("can be written");
    planned.apply(&["-var=token=t"]).exits(0);
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default().unix_permissions(0o600))
            .expect("starts");
        zip.write_all(content).expect("is written");
    }
    zip.finish().expect("ends").into_inner()
}

#[test]
fn destroy_plan_can_be_saved_and_applied() {
    let planned = Planned::with(&["-var=token=t"]);
    planned.apply(&["-var=token=t"]).exits(0);
    planned
        .bench
        .mayfly("c", ["plan", "-destroy", "-out=plan.bin", "-var=token=t"])
        .succeeds()
        .shows(&["Plan: 0 to add, 0 to change, 2 to destroy."]);
    planned.apply(&["-var=token=t"]).exits(0).shows(&["2 destroyed"]);
    let ledger = planned.bench.ledger("c");
    assert_eq!(ledger.count("deleted", "playground_secret"), 1);
    assert_eq!(
        ledger.count("opened", "playground_random"),
        ledger.count("closed", "playground_random")
    );
}

#[test]
fn apply_of_a_saved_plan_reopens_ephemerals_without_prompts() {
    let planned = Planned::with(&["-var=token=t"]);
    let applied = planned.apply(&["-var=token=t"]).exits(0);
    applied.shows(&[
        "ephemeral.playground_random.value: Opening...",
        "playground_secret.s: Creating...",
        "ephemeral.playground_random.value: Closing complete",
    ]);
    applied.lacks(&["Enter a value", "will be created"]);
    let ledger = planned.bench.ledger("c");
    assert_eq!(
        (ledger.count("opened", "playground_random"), ledger.count("closed", "playground_random")),
        (2, 2)
    );
}

#[test]
fn plan_without_changes_is_saved_without_a_next_step() {
    let bench = Bench::with_main("variable \"unused\" {\n  default = 1\n}\n");
    let planned = bench.mayfly("", ["plan", "-out=plan.bin"]).succeeds();
    planned.shows(&["No changes."]);
    planned.lacks(&["Saved the plan to", "apply \"plan.bin\""]);
    assert!(bench.path("plan.bin").exists());
}

/// A plan has its own goal: the flags of a goal are only checked.
#[test]
fn flags_beside_a_saved_plan_are_checked_and_have_no_effect() {
    let config = "variable \"x\" {\n  default = \"d\"\n}\n\
                  resource \"terraform_data\" \"a\" {\n  input = var.x\n}\n\
                  resource \"terraform_data\" \"b\" {}\n";
    let applied: &[&[&str]] = &[
        &["-target=terraform_data.a"],
        &["-target=terraform_data.none"],
        &["-exclude=terraform_data.a"],
        &["-replace=terraform_data.a"],
        &["-destroy"],
        &["-refresh-only"],
        &["-refresh-only", "-replace=terraform_data.a"],
        &["-refresh=false"],
        &["-var=x=d"],
        &["-auto-approve=false"],
    ];
    let refused: &[(&[&str], &str)] = &[
        (&["-target=a.b.c.d"], "Invalid target \"a.b.c.d\""),
        (&["-exclude=???"], "Invalid exclude \"???\""),
        (&["-target=a.b", "-exclude=a.b"], "Invalid combination of arguments"),
        (&["-replace=module.x"], "Invalid force-replace address \"module.x\""),
        (&["-destroy", "-refresh-only"], "Incompatible plan mode options"),
        (&["-refresh-only", "-refresh=false"], "Incompatible refresh options"),
        (&["-var=none=1"], "Value for undeclared variable"),
        (&["-var=x"], "Invalid -var option"),
        (&["-var-file=none"], "Failed to read variables file"),
    ];
    for program in tofu::programs() {
        let bench = Bench::with_main(config);
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        run(&["init"]).succeeds();
        run(&["plan", "-out=p"]).succeeds();
        let apply = |flags: &[&str]| run(&[&["apply"], flags, &["p"]].concat());
        for (flags, summary) in refused {
            apply(flags).fails().shows(&[&format!("Error: {summary}")]);
            assert!(!bench.path("terraform.tfstate").exists(), "{} {flags:?}", program.name());
        }
        for flags in applied {
            apply(flags).succeeds().shows(&["2 added, 0 changed, 0 destroyed."]);
            fs::remove_file(bench.path("terraform.tfstate")).expect("is there");
        }
        run(&["destroy", "p"]).fails().shows(&["Destroy can't be called with a plan file"]);
    }
}
