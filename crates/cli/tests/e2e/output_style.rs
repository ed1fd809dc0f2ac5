//! The look of the output: without a terminal, on one, and in an automation.

use expect_test::expect;

use crate::{
    bench::{Bench, Run},
    watch::terminal,
};

const DEPRECATED: &str = r#"
variable "size" {
  default    = 1
  deprecated = "Use the variable instances, because this one goes away with the next version of the module."
}
"#;

/// Undoes what the other tests set for plain text.
fn styled(run: Run) -> Run {
    run.env("NO_COLOR", "").env("COLUMNS", "")
}

#[test]
fn output_without_a_terminal_has_colours_boxes_and_78_columns() {
    let bench = Bench::with_main(DEPRECATED);
    let printed = styled(bench.mayfly(".", ["plan", "-var=size=2"])).succeeds().printed();
    assert!(printed.contains("\u{1b}[33m│\u{1b}[0m \u{1b}[1;33mWarning: \u{1b}[0m"), "{printed}");
    let plain = printed.split('\u{1b}').map(|it| match it.split_once('m') {
        Some((code, rest)) if code.starts_with('[') => rest,
        _ => it,
    });
    expect![[r#"

        No changes. Your infrastructure matches the configuration.

        OpenTofu has compared your real infrastructure against your configuration and
        found no differences, so no changes are needed.
        ╷
        │ Warning: Deprecated variable used from the root module
        │
        │   on main.tf line 2:
        │    2: variable "size" {
        │
        │ The root variable "size" is deprecated with the following message: Use the
        │ variable instances, because this one goes away with the next version of the
        │ module.
        ╵
    "#]]
    .assert_eq(&plain.collect::<String>());
}

#[test]
fn columns_are_those_of_the_environment_and_plain_text_has_no_boxes() {
    let bench = Bench::with_main(DEPRECATED);
    let run = styled(bench.mayfly(".", ["plan", "-no-color", "-var=size=2"])).env("COLUMNS", "40");
    let printed = run.succeeds().printed();
    let warning = printed.split("\nWarning").nth(1).expect("is there");
    expect![[r#"
        : Deprecated variable used from the root module

          on main.tf line 2:
           2: variable "size" {

        The root variable "size" is deprecated
        with the following message: Use the
        variable instances, because this one
        goes away with the next version of the
        module.
    "#]]
    .assert_eq(warning);
}

#[test]
fn automation_gets_no_next_steps() {
    let bench = Bench::with_main("output \"a\" {\n  value = 1\n}\n");
    let automated = |command: &str| {
        bench.mayfly(".", [command]).env("TF_IN_AUTOMATION", "1").succeeds().printed()
    };
    let initialized = automated("init");
    assert!(initialized.ends_with("Mayfly has been successfully initialized!\n"), "{initialized}");
    let planned = automated("plan");
    assert!(!planned.contains("-out option"), "{planned}");
    bench.mayfly(".", ["plan"]).succeeds().shows(&["-out option"]);
}

#[test]
fn terminal_shows_how_far_an_apply_is() {
    let bench = Bench::with_main(
        "resource \"terraform_data\" \"a\" {\n  count = 4\n  provisioner \"local-exec\" {\n    \
         command = \"sleep 0.5\"\n  }\n}\n",
    );
    let Some(run) = terminal(&bench, "apply -auto-approve -parallelism=1") else { return };
    let printed = styled(run).succeeds().printed();
    assert!(printed.contains("Applying: 3 of 4 changes (75%)"), "{printed}");
    let after = printed.rsplit("Applying: ").next().expect("is there");
    assert!(after.contains("\r\u{1b}[K"), "the line goes away: {after:?}");
    assert!(after.contains("Apply complete! Resources: 4 added"), "{after:?}");
    let automated = terminal(&bench, "destroy -auto-approve -parallelism=1").expect("as before");
    let printed = styled(automated).env("TF_IN_AUTOMATION", "1").succeeds().printed();
    assert!(!printed.contains("Applying: "), "{printed}");
}
