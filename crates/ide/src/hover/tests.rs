//! Tests of hovers.

mod blocks;
mod language;

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
fn hover_shows_variables() {
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
fn hover_shows_the_condition_of_an_ephemeral_value() {
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
fn hover_shows_why_a_value_is_ephemeral() {
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
fn hover_shows_constants_but_no_secrets() {
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
fn hover_covers_meta_arguments() {
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
fn hover_shows_loop_variables() {
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
