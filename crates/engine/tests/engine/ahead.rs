//! Tests that evaluation on other processors changes no result.

use std::fmt::Write as _;

use values::Value;

use crate::world::{World, actions, summaries, world};

/// Sixty instances and forty local values, each with an expression that is worth an evaluation ahead.
fn config(factor: &str) -> String {
    let mut text = String::from("variable \"name\" {\n  default = \"fleet\"\n}\nlocals {\n");
    for index in 0..40 {
        let _ = writeln!(text, "  a{index} = upper(\"${{var.name}}-${{{index} + 1}}\")");
    }
    let _ = write!(
        text,
        "}}\nresource \"test_thing\" \"many\" {{\n  for_each = {{ for i in range(60) : \"k${{i}}\" => i }}\n  \
         name = \"${{local.a39}} ${{each.key}} ${{each.value * {factor}}}\"\n}}\n\
         output \"names\" {{\n  value = {{ for key, it in test_thing.many : key => lower(it.name) }}\n}}\n\
         output \"sum\" {{\n  value = length(\"${{local.a0}}${{local.a38}}\")\n}}\n"
    );
    text
}

fn name_of(world: &mut World, index: usize) -> Option<String> {
    let planned = world.plan();
    let address = format!("test_thing.many[\"k{index}\"]");
    let change = planned.plan.resource_changes.iter().find(|it| it.addr.text() == address)?;
    let name = change.change.after.as_map().and_then(|it| it.get("name"));
    name.and_then(Value::as_str).map(str::to_owned)
}

#[test]
fn values_are_those_of_the_expressions() {
    let mut world = world(&config("2"));
    for index in [0, 1, 31, 59] {
        let expected = format!("FLEET-40 k{index} {}", index * 2);
        assert_eq!(name_of(&mut world, index), Some(expected));
    }
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    let outputs = &planned.plan.output_changes;
    let names = outputs["names"].after.as_map().expect("an object");
    assert_eq!(names.len(), 60);
    assert_eq!(names["k7"].as_str(), Some("fleet-40 k7 14"));
    assert_eq!(outputs["sum"].after, Value::int("FLEET-1FLEET-39".len() as i64));
}

#[test]
fn failing_evaluation_is_reported_once_and_only_for_its_instance() {
    let mut world = world(&config("(each.key == \"k7\" ? tonumber(\"seven\") : 2)"));
    let planned = world.plan();
    let found: Vec<_> = planned.diagnostics.iter().map(|it| (&*it.summary, &it.address)).collect();
    let address = Some("test_thing.many[\"k7\"]".to_owned());
    assert_eq!(found, [("Invalid function argument", &address)]);
    let planned = actions(&planned.plan);
    assert_eq!(planned.lines().filter(|it| it.contains("many[")).count(), 59, "{planned}");
}

#[test]
fn applies_and_later_plans_agree_with_the_first_plan() {
    let mut world = world(&config("2")).watch();
    let planned = world.plan();
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    assert_eq!(world.state.instances().count(), 60);
    let planned = world.plan();
    assert!(!planned.plan.is_applyable, "{}", actions(&planned.plan));
    assert_eq!(summaries(&planned.diagnostics), "");
    let text = config("3");
    world.edit("main.tf", &text);
    assert_eq!(name_of(&mut world, 20), Some("FLEET-40 k20 60".to_owned()));
}
