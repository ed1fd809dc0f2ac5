//! What is shown beside a problem, and how many of them.

use expect_test::expect;

use crate::fixture::load;

#[test]
fn problems_of_blocks_are_shown_in_their_block() {
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
fn a_file_that_is_no_configuration_has_so_many_errors_and_no_more() {
    let found = load(&"? ?\n".repeat(300)).diagnostics();
    assert_eq!(found.len(), 101);
    let last = found.last().expect("there are some");
    assert_eq!(last.summary, "Too many syntax errors");
    assert!(last.detail.starts_with("There are 200 more syntax errors"), "{}", last.detail);
}

#[test]
fn an_address_has_the_path_of_its_module_where_there_is_one() {
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
