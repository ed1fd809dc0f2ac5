//! Tests of `moved` blocks in destroy plans, which compare them with the declared instances.

use expect_test::expect;

use crate::{
    moves,
    targets::targets,
    world::{summaries, world},
};

#[test]
fn destruction_refuses_to_move_declared_instances() {
    let before = r#"
resource "test_thing" "b" {
  count = 2
  name  = "x"
}
resource "test_thing" "z" { name = "z" }
"#;
    let after = |count: &str, from: &str| {
        format!(
            "variable \"n\" {{\n  default = 2\n}}\n\
             resource \"test_thing\" \"b\" {{\n  count = {count}\n  name = \"x\"\n}}\n\
             resource \"test_thing\" \"a\" {{\n  count = 1\n  name = \"x\"\n}}\n\
             resource \"test_thing\" \"z\" {{\n  name = \"z\"\n}}\n\
             moved {{\n  from = {from}\n  to   = test_thing.a[3]\n}}\n"
        )
    };
    let mut lines = String::new();
    for (count, from, refresh, unwanted) in [
        ("var.n", "test_thing.b[1]", true, ""),
        // The target is not declared, and that is no error.
        ("var.n - 1", "test_thing.b[1]", true, ""),
        ("length(test_thing.z.name) + 1", "test_thing.b[1]", true, ""),
        ("length(test_thing.none)", "test_thing.b[1]", true, ""),
        ("var.n", "test_thing.b[1]", false, ""),
        ("var.n", "test_thing.b[1]", true, "test_thing.b"),
    ] {
        let mut world = world(before);
        assert_eq!(summaries(&world.apply()), "");
        world.edit("main.tf", &after(count, from));
        world.mode = state::PlanMode::Destroy;
        world.refresh = refresh;
        let excluded = Vec::from_iter(Some(unwanted).filter(|it| !it.is_empty()));
        world.excludes = targets(&excluded);
        lines += &format!("{count} {refresh} {unwanted}\n{}\n", moves::plan(&mut world));
    }
    expect![[r#"
        var.n true 
        test_thing.a[3] Delete
        test_thing.b[0] Delete
        test_thing.z Delete
        error: Moved object still exists

        var.n - 1 true 
        test_thing.a[3] Delete
        test_thing.b[0] Delete
        test_thing.z Delete

        length(test_thing.z.name) + 1 true 
        test_thing.a[3] Delete
        test_thing.b[0] Delete
        test_thing.z Delete
        error: Moved object still exists

        length(test_thing.none) true 
        test_thing.a[3] Delete
        test_thing.b[0] Delete
        test_thing.z Delete

        var.n false 
        test_thing.a[3] Delete from test_thing.b[1]
        test_thing.b[0] Delete
        test_thing.z Delete

        var.n true test_thing.b
        warning: Resource targeting is in effect
        error: Moved resource instances excluded by targeting

    "#]]
    .assert_eq(&lines);
}
