use expect_test::{Expect, expect};

use crate::fixture;

#[track_caller]
fn check(text: &str, expect: Expect) {
    let fixture = fixture::load(text);
    let found = crate::hover(fixture.document(), fixture.offset());
    let shown = found.map(|it| {
        let range = crate::FileRange { file: fixture.document().file, range: it.range };
        format!("at {}\n{}\n", fixture.show(range), it.markdown)
    });
    expect.assert_eq(&shown.unwrap_or_else(|| "nothing\n".to_owned()));
}

const VARIABLE: &str = "variable \"name\" {\n  type        = string\n  default     = \"web\"\n  \
                        description = \"What it is called.\"\n}\n";

#[test]
fn variables() {
    check(
        &format!("{VARIABLE}locals {{\n  a = var.na$0me\n}}\n"),
        expect![[r#"
        at main.tf:7 `name`
        ```hcl
        var.name: string
        ```

        What it is called.

        Default: `"web"`

        Declared in `main.tf:1`
    "#]],
    );
    check(
        "variable \"x\" {\n  sensitive = true\n  default = \"hunter2\"\n}\nlocals {\n  a = $0var.x\n}\n",
        expect![[r#"
        at main.tf:6 `var`
        ```hcl
        var.x: any
        ```

        **sensitive**

        Optional.

        Declared in `main.tf:1`
    "#]],
    );
    check(
        "variable \"x\" {\n  type = object({ a = string, b = optional(number, 3) })\n}\nlocals {\n  a = var.x.$0b\n}\n",
        expect![[r#"
            at main.tf:5 `b`
            ```hcl
            var.x.b: number
            ```
        "#]],
    );
}

#[test]
fn the_condition_under_which_a_value_is_ephemeral() {
    check(
        r#"
variable "secret" {
  ephemeral = true
  type      = string
}
variable "debug" {
  type = bool
}
locals {
  a = var.debug ? { s = var.secret } : { s = "x" }
  b = local.$0a
}
"#,
        expect![[r#"
            at main.tf:11 `a`
            ```hcl
            local.a: object({
              s = string # may be ephemeral
            })
            ```

            **may have ephemeral parts**

            The value is ephemeral when var.debug is true.

            Where that comes from:

            - var.secret is ephemeral (`main.tf:10`)
            - variable "secret" is declared ephemeral (`main.tf:3`)

            Declared in `main.tf:10`
        "#]],
    );
    check(
        r#"
variable "secret" {
  ephemeral = true
  type      = string
}
variable "list" {
  type = list(string)
}
locals {
  a = concat(var.list, [var.secret])
  b = local.$0a
}
"#,
        expect![[r#"
            at main.tf:11 `a`
            ```hcl
            local.a: any
            ```

            **has ephemeral parts**

            Where that comes from:

            - var.secret is ephemeral (`main.tf:10`)
            - variable "secret" is declared ephemeral (`main.tf:3`)

            Declared in `main.tf:10`
        "#]],
    );
}

#[test]
fn a_chain_of_ephemerality() {
    check(
        r#"
variable "secret" {
  ephemeral = true
  type      = string
  default   = "hunter2"
}
locals {
  a = "x-${var.secret}"
  b = { plain = 1, hidden = local.a }
  c = local.$0b
}
"#,
        expect![[r#"
            at main.tf:10 `b`
            ```hcl
            local.b: object({
              hidden = string # ephemeral
              plain = number
            })
            ```

            **has ephemeral parts**

            Where that comes from:

            - local.a is ephemeral (`main.tf:9`)
            - var.secret is ephemeral (`main.tf:8`)
            - variable "secret" is declared ephemeral (`main.tf:3`)

            Declared in `main.tf:9`
        "#]],
    );
}

#[test]
fn constants_are_shown_and_secrets_are_not() {
    check(
        "locals {\n  a = upper(\"x\")\n  b = local.$0a\n}\n",
        expect![[r#"
        at main.tf:3 `a`
        ```hcl
        local.a: string
        ```

        Value: `"X"`

        Declared in `main.tf:2`
    "#]],
    );
    check(
        "locals {\n  a = { x = sensitive(\"hunter2\"), y = 1 }\n  b = local.$0a\n}\n",
        expect![[r#"
        at main.tf:3 `a`
        ```hcl
        local.a: object({
          x = string # sensitive
          y = number
        })
        ```

        **has sensitive parts**

        Declared in `main.tf:2`
    "#]],
    );
    check(
        "locals {\n  $0a = { x = sensitive(\"hunter2\"), y = 1 }\n}\n",
        expect![[r#"
        at main.tf:2 `a`
        ```hcl
        local.a: object({
          x = string # sensitive
          y = number
        })
        ```

        **has sensitive parts**

        Declared in `main.tf:2`
    "#]],
    );
}

#[test]
fn resources_and_their_attributes() {
    let thing = "resource \"test_thing\" \"a\" {\n  name = \"n\"\n}\n";
    check(
        &format!("{thing}locals {{\n  a = test_thing.$0a.id\n}}\n"),
        expect![[r#"
        at main.tf:5 `a`
        ```hcl
        resource "test_thing" "a"
        ```

        A thing of the test provider.

        Provider `hashicorp/test`

        Declared in `main.tf:1`
    "#]],
    );
    check(
        &format!("{thing}locals {{\n  a = test_thing.a.$0id\n}}\n"),
        expect![[r#"
        at main.tf:5 `id`
        ```hcl
        test_thing.a.id: string
        ```

        **computed**

        The name by which the provider knows it.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &format!("{thing}locals {{\n  a = test_thing.a.$0secret\n}}\n"),
        expect![[r#"
        at main.tf:5 `secret`
        ```hcl
        test_thing.a.secret: string
        ```

        **sensitive**, **computed**

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &format!("{thing}locals {{\n  a = test_thing.a.nested.$0plain\n}}\n"),
        expect![[r#"
        at main.tf:5 `plain`
        ```hcl
        test_thing.a.nested.plain: string
        ```

        **optional**

        A plain part.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\nlocals {\n  a = ephemeral.test_secret.s.$0value\n}\n",
        expect![[r#"
        at main.tf:3 `value`
        ```hcl
        ephemeral.test_secret.s.value: string
        ```

        **ephemeral**, **sensitive**, **computed**

        The secret itself.

        Provider `hashicorp/test`

        Where that comes from:

        - ephemeral.test_secret.s is ephemeral (`main.tf:3`)
        - ephemeral.test_secret.s is an ephemeral resource (`main.tf:1`)
    "#]],
    );
}

#[test]
fn bodies() {
    let body = |inside: &str| format!("resource \"test_thing\" \"a\" {{\n{inside}\n}}\n");
    check(
        &body("$0name = 1"),
        expect![[r#"
        at main.tf:2 `name`
        ```hcl
        name: string
        ```

        **required**

        A name for people.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("$0value_wo = 1"),
        expect![[r#"
        at main.tf:2 `value_wo`
        ```hcl
        value_wo: string
        ```

        **optional**, **write-only: may be ephemeral, is not stored**

        A value that is not kept.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("$0old = 1"),
        expect![[r#"
        at main.tf:2 `old`
        ```hcl
        old: string
        ```

        **optional**, **deprecated**

        Deprecated: Use value instead.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("$0rule {}"),
        expect![[r#"
        at main.tf:2 `rule`
        ```hcl
        rule {}
        ```

        One rule.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("rule {\n$0port = 1\n}"),
        expect![[r#"
        at main.tf:3 `port`
        ```hcl
        port: number
        ```

        **required**

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("dynamic \"$0rule\" {\nfor_each = []\ncontent {}\n}"),
        expect![[r#"
        at main.tf:2 `rule`
        ```hcl
        rule {}
        ```

        One rule.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("dynamic \"rule\" {\nfor_each = []\ncontent {\n$0port = 1\n}\n}"),
        expect![[r#"
        at main.tf:5 `port`
        ```hcl
        port: number
        ```

        **required**

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("nested = { $0plain = 1 }"),
        expect![[r#"
        at main.tf:2 `plain`
        ```hcl
        plain: string
        ```

        **optional**

        A plain part.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("$0for_each = {}"),
        expect![[r#"
        at main.tf:2 `for_each`
        ```hcl
        for_each: map(any) | set(string)
        ```

        One instance for each element of a map or of a set of strings; `each.key` and `each.value` are its element.

        Optional.
    "#]],
    );
    check(
        &body("lifecycle {\n$0prevent_destroy = true\n}"),
        expect![[r#"
        at main.tf:3 `prevent_destroy`
        ```hcl
        prevent_destroy: bool
        ```

        Refuses every plan that would destroy the object.

        Optional.
    "#]],
    );
    check(
        &body("depends_on = [test_thing.$0a]"),
        expect![[r#"
        at main.tf:2 `a`
        ```hcl
        resource "test_thing" "a"
        ```

        A thing of the test provider.

        Provider `hashicorp/test`

        Declared in `main.tf:1`
    "#]],
    );
}

#[test]
fn places_with_references_of_their_own() {
    let aliased = "provider \"test\" {\n  alias = \"west\"\n  region = \"w\"\n}\n";
    let body = |inside: &str| format!("{aliased}resource \"test_thing\" \"a\" {{\n{inside}\n}}\n");
    check(
        &body("provider = test.$0west"),
        expect![[r#"
        at main.tf:6 `west`
        ```hcl
        provider test.west
        ```

        Provider `hashicorp/test`

        Declared in `main.tf:1`
    "#]],
    );
    check(
        &body("provider = $0test"),
        expect![[r#"
        at main.tf:6 `test`
        ```hcl
        provider hashicorp/test
        ```
    "#]],
    );
    check(
        &body("lifecycle {\nignore_changes = [$0old]\n}"),
        expect![[r#"
        at main.tf:7 `old`
        ```hcl
        old: string
        ```

        **optional**, **deprecated**

        Deprecated: Use value instead.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("lifecycle {\nignore_changes = [nested.$0plain]\n}"),
        expect![[r#"
        at main.tf:7 `plain`
        ```hcl
        nested.plain: string
        ```

        **optional**

        A plain part.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        &body("lifecycle {\nreplace_triggered_by = [test_thing.a.$0old]\n}"),
        expect![[r#"
        at main.tf:7 `old`
        ```hcl
        test_thing.a.old: any
        ```

        **optional**, **deprecated**

        Deprecated: Use value instead.

        Provider `hashicorp/test`
    "#]],
    );
}

#[test]
fn labels() {
    check(
        "resource \"$0test_thing\" \"a\" {}\n",
        expect![[r#"
        at main.tf:1 `test_thing`
        ```hcl
        resource "test_thing"
        ```

        A thing of the test provider.

        Provider `hashicorp/test`
    "#]],
    );
    check(
        "resource \"test_thing\" \"$0a\" {}\n",
        expect![[r#"
        at main.tf:1 `a`
        ```hcl
        resource "test_thing" "a"
        ```

        A thing of the test provider.

        Provider `hashicorp/test`

        Declared in `main.tf:1`
    "#]],
    );
    check(
        "resource \"other_thing\" $0\"a\" {}\n",
        expect![[r#"
        at main.tf:1 `"`
        ```hcl
        resource "other_thing" "a"
        ```

        Declared in `main.tf:1`
    "#]],
    );
    check(
        "resource \"$0other_thing\" \"a\" {}\n",
        expect![[r#"
        at main.tf:1 `other_thing`
        ```hcl
        resource "other_thing"
        ```

        Its schemas are not at hand; `mayfly init` installs providers.
    "#]],
    );
    check(
        "provider \"$0test\" {}\n",
        expect![[r#"
        at main.tf:1 `test`
        ```hcl
        provider hashicorp/test
        ```
    "#]],
    );
}

#[test]
fn the_language() {
    check(
        "variable \"x\" {\n  $0ephemeral = true\n}\n",
        expect![[r#"
        at main.tf:2 `ephemeral`
        ```hcl
        ephemeral: bool
        ```

        Keeps the value out of the state and out of plans. It can be used only where nothing is kept: in write-only attributes, provider configurations, ephemeral resources and other ephemeral values.

        Optional.
    "#]],
    );
    check(
        "variable \"x\" {\n  type = $0list(string)\n}\n",
        expect![[r#"
        at main.tf:2 `list`
        ```hcl
        list
        ```

        A sequence of values of one type.
    "#]],
    );
    check(
        "variable \"x\" {\n  type = list($0string)\n}\n",
        expect![[r#"
        at main.tf:2 `string`
        ```hcl
        string
        ```

        Text.
    "#]],
    );
    check(
        "$0moved {}\n",
        expect![[r#"
        at main.tf:1 `moved`
        ```hcl
        moved {}
        ```

        Records the previous address of an object.

        This version of Mayfly does not support it.
    "#]],
    );
    check(
        "output \"x\" {\n  value = $0path.module\n}\n",
        expect![[r#"
        at main.tf:2 `path`
        ```hcl
        path.module: string
        ```

        The directory of the module that the expression is in.
    "#]],
    );
    check(
        "output \"x\" {\n  value = terraform.$0applying\n}\n",
        expect![[r#"
        at main.tf:2 `applying`
        ```hcl
        terraform.applying: bool
        ```

        **ephemeral**

        Whether the apply command is running. It is ephemeral, because it is not the same in the plan.

        Where that comes from:

        - whether the apply command is running is an ephemeral value (`main.tf:2`)
    "#]],
    );
    check(
        "output \"x\" {\n  value = $0upper(\"a\")\n}\n",
        expect![[r#"
        at main.tf:2 `upper`
        ```hcl
        upper(str: string): string
        ```

        Turns letters into upper case.
    "#]],
    );
    check(
        "terraform {\n  required_providers {\n    test = {}\n  }\n}\nlocals {\n  a = \
         provider::test::jo$0ined(\"a\")\n}\n",
        expect![[r#"
            at main.tf:7 `joined`
            ```hcl
            provider::test::joined(first: string, rest: number...): list(string)
            ```

            Joins.
        "#]],
    );
    check(
        "terraform {\n  required_providers {\n    test = { $0source = \"a/b\" }\n  }\n}\n",
        expect![[r#"
        at main.tf:3 `source`
        ```hcl
        source: string
        ```

        Where the provider comes from, as in `"hashicorp/aws"`.

        Optional.
    "#]],
    );
}

#[test]
fn instances() {
    check(
        "resource \"test_thing\" \"a\" {\n  for_each = { x = { n = 1 } }\n  name = each.$0value.n\n}\n",
        expect![[r#"
        at main.tf:3 `value`
        ```hcl
        each.value: object({ n = number })
        ```

        The value of this instance's element.
    "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  for_each = { x = { n = 1 } }\n  name = each.value.$0n\n}\n",
        expect![[r#"
        at main.tf:3 `n`
        ```hcl
        each.value.n: number
        ```
    "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  count = 2\n  name = count.$0index\n}\n",
        expect![[r#"
        at main.tf:3 `index`
        ```hcl
        count.index: number
        ```

        The number of this instance, from 0 on.
    "#]],
    );
}

#[test]
fn loops() {
    check(
        "locals {\n  a = [for $0k, v in { x = 1 } : v]\n}\n",
        expect![[r#"
        at main.tf:2 `k`
        ```hcl
        k: string
        ```

        Value: `"x"`
    "#]],
    );
    check(
        "locals {\n  a = [for k, v in { x = { y = 1 } } : v.$0y]\n}\n",
        expect![[r#"
        at main.tf:2 `y`
        ```hcl
        v.y: number
        ```

        Value: `1`
    "#]],
    );
}

#[test]
fn modules() {
    let child = "//- /child/main.tf\nvariable \"in\" {\n  type = string\n  description = \"What \
                 comes in.\"\n}\noutput \"out\" {\n  value = var.in\n  description = \"What comes out.\"\n}\n";
    check(
        &format!("//- /main.tf\nmodule \"m\" {{\n  source = \"./child\"\n  $0in = 1\n}}\n{child}"),
        expect![[r#"
        at main.tf:3 `in`
        ```hcl
        var.in: string
        ```

        What comes in.

        Required.

        Declared in `child/main.tf:1`
    "#]],
    );
    check(
        &format!(
            "//- /main.tf\nmodule \"m\" {{\n  source = \"./child\"\n  in = 1\n}}\nlocals {{\n  a = \
             module.m.$0out\n}}\n{child}"
        ),
        expect![[r#"
            at main.tf:6 `out`
            ```hcl
            module.m.out: string
            ```

            What comes out.
        "#]],
    );
    check(
        &format!(
            "//- /main.tf\nmodule \"m\" {{\n  source = \"./child\"\n  in = 1\n}}\nlocals {{\n  a = \
             module.$0m.out\n}}\n{child}"
        ),
        expect![[r#"
            at main.tf:6 `m`
            ```hcl
            module.m: object({ out = string })
            ```

            Source: `./child`

            Declared in `main.tf:1`
        "#]],
    );
}

#[test]
fn words_of_a_type_in_convert() {
    check(
        "locals {\n  a = convert([], li$0st(string))\n}\n",
        expect![[r#"
            at main.tf:2 `list`
            ```hcl
            list
            ```

            A sequence of values of one type.
        "#]],
    );
    check(
        "locals {\n  a = conv$0ert([], list(string))\n}\n",
        expect![[r#"
            at main.tf:2 `convert`
            ```hcl
            convert(value: any, type: type)
            ```

            Converts a value to a type, written as the type of a variable is. Defaults of optional attributes are filled in.
        "#]],
    );
}
