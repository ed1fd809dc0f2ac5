//! Seeded random modules that use every construct of the language. They check that secrets are neither stored nor
//! shown, and that the marks of static analysis agree with those of a run.
//!
//! [`generate`] creates configurations, [`expression`] the expressions in them; [`judge`] runs a configuration and
//! reports the first violation; [`marks`] compares analysis with values; [`blocks`] finds the results of `dynamic`
//! blocks in a plan.
//!
//! A failing configuration is shown as a whole, after everything that the failure does not need was removed.
//! `MAYFLY_MODULES` sets the number of configurations, `MAYFLY_SEED` the first seed.

#![expect(clippy::disallowed_methods, reason = "the environment says how long a run is")]

#[path = "random_modules/blocks.rs"]
mod blocks;
#[path = "random_modules/expression.rs"]
mod expression;
#[path = "random_modules/generate.rs"]
mod generate;
#[path = "random_modules/judge.rs"]
mod judge;
#[path = "random_modules/marks.rs"]
mod marks;

use generate::Modules;
use judge::{Tally, Wrong, judge};

/// The default number of configurations.
const MODULES: u64 = 240;
/// The number of failures after which a run stops.
const ENOUGH: usize = 4;
/// The maximal number of smaller configurations that are tried for one failure.
const ATTEMPTS: usize = 150;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Shrinks a configuration as long as it fails with the same property.
fn shrunk(modules: Modules, wrong: Wrong) -> (Modules, Wrong) {
    let (mut modules, mut wrong) = (modules, wrong);
    let mut attempts = 0;
    'smaller: loop {
        for smaller in modules.smaller() {
            attempts += 1;
            if attempts > ATTEMPTS {
                return (modules, wrong);
            }
            let found = judge(&smaller, &mut Tally::default());
            if let Some(found) = found.filter(|it| it.property == wrong.property) {
                (modules, wrong) = (smaller, found);
                continue 'smaller;
            }
        }
        return (modules, wrong);
    }
}

fn run(seeds: std::ops::Range<u64>) -> (Tally, Vec<String>) {
    let (mut tally, mut reports) = (Tally::default(), Vec::new());
    for seed in seeds {
        let modules = Modules::generate(seed);
        let Some(wrong) = judge(&modules, &mut tally) else { continue };
        let (modules, wrong) = shrunk(modules, wrong);
        reports.push(format!(
            "seed {seed}: {}: {}\n{}",
            wrong.property,
            wrong.detail,
            modules.fixture()
        ));
        if reports.len() == ENOUGH {
            break;
        }
    }
    (tally, reports)
}

#[test]
fn random_modules_leak_nothing_and_runs_agree_with_analysis() {
    let first = number("MAYFLY_SEED").unwrap_or(0);
    let half = number("MAYFLY_MODULES").unwrap_or(MODULES).div_ceil(2);
    let parts = parallel::map_on(2, &[first, first + half], |&from| run(from..from + half));
    let (tallies, reports): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let tally = tallies.into_iter().fold(Tally::default(), Tally::and);
    let reports = reports.concat();
    assert!(reports.is_empty(), "{tally:?}\n{}", reports.join("\n"));
    assert!(tally.is_telling(2 * half), "runs over rubbish show nothing: {tally:?}");
}
