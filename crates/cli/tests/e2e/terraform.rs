//! Runs the same configurations with the real `terraform`, where it is installed. Both make the same plans, and
//! each reads the state that the other wrote.

use std::{fs, io::Write, os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value as Json;

use crate::{
    bench::{Bench, Run},
    search::Canaries,
};

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "secret" {
  type      = string
  ephemeral = true
}
variable "generation" {
  type    = number
  default = 1
}
ephemeral "playground_random" "value" {}
resource "playground_secret" "s" {
  name             = "s"
  description      = "generation ${var.generation}"
  value_wo         = var.secret
  value_wo_version = var.generation
}
resource "playground_vault" "v" {
  name            = "v"
  secrets_version = var.generation
  secret_wo       = var.secret
  codes_wo        = [var.secret]
  any_wo          = { inside = ephemeral.playground_random.value.result }
  login           = { user = "u", password_wo = var.secret }
  logins          = [{ user = "a", password_wo = var.secret }, { user = "b" }]
  logins_by_role  = { admin = { user = "u", password_wo = var.secret } }
  primary {
    name     = "p"
    token_wo = var.secret
  }
  replica {
    name = "r0"
  }
  region "eu" {
    name     = "e"
    token_wo = var.secret
  }
  fallback {
    token_wo = var.secret
  }
}
resource "playground_parameter" "p" {
  for_each = toset(["a", "b"])
  name     = "p-${each.key}"
  type     = "String"
  value    = playground_secret.s.arn
}
resource "terraform_data" "d" {
  count = 2
  input = { index = count.index, arn = playground_secret.s.arn }
}
# Its value is read back into the state, so it is no secret of these tests.
resource "playground_secret" "readable" {
  name  = "readable"
  value = "plain"
}
data "playground_secret" "found" {
  secret_id = playground_secret.readable.id
}
output "arn" {
  value = playground_secret.s.arn
}
output "hidden" {
  value     = data.playground_secret.found.arn
  sensitive = true
}
"#;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Program {
    Mayfly,
    Terraform,
}

use Program::{Mayfly, Terraform};

/// A bench in which both programs find the playground provider.
struct Both {
    bench: Bench,
    canaries: Canaries,
    secret: String,
}

impl Both {
    /// Creates the bench. `None` if `terraform` is not installed.
    fn new() -> Option<Both> {
        if Command::new("terraform").arg("version").output().is_err() {
            // Write to stderr directly: the test harness captures the output of print macros.
            let _ = writeln!(std::io::stderr(), "skipped: terraform is not on PATH");
            return None;
        }
        let bench = Bench::with_main(MAIN);
        let source = providers::playground::SOURCE;
        let folder = bench.path("plugins");
        bench.write(
            "plugins/terraform-provider-playground",
            &format!(
                "#!/bin/sh\nexec '{}' serve-bundled-provider {source}\n",
                env!("CARGO_BIN_EXE_mayfly")
            ),
        );
        let executable = folder.join("terraform-provider-playground");
        fs::set_permissions(&executable, fs::Permissions::from_mode(0o755)).expect("can be set");
        bench.write(
            "terraformrc",
            &format!(
                "provider_installation {{\n  dev_overrides {{\n    \"{source}\" = \"{}\"\n  \
                      }}\n}}\n",
                folder.display()
            ),
        );
        let mut canaries = Canaries::new();
        let secret = canaries.add("secret");
        Some(Both { bench, canaries, secret })
    }

    fn run(&self, program: Program, arguments: &[&str]) -> Run {
        let run = match program {
            Mayfly => self.bench.mayfly(".", arguments),
            Terraform => {
                let run = self.bench.program("terraform", ".", arguments);
                run.env("TF_CLI_CONFIG_FILE", self.bench.path("terraformrc"))
                    .env("CHECKPOINT_DISABLE", "1")
            }
        };
        run.env("TF_VAR_secret", &self.secret).env("TF_CLI_ARGS", "-no-color")
    }

    /// Applies, and checks that both programs then plan no changes.
    fn apply(&self, program: Program, generation: &str) -> String {
        let applied = self.run(program, &["apply", "-auto-approve", generation]).succeeds();
        self.canaries.assert_not_printed(&applied);
        for other in [Mayfly, Terraform] {
            let planned = self.run(other, &["plan", "-detailed-exitcode", generation]).end();
            assert_eq!(planned.code, 0, "{other:?} after {program:?}:\n{}", planned.printed());
        }
        let end = applied.out.find("complete! Resources:").expect("is said");
        applied.out[end..].lines().next().expect("a line").to_owned()
    }

    /// The plan of a program, without the parts that differ between programs or times.
    fn plan(&self, program: Program, generation: &str) -> Json {
        self.run(program, &["plan", "-out=plan.bin", generation]).succeeds();
        let plan = self.run(program, &["show", "-json", "plan.bin"]).succeeds().json();
        let mut changes: Vec<Json> = plan["resource_changes"].as_array().expect("a list").clone();
        changes.retain(|it| it["mode"] == "managed");
        serde_json::json!({ "resource_changes": changes, "output_changes": plan["output_changes"] })
    }
}

/// Fails unless the documents are equal. Shows only the differences.
#[track_caller]
fn assert_same(what: &str, ours: &Json, theirs: &Json) {
    let mut found = Vec::new();
    differences("", ours, theirs, &mut found);
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

fn differences(path: &str, ours: &Json, theirs: &Json, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let missing = Json::from("(nothing)");
                let of =
                    |it: &serde_json::Map<String, Json>| it.get(name).unwrap_or(&missing).clone();
                differences(&format!("{path}.{name}"), &of(a), &of(b), found);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: mayfly {ours}, terraform {theirs}")),
    }
}

#[test]
fn plan_and_apply_match_terraform() {
    let (Some(ours), Some(theirs)) = (Both::new(), Both::new()) else { return };
    assert_same(
        "the first plan",
        &ours.plan(Mayfly, "-var=generation=1"),
        &theirs.plan(Terraform, "-var=generation=1"),
    );
    let said =
        [ours.apply(Mayfly, "-var=generation=1"), theirs.apply(Terraform, "-var=generation=1")];
    assert_eq!(said[0], "complete! Resources: 7 added, 0 changed, 0 destroyed.");
    assert_eq!(said[0], said[1]);
    let said =
        [ours.apply(Mayfly, "-var=generation=2"), theirs.apply(Terraform, "-var=generation=2")];
    assert_eq!(said[0], said[1]);
    for (both, program) in [(&ours, Mayfly), (&theirs, Terraform)] {
        both.canaries.assert_not_written(&both.bench);
        let destroyed = both.run(program, &["destroy", "-auto-approve"]).succeeds();
        destroyed.shows(&["Destroy complete! Resources: 7 destroyed."]);
    }
    // Both programs requested the same from the provider.
    let effects = |both: &Both| {
        let ledger = both.bench.ledger(".");
        let effects = ledger
            .0
            .into_iter()
            .filter(|it| ["created", "updated", "deleted"].contains(&it.event.as_str()));
        let mut effects: Vec<_> = effects
            .map(|it| {
                (it.event, it.type_name, it.name, it.received.into_keys().collect::<Vec<_>>())
            })
            .collect();
        effects.sort();
        effects
    };
    assert_eq!(effects(&ours), effects(&theirs));
}

#[test]
fn module_manifest_is_shared_with_terraform() {
    let Some(both) = Both::new() else { return };
    let call = |source: &str| format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
    both.bench.write("main.tf", &call("./a/.././a"));
    both.bench.write("a/main.tf", &call("../b"));
    both.bench.write("b/main.tf", "output \"o\" {\n  value = 1\n}\n");
    both.run(Mayfly, &["init"]).succeeds();
    both.run(Terraform, &["validate"]).succeeds();
    let manifest = both.bench.read(".terraform/modules/modules.json");
    both.run(Terraform, &["init"]).succeeds();
    let theirs = both.bench.read(".terraform/modules/modules.json");
    assert_eq!(String::from_utf8_lossy(&manifest), String::from_utf8_lossy(&theirs));
    both.run(Mayfly, &["validate"]).succeeds();
}

#[test]
fn module_packages_are_shared_with_terraform() {
    let Some(both) = Both::new() else { return };
    both.bench.write("net/main.tf", "output \"o\" {\n  value = 1\n}\n");
    both.bench.write("net/sub/main.tf", "output \"o\" {\n  value = 2\n}\n");
    let archive = both.bench.path("net.tar.gz");
    let net = both.bench.path("net");
    let status = Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(net).arg(".").status();
    assert!(status.expect("tar is there").success());
    let call = |name: &str, inner: &str| {
        let source = archive.display();
        format!("module \"{name}\" {{\n  source = \"{source}{inner}\"\n}}\n")
    };
    let outputs = "output \"o\" {\n  value = [module.a.o, module.b.o]\n}\n";
    both.bench.write("main.tf", &format!("{}{}{outputs}", call("a", ""), call("b", "//sub")));
    both.run(Mayfly, &["init"]).succeeds();
    both.run(Terraform, &["validate"]).succeeds();
    both.run(Terraform, &["plan"]).succeeds();
    fs::remove_dir_all(both.bench.path(".terraform/modules")).expect("was there");
    both.run(Terraform, &["init"]).succeeds();
    // Terraform ignores the unknown block in the lock file and keeps it.
    both.run(Mayfly, &["plan"]).succeeds().lacks(&["Warning"]);
    both.run(Mayfly, &["init"]).succeeds();
    both.run(Mayfly, &["plan"]).succeeds().lacks(&["Warning"]);
    both.run(Terraform, &["plan"]).succeeds();
}

#[test]
fn state_is_interchangeable_with_terraform() {
    let Some(both) = Both::new() else { return };
    both.apply(Mayfly, "-var=generation=1");
    let ours = both.plan(Mayfly, "-var=generation=2");
    let theirs = both.plan(Terraform, "-var=generation=2");
    assert_same("the same plan from the state that mayfly wrote", &ours, &theirs);
    both.apply(Terraform, "-var=generation=2");
    let ours = both.plan(Mayfly, "-var=generation=3");
    let theirs = both.plan(Terraform, "-var=generation=3");
    assert_same("the same plan from the state that terraform wrote", &ours, &theirs);
    both.apply(Mayfly, "-var=generation=3");
    let lineage = both.bench.state(".")["lineage"].clone();
    both.run(Terraform, &["destroy", "-auto-approve"]).succeeds().shows(&["7 destroyed"]);
    assert_eq!(both.bench.state(".")["lineage"], lineage);
    both.run(Mayfly, &["plan", "-destroy", "-detailed-exitcode"]).end().exits(0);
}

/// Both programs keep the state in the place of the backend block, and accept the record that the other one wrote.
#[test]
fn backend_record_is_shared_with_terraform() {
    let Some(both) = Both::new() else { return };
    let bench = &both.bench;
    let main = |path: &str| {
        format!(
            "terraform {{\n  backend \"local\" {{\n    path          = \"kept/{path}.tfstate\"\n    \
             workspace_dir = \"kept\"\n  }}\n}}\n\
             resource \"terraform_data\" \"r\" {{\n  input = 1\n}}\n"
        )
    };
    let none = "No changes. Your infrastructure matches the configuration.";
    let required = "Backend initialization required";
    bench.write("main.tf", &main("here"));
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    both.run(Terraform, &["init", "-input=false"]).succeeds();
    both.run(Terraform, &["plan"]).succeeds().shows(&[none]);
    bench.mayfly(".", ["plan"]).succeeds().shows(&[none]);
    bench.write("main.tf", &main("there"));
    bench.mayfly(".", ["plan"]).fails().shows(&[required]);
    both.run(Terraform, &["plan"]).fails().shows(&[required]);
}
