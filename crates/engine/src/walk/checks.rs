//! The results of the conditions of resources, outputs, variables and `check` blocks. `conditions.rs` evaluates
//! them.

use std::cell::RefCell;

use db::{Diagnostic, Summary};
use hir::{Module, Program};
use sorted::TreeMap;
use state::{CheckKind, CheckObject, CheckResult, CheckStatus};
use values::{Kind, Type, Value, convert};

/// The results of all conditions of a run, ordered by kind and address.
#[derive(Default)]
pub(crate) struct Checks {
    results: RefCell<Results>,
}

type Results = TreeMap<(u8, String), (CheckKind, Objects)>;

type Objects = TreeMap<String, Outcome>;

/// The outcome of the conditions of one object.
#[derive(Default)]
struct Outcome {
    /// `None` until a condition is evaluated.
    status: Option<CheckStatus>,
    failure_messages: Vec<String>,
}

/// The object that carries conditions.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'t> {
    pub(crate) kind: CheckKind,
    /// The address in the configuration, without instance keys.
    pub(crate) config_addr: &'t str,
    pub(crate) addr: &'t str,
}

/// The kind of a condition. It determines the wording of a failure, and whether the failure is an error or a
/// warning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionKind {
    Precondition,
    Postcondition,
    OutputPrecondition,
    Assertion,
    /// An assertion of a `run` block of a test.
    TestAssertion,
}

impl ConditionKind {
    pub(crate) fn summary(self) -> Summary {
        match self {
            ConditionKind::Precondition => Summary::RESOURCE_PRECONDITION,
            ConditionKind::Postcondition => Summary::RESOURCE_POSTCONDITION,
            ConditionKind::OutputPrecondition => Summary::OUTPUT_PRECONDITION,
            ConditionKind::Assertion => Summary::CHECK_ASSERTION,
            ConditionKind::TestAssertion => Summary::TEST_ASSERTION,
        }
    }
}

impl Checks {
    /// Starts with the objects of a plan's results. Those that the apply does not reach keep the status unknown.
    pub(crate) fn expected(planned: &[CheckResult]) -> Checks {
        let mut results = Results::default();
        // A result with the status unknown and without objects was not expanded by the plan. With any other
        // status, an empty list means that there are no objects.
        let is_expanded =
            |it: &&CheckResult| it.status != CheckStatus::Unknown || !it.objects.is_empty();
        for result in planned.iter().filter(is_expanded) {
            let objects = objects_of(&mut results, result.kind, &result.config_addr);
            objects.extend(result.objects.iter().map(|it| (it.addr.clone(), Outcome::default())));
        }
        Checks { results: RefCell::new(results) }
    }

    /// The results of a destroy plan: the outputs of the root module that have preconditions, with the status
    /// unknown.
    pub(crate) fn of_destruction(root: &Module) -> Checks {
        let mut results = Results::default();
        let outputs = root.outputs.iter().filter(|(_, it)| !it.output().preconditions.is_empty());
        for (name, _) in outputs {
            let address = format!("output.{name}");
            let objects = objects_of(&mut results, CheckKind::Output, &address);
            objects.entry(address.clone()).or_default();
        }
        Checks { results: RefCell::new(results) }
    }

    /// Records the outcome of one more condition of an object. The worst status counts.
    pub(crate) fn record(
        &self,
        checked: Checked<'_>,
        status: CheckStatus,
        message: Option<String>,
    ) {
        let mut results = self.results.borrow_mut();
        let objects = objects_of(&mut results, checked.kind, checked.config_addr);
        let object = objects.entry(checked.addr.to_owned()).or_default();
        object.status = Some(object.status.map_or(status, |it| worst(it, status)));
        object.failure_messages.extend(message);
    }

    /// Returns true if a condition of the object failed or could not be evaluated.
    pub(crate) fn is_failing(&self, checked: Checked<'_>) -> bool {
        let key = (rank(checked.kind), checked.config_addr.to_owned());
        let results = self.results.borrow();
        let object = results.get(&key).and_then(|(_, objects)| objects.get(checked.addr));
        let status = object.and_then(|it| it.status);
        matches!(status, Some(CheckStatus::Fail | CheckStatus::Error))
    }

    /// Takes the results out.
    pub(crate) fn take(&self) -> Checks {
        Checks { results: RefCell::new(self.results.take()) }
    }

    /// Starts from other results.
    pub(crate) fn restore(&self, checks: Checks) {
        self.results.replace(checks.results.into_inner());
    }

    /// The results as the plan and the state hold them. `without_objects` gives the status of a declaration without
    /// objects, by its address without keys.
    pub(crate) fn results(
        &self,
        program: &Program,
        without_objects: impl Fn(&str) -> CheckStatus,
    ) -> Vec<CheckResult> {
        let mut results: TreeMap<(u8, String), CheckResult> = TreeMap::new();
        for (kind, config_addr) in declared(program) {
            let key = (rank(kind), config_addr.clone());
            let status = without_objects(&config_addr);
            results.insert(key, CheckResult { kind, config_addr, status, objects: Vec::new() });
        }
        for (key, (kind, outcomes)) in &*self.results.borrow() {
            let objects = outcomes.iter().map(|(addr, outcome)| CheckObject {
                addr: addr.clone(),
                status: outcome.status.unwrap_or(CheckStatus::Unknown),
                failure_messages: outcome.failure_messages.clone(),
            });
            let objects: Vec<CheckObject> = objects.collect();
            let status = objects.iter().map(|it| it.status).fold(CheckStatus::Pass, worst);
            let (kind, config_addr) = (*kind, key.1.clone());
            results.insert(key.clone(), CheckResult { kind, config_addr, status, objects });
        }
        results.into_values().collect()
    }
}

fn objects_of<'r>(results: &'r mut Results, kind: CheckKind, config_addr: &str) -> &'r mut Objects {
    let key = (rank(kind), config_addr.to_owned());
    &mut results.entry(key).or_insert_with(|| (kind, Objects::new())).1
}

/// The declarations of the configuration that have conditions, once for each path of module calls that leads to
/// them.
fn declared(program: &Program) -> Vec<(CheckKind, String)> {
    let mut found = Vec::new();
    let has_checks: Vec<bool> =
        program.modules.iter().map(|it| checkables(it).next().is_some()).collect();
    if !has_checks.contains(&true) {
        return found;
    }
    for path in program.module_paths().take(MAX_PATHS) {
        let prefix: String = match &*path.key {
            "" => String::new(),
            key => key.split('.').map(|it| format!("module.{it}.")).collect(),
        };
        found.extend(checkables(path.module).map(|(kind, name)| (kind, format!("{prefix}{name}"))));
    }
    found
}

/// The most paths of module calls that are searched for declarations, because paths can be many more than modules.
/// On further paths, only objects have results.
const MAX_PATHS: usize = 10_000;

/// The declarations of a module that have conditions.
fn checkables(module: &Module) -> impl Iterator<Item = (CheckKind, String)> {
    let resources = module.resources.iter().filter(|(_, it)| {
        let lifecycle = &it.resource().lifecycle;
        !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty()
    });
    let outputs = module.outputs.iter().filter(|(_, it)| !it.output().preconditions.is_empty());
    let variables = module.variables.iter().filter(|(_, it)| !it.variable().validations.is_empty());
    let resources = resources.map(|(address, _)| (CheckKind::Resource, address.to_string()));
    let outputs = outputs.map(|(name, _)| (CheckKind::Output, format!("output.{name}")));
    let checks = module.checks.keys().map(|name| (CheckKind::Check, format!("check.{name}")));
    let variables = variables.map(|(name, _)| (CheckKind::Variable, format!("var.{name}")));
    resources.chain(outputs).chain(checks).chain(variables)
}

fn rank(kind: CheckKind) -> u8 {
    match kind {
        CheckKind::Resource => 0,
        CheckKind::Output => 1,
        CheckKind::Check => 2,
        CheckKind::Variable => 3,
    }
}

fn worst(a: CheckStatus, b: CheckStatus) -> CheckStatus {
    let rank = |it: CheckStatus| match it {
        CheckStatus::Pass => 0,
        CheckStatus::Unknown => 1,
        CheckStatus::Fail => 2,
        CheckStatus::Error => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// The value of a condition that is neither true nor false nor unknown.
pub(crate) enum InvalidResult {
    Null,
    /// Why the value is no bool.
    NoBool(String),
}

impl InvalidResult {
    /// The error of a precondition, postcondition or assertion.
    pub(crate) fn of_condition(self) -> Diagnostic {
        let detail = match self {
            InvalidResult::Null => {
                "Condition expression must return either true or false, not null.".to_owned()
            }
            InvalidResult::NoBool(why) => format!("Invalid condition result value: {why}."),
        };
        Diagnostic::new(Summary::INVALID_CONDITION_RESULT, detail)
    }

    /// The error of an assertion of a test.
    pub(crate) fn of_test(self) -> Diagnostic {
        let detail = match self {
            InvalidResult::Null => {
                "Condition expression must return either true or false, not null.".to_owned()
            }
            InvalidResult::NoBool(why) => format!("Invalid condition run value: {why}."),
        };
        Diagnostic::new(Summary::INVALID_TEST_CONDITION, detail)
    }

    /// The error of a variable's validation.
    pub(crate) fn of_validation(self) -> Diagnostic {
        let detail = match self {
            InvalidResult::Null => {
                "The condition of a validation must be true or false, not null.".to_owned()
            }
            InvalidResult::NoBool(why) => {
                format!("Invalid validation condition result value: {why}.")
            }
        };
        Diagnostic::new(Summary::INVALID_VALIDATION_RESULT, detail)
    }
}

/// Returns the result of a condition; `None` if its value is unknown.
///
/// # Errors
/// The value is null, or no bool.
pub(crate) fn condition_result(value: &Value) -> Result<Option<bool>, InvalidResult> {
    let value = convert::convert(&value.without_all_marks(), &Type::Bool)
        .map_err(|error| InvalidResult::NoBool(error.to_string()))?;
    match value.kind() {
        Kind::Unknown(_) => Ok(None),
        Kind::Null => Err(InvalidResult::Null),
        _ => Ok(Some(value.as_bool() == Some(true))),
    }
}

pub(crate) fn message_text(message: &Value) -> Option<String> {
    let text = convert::convert(&message.without_all_marks(), &Type::String).ok()?;
    text.as_str().map(|it| it.trim().to_owned())
}
