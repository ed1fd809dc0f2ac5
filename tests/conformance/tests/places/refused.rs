//! Places where an ephemeral value would be stored, or would decide what is stored.

use super::judge::{Place, Plan, Verdict, check};

/// The RFC's message for an attribute that is stored.
macro_rules! kept {
    ($name:literal) => {
        Verdict::Refused(
            "Invalid use of an ephemeral value",
            concat!(
                "\"",
                $name,
                "\" cannot accept an ephemeral value because it is not a write-only attribute, \
                 meaning it will be written to the state."
            ),
        )
    };
}

/// The message for an output of the root module, which cannot follow the RFC's advice to add `ephemeral = true`.
const ROOT_OUTPUT: Verdict = Verdict::Refused(
    "Output not marked as ephemeral",
    "Outputs of the root module are stored in the state and cannot be ephemeral. To keep the parts \
     of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces the \
     ephemeral ones with null. Otherwise remove the output.",
);

/// A verdict with OpenTofu's summary; Mayfly has its own detail.
const fn summary(summary: &'static str) -> Verdict {
    Verdict::Refused(summary, "")
}

fn refused(name: &str, verdict: Verdict, plan: Plan, text: &str) -> (Place, Verdict, Plan) {
    (Place::new(name, text), verdict, plan)
}

#[test]
fn stored_attributes_refuse_ephemeral_values() {
    check(&[
        refused(
            "attribute",
            kept!("description"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name        = "p"
  description = @ # here
}
"#,
        ),
        refused(
            "attribute made of one",
            kept!("description"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name        = "p"
  description = true ? "x-${@}" : "y" # here
}
"#,
        ),
        refused(
            "nested attribute",
            kept!("login.user"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  login = {
    user        = @ # here
    password_wo = @
  }
}
"#,
        ),
        refused(
            "nested attribute of a list",
            kept!("logins[1].user"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  logins = [
    { user = "u", password_wo = @ },
    { user = @ }, # here
  ]
}
"#,
        ),
        refused(
            "nested attribute of a map",
            kept!("logins_by_role[\"admin\"].user"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  logins_by_role = {
    admin = { user = @ } # here
  }
}
"#,
        ),
        refused(
            "nested attribute, whole",
            kept!("login"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name  = "p"
  login = "${@}" == "" ? { user = "u" } : { user = "v" } # here
}
"#,
        ),
        refused(
            "part of an attribute of any type",
            kept!("input"),
            Plan::Agrees,
            r#"
resource "terraform_data" "p" {
  input = { a = [@], b = "plain" } # here
}
"#,
        ),
        refused(
            "argument of a data source",
            kept!("name"),
            Plan::Agrees,
            r#"
data "playground_secret" "p" {
  name = @ # here
}
"#,
        ),
    ]);
}

#[test]
fn stored_blocks_refuse_ephemeral_values() {
    check(&[
        refused(
            "attribute in a block",
            kept!("primary.name"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  primary {
    name     = @ # here
    token_wo = @
  }
}
"#,
        ),
        refused(
            "attribute in a block of a list",
            kept!("replica[1].name"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  replica {
    name = "x"
  }
  replica {
    name = @ # here
  }
}
"#,
        ),
        refused(
            "attribute in a block of a map",
            kept!("region[\"eu\"].name"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  region "eu" {
    name = @ # here
  }
}
"#,
        ),
        refused(
            "attribute in a group",
            kept!("fallback.note"),
            Plan::Agrees,
            r#"
resource "playground_vault" "p" {
  name = "p"
  fallback {
    note = @ # here
  }
}
"#,
        ),
        refused(
            "attribute in the content of a dynamic block",
            kept!("replica.name"),
            Plan::Says(kept!("replica[1].name")),
            r#"
resource "playground_vault" "p" {
  name = "p"
  dynamic "replica" {
    for_each = ["x", @]
    content {
      name = replica.value # here
    }
  }
}
"#,
        ),
        refused(
            "for_each of a dynamic block",
            kept!("replica"),
            Plan::Says(kept!("replica[0]")),
            r#"
resource "playground_vault" "p" {
  name = "p"
  dynamic "replica" {
    for_each = toset(["x${@}"]) # here
    content {
      name = "x"
    }
  }
}
"#,
        ),
    ]);
}

#[test]
fn count_and_for_each_refuse_ephemeral_values() {
    check(&[
        refused(
            "count",
            summary("Invalid count argument"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  count = "${@}" == "" ? 1 : 2 # here
  name  = "p${count.index}"
}
"#,
        ),
        refused(
            "for_each",
            summary("Invalid for_each argument"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  for_each = toset(["x${@}"]) # here
  name     = "p"
}
"#,
        ),
        refused(
            "for_each with an ephemeral key",
            summary("Invalid for_each argument"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  for_each = { "${@}" = "x" } # here
  name     = "p"
}
"#,
        ),
        refused(
            "for_each of a data source",
            summary("Invalid for_each argument"),
            Plan::Agrees,
            r#"
data "playground_secret" "p" {
  for_each = toset(["x${@}"]) # here
  name     = "other"
}
"#,
        ),
        refused(
            "count of an ephemeral resource",
            summary("Invalid count argument"),
            Plan::Agrees,
            r#"
ephemeral "playground_secret" "p" {
  count = "${@}" == "" ? 1 : 2 # here
  name  = "other"
}
resource "playground_secret" "q" {
  name             = "q"
  value_wo         = ephemeral.playground_secret.p[0].value
  value_wo_version = 1
}
"#,
        ),
        refused(
            "for_each of a module",
            summary("Invalid for_each argument"),
            Plan::Agrees,
            r#"
module "m" {
  for_each = toset(["x${@}"]) # here
  source   = "./m"
}
//- /m/main.tf
output "o" {
  value = 1
}
"#,
        ),
        refused(
            "count of a module",
            summary("Invalid count argument"),
            Plan::Agrees,
            r#"
module "m" {
  count  = "${@}" == "" ? 1 : 2 # here
  source = "./m"
}
//- /m/main.tf
output "o" {
  value = 1
}
"#,
        ),
        refused(
            "enabled",
            summary("Invalid enabled argument"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name = "p"
  lifecycle {
    enabled = "${@}" != "" # here
  }
}
"#,
        ),
        refused(
            "each.value in an attribute",
            kept!("description"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  for_each    = { a = @ }
  name        = each.key
  description = each.value # here
}
"#,
        ),
    ]);
}

#[test]
fn lifecycle_and_provider_keys_refuse_ephemeral_values() {
    check(&[
        refused(
            "prevent_destroy",
            summary("Invalid value for prevent_destroy"),
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name = "p"
  lifecycle {
    prevent_destroy = "${@}" != "" # here
  }
}
"#,
        ),
        refused(
            "provider instance key",
            summary("Invalid provider instance key"),
            Plan::Agrees,
            r#"
provider "playground" {
  alias    = "many"
  for_each = toset(["a", "b"])
  store    = "$STORE"
}
resource "playground_secret" "p" {
  provider = playground.many["${@}" == "" ? "a" : "b"] # here
  name     = "p"
}
"#,
        ),
        refused(
            "for_each of a provider block",
            summary("Ephemeral value not allowed"),
            Plan::NeverLooks,
            r#"
provider "playground" {
  alias    = "many"
  for_each = toset(["x${@}"]) # here
  store    = "$STORE"
}
resource "playground_secret" "p" {
  provider = playground.many["x"]
  name     = "p"
}
"#,
        ),
        refused(
            "backend",
            summary("Backend config contains ephemeral values"),
            Plan::NeverLooks,
            r#"
terraform {
  backend "local" {
    path = "${@}" # here
  }
}
"#,
        ),
    ]);
}

#[test]
fn outputs() {
    check(&[
        refused(
            "root output",
            ROOT_OUTPUT,
            Plan::Agrees,
            "output \"p\" {\n  value = @ # here\n}\n",
        ),
        refused(
            "part of a root output",
            ROOT_OUTPUT,
            Plan::Agrees,
            "output \"p\" {\n  value = { a = [@], b = 1 } # here\n}\n",
        ),
        refused(
            "part of a root output that is sensitive",
            ROOT_OUTPUT,
            Plan::Agrees,
            r#"
output "p" {
  value     = { a = @ } # here
  sensitive = true
}
"#,
        ),
        refused(
            "part of a root output with unknown parts",
            ROOT_OUTPUT,
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name = "p"
}
output "p" {
  value = { a = @, b = playground_secret.p.id } # here
}
"#,
        ),
        refused(
            "root output that is declared ephemeral",
            Verdict::Refused("Unallowed ephemeral output", hir::analysis::EPHEMERAL_ROOT_OUTPUT),
            Plan::Agrees,
            "output \"p\" { # here\n  value     = @\n  ephemeral = true\n}\n",
        ),
    ]);
}

#[test]
fn modules() {
    check(&[
        refused(
            "argument of a module that is not declared ephemeral",
            Verdict::Refused(
                "Invalid usage of ephemeral value",
                "Variable `in` is not marked as ephemeral. Therefore, it cannot reference an \
                 ephemeral value. In case this is actually wanted, you can add the following \
                 attribute to its declaration:\n  ephemeral = true",
            ),
            Plan::Agrees,
            r#"
module "m" {
  source = "./m"
  in     = [@] # here
}
//- /m/main.tf
variable "in" {
  type = list(string)
}
"#,
        ),
        refused(
            "whole module with an ephemeral output",
            ROOT_OUTPUT,
            Plan::Agrees,
            r#"
module "m" {
  source = "./m"
  in     = @
}
output "p" {
  value = module.m # here
}
//- /m/main.tf
variable "in" {
  ephemeral = true
}
output "out" {
  value     = var.in
  ephemeral = true
}
"#,
        ),
        refused(
            "source of a module",
            summary("Ephemeral value not allowed"),
            Plan::NeverLooks,
            r#"
module "m" {
  source = "./${@}" # here
}
"#,
        ),
        refused(
            "version of a module",
            summary("Invalid version constraint"),
            Plan::NeverLooks,
            r#"
module "m" {
  source  = "./m"
  version = "${@}" # here
}
//- /m/main.tf
output "o" {
  value = 1
}
"#,
        ),
    ]);
}

#[test]
fn results_of_functions_and_forms_stay_ephemeral() {
    let functions = [
        "sensitive(@)",
        "nonsensitive(sensitive(@))",
        "jsonencode({ a = @ })",
        "upper(\"${@}\")",
        "length(\"x${@}\")",
        "join(\",\", [\"a\", \"${@}\"])",
        "coalesce(\"${@}\", \"b\")",
        "merge({ a = 1 }, { b = @ })",
        "lookup({ a = @ }, \"a\")",
        "toset([\"${@}\"])",
        "concat([1], [@])",
        "sha256(\"${@}\")",
        "\"${@}\" == \"\"",
        "!can(@)",
        "try(@, \"b\")",
        "try(tonumber(\"x${@}\"), \"b\")",
        "\"${@}\" == \"\" ? 1 : 2",
        "true ? 1 : length(\"x${@}\")",
        "[for v in [\"a\"] : v if \"${@}\" != \"\"]",
        "{ for k in [\"a\"] : \"${@}\" => k }",
        "{ (\"${@}\") = 1 }",
        "lookup({ a = 1 }, \"${@}\", 2)",
        "<<-EOT\n    %{ if \"${@}\" == \"\" }a%{ else }b%{ endif }\n  EOT",
    ];
    let row = |function: &str| {
        // Text after the end marker of a heredoc would not be a comment, so the line of its diagnostic is not
        // compared.
        let here = if function.starts_with("<<") { "" } else { " # here" };
        refused(
            function,
            ROOT_OUTPUT,
            Plan::Agrees,
            &format!("output \"p\" {{\n  value = {function}{here}\n}}\n"),
        )
    };
    check(&functions.map(row));
}

#[test]
fn names_chosen_by_an_ephemeral_value_are_ephemeral() {
    // An object that is indexed by an ephemeral key reveals the key, because it is one of the object's names.
    let text = r#"
locals {
  table = { "" = "empty", a = "x" }
}
output "p" {
  value = try(local.table["${@}" == "" ? "" : "a"], "none") # here
}
"#;
    check(&[refused("key of an object", ROOT_OUTPUT, Plan::Agrees, text)]);
}

#[test]
fn ephemeral_condition_messages_are_a_warning() {
    let warned = Verdict::Warned("Error message refers to ephemeral values");
    check(&[
        refused(
            "message of a precondition",
            warned,
            Plan::Agrees,
            r#"
resource "playground_secret" "p" {
  name = "p"
  lifecycle {
    precondition {
      condition     = path.module != ""
      error_message = "not ${@}" # here
    }
  }
}
"#,
        ),
        refused(
            "message of a postcondition",
            warned,
            Plan::Agrees,
            r#"
resource "terraform_data" "p" {
  input = "p"
  lifecycle {
    postcondition {
      condition     = path.module != ""
      error_message = "not ${@}" # here
    }
  }
}
"#,
        ),
        refused(
            "message of a check",
            warned,
            Plan::Agrees,
            r#"
check "p" {
  assert {
    condition     = path.module != ""
    error_message = "not ${@}" # here
  }
}
"#,
        ),
        refused(
            "message of an output's precondition",
            warned,
            Plan::Agrees,
            r#"
output "p" {
  value = 1
  precondition {
    condition     = path.module != ""
    error_message = "not ${@}" # here
  }
}
"#,
        ),
    ]);
}
