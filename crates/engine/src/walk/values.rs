//! Nodes whose result is a value and needs no provider: variables, locals, outputs and what gathers them.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use ::values::{Kind, Mark, MarkKind, Str, Type, Value, convert::ConvertError};
use db::Diagnostic;
use hir::{Entry, Item, eval};
use state::{Action, CheckKind, CheckStatus, OutputChange, OutputValue};

use super::{
    EngineScope, Failed, ModuleRun, Outcome, Walk,
    checks::{Checked, ConditionKind, message_text},
    expand::Repeated,
};
use crate::{
    graph::{Declared, ModuleIx, NodeIx},
    memo::{self, Inputs, NodeKey, NodeName, Version},
    variables::{GivenValue, ValueSource},
};

/// How a node's turn ended.
pub(crate) enum Turn {
    /// It has its result. If it `keeps`, what it was made from must stay open as long as somebody reads it.
    Done { keeps: bool },
    /// It has none, and that was reported.
    Failed,
    /// It waits for more.
    Again,
    /// It ends when these end.
    Tasks(Vec<super::Work>),
}

impl From<Result<(), Failed>> for Turn {
    fn from(result: Result<(), Failed>) -> Turn {
        match result {
            Ok(()) => Turn::Done { keeps: false },
            Err(Failed) => Turn::Failed,
        }
    }
}

impl Walk<'_> {
    /// Gives a node's value: what the memo has if nothing that it reads changed, else what `compute` gives.
    pub(crate) fn remembered(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        name: NodeName,
        item: &Arc<Item>,
        also: &[Version],
        compute: impl FnOnce() -> Result<Value, Failed>,
    ) -> Turn {
        let key = NodeKey { module: module.address.clone(), node: name };
        let inputs = self.inputs(node, also);
        let forced = self.with_facts(node, |it| it.forced);
        let known = if forced { None } else { self.memo.borrow().unchanged(&key, item, inputs) };
        if let Some((version, value)) = known {
            let keeps = value.is_none();
            self.set_outcome(node, value.map_or(Outcome::Unchanged, Outcome::Value));
            self.settle_facts(node, version, keeps);
            return Turn::Done { keeps };
        }
        if self.wait_for_values(node) {
            return Turn::Again;
        }
        let Ok(value) = compute() else { return Turn::Failed };
        let keeps = value.has_deep(MarkKind::Ephemeral);
        let version = self.memo.borrow_mut().remember(key, item, inputs, &value);
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// The versions of what a node reads.
    pub(crate) fn inputs(&self, node: NodeIx, also: &[Version]) -> Inputs {
        let graph = self.graph.borrow();
        let facts = self.facts.borrow();
        let read = graph.dependencies(node).filter(|(_, _, active)| *active);
        memo::inputs(
            read.map(|(dependency, ..)| facts[dependency.0 as usize].version)
                .chain(also.iter().copied()),
        )
    }

    /// Computes what the node reads and the memo did not keep; true if it has to wait for that.
    pub(crate) fn wait_for_values(&self, node: NodeIx) -> bool {
        let graph = self.graph.borrow();
        let outcomes = self.outcomes.borrow();
        let absent: Vec<NodeIx> = graph
            .dependencies(node)
            .filter(|(dependency, _, active)| {
                *active && matches!(outcomes[dependency.0 as usize], Outcome::Unchanged)
            })
            .map(|(dependency, ..)| dependency)
            .collect();
        drop((graph, outcomes));
        for dependency in &absent {
            self.with_facts(*dependency, |it| it.forced = true);
            self.graph.borrow_mut().redo(*dependency, node);
        }
        !absent.is_empty()
    }

    /// Sets what is known of a node beside its value.
    pub(crate) fn settle_facts(&self, node: NodeIx, version: Version, keeps: bool) {
        if !self.graph.borrow().has_users(node) {
            self.with_facts(node, |it| it.version = version);
            return;
        }
        let inherited = self.inherited(node);
        self.with_facts(node, |it| {
            it.opened = if keeps { inherited.opened } else { Rc::default() };
            it.pending = inherited.pending;
            it.ancestors = inherited.ancestors;
            it.version = version;
        });
    }

    pub(crate) fn run_variable(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Turn {
        let name = NodeName::Variable(entry.variable().name.clone());
        match &module.caller {
            None => {
                // A root variable reads nothing; its value is compared.
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

    /// Remembers a value that was made from nothing that has a version.
    fn remember_plain(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        name: NodeName,
        item: &Arc<Item>,
        value: Value,
    ) -> Turn {
        let key = NodeKey { module: module.address.clone(), node: name };
        let inputs = self.inputs(node, &[]);
        let version = self.memo.borrow_mut().remember(key, item, inputs, &value);
        let keeps = value.has_deep(MarkKind::Ephemeral);
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// A version for repetition data: new whenever it differs.
    pub(crate) fn each_version(&self, each: &super::Each) -> Version {
        match &each.value {
            None => Version::default(),
            Some(value) => self.memo.borrow().version_of_value(value),
        }
    }

    fn root_variable(&self, entry: &Entry) -> Result<Value, Failed> {
        let variable = entry.variable();
        let Some(given) = self.variables.get(&variable.name) else {
            return self.default_value(entry);
        };
        let text_wanted = given.is_text() && !variable.ty.written;
        let converted = if text_wanted {
            Ok(given.value.clone())
        } else {
            eval::apply_type(&variable.ty, given.value.clone())
        };
        let value = converted.map_err(|error| self.report_given(entry, given, &error))?;
        if value.is_null() && !variable.nullable {
            return self.default_value(entry);
        }
        Ok(self.declared_marks(entry, value))
    }

    fn report_given(&self, entry: &Entry, given: &GivenValue, error: &ConvertError) -> Failed {
        let variable = entry.variable();
        let name = &variable.name;
        let message = &error.message;
        let (summary, detail) = match &given.source {
            ValueSource::CommandLine => (
                "Invalid value for input variable",
                format!(
                    "Unsuitable value for var.{name} set using -var=\"{name}=...\": {message}."
                ),
            ),
            ValueSource::Environment => (
                "Invalid value for input variable",
                format!(
                    "Unsuitable value for var.{name} set using the TF_VAR_{name} environment variable: {message}."
                ),
            ),
            ValueSource::Prompt => (
                "Invalid value for input variable",
                format!(
                    "Unsuitable value for var.{name} set using an interactive prompt: {message}."
                ),
            ),
            ValueSource::Plan => (
                "Invalid variable value in plan",
                format!(
                    "The plan file has a value for var.{name} that the configuration does not accept: {message}."
                ),
            ),
            ValueSource::File(_) if variable.ephemeral => (
                "Invalid value for input variable",
                format!(
                    "The given value is not suitable for var.{name}, which is ephemeral: {message}."
                ),
            ),
            ValueSource::File(_) => (
                "Invalid value for input variable",
                format!("The given value is not suitable for var.{name} declared here: {message}."),
            ),
        };
        let diagnostic = Diagnostic::error("invalid-variable-value", summary, detail);
        match &given.source {
            ValueSource::File(Some(location)) => self.report(diagnostic.at(Some(location.clone()))),
            _ => self.report_at(entry, entry.item.header.into(), None, diagnostic),
        }
        Failed
    }

    fn default_value(&self, entry: &Entry) -> Result<Value, Failed> {
        let variable = entry.variable();
        let Some(default) = variable.default else {
            let detail = format!(
                "The root module input variable \"{}\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.",
                variable.name
            );
            let diagnostic = Diagnostic::error(
                "no-value-for-variable",
                "No value for required variable",
                detail,
            );
            self.report_at(entry, entry.item.header.into(), None, diagnostic);
            return Err(Failed);
        };
        let value = eval::constant(&entry.item.exprs, default).value;
        let value = eval::apply_type(&variable.ty, value).map_err(|error| {
            let detail = format!(
                "This default value is not compatible with the variable's type constraint: {}.",
                error.message
            );
            let diagnostic =
                Diagnostic::error("invalid-default", "Invalid default value for variable", detail);
            self.report_at(entry, default.into(), None, diagnostic);
            Failed
        })?;
        Ok(self.declared_marks(entry, value))
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
                // Analysis reports missing arguments of calls; this is for programs that it did not see.
                let detail = format!(
                    "The argument \"{}\" is required, but no definition was found.",
                    variable.name
                );
                let diagnostic =
                    Diagnostic::error("missing-argument", "Missing required argument", detail);
                self.report_at(call, call.item.header.into(), None, diagnostic);
                return Err(Failed);
            }
            return self.default_value(entry);
        };
        let scope = EngineScope::new(self, caller.module, Some(&caller.each));
        let value = self.evaluate(&scope, call, input.value, None)?;
        if !variable.ephemeral && value.has_deep(MarkKind::Ephemeral) {
            let detail = format!(
                "Variable `{}` is not marked as ephemeral. Therefore, it cannot reference an ephemeral value. In case this is actually wanted, you can add the following attribute to its declaration:\n  ephemeral = true",
                variable.name
            );
            let diagnostic =
                Diagnostic::error("ephemeral-input", "Invalid usage of ephemeral value", detail);
            self.report_at(call, input.value.into(), None, diagnostic);
            return Err(Failed);
        }
        let value = eval::apply_type(&variable.ty, value).map_err(|error| {
            let detail = format!(
                "The given value is not suitable for {} defined at the module's variable \"{}\": {}.",
                module.address, variable.name, error.message
            );
            let diagnostic = Diagnostic::error("invalid-input", "Invalid value for module argument", detail);
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
            let diagnostic = Diagnostic::error("null-input", "Required variable not set", detail);
            self.report_at(call, input.value.into(), None, diagnostic);
            return Err(Failed);
        }
        Ok(self.declared_marks(entry, value))
    }

    /// Runs the validations of a variable that has its value.
    fn validated(&self, module: &Rc<ModuleRun>, entry: &Entry, node: NodeIx, turn: Turn) -> Turn {
        if !matches!(turn, Turn::Done { .. }) || self.value_of(node).is_none() {
            return turn;
        }
        let NodeIx(index) = node;
        let Some((module_ix, ..)) = self.declared(NodeIx(index)) else { return turn };
        let variable = entry.variable();
        let config_addr = prefixed(&module.path.to_string(), &format!("var.{}", variable.name));
        let addr = prefixed(&module.address.to_string(), &format!("var.{}", variable.name));
        let checked = Checked { kind: CheckKind::Variable, config_addr: &config_addr, addr: &addr };
        let mut failed = false;
        for condition in &variable.validations {
            let scope = EngineScope::new(self, module_ix, None);
            let (status, message) = match self.evaluate(&scope, entry, condition.condition, None) {
                Err(Failed) => (CheckStatus::Error, None),
                Ok(value) => {
                    match ::values::convert::convert(&value.without_all_marks(), &Type::Bool)
                        .map(|it| it.as_bool())
                    {
                        Ok(Some(true)) => (CheckStatus::Pass, None),
                        Ok(Some(false)) => {
                            (CheckStatus::Fail, self.report_validation(&scope, entry, condition))
                        }
                        Ok(None) if !value.is_known() => (CheckStatus::Unknown, None),
                        _ => (CheckStatus::Error, None),
                    }
                }
            };
            failed |= matches!(status, CheckStatus::Fail | CheckStatus::Error);
            self.checks.borrow_mut().record(checked, status, message);
        }
        if failed { Turn::Failed } else { turn }
    }

    fn report_validation(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        condition: &hir::item::Condition,
    ) -> Option<String> {
        let message = self.evaluate(scope, entry, condition.error_message, None).ok()?;
        let rule = self.program.locate(entry.origin, condition.node.into());
        let place = rule
            .map(|it| format!("\n\nThis was checked by the validation rule in {}.", it.path))
            .unwrap_or_default();
        let hidden = [
            (MarkKind::Sensitive, "sensitive", "nonsensitive"),
            (MarkKind::Ephemeral, "ephemeral", "ephemeralasnull"),
        ];
        let hidden = hidden.into_iter().find(|(kind, ..)| message.has_deep(*kind));
        let shown = match hidden {
            None => message_text(&message)?,
            Some((_, what, function)) => {
                let detail = format!(
                    "The error expression used to explain this condition refers to {what} values. OpenTofu will not display the resulting message.\n\nYou can correct this by removing references to {what} values or by utilizing the builtin {function}() function."
                );
                let summary = format!("Error message refers to {what} values");
                self.report_at(
                    entry,
                    condition.error_message.into(),
                    None,
                    Diagnostic::error("hidden-error-message", summary, detail),
                );
                format!(
                    "The error message included {} {what} value, so it will not be displayed.",
                    if what == "ephemeral" { "an" } else { "a" }
                )
            }
        };
        let diagnostic = Diagnostic::error(
            "validation-failed",
            "Invalid value for variable",
            format!("{shown}{place}"),
        );
        self.report_at(entry, condition.condition.into(), None, diagnostic);
        hidden.is_none().then_some(shown)
    }

    pub(crate) fn run_local(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Turn {
        let Some(local) = entry.item.kind.as_local() else { return Turn::Failed };
        self.remembered(node, module, NodeName::Local(local.name.clone()), &entry.item, &[], || {
            self.evaluate(&EngineScope::new(self, index, None), entry, local.value, None)
        })
    }

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
            // Results of conditions are not remembered.
            self.with_facts(node, |it| it.forced = true);
        }
        let turn = self.remembered(node, module, name, &entry.item, &[], || {
            self.output_value(index, module, entry)
        });
        if matches!(turn, Turn::Done { .. })
            && module.caller.is_none()
            && let Some(value) = self.value_of(node)
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
        let mut value = self.evaluate(&scope, entry, expr, None)?;
        let is_root = module.caller.is_none();
        if value.has_deep(MarkKind::Ephemeral) && (is_root || !output.ephemeral) {
            self.report_ephemeral_output(entry, expr, is_root);
            return Err(Failed);
        }
        if is_root && !output.sensitive && value.has_deep(MarkKind::Sensitive) {
            let detail = "To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, OpenTofu requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true";
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

    fn report_ephemeral_output(&self, entry: &Entry, expr: hir::ExprId, is_root: bool) {
        let detail = "In order to allow this output to store ephemeral values add `ephemeral = true` attribute to it.";
        let diagnostic =
            Diagnostic::error("output-not-ephemeral", "Output not marked as ephemeral", detail);
        self.report_at(entry, expr.into(), None, diagnostic);
        if is_root {
            let detail = "An output of the root module is stored, so it cannot be ephemeral. To keep the parts of this value that are not ephemeral, pass it through ephemeralasnull(), which puts null in the place of the others.";
            let diagnostic = Diagnostic::warning(
                "output-ephemeralasnull",
                "Ephemeral value in a root module output",
                detail,
            );
            self.report_at(entry, expr.into(), None, diagnostic);
        }
    }

    /// What a root output means for plan and state.
    fn root_output(&self, entry: &Entry, value: &Value) {
        let output = entry.output();
        let name = output.name.clone();
        let (plain, _) = value.unmark();
        let stored = value.without_deep(MarkKind::Deprecated);
        if self.phase().is_plan() {
            let before = self.previous.outputs.get(&name);
            let change = output_change(before, stored, plain, output.sensitive);
            self.outputs.borrow_mut().insert(name, change);
            return;
        }
        let deprecated = output.deprecated.as_deref().map(str::to_owned);
        if value.is_null() {
            self.state.borrow_mut().outputs.remove(&name);
        } else if value.is_wholly_known() {
            let output = OutputValue { value: stored, sensitive: output.sensitive, deprecated };
            self.state.borrow_mut().outputs.insert(name, output);
        }
    }

    /// One output of all instances of a call.
    pub(crate) fn run_module_output(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        call: &Entry,
        output: &Str,
    ) -> Turn {
        self.gathered(node, || {
            let children = module.children.borrow();
            let children = children.get(&call.module_call().name)?;
            let mut values = BTreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let local = *child.template.outputs.get(output)?;
                values.insert(key.clone(), self.value_of(child.node(local))?);
            }
            Some(children.keys.shape(&values))
        })
    }

    /// The object of all outputs, or the collection of such objects.
    pub(crate) fn run_module_object(&self, node: NodeIx, module: &ModuleRun, call: &Entry) -> Turn {
        self.gathered(node, || {
            let children = module.children.borrow();
            let children = children.get(&call.module_call().name)?;
            let mut objects = BTreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let mut object = BTreeMap::new();
                for (name, local) in &child.template.outputs {
                    object.insert(name.clone(), self.value_of(child.node(*local))?);
                }
                objects.insert(key.clone(), Value::object(object));
            }
            if children.keys.repeated == Repeated::Enabled && objects.is_empty() {
                return Some(Value::null(Type::Dynamic));
            }
            Some(children.keys.shape(&objects))
        })
    }

    /// A node that only puts together what others have computed.
    fn gathered(&self, node: NodeIx, shape: impl FnOnce() -> Option<Value>) -> Turn {
        let forced = self.with_facts(node, |it| it.forced);
        let graph = self.graph.borrow();
        let absent = graph.dependencies(node).any(|(dependency, _, active)| {
            active && matches!(self.outcomes.borrow()[dependency.0 as usize], Outcome::Unchanged)
        });
        drop(graph);
        let inputs = self.inputs(node, &[]);
        let version = self.memo.borrow().version_of_inputs(inputs);
        if absent && !forced {
            self.set_outcome(node, Outcome::Unchanged);
            self.settle_facts(node, version, true);
            return Turn::Done { keeps: true };
        }
        if absent && self.wait_for_values(node) {
            return Turn::Again;
        }
        let Some(value) = shape() else { return Turn::Failed };
        let keeps = value.has_deep(MarkKind::Ephemeral);
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// Asserts of a `check` block: they warn, and never fail anything.
    pub(crate) fn run_check(&self, index: ModuleIx, module: &ModuleRun, entry: &Entry) -> Turn {
        let check = entry.check();
        let name = format!("check.{}", check.name);
        let config_addr = prefixed(&module.path.to_string(), &name);
        let addr = prefixed(&module.address.to_string(), &name);
        let checked = Checked { kind: CheckKind::Check, config_addr: &config_addr, addr: &addr };
        let scope = EngineScope::new(self, index, None);
        let _ =
            self.check_conditions(&scope, entry, &check.asserts, ConditionKind::Assertion, checked);
        Turn::Done { keeps: false }
    }

    /// How many instances `declared` has, or making the instances of a call.
    pub(crate) fn run_expansion(
        &self,
        node: NodeIx,
        index: ModuleIx,
        local: u32,
        declared: &Declared,
    ) -> Turn {
        if self.wait_for_values(node) {
            return Turn::Again;
        }
        match declared {
            Declared::Expand(entry) => self.expand_resource(node, index, entry).into(),
            Declared::Call(entry, _) => self.expand_call(index, entry, local).into(),
            _ => Turn::Done { keeps: false },
        }
    }
}

/// `module.a.output.b`, or without a module.
pub(crate) fn prefixed(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") }
}

fn output_change(
    before: Option<&OutputValue>,
    after: Value,
    plain: Value,
    sensitive: bool,
) -> OutputChange {
    let was_sensitive = before.is_some_and(|it| it.sensitive);
    let old = before.map_or_else(|| Value::null(Type::Dynamic), |it| it.value.clone());
    let same = plain.is_wholly_known()
        && old.without_all_marks().raw_equals(&plain.without_all_marks())
        && (before.is_none() || was_sensitive == sensitive);
    let action = match (before.is_some(), plain.kind()) {
        (false, Kind::Null) => Action::NoOp,
        (false, _) => Action::Create,
        (true, Kind::Null) => Action::Delete,
        (true, _) if same => Action::NoOp,
        (true, _) => Action::Update,
    };
    OutputChange { action, before: old, after, sensitive: sensitive || was_sensitive }
}
