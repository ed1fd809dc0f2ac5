//! Tests of provider functions that the schema lacks, and of the configurations that calls depend on.

use expect_test::{Expect, expect};

use crate::fixture::{check as check_all, load};

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let required = r#"
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
"#;
    check_all(&format!("{required}{fixture}"), expected);
}

#[test]
fn declared_configuration_may_offer_functions_that_the_schema_lacks() {
    check(
        r#"
provider "test" {}
provider "test" {
  alias = "west"
}
output "default" { value = provider::test::dynamic("a") }
output "alias" { value = provider::test::west::dynamic("a") }
output "schema" { value = provider::test::west::joined("a") }
output "no_block_needed" { value = provider::test::east::joined("a") }
"#,
        expect![[""]],
    );
}

#[test]
fn implicit_configuration_of_a_resource_may_offer_functions() {
    check(
        r#"
resource "test_thing" "a" {}
output "o" { value = provider::test::dynamic("a") }
"#,
        expect![[""]],
    );
}

#[test]
fn function_that_no_configuration_can_offer_is_an_error() {
    check(
        r#"
output "default" { value = provider::test::joind("a") }
output "alias" { value = provider::test::west::joind("a") }
"#,
        expect![[r#"
            main.tf:8 `provider::test::joind("a")` error: Unknown provider function
                The function "joind" is not available from the provider "test". Did you mean "joined"?
            main.tf:9 `provider::test::west::joind("a")` error: Unknown provider function
                The function "joind" is not available from the provider "test". Did you mean "joined"?
        "#]],
    );
}

#[test]
fn alias_without_a_block_offers_only_functions_of_the_schema() {
    check(
        r#"
provider "test" {}
resource "test_thing" "a" {}
output "alias" { value = provider::test::west::dynamic("a") }
"#,
        expect![[r#"
            main.tf:10 `provider::test::west::dynamic("a")` error: Unknown provider function
                The function "dynamic" is not available from the provider "test".
        "#]],
    );
}

#[test]
fn arguments_of_a_call_with_an_alias_are_checked() {
    check(
        r#"
provider "test" {
  alias = "west"
}
output "o" { value = provider::test::west::joined(null) }
"#,
        expect![[r#"
            main.tf:11 `null` error: Invalid function argument
                Invalid value for "part" parameter: argument must not be null.
        "#]],
    );
}

#[test]
fn module_may_get_a_configuration_that_offers_more_functions() {
    check(
        r#"
module "m" {
  source = "./m"
}
//- /m/main.tf
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
output "o" { value = provider::test::dynamic("a") }
"#,
        expect![[""]],
    );
}

#[test]
fn configuration_that_depends_on_its_own_function_is_a_cycle() {
    check(
        r#"
provider "test" {
  token = local.token
}
locals {
  token = provider::test::dynamic("a")
}
"#,
        expect![[r#"
            main.tf:9 `local.token` error: Cycle: local.token, provider.test
                provider.test refers to local.token, which depends on provider.test in turn. Remove one of the references.
                local.token refers to provider.test here <- main.tf:12 `provider::test::dynamic("a")`
            main.tf:12 `provider::test::dynamic("a")` error: Cycle: local.token, provider.test
                local.token refers to provider.test, which depends on local.token in turn. Remove one of the references.
                provider.test refers to local.token here <- main.tf:9 `local.token`
        "#]],
    );
}

#[test]
fn configuration_that_calls_its_own_function_is_a_cycle() {
    check(
        r#"
provider "test" {
  token = provider::test::dynamic("a")
}
"#,
        expect![[r#"
            main.tf:9 `provider::test::dynamic("a")` error: Self-reference
                provider.test may not refer to itself.
        "#]],
    );
}

#[test]
fn configuration_may_depend_on_a_function_of_the_schema() {
    check(
        r#"
provider "test" {
  token = local.token
}
locals {
  token = provider::test::joined("a")
}
"#,
        expect![[""]],
    );
}

#[test]
fn argument_of_a_module_that_a_configuration_reads_can_be_part_of_a_cycle() {
    check(
        r#"
provider "test" {
  alias = "west"
  token = module.m.o
}
module "m" {
  source   = "./m"
  argument = provider::test::west::joined("a")
}
//- /m/main.tf
variable "argument" {}
output "o" { value = var.argument }
"#,
        expect![[r#"
            main.tf:10 `module.m` error: Cycle: module.m.var.argument, provider.test.west
                provider.test.west refers to module.m.var.argument, which depends on provider.test.west in turn. Remove one of the references.
                module.m.var.argument refers to provider.test.west here <- main.tf:14 `provider::test::west::joined("a")`
            main.tf:14 `provider::test::west::joined("a")` error: Cycle: module.m.var.argument, provider.test.west
                module.m.var.argument refers to provider.test.west, which depends on module.m.var.argument in turn. Remove one of the references.
                provider.test.west refers to module.m.var.argument here <- main.tf:10 `module.m`
        "#]],
    );
}

#[test]
fn call_of_a_configuration_keeps_the_marks_of_its_arguments() {
    check(
        r#"
provider "test" {}
variable "e" {
  ephemeral = true
}
variable "s" {
  sensitive = true
}
output "e" { value = provider::test::dynamic(var.e) }
output "s" { value = provider::test::dynamic(var.s) }
resource "test_thing" "a" { value = provider::test::dynamic(var.e) }
"#,
        expect![[r#"
            main.tf:15 `provider::test::dynamic(var.e)` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.e is ephemeral <- main.tf:15 `var.e`
                variable "e" is declared ephemeral <- main.tf:10 `ephemeral = true`
            main.tf:16 `provider::test::dynamic(var.s)` error: Output refers to sensitive values
                To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Mayfly requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.

                If you do intend to export this data, annotate the output value as sensitive by adding the following argument:
                    sensitive = true
            main.tf:17 `provider::test::dynamic(var.e)` error: Invalid use of an ephemeral value
                "value" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.
                var.e is ephemeral <- main.tf:17 `var.e`
                variable "e" is declared ephemeral <- main.tf:10 `ephemeral = true`
        "#]],
    );
}

#[test]
fn recheck_finds_a_call_that_lost_its_configuration() {
    let calls = r#"
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
output "o" { value = local.o }
locals {
  o = provider::test::dynamic("a")
}
"#;
    let uses = "resource \"test_thing\" \"a\" {}\n";
    let mut project = load(&format!("//- /calls.tf\n{calls}//- /uses.tf\n{uses}"));
    assert_eq!(project.recheck().0, []);
    project.set_text("uses.tf", "");
    assert_eq!(project.recheck().0.len(), 1, "nothing configures the provider");
    project.set_text("uses.tf", uses);
    assert_eq!(project.recheck().0, []);
    project.set_text("uses.tf", "provider \"test\" {\n  token = local.o\n}\n");
    assert_eq!(project.recheck().0.len(), 2, "the provider and the local value form a cycle");
}

#[test]
fn destroy_time_provisioner_calls_no_function_of_a_configuration() {
    check(
        r#"
provider "test" {}
provider "test" {
  alias = "west"
}
resource "test_thing" "a" {
  connection {
    host = provider::test::dynamic("host")
  }
  provisioner "local-exec" {
    when    = destroy
    command = "${provider::test::joined("a")}${provider::test::west::joined("a")}"
    environment = { A = [for it in ["a"] : provider::test::dynamic(it)][0] }
  }
  provisioner "local-exec" {
    command = provider::test::dynamic("a")
  }
}
resource "test_thing" "b" {
  connection {
    host = provider::test::dynamic("host")
  }
  provisioner "remote-exec" {
    inline = [provider::test::dynamic("a")]
  }
}
removed {
  from = test_thing.c
  lifecycle { destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = provider::test::dynamic(self.name)
  }
}
"#,
        expect![[r#"
            main.tf:14 `provider::test::dynamic("host")` error: Invalid reference from destroy provisioner
                Destroy-time provisioners and their connection configurations may not call functions of a provider configuration, because it may depend on other resources.

                References to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy. Store the result in an attribute of the resource instead, such as "input" of terraform_data, and refer to that via 'self'.
            main.tf:18 `provider::test::west::joined("a")` error: Invalid reference from destroy provisioner
                Destroy-time provisioners and their connection configurations may not call functions of a provider configuration, because it may depend on other resources.

                References to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy. Store the result in an attribute of the resource instead, such as "input" of terraform_data, and refer to that via 'self'.
            main.tf:19 `provider::test::dynamic(it)` error: Invalid reference from destroy provisioner
                Destroy-time provisioners and their connection configurations may not call functions of a provider configuration, because it may depend on other resources.

                References to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy. Store the result in an attribute of the resource instead, such as "input" of terraform_data, and refer to that via 'self'.
            main.tf:38 `provider::test::dynamic(self.name)` error: Invalid reference from destroy provisioner
                Destroy-time provisioners and their connection configurations may not call functions of a provider configuration, because it may depend on other resources.

                References to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy. Store the result in an attribute of the resource instead, such as "input" of terraform_data, and refer to that via 'self'.
        "#]],
    );
}
