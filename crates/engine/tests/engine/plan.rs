//! What a plan decides.

use expect_test::{Expect, expect};

use crate::world::{actions, summaries, world};

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let mut world = world(fixture);
    let outcome = world.plan();
    expected.assert_eq(&format!("{}{}", actions(&outcome.plan), summaries(&outcome.diagnostics)));
}

#[test]
fn new_objects_are_created() {
    check(
        r#"
resource "terraform_data" "a" { input = "hello" }
resource "test_thing" "b" { name = terraform_data.a.output }
output "o" { value = test_thing.b.name }
"#,
        expect![[r#"
            terraform_data.a Create
            test_thing.b Create
            output o Create
        "#]],
    );
}

#[test]
fn what_is_not_run_is_said() {
    let config = |block: &str| format!("resource \"test_thing\" \"a\" {{ name = \"a\" }}\n{block}\n");
    let moved = "moved {\n  from = test_thing.b\n  to   = test_thing.a\n}";
    let mut world = world(&config(moved));
    assert_eq!(summaries(&world.apply()), "", "there is nothing to move");
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
    world.edit("main.tf", &config("import {\n  to = test_thing.a\n  id = \"x\"\n}"));
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
}
