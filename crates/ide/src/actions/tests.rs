//! Tests of every code action. Each applied quick fix must also remove its diagnostic.

mod ephemeral;
mod missing;
mod refactor;
mod remove;

use std::sync::Arc;

use addr::ProviderSource;
use db::{ByteRange, Diagnostic};
use expect_test::{Expect, expect};
use project::Configure as _;
use provider::{
    Attribute, Block, Capabilities, NestedBlock, Nesting, ProviderSchemas, Schema, SchemaTypes,
};
use sorted::SortedMap;
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
    let attribute = |ty| SortedMap::from([("size".into(), Attribute::required(ty))]);
    let inner = Block::new(attribute(Type::Bool), SortedMap::new());
    let inner = NestedBlock { min_items: 1, ..NestedBlock::new(Nesting::List, inner) };
    let outer = Block::new(attribute(Type::Number), SortedMap::from([("inner".into(), inner)]));
    let outer = NestedBlock { min_items: 1, ..NestedBlock::new(Nesting::List, outer) };
    let block = Block::new(SortedMap::new(), SortedMap::from([("outer".into(), outer)]));
    let managed = SortedMap::from([("strict_thing".into(), Arc::new(Schema::new(0, block)))]);
    let types = SchemaTypes { managed, ..SchemaTypes::default() };
    let provider = Schema::new(0, Block::default());
    let schemas = ProviderSchemas::new(provider, types, SortedMap::new(), Capabilities::default());
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
        list.iter().filter(|it| it.id() == wanted.id() && it.detail == wanted.detail).count()
    };
    let syntax = |list: &[Diagnostic]| list.iter().filter(|it| it.id() == "syntax-error").count();
    assert!(syntax(&after) <= syntax(before), "{} makes {changed}", action.title);
    if let Some(index) = action.diagnostic {
        let fixed = &before[index];
        assert!(count(&after, fixed) < count(before, fixed), "{} makes {changed}", action.title);
    }
}

#[test]
fn quick_fix_replaces_a_misspelled_name() {
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
fn quick_fix_switches_between_block_and_argument() {
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
fn quick_fix_keeps_line_endings() {
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
fn quick_fix_replaces_deprecated_syntax() {
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
