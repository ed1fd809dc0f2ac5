//! Tests of the server with the real Terraform, whose transport is go-plugin.
//!
//! Ignored by default, because `terraform` must be on the PATH.

use std::{fs, path::Path, process::Command};

use crate::support::peer;

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    peer = { source = "example.com/tests/peer" }
  }
}
provider "peer" {
  prefix = "p"
}
ephemeral "peer_token" "t" {
  length = 4
}
resource "peer_thing" "a" {
  name   = "a"
  size   = 3
  tags   = { k = "v" }
  secret = ephemeral.peer_token.t.value
  rule {
    port = 80
  }
}
data "peer_echo" "e" {
  input = [1, "x", null, { a = 1.5 }]
}
output "all" {
  value = [data.peer_echo.e.output, provider::peer::join("-", "a", "b"), peer_thing.a.id]
}
"#;

/// Runs `terraform` in `folder` and returns its stdout, with stderr if it fails.
fn terraform(folder: &Path, arguments: &[&str], disable_tls: bool) -> String {
    let mut command = Command::new("terraform");
    command.args(arguments).current_dir(folder).env("TF_CLI_CONFIG_FILE", folder.join("rc"));
    command.env_remove("TF_LOG").env("CHECKPOINT_DISABLE", "1");
    if disable_tls {
        command.env("TF_DISABLE_PLUGIN_TLS", "1");
    }
    let output = command.output().expect("terraform is on the PATH");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "needs terraform"]
fn terraform_plans_applies_and_destroys_with_the_plugin_server() {
    for disable_tls in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        fs::copy(peer(), path.join("terraform-provider-peer")).expect("copied");
        fs::write(path.join("main.tf"), CONFIGURATION).expect("written");
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"example.com/tests/peer\" = \
             {path:?}\n  }}\n  direct {{}}\n}}\n"
        );
        fs::write(path.join("rc"), overrides).expect("written");
        let applied = terraform(path, &["apply", "-auto-approve", "-no-color"], disable_tls);
        assert!(
            applied.contains("Apply complete! Resources: 1 added, 0 changed, 0 destroyed."),
            "{applied}"
        );
        let outputs = terraform(path, &["output", "-json", "all"], disable_tls);
        assert_eq!(outputs.trim(), r#"[[1,"x",null,{"a":1.5}],"a-b","id-a"]"#);
        assert!(
            !fs::read_to_string(path.join("terraform.tfstate")).expect("written").contains("t0ken")
        );
        let planned = terraform(path, &["plan", "-no-color"], disable_tls);
        assert!(planned.contains("No changes."), "{planned}");
        terraform(path, &["destroy", "-auto-approve", "-no-color"], disable_tls);
    }
}
