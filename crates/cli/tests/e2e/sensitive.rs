//! Tests that sensitive values are shown only by options that ask for them.

use crate::{
    bench::{Bench, Ended},
    search::Canaries,
};

const SENSITIVE: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "hidden" {
  type      = string
  sensitive = true
  validation {
    condition     = length(var.hidden) > 3
    error_message = "Too short."
  }
}
locals {
  parts = { name = "plain", value = "<${var.hidden}>" }
}
resource "playground_parameter" "kept" {
  name  = "kept"
  type  = "SecureString"
  value = local.parts.value
}
resource "terraform_data" "kept" {
  triggers_replace = [local.parts]
  provisioner "local-exec" {
    command = "echo '${local.parts.value}'"
  }
}
output "hidden" {
  value     = playground_parameter.kept.value
  sensitive = true
}
"#;

#[test]
fn sensitive_values_are_shown_only_on_request() {
    let bench = Bench::new();
    bench.write("main.tf", SENSITIVE);
    let mut canaries = Canaries::new();
    let given = canaries.add_word("sensitive");
    let run = |arguments: &[&str], typed: &str| {
        bench.mayfly(".", arguments).env("TF_VAR_hidden", &given).input(typed).succeeds()
    };
    let asked = |ended: &Ended| !canaries.found_in(ended.printed().as_bytes()).is_empty();
    for arguments in [
        &["validate", "-json"][..],
        &["plan", "-out=plan.bin"],
        &["show", "plan.bin"],
        &["apply", "plan.bin"],
        &["plan", "-json", "-replace=playground_parameter.kept"],
        &["show"],
        &["output"],
        &["state", "list"],
        &["state", "show", "playground_parameter.kept"],
        &["state", "show", "terraform_data.kept"],
        &["apply", "-auto-approve", "-json"],
        &["plan", "-destroy"],
    ] {
        let ended = run(arguments, "");
        assert!(!asked(&ended), "{arguments:?}:\n{}", ended.printed());
    }
    let console = run(&["console"], "var.hidden\nlocal.parts\nterraform_data.kept\n");
    assert!(!asked(&console), "{}", console.printed());
    for arguments in [
        &["show", "-json", "plan.bin"][..],
        &["show", "-show-sensitive"],
        &["show", "-json"],
        &["output", "-json"],
        &["output", "hidden"],
        &["state", "show", "-show-sensitive", "terraform_data.kept"],
        &["plan", "-destroy", "-show-sensitive"],
    ] {
        assert!(asked(&run(arguments, "")), "{arguments:?} was asked for it");
    }
    let destroyed = run(&["destroy", "-auto-approve"], "");
    assert!(!asked(&destroyed), "{}", destroyed.printed());
}
