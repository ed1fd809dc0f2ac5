//! Values: attributes, outputs, locals and variables.

use conformance::World;
use engine::ValueSource;
use expect_test::expect;
use values::Value;

use crate::{check, explained, explained_in};

const CHAIN: &str = r#"
variable "size" {
  type    = number
  default = 1
}

locals {
  config = { size = var.size, name = "fixed" }
}

module "web" {
  source = "./web"
  size   = local.config.size
  name   = terraform_data.root.id
}

resource "terraform_data" "root" {
  triggers_replace = var.size
}

resource "terraform_data" "last" {
  input = [module.web.doubled, module.web.name, local.config.name]
}

output "last" {
  value = module.web.name
}

//- /web/main.tf
variable "size" {
  type = number
}

variable "name" {
  type = string
}

locals {
  doubled = var.size * 2
}

resource "terraform_data" "a" {
  input = var.name
}

output "doubled" {
  value = local.doubled
}

output "name" {
  value = terraform_data.a.output
}
"#;

fn root() -> String {
    CHAIN.split("//- ").next().unwrap_or_default().to_owned()
}

#[test]
fn chain_goes_through_modules_to_the_root_cause() {
    let after = root().replace("default = 1", "default = 2");
    check(
        CHAIN,
        &after,
        "terraform_data.last.input",
        expect![[r#"
        terraform_data.last.input is known only after apply because:
          - module.web.name is known only after apply                                                    web/main.tf:22
            - module.web.terraform_data.a.output may change when the provider updates the object         web/main.tf:13
              - module.web.terraform_data.a will be updated in-place                                     web/main.tf:13
                - input is known only after apply                                                        web/main.tf:14
                  - module.web.var.name is known only after apply                                        main.tf:14
                    - terraform_data.root.id is computed by the provider when it creates the new object  main.tf:17
                      - terraform_data.root must be replaced                                             main.tf:17
                        - triggers_replace changes from 1 to 2, which forces replacement                 main.tf:18
                          - var.size is 2, its default                                                   main.tf:4
    "#]],
    );
    check(
        CHAIN,
        &after,
        "output.last",
        expect![[r#"
        output.last is known only after apply because:
          - module.web.name is known only after apply                                                    web/main.tf:22
            - module.web.terraform_data.a.output may change when the provider updates the object         web/main.tf:13
              - module.web.terraform_data.a will be updated in-place                                     web/main.tf:13
                - input is known only after apply                                                        web/main.tf:14
                  - module.web.var.name is known only after apply                                        main.tf:14
                    - terraform_data.root.id is computed by the provider when it creates the new object  main.tf:17
                      - terraform_data.root must be replaced                                             main.tf:17
                        - triggers_replace changes from 1 to 2, which forces replacement                 main.tf:18
                          - var.size is 2, its default                                                   main.tf:4
    "#]],
    );
}

#[test]
fn values_of_modules_can_be_asked_for() {
    let after = root().replace("default = 1", "default = 2");
    let mut world = World::new(&format!("//- /main.tf\n{CHAIN}"));
    world.apply();
    world.edit("main.tf", &after);
    world.variables.set("size", Value::int(5), ValueSource::Environment);
    let outcome = world.plan();
    let ask = |address: &str| explained_in(&world, &outcome, address);
    expect![[r#"
        module.web.local.doubled is 10 because:
          - module.web.var.size is 5                                    main.tf:13
            - local.config.size is 5                                    main.tf:8
              - var.size is 5, set by its TF_VAR_ environment variable  main.tf:2
    "#]]
    .assert_eq(&ask("module.web.local.doubled"));
    expect![[r#"
        module.web.var.name is known only after apply because:
          - terraform_data.root.id is computed by the provider when it creates the new object  main.tf:17
            - terraform_data.root must be replaced                                             main.tf:17
              - triggers_replace changes from 1 to 5, which forces replacement                 main.tf:18
                - var.size is 5, set by its TF_VAR_ environment variable                       main.tf:2
    "#]].assert_eq(&ask("module.web.var.name"));
    expect![[r#"
        var.size is 5, set by its TF_VAR_ environment variable.  main.tf:2
    "#]]
    .assert_eq(&ask("var.size"));
    expect![[r#"
        local.config.name is "fixed".  main.tf:8
    "#]]
    .assert_eq(&ask("local.config.name"));
    expect![[r#"
        module.web.doubled is 10 because:
          - module.web.local.doubled is 10                                web/main.tf:10
            - module.web.var.size is 5                                    main.tf:13
              - local.config.size is 5                                    main.tf:8
                - var.size is 5, set by its TF_VAR_ environment variable  main.tf:2
    "#]]
    .assert_eq(&ask("module.web.output.doubled"));
    expect![[r#"
        module.web has 1 change.

        module.web.terraform_data.a will be updated in-place because:
          - input is known only after apply                                                        web/main.tf:14
            - module.web.var.name is known only after apply                                        main.tf:14
              - terraform_data.root.id is computed by the provider when it creates the new object  main.tf:17
                - terraform_data.root must be replaced                                             main.tf:17
                  - triggers_replace changes from 1 to 5, which forces replacement                 main.tf:18
                    - var.size is 5, set by its TF_VAR_ environment variable                       main.tf:2
          - output may change when the provider updates the object                                 web/main.tf:13
    "#]].assert_eq(&ask("module.web"));
}

#[test]
fn untaken_branches_are_left_out() {
    let text = |value: &str| {
        format!(
            r#"locals {{
  value = "{value}"
}}

resource "terraform_data" "other" {{
}}

resource "terraform_data" "a" {{
  input = local.value == "x" ? terraform_data.other.id : local.value
}}
"#
        )
    };
    check(
        &text("a"),
        &text("b"),
        "terraform_data.a",
        expect![[r#"
        terraform_data.a will be updated in-place because:
          - input changes from "a" to "b"                           main.tf:9
            - local.value is "b"                                    main.tf:2
          - output may change when the provider updates the object  main.tf:8
    "#]],
    );
}

#[test]
fn change_from_outside_is_a_cause() {
    let text = r#"resource "playground_parameter" "p" {
  name  = "p"
  type  = "String"
  value = "written"
}

resource "terraform_data" "a" {
  input = playground_parameter.p.version
}
"#;
    let mut world = World::new(&format!("//- /main.tf\n{text}"));
    world.apply();
    let other = "resource \"playground_parameter\" \"p\" {\n  name  = \"p\"\n  type  = \"String\"\n  \
                 value = \"other\"\n}\n";
    let mut beside = world.beside(
        &format!(
            "//- /other/main.tf\n{other}\nprovider \"playground\" {{\n  store = \"$STORE\"\n}}\n"
        ),
        "other",
    );
    beside.state = world.state.clone();
    beside.apply();
    expect![[r#"
        Why:
          ~ playground_parameter.p  value changes from (sensitive value) to (sensitive value) <- value was changed outside of Mayfly from (sensitive value) to (sensitive value) (and 1 more)  main.tf:4
          ~ terraform_data.a        input is known only after apply <- playground_parameter.p.value was changed outside of Mayfly from (sensitive value) to (sensitive value) (and 1 more)  main.tf:4
    "#]].assert_eq(&explained(&mut world, ""));
}

#[test]
fn cycle_of_values_ends() {
    let text = |value: &str| {
        let locals: String = (0..200).map(|it| format!("  l{it} = local.l{}\n", it + 1)).collect();
        format!(
            "locals {{\n{locals}  l200 = \"{value}\"\n}}\nresource \"terraform_data\" \"a\" {{\n  \
             input = local.l0\n}}\n"
        )
    };
    let mut world = World::new(&format!("//- /main.tf\n{}", text("1")));
    world.apply();
    world.edit("main.tf", &text("2"));
    let answer = explained(&mut world, "terraform_data.a");
    assert!(answer.lines().count() < causes::MOST_FINDINGS, "{answer}");
    assert!(answer.contains("- and 1 more"), "{answer}");
}

#[test]
fn block_without_objects_is_explained() {
    let none = "variable \"on\" {\n  default = false\n}\n\nresource \"terraform_data\" \"a\" {\n  \
                count = var.on ? 1 : 0\n}\n";
    check(
        none,
        none,
        "terraform_data.a",
        expect![[r#"
        terraform_data.a has no object because:
          - count of terraform_data.a is 0  main.tf:6
            - var.on is false, its default  main.tf:2
    "#]],
    );
}
