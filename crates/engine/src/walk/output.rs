//! Output values: the checks that no secret leaves a module unmarked, and the root outputs of plan and state.

use db::{Diagnostic, Summary};
use hir::{Entry, ExprId};
use state::{Action, CheckKind, OutputChange, OutputValue};
use values::{Kind, Mark, MarkKind, Str, Type, Value};

use crate::{
    graph::{ModuleIx, NodeIx},
    memo::NodeName,
    schedule::Failed,
    temp::TempRoot,
    walk::{
        checks::{Checked, ConditionKind},
        context::Walk,
        modules::ModuleRun,
        scope::EngineScope,
        turn::Turn,
        value_nodes::prefixed,
    },
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
        self.remembered(node, module, name, &entry.item, &[], || {
            self.output_value(node, index, module, entry)
        })
    }

    fn output_value(
        &self,
        node: NodeIx,
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
        let mut value = self.evaluate_node(node, &scope, entry, expr)?;
        let is_root = module.caller.is_none();
        if is_root || output.ephemeral || output.sensitive {
            self.refuse_too_large(entry, expr, &value)?;
        }
        if is_root {
            self.refuse_infinity(entry, &value, None)?;
        }
        if is_root && output.ephemeral {
            let detail = hir::analysis::EPHEMERAL_ROOT_OUTPUT;
            let diagnostic = Diagnostic::new(Summary::EPHEMERAL_ROOT_OUTPUT, detail);
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
            let diagnostic = Diagnostic::new(Summary::SENSITIVE_OUTPUT, detail);
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
            value = value.with_mark(Mark::Deprecated(values::Deprecation {
                what,
                message: message.clone(),
            }));
        }
        Ok(value)
    }

    fn report_ephemeral_output(&self, entry: &Entry, expr: ExprId, is_root: bool) {
        let detail = hir::analysis::output_not_ephemeral(is_root);
        let diagnostic = Diagnostic::new(Summary::OUTPUT_NOT_EPHEMERAL, detail);
        self.report_at(entry, expr.into(), None, diagnostic);
    }

    /// Writes a root output to the final state of the run. `None` removes it, because its value is null.
    pub(crate) fn keep_output(&self, name: &str, output: Option<OutputValue>) {
        self.state.change(|state| match output {
            Some(output) => drop(state.outputs.insert(name.into(), output)),
            None => drop(state.outputs.remove(name)),
        });
    }
}

/// A root output as the state stores it; `None` if nothing is stored, because its value is null or not yet known.
pub(crate) fn stored_output(entry: &Entry, value: &Value) -> Option<OutputValue> {
    (value.is_wholly_known() && !value.is_null()).then(|| output_value(entry, value))
}

/// A root output with this value.
pub(crate) fn output_value(entry: &Entry, value: &Value) -> OutputValue {
    let output = entry.output();
    OutputValue {
        value: value.without_deep(MarkKind::Deprecated),
        sensitive: output.sensitive,
        deprecated: output.deprecated.as_deref().map(str::to_owned),
    }
}

/// The plan of a root output.
pub(crate) struct OutputPlan {
    pub(crate) change: OutputChange,
    /// True if the state keeps the old value, because the new one differs only in the temporary directory of the
    /// plan.
    pub(crate) keeps_old: bool,
}

/// Plans the change of a root output. `before` is the output in the state.
pub(crate) fn plan_output(
    temp: &TempRoot,
    before: Option<&OutputValue>,
    entry: &Entry,
    value: &Value,
) -> OutputPlan {
    let after = output_value(entry, value);
    let mut change = output_change(before, after, value.unmark().0);
    let keeps_old = change.action == Action::Update && differs_in_plan_only(temp, before, &change);
    if keeps_old {
        change.action = Action::NoOp;
    }
    OutputPlan { change, keeps_old }
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
