//! Work grows with the configuration, not faster.

use std::fmt::Write;

use crate::world::{summaries, world};

fn config(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(
            text,
            "locals {{\n  a{i} = \"v{i}\"\n  b{i} = \"${{local.a{i}}}-x\"\n}}\nresource \"terraform_data\" \"r{i}\" {{\n  input = local.b{i}\n}}\noutput \"o{i}\" {{\n  value = terraform_data.r{i}.output\n}}\n"
        );
    }
    text
}

/// Counts allocations of time by a clock that only this test reads: the ratio must be near that of the sizes. The bound
/// is wide, since machines are busy; a quadratic step would be ten times over it.
#[test]
fn planning_and_applying_is_linear() {
    let mut times = Vec::new();
    for n in [300, 3000] {
        let mut world = world(&config(n));
        let program = world.program();
        drop(program);
        let begun = tokio::time::Instant::now();
        let clock = std::time::Duration::from_nanos(0);
        let planned = world.plan();
        assert_eq!(summaries(&planned.diagnostics), "");
        assert_eq!(planned.plan.resource_changes.len(), n);
        assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
        assert_eq!(world.state.instances().count(), n);
        times.push((n, begun.elapsed() + clock));
    }
    let per = |(n, time): &(usize, std::time::Duration)| time.as_secs_f64() / *n as f64;
    assert!(per(&times[1]) < per(&times[0]) * 4.0, "{times:?}");
}
