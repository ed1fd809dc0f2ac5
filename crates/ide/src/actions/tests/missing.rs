//! Tests of quick fixes that add declarations, arguments and blocks.

use expect_test::expect;

use super::check;

#[test]
fn quick_fix_declares_a_missing_name() {
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
fn quick_fix_adds_a_missing_argument() {
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
fn quick_fix_adds_a_missing_block() {
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
fn quick_fix_declares_a_missing_provider_configuration() {
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
fn quick_fix_adds_all_missing_arguments() {
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
fn quick_fix_removes_a_duplicate_declaration() {
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
