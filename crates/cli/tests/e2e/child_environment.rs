//! The environment variables that providers and commands inherit.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Ended},
    canaries::Everywhere,
};

/// Root variables, and a command that writes its environment to a file.
const MAIN: &str = r#"
variable "plain" {
  type    = string
  default = ""
}
variable "hidden" {
  type      = string
  sensitive = true
  default   = ""
}
variable "token" {
  type      = string
  ephemeral = true
  default   = ""
}
variable "overridden" {
  type    = string
  default = ""
}
module "child" {
  source = "./child"
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = "env > seen"
    environment = { TF_VAR_given = "given" }
  }
}
"#;

/// The environment variables with their values. The flag is true if children inherit the variable.
const ENVIRONMENT: [(&str, &str, bool); 12] = [
    ("TF_VAR_plain", "plain", true),
    ("TF_VAR_elsewhere", "no root module declares it", true),
    ("TF_VAR_TOKEN", "another name than the ephemeral one", true),
    ("TF_VAR_inner", "secret in a called module only", true),
    ("TF_VAR_hidden", "kanarek-1", false),
    ("TF_VAR_token", "kanarek-2", false),
    ("TF_VAR_overridden", "kanarek-3", false),
    ("TF_VAR_json", "kanarek-4", false),
    ("TF_CLI_ARGS", "-no-color", true),
    ("TF_CLI_ARGS_destroy", "-var plain=x", true),
    ("TF_CLI_ARGS_output", "-json -var 'token=kanarek-5'", false),
    ("TF_CLI_ARGS_import", "-var token", false),
];

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("child/main.tf", "variable \"inner\" {\n  default   = 1\n  ephemeral = true\n}\n");
    bench.write("x_override.tf", "variable \"overridden\" {\n  ephemeral = true\n}\n");
    let json = r#"{"variable": {"json": {"default": "", "sensitive": true}}}"#;
    bench.write("y.tf.json", json);
    bench
}

#[track_caller]
fn check_inherited(seen: &str) {
    for (name, value, is_inherited) in ENVIRONMENT {
        let line = format!("{name}={value}");
        assert_eq!(seen.lines().any(|it| it == line), is_inherited, "{line} in:\n{seen}");
    }
    assert!(!seen.contains("kanarek"), "{seen}");
}

#[test]
fn commands_inherit_tf_var_except_of_secret_variables() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    let mut run = bench.mayfly(".", ["apply", "-auto-approve"]);
    for (name, value, _) in ENVIRONMENT {
        run = run.env(name, value);
    }
    run.env("TF_TOKEN_example_com", "token").succeeds();
    let seen = String::from_utf8(bench.read("seen")).expect("text");
    check_inherited(&seen);
    assert!(seen.contains("TF_VAR_given=given") && seen.contains("TF_TOKEN_example_com=token"));
}

/// Adds a provider that writes its environment to a file and ends.
fn with_script(bench: &Bench) {
    let program = "plugins/terraform-provider-script";
    bench.write(program, "#!/bin/sh\nenv > seen\nexit 1\n");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(bench.path(program), mode).expect("the mode can be set");
    let folder = bench.path("plugins");
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/tests/script\" = {folder:?}\n  }}\n}}\n"
    );
    bench.write("home/rc", &overrides);
}

const SCRIPT: &str = r#"
terraform {
  required_providers {
    script = { source = "example.com/tests/script" }
  }
}
resource "script_thing" "a" {}
"#;

/// Runs a command that starts the provider, and returns the environment of the provider.
fn seen_by_script(bench: &Bench, arguments: &[&str]) -> (Ended, String) {
    let _ = fs::remove_file(bench.path("seen"));
    let mut run = bench.mayfly(".", arguments).env("TF_CLI_CONFIG_FILE", bench.path("home/rc"));
    for (name, value, _) in ENVIRONMENT {
        run = run.env(name, value);
    }
    let ended = run.env("TF_TOKEN_example_com", "token").end();
    (ended, String::from_utf8(fs::read(bench.path("seen")).unwrap_or_default()).expect("text"))
}

#[test]
fn providers_inherit_tf_var_but_no_tokens() {
    let bench = bench();
    with_script(&bench);
    bench.write("script.tf", SCRIPT);
    bench.write(".terraform/modules/modules.json", r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"child","Source":"./child","Dir":"child"}]}"#);
    let (ended, seen) = seen_by_script(&bench, &["plan"]);
    ended.exits(1).shows(&["Failed to start provider"]);
    check_inherited(&seen);
    assert!(!seen.contains("TF_TOKEN_"), "{seen}");
}

#[test]
fn unreadable_declaration_withholds_the_variable_from_children() {
    let bench = Bench::with_main(SCRIPT);
    with_script(&bench);
    let mut started = 0;
    for broken in [
        "variable \"plain\" {\n  ephemeral = \n}\n",
        "variable \"plain\" {\n  ephemeral = true\n",
        "variable \"plain\" \"more\" {\n  ephemeral = true\n}\n",
        "variable \"plain\" {\n  ephemeral = local.x\n}\n",
    ] {
        bench.write("variables.tf", broken);
        let (ended, seen) = seen_by_script(&bench, &["plan"]);
        ended.exits(1);
        assert!(!seen.contains("TF_VAR_plain"), "{broken}\n{seen}");
        started += usize::from(!seen.is_empty());
    }
    assert!(
        started > 0,
        "some of them are noticed only when the provider was asked for its schemas"
    );
    bench.write("variables.tf", "variable \"plain\" {}\n");
    let (_, seen) = seen_by_script(&bench, &["plan"]);
    assert!(seen.contains("TF_VAR_plain=plain"), "{seen}");
}

#[test]
fn children_inherit_all_tf_var_without_a_configuration() {
    let bench = Bench::new();
    with_script(&bench);
    bench.write(
        "terraform.tfstate",
        r#"{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "l", "outputs": {}, "resources": [{
            "mode": "managed", "type": "script_thing", "name": "a",
            "provider": "provider[\"example.com/tests/script\"]",
            "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]}]}"#,
    );
    let (ended, seen) = seen_by_script(&bench, &["destroy", "-auto-approve"]);
    ended.exits(1).shows(&["Failed to start provider"]);
    assert!(seen.contains("TF_VAR_plain=plain") && seen.contains("TF_VAR_elsewhere="), "{seen}");
}

#[test]
fn nested_mayfly_run_gets_tf_var_values() {
    let bench = Bench::with_main(&format!(
        "variable \"region\" {{}}\nresource \"terraform_data\" \"outer\" {{\n  provisioner \
         \"local-exec\" {{\n    command = \"{} -chdir=inner apply -auto-approve\"\n  }}\n}}\n",
        env!("CARGO_BIN_EXE_mayfly")
    ));
    bench.write(
        "inner/main.tf",
        "variable \"region\" {}\nvariable \"size\" {}\noutput \"o\" {\n  value = \"${var.region} ${var.size}\"\n}\n",
    );
    let run = bench.mayfly(".", ["apply", "-auto-approve"]);
    run.env("TF_VAR_region", "north").env("TF_VAR_size", "3").succeeds();
    bench.mayfly("inner", ["output", "-raw", "o"]).succeeds().shows(&["north 3"]);
}

const WATCHED: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "late" {
  type    = string
  default = "x"
}
ephemeral "playground_lease" "login" {
  path = "secret/login"
}
provider "playground" {
  alias      = "leased"
  auth_token = ephemeral.playground_lease.login.data["auth_token"]
}
resource "playground_parameter" "leased" {
  provider = playground.leased
  name     = "leased"
  type     = "String"
  value    = "one"
}
"#;

/// The environments of the running provider processes.
fn environments(bench: &Bench) -> Vec<String> {
    let mut pids: Vec<u32> = bench.ledger(".").0.iter().map(|it| it.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    let environ = |pid: &u32| fs::read(format!("/proc/{pid}/environ")).ok();
    let runs = pids.iter().filter_map(environ).filter(|it| !it.is_empty());
    runs.map(|it| String::from_utf8_lossy(&it).replace('\0', "\n")).collect()
}

#[test]
fn watch_restarts_providers_when_an_inherited_variable_becomes_secret() {
    let bench = Bench::with_main(WATCHED);
    let run = bench.mayfly(".", ["watch", "-json"]).env("TF_VAR_late", "kanarek-late");
    let started = run.start();
    started.wait_for("\"ok\":true,\"plan\":1,");
    let before = environments(&bench);
    assert!(before.iter().any(|it| it.contains("TF_VAR_late=kanarek-late")), "{before:?}");
    // A syntax error does not end a provider process.
    bench.write("more.tf", "locals {\n");
    started.wait_for("\"ok\":false,\"plan\":2,");
    assert_eq!(environments(&bench).len(), before.len());
    bench.write("more.tf", "locals {}\n");
    started.wait_for("\"ok\":true,\"plan\":3,");
    assert_eq!(environments(&bench), before);
    let secret = WATCHED.replace("type    = string", "ephemeral = true");
    bench.write("main.tf", &secret.replace("\"one\"", "\"two\""));
    started.wait_for("\"ok\":true,\"plan\":4,");
    let after = environments(&bench);
    assert!(!after.is_empty() && after.iter().all(|it| !it.contains("kanarek")), "{after:?}");
    started.signal(Signal::INT);
    started.end().exits(0);
}

/// The direct and indirect child processes of `parent`.
pub(crate) fn descendants(parent: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").expect("can be listed").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The second field is in parentheses and may contain spaces. The process state precedes the parent ID.
        let parent =
            stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parents.extend(parent.map(|it: u32| (pid, it)));
    }
    let mut found = vec![parent];
    let mut at = 0;
    while let Some(&of) = found.get(at) {
        found.extend(parents.iter().filter(|(_, it)| *it == of).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

#[test]
fn child_processes_get_only_their_own_secrets() {
    let mut everywhere = Everywhere::new();
    let hidden = everywhere.canaries.add_word("a sensitive variable");
    everywhere.bench.write(
        "everywhere/sleeping.tf",
        "variable \"hidden\" {\n  type      = string\n  sensitive = true\n}\n\nresource \
         \"terraform_data\" \"sleeping\" {\n  provisioner \"local-exec\" {\n    command = \"env; \
         touch ../sleeping; sleep 1\"\n  }\n}\n",
    );
    let extra = format!("-var='from_flag={}'", everywhere.flag.replace('\'', ""));
    let run = everywhere.run(&["apply", "-auto-approve"], "").env("TF_CLI_ARGS_apply", extra);
    let run = run.env("TF_CLI_ARGS_console", format!("-var='hidden={hidden}'"));
    let run = run.env("TF_VAR_hidden", &hidden).env("TF_VAR_elsewhere", "inherited");
    let started = run.start();
    let marker = everywhere.bench.path("sleeping");
    started.wait_until("the provisioner runs", || marker.exists());
    let read = |pid: u32, name: &str| {
        fs::read(PathBuf::from(format!("/proc/{pid}/{name}"))).unwrap_or_default()
    };
    let children = descendants(started.pid());
    assert!(children.len() >= 2, "providers and a command run: {children:?}");
    let mine = read(started.pid(), "environ");
    assert!(!everywhere.canaries.found_in(&mine).is_empty(), "the search sees what is there");
    let mut inherit = 0;
    for pid in children {
        let environment = String::from_utf8_lossy(&read(pid, "environ")).into_owned();
        inherit += usize::from(environment.contains("TF_VAR_elsewhere=inherited"));
        for name in ["cmdline", "environ"] {
            let text = read(pid, name);
            let shown = String::from_utf8_lossy(&read(pid, "cmdline")).into_owned();
            // The command that receives secrets from the configuration.
            if shown.contains("printf") {
                continue;
            }
            let found = everywhere.canaries.found_in(&text);
            assert!(found.is_empty(), "{name} of {shown:?}: {found:?}");
        }
    }
    assert!(inherit >= 2, "what is no secret reaches providers and commands: {inherit}");
    everywhere.check(started.end().exits(0));
}
