//! Objects that others made or changed: imports, drift, and data sources that are read late.

use conformance::World;
use expect_test::expect;

use crate::{check, check_with, explained};

const PARAMETER: &str = r#"resource "playground_parameter" "p" {
  name  = "p"
  type  = "String"
  value = "one"
}
"#;

/// A world in whose remote system another configuration has made the parameter.
fn with_parameter(text: &str) -> World {
    let world = World::new(&format!("//- /main.tf\n{text}"));
    other(&world, PARAMETER).apply();
    world
}

/// Another configuration of the same remote system.
fn other(world: &World, text: &str) -> World {
    let provider = "provider \"playground\" {\n  store = \"$STORE\"\n}\n";
    world.beside(&format!("//- /other/main.tf\n{text}\n{provider}"), "other")
}

#[test]
fn import_block_is_a_cause_beside_the_update() {
    let import = "import {\n  to = playground_parameter.p\n  id = \"p\"\n}\n\n";
    let mut same = with_parameter(&format!("{import}{PARAMETER}"));
    expect![[r#"
        playground_parameter.p does not change because:
          - it is imported with the ID "p"  main.tf:1
    "#]]
    .assert_eq(&explained(&mut same, "playground_parameter.p"));
    let two = PARAMETER.replace("one", "two");
    let mut other = with_parameter(&format!("{import}{two}"));
    expect![[r#"
        playground_parameter.p will be updated in-place because:
          - value changes from (sensitive value) to (sensitive value)  main.tf:9
            - the configuration has the value (sensitive value)        main.tf:9
          - version may change when the provider updates the object    main.tf:6
          - it is imported with the ID "p"                             main.tf:1
    "#]]
    .assert_eq(&explained(&mut other, "playground_parameter.p"));
    expect![[r#"
        Why:
          ~ playground_parameter.p  value changes from (sensitive value) to (sensitive value) <- the configuration has the value (sensitive value) (and 2 more)  main.tf:9
    "#]]
    .assert_eq(&explained(&mut other, ""));
}

#[test]
fn import_with_for_each_names_its_block() {
    let text = r#"locals {
  names = { a = "p" }
}

import {
  for_each = local.names
  to       = playground_parameter.p[each.key]
  id       = each.value
}

resource "playground_parameter" "p" {
  for_each = local.names
  name     = each.value
  type     = "String"
  value    = "one"
}
"#;
    expect![[r#"
        playground_parameter.p["a"] does not change because:
          - it is imported with the ID "p"  main.tf:5
            - each.value is "p"             main.tf:6
              - local.names.a is "p"        main.tf:2
    "#]]
    .assert_eq(&explained(&mut with_parameter(text), "playground_parameter.p"));
}

#[test]
fn the_id_of_an_import_has_causes() {
    let text = r#"variable "name" {
  default = "p"
}

locals {
  ids = { first = var.name }
}

import {
  to = playground_parameter.p["other"]
  id = "p"
}

import {
  for_each = [{ key = "third", id = var.name }]
  to       = playground_parameter.p[each.value.key]
  id       = each.value.id
}

import {
  for_each = local.ids
  to       = playground_parameter.p["${each.key}-one"]
  id       = each.value
}

resource "playground_parameter" "p" {
  for_each = toset(["first-one", "other", "third"])
  name     = "p"
  type     = "String"
  value    = "one"
}
"#;
    expect![[r#"
        playground_parameter.p["first-one"] does not change because:
          - it is imported with the ID "p"      main.tf:20
            - each.value is "p"                 main.tf:21
              - local.ids.first is "p"          main.tf:6
                - var.name is "p", its default  main.tf:2

        playground_parameter.p["other"] does not change because:
          - it is imported with the ID "p"  main.tf:9

        playground_parameter.p["third"] does not change because:
          - it is imported with the ID "p"    main.tf:14
            - each.value.id is "p"            main.tf:15
              - var.name is "p", its default  main.tf:2
    "#]]
    .assert_eq(&explained(&mut with_parameter(text), "playground_parameter.p"));
}

#[test]
fn deletion_from_outside_is_a_cause() {
    let reader =
        "\nresource \"terraform_data\" \"a\" {\n  input = playground_parameter.p.version\n}\n";
    let delete = |world: &mut World| {
        let mut beside = other(world, PARAMETER);
        beside.state = world.state.clone();
        beside.mode = state::PlanMode::Destroy;
        beside.apply();
    };
    let text = format!("{PARAMETER}{reader}");
    check_with(
        &text,
        &text,
        delete,
        "playground_parameter.p",
        expect![[r#"
        playground_parameter.p will be created because:
          - it was deleted outside of Mayfly
    "#]],
    );
    check_with(
        &text,
        &text,
        delete,
        "terraform_data.a",
        expect![[r#"
            terraform_data.a will be updated in-place because:
              - input is known only after apply                                                          main.tf:8
                - playground_parameter.p.version is computed by the provider when it creates the object  main.tf:1
                  - playground_parameter.p will be created                                               main.tf:1
                    - it was deleted outside of Mayfly
              - output may change when the provider updates the object                                   main.tf:7
        "#]],
    );
}

#[test]
fn change_from_outside_is_undone_or_kept() {
    let change = |world: &mut World| {
        let mut beside = other(world, &PARAMETER.replace("String", "SecureString"));
        beside.state = world.state.clone();
        beside.apply();
    };
    check_with(
        PARAMETER,
        PARAMETER,
        change,
        "playground_parameter.p",
        expect![[r#"
        playground_parameter.p will be updated in-place because:
          - type changes from "SecureString" to "String"             main.tf:3
            - it was changed outside of Mayfly from "String" to "SecureString"
            - the configuration has the value "String"               main.tf:3
          - version may change when the provider updates the object  main.tf:1
    "#]],
    );
    let ignoring = PARAMETER
        .replace("\"one\"\n", "\"one\"\n\n  lifecycle {\n    ignore_changes = [type]\n  }\n");
    check_with(
        &ignoring,
        &ignoring,
        change,
        "playground_parameter.p",
        expect![[r#"
            playground_parameter.p does not change because:
              - type differs from the configuration, which lifecycle.ignore_changes ignores  main.tf:1
                - it was changed outside of Mayfly from "String" to "SecureString"
        "#]],
    );
}

#[test]
fn data_source_of_a_check_is_read_again() {
    let text = |value: u32| {
        format!(
            r#"resource "playground_secret" "s" {{
  name  = "s"
  value = "1"
}}

resource "terraform_data" "t" {{
  input = {value}
}}

check "health" {{
  data "playground_secret" "s" {{
    name       = "s"
    depends_on = [terraform_data.t]
  }}

  assert {{
    condition     = data.playground_secret.s.name == "s"
    error_message = "No."
  }}
}}
"#
        )
    };
    check(
        &text(1),
        &text(2),
        "data.playground_secret.s",
        expect![[r#"
        data.playground_secret.s will be read during apply because:
          - it depends on objects that change                           main.tf:11
            - terraform_data.t will be updated in-place                 main.tf:6
              - input changes from 1 to 2                               main.tf:7
                - the configuration has the value 2                     main.tf:7
              - output may change when the provider updates the object  main.tf:6
    "#]],
    );
    check(
        &text(1),
        &text(2),
        "",
        expect![[r#"
        Why:
         <= data.playground_secret.s  it depends on objects that change <- the configuration has the value 2  main.tf:7
          ~ terraform_data.t          input changes from 1 to 2 <- the configuration has the value 2 (and 1 more)  main.tf:7
    "#]],
    );
    let without = |value: u32| text(value).replace("    depends_on = [terraform_data.t]\n", "");
    check(
        &without(1),
        &without(2),
        "data.playground_secret.s",
        expect![[r#"
        data.playground_secret.s will be read during apply because:
          - it belongs to a check block, and is read again after the changes  main.tf:11
    "#]],
    );
}
