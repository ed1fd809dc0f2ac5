//! Tests that no secret leaves the engine and that every open has a close, whatever fails.

use std::io::Read;

use crate::{
    fake::Shared,
    world::{World, actions, summaries, world},
};

/// Returns true if the bytes contain a secret, or if an entry of the bytes as a zip archive does.
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

/// Returns the events, diagnostics and state of the run as text.
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
fn any_failure_closes_all_ephemerals_and_reveals_no_secret() {
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

/// Checks that every open has a close, by the count of the provider and by its calls.
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
fn redactor_learns_given_secrets_before_a_provider_runs() {
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
    assert_eq!(summaries(&world.plan().diagnostics), "");
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

/// Checks the redacted detail of a provider's warning.
#[track_caller]
fn check_muttering(fixture: &str, mutters: &'static str, expected: &str) {
    let mut world = world(fixture);
    world.set("v", r#"{"user":"admin-user","password":"hunter2-hunter2"}"#);
    world.set("url", "postgres://admin:p%40ss-word@host/db").set("plain", "plain-pass");
    world.with_shared(|it| it.mutters = mutters);
    let diagnostics = world.apply();
    assert_eq!(summaries(&diagnostics), "warning: Muttering\n");
    assert_eq!(diagnostics[0].detail, expected, "{fixture}");
}

const SECRETS: &str = r#"
variable "v" { ephemeral = true }
variable "url" { ephemeral = true }
variable "plain" {}
variable "hidden" {
  default   = "hidden-pass"
  sensitive = true
}
"#;

#[test]
fn parts_of_secrets_in_provider_messages_are_redacted() {
    let thing = |locals: &str, secret: &str| {
        format!(
            "{SECRETS}locals {{ {locals} }}\nresource \"test_thing\" \"a\" {{\n  name = \"a\"\n  \
             secret_wo = {secret}\n}}\n"
        )
    };
    check_muttering(
        &thing("", r#""connect-${upper(jsondecode(var.v).password)}-x""#),
        "HUNTER2-HUNTER2 refused",
        "(redacted) refused",
    );
    check_muttering(
        &thing("up = upper(jsondecode(var.v).password)", r#""connect-${local.up}-x""#),
        "HUNTER2-HUNTER2 refused",
        "(redacted) refused",
    );
    check_muttering(
        &thing(r#"up = "<${upper(jsondecode(var.v).password)}>""#, r#""connect-${local.up}-x""#),
        "HUNTER2-HUNTER2 refused",
        "(redacted) refused",
    );
    check_muttering(
        &thing("", "var.v"),
        "hunter2-hunter2 for admin-user refused",
        "(redacted) for (redacted) refused",
    );
    check_muttering(
        &thing("", r#""dsn ${var.url}""#),
        "p@ss-word is p%40ss-word",
        "(redacted) is (redacted)",
    );
}

#[test]
fn write_only_values_are_redacted_regardless_of_marks() {
    for secret in ["var.plain", "var.hidden"] {
        let config = format!(
            "{SECRETS}resource \"test_thing\" \"a\" {{\n  name = \"a\"\n  secret_wo = {secret}\n}}\n"
        );
        let (says, told) = match secret {
            "var.plain" => ("plain-pass, not hidden-pass", "(redacted), not hidden-pass"),
            _ => ("hidden-pass, not plain-pass", "(redacted), not plain-pass"),
        };
        check_muttering(&config, says, told);
    }
}

const TOLD: &str = r#"
variable "v" { ephemeral = true }
resource "test_thing" "a" {
  name      = "a"
  secret_wo = var.v
}
"#;

#[test]
fn secret_in_planned_or_read_object_is_an_error() {
    for (call, place) in [
        ("plan", "zone"),
        ("plan", "tags"),
        ("plan", "private"),
        ("read", "zone"),
        ("read", "tags"),
        ("read", "private"),
    ] {
        let mut world = world(TOLD);
        world.strict_secrets = true;
        world.set("v", "variable-canary-1");
        if call == "read" {
            assert_eq!(summaries(&world.apply()), "");
        }
        let text =
            if place == "tags" { "variable-canary-1" } else { "x: dmFyaWFibGUtY2FuYXJ5LTE=" };
        world.with_shared(|it| it.lies = vec![(call, place, text)]);
        let planned = world.plan();
        assert_eq!(
            summaries(&planned.diagnostics),
            "error: Provider returned a secret\n",
            "{call} {place}"
        );
        let detail = &planned.diagnostics[0].detail;
        assert!(detail.contains("test_thing.a"), "{detail}");
        assert!(
            detail.contains(if place == "private" { "private data" } else { place }),
            "{detail}"
        );
        assert!(!format!("{:?}", planned.plan).contains(text), "{call} {place}");
        assert!(!format!("{:?}", planned.diagnostics).contains(text));
    }
}

const WITHHELD: &str = "warning: Provider repeated a write-only value\n";

/// Lets the provider return the secret in an attribute of every created or read object.
fn repeat(shared: &mut Shared, place: &'static str) {
    shared.lies = vec![("apply", place, "variable-canary"), ("read", place, "variable-canary")];
}

#[test]
fn repeated_secret_is_withheld_and_the_object_stays_usable() {
    for place in ["note", "notes"] {
        let mut world = world(TOLD);
        world.set("v", "variable-canary");
        world.with_shared(|it| repeat(it, place));
        let diagnostics = world.apply();
        assert_eq!(summaries(&diagnostics), WITHHELD, "{place}");
        let detail = &diagnostics[0].detail;
        assert!(detail.contains(&format!("in the attribute .{place} of test_thing.a")), "{detail}");
        assert!(!finds(&state_text(&world), "variable-canary"), "{place}");
        assert!(finds(&state_text(&world), values::WITHHELD), "{place}");
        // The next plans neither warn again nor change anything.
        for _ in 0..2 {
            let planned = world.plan();
            assert_eq!(summaries(&planned.diagnostics), "", "{place}");
            assert_eq!(actions(&planned.plan), "test_thing.a NoOp\n", "{place}");
        }
        // The provider still returns the first secret when the configuration has a second one.
        world.set("v", "second-canary");
        assert_eq!(summaries(&world.plan().diagnostics), "", "{place}");
        assert_eq!(summaries(&world.apply()), "", "{place}");
        for canary in ["variable-canary", "second-canary"] {
            assert!(!finds(&state_text(&world), canary), "{place}");
        }
    }
}

#[test]
fn replacement_ends_a_withheld_value() {
    let mut world = world(
        &TOLD
            .replace("name      = \"a\"", "name      = \"a\"\n  zone      = var.zone")
            .replace("variable \"v\"", "variable \"zone\" {}\nvariable \"v\""),
    );
    world.set("v", "variable-canary").set("zone", "one");
    world.with_shared(|it| repeat(it, "note"));
    assert_eq!(summaries(&world.apply()), WITHHELD);
    world.with_shared(|it| it.lies = vec![("apply", "note", "public"), ("read", "note", "public")]);
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert!(finds(&state_text(&world), values::WITHHELD), "it may be an older secret");
    world.set("zone", "two");
    assert_eq!(summaries(&world.apply()), "");
    assert!(finds(&state_text(&world), "public") && !finds(&state_text(&world), values::WITHHELD));
}

#[test]
fn repeated_secret_of_many_objects_is_one_warning() {
    let many = TOLD
        .replace("\"a\" {\n", "\"a\" {\n  count = 3\n")
        .replace("\"a\"\n", "\"a${count.index}\"\n");
    let mut world = world(&many);
    world.set("v", "variable-canary");
    world.with_shared(|it| repeat(it, "note"));
    assert_eq!(summaries(&world.apply()), WITHHELD);
    assert!(!finds(&state_text(&world), "variable-canary"));
}

#[test]
fn expression_that_reads_a_withheld_value_is_an_error() {
    let told = |more: &str| format!("{TOLD}{more}");
    let mut world = world(TOLD);
    world.set("v", "variable-canary");
    world.with_shared(|it| repeat(it, "note"));
    assert_eq!(summaries(&world.apply()), WITHHELD);
    for (text, expected) in [
        ("output \"z\" {\n  value = test_thing.a.note\n}\n", "error: Withheld value\n"),
        ("output \"z\" {\n  value = \"is ${test_thing.a.note}\"\n}\n", "error: Withheld value\n"),
        ("output \"z\" {\n  value = try(test_thing.a.note, \"none\")\n}\n", ""),
        ("output \"z\" {\n  value = test_thing.a\n  sensitive = true\n}\n", ""),
        ("output \"z\" {\n  value = test_thing.a.name\n}\n", ""),
        (
            "resource \"test_thing\" \"b\" {\n  name = jsonencode(test_thing.a)\n}\n",
            "error: Withheld value\n",
        ),
    ] {
        world.edit("main.tf", &told(text));
        let planned = world.plan();
        assert_eq!(summaries(&planned.diagnostics), expected, "{text}");
        if let Some(found) = planned.diagnostics.first() {
            assert!(found.location.is_some(), "{text}");
        }
    }
}

#[test]
fn secret_returned_from_apply_is_not_saved() {
    for place in ["zone", "tags", "private"] {
        let mut world = world(TOLD);
        world.strict_secrets = true;
        world.set("v", "variable-canary");
        world.with_shared(|it| it.lies = vec![("apply", place, "variable-canary")]);
        let diagnostics = world.apply();
        assert_eq!(summaries(&diagnostics), "error: Provider returned a secret\n", "{place}");
        let traces = traces(&world, &diagnostics);
        assert!(!traces.contains("variable-canary"), "{place}: {traces}");
        assert!(!finds(&state_text(&world), "variable-canary"), "{place}");
        world.with_shared(|it| it.lies.clear());
        assert_eq!(
            actions(&world.plan().plan),
            "test_thing.a DeleteThenCreate (replace_because_tainted)\n",
            "{place}: nothing is lost"
        );
    }
}

#[test]
fn object_with_a_common_word_in_its_id_is_saved() {
    let mut world = world(TOLD);
    world.set("v", "playground");
    world.with_shared(|it| it.lies = vec![("apply", "id", "arn:playground:thing/1")]);
    assert_eq!(summaries(&world.apply()), "");
    assert!(finds(&state_text(&world), "arn:playground:thing/1"));
}

#[test]
fn object_with_a_secret_in_its_id_is_saved_as_tainted() {
    let mut world = world(TOLD);
    world.set("v", "Battery-staple-17");
    world.with_shared(|it| it.lies = vec![("apply", "id", "arn:Battery-staple-17/1")]);
    let diagnostics = world.apply();
    assert_eq!(summaries(&diagnostics), "error: Provider returned a secret\n");
    assert!(diagnostics[0].detail.contains("so it is saved"), "{}", diagnostics[0].detail);
    assert!(finds(&state_text(&world), "arn:Battery-staple-17/1"));
    world.with_shared(|it| it.lies.clear());
    assert_eq!(
        actions(&world.plan().plan),
        "test_thing.a DeleteThenCreate (replace_because_tainted)\n"
    );
}

#[test]
fn secret_equal_to_an_address_does_not_hide_the_address() {
    for call in ["plan", "apply"] {
        let mut world = world(TOLD);
        world.strict_secrets = true;
        world.set("v", "test_thing.a");
        world.with_shared(|it| it.lies = vec![(call, "zone", "test_thing.a")]);
        let diagnostics = world.apply();
        assert_eq!(summaries(&diagnostics), "error: Provider returned a secret\n");
        let detail = &diagnostics[0].detail;
        assert!(detail.contains("in the attribute .zone of test_thing.a "), "{detail}");
    }
}

#[test]
fn provider_may_return_a_public_value_equal_to_a_write_only_one() {
    let named = r#"
variable "v" { default = "same-for-both" }
resource "test_thing" "a" {
  name      = var.v
  secret_wo = var.v
}
"#;
    for (fixture, text) in [
        // The value is also in an attribute that is not write-only.
        (named, "id of same-for-both"),
        // The secret is too short to be searched.
        (&*TOLD.replace("var.v", "\"short77\""), "short77"),
        // The text is only a part of the secret.
        (&*TOLD.replace("var.v", "\"{\\\"engine\\\": \\\"postgresql\\\"}\""), "postgresql"),
    ] {
        let mut world = world(fixture);
        world.set("v", "same-for-both");
        world.with_shared(|it| it.lies = vec![("apply", "id", text)]);
        assert_eq!(summaries(&world.apply()), "", "{text}");
        assert_eq!(summaries(&world.apply()), "", "{text}: the state has it");
    }
}

#[test]
fn errors_about_providers_quote_no_sensitive_value() {
    let fixture = r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  zone = var.s
}
"#;
    for call in ["plan", "apply"] {
        let mut world = world(fixture);
        world.set("s", "sensitive-canary");
        world.with_shared(|it| it.lies = vec![(call, "zone", "another")]);
        let diagnostics = world.apply();
        assert_eq!(diagnostics.len(), 1, "{call}: {diagnostics:?}");
        let detail = &diagnostics[0].detail;
        assert!(!detail.contains("sensitive-canary"), "{call}: {detail}");
        assert!(detail.contains("sensitive"), "{call}: {detail}");
    }
    let mut world = world(fixture);
    world.set("s", "sensitive-canary");
    assert_eq!(summaries(&world.apply()), "");
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  zone = \"plain\"\n}\n",
    );
    world.with_shared(|it| it.lies = vec![("plan", "zone", "another")]);
    let diagnostics = world.plan().diagnostics;
    assert!(!format!("{diagnostics:?}").contains("sensitive-canary"), "{diagnostics:?}");
}

#[test]
fn errors_about_given_values_name_no_part_of_a_secret() {
    for declared in ["ephemeral = true", "sensitive = true"] {
        let mut root =
            world(&format!("variable \"v\" {{\n  type = map(number)\n  {declared}\n}}\n"));
        let wrong = values::Value::empty_tuple();
        let given = values::Value::object_from([("key-canary", wrong)]);
        root.variables.set("v", given.clone(), engine::ValueSource::CommandLine);
        let diagnostics = root.plan().diagnostics;
        assert_eq!(summaries(&diagnostics), "error: Invalid value for input variable\n");
        assert!(!format!("{diagnostics:?}").contains("key-canary"), "{diagnostics:?}");

        let mut called = world(&format!(
            "//- /main.tf\nvariable \"v\" {{}}\nmodule \"m\" {{\n  source = \"./m\"\n  v = var.v\n}}\n\
             //- /m/main.tf\nvariable \"v\" {{\n  type = map(number)\n  {declared}\n}}\n\
             resource \"test_thing\" \"a\" {{\n  name = \"a\"\n  secret_wo = jsonencode(var.v)\n}}\n"
        ));
        called.variables.set("v", given, engine::ValueSource::CommandLine);
        let diagnostics = called.plan().diagnostics;
        assert_eq!(summaries(&diagnostics), "error: Invalid value for input variable\n");
        assert!(!format!("{diagnostics:?}").contains("key-canary"), "{diagnostics:?}");
    }
}
