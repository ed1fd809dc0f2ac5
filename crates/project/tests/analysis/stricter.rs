//! Tests of configurations that OpenTofu accepts and Mayfly rejects: the diagnostic names the difference.

use expect_test::expect;

use crate::fixture::check;

#[test]
fn forms_that_lose_marks_in_opentofu_are_reported() {
    check(
        r#"
//- /main.tf
variable "e" {
  ephemeral = true
}
locals {
  answer = can(regex("^AKIA", var.e))
}
output "can" {
  value = local.answer ? 1 : 2
}
output "fallback" {
  value = try(length(ephemeralasnull(var.e)), 0)
}
output "index" {
  value = { a = 1 }[var.e]
}
output "key" {
  value = { (var.e) = 1 }
}
output "list" {
  value = ["a"][var.e]
}
output "tried" {
  value = try(var.e, "none")
}
"#,
        expect![[r#"
            main.tf:8 `local.answer ? 1 : 2` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.

                OpenTofu accepts this, because it does not treat the result of can() as ephemeral. However, each result reveals something about the secret. Use can() in a condition, where ephemeral values are allowed.
                local.answer is ephemeral <- main.tf:8 `local.answer`
                var.e is ephemeral <- main.tf:5 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:11 `try(length(ephemeralasnull(var.e)), 0)` warning: Possibly ephemeral value
                The value may be ephemeral, depending on var.e.

                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.

                OpenTofu accepts this, because it does not treat a fallback of try() as ephemeral. However, choosing the fallback reveals something about the secret in the earlier argument. Use try() only with values that are not ephemeral.
                var.e is ephemeral <- main.tf:11 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:14 `{ a = 1 }[var.e]` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.

                OpenTofu accepts this, because it does not treat an attribute that an ephemeral key selects as ephemeral. However, the attribute reveals the key. Use a key that is not ephemeral.
                var.e is ephemeral <- main.tf:14 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:17 `{ (var.e) = 1 }` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.

                OpenTofu accepts this as long as the key is not known, and may keep it then. Use a list of objects in place of ephemeral keys.
                var.e is ephemeral <- main.tf:17 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:20 `["a"][var.e]` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.e is ephemeral <- main.tf:20 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:23 `try(var.e, "none")` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.e is ephemeral <- main.tf:23 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
        "#]],
    );
}

#[test]
fn known_part_beside_unknown_ones_is_checked() {
    check(
        r#"
//- /main.tf
variable "e" {
  ephemeral = true
}
variable "id" {}
output "mixed" {
  value = { password = var.e, id = var.id }
}
output "known" {
  value = { password = var.e, id = 1 }
}
"#,
        expect![[r#"
            main.tf:6 `{ password = var.e, id = var.id }` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.

                OpenTofu accepts this while another part of the value is not known yet, and a saved plan then holds the secret.
                var.e is ephemeral <- main.tf:6 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
            main.tf:9 `{ password = var.e, id = 1 }` error: Output not marked as ephemeral
                Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the ephemeral ones with null. Otherwise remove the output.
                var.e is ephemeral <- main.tf:9 `var.e`
                variable "e" is declared ephemeral <- main.tf:2 `ephemeral = true`
        "#]],
    );
}
