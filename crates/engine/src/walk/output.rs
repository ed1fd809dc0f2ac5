//! Output values: the checks that no secret leaves a module unmarked, and the root outputs of plan and state.

use ::values::{Kind, Mark, MarkKind, Str, Type, Value};
use db::Diagnostic;
use hir::{Entry, ExprId};
use state::{Action, CheckKind, OutputChange, OutputValue};

use super::{
    EngineScope, Failed, ModuleRun, Turn, Walk,
    checks::{Checked, ConditionKind},
    values::prefixed,
};
use crate::{
    graph::{ModuleIx, NodeIx},
    memo::NodeName,
    temp::TempRoot,
};

impl Walk<'_> {
    pub(crate) fn run_output(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Turn {
        let output = entry.output();
        let name = NodeName::Output(output.name.clone());
        if !output.preconditions.is_empty() {
            // Results of conditions are not memoized.
            self.nodes.facts(node, |it| it.forced = true);
        }
        let turn = self.remembered(node, module, name, &entry.item, &[], || {
            self.output_value(index, module, entry)
        });
        if matches!(turn, Turn::Done { .. })
            && module.caller.is_none()
            && let Some(value) = self.nodes.value(node)
        {
            self.root_output(entry, &value);
        }
        turn
    }

    fn output_value(
        &self,
        index: ModuleIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Result<Value, Failed> {
        let output = entry.output();
        let Some(expr) = output.value else { return Err(Failed) };
        let scope = EngineScope::new(self, index, None);
        let config_addr = prefixed(&module.path.to_string(), &format!("output.{}", output.name));
        let addr = prefixed(&module.address.to_string(), &format!("output.{}", output.name));
        let checked = Checked { kind: CheckKind::Output, config_addr: &config_addr, addr: &addr };
        self.check_conditions(
            &scope,
            entry,
            &output.preconditions,
            ConditionKind::OutputPrecondition,
            checked,
        )?;
        let mut value = self.evaluate_source(&scope, entry, expr)?;
        let is_root = module.caller.is_none();
        if is_root || output.ephemeral || output.sensitive {
            self.refuse_too_large(entry, expr, &value)?;
        }
        if is_root {
            self.refuse_infinity(entry, &value, None)?;
        }
        if is_root && output.ephemeral {
            let detail = hir::analysis::EPHEMERAL_ROOT_OUTPUT;
            let diagnostic =
                Diagnostic::error("ephemeral-root-output", "Unallowed ephemeral output", detail);
            self.report_at(entry, entry.item.header.into(), None, diagnostic);
            return Err(Failed);
        }
        if value.has_deep(MarkKind::Ephemeral) && !output.ephemeral {
            self.report_ephemeral_output(entry, expr, is_root);
            return Err(Failed);
        }
        if is_root && !output.sensitive && value.has_deep(MarkKind::Sensitive) {
            let detail = "To reduce the risk of accidentally exporting sensitive data that was \
                          intended to be only internal, Mayfly requires that any root module \
                          output containing sensitive data be explicitly marked as sensitive, to \
                          confirm your intent.\n\nIf you do intend to export this data, annotate \
                          the output value as sensitive by adding the following argument:\n    sensitive = true";
            let diagnostic =
                Diagnostic::error("sensitive-output", "Output refers to sensitive values", detail);
            self.report_at(entry, entry.item.header.into(), None, diagnostic);
            return Err(Failed);
        }
        if output.sensitive {
            value = value.with_mark(Mark::Sensitive);
        }
        if output.ephemeral {
            value = value.with_mark(Mark::Ephemeral);
            self.environment.redactor.learn(&value);
        }
        if let Some(message) = &output.deprecated {
            let what = Str::from(addr.as_str());
            value = value.with_mark(Mark::Deprecated(::values::Deprecation {
                what,
                message: message.clone(),
            }));
        }
        Ok(value)
    }

    fn report_ephemeral_output(&self, entry: &Entry, expr: ExprId, is_root: bool) {
        let detail = hir::analysis::output_not_ephemeral(is_root);
        let diagnostic =
            Diagnostic::error("output-not-ephemeral", "Output not marked as ephemeral", detail);
        self.report_at(entry, expr.into(), None, diagnostic);
    }

    /// Records a root output in the results of the run.
    fn root_output(&self, entry: &Entry, value: &Value) {
        let output = entry.output();
        let name = output.name.clone();
        let planned = self.planned_actions.and_then(|it| it.known_output(&name));
        let value = planned.unwrap_or(value);
        let (plain, _) = value.unmark();
        let stored = value.without_deep(MarkKind::Deprecated);
        let deprecated = output.deprecated.as_deref().map(str::to_owned);
        let is_known = value.is_wholly_known();
        let kept = (is_known && !value.is_null()).then(|| OutputValue {
            value: stored.clone(),
            sensitive: output.sensitive,
            deprecated: deprecated.clone(),
        });
        if self.phase().is_plan() {
            let before = self.state.previous().outputs.get(&name);
            let after = OutputValue { value: stored, sensitive: output.sensitive, deprecated };
            let mut change = output_change(before, after, plain);
            let temp = &self.settings.temp;
            if change.action == Action::Update && differs_in_plan_only(temp, before, &change) {
                change.action = Action::NoOp;
            } else if is_known {
                self.keep_output(&name, kept);
            }
            self.decisions.set_output(name, change);
        } else if kept.is_some() || value.is_null() {
            self.keep_output(&name, kept);
        }
    }

    /// Writes a root output to the final state of the run. `None` removes it, because its value is null.
    fn keep_output(&self, name: &str, output: Option<OutputValue>) {
        self.state.change(|state| match output {
            Some(output) => drop(state.outputs.insert(name.into(), output)),
            None => drop(state.outputs.remove(name)),
        });
    }
}

/// Returns true if the old and the new value of an output differ only in the temporary directory of the plan. Its
/// path is different in each plan, so such a difference is no change.
fn differs_in_plan_only(
    temp: &TempRoot,
    before: Option<&OutputValue>,
    change: &OutputChange,
) -> bool {
    let (old, new) = (change.before.without_all_marks(), change.after.without_all_marks());
    before.is_some_and(|it| it.sensitive == change.sensitive)
        && new.is_wholly_known()
        && temp.with_earlier_paths(&old, &new).0.raw_equals(&old)
}

/// The change of an output that the configuration declares. `plain` is the new value without its own marks.
fn output_change(before: Option<&OutputValue>, after: OutputValue, plain: Value) -> OutputChange {
    let OutputValue { value, sensitive, .. } = &after;
    let is_same = |it: &OutputValue| {
        plain.is_wholly_known()
            && it.value.without_all_marks().raw_equals(&plain.without_all_marks())
            && it.sensitive == *sensitive
            && it.deprecated == after.deprecated
    };
    let action = match before {
        None if matches!(plain.kind(), Kind::Null) && after.deprecated.is_none() => Action::NoOp,
        None => Action::Create,
        Some(before) if is_same(before) => Action::NoOp,
        Some(_) => Action::Update,
    };
    let was_sensitive = before.is_some_and(|it| it.sensitive);
    let before = before.map_or_else(|| Value::null(Type::Dynamic), |it| it.value.clone());
    OutputChange { action, before, after: value.clone(), sensitive: *sensitive || was_sensitive }
}
