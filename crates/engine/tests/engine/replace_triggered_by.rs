//! Tests of `replace_triggered_by`: an object is replaced because another one changes.

use expect_test::{Expect, expect};

use crate::{
    moves,
    world::{World, summaries, world},
};

fn applied(config: &str) -> World {
    let mut world = world(&format!("//- /main.tf\n{config}"));
    assert_eq!(summaries(&world.apply()), "");
    world
}

/// A configuration of `test_thing.a` with these arguments, and of `test_thing.b` with this trigger.
fn config(a: &str, trigger: &str) -> String {
    format!(
        r#"
resource "test_thing" "a" {{
  count = 2
  {a}
}}
resource "test_thing" "single" {{ name = "s" }}
resource "test_thing" "b" {{
  count = 2
  name  = "b"
  lifecycle {{ replace_triggered_by = [{trigger}] }}
}}
"#
    )
}

/// Plans an edit of `a` after everything was applied; compares the actions on `b`.
#[track_caller]
fn check(trigger: &str, after: &str, expected: Expect) {
    let mut world = applied(&config("name = \"a\"", trigger));
    world.edit("main.tf", &config(after, trigger));
    let plan = moves::plan(&mut world);
    let of_b = plan.lines().filter(|it| !it.starts_with("test_thing.a") && !it.contains("single"));
    expected.assert_eq(&of_b.map(|it| format!("{it}\n")).collect::<String>());
}

const OF_SECOND: &str = "name = \"a\"\n  size = count.index == 1 ? 3 : null";

#[test]
fn change_of_any_instance_triggers_for_a_whole_resource() {
    check(
        "test_thing.a",
        OF_SECOND,
        expect![[r#"
        test_thing.b[0] DeleteThenCreate (replace_by_triggers)
        test_thing.b[1] DeleteThenCreate (replace_by_triggers)
    "#]],
    );
}

#[test]
fn change_of_the_named_instance_triggers() {
    check(
        "test_thing.a[count.index]",
        OF_SECOND,
        expect![[r#"
        test_thing.b[0] NoOp
        test_thing.b[1] DeleteThenCreate (replace_by_triggers)
    "#]],
    );
    check(
        "test_thing.a[0]",
        OF_SECOND,
        expect![[r#"
        test_thing.b[0] NoOp
        test_thing.b[1] NoOp
    "#]],
    );
    check(
        "test_thing.a[1]",
        "name = \"a\"\n  zone = \"2\"",
        expect![[r#"
        test_thing.b[0] DeleteThenCreate (replace_by_triggers)
        test_thing.b[1] DeleteThenCreate (replace_by_triggers)
    "#]],
    );
}

#[test]
fn change_of_another_attribute_does_not_trigger() {
    check(
        "test_thing.a[1].size",
        OF_SECOND,
        expect![[r#"
        test_thing.b[0] DeleteThenCreate (replace_by_triggers)
        test_thing.b[1] DeleteThenCreate (replace_by_triggers)
    "#]],
    );
    check(
        "test_thing.a[1].tags",
        OF_SECOND,
        expect![[r#"
        test_thing.b[0] NoOp
        test_thing.b[1] NoOp
    "#]],
    );
    check(
        "test_thing.a[1].tags[\"k\"]",
        "name = \"a\"\n  tags = { k = 1 }",
        expect![[r#"
        test_thing.b[0] DeleteThenCreate (replace_by_triggers)
        test_thing.b[1] DeleteThenCreate (replace_by_triggers)
    "#]],
    );
    check(
        "test_thing.a[1].tags[\"k\"]",
        "name = \"a\"\n  tags = { l = 1 }",
        expect![[r#"
        test_thing.b[0] NoOp
        test_thing.b[1] NoOp
    "#]],
    );
}

#[test]
fn deletion_of_an_instance_does_not_trigger() {
    let mut world = applied(&config("name = \"a\"", "test_thing.a"));
    world.edit(
        "main.tf",
        &config("name = \"a\"", "test_thing.a").replacen("count = 2", "count = 1", 1),
    );
    expect![[r#"
        test_thing.a[0] NoOp
        test_thing.a[1] Delete (delete_because_count_index)
        test_thing.b[0] NoOp
        test_thing.b[1] NoOp
        test_thing.single NoOp
    "#]]
    .assert_eq(&moves::plan(&mut world));
}

#[test]
fn trigger_on_an_absent_instance_is_an_error() {
    check(
        "test_thing.single, test_thing.a[5]",
        OF_SECOND,
        expect![[r#"
        error: Invalid reference in replace_triggered_by expression
        error: Invalid reference in replace_triggered_by expression
    "#]],
    );
}

#[test]
fn replaced_object_is_created_after_its_trigger() {
    let text = r#"
resource "test_thing" "a" { name = "a-V" }
resource "test_thing" "b" {
  name = "b"
  lifecycle { replace_triggered_by = [test_thing.a] }
}
resource "test_thing" "c" {
  name = "c"
  lifecycle {
    replace_triggered_by  = [test_thing.b.id]
    create_before_destroy = true
  }
}
"#;
    let mut world = applied(&text.replace('V', "1"));
    world.calls();
    world.edit("main.tf", &text.replace('V', "2"));
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.calls();
    let calls: Vec<&String> =
        calls.iter().filter(|it| !it.contains("read") && !it.contains("plan")).collect();
    expect![[r##"
        [
            "#3 configure token=null region=null",
            "#3 end",
            "#4 configure token=null region=null",
            "#4 update a-2",
            "#4 create b",
            "#4 create c",
            "#4 destroy c",
            "#4 destroy b",
            "#4 end",
        ]
    "##]]
    .assert_debug_eq(&calls);
    let dependencies = world.state.instances().map(|it| {
        let object = it.instance.current.as_ref().expect("is applied");
        format!(
            "{} {:?}",
            it.address,
            object.dependencies.iter().map(ToString::to_string).collect::<Vec<_>>()
        )
    });
    expect![[r#"
        [
            "test_thing.a []",
            "test_thing.b [\"test_thing.a\"]",
            "test_thing.c [\"test_thing.a\", \"test_thing.b\"]",
        ]
    "#]]
    .assert_debug_eq(&dependencies.collect::<Vec<_>>());
}

#[test]
fn each_plan_of_a_session_sees_the_changes_of_the_trigger() {
    let trigger = "test_thing.a[0]";
    let mut world = applied(&config("name = \"a\"", trigger)).watch();
    let mut planned = |a: &str| {
        world.edit("main.tf", &config(a, trigger));
        let plan = moves::plan(&mut world);
        let of_b = plan.lines().filter(|it| it.starts_with("test_thing.b[0]"));
        of_b.collect::<String>()
    };
    assert_eq!(planned("name = \"a\""), "test_thing.b[0] NoOp");
    assert_eq!(planned("name = \"x\""), "test_thing.b[0] DeleteThenCreate (replace_by_triggers)");
    assert_eq!(planned("name = \"a\""), "test_thing.b[0] NoOp");
    assert_eq!(
        planned("name = \"a\"\n  zone = \"2\""),
        "test_thing.b[0] DeleteThenCreate (replace_by_triggers)"
    );
}
