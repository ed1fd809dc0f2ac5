//! Runs commands with marked secrets (canaries) from every origin in every ephemeral and write-only place. Then
//! searches for the secrets in all files, archives, both output streams, logs, and memory.

use std::{fs, io::Write};

use crate::{
    bench::{Bench, Ended, Run},
    configured_functions::plugin,
    search::{Canaries, memory_has},
};

const EVERYWHERE: &str = include_str!("everywhere.tf");
const PASSING: &str = include_str!("passing.tf");

/// Puts a secret into the store, for other configurations to read.
const SEED: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
provider "playground" {
  store = "../everywhere/.playground"
}
variable "stored" {
  type      = string
  ephemeral = true
}
resource "playground_secret" "stored" {
  name             = "stored"
  value_wo         = jsonencode({ member = var.stored })
  value_wo_version = 1
}
resource "playground_parameter" "imported" {
  name             = "imported"
  type             = "SecureString"
  value_wo         = var.stored
  value_wo_version = 1
}
"#;

/// A configuration with secrets in every place, and values for it from every origin.
pub(crate) struct Everywhere {
    pub(crate) bench: Bench,
    pub(crate) canaries: Canaries,
    stored: String,
    pub(crate) flag: String,
    environment: String,
    pub(crate) prompt: String,
}

/// Makes the plugin `mayfly/phrases` available without installation, and a package for commands that copy it. The
/// search for secrets does not follow the link to the plugin.
fn provide_phrases(bench: &Bench) {
    let plugins = bench.path("plugins");
    fs::create_dir(&plugins).expect("can be made");
    std::os::unix::fs::symlink(plugin(), plugins.join("terraform-provider-phrases"))
        .expect("can be made");
    let platform = packages::Platform::current();
    let package = format!("mirror/registry.opentofu.org/mayfly/phrases/1.0.0/{platform}");
    bench.write(&format!("{package}/terraform-provider-phrases_v1.0.0"), "never started");
    let mirror = bench.path("mirror");
    let config = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"mayfly/phrases\" = {plugins:?}\n  }}\n  \
         filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
    );
    fs::write(bench.root().join("home/.tofurc"), config).expect("can be written");
}

fn json_text(text: &str) -> String {
    serde_json::to_string(text).expect("is text")
}

impl Everywhere {
    pub(crate) fn new() -> Everywhere {
        let bench = Bench::new();
        let mut canaries = Canaries::new();
        bench.write("everywhere/main.tf", EVERYWHERE);
        bench.write("everywhere/passing/main.tf", PASSING);
        bench.write("seed/main.tf", SEED);
        provide_phrases(&bench);
        let stored = canaries.add("provider");
        let text = json_text(&canaries.add("terraform.tfvars"));
        let (inner, key) = (
            json_text(&canaries.add("nested in tfvars")),
            json_text(&canaries.add("key in tfvars")),
        );
        let tfvars = format!(
            "from_tfvars = {text}\nstructured = {{\n  inner = {inner}\n  list  = [{inner}, \"plain \
             text\"]\n  map   = {{ {key} = 1234567 }}\n}}\n"
        );
        bench.write("everywhere/terraform.tfvars", &tfvars);
        bench.write(
            "everywhere/x.auto.tfvars.json",
            &format!("{{\"from_json\": {}}}", json_text(&canaries.add("tfvars.json"))),
        );
        bench.write(
            "values.tfvars",
            &format!("from_file = <<EOT\n{}\nEOT\n", canaries.add("-var-file")),
        );
        let (flag, environment, prompt) =
            (canaries.add("-var"), canaries.add("TF_VAR_"), canaries.add("prompt"));
        let all = Everywhere { bench, canaries, stored, flag, environment, prompt };
        all.seed();
        all
    }

    /// Stores the secret that the remote system returns.
    fn seed(&self) {
        let stored = format!("-var=stored={}", self.stored);
        self.bench
            .mayfly("seed", ["apply", "-auto-approve", "-state=../seed.tfstate"])
            .arg(stored)
            .succeeds();
    }

    /// A command with all values. `typed` is the input after the secret.
    pub(crate) fn run(&self, arguments: &[&str], typed: &str) -> Run {
        self.without_flags(arguments)
            .arg("-var-file=../values.tfvars")
            .arg(format!("-var=from_flag={}", self.flag))
            .input(&format!("{}\n{typed}", self.prompt))
    }

    /// A command with values only from the environment and the automatic variables files.
    pub(crate) fn without_flags(&self, arguments: &[&str]) -> Run {
        self.bench
            .mayfly("everywhere", arguments)
            .env("TF_VAR_from_environment", &self.environment)
            .env("TF_LOG", "TRACE")
    }

    /// Adds the secrets that providers chose. A provisioner wrote them to a directory that is not searched.
    pub(crate) fn learn(&mut self, outside: &tempfile::TempDir) {
        for origin in ["random", "lease"] {
            let secret = fs::read_to_string(outside.path().join(origin)).expect("was written");
            self.canaries.know(origin, &secret);
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, ended: Ended) -> Ended {
        self.canaries.assert_not_printed(&ended);
        self.canaries.assert_not_written(&self.bench);
        ended
    }
}

#[test]
fn failed_provisioner_output_is_redacted() {
    let all = Everywhere::new();
    let script = r#"
variable "short" {
  type      = string
  default   = "plain"
  ephemeral = true
}
resource "terraform_data" "failing" {
  provisioner "local-exec" {
    command     = "echo visible; printf '%s' \"$SECRET\" | tee /dev/stderr; echo; printf '%s' \"x$SECRET\" | base64 -w0; printf '%s' \"$SECRET\" | od -An -tx1 | tr -d ' \\n'; echo '${var.from_flag}'; exit 7"
    environment = { SECRET = "${var.from_flag}${local.mixed["b"]}${jsonencode(var.structured)}" }
  }
}
"#;
    all.bench.write("everywhere/failing.tf", script);
    let ended = all.check(all.run(&["apply", "-auto-approve"], "").fails());
    ended.shows(&["Error: local-exec provisioner error", "exit status 7", "visible"]);
    ended.shows(&["Closing complete after"]);
    assert!(
        all.bench.state("everywhere").to_string().contains("\"tainted\""),
        "the object is tainted"
    );
    // A secret that is too short to be redacted suppresses the whole output.
    let brief = script.replace("'${var.from_flag}'", "'${var.short}'");
    all.bench.write("everywhere/failing.tf", &brief);
    let ended = all.check(all.run(&["apply", "-auto-approve", "-var=short=Abc"], "").fails());
    ended.shows(&["exit status 7", "too short"]);
    ended.lacks(&["visible", "Abc"]);
}

/// An ephemeral resource whose name does not exist, and whose opening is required.
fn missing(name: &str) -> String {
    let condition = "lifecycle {\n    postcondition {\n      condition     = self.value != \"\"\n      \
                     error_message = \"Empty.\"\n    }\n  }";
    format!("ephemeral \"playground_secret\" \"x\" {{\n  name = {name}\n  {condition}\n}}\n")
}

/// A resource with a condition that calls a function of a configured provider.
fn failing_call(call: &str) -> String {
    format!(
        "resource \"terraform_data\" \"x\" {{\n  lifecycle {{\n    precondition {{\n      condition     = \
         provider::phrases::{call} != \"\"\n      error_message = \"Empty.\"\n    }}\n  }}\n}}\n"
    )
}

#[test]
fn messages_of_providers_and_conditions_are_redacted() {
    let cases = [
        (missing("var.from_flag"), "has no secret named \"(redacted)"),
        (missing("jsonencode({ k = var.structured })"), "(redacted)"),
        (missing("base64encode(\"x${var.from_json}\")"), "(redacted)"),
        (
            "ephemeral \"playground_random\" \"x\" {\n  lifecycle {\n    precondition {\n      \
             condition     = var.from_prompt == \"\"\n      error_message = \"It is \
             ${var.from_prompt}.\"\n    }\n  }\n}\n"
                .into(),
            "precondition failed",
        ),
        (
            "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    precondition {\n      \
             condition     = local.mixed[\"b\"] == \"other\"\n      error_message = \"It \
             differs.\"\n    }\n  }\n}\n"
                .into(),
            "It differs.",
        ),
        (
            "resource \"playground_secret\" \"x\" {\n  name     = \"x\"\n  value_wo = \
          tonumber(var.from_tfvars)\n}\n"
                .into(),
            "Error: Invalid function argument",
        ),
        (
            "provider \"playground\" {\n  alias   = \"x\"\n  address = \
          var.from_environment\n}\nresource \"playground_secret\" \"x\" {\n  provider = \
          playground.x\n  name     = \"x\"\n}\n"
                .into(),
            "Error: ",
        ),
        (
            "resource \"playground_secret\" \"x\" {\n  name = var.from_file\n}\n".into(),
            "write-only",
        ),
        ("output \"x\" {\n  value = local.mixed\n}\n".into(), "ephemeral"),
        ("output \"x\" {\n  value = local.phrases[0]\n}\n".into(), "ephemeral"),
        (failing_call("greet(\"bad ${var.from_prompt}\")"), "Error: Invalid function argument"),
        (failing_call("secret::greet(\"bad ${var.from_json}\")"), "Invalid function argument"),
        (failing_call("secret::gret(var.from_flag)"), "Error: Function not found in provider"),
        (failing_call("greet(\"die ${local.mixed.b}\")"), "Error: "),
    ];
    let all = Everywhere::new();
    for (text, expected) in cases {
        let text: String = text;
        all.bench.write("everywhere/case.tf", &text);
        let ended = all.run(&["apply", "-auto-approve"], "").end();
        assert_eq!(ended.code, 1, "{text}:\n{}", ended.printed());
        all.canaries.assert_not_printed(&ended);
        ended.shows(&[expected]);
        // Names are not secret for the playground, so it records them.
        let _written_by_the_provider = fs::remove_dir_all(all.bench.path("everywhere/.playground"));
        all.canaries.assert_not_written(&all.bench);
        all.seed();
    }
}

#[test]
fn crashing_provider_reveals_no_secret() {
    for fault in [
        r#"{"on": "create", "kind": "panic", "type": "playground_vault"}"#,
        r#"{"on": "create", "kind": "die", "type": "playground_vault", "late": true}"#,
        r#"{"on": "plan", "kind": "die", "type": "playground_database"}"#,
        r#"{"on": "create", "kind": "write_only", "type": "playground_vault"}"#,
        r#"{"on": "open", "kind": "inconsistent", "type": "playground_secret"}"#,
    ] {
        let all = Everywhere::new();
        let ended = all
            .check(all.run(&["apply", "-auto-approve"], "").env("PLAYGROUND_FAULT", fault).fails());
        ended.shows(&["Error: "]);
        all.bench.assert_no_orphans("everywhere");
    }
}

/// An output that is larger than a pipe buffer, printed after everything else.
const LONG: &str = "output \"long\" {\n  value = join(\"\", [for i in range(1000) : \"memory can \
                    be read here, for this text is no secret, and it is long enough that a pipe of \
                    the usual size cannot hold a thousand times of it, which is more than a hundred kilobytes\"])\n}\n";

#[test]
fn no_secret_stays_in_memory_after_the_last_close() {
    let mut all = Everywhere::new();
    all.bench.write("everywhere/long.tf", LONG);
    let outside = tempfile::tempdir().expect("a directory can be made");
    let to = format!("-var=outside={}", outside.path().display());
    let apply = all.run(&["apply", "-auto-approve", &to], "");
    let started = apply.start_paused_at(Some("\nOutputs:\n"));
    started.wait_for("\nOutputs:\n");
    all.learn(&outside);
    let Some(found) = all.canaries.in_memory(started.pid()) else {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the memory of another process cannot be read here"
        );
        return;
    };
    assert_eq!(
        memory_has(started.pid(), "memory can be read here"),
        Some(true),
        "the search sees what is there"
    );
    started.resume();
    all.check(started.end().exits(0));
    assert!(found.is_empty(), "in memory: {found:#?}");
}

#[test]
fn provider_secrets_leave_memory_before_the_approval_prompt() {
    let all = Everywhere::new();
    // Answer only the question for the secret, and leave the approval open.
    let mut started = all
        .bench
        .mayfly("everywhere", ["apply", "-var-file=../values.tfvars"])
        .arg(format!("-var=from_flag={}", all.flag))
        .env("TF_VAR_from_environment", &all.environment)
        .start();
    started.types(&all.prompt);
    started.wait_for("Only 'yes' will be accepted");
    let from_providers = all.canaries.of(&["provider"]);
    if let Some(found) = from_providers.in_memory(started.pid()) {
        assert!(found.is_empty(), "in memory: {found:#?}");
    }
    started.types("no");
    all.check(started.end().exits(1));
}

#[test]
fn a_killed_process_leaves_no_dump() {
    use rustix::process::Signal;
    for signal in [Signal::ABORT, Signal::TERM, Signal::KILL] {
        let all = Everywhere::new();
        all.bench.write(
            "everywhere/sleeping.tf",
            "resource \"terraform_data\" \"sleeping\" {\n  provisioner \"local-exec\" {\n    \
             command     = \"touch ../sleeping; sleep 1\"\n    environment = { SECRET = \
             \"${var.from_flag}${local.mixed[\"b\"]}\" }\n  }\n}\n",
        );
        let started = all.run(&["apply", "-auto-approve"], "").start();
        let marker = all.bench.path("sleeping");
        started.wait_until("the provisioner runs", || marker.exists());
        started.signal(signal);
        let ended = all.check(started.end());
        assert_ne!(ended.code, 0);
        all.bench.assert_no_orphans("everywhere");
        all.canaries.assert_not_written(&all.bench);
    }
}

#[test]
fn watch_prints_and_writes_no_secret() {
    let all = Everywhere::new();
    let outside = tempfile::tempdir().expect("a directory can be made");
    let to = format!("-var=outside={}", outside.path().display());
    let tfvars = String::from_utf8(all.bench.read("everywhere/terraform.tfvars")).expect("is text");
    for arguments in [&["watch", "-json", "-input=false"][..], &["watch", "-input=false"]] {
        let run = all.run(&[arguments, &[to.as_str()]].concat(), "");
        let started = run.env("TF_VAR_from_prompt", &all.prompt).start();
        started.wait_for("Plan: 7 to add");
        // A change that is planned again, then a broken text in the place of a secret.
        all.bench.write(
            "everywhere/main.tf",
            &format!("{EVERYWHERE}\noutput \"more\" {{\n  value = 1\n}}\n"),
        );
        started.wait_for(if arguments.contains(&"-json") {
            "output.more"
        } else {
            "1 change since"
        });
        all.bench.write("everywhere/terraform.tfvars", "from_tfvars = \"");
        started.wait_for("Unterminated");
        started.signal(rustix::process::Signal::INT);
        all.check(started.end().exits(0));
        all.bench.write("everywhere/main.tf", EVERYWHERE);
        all.bench.write("everywhere/terraform.tfvars", &tfvars);
    }
    let ledger = all.bench.ledger("everywhere");
    for kind in ["playground_secret", "playground_random", "playground_lease"] {
        assert_eq!(ledger.count("opened", kind), ledger.count("closed", kind), "{kind}");
    }
    all.bench.assert_no_orphans("everywhere");
}
