//! Tests of `watch` with the real executable and a real provider: saved changes, syntax errors, leases that stay
//! open, and secrets.

use std::{fs, process::Command};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Run, Started},
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
variable "kind" {
  default = "String"
}
locals {
  value = "one"
}
ephemeral "playground_lease" "login" {
  path   = "secret/login"
  ttl_ms = 2000
}
provider "playground" {
  alias      = "leased"
  auth_token = ephemeral.playground_lease.login.data["auth_token"]
}
resource "playground_parameter" "leased" {
  provider = playground.leased
  name     = "leased"
  type     = var.kind
  value    = local.value
}
resource "playground_secret" "s" {
  name             = "s"
  value_wo         = var.secret
  value_wo_version = 1
}
"#;

/// A watcher with JSON output.
struct Watcher<'b> {
    bench: &'b Bench,
    started: Started,
    plans: u32,
}

impl<'b> Watcher<'b> {
    fn start(bench: &'b Bench, secret: &str) -> Watcher<'b> {
        let run = bench.mayfly(".", ["watch", "-json", &format!("-var=secret={secret}")]);
        let mut watcher = Watcher { bench, started: run.env("TF_LOG", "TRACE").start(), plans: 0 };
        watcher.next_plan(true);
        watcher
    }

    /// Waits for the end of the next plan.
    #[track_caller]
    fn next_plan(&mut self, is_good: bool) {
        self.plans += 1;
        let number = self.plans;
        match is_good {
            true => self.started.wait_for(&format!("\"ok\":true,\"plan\":{number},")),
            false => self.started.wait_for(&format!("\"ok\":false,\"plan\":{number},")),
        }
    }

    /// Saves a file like an editor: writes a new file and renames it.
    #[track_caller]
    fn save(&mut self, name: &str, text: &str, is_good: bool) {
        self.bench.write(&format!("{name}.new"), text);
        fs::rename(self.bench.path(&format!("{name}.new")), self.bench.path(name))
            .expect("is renamed");
        self.next_plan(is_good);
    }

    fn calls(&self, rpc: &str, type_name: &str) -> usize {
        self.bench.ledger(".").calls(rpc, type_name)
    }

    fn all_calls(&self) -> usize {
        let ledger = self.bench.ledger(".");
        // Leases are renewed at any time, so renewals do not count.
        ledger.0.iter().filter(|it| it.event == "rpc" && it.rpc != "renew").count()
    }
}

#[test]
fn save_sends_only_changed_resources_to_the_provider() {
    let bench = Bench::with_main(MAIN);
    let mut canaries = Canaries::new();
    let secret = canaries.add("-var");
    let mut watcher = Watcher::start(&bench, &secret);
    let plan = "plan";
    let parameters = watcher.calls(plan, "playground_parameter");
    assert!(parameters > 0 && watcher.calls(plan, "playground_secret") > 0);
    let calls = watcher.all_calls();

    // Another expression with the same value.
    watcher.save("main.tf", &MAIN.replace("\"one\"", "lower(\"ONE\")"), true);
    assert_eq!(watcher.all_calls(), calls);

    // A syntax error: nothing is planned, and no provider is called.
    watcher.save("main.tf", &MAIN.replace("\"one\"", "\"one"), false);
    assert_eq!(watcher.all_calls(), calls);

    // Fixed, with another value: the running process plans one resource.
    watcher.save("main.tf", &MAIN.replace("\"one\"", "\"two\""), true);
    assert!(watcher.calls(plan, "playground_parameter") > parameters);
    let ledger = bench.ledger(".");
    assert_eq!(ledger.calls("open", "playground_lease"), 1, "the lease lives on");
    assert_eq!(ledger.count("closed", "playground_lease"), 0);
    let parameters = watcher.calls(plan, "playground_parameter");
    let secrets = watcher.calls(plan, "playground_secret");

    // A new variables file, and a configuration file that is added and removed.
    watcher.save("terraform.tfvars", "kind = \"SecureString\"\n", true);
    assert!(watcher.calls(plan, "playground_parameter") > parameters);
    watcher.save("more.tf", "output \"more\" {\n  value = 1\n}\n", true);
    fs::remove_file(bench.path("more.tf")).expect("is removed");
    watcher.next_plan(true);
    assert_eq!(watcher.calls(plan, "playground_secret"), secrets, "nothing of it changed");

    watcher.started.signal(Signal::INT);
    let ended = watcher.started.end().exits(0);
    canaries.assert_not_printed(&ended);
    canaries.assert_not_written(&bench);
    ended.shows(&[
        "\"type\":\"watching\"",
        "\"reason\":\"start\",\"type\":\"plan_started\"",
        "\"type\":\"planned_change\"",
        "\"type\":\"refreshed\"",
        "\"since_last\":{\"appeared\":[],\"changed\":[],\"gone\":[]},\"type\":\"plan_finished\"",
        "\"type\":\"diagnostic\"",
        "\"ok\":false",
        "\"changed\":[\"playground_parameter.leased\"]",
        "\"appeared\":[\"output.more\"]",
        "\"gone\":[\"output.more\"]",
        "\"type\":\"closed\"",
    ]);
    ended.json_lines();
    let ledger = bench.ledger(".");
    let kind = "playground_lease";
    assert_eq!(ledger.count("opened", kind), ledger.count("closed", kind));
    bench.assert_no_orphans(".");
}

#[test]
fn ephemerals_left_open_by_a_killed_watch_are_reported_once() {
    let bench = Bench::with_main(MAIN);
    let journals = || {
        let entries = fs::read_dir(bench.path(".")).expect("lists").flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        names.filter(|it| it.starts_with("terraform.tfstate.watch-")).count()
    };
    let mut canaries = Canaries::new();
    let secret = canaries.add("-var");
    let plan = || bench.mayfly(".", ["plan", &format!("-var=secret={secret}")]).succeeds();
    let named = ["Ephemeral resources were left open", "ephemeral.playground_lease.login, opened"];

    let watcher = Watcher::start(&bench, &secret);
    assert_eq!(journals(), 1);
    plan().lacks(&["left open"]);
    watcher.started.signal(Signal::KILL);
    assert_eq!(watcher.started.end().code, -9);
    canaries.assert_not_written(&bench);
    plan().shows(&named);
    plan().lacks(&["left open"]);
    assert_eq!(journals(), 0);

    let killed = Watcher::start(&bench, &secret);
    killed.started.signal(Signal::KILL);
    assert_eq!(killed.started.end().code, -9);
    let next = Watcher::start(&bench, &secret);
    assert_eq!(journals(), 1, "that of the one that lives");
    next.started.signal(Signal::INT);
    next.started.end().exits(0).shows(&named);
    assert_eq!(journals(), 0, "everything is closed");
}

#[test]
fn watch_notices_an_apply_of_another_command() {
    let bench = Bench::with_main(MAIN);
    let watcher = Watcher::start(&bench, "secret-value");
    // While it plans, it holds no lock.
    bench.mayfly(".", ["apply", "-auto-approve", "-var=secret=secret-value"]).succeeds();
    // The state is written more than once. After the last write it is complete.
    watcher.started.wait_for("\"changes\":{\"add\":0,\"change\":0,");
    watcher.started.signal(Signal::TERM);
    let ended = watcher.started.end().exits(0);
    ended.shows(&["\"gone\":[", "playground_secret.s"]);
}

fn on_a_terminal(bench: &Bench, arguments: &str) -> Option<Started> {
    terminal(bench, &format!("watch {arguments}")).map(Run::start)
}

/// A command on a terminal that the program `script` provides. `None` if that program is not installed.
pub(crate) fn terminal(bench: &Bench, arguments: &str) -> Option<Run> {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: there is no program \"script\" to make a terminal");
        return None;
    }
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_mayfly"));
    let run = bench.program("script", ".", ["-qfec", &command, "/dev/null"]);
    Some(run.env("TERM", "xterm"))
}

const SMALL: &str = "locals {\n  value = \"one\"\n}\nresource \"terraform_data\" \"a\" {\n  input = local.value\n}\n";

#[test]
fn watch_screen_shows_and_applies_plans_and_restores_the_terminal() {
    let bench = Bench::with_main(SMALL);
    let Some(mut started) = on_a_terminal(&bench, "-no-color") else { return };
    started.wait_for("\u{1b}[?1049h");
    started.wait_for("Plan: 1 to add, 0 to change, 0 to destroy.");
    bench.write("main.tf", &SMALL.replace("\"one\"", "\"two"));
    started.wait_for("1 error since");
    started.wait_for("as of ");
    bench.write("main.tf", &SMALL.replace("\"one\"", "\"two\""));
    started.wait_for("terraform_data.a changed");
    started.wait_for("it is declared, and not in the state  main.tf:4");
    started.presses("a");
    started.wait_for("Apply this plan? Only 'yes' will be accepted");
    started.presses("yes\r");
    started.wait_for("Apply complete! Resources: 1 added, 0 changed, 0 destroyed.");
    started.wait_for("Press Enter to continue watching.");
    started.presses("typed\r");
    started.wait_for("No changes. Your infrastructure matches the configuration.");
    started.presses("q");
    let ended = started.end().exits(0);
    let (_, after) = ended.out.split_once("to continue watching. ").expect("was asked");
    assert!(after.starts_with("\u{1b}[?1049h"), "what is typed is not seen: {after:?}");
    let last = ended.out.rfind("\u{1b}[?1049l").expect("the page is left");
    assert!(last > ended.out.rfind("\u{1b}[?1049h").expect("the page was entered"));
    assert_eq!(
        bench.state(".")["resources"][0]["instances"][0]["attributes"]["input"]["value"],
        "two"
    );
}

#[test]
fn watch_prompts_for_variables_before_the_screen() {
    let text = "variable \"one\" {}\nvariable \"two\" {}\nresource \"terraform_data\" \"a\" {\n  \
                input = \"${var.one} ${var.two}\"\n}\n";
    let bench = Bench::with_main(text);
    let Some(mut started) = on_a_terminal(&bench, "-no-color") else { return };
    started.wait_for("var.one");
    started.presses("first\r");
    started.wait_for("var.two");
    started.presses("second\r");
    started.wait_for("Plan: 1 to add, 0 to change, 0 to destroy.");
    started.presses("d");
    started.wait_for("first second");
    started.presses("q");
    started.end().exits(0);
}

#[test]
fn watch_applies_only_after_yes() {
    let bench = Bench::with_main(SMALL);
    let Some(mut started) = on_a_terminal(&bench, "-no-color") else { return };
    started.wait_for("Plan: 1 to add, 0 to change, 0 to destroy.");
    started.presses("a");
    started.wait_for("Only 'yes' will be accepted");
    started.presses("no\r");
    started.wait_for("no_");
    started.presses("\u{3}");
    let ended = started.end().exits(0);
    ended.lacks(&["Creating..."]);
    assert!(!bench.path("terraform.tfstate").exists());
}

#[test]
fn watch_without_a_terminal_prints_a_line_per_plan() {
    let bench = Bench::with_main(SMALL);
    let started = bench.mayfly(".", ["watch", "-no-color"]).start();
    started.wait_for("Plan: 1 to add, 0 to change, 0 to destroy.");
    bench.write("main.tf", &SMALL.replace("\"one\"", "\"two\""));
    started.wait_for("1 change since the last plan)");
    started.signal(Signal::INT);
    started.end().exits(0).lacks(&["\u{1b}", "data loss"]);
}

#[test]
fn watch_ends_when_its_output_is_closed() {
    let bench = Bench::with_main(SMALL);
    let command = format!("{} watch -json | head -n 1; echo ended", env!("CARGO_BIN_EXE_mayfly"));
    bench.program("sh", ".", ["-c", &command]).succeeds().shows(&["\"type\":\"version\"", "ended"]);
}

/// Tools such as `git` and `init` replace a whole directory with another one of the same name.
#[test]
fn watch_follows_a_replaced_directory() {
    let bench = Bench::with_main(
        "module \"m\" {\n  source = \"./m\"\n}\noutput \"o\" {\n  value = module.m.o\n}\n",
    );
    // The error shows which module was read.
    let module = |name: &str| format!("output \"o\" {{\n  value = local.{name}\n}}\n");
    bench.write("m/main.tf", "output \"o\" {\n  value = 1\n}\n");
    let started = bench.mayfly(".", ["watch", "-json"]).start();
    let mut watcher = Watcher { bench: &bench, started, plans: 0 };
    watcher.next_plan(true);
    bench.write("n/main.tf", &module("second"));
    fs::rename(bench.path("m"), bench.path("away")).expect("is moved");
    fs::rename(bench.path("n"), bench.path("m")).expect("is moved");
    watcher.started.wait_for("second");
    // The new directory is watched.
    bench.write("m/main.tf", &module("third"));
    watcher.started.wait_for("third");
    watcher.started.interrupt();
    watcher.started.end().exits(0);
}

#[test]
fn watch_notices_a_changed_and_restored_package() {
    let bench = Bench::new();
    bench.write("net/main.tf", "output \"o\" {\n  value = file(\"${path.module}/text\")\n}\n");
    bench.write("net/text", "good");
    let source = bench.path("net").display().to_string();
    let call = format!("module \"m\" {{\n  source = \"{source}\"\n}}\n");
    bench.write("main.tf", &format!("{call}output \"o\" {{\n  value = module.m.o\n}}\n"));
    bench.mayfly(".", ["init"]).succeeds();
    let watcher = bench.mayfly(".", ["watch", "-json"]).start();
    watcher.wait_for("\"ok\":true");
    bench.write(".terraform/modules/m/text", "evil");
    watcher.wait_for("changed: \\\"text\\\"");
    // While the package is repaired, it may be reported once more.
    bench.mayfly(".", ["init"]).succeeds();
    watcher.wait_for_times("\"ok\":true", 2);
    // The package is now in another directory.
    bench.write(".terraform/modules/m/main.tf", "# evil");
    watcher.wait_for("changed: \\\"main.tf\\\"");
    watcher.interrupt();
    watcher.end().exits(0);
}
