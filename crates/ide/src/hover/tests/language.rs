//! Tests of hovers over labels, keywords and types.

use expect_test::expect;

use super::check;

#[test]
fn hover_shows_labels() {
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
fn hover_shows_language_documentation() {
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

            Records the previous address of objects, so that they are kept and not made again.
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
fn hover_shows_type_keywords_of_convert() {
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
