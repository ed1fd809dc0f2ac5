//! No secret in anything that leaves the engine, and no open without a close, whatever fails.

use std::io::Read;

use crate::world::{World, world};

/// Whether a secret is in bytes or, if they are a zip, in one of its entries.
pub(crate) fn finds(bytes: &[u8], secret: &str) -> bool {
    let found = |bytes: &[u8]| bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
    if found(bytes) {
        return true;
    }
    let Ok(mut zip) = zip::ZipArchive::new(std::io::Cursor::new(bytes)) else { return false };
    (0..zip.len()).any(|index| {
        let mut content = Vec::new();
        zip.by_index(index).expect("an entry").read_to_end(&mut content).expect("readable");
        found(&content)
    })
}

const CONFIG: &str = r#"
variable "v" { ephemeral = true }
ephemeral "test_secret" "outer" { name = "outer" }
provider "test" {
  alias = "p"
  token = ephemeral.test_secret.outer.value
}
ephemeral "test_secret" "inner" {
  provider = test.p
  name     = "inner"
}
locals { both = { a = var.v, b = ephemeral.test_secret.inner.value } }
resource "test_thing" "a" {
  provider  = test.p
  name      = "a"
  secret_wo = jsonencode(local.both)
  provisioner "local-exec" { command = "echo ${local.both.b}" }
}
resource "test_thing" "b" {
  name      = "b-${test_thing.a.id}"
  secret_wo = local.both.a
}
data "test_lookup" "d" {
  provider = test.p
  name     = "d"
}
output "nulled" { value = ephemeralasnull(local.both) }
"#;

/// What the run shows and keeps.
fn traces(world: &World, diagnostics: &[db::Diagnostic]) -> String {
    let events = world.events.lock().expect("not poisoned");
    format!("{events:?}{diagnostics:?}{:?}", world.state)
}

fn state_text(world: &World) -> Vec<u8> {
    let mut file = state::StateFile::new("11111111-2222-3333-4444-555555555555".to_owned());
    file.state = world.state.clone();
    file.write().expect("a state without ephemeral values")
}

#[test]
fn whatever_fails_every_open_is_closed_and_no_secret_is_told() {
    let faults = [
        None,
        Some("open outer"),
        Some("open inner"),
        Some("validate inner"),
        Some("plan a"),
        Some("create a"),
        Some("create b-id1"),
        Some("lookup d"),
        Some("close inner"),
        Some("close outer"),
        Some("configure token=canary-of-outer region=null"),
        Some("renew inner"),
    ];
    for (index, fault) in faults.into_iter().enumerate() {
        for parallelism in [1, 10] {
            let mut world = world(CONFIG);
            world.set("v", "variable-canary");
            world.parallelism = parallelism;
            world.prints = "canary-of-inner";
            world.fails = index % 2 == 1;
            world.with_shared(|it| it.renew_after = Some(-5));
            if let Some(fault) = fault {
                world.fault(fault);
            }
            let diagnostics = world.apply();
            let traces = traces(&world, &diagnostics);
            for secret in ["canary-of-inner", "canary-of-outer", "variable-canary"] {
                assert!(!traces.contains(secret), "{fault:?}: {secret} in {traces}");
                assert!(!finds(&state_text(&world), secret), "{fault:?}: {secret} in the state");
            }
            check_pairs(&world, fault);
        }
    }
}

/// Opens and closes, by the provider's own count and by what is printed.
#[track_caller]
fn check_pairs(world: &World, fault: Option<&str>) {
    assert_eq!(world.shared.lock().expect("not poisoned").open, 0, "{fault:?}");
    let calls = world.calls();
    let count = |what: &str| calls.iter().filter(|it| it.contains(what)).count();
    for name in ["inner", "outer"] {
        let failed_opens = if fault == Some(&*format!("open {name}")) {
            count(&format!("open {name}"))
        } else {
            0
        };
        assert_eq!(
            count(&format!("open {name}")) - failed_opens,
            count(&format!("close {name}")),
            "{fault:?}: {calls:?}"
        );
    }
    let log = world.log();
    let printed = |what: &str| log.lines().filter(|it| it.ends_with(what)).count();
    assert_eq!(printed("Opening complete"), printed("Closing..."), "{fault:?}:\n{log}");
    assert_eq!(
        printed("Closing..."),
        printed("Closing complete") + printed("Closing errored"),
        "{fault:?}:\n{log}"
    );
    let ended = calls.iter().filter(|it| it.ends_with(" end")).count();
    assert_eq!(
        ended as u32,
        world.shared.lock().expect("not poisoned").processes,
        "{fault:?}: processes end"
    );
}

#[test]
fn what_is_given_is_known_as_secret_before_a_provider_runs() {
    let mut world = world(
        r#"
//- /main.tf
variable "plain" {}
variable "direct" { ephemeral = true }
locals { both = { key = "id-1234567", value = "<${var.plain}>" } }
module "m" {
  source = "./m"
  pair   = local.both
  name   = var.plain
}
//- /m/main.tf
variable "pair" {
  type      = map(string)
  ephemeral = true
}
variable "name" {}
module "inner" {
  source = "./inner"
  text   = jsonencode(var.pair)
}
//- /m/inner/main.tf
variable "text" { ephemeral = true }
variable "more" {
  default   = "a default"
  ephemeral = true
}
"#,
    );
    world.mode = state::PlanMode::Destroy;
    world.set("plain", "plain & given").set("direct", "direct");
    assert_eq!(crate::world::summaries(&world.plan().diagnostics), "");
    for (text, expected) in [
        ("direct", "(redacted)"),
        ("is id-1234567", "is (redacted)"),
        ("is <plain & given>", "is (redacted)"),
        (r#"{"a":"\u003cplain \u0026 given>"}"#, r#"{"a":"(redacted)"}"#),
        ("a default", "(redacted)"),
        ("plain & given", "plain & given"),
    ] {
        assert_eq!(world.redactor.redact(text), expected);
    }
}
