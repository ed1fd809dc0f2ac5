//! Plans that options limit or extend: `-target`, `-exclude` and `-replace`.

use addr::{Target, parse_target};
use conformance::World;
use expect_test::{Expect, expect};

use crate::{check_with, explained_in};

const TWO: &str = r#"
variable "size" {
  default = 1
}

resource "terraform_data" "network" {
  input = var.size
}

resource "terraform_data" "web" {
  count = 2
  input = terraform_data.network.output
}

resource "terraform_data" "other" {
  input = var.size
}

module "dns" {
  source = "./dns"
}

output "other" {
  value = terraform_data.other.output
}
"#;

const DNS: &str = "\n//- /dns/main.tf\nresource \"terraform_data\" \"zone\" {\n  input = 1\n}\n";

fn target(address: &str) -> Target {
    parse_target(address).expect("an address")
}

/// Plans [`TWO`] with another size and limits, and explains addresses.
#[track_caller]
fn check_limited(limit: impl FnOnce(&mut World), questions: &[&str], expected: Expect) {
    let mut world = World::new(&format!("//- /main.tf\n{TWO}{DNS}"));
    let diagnostics = world.apply();
    assert!(!diagnostics.iter().any(db::Diagnostic::is_error), "{diagnostics:#?}");
    let after = TWO.replace("default = 1", "default = 2");
    world.edit("main.tf", &format!("{after}\nresource \"terraform_data\" \"new\" {{\n}}\n"));
    limit(&mut world);
    let outcome = world.plan();
    assert!(!outcome.has_errors(), "{:#?}", outcome.diagnostics);
    let answers: Vec<String> =
        questions.iter().map(|it| explained_in(&world, &outcome, it)).collect();
    expected.assert_eq(&answers.join("\n"));
}

#[test]
fn target_leaves_out_all_that_it_does_not_need() {
    check_limited(
        |world| world.targets = vec![target("terraform_data.web[0]")],
        &[
            "terraform_data.network",
            "terraform_data.web[1]",
            "terraform_data.other",
            "terraform_data.other.input",
            "terraform_data.new",
            "module.dns",
            "output.other",
        ],
        expect![[r#"
            terraform_data.network will be updated in-place because:
              - input changes from 1 to 2                               main.tf:7
                - var.size is 2, its default                            main.tf:3
              - output may change when the provider updates the object  main.tf:6

            terraform_data.web[1] is not part of the plan because:
              - it is not needed for the targets (-target of terraform_data.web[0])

            terraform_data.other is not part of the plan because:
              - it is not needed for the targets (-target of terraform_data.web[0])

            terraform_data.other.input is not part of the plan because:
              - terraform_data.other is not needed for the targets (-target of terraform_data.web[0])

            terraform_data.new is not part of the plan because:
              - it is not needed for the targets (-target of terraform_data.web[0])

            module.dns has no changes because:
              - it is not needed for the targets (-target of terraform_data.web[0])

            output.other is not part of the plan because:
              - it is not needed for the targets (-target of terraform_data.web[0])
        "#]],
    );
}

#[test]
fn exclusion_leaves_out_all_that_depends_on_it() {
    check_limited(
        |world| {
            world.excludes = ["terraform_data.network", "terraform_data.x", "module.x", "module.y"]
                .map(target)
                .into();
        },
        &["terraform_data.web[0]", "terraform_data.network", "terraform_data.new", "output.other"],
        expect![[r#"
            terraform_data.web[0] is not part of the plan because:
              - it depends on what is excluded (-exclude of terraform_data.network, terraform_data.x, module.x and 1 more)

            terraform_data.network is not part of the plan because:
              - it is excluded by -exclude of terraform_data.network

            terraform_data.new will be created because:
              - it is declared, and not in the state  main.tf:27

            output.other is known only after apply because:
              - terraform_data.other.output may change when the provider updates the object  main.tf:15
                - terraform_data.other will be updated in-place                              main.tf:15
                  - input changes from 1 to 2                                                main.tf:16
                    - var.size is 2, its default                                             main.tf:3
        "#]],
    );
}

#[test]
fn dependent_of_a_requested_replacement_is_traced_to_the_option() {
    let text = "resource \"terraform_data\" \"web\" {\n}\n\nresource \"terraform_data\" \"dns\" \
                {\n  input = terraform_data.web.id\n}\n";
    let replace = |world: &mut World| {
        world.replace =
            vec![addr::parse_resource_instance("terraform_data.web").expect("an address")];
    };
    check_with(
        text,
        text,
        replace,
        "terraform_data.dns",
        expect![[r#"
            terraform_data.dns will be updated in-place because:
              - input is known only after apply                                                     main.tf:5
                - terraform_data.web.id is computed by the provider when it creates the new object  main.tf:1
                  - terraform_data.web must be replaced                                             main.tf:1
                    - it is named by the option -replace
              - output may change when the provider updates the object                              main.tf:4
        "#]],
    );
}
