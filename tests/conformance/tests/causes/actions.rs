//! Actions of objects.

use conformance::World;
use expect_test::expect;
use state::PlanMode;

use crate::{check, check_with, explained_in};

const RELEASES: &str = r#"
locals {
  image = "v1"
}

resource "terraform_data" "web" {
  triggers_replace = local.image
}

resource "terraform_data" "dns" {
  input = terraform_data.web.id
}
"#;

#[test]
fn replacement_is_traced_to_an_edited_literal() {
    check(
        RELEASES,
        &RELEASES.replace("v1", "v2"),
        "terraform_data.dns",
        expect![[r#"
        terraform_data.dns will be updated in-place because:
          - input is known only after apply                                                     main.tf:11
            - terraform_data.web.id is computed by the provider when it creates the new object  main.tf:6
              - terraform_data.web must be replaced                                             main.tf:6
                - triggers_replace changes from "v1" to "v2", which forces replacement          main.tf:7
                  - local.image is "v2"                                                         main.tf:3
          - output may change when the provider updates the object                              main.tf:10
    "#]],
    );
}

#[test]
fn overview_has_one_line_for_each_change() {
    check(
        RELEASES,
        &RELEASES.replace("v1", "v2"),
        "",
        expect![[r#"
            Why:
              ~ terraform_data.dns  input is known only after apply <- local.image is "v2" (and 1 more)  main.tf:3
            -/+ terraform_data.web  triggers_replace changes from "v1" to "v2", which forces replacement <- local.image is "v2"  main.tf:3
        "#]],
    );
}

#[test]
fn unchanged_object_has_no_cause() {
    check(
        RELEASES,
        RELEASES,
        "terraform_data.web",
        expect![[r#"
        terraform_data.web does not change.  main.tf:6
    "#]],
    );
}

#[test]
fn instances_are_traced_to_count() {
    let text = |size: u32| {
        format!(
            "variable \"size\" {{\n  default = {size}\n}}\n\n\
             resource \"terraform_data\" \"web\" {{\n  count = var.size\n}}\n"
        )
    };
    check(
        &text(1),
        &text(2),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web[0] does not change.  main.tf:5

        terraform_data.web[1] will be created because:
          - count of terraform_data.web is 2, which includes the index 1  main.tf:6
            - var.size is 2, its default                                  main.tf:2
    "#]],
    );
    check(
        &text(2),
        &text(1),
        "terraform_data.web[1]",
        expect![[r#"
        terraform_data.web[1] will be destroyed because:
          - count of terraform_data.web is 1, which does not include the index 1  main.tf:6
            - var.size is 1, its default                                          main.tf:2
    "#]],
    );
}

#[test]
fn instances_are_traced_to_for_each() {
    let text = |keys: &str| {
        format!("resource \"terraform_data\" \"web\" {{\n  for_each = toset([{keys}])\n}}\n")
    };
    check(
        &text("\"a\""),
        &text("\"b\""),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web["a"] will be destroyed because:
          - for_each of terraform_data.web is ["b"], without the key "a"  main.tf:2

        terraform_data.web["b"] will be created because:
          - for_each of terraform_data.web has the key "b"  main.tf:2
    "#]],
    );
}

#[test]
fn deleted_block_is_a_cause() {
    let web = "resource \"terraform_data\" \"web\" {\n}\n";
    check(
        web,
        "locals {}\n",
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will be destroyed because:
          - it is not declared by any block
    "#]],
    );
}

#[test]
fn changed_repetition_is_a_cause() {
    check(
        "resource \"terraform_data\" \"web\" {\n  for_each = toset([\"a\"])\n}\n",
        "resource \"terraform_data\" \"web\" {\n  count = 1\n}\n",
        "",
        expect![[r#"
            Why:
              + terraform_data.web[0]    count of terraform_data.web is 1, which includes the index 0  main.tf:2
              - terraform_data.web["a"]  it has a key that does not fit to the count or for_each of its block  main.tf:1
        "#]],
    );
}

#[test]
fn removed_and_moved_blocks_are_causes() {
    let both = "resource \"terraform_data\" \"a\" {\n}\n\nresource \"terraform_data\" \"b\" {\n}\n";
    check(
        both,
        r#"removed {
  from = terraform_data.a

  lifecycle {
    destroy = false
  }
}

moved {
  from = terraform_data.b
  to   = terraform_data.c
}

resource "terraform_data" "c" {
}
"#,
        "",
        expect![[r#"
            Why:
              . terraform_data.a  it is ended by a removed block with destroy = false  main.tf:1
                terraform_data.c  it moves from terraform_data.b  main.tf:9
        "#]],
    );
}

#[test]
fn deleted_module_and_its_instances_are_causes() {
    let before = r#"
module "net" {
  source = "./net"
  count  = 2
}

module "old" {
  source = "./net"
}

//- /net/main.tf
resource "terraform_data" "a" {
}
"#;
    check(
        before,
        "module \"net\" {\n  source = \"./net\"\n  count  = 1\n}\n",
        "",
        expect![[r#"
            Why:
              - module.net[1].terraform_data.a  count of module.net is 1, which does not include the index 1  main.tf:3
              - module.old.terraform_data.a     module.old is not called
        "#]],
    );
}

#[test]
fn requested_replacement_and_destruction_are_causes() {
    let web = "resource \"terraform_data\" \"web\" {\n}\n";
    let replace = |world: &mut World| {
        let web = addr::parse_resource_instance("terraform_data.web").expect("an address");
        world.replace = vec![web];
    };
    check_with(
        web,
        web,
        replace,
        "terraform_data.web",
        expect![[r#"
        terraform_data.web must be replaced because:
          - it is named by the option -replace
    "#]],
    );
    let destroy = |world: &mut World| world.mode = PlanMode::Destroy;
    check_with(
        web,
        web,
        destroy,
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will be destroyed because:
          - the plan destroys all objects
    "#]],
    );
}

#[test]
fn tainted_object_is_a_cause() {
    let web = "resource \"terraform_data\" \"web\" {\n}\n";
    let taint = |world: &mut World| {
        let web = addr::parse_resource_instance("terraform_data.web").expect("an address");
        let object = world.state.current(&web).expect("an object");
        let tainted = object.with_status(state::Status::Tainted);
        let provider = world.state.provider_of(&web).expect("a provider").clone();
        world.state.set_current(&web, &provider, tainted.into());
    };
    check_with(
        web,
        web,
        taint,
        "terraform_data.web",
        expect![[r#"
        terraform_data.web must be replaced because:
          - it is tainted, so its object cannot be kept
    "#]],
    );
}

#[test]
fn triggers_and_the_order_of_a_replacement_are_causes() {
    let text = |input: &str| {
        format!(
            r#"resource "terraform_data" "a" {{
  input = "{input}"
}}

resource "terraform_data" "b" {{
  lifecycle {{
    create_before_destroy = true
    replace_triggered_by  = [terraform_data.a.input]
  }}
}}
"#
        )
    };
    check(
        &text("1"),
        &text("2"),
        "terraform_data.b",
        expect![[r#"
            terraform_data.b must be replaced (the new object is created first) because:
              - terraform_data.a.input changes, and lifecycle.replace_triggered_by names it  main.tf:8
                - it changes from "1" to "2"                                                 main.tf:2
                  - the configuration has the value "2"                                      main.tf:2
              - it is created before its old object is destroyed (create_before_destroy)     main.tf:5
        "#]],
    );
}

#[test]
fn trigger_of_a_whole_resource_is_traced_to_the_change_of_its_instance() {
    let text = |input: &str| {
        format!(
            r#"resource "terraform_data" "a" {{
  for_each = toset(["x", "y"])
  input    = each.key == "y" ? "{input}" : "same"
}}

resource "terraform_data" "b" {{
  for_each = terraform_data.a

  lifecycle {{
    replace_triggered_by = [terraform_data.a[each.key]]
  }}
}}

resource "terraform_data" "all" {{
  lifecycle {{
    replace_triggered_by = [terraform_data.a]
  }}
}}
"#
        )
    };
    check(
        &text("1"),
        &text("2"),
        "terraform_data.b",
        expect![[r#"
        terraform_data.b["x"] does not change.  main.tf:6

        terraform_data.b["y"] must be replaced because:
          - terraform_data.a["y"] changes, and lifecycle.replace_triggered_by names it  main.tf:10
            - it will be updated in-place                                               main.tf:1
              - input changes from "1" to "2"                                           main.tf:3
                - each.key is "y"                                                       main.tf:2
              - output may change when the provider updates the object                  main.tf:1
    "#]],
    );
    check(
        &text("1"),
        &text("2"),
        "terraform_data.all",
        expect![[r#"
        terraform_data.all must be replaced because:
          - terraform_data.a["y"] changes, and lifecycle.replace_triggered_by names it  main.tf:16
            - it will be updated in-place                                               main.tf:1
              - input changes from "1" to "2"                                           main.tf:3
                - each.key is "y"                                                       main.tf:2
              - output may change when the provider updates the object                  main.tf:1
    "#]],
    );
}

#[test]
fn create_before_destroy_is_traced_to_the_dependent_that_spreads_it() {
    let text = |value: u32| {
        format!(
            r#"resource "terraform_data" "network" {{
  triggers_replace = {value}
}}

module "web" {{
  source  = "./web"
  network = terraform_data.network.id
}}

//- /web/main.tf
variable "network" {{
}}

resource "terraform_data" "server" {{
  triggers_replace = var.network
}}

locals {{
  server = terraform_data.server.id
}}

resource "terraform_data" "name" {{
  input = local.server

  lifecycle {{
    create_before_destroy = true
  }}
}}
"#
        )
    };
    let (after, _) =
        text(2).split_once("\n//-").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("two files");
    check(
        &text(1),
        &after,
        "terraform_data.network",
        expect![[r#"
        terraform_data.network must be replaced (the new object is created first) because:
          - triggers_replace changes from 1 to 2, which forces replacement                 main.tf:2
            - the configuration has the value 2                                            main.tf:2
          - it is created before its old object is destroyed, for the sake of a dependent  main.tf:1
            - module.web.terraform_data.server depends on terraform_data.network           web/main.tf:4
              - module.web.terraform_data.name depends on module.web.terraform_data.server, and has create_before_destroy  web/main.tf:12
    "#]],
    );
}

#[test]
fn dependent_outside_of_the_targets_spreads_no_order() {
    let text = |value: u32| {
        format!(
            r#"resource "terraform_data" "a" {{
  triggers_replace = {value}
}}

resource "terraform_data" "near" {{
  input = terraform_data.a.id

  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "terraform_data" "middle" {{
  input = terraform_data.a.id
}}

resource "terraform_data" "target" {{
  input = terraform_data.middle.id

  lifecycle {{
    create_before_destroy = true
  }}
}}
"#
        )
    };
    let target = |world: &mut World| {
        world.targets = vec![addr::parse_target("terraform_data.target").expect("an address")];
    };
    check_with(
        &text(1),
        &text(2),
        target,
        "terraform_data.a",
        expect![[r#"
            terraform_data.a must be replaced (the new object is created first) because:
              - triggers_replace changes from 1 to 2, which forces replacement                             main.tf:2
                - the configuration has the value 2                                                        main.tf:2
              - it is created before its old object is destroyed, for the sake of a dependent              main.tf:1
                - terraform_data.middle depends on terraform_data.a                                        main.tf:13
                  - terraform_data.target depends on terraform_data.middle, and has create_before_destroy  main.tf:17
        "#]],
    );
}

#[test]
fn data_source_is_traced_to_its_dependencies() {
    let text = |value: &str| {
        format!(
            r#"resource "playground_secret" "s" {{
  name  = "s"
  value = "{value}"
}}

resource "terraform_data" "t" {{
  input = "{value}"
}}

data "playground_secret" "s" {{
  name       = "s"
  depends_on = [terraform_data.t, playground_secret.s]
}}

resource "terraform_data" "new" {{
}}

data "playground_secret" "unknown" {{
  count = "{value}" == "2" ? 1 : 0
  name  = terraform_data.new.id == "" ? "s" : terraform_data.t.output
}}
"#
        )
    };
    check(
        &text("1"),
        &text("2"),
        "data.playground_secret.s",
        expect![[r#"
            data.playground_secret.s will be read during apply because:
              - it depends on objects that change                              main.tf:10
                - terraform_data.t will be updated in-place                    main.tf:6
                  - input changes from "1" to "2"                              main.tf:7
                    - the configuration has the value "2"                      main.tf:7
                  - output may change when the provider updates the object     main.tf:6
                - playground_secret.s will be updated in-place                 main.tf:1
                  - value changes from (sensitive value) to (sensitive value)  main.tf:3
                    - the configuration has the value (sensitive value)        main.tf:3
                  - version may change when the provider updates the object    main.tf:1
        "#]],
    );
    check(
        &text("1"),
        &text("2"),
        "data.playground_secret.unknown[0]",
        expect![[r#"
        data.playground_secret.unknown[0] will be read during apply because:
          - name is known only after apply                                             main.tf:20
            - terraform_data.t.output may change when the provider updates the object  main.tf:6
              - terraform_data.t will be updated in-place                              main.tf:6
                - input changes from "1" to "2"                                        main.tf:7
                  - the configuration has the value "2"                                main.tf:7
    "#]],
    );
}

#[test]
fn ignored_differences_are_named() {
    let text = |input: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  input = \"{input}\"\n\n  lifecycle {{\n    \
             ignore_changes = [input]\n  }}\n}}\n"
        )
    };
    check(
        &text("1"),
        &text("2"),
        "terraform_data.a",
        expect![[r#"
            terraform_data.a does not change because:
              - input differs from the configuration, which lifecycle.ignore_changes ignores  main.tf:1
        "#]],
    );
}

#[test]
fn unknown_address_has_similar_ones() {
    let mut world = World::new(&format!("//- /main.tf\n{RELEASES}"));
    let outcome = world.plan();
    let ask = |address: &str| explained_in(&world, &outcome, address);
    expect![[r#"
        UnknownAddress { invalid: None, near: ["terraform_data.web", "terraform_data.dns"] }
    "#]]
    .assert_eq(&ask("terraform_data.wbe"));
    expect![[r#"
        UnknownAddress { invalid: None, near: ["terraform_data.web", "terraform_data.dns"] }
    "#]]
    .assert_eq(&ask("terraform_data.web.nope"));
    expect![[r#"
        UnknownAddress { invalid: Some("Attribute name required: Dot must be followed by attribute name."), near: ["terraform_data.dns", "terraform_data.web"] }
    "#]].assert_eq(&ask("terraform_data..x"));
}
