//! Runs the real executable with the plugin as its only provider. The state has an object that must survive.

use std::{fs, time::Duration};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Ended, Started},
    good::TOKEN,
    page::settled,
    plant::{plant, plant_itself},
    rows::Row,
    serve::{BENCH, WAY},
};

/// The way in which a command is run.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    ToTheEnd(&'static str),
    /// Runs first with a good provider, which fills the schema cache, then with the misbehaving one, then again.
    Cached(&'static str),
    /// Interrupted when the call that the way names has arrived, and a second time later.
    Interrupted(&'static str),
    /// Killed when the call that the way names has arrived.
    Killed(&'static str),
}

const MAIN: &str = r#"
terraform {
  required_providers {
    bad = { source = "example.com/tests/bad" }
  }
}
ephemeral "bad_token" "token" {
  name = "token"
}
data "bad_data" "data" {
  name = "data"
}
resource "bad_thing" "kept" {
  name = "kept"
}
resource "bad_thing" "new" {
  name       = "new"
  secret     = ephemeral.bad_token.token.value
  depends_on = [bad_thing.other]
}
resource "bad_thing" "other" {
  name = "other"
}
"#;

/// A state in which `kept` matches the configuration and `gone` is to be destroyed.
const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.12.6", "serial": 3, "lineage": "5f0e3b1c-8d0a-4a5b-9b7e-1d2c3b4a5f60", "outputs": {},
  "resources": [
    {"mode": "managed", "type": "bad_thing", "name": "gone", "provider": "provider[\"example.com/tests/bad\"]",
     "instances": [{"schema_version": 0, "private": "e30=",
       "attributes": {"id": "id-gone", "name": "gone", "note": "n", "size": null, "secret": null}}]},
    {"mode": "managed", "type": "bad_thing", "name": "kept", "provider": "provider[\"example.com/tests/bad\"]",
     "instances": [{"schema_version": 0, "private": "e30=",
       "attributes": {"id": "id-kept", "name": "kept", "note": "n", "size": null, "secret": null}}]}
  ],
  "check_results": null
}
"#;

/// Additions to the configuration and to the resources of the state, without which a call is not made.
const ADDITIONS: &[(&str, &str, &str)] = &[
    ("CallFunction", r#"output "o" { value = provider::bad::shout("hey") }"#, ""),
    (
        "GetFunctions",
        r#"
provider "bad" {}
output "o" { value = provider::bad::whisper("hey") }
"#,
        "",
    ),
    (
        "ImportResourceState",
        r#"
import {
  to = bad_thing.imported
  id = "there"
}
resource "bad_thing" "imported" {
  name = "there"
}
"#,
        "",
    ),
    (
        "MoveResourceState",
        r#"
moved {
  from = terraform_data.old
  to   = bad_thing.moved
}
resource "bad_thing" "moved" {
  name = "moved"
}
"#,
        r#"{"mode": "managed", "type": "terraform_data", "name": "old",
     "provider": "provider[\"terraform.io/builtin/terraform\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "1", "input": null, "output": null, "triggers_replace": null}}]},
    "#,
    ),
    (
        "UpgradeResourceIdentity",
        r#"
resource "bad_thing" "identified" {
  name = "identified"
}
"#,
        r#"{"mode": "managed", "type": "bad_thing", "name": "identified", "provider": "provider[\"example.com/tests/bad\"]",
     "instances": [{"schema_version": 0, "private": "e30=", "identity_schema_version": 0, "identity": {"name": "old"},
       "attributes": {"id": "id-identified", "name": "identified", "note": "n", "size": null, "secret": null}}]},
    "#,
    ),
];

/// The configuration and the state of a row.
fn files(row: &Row) -> (String, String) {
    let addition = ADDITIONS.iter().find(|(method, ..)| row.way.ends_with(method));
    let (_, main, state) = addition.copied().unwrap_or_default();
    let first = "\"resources\": [\n    ";
    (format!("{MAIN}{main}"), STATE.replacen(first, &format!("{first}{state}"), 1))
}

/// The maximum number of renewals in the run of any command.
const MAX_RENEWALS: usize = 4;

/// The result of a command.
pub(crate) struct Came {
    pub(crate) said: String,
    /// The exit code, and the content of the state.
    pub(crate) after: String,
    pub(crate) wrong: Vec<String>,
}

/// Runs the command of a row.
pub(crate) fn run(row: &Row, run: Run) -> Came {
    let (main, state) = files(row);
    let bench = Bench::with_main(&main);
    let executable = match run {
        Run::Cached(_) => plant_itself(bench.root()),
        _ => plant(bench.root(), row),
    };
    let folder = executable.parent().expect("it is in a folder").display();
    let rc = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/tests/bad\" = \
         \"{folder}\"\n  }}\n  direct {{}}\n}}\n"
    );
    fs::write(bench.root().join("rc"), rc).expect("can be written");
    bench.write("terraform.tfstate", &state);
    match run {
        Run::ToTheEnd(command) => looked_at(&bench, &start(&bench, command, &row.way).end(), row),
        Run::Interrupted(command) => {
            let ended = interrupted(&bench, start(&bench, command, &row.way));
            looked_at(&bench, &ended, row)
        }
        Run::Killed(command) => killed(
            &bench,
            start(&bench, command, &row.way),
            !row.way.contains("without a supervisor"),
        ),
        Run::Cached(command) => {
            let [before, ended, again] =
                ["", &row.way, &row.way].map(|way| start(&bench, command, way).end());
            let mut came = looked_at(&bench, &ended, row);
            came.after.push_str(&format!("; once more: exit code {}", again.code));
            if before.code != 0 {
                came.wrong.push(format!("it was no good before: {}", before.printed()));
            }
            came
        }
    }
}

fn start(bench: &Bench, command: &str, way: &str) -> Started {
    let arguments: &[&str] = match command {
        "apply" => &["apply", "-auto-approve", "-no-color", "-parallelism=1"],
        "plan" => &["plan", "-no-color", "-parallelism=1"],
        _ => &["validate", "-no-color"],
    };
    bench
        .mayfly(".", arguments)
        .env("TF_CLI_CONFIG_FILE", bench.root().join("rc"))
        .env("TF_LOG_PROVIDER", "TRACE")
        .env("TF_LOG_PATH", bench.root().join("log"))
        .env(WAY, way)
        .env(BENCH, bench.root())
        .start()
}

fn wait_for_call(bench: &Bench, run: &Started) {
    let calls = bench.root().join("calls");
    let arrived = || fs::read_to_string(&calls).is_ok_and(|it| it.contains("(no answer)"));
    run.wait_until("the call arrives", arrived);
}

/// Kills the command. Kills its supervisor first unless `is_supervised`. No process of the plugin may be left.
fn killed(bench: &Bench, run: Started, is_supervised: bool) -> Came {
    wait_for_call(bench, &run);
    if !is_supervised {
        kill_supervisor(&run);
    }
    run.signal(Signal::KILL);
    let ended = run.end();
    let mut wrong = crate::after(bench.root());
    if ended.code != -Signal::KILL.as_raw() {
        wrong.push(format!("it was not killed, but ended with {}", ended.code));
    }
    let state = fs::read_to_string(bench.path("terraform.tfstate")).unwrap_or_default();
    if !objects(&state).0 {
        wrong.push("the object that was there is lost".to_owned());
    }
    Came { said: "(nothing)".to_owned(), after: "no process is left".to_owned(), wrong }
}

fn kill_supervisor(run: &Started) {
    let children = format!("/proc/{0}/task", run.pid());
    let tasks = fs::read_dir(children).expect("there is /proc").flatten();
    let children = tasks.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    for child in children.collect::<String>().split_whitespace() {
        let line = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        let id = child.parse().ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id.filter(|_| line.contains("supervise-processes")) {
            rustix::process::kill_process(id, Signal::KILL).expect("it runs");
            return;
        }
    }
    panic!("there is no supervisor");
}

fn interrupted(bench: &Bench, run: Started) -> Ended {
    wait_for_call(bench, &run);
    run.interrupt();
    // Send the second interrupt after the first was handled, unless that already ended the command.
    std::thread::sleep(Duration::from_millis(700));
    run.interrupt();
    run.end()
}

/// The output without paths, and the violations of rules that hold for every row.
fn looked_at(bench: &Bench, ended: &Ended, row: &Row) -> Came {
    let mut wrong = crate::after(bench.root());
    let printed = ended.printed();
    let log = fs::read_to_string(bench.root().join("log")).unwrap_or_default();
    let state = fs::read_to_string(bench.path("terraform.tfstate")).unwrap_or_default();
    for (place, text) in [("what was printed", &printed), ("the log", &log), ("the state", &state)]
    {
        if text.contains(TOKEN) {
            wrong.push(format!("the secret is in {place}"));
        }
    }
    for (place, text) in [("the terminal", &printed), ("the log", &log)] {
        if text.chars().any(|it| it.is_control() && !matches!(it, '\n' | '\t')) {
            wrong.push(format!("a control character reached {place}"));
        }
    }
    if !matches!(ended.code, 0 | 1) || printed.contains("Mayfly crashed") {
        wrong.push(format!("it crashed with code {}", ended.code));
    }
    if bench.path(".terraform.tfstate.lock.info").exists() {
        wrong.push("the lock is left".to_owned());
    }
    let calls = fs::read_to_string(bench.root().join("calls")).unwrap_or_default();
    let renewals = calls.lines().filter(|it| *it == "RenewEphemeralResource").count();
    if renewals > MAX_RENEWALS {
        wrong.push(format!("it was renewed {renewals} times"));
    }
    let (kept, objects) = objects(&state);
    if !kept {
        wrong.push("the object that was there is lost".to_owned());
    }
    let after = format!("exit code {}; state: {}", ended.code, objects.join(", "));
    Came { said: settled(&about(&errors(ended), row), bench.root()), after, wrong }
}

/// Returns true if `kept` is unchanged, and the names of all objects.
fn objects(state: &str) -> (bool, Vec<String>) {
    let Ok(state) = serde_json::from_str::<serde_json::Value>(state) else {
        return (false, vec!["(no state)".to_owned()]);
    };
    let resources = state["resources"].as_array().cloned().unwrap_or_default();
    let managed: Vec<_> = resources.iter().filter(|it| it["mode"] == "managed").collect();
    let kept = managed.iter().any(|it| {
        let object = &it["instances"][0];
        it["name"] == "kept"
            && object["attributes"]["id"] == "id-kept"
            && object["private"] == "e30="
    });
    let name = |it: &&serde_json::Value| {
        let tainted = if it["instances"][0]["status"] == "tainted" { " (tainted)" } else { "" };
        format!("{}{tainted}", it["name"].as_str().unwrap_or_default())
    };
    (kept, managed.iter().map(name).collect())
}

/// The errors about the call in which the process died. Other pending calls also fail, and these differ between
/// runs.
fn about(said: &str, row: &Row) -> String {
    let Some(method) = row.way.strip_prefix("dies ").and_then(|it| it.split(' ').nth(1)) else {
        return said.to_owned();
    };
    let named = said.split("\nError: ").filter(|it| it.contains(method));
    let errors: Vec<&str> = named.map(|it| it.trim_start_matches("Error: ")).collect();
    if errors.is_empty() { said.to_owned() } else { format!("Error: {}", errors.join("\nError: ")) }
}

/// The printed errors and warnings. If there are none, the last line of the output.
fn errors(ended: &Ended) -> String {
    let begins =
        |it: &str| it.starts_with("Warning: ") && !it.contains("Provider development overrides");
    let mut warnings: Vec<&str> = ended.out.lines().filter(|it| begins(it)).collect();
    warnings.truncate(5);
    let printed = format!("{}\n{}", warnings.join("\n"), ended.err).trim().to_owned();
    let last = |it: &&str| it.starts_with("Apply complete!") || it.starts_with("Success!");
    match printed.is_empty() {
        true => ended.out.lines().rfind(last).unwrap_or("(nothing)").to_owned(),
        false => printed,
    }
}
