//! Tests of `moved` blocks: what they match, their order, what blocks them, and what is wrong about them.

use std::sync::Arc;

use addr::{ProviderConfigRef, parse_resource_instance};
use expect_test::{Expect, expect};
use state::{Identity, Object};
use values::{MarkKind, Path};

use crate::{
    moves,
    targets::targets,
    world::{World, summaries, world},
};

/// Applies `before` and returns the plan of `after`: actions with previous addresses, and diagnostics.
#[track_caller]
fn check(before: &str, after: &str, modules: &str, expected: Expect) -> World {
    let mut world = world(&format!("//- /main.tf\n{before}\n{modules}"));
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", after);
    expected.assert_eq(&moves::plan(&mut world));
    world
}

const MODULE: &str = "//- /m/main.tf\nresource \"test_thing\" \"in\" { name = \"in\" }\n";

#[test]
fn moved_block_keeps_the_object_under_a_new_name() {
    let mut world = check(
        r#"resource "test_thing" "a" { name = "x" }"#,
        r#"
resource "test_thing" "b" { name = "x" }
moved {
  from = test_thing.a
  to   = test_thing.b
}
"#,
        "",
        expect!["test_thing.b NoOp from test_thing.a\n"],
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(moves::stored(&world), ["test_thing.b"]);
    assert!(!world.plan().plan.is_applyable, "the block has no effect any more");
}

#[test]
fn chained_moves_lead_to_the_last_address() {
    check(
        r#"
resource "test_thing" "a" { name = "x" }
resource "test_thing" "p" { name = "y" }
"#,
        r#"
resource "test_thing" "c" { name = "x" }
resource "test_thing" "q" { name = "y" }
moved {
  from = test_thing.b
  to   = test_thing.c
}
moved {
  from = test_thing.a
  to   = test_thing.b
}
moved {
  from = test_thing.p
  to   = test_thing.q
}
"#,
        "",
        expect![[r#"
            test_thing.c NoOp from test_thing.a
            test_thing.q NoOp from test_thing.p
        "#]],
    );
}

#[test]
fn instances_move_to_other_keys() {
    check(
        r#"
resource "test_thing" "a" {
  count = 2
  name  = "x"
}
resource "test_thing" "single" { name = "y" }
"#,
        r#"
resource "test_thing" "a" {
  for_each = toset(["p", "q"])
  name     = "x"
}
resource "test_thing" "keyed" {
  for_each = toset(["k"])
  name     = "y"
}
moved {
  from = test_thing.a[0]
  to   = test_thing.a["p"]
}
moved {
  from = test_thing.a[1]
  to   = test_thing.a["q"]
}
moved {
  from = test_thing.single
  to   = test_thing.keyed["k"]
}
"#,
        "",
        expect![[r#"
            test_thing.a["p"] NoOp from test_thing.a[0]
            test_thing.a["q"] NoOp from test_thing.a[1]
            test_thing.keyed["k"] NoOp from test_thing.single
        "#]],
    );
}

#[test]
fn all_instances_of_a_resource_move_together() {
    check(
        r#"
resource "test_thing" "a" {
  count = 2
  name  = "x"
}
"#,
        r#"
resource "test_thing" "b" {
  count = 3
  name  = "x"
}
moved {
  from = test_thing.a
  to   = test_thing.b
}
"#,
        "",
        expect![[r#"
            test_thing.b[0] NoOp from test_thing.a[0]
            test_thing.b[1] NoOp from test_thing.a[1]
            test_thing.b[2] Create
        "#]],
    );
}

#[test]
fn resources_move_into_and_out_of_modules() {
    check(
        r#"
resource "test_thing" "root" { name = "in" }
module "old" { source = "./m" }
"#,
        r#"
resource "test_thing" "out" { name = "in" }
module "new" {
  source   = "./m"
  for_each = toset(["k"])
}
moved {
  from = test_thing.root
  to   = module.new["k"].test_thing.in
}
moved {
  from = module.old.test_thing.in
  to   = test_thing.out
}
"#,
        MODULE,
        expect![[r#"
            test_thing.out NoOp from module.old.test_thing.in
            module.new["k"].test_thing.in NoOp from test_thing.root
        "#]],
    );
}

#[test]
fn module_calls_move_with_everything_inside() {
    check(
        r#"
module "a" {
  source = "./outer"
  count  = 2
}
"#,
        r#"
module "b" {
  source = "./outer"
  count  = 2
}
moved {
  from = module.a
  to   = module.b
}
"#,
        "//- /outer/main.tf\nmodule \"inner\" { source = \"../m\" }\n\
         resource \"test_thing\" \"own\" { name = \"own\" }\n\
         //- /m/main.tf\nresource \"test_thing\" \"in\" { name = \"in\" }\n",
        expect![[r#"
            module.b[0].test_thing.own NoOp from module.a[0].test_thing.own
            module.b[1].test_thing.own NoOp from module.a[1].test_thing.own
            module.b[0].module.inner.test_thing.in NoOp from module.a[0].module.inner.test_thing.in
            module.b[1].module.inner.test_thing.in NoOp from module.a[1].module.inner.test_thing.in
        "#]],
    );
}

#[test]
fn block_in_a_module_holds_in_each_of_its_instances() {
    let before = r#"
module "m" {
  source   = "./m"
  for_each = toset(["p", "q"])
}
"#;
    let mut world = world(&format!("//- /main.tf{before}{MODULE}"));
    assert_eq!(summaries(&world.apply()), "");
    let after = r#"
resource "test_thing" "new" { name = "in" }
moved {
  from = test_thing.in
  to   = test_thing.new
}
"#;
    world.edit("m/main.tf", after);
    let expected = expect![[r#"
        module.m["p"].test_thing.new NoOp from module.m["p"].test_thing.in
        module.m["q"].test_thing.new NoOp from module.m["q"].test_thing.in
    "#]];
    expected.assert_eq(&moves::plan(&mut world));
}

#[test]
fn inner_move_follows_a_change_of_the_modules_key() {
    let mut world = world(&format!("//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n{MODULE}"));
    assert_eq!(summaries(&world.apply()), "");
    let main = r#"
module "m" {
  source   = "./m"
  for_each = toset(["k"])
}
moved {
  from = module.m
  to   = module.m["k"]
}
"#;
    let module = r#"
resource "test_thing" "new" { name = "in" }
moved {
  from = test_thing.in
  to   = test_thing.new
}
"#;
    world.edit("main.tf", main);
    world.edit("m/main.tf", module);
    let expected = expect![[r#"
            module.m["k"].test_thing.new NoOp from module.m.test_thing.in
        "#]];
    expected.assert_eq(&moves::plan(&mut world));
}

#[test]
fn moved_block_prevents_the_implied_move() {
    check(
        r#"
resource "test_thing" "a" { name = "x" }
module "m" { source = "./m" }
"#,
        r#"
resource "test_thing" "a" {
  count = 2
  name  = "x"
}
module "m" {
  source = "./m"
  count  = 2
}
moved {
  from = test_thing.a
  to   = test_thing.a[1]
}
moved {
  from = module.m
  to   = module.m[1]
}
"#,
        MODULE,
        expect![[r#"
            test_thing.a[0] Create
            test_thing.a[1] NoOp from test_thing.a
            module.m[0].test_thing.in Create
            module.m[1].test_thing.in NoOp from module.m.test_thing.in
        "#]],
    );
}

#[test]
fn existing_object_blocks_a_move() {
    check(
        r#"
resource "test_thing" "a" { name = "x" }
resource "test_thing" "b" { name = "y" }
"#,
        r#"
resource "test_thing" "b" { name = "y" }
moved {
  from = test_thing.a
  to   = test_thing.b
}
"#,
        "",
        expect![[r#"
            test_thing.a Delete (delete_because_no_resource_config)
            test_thing.b NoOp
            warning: Unresolved resource instance address changes
        "#]],
    );
}

#[test]
fn move_to_an_undeclared_address_deletes_the_object() {
    check(
        r#"resource "test_thing" "a" { name = "x" }"#,
        r#"
moved {
  from = test_thing.a
  to   = test_thing.b
}
"#,
        "",
        expect![[r#"
            test_thing.b Delete (delete_because_no_move_target) from test_thing.a
        "#]],
    );
}

#[test]
fn declared_instance_cannot_move_away() {
    check(
        r#"
resource "test_thing" "a" {
  count = 2
  name  = "x"
}
"#,
        r#"
resource "test_thing" "a" {
  count = 2
  name  = "x"
}
resource "test_thing" "b" { name = "x" }
moved {
  from = test_thing.a[1]
  to   = test_thing.b
}
"#,
        "",
        expect![[r#"
            test_thing.a[0] NoOp
            test_thing.a[1] Create
            test_thing.b NoOp from test_thing.a[1]
            error: Moved object still exists
        "#]],
    );
}

#[test]
fn moves_of_several_modules_must_agree() {
    let mut world = world(&format!("//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n{MODULE}"));
    assert_eq!(summaries(&world.apply()), "");
    let main = r#"
module "m" { source = "./m" }
resource "test_thing" "a" { name = "in" }
moved {
  from = module.m.test_thing.in
  to   = test_thing.a
}
"#;
    let module = r#"
resource "test_thing" "new" { name = "in" }
moved {
  from = test_thing.in
  to   = test_thing.new
}
"#;
    world.edit("main.tf", main);
    world.edit("m/main.tf", module);
    let plan = moves::plan(&mut world);
    assert!(plan.ends_with("error: Ambiguous move statements\n"), "{plan}");
}

#[test]
fn cycle_through_modules_is_an_error_and_moves_nothing() {
    let mut world = world(&format!("//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n{MODULE}"));
    assert_eq!(summaries(&world.apply()), "");
    let main = r#"
module "m" { source = "./m" }
moved {
  from = module.m.test_thing.in
  to   = module.m.test_thing.new
}
"#;
    let module = r#"
moved {
  from = test_thing.new
  to   = test_thing.in
}
"#;
    world.edit("main.tf", main);
    world.edit("m/main.tf", module);
    let plan = moves::plan(&mut world);
    assert!(plan.ends_with("error: Cyclic dependency in move statements\n"), "{plan}");
    assert!(!plan.contains(" from "), "{plan}");
}

#[test]
fn thousand_moved_blocks_are_executed() {
    let count = 1_000;
    let before =
        format!("resource \"test_thing\" \"a\" {{\n  count = {count}\n  name = \"x\"\n}}\n");
    let mut world = world(&format!("//- /main.tf\n{before}"));
    assert_eq!(summaries(&world.apply()), "");
    let keys = format!("toset([for i in range({count}) : \"k${{i}}\"])");
    let mut after =
        format!("resource \"test_thing\" \"a\" {{\n  for_each = {keys}\n  name = \"x\"\n}}\n");
    for index in 0..count {
        after += &format!(
            "moved {{\n  from = test_thing.a[{index}]\n  to = test_thing.a[\"k{index}\"]\n}}\n"
        );
    }
    world.edit("main.tf", &after);
    let plan = moves::plan(&mut world);
    assert_eq!(plan.lines().filter(|it| it.contains(" NoOp from ")).count(), count);
}

#[test]
fn watch_notices_edited_moved_and_removed_blocks() {
    let before = "resource \"test_thing\" \"a\" { name = \"x\" }\n";
    let mut world = world(&format!("//- /main.tf\n{before}")).watch();
    assert_eq!(summaries(&world.apply()), "");
    let with = |block: &str| format!("resource \"test_thing\" \"b\" {{ name = \"x\" }}\n{block}\n");
    let moved =
        |from: &str| format!("moved {{\n  from = test_thing.{from}\n  to   = test_thing.b\n}}");
    let removed = |destroy: bool| {
        format!("removed {{\n  from = test_thing.a\n  lifecycle {{ destroy = {destroy} }}\n}}")
    };
    let kept = "test_thing.b NoOp from test_thing.a\n";
    let other = |action: &str| {
        let reason = "delete_because_no_resource_config";
        format!("test_thing.a {action} ({reason})\ntest_thing.b Create\n")
    };
    let forgotten = other("Forget") + "warning: Resource will be removed from the state\n";
    let steps = [
        (moved("a"), kept.to_owned()),
        (moved("z"), other("Delete")),
        (moved("a"), kept.to_owned()),
        (String::new(), other("Delete")),
        (removed(false), forgotten.clone()),
        (removed(true), other("Delete")),
        (removed(false), forgotten),
        (moved("a"), kept.to_owned()),
    ];
    for (block, expected) in steps {
        world.edit("main.tf", &with(&block));
        assert_eq!(moves::plan(&mut world), expected, "{block}");
    }
}

#[test]
fn one_instance_leaves_a_module_call_before_the_others() {
    let before = r#"
module "b" {
  source   = "./m"
  for_each = toset(["x", "y", "z"])
}
"#;
    let call = "moved {\n  from = module.b\n  to   = module.a\n}\n";
    let one = "moved {\n  from = module.b[\"z\"]\n  to   = module.solo\n}\n";
    let modules = r#"
module "a" {
  source   = "./m"
  for_each = toset(["x", "y"])
}
module "solo" { source = "./m" }
"#;
    for blocks in [[call, one], [one, call]] {
        let expected = expect![[r#"
            module.a["x"].test_thing.in NoOp from module.b["x"].test_thing.in
            module.a["y"].test_thing.in NoOp from module.b["y"].test_thing.in
            module.solo.test_thing.in NoOp from module.b["z"].test_thing.in
        "#]];
        check(before, &format!("{modules}{}", blocks.concat()), MODULE, expected);
    }
}

#[test]
fn repeated_block_does_not_declare_the_instance_without_a_key() {
    check(
        r#"resource "test_thing" "z" { name = "z" }"#,
        r#"
resource "test_thing" "z" {
  count = 1
  name  = "z"
}
resource "test_thing" "x" {
  count = 1
  name  = "z"
}
moved {
  from = test_thing.z
  to   = test_thing.x[0]
}
"#,
        "",
        expect![[r#"
            test_thing.x[0] NoOp from test_thing.z
            test_thing.z[0] Create
        "#]],
    );
}

#[test]
fn moves_of_all_instances_and_of_one_are_not_ambiguous() {
    let module = r#"
//- /m/main.tf
resource "test_thing" "y" { name = "in" }
moved {
  from = test_thing.z[0]
  to   = test_thing.y
}
"#;
    let call = "module \"m\" { source = \"./m\" }\n";
    let moved = "moved {\n  from = test_thing.a\n  to   = module.m.test_thing.y\n}\n";
    check(
        "resource \"test_thing\" \"a\" { name = \"in\" }\nmodule \"o\" { source = \"./m\" }",
        &format!("{call}{moved}"),
        module,
        expect![[r#"
            module.m.test_thing.y NoOp from test_thing.a
            module.o.test_thing.y Delete (delete_because_no_resource_config)
        "#]],
    );
}

#[test]
fn destroyed_object_does_not_become_one_of_another_type() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"x\" }\n");
    assert_eq!(summaries(&world.apply()), "");
    let after = r#"
resource "terraform_data" "b" {}
moved {
  from = test_thing.a
  to   = terraform_data.b
}
"#;
    world.edit("main.tf", after);
    world.mode = state::PlanMode::Destroy;
    assert_eq!(moves::plan(&mut world), "test_thing.a Delete\n");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
}

/// A `null_resource` in the state, with private data and an identity, which moves to a `terraform_data`.
fn taken_over(sensitive_paths: Vec<Path>) -> World {
    let config = r#"
resource "terraform_data" "b" {}
moved {
  from = null_resource.a
  to   = terraform_data.b
}
"#;
    let mut world = world(config);
    let address = parse_resource_instance("null_resource.a").expect("an address");
    let provider = "provider[\"registry.opentofu.org/hashicorp/null\"]";
    let provider = ProviderConfigRef::parse(provider).expect("a provider");
    let json = r#"{"id":"1","triggers":{"x":"hunter2"}}"#;
    let object = Object {
        sensitive_paths,
        private: Arc::from(*b"private"),
        identity: Some(Identity { schema_version: 0, json: "{}".into() }),
        ..Object::from_json(0, Arc::from(json))
    };
    world.state.set_current(&address, &provider, Arc::new(object));
    world
}

#[test]
fn object_of_another_type_keeps_no_identity_of_the_old_one() {
    let mut world = taken_over(Vec::new());
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let address = parse_resource_instance("terraform_data.b").expect("an address");
    let object = outcome.refreshed.current(&address).expect("was taken over");
    assert!(object.identity.is_none());
    assert!(!outcome.plan.resource_changes[0].change.before.has_deep(MarkKind::Sensitive));
}

/// An object of another provider in the state, which moves to a `test_thing`. Returns the identity after a plan.
fn moved_identity(id: &str, identity: Option<Identity>) -> (World, Option<Identity>) {
    let config = r#"
resource "test_thing" "b" { name = "n" }
moved {
  from = other_thing.a
  to   = test_thing.b
}
"#;
    let mut world = world(config);
    let address = parse_resource_instance("other_thing.a").expect("an address");
    let provider = "provider[\"registry.opentofu.org/hashicorp/other\"]";
    let provider = ProviderConfigRef::parse(provider).expect("a provider");
    let object =
        Object { identity, ..Object::from_json(0, Arc::from(format!(r#"{{"id":"{id}"}}"#))) };
    world.state.set_current(&address, &provider, Arc::new(object));
    world.refresh = false;
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let address = parse_resource_instance("test_thing.b").expect("an address");
    let identity = outcome.refreshed.current(&address).expect("was moved").identity.clone();
    (world, identity)
}

#[test]
fn provider_gets_the_identity_of_a_moved_object_and_returns_the_new_one() {
    let old = Identity { schema_version: 7, json: r#"{"k":1}"#.into() };
    let (world, identity) = moved_identity("n", Some(old));
    let identity = identity.expect("the provider returned one");
    assert_eq!((identity.schema_version, &*identity.json), (1, r#"{"id":"was 7 {\"k\":1}"}"#));
    assert!(world.calls().iter().any(|it| it.ends_with("move identity 7 {\"k\":1}")));
}

#[test]
fn moved_object_has_only_an_identity_that_the_provider_returns() {
    let old = Identity { schema_version: 1, json: r#"{"id":"old"}"#.into() };
    let (_, identity) = moved_identity("bare", Some(old));
    assert!(identity.is_none());
    let (world, identity) = moved_identity("n", None);
    assert_eq!(&*identity.expect("the provider returned one").json, r#"{"id":"was none"}"#);
    assert!(world.calls().iter().any(|it| it.ends_with("move identity none")));
}

#[test]
fn secrets_stay_sensitive_in_an_object_of_another_type() {
    let mut world = taken_over(vec![Path::root().attr("triggers").attr("x")]);
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let before = &outcome.plan.resource_changes[0].change.before;
    let triggers = before.get_attr("triggers_replace").expect("is an attribute");
    assert!(triggers.has_deep(MarkKind::Sensitive), "{triggers:?}");
}

#[test]
fn stored_dependencies_follow_a_move() {
    let config = r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" {
  name = "b"
  zone = test_thing.a.name
}
"#;
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    let dependencies = |world: &World| {
        let address = parse_resource_instance("test_thing.b").expect("is an address");
        let object = world.state.current(&address).expect("is there").clone();
        object.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(dependencies(&world), "test_thing.a");
    let moved = "moved {\n  from = test_thing.a\n  to   = test_thing.c\n}\n";
    world.edit("main.tf", &format!("resource \"test_thing\" \"c\" {{ name = \"a\" }}\n{moved}"));
    world.targets = targets(&["test_thing.a", "test_thing.c"]);
    world.refresh = false;
    world.apply();
    // The plan did not contain the dependent, which only the state has.
    assert_eq!(dependencies(&world), "test_thing.c");
    world.targets.clear();
    world.mode = state::PlanMode::Destroy;
    world.calls();
    assert_eq!(summaries(&world.apply()), "");
    let destroyed: Vec<String> =
        world.calls().into_iter().filter(|it| it.contains(" destroy ")).collect();
    assert!(destroyed[0].ends_with("destroy b") && destroyed[1].ends_with("destroy a"));
}
