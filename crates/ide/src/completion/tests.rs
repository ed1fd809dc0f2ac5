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
fn types_of_blocks() {
    check(
        "$0",
        expect![[r#"
        Block resource
        Block data
        Block ephemeral
        Block module
        Block provider
        Block variable
        Block output
        Block locals
        Block terraform
        Block check
    "#]],
    );
    check_taken(
        "$0",
        "resource",
        expect![[r#"
        resource "${1:type}" "${2:name}" {
          $0
        }"#]],
    );
    check_taken(
        "locals {}\n\nvar$0\n",
        "variable",
        expect![[r#"
        locals {}

        variable "${1:name}" {
          $0
        }
    "#]],
    );
    check_taken(
        "vari$0 \"x\" {}\n",
        "variable",
        expect![[r#"
        variable "x" {}
    "#]],
    );
}

#[test]
fn labels() {
    check(
        "resource \"$0\" \"x\" {}\n",
        expect![[r#"
        Type test_other: hashicorp/test
        Type test_thing: hashicorp/test
    "#]],
    );
    check(
        "resource \"test_$0\n",
        expect![[r#"
        Type test_other: hashicorp/test
        Type test_thing: hashicorp/test
    "#]],
    );
    check_taken(
        "resource \"test_t$0\" \"x\" {}\n",
        "test_thing",
        expect![[r#"
        resource "test_thing" "x" {}
    "#]],
    );
    check(
        "data \"$0\" {\n}\n",
        expect![[r#"
        Type test_data: hashicorp/test
    "#]],
    );
    check(
        "ephemeral \"$0\n\nlocals {}\n",
        expect![[r#"
        Type test_secret: hashicorp/test
    "#]],
    );
    check(
        "provider \"$0\" {}\n",
        expect![[r#"
        Provider test: hashicorp/test
    "#]],
    );
    check("resource \"test_thing\" \"$0\" {}\n", expect![[""]]);
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"$0\" {}\n}\n",
        expect![[r#"
        Block limits
        Block rule
    "#]],
    );
}

#[test]
fn arguments_of_a_resource() {
    check(
        "resource \"test_thing\" \"x\" {\n  $0\n}\n",
        expect![[r#"
        Argument name: required, string
        Argument enabled: bool
        Block limits: block
        Argument nested: object({ hidden = optional(string), plain = optional(string)…
        Block rule: block
        Argument size: number
        Argument tags: map(string)
        Argument value: string
        Argument value_wo: write-only: may be ephemeral, is not stored, string
        Argument value_wo_version: number
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument provider: provider reference
        Block connection: block
        Block dynamic: block
        Block lifecycle: block
        Block provisioner: block
        Argument old: string (deprecated)
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  name = \"\"\n  lifecycle {}\n  limits {}\n  va$0\n}\n",
        expect![[r#"
        Argument enabled: bool
        Argument nested: object({ hidden = optional(string), plain = optional(string)…
        Block rule: block
        Argument size: number
        Argument tags: map(string)
        Argument value: string
        Argument value_wo: write-only: may be ephemeral, is not stored, string
        Argument value_wo_version: number
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument provider: provider reference
        Block connection: block
        Block dynamic: block
        Block provisioner: block
        Argument old: string (deprecated)
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  rule {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument port: required, number
        Argument from: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"rule\" {\n    for_each = []\n    content {\n      \
         $0\n    }\n  }\n}\n",
        expect![[r#"
        Argument port: required, number
        Argument from: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"rule\" {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument for_each: required, any
        Argument iterator: any
        Argument labels: list(string)
        Block content: block
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  nested = {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument hidden: sensitive, string
        Argument plain: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  provisioner \"local-exec\" {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument command: required, string
        Argument environment: map(string)
        Argument interpreter: list(string)
        Argument on_failure: continue | fail
        Argument quiet: bool
        Argument when: create | destroy
        Argument working_dir: string
        Block connection: block
    "#]],
    );
}

#[test]
fn what_is_put_in() {
    check_taken(
        "resource \"test_thing\" \"x\" {\n  na$0\n}\n",
        "name",
        expect![[r#"
        resource "test_thing" "x" {
          name = 
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  na$0 = 1\n}\n",
        "name",
        expect![[r#"
        resource "test_thing" "x" {
          name = 1
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  ru$0\n}\n",
        "rule",
        expect![[r#"
        resource "test_thing" "x" {
          rule {
          port = $1
          $0
        }
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  dyn$0\n}\n",
        "dynamic",
        expect![[r#"
        resource "test_thing" "x" {
          dynamic "${1:block_type}" {
          for_each = $2
          content {
            $0
          }
        }
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = up$0\n}\n",
        "upper",
        expect![[r#"
        locals {
          a = upper($0)
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = up$0(\"x\")\n}\n",
        "upper",
        expect![[r#"
        locals {
          a = upper("x")
        }
    "#]],
    );
    check_taken(
        "variable \"x\" {\n  type = li$0\n}\n",
        "list",
        expect![[r#"
        variable "x" {
          type = list(${1:string})
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = convert([], li$0)\n}\n",
        "list",
        expect![[r#"
        locals {
          a = convert([], list(${1:string}))
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = convert({}, object({ b = $0 }))\n}\n",
        "optional",
        expect![[r#"
        locals {
          a = convert({}, object({ b = optional(${1:string}) }))
        }
    "#]],
    );
}

#[test]
fn blocks_that_are_not_closed() {
    check(
        "variable \"x\" {\n  $0",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "variable \"x\" {\n  typ$0\n\nlocals {\n  a = 1\n}\n",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "variable \"x\" { $0 }\n",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "output \"x\" {\n  value = 1\n  precondition {\n    $0\n",
        expect![[r#"
        Argument condition: required, bool
        Argument error_message: required, string
    "#]],
    );
    check("# a comment $0\n", expect![[""]]);
    check("locals {\n  a = \"text $0\"\n}\n", expect![[""]]);
    check("locals {\n  a = 1$0\n}\n", expect![[""]]);
    check("locals {\n  a = var.x $0\n}\n", expect![[""]]);
}

#[test]
fn declarations_after_a_dot() {
    check(
        &in_world("locals {\n  a = var.$0\n}\n"),
        expect![[r#"
        Variable count_of: number
        Variable name: string
        Variable password: ephemeral, string
    "#]],
    );
    check(
        &in_world("locals {\n  a = local.$0\n  b = 1\n}\n"),
        expect![[r#"
        Local b: number
        Local labels: object({ cost = object({ center = number }), team = string }…
        Local size: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = module.$0\n}\n"),
        expect![[r#"
        Module m
    "#]],
    );
    check(
        &in_world("locals {\n  a = module.m.$0\n}\n"),
        expect![[r#"
        Attribute out: object({ path = string, port = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = module.m.out.$0\n}\n"),
        expect![[r#"
        Attribute path: string
        Attribute port: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = data.$0\n}\n"),
        expect![[r#"
        Type test_data: 1 resource
    "#]],
    );
    check(
        &in_world("locals {\n  a = data.test_data.$0\n}\n"),
        expect![[r#"
        Resource d
    "#]],
    );
    check(
        &in_world("locals {\n  a = data.test_data.d.$0\n}\n"),
        expect![[r#"
        Attribute items: list(object({ key = string, size = number }))
        Attribute name: string
        Attribute result: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = ephemeral.test_secret.s.$0\n}\n"),
        expect![[r#"
        Attribute name: ephemeral, string
        Attribute value: ephemeral, sensitive, string
    "#]],
    );
    check(
        &in_world("locals {\n  a = test_thing.$0\n}\n"),
        expect![[r#"
        Resource one
    "#]],
    );
    check(
        &in_world("locals {\n  a = test_thing.one.$0\n}\n"),
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
    check(
        &in_world("locals {\n  a = test_thing.one.nested.$0\n}\n"),
        expect![[r#"
        Attribute hidden: sensitive, string
        Attribute plain: string
    "#]],
    );
}

#[test]
fn attributes_of_values() {
    check(
        &in_world("locals {\n  a = local.labels.cost.$0\n}\n"),
        expect![[r#"
        Attribute center: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = \"x-${local.labels.$0}\"\n}\n"),
        expect![[r#"
        Attribute team: string
        Attribute cost: object({ center = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = upper(local.labels.$0\n  b = 2\n}\n"),
        expect![[r#"
        Attribute team: string
        Attribute cost: object({ center = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = [for k, v in { x = { y = 1 } } : v.$0]\n}\n"),
        expect![[r#"
        Attribute y: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = [for v in [{ y = 1 }] : v.$0\n}\n"),
        expect![[r#"
        Attribute y: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = data.test_data.d.items[0].$0\n}\n"),
        expect![[r#"
        Attribute key: string
        Attribute size: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = data.test_data.d.items[*].$0\n}\n"),
        expect![[r#"
        Attribute key: string
        Attribute size: number
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  for_each = { a = { b = 1 } }\n  name = each.$0\n}\n",
        expect![[r#"
        Attribute key: string
        Attribute value: any
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  for_each = { a = { b = 1 } }\n  name = each.value.$0\n}\n",
        expect![[r#"
        Attribute b: number
    "#]],
    );
    check(
        "resource \"test_thing\" {\n  name = path.$0\n}\n",
        expect![[r#"
        Attribute cwd: string
        Attribute module: string
        Attribute root: string
        Attribute temp: string
    "#]],
    );
    check(
        "locals {\n  a = terraform.$0\n}\n",
        expect![[r#"
        Attribute applying: ephemeral, bool
        Attribute workspace: string
    "#]],
    );
    check(
        "resource \"test_other\" \"x\" {\n  lifecycle {\n    postcondition {\n      condition = \
         self.$0\n      error_message = \"\"\n    }\n  }\n}\n",
        expect![[r#"
            Attribute id: string
        "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  name = \"\"\n  dynamic \"rule\" {\n    for_each = { a \
         = { p = 1 } }\n    content {\n      port = rule.$0\n    }\n  }\n}\n",
        expect![[r#"
            Attribute key: any
            Attribute value: object({ p = number })
        "#]],
    );
}

#[test]
fn expressions_rank_what_fits() {
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  size = $0\n}\n"),
        expect![[r#"
        Local local.size: number
        Variable var.count_of: number
        Variable var.name: string
        Resource test_thing: 2 resources
        Local local.labels: object({ cost = object({ center = number }), team = string }…
        Variable var.password: ephemeral, string
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  name = upper(v$0)\n}\n"),
        expect![[r#"
        Variable var.name: string
        Variable var.password: ephemeral, string
        Local local.size: number
        Variable var.count_of: number
        Resource test_thing: 2 resources
        Local local.labels: object({ cost = object({ center = number }), team = string }…
    "#]],
    );
    check(
        &in_world("locals {\n  a = [for key, item in local.labels : $0]\n}\n"),
        expect![[r#"
        Local item: any
        Local key: string
        Local local.labels: object({ cost = object({ center = number }), team = string }…
        Local local.size: number
        Variable var.count_of: number
        Variable var.name: string
        Variable var.password: ephemeral, string
        Resource test_thing: 1 resource
    "#]],
    );
    check(
        &in_world(
            "resource \"test_thing\" \"x\" {\n  dynamic \"rule\" {\n    for_each = []\n    content \
             {\n      port = $0\n    }\n  }\n}\n",
        ),
        expect![[r#"
            Local local.size: number
            Variable var.count_of: number
            Local rule: object({ key = any, value = any })
            Variable var.name: string
            Resource test_thing: 2 resources
            Local local.labels: object({ cost = object({ center = number }), team = string }…
            Variable var.password: ephemeral, string
        "#]],
    );
    check_words(
        "resource \"test_thing\" \"x\" {\n  for_each = {}\n  enabled = $0\n}\n",
        expect![[r#"
            false true each path terraform tofu null; 134 functions
        "#]],
    );
    check_words(
        "locals {\n  a = [$0]\n}\n",
        expect![[r#"
            local path terraform tofu false for null true; 134 functions
        "#]],
    );
}

#[test]
fn ephemeral_values_come_last_where_they_are_refused_and_first_where_they_are_welcome() {
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  name = $0\n}\n"),
        expect![[r#"
        Variable var.name: string
        Local local.size: number
        Variable var.count_of: number
        Resource test_thing: 2 resources
        Local local.labels: object({ cost = object({ center = number }), team = string }…
        Variable var.password: ephemeral, string
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  value_wo = $0\n}\n"),
        expect![[r#"
        Variable var.password: ephemeral, string
        Variable var.name: string
        Local local.size: number
        Variable var.count_of: number
        Resource test_thing: 2 resources
        Local local.labels: object({ cost = object({ center = number }), team = string }…
    "#]],
    );
    check(
        &in_world("resource \"test_thing\" \"x\" {\n  value_wo = var.$0\n}\n"),
        expect![[r#"
        Variable password: ephemeral, string
        Variable name: string
        Variable count_of: number
    "#]],
    );
    check(
        &in_world("module \"n\" {\n  source = \"./child\"\n  key = $0\n}\n"),
        expect![[r#"
        Variable var.password: ephemeral, string
        Variable var.name: string
        Local local.size: number
        Variable var.count_of: number
        Resource test_thing: 1 resource
        Local local.labels: object({ cost = object({ center = number }), team = string }…
    "#]],
    );
}

#[test]
fn places_with_words_of_their_own() {
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

/// Returns true if the variables are proposed as whole references.
fn is_expression(text: &str) -> bool {
    let (_, items) = at_cursor(&in_world(&format!("locals {{\n  {text}\n}}\n")));
    items.iter().filter(|it| it.label.starts_with("var.")).count() == 3
}

#[test]
fn expressions_begin_in_many_places() {
    let texts = [
        "a = \"${$0}\"",
        "a = \"x ${$0 y\"",
        "a = <<-EOT\n    x ${$0}\n  EOT",
        "a = \"%{ if $0 }x%{ endif }\"",
        "a = \"%{ for x in $0 }x%{ endfor }\"",
        "a = !$0",
        "a = 1 + $0",
        "a = [for x in $0 : x]",
        "a = [for x in $0",
        "a = { for k, v in local.labels : $0 => v }",
        "a = { for k, v in local.labels : k => $0 }",
        "a = [for x in [] : x if $0]",
        "a = local.labels[$0]",
        "a = (\n    $0\n  )",
        "a = [\n    1,\n    $0\n  ]",
        "a = upper(\n    $0\n  )",
        "a = { k = $0 }",
        "a = { k : $0 }",
        "a = true ? $0 : 1",
        "a = true ? 1 : $0",
        "a = va$0",
        "a = [va$0, 1]",
    ];
    let missed: Vec<&str> = texts.into_iter().filter(|it| !is_expression(it)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn paths_go_on_in_many_places() {
    check(
        &in_world("locals {\n  a = <<-EOT\n    x ${local.labels.$0}\n  EOT\n}\n"),
        expect![[r#"
        Attribute team: string
        Attribute cost: object({ center = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = \"%{ if local.labels.$0 }x%{ endif }\"\n}\n"),
        expect![[r#"
        Attribute team: string
        Attribute cost: object({ center = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = \"${local.labels.$0\"\n  b = 1\n}\n"),
        expect![[r#"
        Attribute team: string
        Attribute cost: object({ center = number })
    "#]],
    );
    check(
        &in_world("locals {\n  a = { k = local.labels.$0 }\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = [local.labels.$0, 1]\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = local.labels.$0cost\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = local.labels.co$0.center\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = \"%{ for it in [{ y = 1 }] }${it.$0}%{ endfor }\"\n}\n"),
        expect![[r#"
        Attribute y: number
    "#]],
    );
    check(
        &in_world("locals {\n  a = (local.labels).$0\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
    "#]],
    );
    check(
        &in_world("locals {\n  a = merge(local.labels, { x = 1 }).$0\n}\n"),
        expect![[r#"
        Attribute cost: object({ center = number })
        Attribute team: string
        Attribute x: number
    "#]],
    );
}

#[test]
fn module_calls() {
    check(
        &in_world("module \"n\" {\n  source = \"./child\"\n  $0\n}\n"),
        expect![[r#"
        Argument in: required, object({ path = optional(string), port = number })
        Argument key: ephemeral, sensitive, string
        Argument note: string
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument providers: map of provider references
        Argument version: string
        Block lifecycle: block
    "#]],
    );
    check(
        &in_world("module \"n\" {\n  source = \"./child\"\n  in = {\n    $0\n  }\n}\n"),
        expect![[r#"
        Argument port: required, number
        Argument path: string
    "#]],
    );
    check(
        &in_world(
            "module \"n\" {\n  source = \"./child\"\n  providers = {\n    test = $0\n  }\n}\n",
        ),
        expect![[r#"
        Provider test.west: hashicorp/test
    "#]],
    );
}

#[test]
fn settings() {
    check(
        &in_world("terraform {\n  required_providers {\n    $0\n  }\n}\n"),
        expect![[r#"
        Provider test: hashicorp/test
    "#]],
    );
    check(
        &in_world("terraform {\n  required_providers {\n    test = {\n      $0\n    }\n  }\n}\n"),
        expect![[r#"
        Argument configuration_aliases: map of provider references
        Argument source: string
        Argument version: string
    "#]],
    );
    check(
        &in_world("terraform {\n  $0\n}\n"),
        expect![[r#"
        Argument required_version: string
        Block backend: block
        Block required_providers: block
    "#]],
    );
}

#[test]
fn very_many_names_are_cut() {
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
fn no_text_is_too_broken() {
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

#[test]
fn functions_of_providers() {
    const REQUIRED: &str = "terraform {\n  required_providers {\n    test = {}\n  }\n}\n";
    for typed in ["prov$0", "provider::$0", "provider::te$0", "provider::test::jo$0"] {
        check_taken(
            &format!("{REQUIRED}locals {{\n  a = {typed}\n}}\n"),
            "provider::test::joined",
            expect![[r#"
                terraform {
                  required_providers {
                    test = {}
                  }
                }
                locals {
                  a = provider::test::joined($0)
                }
            "#]],
        );
    }
    check_words(
        "locals {\n  a = provider::$0\n}\n",
        expect![[r#"
            ; 0 functions
        "#]],
    );
}
