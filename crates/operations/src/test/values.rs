//! The values of variables for a run.
//!
//! A later source replaces an earlier one: defaults, the environment, variables files, flags, the `variables` block
//! of the file, that of the run.

use ::values::{Str, Value};
use db::{Diagnostic, Summary};
use engine::{Console, Environment, ValueSource, VariableValues};
use hir::{
    At, Entry, Program, Ref, eval,
    item::{Attr, RefPlace, RefTarget, StaticRef},
    test_file::TestFile,
    test_item::{TestItem, TestRun},
};
use sorted::{TreeMap, TreeSet};
use state::State;

use crate::{
    session::Session,
    test::{TestOptions, program::RunProgram},
    variables,
};

/// The outputs of earlier runs, by the name of the run.
pub(super) type RunOutputs = TreeMap<Str, Value>;

/// The names that the file and the run use for variables which the module under test does not declare.
fn undeclared_names(program: &Program, file: &TestFile, entry: &Entry, run: &TestRun) -> Vec<Str> {
    let mut names: TreeSet<Str> = TreeSet::new();
    let assigned = file_variables(file).flat_map(|(_, attrs)| attrs).chain(&run.variables);
    names.extend(assigned.map(|it| it.name.clone()));
    let used = file.entries().iter().filter(|it| it.item.kind.as_run().is_none()).chain([entry]);
    let used = used.flat_map(|it| it.item.refs.iter());
    names.extend(used.filter_map(|it: &StaticRef| match &it.target {
        RefTarget::Variable(name) => Some(name.clone()),
        _ => None,
    }));
    names.retain(|name| !program.root().variables.contains_key(name));
    names.into_iter().collect()
}

/// The values of the file's `variables` blocks.
fn file_variables(file: &TestFile) -> impl Iterator<Item = (&Entry, &[Attr])> {
    file.items().filter_map(|(entry, item)| match item {
        TestItem::Variables(attrs) => Some((entry, &**attrs)),
        _ => None,
    })
}

/// Collects the values of variables for a run, and declares the variables that only the test has.
pub(super) fn collect(
    session: &Session,
    options: &TestOptions,
    building: &mut RunProgram<'_>,
    outputs: &RunOutputs,
    environment: &Environment,
) -> VariableValues {
    let (file, entry, run) = (building.file, building.entry, building.run);
    let names = undeclared_names(&building.program, file, entry, run);
    building.declare_variables(&names);
    let declared = &building.program.root().variables;
    let (mut values, found) =
        variables::collect_for_test(session, declared, &options.flags, &options.directory);
    building.diagnostics.extend(found);
    outputs.iter().for_each(|(name, it)| values.set_run(name.clone(), it.clone()));
    let mut evaluation = Evaluation { session, environment, building };
    for (entry, attrs) in file_variables(file) {
        evaluation.assign(&mut values, entry, attrs);
    }
    evaluation.assign(&mut values, entry, &run.variables);
    let is_missing = |name: &&Str| !values.contains(name);
    let unset: Vec<Str> = names.iter().filter(is_missing).cloned().collect();
    building.remove_variables(&unset);
    values
}

struct Evaluation<'e, 'a> {
    session: &'e Session,
    environment: &'e Environment,
    building: &'e mut RunProgram<'a>,
}

impl Evaluation<'_, '_> {
    /// Evaluates the attributes of a `variables` block, all with the values from before the block.
    fn assign(&mut self, values: &mut VariableValues, entry: &Entry, attrs: &[Attr]) {
        if attrs.is_empty() || self.has_other_references(entry) {
            return;
        }
        let program = std::sync::Arc::new(self.building.program.clone());
        let workspace = self.session.workspace();
        let console =
            Console::new(&program, &State::default(), values.clone(), self.environment, workspace);
        let mut assigned = Vec::new();
        for attr in attrs {
            let evaluate =
                console.evaluate(|scope| eval::evaluate(&entry.item.exprs, attr.value, scope));
            let evaluated = match self.session.runtime.block_on(evaluate) {
                Ok(evaluated) => evaluated,
                Err(found) => {
                    self.building.diagnostics.push(*found);
                    continue;
                }
            };
            if let Some(value) = self.value(entry, attr, evaluated) {
                self.environment.redactor.learn(&value);
                assigned.push((attr, value));
            }
        }
        self.session.runtime.block_on(console.end());
        for (attr, value) in assigned {
            let location = self.building.program.locate(entry.origin, At::from(attr.value));
            values.set(attr.name.clone(), value, ValueSource::File(location));
        }
    }

    /// The value of an attribute. Reports why it has none.
    fn value(
        &mut self,
        entry: &Entry,
        attr: &Attr,
        evaluated: Result<eval::Evaluated, hir::Interrupt>,
    ) -> Option<Value> {
        let evaluated = match evaluated {
            Ok(evaluated) => evaluated,
            Err(hir::Interrupt::Refused { summary, detail }) => {
                let found = Diagnostic::new(summary, detail);
                self.building.report(entry, attr.value, found);
                return None;
            }
            Err(_) => {
                let detail = "The value of this variable could not be evaluated.";
                let found = Diagnostic::new(Summary::UNDECLARED_TEST_REFERENCE, detail);
                self.building.report(entry, attr.value, found);
                return None;
            }
        };
        let failed = evaluated.has_errors();
        for it in evaluated.diagnostics {
            let found = Diagnostic { values: it.values, ..Diagnostic::new(it.summary, it.detail) };
            self.building.report(entry, it.at, found);
        }
        (!failed).then_some(evaluated.value)
    }

    /// Reports references to anything but variables and earlier runs. Returns true if there are any.
    fn has_other_references(&mut self, entry: &Entry) -> bool {
        let is_other = |it: &&StaticRef| {
            it.place == RefPlace::Config
                && !matches!(it.target, RefTarget::Variable(_) | RefTarget::Ambient(Ref::Run(_)))
        };
        let others: Vec<StaticRef> = entry.item.refs.iter().filter(is_other).cloned().collect();
        for it in &others {
            let detail = "The value of a variable in a test file may refer only to variables \
                          (var.NAME) and to the outputs of earlier runs (run.NAME.OUTPUT).";
            let found = Diagnostic::new(Summary::VARIABLES_NOT_ALLOWED, detail);
            self.building.report(entry, it.expr, found);
        }
        !others.is_empty()
    }
}

impl RunProgram<'_> {
    /// Removes the declarations of variables that got no value, so that references to them are errors.
    fn remove_variables(&mut self, names: &[Str]) {
        let root = std::sync::Arc::make_mut(&mut self.program.modules[0]);
        names.iter().for_each(|name| drop(root.variables.shift_remove(name)));
    }
}
