//! Tests of the context and the number of diagnostics.

use expect_test::expect;

use crate::fixture::{check, load};

#[test]
fn block_errors_name_their_block() {
    let found = load(
        r#"
variable "v" {
  type = strnig
}
resource "test_thing" "a" {
  value = 1
  value = 2
  lifecycle {
    ignore_changes = value
  }
}
module "m" {
}
locals {
  a = )
}
stray = 1
"#,
    )
    .diagnostics();
    let shown: String = found
        .iter()
        .map(|it| format!("{} in {}\n", it.summary, it.context.as_deref().unwrap_or("-")))
        .collect();
    expect![[r#"
        Invalid type specification in variable "v"
        Attribute redefined in resource "test_thing" "a"
        Invalid expression in resource "test_thing" "a"
        Missing required argument in module "m"
        Invalid expression in locals
        Unsupported argument in -
    "#]]
    .assert_eq(&shown);
}

#[test]
fn syntax_errors_of_one_file_are_limited() {
    let found = load(&"? ?\n".repeat(300)).diagnostics();
    assert_eq!(found.len(), 101);
    let last = found.last().expect("there are some");
    assert_eq!(last.summary, "Too many syntax errors");
    assert!(last.detail.starts_with("There are 200 more syntax errors"), "{}", last.detail);
}

#[test]
fn diagnostic_addresses_have_a_module_path_if_it_is_unique() {
    let addresses = |calls: &str| -> Vec<Option<String>> {
        let project = load(&format!(
            r#"
//- /main.tf
{calls}
//- /a/main.tf
module "b" {{
  source = "../b"
}}
//- /b/main.tf
variable "e" {{
  default   = ""
  ephemeral = true
}}
resource "test_thing" "x" {{
  value = var.e
}}
"#
        ));
        project.diagnostics().into_iter().map(|it| it.address).collect()
    };
    let module_a = "module \"a\" {\n  source = \"./a\"\n  count  = 2\n}\n";
    let inside = "module.a.module.b.test_thing.x".to_owned();
    assert_eq!(addresses(module_a), [Some(inside)]);
    let twice = format!("{module_a}module \"b\" {{\n  source = \"./b\"\n}}\n");
    assert_eq!(addresses(&twice), [Some("test_thing.x".to_owned())]);
}

#[test]
fn provider_meta_is_checked_against_the_provider_schema() {
    check(
        r#"
terraform {
  provider_meta "test" {
    modul_name = "m"
    calls      = ["one"]
  }
}
"#,
        expect![[r#"
            main.tf:4 `modul_name` error: Unsupported argument
                An argument named "modul_name" is not expected here. Did you mean "module_name"?
            main.tf:5 `["one"]` error: Incorrect attribute value type
                Inappropriate value for attribute "calls": number required.
        "#]],
    );
    check(
        r#"
terraform {
  provider_meta "test" {
    module_name = "m"
    calls       = "1"
  }
}
"#,
        expect![[r#"
            main.tf:3 `provider_meta "test"` error: Not supported yet
                This version of Mayfly does not support "provider_meta" in the terraform block, and does not run a configuration that uses it. Nothing was done. Remove it from the configuration to continue.
        "#]],
    );
}

/// Labels do not depend on values, so their diagnostics appear together with other errors.
#[test]
fn wrong_number_of_block_labels_is_reported() {
    check(
        r#"
resource "test_thing" "a" {
  nothing = 1
  blk "label" {}
  named {}
  named "a" "b" {}
  named "right" {}
  dynamic "named" {
    for_each = [1]
    content {}
  }
  dynamic "named" {
    for_each = [1]
    labels   = ["d"]
    content {}
  }
}
"#,
        expect![[r#"
            main.tf:3 `nothing` error: Unsupported argument
                An argument named "nothing" is not expected here.
            main.tf:4 `blk "label"` error: Extraneous label for blk
                No labels are expected for blk blocks.
            main.tf:5 `named` error: Missing key for named
                All named blocks must have 1 labels (key).
            main.tf:6 `named "a" "b"` error: Extraneous label for named
                Only 1 labels (key) are expected for named blocks.
            main.tf:8 `dynamic "named"` error: Missing required argument
                The argument "labels" is required, since named blocks have a label.
        "#]],
    );
}
