//! The end of objects: gone instances and blocks, `enabled`, moves, `removed`, forgetting, and deposed objects.

use expect_test::expect;

use crate::{check, check_with};

fn web(body: &str) -> String {
    format!("resource \"terraform_data\" \"web\" {{\n{body}}}\n")
}

#[test]
fn disabled_block_is_traced_to_its_condition() {
    let text = |on: bool| {
        format!(
            "variable \"on\" {{\n  default = {on}\n}}\n\n{}",
            web("  lifecycle {\n    enabled = var.on\n  }\n")
        )
    };
    check(
        &text(true),
        &text(false),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will be destroyed because:
          - enabled of terraform_data.web is false  main.tf:7
            - var.on is false, its default          main.tf:2
    "#]],
    );
    check(
        &text(false),
        &text(true),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will be created because:
          - enabled of terraform_data.web is true  main.tf:7
            - var.on is true, its default          main.tf:2
    "#]],
    );
    check(
        &text(false),
        &text(false),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web has no object because:
          - enabled of terraform_data.web is false  main.tf:7
            - var.on is false, its default          main.tf:2
    "#]],
    );
}

#[test]
fn gone_keys_of_modules_are_traced_to_their_call() {
    let text = |zones: &str| {
        format!(
            "locals {{\n  zones = {{ {zones} }}\n}}\n\nmodule \"net\" {{\n  source   = \"./net\"\n  for_each \
             = local.zones\n}}\n"
        )
    };
    let before = text("a = 1, b = 2") + "\n//- /net/main.tf\n" + &web("  input = 1\n");
    check(
        &before,
        &text("a = 1"),
        "",
        expect![[r#"
        Why:
          - module.net["b"].terraform_data.web  for_each of module.net is ["a"], without the key "b" <- local.zones is {a = 1}  main.tf:2
    "#]],
    );
    check(
        &before,
        &text("a = 1"),
        "module.net[\"b\"]",
        expect![[r#"
        module.net["b"] has 1 change because:
          - for_each of module.net is ["a"], without the key "b"  main.tf:7
            - local.zones is {a = 1}                              main.tf:2

        module.net["b"].terraform_data.web will be destroyed because:
          - for_each of module.net is ["a"], without the key "b"  main.tf:7
            - local.zones is {a = 1}                              main.tf:2
    "#]],
    );
}

#[test]
fn missing_target_of_a_move_is_a_cause() {
    check(
        &web(""),
        "moved {\n  from = terraform_data.web\n  to   = terraform_data.site\n}\n",
        "",
        expect![[r#"
            Why:
              - terraform_data.site  it is the target of a moved block, but is not declared (and 1 more)  main.tf:1
        "#]],
    );
}

#[test]
fn moved_object_keeps_the_causes_of_its_change() {
    let after = "moved {\n  from = terraform_data.web\n  to   = terraform_data.site\n}\n\nresource \
                 \"terraform_data\" \"site\" {\n  input = \"new\"\n}\n";
    check(
        &web("  input = \"old\"\n"),
        after,
        "terraform_data.site",
        expect![[r#"
            terraform_data.site will be updated in-place because:
              - input changes from "old" to "new"                       main.tf:7
                - the configuration has the value "new"                 main.tf:7
              - output may change when the provider updates the object  main.tf:6
              - it moves from terraform_data.web                        main.tf:1
        "#]],
    );
}

#[test]
fn removed_block_destroys_or_forgets() {
    let removed = |destroy: bool| {
        format!(
            "removed {{\n  from = terraform_data.web\n\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n"
        )
    };
    check(
        &web(""),
        &removed(true),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will be destroyed because:
          - it is ended by a removed block  main.tf:1
    "#]],
    );
    check(
        &web(""),
        &removed(false),
        "terraform_data.web",
        expect![[r#"
        terraform_data.web will no longer be managed because:
          - it is ended by a removed block with destroy = false  main.tf:1
    "#]],
    );
    let module =
        "module \"net\" {\n  source = \"./net\"\n}\n\n//- /net/main.tf\n".to_owned() + &web("");
    let gone = "removed {\n  from = module.net\n\n  lifecycle {\n    destroy = true\n  }\n}\n";
    check(
        &module,
        gone,
        "module.net.terraform_data.web",
        expect![[r#"
        module.net.terraform_data.web will be destroyed because:
          - it is ended by a removed block  main.tf:1
    "#]],
    );
}

#[test]
fn object_with_destroy_false_is_forgotten() {
    let kept = |count: u32| {
        web(&format!("  count = {count}\n\n  lifecycle {{\n    destroy = false\n  }}\n"))
    };
    check(
        &kept(2),
        &kept(1),
        "terraform_data.web[1]",
        expect![[r#"
            terraform_data.web[1] will no longer be managed because:
              - count of terraform_data.web is 1, which does not include the index 1  main.tf:2
              - it has lifecycle.destroy = false, so its object is not destroyed      main.tf:1
        "#]],
    );
    let keyed = kept(1).replace("count = 1", "for_each = toset([\"a\"])");
    check(
        &kept(1),
        &keyed,
        "terraform_data.web[0]",
        expect![[r#"
        terraform_data.web[0] will no longer be managed because:
          - it has a key that does not fit to the count or for_each of its block  main.tf:1
          - it has lifecycle.destroy = false, so its object is not destroyed      main.tf:1
    "#]],
    );
    check(
        &kept(1),
        "locals {\n}\n",
        "terraform_data.web[0]",
        expect![[r#"
        terraform_data.web[0] will no longer be managed because:
          - it is not declared by any block
          - it had lifecycle.destroy = false when it was last changed, so its object is not destroyed
    "#]],
    );
    let replaced = |value: u32| {
        web(&format!("  triggers_replace = {value}\n\n  lifecycle {{\n    destroy = false\n  }}\n"))
    };
    check(
        &replaced(1),
        &replaced(2),
        "terraform_data.web",
        expect![[r#"
            terraform_data.web must be replaced (the old object is kept, unmanaged) because:
              - triggers_replace changes from 1 to 2, which forces replacement    main.tf:2
                - the configuration has the value 2                               main.tf:2
              - it has lifecycle.destroy = false, so its object is not destroyed  main.tf:1
        "#]],
    );
}

#[test]
fn deposed_object_was_left_behind() {
    let depose = |world: &mut conformance::World| {
        let web = addr::parse_resource_instance("terraform_data.web").expect("an address");
        let provider = world.state.provider_of(&web).expect("a provider").clone();
        let object = world.state.current(&web).expect("an object").clone();
        let key = state::DeposedKey::parse("0badcafe").expect("a key");
        world.state.set_deposed(&web, key, &provider, object);
    };
    check_with(
        &web(""),
        &web(""),
        depose,
        "",
        expect![[r#"
            Why:
              - terraform_data.web (deposed object 0badcafe)  it was left behind by an earlier replacement that did not complete  main.tf:1
        "#]],
    );
    check_with(
        &web(""),
        &web(""),
        depose,
        "terraform_data.web",
        expect![[r#"
        terraform_data.web does not change.  main.tf:1

        terraform_data.web (deposed object 0badcafe) will be destroyed because:
          - it was left behind by an earlier replacement that did not complete
    "#]],
    );
}
