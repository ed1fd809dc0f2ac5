//! Tests of quick fixes for secrets: ephemeral and sensitive values.

use expect_test::expect;

use super::check;

#[test]
fn quick_fixes_for_ephemeral_values_in_outputs() {
    let text = r#"
//- /main.tf
module "m" {
  source = "./mod"
}
//- /mod/main.tf
variable "secret" {
  type      = string
  default   = null
  ephemeral = true
}
output "o" {
  description = "x"
  value       = var.s$0ecret
}
"#;
    check(
        text,
        expect![[r#"
        QuickFix*: Declare the output as ephemeral
        //- /mod/main.tf
        variable "secret" {
          type      = string
          default   = null
          ephemeral = true
        }
        output "o" {
          description = "x"
          value       = var.secret
          ephemeral   = true
        }
        QuickFix: Replace ephemeral parts by null with ephemeralasnull()
        //- /mod/main.tf
        variable "secret" {
          type      = string
          default   = null
          ephemeral = true
        }
        output "o" {
          description = "x"
          value       = ephemeralasnull(var.secret)
        }
    "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\noutput \"o\" {\n  value = ephemeral.test_secret.s.va$0lue\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            output "o" {
              value = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\noutput$0 \"o\" {\n  value     = \
         ephemeral.test_secret.s.value\n  ephemeral = true\n}\n",
        expect![[r#"
            QuickFix: Keep the parts that are not ephemeral with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            output "o" {
              value     = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn quick_fixes_for_ephemeral_values_of_variables() {
    check(
        r#"
//- /main.tf
ephemeral "test_secret" "s" {}
module "m" {
  source = "./mod"
  secret = ephemeral.test_secret.s.va$0lue
}
//- /mod/main.tf
variable "secret" { type = string }
"#,
        expect![[r#"
            QuickFix*: Declare variable "secret" as ephemeral
            //- /mod/main.tf
            variable "secret" {
              type = string
              ephemeral = true
            }
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            module "m" {
              source = "./mod"
              secret = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn quick_fixes_for_ephemeral_values_in_arguments() {
    check(
        r#"
ephemeral "test_secret" "s" {}
resource "test_thing" "t" {
  name    = "x"
  enabled = true
  value   = ephemeral.test_secret.s.val$0ue
}
"#,
        expect![[r#"
            QuickFix*: Use the write-only argument "value_wo"
            //- /main.tf

            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name             = "x"
              enabled          = true
              value_wo         = ephemeral.test_secret.s.value
              value_wo_version = 1
            }
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf

            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name    = "x"
              enabled = true
              value   = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = \
         ephemeral.test_secret.s.val$0ue\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull(ephemeral.test_secret.s.value)
            }
        "#]],
    );
}

#[test]
fn quick_fixes_for_secrets_inside_strings() {
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = \
         \"a-${ephemeral.test_secret.s.val$0ue}\"\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull("a-${ephemeral.test_secret.s.value}")
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {}\nresource \"test_thing\" \"t\" {\n  name = <<EOT\na \
         ${ephemeral.test_secret.s.val$0ue}\nEOT\n}\n",
        expect![[r#"
            QuickFix: Replace ephemeral parts by null with ephemeralasnull()
            //- /main.tf
            ephemeral "test_secret" "s" {}
            resource "test_thing" "t" {
              name = ephemeralasnull(<<EOT
            a ${ephemeral.test_secret.s.value}
            EOT
            )
            }
        "#]],
    );
}

#[test]
fn quick_fix_moves_a_literal_secret_to_a_variable() {
    check(
        "# about\nresource \"test_thing\" \"t\" {\n  name     = \"x\"\n  value_wo = \"hun$0ter2\"\n}\n",
        expect![[r#"
            QuickFix*: Take it from the ephemeral variable "value"
            //- /main.tf
            variable "value" {
              type      = string
              ephemeral = true
            }

            # about
            resource "test_thing" "t" {
              name     = "x"
              value_wo = var.value
            }
        "#]],
    );
}

#[test]
fn quick_fix_marks_an_output_as_sensitive() {
    check(
        "variable \"v\" {\n  sensitive = true\n}\noutput \"o\" {\n  value     = var.$0v\n  \
         sensitive = false # not yet\n}\n",
        expect![[r#"
            QuickFix*: Declare the output as sensitive
            //- /main.tf
            variable "v" {
              sensitive = true
            }
            output "o" {
              value     = var.v
              sensitive = true # not yet
            }
        "#]],
    );
    check(
        "variable \"v\" {\n  sensitive = true\n}\noutput \"o\" { value = var.$0v }\n",
        expect![[r#"
            QuickFix*: Declare the output as sensitive
            //- /main.tf
            variable "v" {
              sensitive = true
            }
            output "o" {
              value = var.v
              sensitive = true
            }
        "#]],
    );
}
