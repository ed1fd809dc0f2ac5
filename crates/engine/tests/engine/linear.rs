//! Tests that time grows linearly with the configuration.

use std::{fmt::Write, time::Duration};

use tokio::time::Instant;

use crate::world::{summaries, world};

fn config(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(
            text,
            "locals {{\n  a{i} = \"v{i}\"\n  b{i} = \"${{local.a{i}}}-x\"\n}}\nresource \
             \"terraform_data\" \"r{i}\" {{\n  input = local.b{i}\n}}\noutput \"o{i}\" {{\n  value \
             = terraform_data.r{i}.output\n}}\n"
        );
    }
    text
}

/// Returns the time per resource for planning and for applying.
fn measure(n: usize) -> (Duration, Duration) {
    let mut world = world(&config(n));
    let begun = Instant::now();
    let planned = world.plan();
    let plan = begun.elapsed();
    assert_eq!(summaries(&planned.diagnostics), "");
    assert_eq!(planned.plan.resource_changes.len(), n);
    let begun = Instant::now();
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    assert_eq!(world.state.instances().count(), n);
    (plan / n as u32, begun.elapsed() / n as u32)
}

/// The bound is wide and there are three tries, because the machine may be busy. A step that compares all pairs
/// would exceed the bound in every try.
#[test]
fn plan_and_apply_time_is_linear_in_resources() {
    let tries: Vec<_> = (0..3).map(|_| (measure(300), measure(3000))).collect();
    let is_linear = |(small, large): &((Duration, Duration), (Duration, Duration))| {
        large.0 < small.0 * 3 && large.1 < small.1 * 3
    };
    assert!(tries.iter().any(is_linear), "plan and apply, small and large: {tries:?}");
}

fn instances(n: usize) -> String {
    format!(
        "//- /main.tf\nmodule \"a\" {{\n  source = \"./m\"\n  count  = {n}\n}}\noutput \"o\" {{\n  \
         value = length(module.a)\n}}\n\
         //- /m/main.tf\nmodule \"b\" {{\n  source = \"./n\"\n  count  = 2\n}}\noutput \"x\" {{\n  \
         value = module.b[0].y\n}}\n\
         //- /m/n/main.tf\nresource \"terraform_data\" \"r\" {{}}\noutput \"y\" {{\n  value = 1\n}}\n"
    )
}

/// Returns the time per module instance for planning, applying, and planning again with the state.
fn measure_instances(n: usize) -> Duration {
    let mut world = world(&instances(n));
    let begun = Instant::now();
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    assert_eq!(planned.plan.resource_changes.len(), 2 * n);
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    let planned = world.plan();
    assert!(!planned.plan.is_applyable);
    begun.elapsed() / n as u32
}

#[test]
fn plan_time_is_linear_in_nested_module_instances() {
    let tries: Vec<_> = (0..3).map(|_| (measure_instances(150), measure_instances(1500))).collect();
    assert!(tries.iter().any(|(small, large)| *large < *small * 3), "small and large: {tries:?}");
}
