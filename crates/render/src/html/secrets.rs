//! Values that the page must not show, wherever they are.
//!
//! A plan shows `(sensitive value)` for a marked value. A provider may repeat such a value in an attribute without
//! the mark, and a plan as text then shows it, as in OpenTofu. A page is made to be published, so the value is
//! removed there too.

use engine::Redactor;
use hir::Program;
use state::{Plan, ResourceChange};
use values::Mark;

use crate::{
    diff,
    plan::view::{PlanView, SchemaFinder},
};

/// The sensitive values of a plan.
pub(super) struct Secrets {
    redactor: Redactor,
}

impl Secrets {
    /// Learns the sensitive values of all objects, outputs and variables.
    pub(super) fn of(view: &PlanView<'_>, program: Option<&Program>) -> Secrets {
        let redactor = Redactor::new();
        let plan = view.plan;
        for change in plan.changes().chain(plan.drift()) {
            learn_object(view, change, &redactor);
        }
        for change in plan.output_changes.values() {
            for value in [&change.before, &change.after] {
                match change.sensitive {
                    true => redactor.learn(&value.with_mark(Mark::Sensitive)),
                    false => redactor.learn(value),
                }
            }
        }
        if let Some(program) = program {
            learn_variables(program, plan, &redactor);
        }
        Secrets { redactor }
    }

    /// The text without the values.
    pub(super) fn removed_from(&self, text: &str) -> String {
        self.redactor.redact_all(text)
    }
}

fn learn_object(view: &PlanView<'_>, change: &ResourceChange, redactor: &Redactor) {
    let mut finder = SchemaFinder::new(view.schemas);
    let block = finder.block(change);
    for value in [&change.change.before, &change.change.after] {
        let value = diff::shown(value, block, false);
        redactor.learn(&value);
    }
}

/// Learns the given values of the root module's sensitive variables. Those of ephemeral ones are in no plan.
fn learn_variables(program: &Program, plan: &Plan, redactor: &Redactor) {
    for (name, entry) in &program.root().variables {
        let variable = entry.variable();
        if !variable.sensitive {
            continue;
        }
        if let Some(value) = plan.variables.get(name) {
            redactor.learn(&value.with_mark(Mark::Sensitive));
        }
    }
}
