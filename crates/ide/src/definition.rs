//! Go to definition.

use crate::{
    Document, FileRange,
    naming::{Declaration, Occurrence},
};

/// The definitions of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name under the cursor with the names that lead to it: `var.x`, even if the cursor is on `var`.
    pub name: FileRange,
    /// The declarations of the item; several if it is declared more than once.
    pub declarations: Vec<Declaration>,
}

/// Returns the declarations of the name at an offset. `None` if there is no name, or nothing declares it.
pub fn definition(document: Document<'_>, offset: u32) -> Option<Definition> {
    let tree = document.cursor(offset)?;
    let token = tree.token()?;
    let occurrence = Occurrence::at(&tree, &token)?;
    let declarations = occurrence.named.declarations(&tree);
    let name = tree.file_range(occurrence.range.cover(token.text_range()));
    (!declarations.is_empty()).then_some(Definition { name, declarations })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::definition;
    use crate::{FileRange, fixture};

    /// Shows, for each cursor, the name and its declarations: the declared name, and the first line of the whole
    /// declaration.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let mut shown = String::new();
        for &offset in &fixture.offsets {
            let Some(found) = definition(fixture.document(), offset) else {
                shown.push_str("nothing\n");
                continue;
            };
            for declaration in &found.declarations {
                let full = FileRange { range: declaration.full, ..declaration.name };
                let full = fixture.text(full).lines().next().unwrap_or_default().to_owned();
                let (name, place) = (fixture.text(found.name), fixture.show(declaration.name));
                shown.push_str(&format!("{name} -> {place} in `{full}`\n"));
            }
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn definition_finds_declarations_of_the_module() {
        check(
            r#"
variable "v" {}
locals {
  a = 1
  b = 2
}
resource "test_thing" "t" {}
data "test_data" "t" {}
ephemeral "test_secret" "t" {}
module "m" { source = "./nowhere" }
output "o" {
  value = [$0var.v, var.$0v, local.b$0, test_thing.$0t.id, $0test_thing.t, data.$0test_data.t, ephemeral.test_secret.$0t.value, module.$0m, "${var.$0v}", var.$0w]
}
"#,
            expect![[r#"
                var.v -> main.tf:2 `v` in `variable "v" {}`
                v -> main.tf:2 `v` in `variable "v" {}`
                b -> main.tf:5 `b` in `b = 2`
                t -> main.tf:7 `t` in `resource "test_thing" "t" {}`
                test_thing.t -> main.tf:7 `t` in `resource "test_thing" "t" {}`
                test_data.t -> main.tf:8 `t` in `data "test_data" "t" {}`
                t -> main.tf:9 `t` in `ephemeral "test_secret" "t" {}`
                m -> main.tf:10 `m` in `module "m" { source = "./nowhere" }`
                v -> main.tf:2 `v` in `variable "v" {}`
                nothing
            "#]],
        );
    }

    #[test]
    fn definition_lists_duplicate_declarations() {
        check(
            "//- /a.tf\nlocals {\n  a = 1\n}\n//- /b.tf\nlocals {\n  b = local.$0a\n  a = 2\n}\n",
            expect![[r#"
                a -> a.tf:2 `a` in `a = 1`
                a -> b.tf:3 `a` in `a = 2`
            "#]],
        );
    }

    #[test]
    fn definition_crosses_a_module_call() {
        check(
            r#"
//- /main.tf
module "m" {
  source = "./$0mod"
  region$0 = "a"
  nowhere$0 = "b"
  providers = {
    $0test   = test
    test.$0b = $0test.west
  }
}
provider "test" {
  alias = "west"
}
output "o" {
  value = [module.m.$0out, module.m[0].$0out, module.m[*].$0out, module.m.out.part.$0deep, module.m.$0nowhere]
}
//- /mod/a.tf
terraform {
  required_providers {
    test = {
      source                = "test"
      configuration_aliases = [test.b]
    }
  }
}
//- /mod/main.tf
variable "region" {}
locals {
  deep = { deep = 1 }
}
output "out" {
  value = { part = local.deep }
}
"#,
            expect![[r#"
                "./mod" -> mod/main.tf:1 `` in ``
                region -> mod/main.tf:1 `region` in `variable "region" {}`
                nothing
                test -> mod/a.tf:3 `test = {` in `test = {`
                b -> mod/a.tf:3 `test = {` in `test = {`
                test.west -> main.tf:11 `west` in `provider "test" {`
                out -> mod/main.tf:5 `out` in `output "out" {`
                out -> mod/main.tf:5 `out` in `output "out" {`
                out -> mod/main.tf:5 `out` in `output "out" {`
                deep -> mod/main.tf:3 `deep` in `deep`
                nothing
            "#]],
        );
    }

    #[test]
    fn definition_finds_parts_of_values() {
        check(
            r#"
variable "v" {
  type = object({ name = string, inner = optional(object({ port = number })) })
}
locals {
  one = { "two" = { three = 3 }, four = var.v }
  five = local.one
  loop = local.loop
}
resource "test_thing" "t" {
  tags = {}
  rule {}
}
output "o" {
  value = [local.one.$0two.$0three, local.five.two.$0three, local.one.four.inner.$0port, var.v.$0name, local.loop.$0x, test_thing.t.$0tags, test_thing.t[0].$0rule, test_thing.t.$0id]
}
"#,
            expect![[r#"
                two -> main.tf:6 `"two"` in `"two"`
                three -> main.tf:6 `three` in `three`
                three -> main.tf:6 `three` in `three`
                port -> main.tf:3 `port` in `port`
                name -> main.tf:3 `name` in `name`
                nothing
                tags -> main.tf:11 `tags` in `tags`
                rule -> main.tf:12 `rule` in `rule`
                nothing
            "#]],
        );
    }

    #[test]
    fn definition_finds_loop_variables() {
        check(
            r#"
locals {
  a = [for k, v in { v = 1 } : [for v in [$0v] : "${$0k}${$0v}"] if $0v > 1]
  b = <<-EOT
    %{ for one in [1] }%{ for two in [$0one] }${ $0two }%{ endfor }${ $0one }%{ endfor }${ $0one }
  EOT
}
resource "test_thing" "t" {
  for_each = {}
  dynamic "rule" {
    for_each = [$0rule, each.$0key]
    content {
      port = $0rule.value + $0each.value.x
    }
  }
  dynamic "limits" {
    for_each = []
    iterator = $0it
    content {
      cpu = $0it.$0value
    }
  }
}
resource "test_thing" "u" {
  count = 1
  value = $0count.index
  size  = self.$0value + $0self.id
}
"#,
            expect![[r#"
                v -> main.tf:3 `v` in `v`
                k -> main.tf:3 `k` in `k`
                v -> main.tf:3 `v` in `v`
                v -> main.tf:3 `v` in `v`
                one -> main.tf:5 `one` in `one`
                two -> main.tf:5 `two` in `two`
                one -> main.tf:5 `one` in `one`
                nothing
                nothing
                each.key -> main.tf:9 `for_each` in `for_each`
                rule -> main.tf:10 `rule` in `rule`
                each -> main.tf:9 `for_each` in `for_each`
                it -> main.tf:18 `it` in `it`
                it -> main.tf:18 `it` in `it`
                nothing
                count -> main.tf:25 `count` in `count`
                value -> main.tf:26 `value` in `value`
                self -> main.tf:24 `u` in `u`
            "#]],
        );
    }

    #[test]
    fn definition_resolves_references_in_meta_arguments() {
        check(
            r#"
provider "test" {
  region = "a"
}
provider "test" {
  alias = "w$0est"
}
resource "test_thing" "t" {
  provider   = test.$0west
  depends_on = [test_thing.$0u, module.$0m]
  tags       = {}
  lifecycle {
    ignore_changes       = [$0tags, value]
    replace_triggered_by = [test_thing.$0u.id]
    precondition {
      condition     = $0self.id == ""
      error_message = "${test_thing.$0u.id}"
    }
  }
}
resource "test_thing" "u" {
  provider = $0test
}
resource "test_thing" "v" {
  provider = $0other.one
}
module "m" {
  source = "./nowhere"
  providers = { test = $0test.west }
}
moved {
  from = test_thing.$0old
  to   = test_thing.$0u
}
import {
  to = test_thing.$0t
  id = "a"
}
"#,
            expect![[r#"
                west -> main.tf:6 `west` in `provider "test" {`
                west -> main.tf:6 `west` in `provider "test" {`
                u -> main.tf:21 `u` in `resource "test_thing" "u" {`
                m -> main.tf:27 `m` in `module "m" {`
                tags -> main.tf:11 `tags` in `tags`
                u -> main.tf:21 `u` in `resource "test_thing" "u" {`
                self -> main.tf:8 `t` in `t`
                u -> main.tf:21 `u` in `resource "test_thing" "u" {`
                test -> main.tf:2 `test` in `provider "test" {`
                nothing
                test.west -> main.tf:6 `west` in `provider "test" {`
                nothing
                u -> main.tf:21 `u` in `resource "test_thing" "u" {`
                t -> main.tf:8 `t` in `resource "test_thing" "t" {`
            "#]],
        );
    }

    #[test]
    fn definition_links_overrides_and_overridden_declarations() {
        check(
            r#"
//- /main.tf
locals {
  a = 1
}
resource "test_thing" "r" {
  name = local.a
}
//- /override.tf
locals {
  a = 2
}
resource "test_thing" "r" {
  name = local.$0a
}
"#,
            expect![[r#"
                a -> main.tf:2 `a` in `a = 1`
                a -> override.tf:2 `a` in `a = 2`
            "#]],
        );
    }
}
