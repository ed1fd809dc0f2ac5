//! No answer holds a secret.

use conformance::World;
use engine::PlanOutcome;
use expect_test::expect;

use crate::explained_in;

/// Every value that must not be shown begins with `canary`.
const SECRETS: &str = r#"
variable "token" {
  type      = string
  sensitive = true
  default   = "canary-variable"
}

variable "password" {
  type      = string
  ephemeral = true
  default   = "canary-ephemeral"
}

locals {
  plain    = "canary-into-sensitive"
  written  = "canary-into-write-only"
  combined = { token = "${var.token}-x", name = "shown" }
}

ephemeral "playground_random" "r" {
}

resource "terraform_data" "a" {
  input = local.combined
}

resource "playground_secret" "s" {
  name             = "s"
  value_wo         = "${var.password}-${local.written}"
  value_wo_version = 1
}

resource "playground_database" "d" {
  identifier = "d"
  password = local.plain
}

resource "terraform_data" "made" {
  input = { shown = "shown", hidden = sensitive(local.plain) }
}

resource "terraform_data" "keys" {
  for_each = nonsensitive({ for key in ["k"] : key => sensitive("canary-each") })
  input    = each.value
}

output "token" {
  value     = local.combined
  sensitive = true
}
"#;

const ADDRESSES: &[&str] = &[
    "",
    "terraform_data.a",
    "terraform_data.a.input",
    "terraform_data.a.input.token",
    "playground_secret.s",
    "playground_secret.s.value_wo",
    "playground_database.d",
    "playground_database.d.password",
    "terraform_data.made",
    "terraform_data.made.input",
    "terraform_data.made.input.hidden",
    "terraform_data.keys",
    "terraform_data.keys[\"k\"].input",
    "ephemeral.playground_random.r",
    "output.token",
    "local.combined",
    "local.combined.token",
    "var.token",
    "var.password",
];

fn check_no_secret(world: &World, outcome: &PlanOutcome) {
    for address in ADDRESSES {
        let answer = explained_in(world, outcome, address);
        assert!(!answer.contains("canary"), "{address}: {answer}");
        assert!(!answer.contains("UnknownAddress"), "{address}: {answer}");
    }
}

#[test]
fn answers_hold_no_secret() {
    let mut world = World::new(&format!("//- /main.tf\n{SECRETS}"));
    let outcome = world.plan();
    assert!(!outcome.has_errors(), "{:#?}", outcome.diagnostics);
    check_no_secret(&world, &outcome);
    let diagnostics = world.apply();
    assert!(!diagnostics.iter().any(db::Diagnostic::is_error), "{diagnostics:#?}");
    world.edit(
        "main.tf",
        &SECRETS.replace("canary", "canary-2").replace("version = 1", "version = 2"),
    );
    let outcome = world.plan();
    assert!(!outcome.has_errors(), "{:#?}", outcome.diagnostics);
    check_no_secret(&world, &outcome);
}

#[test]
fn marks_are_traced_to_their_declarations() {
    let mut world = World::new(&format!("//- /main.tf\n{SECRETS}"));
    world.apply();
    let outcome = world.plan();
    let ask = |address: &str| explained_in(&world, &outcome, address);
    expect![[r#"
        terraform_data.a.input.token is (sensitive value) because:
          - local.combined.token is (sensitive value)      main.tf:17
            - var.token is (sensitive value), its default  main.tf:5

        terraform_data.a.input.token is sensitive because:
          - local.combined.token is sensitive     main.tf:17
            - var.token is declared as sensitive  main.tf:2
    "#]]
    .assert_eq(&ask("terraform_data.a.input.token"));
    expect![[r#"
        playground_secret.s.value_wo is write-only: its value is in no plan and no state because:
          - var.password is (write-only value), its default  main.tf:11
          - local.written is (write-only value)              main.tf:16

        playground_secret.s.value_wo is ephemeral because:
          - var.password is declared as ephemeral  main.tf:8
    "#]]
    .assert_eq(&ask("playground_secret.s.value_wo"));
    expect![[r#"
        playground_database.d.password is (sensitive value) because:
          - local.plain is (sensitive value)  main.tf:15

        playground_database.d.password is declared as sensitive.  main.tf:35
    "#]]
    .assert_eq(&ask("playground_database.d.password"));
    expect![[r#"
        var.password is (ephemeral value), its default.  main.tf:11

        var.password is declared as ephemeral.  main.tf:8
    "#]]
    .assert_eq(&ask("var.password"));
}
