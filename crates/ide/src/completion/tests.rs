//! Tests of completion: helpers, a configuration to complete in, and general properties.

mod blocks;
mod expressions;

use expect_test::{Expect, expect};

use super::{Completion, CompletionKind};
use crate::fixture;

fn at_cursor(text: &str) -> (fixture::Fixture, Vec<Completion>) {
    let fixture = fixture::load(text);
    let items = crate::completions(fixture.document(), fixture.offset()).items;
    (fixture, items)
}

fn show(items: &[Completion], keep: impl Fn(&Completion) -> bool) -> String {
    let line = |it: &Completion| {
        let detail = it.detail.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
        let deprecated = if it.is_deprecated { " (deprecated)" } else { "" };
        format!("{:?} {}{detail}{deprecated}\n", it.kind, it.label)
    };
    items.iter().filter(|it| keep(it)).map(line).collect()
}

/// Compares the proposals, in order, with `expect`. Omits functions and keywords, because every expression has
/// them.
#[track_caller]
fn check(text: &str, expect: Expect) {
    let (_, items) = at_cursor(text);
    let is_special =
        |it: &Completion| !matches!(it.kind, CompletionKind::Function | CompletionKind::Keyword);
    expect.assert_eq(&show(&items, is_special));
}

/// Compares the labels of the keywords and the number of functions with `expect`.
#[track_caller]
fn check_words(text: &str, expect: Expect) {
    let (_, items) = at_cursor(text);
    let words: Vec<&str> = items
        .iter()
        .filter(|it| it.kind == CompletionKind::Keyword)
        .map(|it| it.label.as_str())
        .collect();
    let functions = items.iter().filter(|it| it.kind == CompletionKind::Function).count();
    expect.assert_eq(&format!("{}; {functions} functions\n", words.join(" ")));
}

/// Compares the text after the acceptance of a proposal with `expect`.
#[track_caller]
fn check_taken(text: &str, label: &str, expect: Expect) {
    let (fixture, items) = at_cursor(text);
    let item = items.iter().find(|it| it.label == label).expect("it is proposed");
    let mut text = fixture.document().text();
    text.replace_range(item.range.start as usize..item.range.end as usize, &item.insert);
    expect.assert_eq(&text);
}

const WORLD: &str = r#"
//- /other.tf
variable "name" {
  type        = string
  description = "What it is called."
}
variable "password" {
  type      = string
  ephemeral = true
}
variable "count_of" {
  type    = number
  default = 1
}
locals {
  size   = 3
  labels = { team = "a", cost = { center = 1 } }
}
data "test_data" "d" {
  name = "n"
}
ephemeral "test_secret" "s" {}
resource "test_thing" "one" {
  name = "n"
}
module "m" {
  source = "./child"
}
provider "test" {
  alias  = "west"
  region = "w"
}
//- /child/main.tf
variable "in" {
  type = object({ port = number, path = optional(string) })
}
variable "note" {
  type    = string
  default = ""
}
variable "key" {
  type      = string
  ephemeral = true
  sensitive = true
  default   = null
}
output "out" {
  value       = { port = var.in.port, path = "p" }
  description = "What comes out."
}
"#;

fn in_world(text: &str) -> String {
    format!("//- /main.tf\n{text}{WORLD}")
}

#[test]
fn completion_proposes_keywords_of_special_arguments() {
    check(
        &in_world("variable \"x\" {\n  type = $0\n}\n"),
        expect![[r#"
        Type any
        Type bool
        Type list
        Type map
        Type number
        Type object
        Type optional
        Type set
        Type string
        Type tuple
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  provider = $0\n}\n"),
        expect![[r#"
        Provider test.west: hashicorp/test
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  provider = test.$0\n}\n"),
        expect![[r#"
        Provider west
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  depends_on = [$0]\n}\n"),
        expect![[r#"
        Resource test_thing: 2 resources
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  depends_on = [test_thing.$0]\n}\n"),
        expect![[r#"
        Resource one
    "#]],
    );
    check(
        &in_world(
            "resource \"test_other\" \"x\" {\n  lifecycle {\n    ignore_changes = [$0]\n  }\n}\n",
        ),
        expect![[r#"
        Attribute id: string
    "#]],
    );
    check(
        &in_world(
            "resource \"test_other\" \"x\" {\n  lifecycle {\n    replace_triggered_by = [$0]\n  }\n}\n",
        ),
        expect![[r#"
        Resource test_other: 1 resource
        Resource test_thing: 1 resource
    "#]],
    );
    check(
        &in_world(
            "resource \"test_other\" \"x\" {\n  lifecycle {\n    replace_triggered_by = [test_thing.one.$0]\n  }\n}\n",
        ),
        expect![[r#"
        Attribute enabled: bool
        Attribute id: string
        Attribute limits: list(object({ cpu = number }))
        Attribute name: string
        Attribute nested: may have sensitive parts, object({ hidden = string, plain = string })
        Attribute rule: list(object({ from = string, port = number }))
        Attribute secret: sensitive, string
        Attribute size: number
        Attribute tags: map(string)
        Attribute value: string
        Attribute value_wo: string
        Attribute value_wo_version: number
        Attribute old: string (deprecated)
    "#]],
    );
}

#[test]
fn completion_limits_the_number_of_names() {
    let locals: String = (0..20_000).map(|it| format!("  name_{it} = {it}\n")).collect();
    let fixture = fixture::load(&format!(
        "locals {{\n{locals}}}\noutput \"x\" {{\n  value = local.name_1$0\n}}\n"
    ));
    let found = crate::completions(fixture.document(), fixture.offset());
    assert!(found.is_incomplete);
    assert_eq!(found.items.len(), 10_000.min(found.items.len()));
    assert!(found.items.iter().all(|it| it.label.starts_with("name_1")));
}

/// Completion must return for any prefix of a text and any cursor.
#[test]
fn completion_never_panics() {
    let text = in_world(
        "resource \"test_thing\" \"x\" {\n  name = \"a-${var.name}\"\n  rule {\n    port = [for a \
         in [1] : a + 1][0]\n  }\n  nested = { plain = upper(\"ä\") }\n}\n",
    );
    let main = text.split("//- /other.tf").next().unwrap_or_default().to_owned();
    let main = main.trim_start_matches("//- /main.tf\n");
    for end in (0..=main.len()).filter(|end| main.is_char_boundary(*end)) {
        let fixture = fixture::load(&format!("//- /main.tf\n{}", &main[..end]));
        for offset in [end, end.saturating_sub(1), end / 2] {
            let offset = offset as u32;
            crate::completions(fixture.document(), offset);
            crate::hover(fixture.document(), offset);
            crate::signature_help(fixture.document(), offset);
            let range = db::ByteRange { start: offset / 2, end: offset };
            crate::inlay_hints(fixture.document(), range);
            crate::semantic_tokens_in(fixture.document(), range);
        }
    }
}
