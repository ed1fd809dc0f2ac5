//! Computed module sources during an editor session.

use serde_json::Value;

use crate::bench::Session;

fn has(code: &'static str) -> impl Fn(&[Value]) -> bool {
    move |found| found.iter().any(|it| it["code"] == code)
}

const FIXTURE: &str = r#"
//- /main.tf
variable "flavour" {
  type = string
}
module "m" {
  source = "./${var.flavour}"
}
output "o" {
  value = module.m.only_small
}
//- /small/main.tf
output "only_small" {
  value = 1
}
//- /large/main.tf
output "only_large" {
  value = 1
}
"#;

#[test]
fn module_source_is_resolved_while_typed() {
    let mut session = Session::new(FIXTURE);
    session.open_file("main.tf");
    let unset = session.diagnostics_when("main.tf", has("unset-static-variable"));
    // There are no consequential errors.
    assert_eq!(unset.len(), 1, "{unset:?}");
    let main = FIXTURE
        .split("//- /")
        .nth(1)
        .expect("is there")
        .strip_prefix("main.tf\n")
        .expect("begins so");
    let with =
        |default: &str| main.replace("  type = string\n", &format!("  default = \"{default}\"\n"));
    session.set("main.tf", &with("small"));
    session.diagnostics_when("main.tf", <[Value]>::is_empty);
    session.set("main.tf", &with("large"));
    session.diagnostics_when("main.tf", has("unsupported-attribute"));
    session.set("main.tf", &with("none"));
    session.diagnostics_when("main.tf", has("module-not-installed"));
    session.leave();
}

#[test]
fn variables_file_sets_the_value_of_a_module_source() {
    let mut session = Session::new(FIXTURE);
    session.open_file("main.tf");
    session.diagnostics_when("main.tf", has("unset-static-variable"));
    session.write("terraform.tfvars", "flavour = \"small\"\n");
    session.diagnostics_when("main.tf", <[Value]>::is_empty);
    session.write("terraform.tfvars", "flavour = \"large\"\n");
    session.diagnostics_when("main.tf", has("unsupported-attribute"));
    session.leave();
}
