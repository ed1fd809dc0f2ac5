//! The causes in plans: each test applies a configuration, changes it, and asks why.

mod causes {
    mod actions;
    mod ends;
    mod limits;
    mod origins;
    mod secrets;
    mod values;
}

use ::causes::{Inputs, analyze};
use conformance::World;
use engine::PlanOutcome;
use expect_test::Expect;
use render::Style;

/// Plans, and explains an address.
fn explained(world: &mut World, address: &str) -> String {
    let outcome = world.plan();
    assert!(!outcome.has_errors(), "{:#?}", outcome.diagnostics);
    explained_in(world, &outcome, address)
}

fn explained_in(world: &World, outcome: &PlanOutcome, address: &str) -> String {
    let program = world.program();
    let inputs = Inputs {
        program: &program,
        plan: &outcome.plan,
        previous: &world.state,
        refreshed: &outcome.refreshed,
        values: &world.variables,
        system: world.system(),
        workspace: "default".into(),
    };
    analyze(&inputs, |analysis| match address {
        // The heading keeps the indentation of the symbols.
        "" => {
            format!("Why:\n{}", render::causes_overview(&analysis.explain_changes(), &Style::PLAIN))
        }
        address => match analysis.explain(address) {
            Ok(findings) => render::causes(&findings, &Style::PLAIN),
            Err(unknown) => format!("{unknown:?}\n"),
        },
    })
}

/// Applies `before`, plans `after`, and explains an address.
#[track_caller]
fn check(before: &str, after: &str, address: &str, expected: Expect) {
    let mut world = World::new(&format!("//- /main.tf\n{before}"));
    let diagnostics = world.apply();
    assert!(!diagnostics.iter().any(db::Diagnostic::is_error), "{diagnostics:#?}");
    world.edit("main.tf", after);
    expected.assert_eq(&explained(&mut world, address));
}

/// Applies `before`, and plans `after` in a world that `prepare` changes.
#[track_caller]
fn check_with(
    before: &str,
    after: &str,
    prepare: impl FnOnce(&mut World),
    address: &str,
    expected: Expect,
) {
    let mut world = World::new(&format!("//- /main.tf\n{before}"));
    let diagnostics = world.apply();
    assert!(!diagnostics.iter().any(db::Diagnostic::is_error), "{diagnostics:#?}");
    world.edit("main.tf", after);
    prepare(&mut world);
    expected.assert_eq(&explained(&mut world, address));
}
