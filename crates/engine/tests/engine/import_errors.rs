//! Tests of `import` blocks that are errors, and of providers that answer an import with an error.

use expect_test::expect;

use crate::{
    import_blocks::{ONE, check, shown},
    world::{summaries, world},
};

#[test]
fn unusable_ids_are_errors_at_their_expressions() {
    let id = |id: &str| {
        format!(
            r#"
variable "secret" {{
  default   = "hunter2"
  sensitive = true
}}
variable "fleeting" {{
  default   = "x"
  ephemeral = true
}}
variable "nothing" {{ default = null }}
variable "empty" {{ default = "" }}
resource "test_thing" "a" {{ name = "a" }}
resource "test_thing" "b" {{ name = "b" }}
import {{
  to = test_thing.a
  id = {id}
}}
"#
        )
    };
    check(
        &id("var.secret"),
        expect![[r#"
        test_thing.b Create
        Invalid import id argument: var.secret
          The import id cannot be sensitive.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &id("var.fleeting"),
        expect![[r#"
        test_thing.b Create
        Invalid import id argument: var.fleeting
          The import id cannot be ephemeral.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &id("var.nothing"),
        expect![[r#"
        test_thing.b Create
        Invalid import id argument: var.nothing
          The import id cannot be null.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &id("var.empty"),
        expect![[r#"
        test_thing.b Create
        Invalid import id argument: var.empty
          The import ID value evaluates to an empty string, please provide a non-empty value.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &id("test_thing.b.id"),
        expect![[r#"
        test_thing.b Create
        Invalid import id argument: test_thing.b.id
          The import block "id" argument depends on resource attributes that cannot be determined until apply, so Mayfly cannot plan to import this resource. Use values that are known now, or apply what they depend on first, without this block.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &id("[var.empty]"),
        expect![[r#"
        test_thing.b Create
        Incorrect value type: [var.empty]
          Invalid expression value: string required.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
}

#[test]
fn unusable_keys_and_repetitions_are_errors() {
    let each = |for_each: &str, key: &str| {
        format!(
            r#"
variable "secret" {{
  default   = "hunter2"
  sensitive = true
}}
resource "test_thing" "b" {{ name = "b" }}
resource "test_thing" "a" {{
  for_each = toset(["x"])
  name     = "a"
}}
import {{
  for_each = {for_each}
  to       = test_thing.a[{key}]
  id       = "i"
}}
"#
        )
    };
    check(
        &each("[1]", "var.secret"),
        expect![[r#"
        test_thing.b Create
        Import block 'to' address contains an invalid key: var.secret
          Import block contained a resource address using an index which is sensitive. Use a string or a whole number that is known when planning.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("[1]", "test_thing.b.id"),
        expect![[r#"
        test_thing.b Create
        Import block 'to' address contains an invalid key: test_thing.b.id
          Import block contained a resource address using an index which will only be known after apply. Use a string or a whole number that is known when planning.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("[1]", "true ? null : \"x\""),
        expect![[r#"
        test_thing.b Create
        Import block 'to' address contains an invalid key: true ? null : "x"
          Import block contained a resource address using an index which is null. Use a string or a whole number that is known when planning.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("[1, 2]", "\"x\""),
        expect![[r#"
        test_thing.b Create
        Duplicate import configuration for "test_thing.a[\"x\"]": test_thing.a["x"]
          An import block for the resource "test_thing.a["x"]" was already declared. A resource can have only one import block.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("[1]", "\"y\""),
        expect![[r#"
        test_thing.a["x"] Create
        test_thing.b Create
        Configuration for import target does not exist: import
          The configuration for the given import test_thing.a["y"] does not exist. All target instances must have an associated configuration to be imported.
        #1 configure token=null region=null
        #1 plan a
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("tolist([\"x\"])", "each.value"),
        expect![[r#"
        test_thing.b Create
        Invalid for_each argument: tolist(["x"])
          The given "for_each" argument value is unsuitable: the "for_each" argument must be a map, set of strings, or a tuple, and you have provided a value of type list of string.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("test_thing.b.id == \"\" ? [1] : []", "\"x\""),
        expect![[r#"
        test_thing.b Create
        Invalid for_each argument: test_thing.b.id == "" ? [1] : []
          The "for_each" value depends on resource attributes that cannot be determined until apply, so Mayfly cannot predict how many instances will be created. To work around this, let it depend on values that are known, such as variables, or apply what it depends on first, from a configuration of its own.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
    check(
        &each("var.secret", "\"x\""),
        expect![[r#"
        test_thing.b Create
        Invalid for_each argument: var.secret
          Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key.
        #1 configure token=null region=null
        #1 plan b
        #1 end
    "#]],
    );
}

#[test]
fn target_must_be_declared() {
    check(
        "import {\n  to = test_thing.a\n  id = \"i\"\n}\n",
        expect![[r#"
        Configuration for import target does not exist: import
          The configuration for the given import test_thing.a does not exist. All target instances must have an associated configuration to be imported. Write the block of the resource, or let it be generated: plan with -generate-config-out=generated.tf.
    "#]],
    );
    check(
        "import {\n  to = module.m.test_thing.a\n  id = \"i\"\n}\n",
        expect![[r#"
        Configuration for import target does not exist: import
          The configuration for the given import module.m.test_thing.a does not exist. All target instances must have an associated configuration to be imported.
    "#]],
    );
    check(
        "locals { n = 0 }\nresource \"test_thing\" \"a\" {\n  count = local.n\n  name  = \"a\"\n}\nimport \
         {\n  to = test_thing.a[local.n]\n  id = \"i\"\n}\n",
        expect![[r#"
            Configuration for import target does not exist: import
              The configuration for the given import test_thing.a[0] does not exist. All target instances must have an associated configuration to be imported.
        "#]],
    );
}

#[test]
fn strange_answers_of_providers_are_errors() {
    for strange in ["none", "two", "null", "other"] {
        let mut world = world(ONE);
        world.with_shared(|shared| shared.strange_import = strange);
        let outcome = world.plan();
        assert!(outcome.refreshed.is_empty());
        let found = summaries(&outcome.diagnostics);
        let expected = match strange {
            "none" => "error: Import returned no resources\n",
            "two" => "error: Multiple import states not supported\n",
            "null" => "error: Import returned null resource\n",
            _ => "error: Provider produced invalid object\n",
        };
        assert_eq!(found, expected);
    }
    let mut world = world(ONE);
    world.fault("import strange");
    assert_eq!(summaries(&world.plan().diagnostics), "error: import strange failed\n");
    world.mend();
    world.with_shared(|shared| shared.gone.push("strange".to_owned()));
    let found = summaries(&world.plan().diagnostics);
    assert_eq!(found, "error: Cannot import non-existent remote object\n");
}

#[test]
fn configuration_is_generated_only_for_resources_of_the_root_module_without_keys() {
    let mut world = world(
        r#"
locals { k = "k" }
import {
  to = test_thing.a[local.k]
  id = "a"
}
import {
  to = module.m.test_thing.b
  id = "b"
}
"#,
    );
    world.generates = true;
    let outcome = world.plan();
    expect![[r#"
        Configuration generation for count and for_each resources not supported: import
          The configuration for the given import test_thing.a does not exist. Configuration generation is only possible for resources that do not use count or for_each. Write the block of the resource.
        Cannot generate configuration for resource inside sub-module: import
          The configuration for the given import module.m.test_thing.b does not exist. Configuration generation is only possible for resources in the root module, and not possible for resources in sub-modules. Write the block of the resource.
    "#]].assert_eq(&shown(&world, &outcome.plan, &outcome.diagnostics));
}

#[test]
fn generated_configuration_is_kept_if_its_plan_fails() {
    let mut world = world("import {\n  to = test_thing.a\n  id = \"a\"\n}\n");
    world.generates = true;
    world.fault("plan a");
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "error: plan a failed\n");
    let change = &outcome.plan.resource_changes[0].change;
    assert!(change.generated_config.contains("name"), "{}", change.generated_config);
}

#[test]
fn cycle_of_an_import_id_through_a_local_is_named() {
    let config = r#"
locals { id = test_thing.a.id }
resource "test_thing" "a" { name = "a" }
import {
  to = test_thing.a
  id = local.id
}
"#;
    let found = world(config).plan().diagnostics;
    expect![[r#"
        error: Cycle: local.id, test_thing.a, import of test_thing.a
    "#]]
    .assert_eq(&summaries(&found));
}
