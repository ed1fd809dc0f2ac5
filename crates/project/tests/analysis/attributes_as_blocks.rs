//! Tests of attributes of objects that the configuration writes as blocks: they are checked like nested blocks.

use crate::fixture::{load, render};

const RULES: &str = r#"
//- /main.tf
variable "e" {
  ephemeral = true
}
resource "test_rules" "right" {
  rule {
    port = 1
  }
  dynamic "rule" {
    for_each = [1, 2]
    content {
      port = rule.value
      note = rule.key
    }
  }
  dynamic "rule" {
    for_each = []
    content {}
  }
}
resource "test_rules" "wrong" {
  rule {
    prot = 1
  }
  rule {
    note = var.e
  }
  dynamic "rule" {
    for_each = [var.e]
    content {
      note = rule.value
    }
  }
  dynamic "rule" {
    for_each = "text"
    content {}
  }
}
"#;

#[test]
fn blocks_written_for_an_attribute_are_checked() {
    let project = load(RULES);
    let rendered = render(&project, &project.diagnostics());
    let errors: Vec<&str> = rendered.lines().filter(|it| it.contains("` error: ")).collect();
    assert_eq!(
        errors,
        [
            "main.tf:22 `prot` error: Unsupported argument",
            "main.tf:25 `var.e` error: Invalid use of an ephemeral value",
            "main.tf:30 `rule.value` error: Invalid use of an ephemeral value",
            "main.tf:34 `\"text\"` error: Invalid dynamic for_each value",
        ],
        "{rendered}"
    );
}
