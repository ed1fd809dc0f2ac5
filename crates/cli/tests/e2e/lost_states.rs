//! States that lost their content, and serials that cannot be increased.

use std::fs;

use crate::bench::Bench;

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
resource "playground_parameter" "a" {
  name  = "a"
  type  = "String"
  value = "x"
}
output "o" {
  value = "VALUE"
}
"#;

/// Creates a state that was written twice, so that it has a backup.
fn applied() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench.write("main.tf", &MAIN.replace("VALUE", "other"));
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench
}

const COMMANDS: [&[&str]; 10] = [
    &["plan"],
    &["plan", "-lock=false"],
    &["apply", "-auto-approve"],
    &["apply", "-auto-approve", "-lock=false"],
    &["destroy", "-auto-approve"],
    &["import", "playground_parameter.a", "a"],
    &["output"],
    &["show"],
    &["state", "list"],
    &["console"],
];

#[test]
fn empty_state_with_a_backup_is_an_error() {
    let bench = applied();
    let backup = bench.read("terraform.tfstate.backup");
    fs::write(bench.path("terraform.tfstate"), "").expect("is written");
    let calls = bench.ledger(".").0.len();
    for command in COMMANDS {
        let ended = bench.mayfly(".", command).fails();
        ended.shows(&[
            "Error: State file is empty",
            "terraform.tfstate has 0 bytes",
            "terraform.tfstate.backup (serial 1, 1 resource instance)",
            "cp terraform.tfstate.backup terraform.tfstate",
            "remove terraform.tfstate",
        ]);
        assert_eq!(bench.read("terraform.tfstate"), b"", "{command:?}");
        assert_eq!(bench.read("terraform.tfstate.backup"), backup, "{command:?}");
    }
    assert_eq!(bench.ledger(".").0.len(), calls, "no provider was asked for anything");
    assert!(!bench.path(".terraform.tfstate.lock.info").exists());
    // Recover by copying the backup.
    fs::copy(bench.path("terraform.tfstate.backup"), bench.path("terraform.tfstate"))
        .expect("is copied");
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).end().exits(2).lacks(&["to add"]);
    // Alternatively, remove the state file.
    fs::remove_file(bench.path("terraform.tfstate")).expect("was there");
    bench.mayfly(".", ["plan"]).succeeds().shows(&["1 to add"]);
    bench.mayfly(".", ["output"]).succeeds();
}

#[test]
fn empty_state_with_a_damaged_backup_is_an_error() {
    let bench = applied();
    fs::write(bench.path("terraform.tfstate"), "").expect("is written");
    fs::write(bench.path("terraform.tfstate.backup"), "{ cut off").expect("is written");
    bench.mayfly(".", ["apply", "-auto-approve"]).fails().shows(&[
        "Error: State file is empty",
        "terraform.tfstate.backup, which cannot be read either",
        "copy of your own",
    ]);
    // A backup at another path is found there.
    fs::rename(bench.path("terraform.tfstate.backup"), bench.path("elsewhere")).expect("is moved");
    let command = ["plan", "-backup=elsewhere"];
    let ended = bench.mayfly(".", command).end();
    if ended.code == 1 {
        ended.shows(&["elsewhere"]);
    }
}

#[test]
fn empty_state_without_a_backup_counts_as_no_state() {
    let bench = Bench::with_main(MAIN);
    for backup in [None, Some("")] {
        fs::write(bench.path("terraform.tfstate"), "").expect("is written");
        if let Some(text) = backup {
            fs::write(bench.path("terraform.tfstate.backup"), text).expect("is written");
        }
        bench.mayfly(".", ["plan"]).succeeds().shows(&["1 to add"]);
        bench.mayfly(".", ["show"]).succeeds();
    }
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&["1 added"]);
}

fn with_serial(serial: &str) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write(
        "terraform.tfstate",
        &format!(
            r#"{{"version": 4, "terraform_version": "1.12.0", "serial": {serial}, "lineage": "l", "outputs": {{}}, "resources": []}}"#
        ),
    );
    bench
}

#[test]
fn state_with_the_highest_serial_stops_every_change() {
    let bench = with_serial("18446744073709551615");
    let before = bench.read("terraform.tfstate");
    for command in [
        &["apply", "-auto-approve"][..],
        &["apply", "-auto-approve", "-lock=false"],
        &["destroy", "-auto-approve"],
        &["import", "playground_parameter.a", "a"],
    ] {
        bench.mayfly(".", command).fails().shows(&[
            "Error: State has no later serial",
            "terraform.tfstate is 18446744073709551615",
            "Nothing was done",
            "Edit \"serial\"",
        ]);
        assert_eq!(bench.read("terraform.tfstate"), before);
    }
    bench.mayfly(".", ["plan", "-out=p"]).succeeds();
    bench.mayfly(".", ["apply", "p"]).fails().shows(&["Error: State has no later serial"]);
    assert_eq!(bench.ledger(".").count("created", "playground_parameter"), 0);
}

#[test]
fn state_serials_are_parsed_as_in_opentofu() {
    for (serial, next) in [
        ("9223372036854775807", 9_223_372_036_854_775_808),
        ("9223372036854775808", 9_223_372_036_854_775_809),
        ("18446744073709551614", u64::MAX),
        ("null", 1),
    ] {
        let bench = with_serial(serial);
        bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
        assert_eq!(bench.state(".")["serial"].as_u64(), Some(next), "{serial}");
    }
    for serial in ["18446744073709551616", "-1", "-0", "1.5", "1.0", "1e3", "\"5\"", "true", "[1]"]
    {
        let bench = with_serial(serial);
        let before = bench.read("terraform.tfstate");
        bench.mayfly(".", ["apply", "-auto-approve"]).fails().shows(&[
            "Error: Unsupported state file format",
            "The \"serial\" of the state file is not a whole number from 0 to 18446744073709551615",
        ]);
        assert_eq!(bench.read("terraform.tfstate"), before, "{serial}");
    }
}
