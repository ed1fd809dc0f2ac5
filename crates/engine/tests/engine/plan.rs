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
