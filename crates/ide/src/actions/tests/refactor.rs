//! Tests of refactorings of the selected expression.

use expect_test::expect;

use super::check;

#[test]
fn refactoring_extracts_an_expression() {
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
fn refactoring_inlines_a_local() {
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
