//! Tests of hovers over resources, their bodies and modules.

use expect_test::expect;

use super::check;

#[test]
fn hover_shows_resources_and_attributes() {
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
fn hover_shows_arguments_of_bodies() {
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
fn hover_shows_each_and_count() {
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
fn hover_shows_module_arguments_and_outputs() {
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
