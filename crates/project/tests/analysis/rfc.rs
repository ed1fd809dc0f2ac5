//! Tests of every rule that the ephemeral resources RFC shows, with its wording and the line of the diagnostic.

use expect_test::expect;

use crate::fixture::check;

#[test]
fn ephemeral_variable_in_a_stored_attribute_is_an_error() {
    check(
        r#"
variable "password" {
  type      = string
  ephemeral = true
}

resource "test_thing" "store_secret" {
  value = var.password
}
"#,
        expect![[r#"
            main.tf:8 `var.password` error: Invalid use of an ephemeral value
                "value" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.
                variable "password" is declared ephemeral <- main.tf:4 `ephemeral = true`
        "#]],
    );
}

#[test]
fn ephemeral_value_for_an_ordinary_variable_is_an_error() {
    check(
        r#"
//- /main.tf
variable "secrets" {
  type      = map(string)
  ephemeral = true
}

module "secret_management" {
  source     = "./mod"
  secret_map = var.secrets
}
//- /mod/main.tf
variable "secret_map" {
  type = map(string)
}
"#,
        expect![[r#"
            main.tf:8 `var.secrets` error: Invalid usage of ephemeral value
                Variable `secret_map` is not marked as ephemeral. Therefore, it cannot reference an ephemeral value. In case this is actually wanted, you can add the following attribute to its declaration:
                  ephemeral = true
                variable "secrets" is declared ephemeral <- main.tf:3 `ephemeral = true`
                the variable is declared here <- mod/main.tf:1 `variable "secret_map"`
        "#]],
    );
}

#[test]
fn ephemeral_root_output_is_an_error() {
    check(
        "output \"write_only_out\" {\n  value     = 1\n  ephemeral = true\n}\n",
        expect![[r#"
            main.tf:1 `output "write_only_out"` error: Unallowed ephemeral output
                Root module is not allowed to have ephemeral outputs

                Its outputs are stored in the state. To keep the parts of this value that are not ephemeral, remove `ephemeral = true` and wrap the value in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
        "#]],
    );
}

#[test]
fn ephemeral_module_output_in_a_stored_attribute_is_an_error() {
    check(
        r#"
//- /main.tf
module "secret_management" {
  source = "./mod"
}
resource "test_thing" "store_from_ephemeral_output" {
  value = module.secret_management.secrets
}
//- /mod/main.tf
ephemeral "test_secret" "s" {
  name = "a"
}
output "secrets" {
  value     = ephemeral.test_secret.s.value
  ephemeral = true
}
"#,
        expect![[r#"
            main.tf:5 `module.secret_management.secrets` error: Invalid use of an ephemeral value
                "value" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.
                output "secrets" is declared ephemeral <- mod/main.tf:6 `ephemeral = true`
        "#]],
    );
}

#[test]
fn ephemeral_value_in_an_unmarked_output_is_an_error() {
    check(
        r#"
//- /main.tf
module "m" {
  source = "./mod"
}
//- /mod/main.tf
variable "e" {
  ephemeral = true
}
output "password" {
  value = "x${var.e}"
}
output "fine" {
  value     = "not ephemeral at all"
  ephemeral = true
}
"#,
        expect![[r#"
            main.tf:1 `module "m"` error: Missing required argument
                The argument "e" is required, but no definition was found.
                the variable is declared here <- mod/main.tf:1 `variable "e"`
            mod/main.tf:5 `"x${var.e}"` error: Output not marked as ephemeral
                In order to allow this output to store ephemeral values add `ephemeral = true` attribute to it.
                var.e is ephemeral <- mod/main.tf:5 `var.e`
                variable "e" is declared ephemeral <- mod/main.tf:2 `ephemeral = true`
        "#]],
    );
}

#[test]
fn locals_of_the_rfc_are_ephemeral_as_described() {
    check(
        r#"
variable "var1" {
  type = string
}
variable "var2" {
  type = string
}
variable "var3" {
  type      = string
  ephemeral = true
}
locals {
  eg1 = var.var1 == "" ? var.var2 : var.var1 // not ephemeral
  eg2 = var.var2 // not ephemeral
  eg3 = var.var3 == "" ? var.var2 : var.var1 // ephemeral because of var3 conditional
  eg4 = var.var1 == "" ? var.var2 : var.var3 // ephemeral because of var3 usage
  eg5 = "${var.var3}-${var.var1}" // ephemeral because of var3 usage
  eg6 = local.eg4 // ephemeral because of eg4 is ephemeral
}
output "eg1" { value = local.eg1 }
output "eg2" { value = local.eg2 }
output "eg3" { value = local.eg3 }
output "eg4" { value = local.eg4 }
output "eg5" { value = local.eg5 }
output "eg6" { value = local.eg6 }
"#,
        expect![[r#"
            main.tf:22 `local.eg3` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.var3 is ephemeral <- main.tf:15 `var.var3`
                variable "var3" is declared ephemeral <- main.tf:10 `ephemeral = true`
            main.tf:23 `local.eg4` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.var3 is ephemeral <- main.tf:16 `var.var3`
                variable "var3" is declared ephemeral <- main.tf:10 `ephemeral = true`
            main.tf:24 `local.eg5` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.var3 is ephemeral <- main.tf:17 `var.var3`
                variable "var3" is declared ephemeral <- main.tf:10 `ephemeral = true`
            main.tf:25 `local.eg6` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                local.eg4 is ephemeral <- main.tf:18 `local.eg4`
                var.var3 is ephemeral <- main.tf:16 `var.var3`
                variable "var3" is declared ephemeral <- main.tf:10 `ephemeral = true`
        "#]],
    );
}

#[test]
fn lifecycle_arguments_of_an_ephemeral_resource_are_errors() {
    check(
        r#"
ephemeral "test_secret" "secret_retrieval" {
  name = "a"
  lifecycle {
    create_before_destroy = true
    precondition {
      condition     = path.module != ""
      error_message = "never"
    }
  }
  provisioner "local-exec" {
    command = "true"
  }
}
"#,
        expect![[r#"
            main.tf:5 `create_before_destroy = true` error: Invalid lifecycle configuration for ephemeral resource
                The lifecycle argument "create_before_destroy" cannot be used in ephemeral resources. This is meant to be used strictly in "resource" blocks.
            main.tf:11 `provisioner "local-exec"` error: Invalid configuration block for ephemeral resource
                The block type "provisioner" cannot be used in ephemeral resources. This is meant to be used strictly in "resource" blocks.
        "#]],
    );
}

#[test]
fn ephemeralasnull_makes_a_root_output_valid() {
    check(
        r#"
variable "secret" {
  type      = string
  ephemeral = true
}
locals {
  config = {
    "non-ephemeral" : "non-ephemeral-value"
    "ephemeral" : var.secret
  }
}
output "test" {
  value = ephemeralasnull(local.config)
}
output "not_so" {
  value = local.config
}
"#,
        expect![[r#"
            main.tf:16 `local.config` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.secret is ephemeral <- main.tf:9 `var.secret`
                variable "secret" is declared ephemeral <- main.tf:4 `ephemeral = true`
        "#]],
    );
}

#[test]
fn provisioner_accepts_ephemeral_values_but_no_null_interpolation() {
    check(
        r#"
variable "secret" {
  type      = string
  ephemeral = true
}
resource "test_thing" "store" {
  value_wo = var.secret
  provisioner "local-exec" {
    command = "echo ${test_thing.store.id} ${var.secret}"
  }
  provisioner "local-exec" {
    command = "echo write-only value: ${test_thing.store.value_wo}"
  }
}
"#,
        expect![[r#"
            main.tf:12 `test_thing.store.value_wo` error: Invalid template interpolation value
                The expression result is null. Cannot include a null value in a string template.
        "#]],
    );
}

#[test]
fn a_root_output_of_a_write_only_attribute_must_be_sensitive() {
    check(
        r#"
resource "test_thing" "a" {
  value_wo = "literal"
}
output "refused" {
  value = test_thing.a.value_wo
}
output "sensitive" {
  value     = test_thing.a.value_wo
  sensitive = true
}
"#,
        expect![[r#"
            main.tf:3 `"literal"` warning: Secret written in the configuration
                The value of the write-only attribute "value_wo" is written in the configuration, where everyone with access to the file can read it. Take it from an ephemeral variable or an ephemeral resource instead.
            main.tf:6 `test_thing.a.value_wo` error: Output refers to a write-only attribute
                "test_thing.a.value_wo" is a write-only attribute. An output of the root module that refers to one must be sensitive, to confirm that this is intended:
                    sensitive = true
    
                The output will be null all the same: a write-only attribute cannot be read back.
        "#]],
    );
}
