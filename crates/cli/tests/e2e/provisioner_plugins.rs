//! A provisioner plugin as a real process: its installation, its validation, its runs and its log.

use std::path::PathBuf;

use crate::{bench::Bench, tofu};

/// The executable of `examples/terraform-provisioner-echo.rs`, which cargo builds with the tests.
fn plugin() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has an executable");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.join("examples/terraform-provisioner-echo")
}

const MAIN: &str = r#"variable "text" {
  default = "hello"
}
resource "terraform_data" "a" {
  connection {
    host = "h"
  }
  provisioner "echo" {
    text = var.text
  }
  provisioner "echo" {
    when = destroy
    text = "bye"
  }
}
"#;

/// A bench with the plugin in the directory `plugins`.
fn bench(main: &str) -> Bench {
    let bench = Bench::with_main(main);
    install(&bench, "plugins");
    bench
}

fn install(bench: &Bench, directory: &str) {
    let directory = bench.path(directory);
    std::fs::create_dir_all(&directory).expect("can be made");
    let link = directory.join("terraform-provisioner-echo");
    std::os::unix::fs::symlink(plugin(), link).expect("can be made");
}

#[test]
fn provisioner_plugin_is_found_validated_and_run() {
    let bench = bench(MAIN);
    let run = |arguments: &[&str]| bench.mayfly(".", arguments);
    let missing = run(&["validate"]).fails();
    missing.shows(&[
        "Error: Missing required provisioner plugin",
        "on main.tf line 8",
        "terraform.d/plugins",
    ]);
    run(&["plan"]).fails().shows(&["Error: Missing required provisioner plugin"]);

    run(&["init", "-plugin-dir=plugins"]).succeeds();
    assert_eq!(bench.read(".terraform/plugin_path"), b"[\n  \"plugins\"\n]");
    run(&["validate"]).succeeds();
    run(&["plan"]).succeeds().shows(&["Plan: 1 to add, 0 to change, 0 to destroy."]);
    run(&["apply", "-auto-approve"]).succeeds().shows(&[
        "terraform_data.a: Provisioning with 'echo'...",
        "terraform_data.a (echo): text: hello",
        "terraform_data.a (echo): connection host: h",
    ]);
    run(&["init"]).succeeds();
    run(&["destroy", "-auto-approve"]).succeeds().shows(&["terraform_data.a (echo): text: bye"]);

    run(&["init", "-plugin-dir="]).succeeds();
    assert!(!bench.path(".terraform/plugin_path").exists());
    run(&["validate"]).fails().shows(&["Error: Missing required provisioner plugin"]);
    install(&bench, "terraform.d/plugins");
    run(&["validate"]).succeeds();
    bench.write(".terraform/plugin_path", "[");
    run(&["validate"]).fails().shows(&["Error: Invalid list of plugin directories"]);
}

#[test]
fn invalid_block_of_a_plugin_is_refused_before_anything_is_done() {
    let bad = MAIN.replace("var.text", "\"bad\"");
    let bench = bench(&bad);
    let run = |arguments: &[&str]| bench.mayfly(".", arguments);
    run(&["init", "-plugin-dir=plugins"]).succeeds();
    let refused = ["Error: Echo is invalid", "on main.tf line 9", "The text is bad."];
    run(&["validate"]).fails().shows(&refused);
    run(&["plan"]).fails().shows(&refused);
    run(&["apply", "-auto-approve"]).fails().shows(&refused);
    assert!(!bench.path("terraform.tfstate").exists());
    // Only the destroy-time provisioner counts for a destruction.
    run(&["destroy", "-auto-approve"]).succeeds();

    bench.write("main.tf", MAIN);
    run(&["plan", "-out=p"]).succeeds();
    bench.write("main.tf", &MAIN.replace("text = var.text", "txt = 1"));
    let found = run(&["validate"]).fails();
    found.shows(&["Error: Missing required argument", "Error: Unsupported argument"]);
    run(&["apply", "p"]).succeeds();
}

#[test]
fn provisioner_plugin_is_validated_as_by_the_reference() {
    for program in tofu::programs() {
        let bench = bench(&MAIN.replace("var.text", "\"bad\""));
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments);
        run(&["init", "-plugin-dir=plugins"]).succeeds();
        assert_eq!(bench.read(".terraform/plugin_path"), b"[\n  \"plugins\"\n]");
        let found = run(&["validate", "-json"]).fails().json();
        let found = found["diagnostics"].as_array().expect("is a list").clone();
        let summaries: Vec<&str> = found.iter().filter_map(|it| it["summary"].as_str()).collect();
        assert_eq!(summaries, ["Echo is invalid"], "{}", program.name());
        run(&["apply", "-auto-approve"]).fails().shows(&["Error: Echo is invalid"]);
        assert!(!bench.path("terraform.tfstate").exists());
    }
}

#[test]
fn log_of_a_provisioner_plugin_has_no_secret() {
    let main = MAIN.replace("default = \"hello\"", "ephemeral = true");
    let bench = bench(&main);
    let log = bench.path("log");
    let run = |arguments: &[&str]| {
        bench.mayfly(".", arguments).env("TF_LOG", "DEBUG").env("TF_LOG_PATH", &log)
    };
    run(&["init", "-plugin-dir=plugins"]).succeeds();
    run(&["apply", "-auto-approve", "-var=text=kanarek-kanarek"]).succeeds();
    let text = std::fs::read_to_string(&log).expect("can be read");
    assert!(text.contains("provisioner.echo: [INFO] validate unknown"), "{text}");
    assert!(text.contains("provisioner.echo: [INFO] provision (redacted)"), "{text}");
    assert!(!text.contains("kanarek"), "{text}");
}
