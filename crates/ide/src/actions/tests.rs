//! Tests of every code action. Each applied quick fix must also remove its diagnostic.

use std::{collections::BTreeMap, sync::Arc};

use addr::ProviderSource;
use db::{ByteRange, Diagnostic};
use expect_test::{Expect, expect};
use provider::{
    Attribute, Block, Capabilities, NestedBlock, Nesting, ProviderSchemas, Schema, SchemaTypes,
};
use values::Type;

use super::{Action, code_actions};
use crate::fixture::{self, Fixture};

/// Compares every action at the cursor or selection with `expect`: its title and the files that it changes. A
/// quick fix must remove its diagnostic.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let fixture = load(text);
    let diagnostics = fixture.project.diagnostics();
    let mut shown = String::new();
    for action in code_actions(fixture.document(), selection(&fixture), &diagnostics) {
        let star = if action.is_preferred { "*" } else { "" };
        shown.push_str(&format!("{:?}{star}: {}\n", action.kind, action.title));
        let changed = fixture.apply(&action.edits);
        verify(&fixture, &action, &changed, &diagnostics);
        shown.push_str(&changed);
    }
    expect.assert_eq(&shown.replace('\r', "␍"));
}

/// Loads a fixture with an additional provider, one of whose types requires a nested block.
fn load(text: &str) -> Fixture {
    let mut fixture = fixture::load(text);
    let attribute = |ty| BTreeMap::from([("size".into(), Attribute::required(ty))]);
    let inner = Block::new(attribute(Type::Bool), BTreeMap::new());
    let inner = NestedBlock { min_items: 1, ..NestedBlock::new(Nesting::List, inner) };
    let outer = Block::new(attribute(Type::Number), BTreeMap::from([("inner".into(), inner)]));
    let outer = NestedBlock { min_items: 1, ..NestedBlock::new(Nesting::List, outer) };
    let block = Block::new(BTreeMap::new(), BTreeMap::from([("outer".into(), outer)]));
    let managed = BTreeMap::from([("strict_thing".into(), Arc::new(Schema::new(0, block)))]);
    let types = SchemaTypes { managed, ..SchemaTypes::default() };
    let provider = Schema::new(0, Block::default());
    let schemas = ProviderSchemas::new(provider, types, BTreeMap::new(), Capabilities::default());
    fixture.project.set_schemas(ProviderSource::implied_for("strict"), Arc::new(schemas));
    fixture
}

fn selection(fixture: &Fixture) -> ByteRange {
    match fixture.offsets.as_slice() {
        [at] => ByteRange { start: *at, end: *at },
        [start, end] => ByteRange { start: *start, end: *end },
        offsets => panic!("{} cursors", offsets.len()),
    }
}

/// Asserts that the changed files have no syntax errors and that the diagnostic that the action fixes is gone.
#[track_caller]
fn verify(fixture: &Fixture, action: &Action, changed: &str, before: &[Diagnostic]) {
    let mut files = fixture.files();
    for (path, text) in db::fixture::split_fixture(changed) {
        files.insert(path, text);
    }
    let whole: String = files.iter().map(|(path, text)| format!("//- /{path}\n{text}")).collect();
    let after = load(&whole).project.diagnostics();
    let count = |list: &[Diagnostic], wanted: &Diagnostic| {
        list.iter().filter(|it| it.id == wanted.id && it.detail == wanted.detail).count()
    };
    let syntax = |list: &[Diagnostic]| list.iter().filter(|it| it.id == "syntax-error").count();
    assert!(syntax(&after) <= syntax(before), "{} makes {changed}", action.title);
    if let Some(index) = action.mends {
        let mended = &before[index];
        assert!(count(&after, mended) < count(before, mended), "{} makes {changed}", action.title);
    }
}

#[test]
fn names_that_are_meant() {
    check(
        "variable \"region\" {}\noutput \"o\" {\n  value = var.re$0gon\n}\n",
        expect![[r#"
        QuickFix*: Change to "region"
        //- /main.tf
        variable "region" {}
        output "o" {
          value = var.region
        }
        QuickFix: Declare variable "regon"
        //- /main.tf
        variable "region" {}
        output "o" {
          value = var.regon
        }

        variable "regon" {}
    "#]],
    );
    check(
        "locals {\n  name = 1\n  b = local.$0nam\n}\n",
        expect![[r#"
        QuickFix*: Change to "name"
        //- /main.tf
        locals {
          name = 1
          b = local.name
        }
        QuickFix: Declare local "nam"
        //- /main.tf
        locals {
          name = 1
          b   = local.nam
          nam = null
        }
    "#]],
    );
    check(
        "locals {\n  a = low$0r(uppr(lower(\"x\")))\n}\n",
        expect![[r#"
        QuickFix*: Change to "lower"
        //- /main.tf
        locals {
          a = lower(uppr(lower("x")))
        }
    "#]],
    );
    check(
        "variable \"a\" {\n  type = strin$0g1\n}\n",
        expect![[r#"
        QuickFix*: Change to "string"
        //- /main.tf
        variable "a" {
          type = string
        }
    "#]],
    );
    check(
        "resource \"test_thin$0\" \"a\" {}\n",
        expect![[r#"
        QuickFix*: Change to "test_thing"
        //- /main.tf
        resource "test_thing" "a" {}
    "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  name = \"\"\n  valu$0 = 1\n}\n",
        expect![[r#"
            QuickFix*: Change to "value"
            //- /main.tf
            resource "test_thing" "a" {
              name = ""
              value = 1
            }
            QuickFix: Remove argument "valu"
            //- /main.tf
            resource "test_thing" "a" {
              name = ""
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  name = \"\"\n  limit$0 {\n  }\n}\n",
        expect![[r#"
            QuickFix*: Change to "limits"
            //- /main.tf
            resource "test_thing" "a" {
              name = ""
              limits {
              }
            }
            QuickFix: Remove block "limit"
            //- /main.tf
            resource "test_thing" "a" {
              name = ""
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  name = \"\"\n}\noutput \"o\" {\n  value = test_thing.a.i$0dd\n}\n",
        expect![[r#"
        QuickFix*: Change to "id"
        //- /main.tf
        resource "test_thing" "a" {
          name = ""
        }
        output "o" {
          value = test_thing.a.id
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"abc\" {\n  name = \"\"\n}\noutput \"o\" {\n  value = test_thing.$0abd.id\n}\n",
        expect![[r#"
        QuickFix*: Change to "abc"
        //- /main.tf
        resource "test_thing" "abc" {
          name = ""
        }
        output "o" {
          value = test_thing.abc.id
        }
    "#]],
    );
    check(
        "locals {\n  a = 1\n}\noutput \"o\" {\n  value = loca$0.a\n}\n",
        expect![[r#"
        QuickFix*: Change to "local.a"
        //- /main.tf
        locals {
          a = 1
        }
        output "o" {
          value = local.a
        }
    "#]],
    );
    check(
        "resourc$0 \"test_thing\" \"a\" {\n  name = \"\"\n}\n",
        expect![[r#"
        QuickFix*: Change to "resource"
        //- /main.tf
        resource "test_thing" "a" {
          name = ""
        }
        QuickFix: Remove block "resourc"
        //- /main.tf
    "#]],
    );
}

#[test]
fn ephemeral_values_in_outputs() {
    let text = r#"
//- /main.tf
module "m" {
  source = "./mod"
}
//- /mod/main.tf
variable "secret" {
  type      = string
  default   = null
  ephemeral = true
}
output "o" {
  description = "x"
  value       = var.s$0ecret
}
"#;
    check(
        text,
        expect![[r#"
        QuickFix*: Declare the output as ephemeral
        //- /mod/main.tf
        variable "secret" {
          type      = string
          default   = null
          ephemeral = true
        }
        output "o" {
          description = "x"
          value       = var.secret
          ephemeral   = true
        }
        QuickFix: Replace ephemeral parts by null with ephemeralasnull()
        //- /mod/main.tf
        variable "secret" {
          type      = string
          default   = null
          ephemeral = true
        }
        output "o" {
          description = "x"
          value       = ephemeralasnull(var.secret)
        }
    "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\noutput \"o\" {\n  value = ephemeral.test_secret.s.va$0lue\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            output "o" {
              value = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\noutput$0 \"o\" {\n  value     = \
         ephemeral.test_secret.s.value\n  ephemeral = true\n}\n",
        expect![[r#"
            QuickFix: Keep what is not ephemeral with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            output "o" {
              value     = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn ephemeral_values_for_variables() {
    check(
        r#"
//- /main.tf
ephemeral "test_secret" "s" {}
module "m" {
  source = "./mod"
  secret = ephemeral.test_secret.s.va$0lue
}
//- /mod/main.tf
variable "secret" { type = string }
"#,
        expect![[r#"
            QuickFix*: Declare variable "secret" as ephemeral
            //- /mod/main.tf
            variable "secret" {
              type = string
              ephemeral = true
            }
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            module "m" {
              source = "./mod"
              secret = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn ephemeral_values_in_arguments() {
    check(
        r#"
ephemeral "test_secret" "s" {}
resource "test_thing" "t" {
  name    = "x"
  enabled = true
  value   = ephemeral.test_secret.s.val$0ue
}
"#,
        expect![[r#"
            QuickFix*: Use the write-only argument "value_wo"
            //- /main.tf

            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name             = "x"
              enabled          = true
              value_wo         = ephemeral.test_secret.s.value
              value_wo_version = 1
            }
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf

            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name    = "x"
              enabled = true
              value   = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = \
         ephemeral.test_secret.s.val$0ue\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn secrets_inside_of_texts() {
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = \
         \"a-${ephemeral.test_secret.s.val$0ue}\"\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull("a-${ephemeral.test_secret.s.value}")
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = <<EOT\na \
         ${ephemeral.test_secret.s.val$0ue}\nEOT\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull(<<EOT
            a ${ephemeral.test_secret.s.value}
            EOT
            )
            }
        "#]],
    );
}

#[test]
fn secrets_that_are_written_down() {
    check(
        "# about\nresource \"test_thing\" \"t\" {\n  name     = \"x\"\n  value_wo = \"hun$0ter2\"\n}\n",
        expect![[r#"
            QuickFix*: Take it from the ephemeral variable "value"
            //- /main.tf
            variable "value" {
              type      = string
              ephemeral = true
            }

            # about
            resource "test_thing" "t" {
              name     = "x"
              value_wo = var.value
            }
        "#]],
    );
}

#[test]
fn sensitive_outputs() {
    check(
        "variable \"v\" {\n  sensitive = true\n}\noutput \"o\" {\n  value     = var.$0v\n  \
         sensitive = false # not yet\n}\n",
        expect![[r#"
            QuickFix*: Declare the output as sensitive
            //- /main.tf
            variable "v" {
              sensitive = true
            }
            output "o" {
              value     = var.v
              sensitive = true # not yet
            }
        "#]],
    );
    check(
        "variable \"v\" {\n  sensitive = true\n}\noutput \"o\" { value = var.$0v }\n",
        expect![[r#"
            QuickFix*: Declare the output as sensitive
            //- /main.tf
            variable "v" {
              sensitive = true
            }
            output "o" {
              value = var.v
              sensitive = true
            }
        "#]],
    );
}

#[test]
fn what_is_not_declared() {
    check(
        "resource \"test_thing\" \"t\" {\n  name = var.na$0me\n}\nlocals {}\n",
        expect![[r#"
            QuickFix: Declare variable "name"
            //- /main.tf
            resource "test_thing" "t" {
              name = var.name
            }

            variable "name" {
              type = string
            }

            locals {}
        "#]],
    );
    check(
        "//- /main.tf\nlocals {\n  a = \"x${var.na$0me}\"\n}\n//- /variables.tf\nvariable \"x\" {}\n",
        expect![[r#"
        QuickFix: Declare variable "name"
        //- /variables.tf
        variable "x" {}

        variable "name" {
          type = string
        }
    "#]],
    );
    check(
        "locals {\n  long_one = local.oth$0er\n}\n",
        expect![[r#"
        QuickFix: Declare local "other"
        //- /main.tf
        locals {
          long_one = local.other
          other    = null
        }
    "#]],
    );
    check(
        "output \"o\" {\n  value = [for x in local.oth$0er : x]\n}\n",
        expect![[r#"
        QuickFix: Declare local "other"
        //- /main.tf
        output "o" {
          value = [for x in local.other : x]
        }

        locals {
          other = null
        }
    "#]],
    );
    check(
        r#"
//- /main.tf
module "m" {
  source = "./mod"
}
output "o" {
  value = module.m.re$0sult
}
//- /mod/main.tf
locals {}
"#,
        expect![[r#"
            QuickFix: Declare output "result" in the module
            //- /mod/main.tf
            locals {}

            output "result" {
              value = null
            }
        "#]],
    );
    check(
        r#"
//- /main.tf
module "m" {
  source = "./mod"
  re$0gion = "x"
}
//- /mod/main.tf
locals {}
"#,
        expect![[r#"
            QuickFix: Declare variable "region" in the module
            //- /mod/main.tf
            locals {}

            variable "region" {}
            QuickFix: Remove argument "region"
            //- /main.tf
            module "m" {
              source = "./mod"
            }
        "#]],
    );
}

#[test]
fn what_is_missing() {
    check(
        "resource$0 \"test_thing\" \"t\" {}\n",
        expect![[r#"
        QuickFix*: Add argument "name"
        //- /main.tf
        resource "test_thing" "t" {
          name = ""
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  rule$0 {\n    from = \"a\" # why\n  }\n}\n",
        expect![[r#"
            QuickFix*: Add argument "port"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              rule {
                from = "a" # why
                port = 0
              }
            }
        "#]],
    );
    check(
        "output$0 \"o\" {\n  # nothing yet\n}\n",
        expect![[r#"
        QuickFix*: Add argument "value"
        //- /main.tf
        output "o" {
          value = null
          # nothing yet
        }
    "#]],
    );
    check(
        "//- /main.tf\nmod$0ule \"m\" { source = \"./mod\" }\n//- /mod/main.tf\nvariable \"one\" \
         {\n  type = list(string)\n}\n",
        expect![[r#"
            QuickFix*: Add argument "one"
            //- /main.tf
            module "m" {
              source = "./mod"
              one = []
            }
        "#]],
    );
    check(
        "provider$0 \"test\" {\n  token = \"x\"\n\n  # end\n}\n",
        expect![[r#"
        QuickFix*: Add argument "region"
        //- /main.tf
        provider "test" {
          token  = "x"
          region = ""

          # end
        }
    "#]],
    );
}

#[test]
fn blocks_that_are_missing() {
    check(
        "resource$0 \"strict_thing\" \"t\" {}\n",
        expect![[r#"
        QuickFix*: Add block "outer"
        //- /main.tf
        resource "strict_thing" "t" {
          outer {
            size = 0
            inner {
              size = false
            }
          }
        }
    "#]],
    );
    check(
        "resource$0 \"strict_thing\" \"t\" {\n  count = 1\n  # end\n}\n",
        expect![[r#"
        QuickFix*: Add block "outer"
        //- /main.tf
        resource "strict_thing" "t" {
          count = 1

          outer {
            size = 0
            inner {
              size = false
            }
          }
          # end
        }
    "#]],
    );
}

#[test]
fn blocks_and_arguments_are_written_differently() {
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  tags$0 {\n    a = 1\n  }\n}\n",
        expect![[r#"
            QuickFix*: Make it an argument
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              tags = {
                a = 1
              }
            }
            QuickFix: Remove block "tags"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  limits$0 = {\n    cpu = 1\n  }\n}\n",
        expect![[r#"
            QuickFix*: Make it a block
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              limits {
                cpu = 1
              }
            }
            QuickFix: Remove argument "limits"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  rule$0 = { port = 1, from = \"a\" }\n}\n",
        expect![[r#"
            QuickFix: Remove argument "rule"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
            }
        "#]],
    );
}

#[test]
fn a_configuration_that_is_not_there() {
    check(
        "resource \"test_thing\" \"t\" {\n  name     = \"x\"\n  provider = test.we$0st\n}\n",
        expect![[r#"
            QuickFix: Declare provider configuration "test.west"
            //- /main.tf
            resource "test_thing" "t" {
              name     = "x"
              provider = test.west
            }

            provider "test" {
              alias = "west"
            }
        "#]],
    );
}

#[test]
fn everything_that_is_missing_at_once() {
    check(
        "//- /main.tf\nmod$0ule \"m\" {\n  source = \"./mod\"\n}\n//- /mod/main.tf\nvariable \
         \"one\" {\n  type = list(string)\n}\nvariable \"long_two\" {\n  type = object({ a = \
         number, b = optional(string) })\n}\n",
        expect![[r#"
            QuickFix*: Add argument "long_two"
            //- /main.tf
            module "m" {
              source   = "./mod"
              long_two = { a = 0 }
            }
            QuickFix*: Add argument "one"
            //- /main.tf
            module "m" {
              source = "./mod"
              one    = []
            }
            QuickFix: Add all 2 missing arguments
            //- /main.tf
            module "m" {
              source   = "./mod"
              long_two = { a = 0 }
              one      = []
            }
        "#]],
    );
}

#[test]
fn lines_end_as_they_do() {
    check(
        "locals {\r\n  a = 1\r\n  b = local.$0c\r\n}\r\n",
        expect![[r#"
        QuickFix*: Change to "a"
        //- /main.tf
        locals {␍
          a = 1␍
          b = local.a␍
        }␍
        QuickFix: Declare local "c"
        //- /main.tf
        locals {␍
          a = 1␍
          b = local.c␍
          c = null␍
        }␍
    "#]],
    );
}

#[test]
fn what_need_not_be_there() {
    check(
        "locals {\n  a = 1\n  b = 2\n}\nlocals {\n  a$0 = 3 # again\n}\n",
        expect![[r#"
        QuickFix: Remove this declaration
        //- /main.tf
        locals {
          a = 1
          b = 2
        }
        locals {
        }
    "#]],
    );
    check(
        "variable \"a\" {}\n\nvariable$0 \"a\" {}\n",
        expect![[r#"
        QuickFix: Remove this declaration
        //- /main.tf
        variable "a" {}
    "#]],
    );
    check(
        "output \"o\" {\n  value = 1\n  nothing$0 = 2\n}\n",
        expect![[r#"
            QuickFix: Remove argument "nothing"
            //- /main.tf
            output "o" {
              value = 1
            }
        "#]],
    );
    check(
        "locals {\n  a = 1\n  a$0 = 2\n}\n",
        expect![[r#"
        QuickFix: Remove argument "a"
        //- /main.tf
        locals {
          a = 1
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  lifecycle {}\n  lifecy$0cle {}\n}\n",
        expect![[r#"
            QuickFix: Remove block "lifecycle"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              lifecycle {}
            }
        "#]],
    );
}

#[test]
fn what_the_language_refuses_can_be_taken_out() {
    check(
        "provider \"test\" {\n  region  = \"\"\n  version$0 = \"1\"\n}\n",
        expect![[r#"
        QuickFix: Remove argument "version"
        //- /main.tf
        provider "test" {
          region  = ""
        }
    "#]],
    );
    check(
        "provider \"test\" {\n  region = \"\"\n  count$0  = 1\n}\n",
        expect![[r#"
        QuickFix: Remove argument "count"
        //- /main.tf
        provider "test" {
          region = ""
        }
    "#]],
    );
    check(
        "//- /main.tf\nmodule \"m\" {\n  source  = \"./mod\"\n  version = \"$01\"\n}\n//- /mod/main.tf\nlocals {}\n",
        expect![[r#"
            QuickFix: Remove argument "version"
            //- /main.tf
            module "m" {
              source  = "./mod"
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {\n  lifecycle {\n    ignore_changes$0 = all\n  }\n  \
         provisioner \"local-exec\" {}\n}\n",
        expect![[r#"
            QuickFix: Remove argument "ignore_changes"
            //- /main.tf
            ephemeral "test_secret" "s" {
              lifecycle {
              }
              provisioner "local-exec" {}
            }
        "#]],
    );
    check(
        "data \"test_data\" \"d\" {\n  name = \"x\"\n  lifecycle {\n    prevent_destroy$0 = true\n  }\n}\n",
        expect![[r#"
            QuickFix: Remove argument "prevent_destroy"
            //- /main.tf
            data "test_data" "d" {
              name = "x"
              lifecycle {
              }
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {\n  provision$0er \"local-exec\" {}\n}\n",
        expect![[r#"
            QuickFix: Remove block "provisioner"
            //- /main.tf
            ephemeral "test_secret" "s" {
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n\n  limits {}\n\n  lim$0its {}\n}\n",
        expect![[r#"
            QuickFix: Remove block "limits"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"

              limits {}
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  dynamic \"limits\" {\n    for_each = \
         []\n    content {}\n    cont$0ent {}\n  }\n}\n",
        expect![[r#"
            QuickFix: Remove block "content"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              dynamic "limits" {
                for_each = []
                content {}
              }
            }
        "#]],
    );
}

#[test]
fn an_expression_gets_a_name() {
    check(
        "# about\nresource \"test_thing\" \"t\" {\n  name  = $0\"a-${local.b}\"$0\n}\nlocals {\n  b = 1\n}\n",
        expect![[r#"
            Extract: Extract to local.name
            //- /main.tf
            # about
            resource "test_thing" "t" {
              name  = local.name
            }
            locals {
              b    = 1
              name = "a-${local.b}"
            }
        "#]],
    );
    check(
        "# about\nresource \"test_thing\" \"t\" {\n  name = $0\"a\"$0\n}\n",
        expect![[r#"
        Extract: Extract to local.name
        //- /main.tf
        locals {
          name = "a"
        }

        # about
        resource "test_thing" "t" {
          name = local.name
        }
        Extract: Extract to var.name
        //- /main.tf
        variable "name" {
          type    = string
          default = "a"
        }

        # about
        resource "test_thing" "t" {
          name = var.name
        }
    "#]],
    );
    check("output \"o\" {\n  value = [for x in [1] : $0x + 1$0]\n}\n", expect![[""]]);
    check(
        "output \"o\" {\n  value = $0[for x in [1] : x + 1]$0\n}\n",
        expect![[r#"
        Extract: Extract to local.value
        //- /main.tf
        locals {
          value = [for x in [1] : x + 1]
        }

        output "o" {
          value = local.value
        }
        Extract: Extract to var.value
        //- /main.tf
        variable "value" {
          default = [for x in [1] : x + 1]
        }

        output "o" {
          value = var.value
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  count = 1\n  name  = $0\"${count.index}\"$0\n}\n",
        expect![[r#"
        Rewrite: Use the expression without a template
        //- /main.tf
        resource "test_thing" "t" {
          count = 1
          name  = count.index
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name     = \"x\"\n  value_wo = $0\"y\"$0\n}\n",
        expect![[r#"
            QuickFix*: Take it from the ephemeral variable "value"
            //- /main.tf
            variable "value" {
              type      = string
              ephemeral = true
            }

            resource "test_thing" "t" {
              name     = "x"
              value_wo = var.value
            }
            Extract: Extract to local.value_wo
            //- /main.tf
            locals {
              value_wo = "y"
            }

            resource "test_thing" "t" {
              name     = "x"
              value_wo = local.value_wo
            }
        "#]],
    );
    check("variable \"v\" {\n  default = $01$0\n}\n", expect![[""]]);
    check("locals {\n  a = 1 $0+$0 2\n}\n", expect![[""]]);
}

#[test]
fn a_local_is_put_where_it_is_used() {
    check(
        "locals {\n  a = 1 + 2\n  b = [local.$0a, local.a * 2, \"${local.a}\"]\n}\n",
        expect![[r#"
            Inline: Inline local.a in all 3 places
            //- /main.tf
            locals {
              b = [1 + 2, (1 + 2) * 2, "${1 + 2}"]
            }
        "#]],
    );
    check(
        "//- /a.tf\nlocals {\n  a$0 = { b = 1 }\n}\n//- /b.tf\nlocals {\n  c = local.a.b\n  d = !local.a\n}\n",
        expect![[r#"
            Inline: Inline local.a in all 2 places
            //- /a.tf
            //- /b.tf
            locals {
              c = ({ b = 1 }).b
              d = !{ b = 1 }
            }
        "#]],
    );
    check("locals {\n  a = x.y\n  b = [for x in [1] : local.$0a]\n}\n", expect![[""]]);
    check("locals {\n  a$0 = local.a\n}\n", expect![[""]]);
    check("locals {\n  a$0 = 1\n}\n", expect![[""]]);
}

#[test]
fn old_ways_to_say_something() {
    check(
        "variable \"v\" {\n  type = \"st$0ring\"\n}\n",
        expect![[r#"
        QuickFix*: Remove the quotes
        //- /main.tf
        variable "v" {
          type = string
        }
    "#]],
    );
    check(
        "variable \"v\" {\n  type = \"li$0st\"\n}\n",
        expect![[r#"
        QuickFix*: Remove the quotes
        //- /main.tf
        variable "v" {
          type = list(string)
        }
    "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name       = \"x\"\n  depends_on = \
         [\"local.$0a\"]\n}\nlocals {\n  a = 1\n}\n",
        expect![[r#"
            QuickFix*: Remove the quotes
            //- /main.tf
            resource "test_thing" "t" {
              name       = "x"
              depends_on = [local.a]
            }
            locals {
              a = 1
            }
        "#]],
    );
    check(
        "locals {\n  a = 1\n  b = \"$0${local.a}\"\n}\n",
        expect![[r#"
        Rewrite: Use the expression without a template
        //- /main.tf
        locals {
          a = 1
          b = local.a
        }
    "#]],
    );
    check(
        "locals {\n  a = 1\n  b = { \"$0${local.a}\" = 1 }\n}\n",
        expect![[r#"
        Rewrite: Use the expression without a template
        //- /main.tf
        locals {
          a = 1
          b = { (local.a) = 1 }
        }
    "#]],
    );
    check(
        "locals {\n  a = 1\n  b = 2 * \"$0${local.a + 1}\"\n  c = 1\n}\n",
        expect![[r#"
        Rewrite: Use the expression without a template
        //- /main.tf
        locals {
          a = 1
          b = 2 * (local.a + 1)
          c = 1
        }
    "#]],
    );
}
