//! Provisioners for other machines, with the whole executable. The tests of `remote` check connections, and the
//! tests of `engine` check provisioners.

use std::net::TcpListener;

use crate::{bench::Bench, search::Canaries};

/// The second connection cannot be made, because the key is none. `{PORT}` is a port on which nothing listens.
const CONFIGURATION: &str = r#"
variable "ephemeral" {
  type      = string
  ephemeral = true
}
variable "sensitive" {
  type      = string
  sensitive = true
}
variable "script" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "password" {
  connection {
    host             = "127.0.0.1"
    port             = {PORT}
    user             = "tester"
    password         = var.ephemeral
    bastion_password = var.sensitive
    timeout          = "100ms"
    agent            = false
  }
  provisioner "remote-exec" {
    inline = ["login '${var.script}'"]
  }
}
resource "terraform_data" "key" {
  connection {
    host                = "127.0.0.1"
    port                = {LISTENS}
    private_key         = var.sensitive
    certificate         = var.ephemeral
    proxy_user_password = var.sensitive
    timeout             = "10s"
    agent               = false
  }
  provisioner "file" {
    content     = var.script
    destination = "/tmp/never-written"
  }
}
"#;

#[test]
fn nothing_of_a_connection_or_a_script_is_printed_or_logged() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let listens = listener.local_addr().expect("is bound").port().to_string();
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = closed.local_addr().expect("is bound").port().to_string();
    drop(closed);
    let text = CONFIGURATION.replace("{PORT}", &port).replace("{LISTENS}", &listens);
    let bench = Bench::with_main(&text);
    let mut canaries = Canaries::new();
    let run = ["ephemeral", "sensitive", "script"]
        .into_iter()
        .fold(bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_LOG", "TRACE"), |run, name| {
            run.env(&format!("TF_VAR_{name}"), canaries.add(name))
        });
    let ended = run.fails();
    ended.shows(&[
        "file provisioner error",
        "The private key cannot be read.",
        "remote-exec provisioner error",
        "timeout - last error: connecting to 127.0.0.1",
    ]);
    canaries.assert_not_printed(&ended);
    canaries.assert_not_written(&bench);
    let state = bench.state(".");
    for resource in state["resources"].as_array().expect("has resources") {
        assert_eq!(resource["instances"][0]["status"], "tainted", "{resource}");
    }
}
