//! Evaluates what `validate` checks in addition to the bodies of resources: preconditions of outputs, validations
//! of variables of called modules, and the sizes of values, as far as they are known without a run.

use std::sync::Arc;

use db::Diagnostic;
use hir::{
    Entry, ExprId, Program,
    eval::{self, Evaluated},
    item::Condition,
};
use values::{Exceeded, Str, Value};

use crate::{
    offline::{ModuleScope, Offline},
    request::Environment,
    validate::{offline, without_repeated},
    walk::checks::{ConditionKind, condition_result, message_text},
};

/// Returns the conditions that fail in every run, with their locations. Also works for a configuration with
/// errors: values that depend on them are unknown.
pub fn known_conditions(
    program: &Arc<Program>,
    environment: &Environment,
    workspace: &Str,
) -> Vec<Diagnostic> {
    without_repeated(program, failed(program, &offline(program, environment, workspace)))
}

/// Returns the conditions that fail in every run. The preconditions of a module are checked once for all its
/// calls, the validations of its variables once for each call.
pub(crate) fn failed(program: &Program, offline: &Offline<'_>) -> Vec<Diagnostic> {
    let mut failed = Vec::new();
    for module in &program.modules {
        let scope = ModuleScope::of(offline, module.id);
        for entry in module.outputs.values() {
            let preconditions = entry.output().preconditions.iter();
            failed.extend(preconditions.filter_map(|it| precondition(program, &scope, entry, it)));
        }
        for (call, child) in module.calls.values() {
            failed.extend(validations(program, &scope, call, *child));
        }
    }
    failed
}

fn precondition(
    program: &Program,
    scope: &ModuleScope<'_>,
    entry: &Entry,
    condition: &Condition,
) -> Option<Diagnostic> {
    let placed = |it: Diagnostic| {
        let location = program.locate(entry.origin, condition.condition.into());
        Diagnostic { context: program.context(entry.origin), ..it.at(location) }
    };
    match condition_result(&known(scope, entry, condition.condition)?) {
        Ok(Some(false)) => {}
        Ok(_) => return None,
        Err(invalid) => return Some(placed(invalid.of_condition())),
    }
    let message = known(scope, entry, condition.error_message);
    let message = message.filter(|it| !it.has_deep_secret()).and_then(|it| message_text(&it));
    let message = message.unwrap_or_else(|| HIDDEN.to_owned());
    let summary = ConditionKind::OutputPrecondition.summary();
    Some(placed(Diagnostic::new(summary, message)))
}

/// The text for a condition whose message is a secret or cannot be evaluated.
const HIDDEN: &str = "This check failed, but has an invalid error message as described in the \
                      other accompanying messages.";

fn known(scope: &ModuleScope<'_>, entry: &Entry, expr: ExprId) -> Option<Value> {
    let evaluated = eval::evaluate(&entry.item.exprs, expr, scope).ok()?;
    (!evaluated.has_errors()).then_some(evaluated.value)
}

/// Returns the failed validations of the variables of a call. The location is the argument, or the variable if the
/// call uses the default.
fn validations<'p>(
    program: &Program,
    scope: &ModuleScope<'p>,
    call: &'p Entry,
    child: hir::ModuleId,
) -> Vec<Diagnostic> {
    let variables = program.module(child).variables.values();
    let mut validated = variables.filter(|it| !it.variable().validations.is_empty()).peekable();
    if validated.peek().is_none() {
        return Vec::new();
    }
    let called = scope.called(call, child);
    let inputs = &call.module_call().inputs;
    let of_variable = |entry: &Entry| {
        let name = &entry.variable().name;
        let input = inputs.iter().find(|it| it.name == *name);
        let (at, of) = match input {
            Some(input) => (input.value.into(), call),
            None if entry.variable().default.is_some() => (entry.item.header.into(), entry),
            None => return Vec::new(),
        };
        let at = program.locate(of.origin, at);
        let context = program.context(of.origin);
        called.failed_validations(entry, at, context)
    };
    validated.flat_map(of_variable).collect()
}

/// Returns errors for local values and outputs that exceed the memory limit of a run, with their locations.
/// Evaluates all of them.
pub fn too_large(
    program: &Arc<Program>,
    environment: &Environment,
    workspace: &Str,
) -> Vec<Diagnostic> {
    let offline = offline(program, environment, workspace);
    let mut found = Vec::new();
    for module in &program.modules {
        let scope = ModuleScope::of(&offline, module.id);
        let locals = module.locals.values();
        let locals = locals.filter_map(|it| Some((it, it.item.kind.as_local()?.value)));
        let outputs = module.outputs.values();
        let outputs = outputs.filter_map(|it| Some((it, it.output().value?)));
        for (entry, expr) in locals.chain(outputs) {
            let evaluated = eval::evaluate(&entry.item.exprs, expr, &*scope);
            found.extend(evaluated.ok().into_iter().flat_map(|it| exceeding(program, entry, it)));
        }
    }
    found
}

/// Returns the diagnostics of an evaluation that ended because its values exceed the memory limit.
pub(crate) fn exceeding(program: &Program, entry: &Entry, evaluated: Evaluated) -> Vec<Diagnostic> {
    if !matches!(evaluated.exceeded, Some(Exceeded::Memory { .. })) {
        return Vec::new();
    }
    let problems = evaluated.diagnostics.into_iter();
    let of_size = problems.filter(|it| it.id() == eval::TOO_LARGE);
    let placed = of_size.map(|it| {
        let found = Diagnostic::new(it.summary, it.detail).at(program.locate(entry.origin, it.at));
        Diagnostic { context: program.context(entry.origin), ..found }
    });
    placed.collect()
}
