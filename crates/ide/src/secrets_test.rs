//! Tests that no answer shows a secret of the configuration, at any offset.

use crate::fixture;

/// Every way in which the configuration can mark a value as a secret.
const SECRETS: &str = r#"
variable "sensitive" {
  type      = object({ a = string })
  default   = { a = "hunter2" }
  sensitive = true
}
variable "ephemeral" {
  default   = "hunter2"
  ephemeral = true
}
locals {
  whole = sensitive("hunter2")
  part  = { plain = 1, hidden = sensitive("hunter2"), list = [sensitive("hunter2"), "x"] }
  loop  = [for k, v in sensitive(["hunter2"]) : { key = k, value = v }]
  text  = "x-${local.whole}"
  keys  = { for k, v in { a = sensitive("hunter2") } : k => upper(v) }
  both  = true ? local.part.hidden : var.ephemeral
  tried = try(local.part.hidden, "x")
  elem  = local.part.list[0]
  splat = [{ a = sensitive("hunter2") }][*].a
  many  = sensitive([{ a = "hunter2" }])[*].a
  words = "%{ for it in sensitive(["hunter2"]) }${it}%{ endfor }"
}
locals {
  whole_of_loop = { for it in [sensitive("hunter2")] : "x" => it }
}
resource "other_thing" "b" {
  for_each = sensitive({ x = { y = "hunter2" } })
  name     = each.value.y
  dynamic "rule" {
    for_each = sensitive(["hunter2"])
    content {
      port = rule.value
    }
  }
}
resource "test_thing" "a" {
  for_each = { x = sensitive("hunter2") }
  name     = each.value
  value_wo = local.whole
  nested   = { hidden = local.part.hidden }
  dynamic "rule" {
    for_each = sensitive(["hunter2"])
    content {
      port = rule.value
    }
  }
}
module "m" {
  source = "./m"
  key    = local.whole
}
output "o" {
  value     = module.m.out
  sensitive = true
}
//- /m/main.tf
variable "key" {
  sensitive = true
  default   = "hunter2"
}
output "out" {
  value     = var.key
  sensitive = true
}
"#;

#[test]
fn editor_features_show_no_secret() {
    let fixture = fixture::load(&format!("//- /main.tf{SECRETS}"));
    let document = fixture.document();
    let length = document.text().len() as u32;
    let check = |text: &str, offset: u32| assert!(!text.contains("hunter2"), "{offset}: {text}");
    // Also finds the secret in upper case, from functions such as `upper`.
    for offset in 0..=length {
        if let Some(hover) = crate::hover(document, offset) {
            check(&hover.markdown.to_lowercase(), offset);
        }
        for item in crate::completions(document, offset).items {
            check(&format!("{item:?}").to_lowercase(), offset);
        }
    }
    for hint in crate::inlay_hints(document, db::ByteRange { start: 0, end: length }) {
        check(&format!("{hint:?}").to_lowercase(), hint.offset);
    }
}

/// A value whose marks are not decided yet may become a secret, and a value that a secret selects is a secret.
#[test]
fn possibly_secret_values_are_not_shown() {
    let cases = [
        r#"variable "v" { sensitive = local.unknown, default = "hunter2" }"#.replace(", ", "\n"),
        r#"variable "v" { ephemeral = 1 == 1, default = "hunter2" }"#.replace(", ", "\n"),
        r#"locals { v = sensitive(true) ? "hunter2" : "b" }"#.to_owned(),
        r#"locals { v = [for k in sensitive(["hunter2"]) : k] }"#.to_owned(),
    ];
    for case in cases {
        let text = format!("//- /main.tf\n{}\n", case.replace("{ ", "{\n").replace(" }", "\n}"));
        let text = format!("{text}output \"o\" {{\n  value = [var.v, local.v]\n}}\n");
        let fixture = fixture::load(&text);
        let document = fixture.document();
        let shown = (0..=document.text().len() as u32)
            .filter_map(|offset| crate::hover(document, offset))
            .map(|hover| hover.markdown)
            .collect::<Vec<_>>();
        assert!(!shown.is_empty(), "{text}");
        let leaks = shown.iter().filter(|it| it.contains("hunter2")).collect::<Vec<_>>();
        assert!(leaks.is_empty(), "{text}: {leaks:?}");
    }
}
