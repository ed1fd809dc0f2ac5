//! Input variables: their values, which are given from outside, by the calling module or by default, and their
//! validations.

use std::rc::Rc;

use db::{CheckedObject, Diagnostic, Summary};
use hir::{
    Entry, ExprId,
    eval::{self, Explanation},
    item::Condition,
    secret_message,
};
use state::{CheckKind, CheckStatus};
use values::{Mark, MarkKind, Value, convert::ConvertError};

use crate::{
    graph::NodeIx,
    memo::NodeName,
    schedule::Failed,
    variables::{self, GivenValue, ValueSource},
    walk::{
        checks::{Checked, condition_result, message_text},
        context::Walk,
        modules::ModuleRun,
        scope::EngineScope,
        turn::Turn,
        value_nodes::prefixed,
    },
};

impl Walk<'_> {
    pub(crate) fn run_variable(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Turn {
        let name = NodeName::Variable(entry.variable().name.clone());
        match &module.caller {
            None => {
                // A root variable has no dependencies, so its value is compared.
                let turn = match self.root_variable(entry) {
                    Ok(value) => self.remember_plain(node, module, name, &entry.item, value),
                    Err(Failed) => Turn::Failed,
                };
                self.validated(module, entry, node, turn)
            }
            Some(caller) => {
                let call_version = self.each_version(&caller.each);
                let turn =
                    self.remembered(node, module, name, &entry.item, &[call_version], || {
                        self.input_variable(module, entry)
                    });
                self.validated(module, entry, node, turn)
            }
        }
    }

    fn root_variable(&self, entry: &Entry) -> Result<Value, Failed> {
        let variable = entry.variable();
        let Some(given) = self.config.variables.get(&variable.name) else {
            return self.default_value(entry);
        };
        // Mark the value before the conversion, so that no error message of the conversion contains part of a
        // secret.
        let value = self.declared_marks(entry, given.value.clone());
        let value = eval::apply_type(&variable.ty, value)
            .map_err(|error| self.report_given(entry, given, &error))?;
        if value.is_null() && !variable.nullable {
            if variable.default.is_none() {
                return Err(self.report_null(entry, given));
            }
            return self.default_value(entry);
        }
        Ok(self.declared_marks(entry, value))
    }

    fn report_null(&self, entry: &Entry, given: &GivenValue) -> Failed {
        let detail = format!(
            "The input variable \"{}\" is required, and cannot be null.",
            entry.variable().name
        );
        let diagnostic = Diagnostic::new(Summary::NULL_INPUT, detail);
        self.report_at_value(entry, Some(given), diagnostic);
        Failed
    }

    /// Reports a diagnostic about a value, at the place in a file that sets it or else at the declaration.
    fn report_at_value(&self, entry: &Entry, given: Option<&GivenValue>, diagnostic: Diagnostic) {
        match given.map(|it| &it.source) {
            Some(ValueSource::File(Some(place))) => {
                self.report(diagnostic.at(Some(place.clone())));
            }
            _ => self.report_at(entry, entry.item.header.into(), None, diagnostic),
        }
    }

    fn report_given(&self, entry: &Entry, given: &GivenValue, error: &ConvertError) -> Failed {
        let diagnostic = given.unsuitable(entry.variable(), error);
        self.report_at_value(entry, Some(given), diagnostic);
        Failed
    }

    /// Returns true if every root variable that needs a value has one. Otherwise, it reports the missing values
    /// and the errors in the given values.
    pub(crate) fn has_all_values(&self) -> bool {
        let variables = &self.config.program.root().variables;
        let is_missing = |entry: &Entry| {
            let variable = entry.variable();
            variable.default.is_none() && self.config.variables.get(&variable.name).is_none()
        };
        if !variables.values().any(is_missing) {
            return true;
        }
        for entry in variables.values() {
            // Only the diagnostics of the value are needed.
            let _ = self.root_variable(entry);
        }
        false
    }

    fn default_value(&self, entry: &Entry) -> Result<Value, Failed> {
        let variable = entry.variable();
        let Some(default) = variable.default else {
            let missing = variables::missing_value(self.config.program, entry);
            missing.into_iter().for_each(|it| self.report(it));
            return Err(Failed);
        };
        let value = eval::constant(&entry.item.exprs, default).value;
        let value = self.declared_marks(entry, value);
        let value = eval::apply_type(&variable.ty, value).map_err(|error| {
            let detail = format!(
                "This default value is not compatible with the variable's type constraint: {}.",
                error.message
            );
            let diagnostic = Diagnostic::new(Summary::INVALID_DEFAULT, detail);
            self.report_at(entry, default.into(), None, diagnostic);
            Failed
        })?;
        Ok(self.declared_marks(entry, value))
    }

    fn report_ephemeral_input(&self, call: &Entry, value: ExprId, name: &str) -> Failed {
        let detail = format!(
            "Variable `{name}` is not marked as ephemeral. Therefore, it cannot reference an \
             ephemeral value. In case this is actually wanted, you can add the following attribute \
             to its declaration:\n  ephemeral = true"
        );
        let diagnostic = Diagnostic::new(Summary::VARIABLE_NOT_EPHEMERAL, detail);
        self.report_at(call, value.into(), None, diagnostic);
        Failed
    }

    fn declared_marks(&self, entry: &Entry, mut value: Value) -> Value {
        let variable = entry.variable();
        if variable.sensitive {
            value = value.with_mark(Mark::Sensitive);
        }
        if variable.ephemeral {
            value = value.with_mark(Mark::Ephemeral);
        }
        self.environment.redactor.learn(&value);
        value
    }

    fn input_variable(&self, module: &ModuleRun, entry: &Entry) -> Result<Value, Failed> {
        let variable = entry.variable();
        let Some(caller) = &module.caller else { return Err(Failed) };
        let parent = self.module(caller.module);
        let call = &caller.call;
        let inputs = &parent.template.calls[&call.module_call().name].inputs;
        let Some(input) = inputs.iter().find(|input| input.name == variable.name) else {
            if variable.default.is_none() {
                // Analysis reports missing arguments of calls; this covers programs that it did not see.
                let detail = format!(
                    "The argument \"{}\" is required, but no definition was found.",
                    variable.name
                );
                let diagnostic = Diagnostic::new(Summary::MISSING_ARGUMENT, detail);
                self.report_at(call, call.item.header.into(), None, diagnostic);
                return Err(Failed);
            }
            return self.default_value(entry);
        };
        let scope = EngineScope::new(self, caller.module, Some(&caller.each));
        let value = self.evaluate_source(&scope, call, input.value)?;
        if !variable.ephemeral && value.has_deep(MarkKind::Ephemeral) {
            return Err(self.report_ephemeral_input(call, input.value, &variable.name));
        }
        let value = self.declared_marks(entry, value);
        let value = eval::apply_type(&variable.ty, value).map_err(|error| {
            let detail = format!(
                "The given value is not suitable for {} defined at the module's variable \"{}\": {}.",
                module.address, variable.name, error.message
            );
            let diagnostic = Diagnostic::new(Summary::INVALID_MODULE_ARGUMENT, detail);
            self.report_at(call, input.value.into(), None, diagnostic);
            Failed
        })?;
        if value.is_null() && !variable.nullable {
            if variable.default.is_some() {
                return self.default_value(entry);
            }
            let detail = format!(
                "The input variable \"{}\" is required, and cannot be null.",
                variable.name
            );
            let diagnostic = Diagnostic::new(Summary::NULL_INPUT, detail);
            self.report_at(call, input.value.into(), None, diagnostic);
            return Err(Failed);
        }
        Ok(self.declared_marks(entry, value))
    }

    /// Runs the validations of a variable that has its value.
    fn validated(&self, module: &Rc<ModuleRun>, entry: &Entry, node: NodeIx, turn: Turn) -> Turn {
        let variable = entry.variable();
        if !matches!(turn, Turn::Done { .. })
            || variable.validations.is_empty()
            || self.nodes.value(node).is_none()
        {
            return turn;
        }
        if self.wait_for_values(node) {
            return Turn::Again;
        }
        let Some((index, ..)) = self.declared(node) else { return turn };
        let config_addr = prefixed(&module.path.to_string(), &format!("var.{}", variable.name));
        let addr = prefixed(&module.address.to_string(), &format!("var.{}", variable.name));
        let checked = Checked { kind: CheckKind::Variable, config_addr: &config_addr, addr: &addr };
        let scope = EngineScope::new(self, index, None);
        let validate = |validation| self.validation(module, &scope, entry, validation);
        let results = variable.validations.iter().map(validate).collect();
        if self.record_checks(checked, results) { Turn::Failed } else { turn }
    }

    fn validation(
        &self,
        module: &ModuleRun,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        validation: &Condition,
    ) -> (CheckStatus, Option<String>) {
        let Ok(value) = self.evaluate(scope, entry, validation.condition, None) else {
            return (CheckStatus::Error, None);
        };
        match condition_result(&value) {
            Ok(Some(true)) => (CheckStatus::Pass, None),
            Ok(Some(false)) => {
                (CheckStatus::Fail, self.report_validation(module, scope, entry, validation))
            }
            Ok(None) => (CheckStatus::Unknown, None),
            Err(invalid) => {
                self.report_at(entry, validation.condition.into(), None, invalid.of_validation());
                (CheckStatus::Error, None)
            }
        }
    }

    /// Reports a failed validation. Returns its message; `None` if the message is secret or cannot be evaluated.
    fn report_validation(
        &self,
        module: &ModuleRun,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        validation: &Condition,
    ) -> Option<String> {
        let message = self.evaluate(scope, entry, validation.error_message, None).ok()?;
        let secrets = [(MarkKind::Sensitive, "a sensitive"), (MarkKind::Ephemeral, "an ephemeral")];
        let hidden = secrets.into_iter().find(|(kind, _)| message.has_deep(*kind));
        let shown = match hidden {
            None => message_text(&message)?,
            Some((kind, what)) => {
                let summary = secret_message::failed_summary(kind);
                let diagnostic = Diagnostic::new(summary, secret_message::detail(kind));
                self.report_at(entry, validation.error_message.into(), None, diagnostic);
                format!("The error message included {what} value, so it will not be displayed.")
            }
        };
        let rule = self.config.program.locate(entry.origin, validation.node.into());
        let rule = rule.map(|it| self.config.program.sources.place(&it));
        let rule = rule.map(|it| format!("\n\nThis was checked by the validation rule at {it}."));
        let detail = format!("{shown}{}", rule.unwrap_or_default());
        let Explanation { values, .. } =
            eval::explain_condition(&entry.item.exprs, validation.condition, scope);
        let name = format!("var.{}", entry.variable().name);
        let address = prefixed(&module.address.to_string(), &name);
        let checked = Some(CheckedObject { address, is_demoted: false });
        let found = Diagnostic::new(Summary::VALIDATION_FAILED, detail);
        let diagnostic = Diagnostic { values, checked, ..found };
        self.report_invalid(module, entry, diagnostic);
        hidden.is_none().then_some(shown)
    }

    /// Reports a diagnostic about the value of a variable, at the place that sets it.
    fn report_invalid(&self, module: &ModuleRun, entry: &Entry, diagnostic: Diagnostic) {
        let name = &entry.variable().name;
        let Some(caller) = &module.caller else {
            return self.report_at_value(entry, self.config.variables.get(name), diagnostic);
        };
        let inputs = &caller.call.module_call().inputs;
        match inputs.iter().find(|input| input.name == *name) {
            Some(input) => self.report_at(&caller.call, input.value.into(), None, diagnostic),
            None => self.report_at_value(entry, None, diagnostic),
        }
    }
}
