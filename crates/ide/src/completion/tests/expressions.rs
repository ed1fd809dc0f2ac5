//! Tests of completion in expressions.

use expect_test::expect;

use super::*;

#[test]
fn completion_after_a_dot_proposes_declarations() {
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
fn completion_proposes_attributes_of_values() {
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
fn completion_ranks_fitting_types_first() {
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
fn completion_ranks_ephemeral_values_by_the_argument() {
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

/// Returns true if the variables are proposed as whole references.
fn is_expression(text: &str) -> bool {
    let (_, items) = at_cursor(&in_world(&format!("locals {{\n  {text}\n}}\n")));
    items.iter().filter(|it| it.label.starts_with("var.")).count() == 3
}

#[test]
fn completion_works_wherever_an_expression_begins() {
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
fn completion_continues_traversals_everywhere() {
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
fn completion_proposes_provider_functions() {
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
