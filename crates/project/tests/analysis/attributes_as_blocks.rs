//! Blocks where the schema has an attribute of objects are checked as blocks of a schema are.

use expect_test::expect;

use crate::fixture::check;

#[test]
fn blocks_that_stand_for_an_attribute_are_checked() {
    check(
        r#"
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
      port = rule.value.port.number
      note = rule.value
    }
  }
  dynamic "rule" {
    for_each = "text"
    content {}
  }
}
"#,
        expect![[""]],
    );
}
