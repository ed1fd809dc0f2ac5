//! Conditions: evaluated, told about where they fail, and kept as results.

use std::collections::BTreeMap;

use ::values::{Kind, MarkKind, Type, Value, convert};
use db::{Diagnostic, Severity};
use hir::{Entry, item::Condition, secret_message};
use state::{CheckKind, CheckObject, CheckResult, CheckStatus};

use super::{EngineScope, Failed, Walk};

/// Results of the conditions of a run, in the order of addresses.
#[derive(Default)]
pub(crate) struct Checks {
    results: BTreeMap<(u8, String), (CheckKind, BTreeMap<String, CheckObject>)>,
}

/// What carries conditions.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'t> {
    pub(crate) kind: CheckKind,
    pub(crate) config_addr: &'t str,
    pub(crate) addr: &'t str,
}

/// Which conditions of a thing these are; they differ in words, and in whether a failure ends the thing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionKind {
    Precondition,
    Postcondition,
    OutputPrecondition,
    Assertion,
}

impl ConditionKind {
    fn summary(self) -> &'static str {
        match self {
            ConditionKind::Precondition => "Resource precondition failed",
            ConditionKind::Postcondition => "Resource postcondition failed",
            ConditionKind::OutputPrecondition => "Module output value precondition failed",
            ConditionKind::Assertion => "Check block assertion failed",
        }
    }

    fn severity(self) -> Severity {
        if self == ConditionKind::Assertion { Severity::Warning } else { Severity::Error }
    }
}

impl Checks {
    /// Records the outcome of one more condition of an object: the worst of all counts.
    pub(crate) fn record(
        &mut self,
        checked: Checked<'_>,
        status: CheckStatus,
        message: Option<String>,
    ) {
        let key = (rank(checked.kind), checked.config_addr.to_owned());
        let (_, objects) =
            self.results.entry(key).or_insert_with(|| (checked.kind, BTreeMap::new()));
        let object = objects.entry(checked.addr.to_owned()).or_insert_with(|| CheckObject {
            addr: checked.addr.to_owned(),
            status: CheckStatus::Pass,
            failure_messages: Vec::new(),
        });
        object.status = worst(object.status, status);
        object.failure_messages.extend(message);
    }

    /// Whether something failed a check already.
    pub(crate) fn is_failing(&self, checked: Checked<'_>) -> bool {
        let key = (rank(checked.kind), checked.config_addr.to_owned());
        let object = self.results.get(&key).and_then(|(_, objects)| objects.get(checked.addr));
        object.is_some_and(|it| matches!(it.status, CheckStatus::Fail | CheckStatus::Error))
    }

    /// The results as plan and state hold them.
    pub(crate) fn results(&self) -> Vec<CheckResult> {
        let results = self.results.iter().map(|((_, config_addr), (kind, objects))| CheckResult {
            kind: *kind,
            config_addr: config_addr.clone(),
            status: objects.values().map(|it| it.status).fold(CheckStatus::Pass, worst),
            objects: objects.values().cloned().collect(),
        });
        results.collect()
    }
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

impl Walk<'_> {
    /// Evaluates conditions of one object.
    ///
    /// # Errors
    /// If one failed or could not be evaluated, except for assertions of `check` blocks, which only warn.
    pub(crate) fn check_conditions(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        conditions: &[Condition],
        kind: ConditionKind,
        checked: Checked<'_>,
    ) -> Result<(), Failed> {
        let evaluate = |condition| self.condition(scope, entry, condition, kind, checked);
        let results = conditions.iter().map(evaluate);
        let results = results.map(|it| it.unwrap_or((CheckStatus::Error, None))).collect();
        let failed = self.record_checks(checked, results);
        if failed && kind != ConditionKind::Assertion { Err(Failed) } else { Ok(()) }
    }

    /// Records results of conditions, unless they wait for answers of functions; gives whether one failed.
    pub(super) fn record_checks(
        &self,
        checked: Checked<'_>,
        results: Vec<(CheckStatus, Option<String>)>,
    ) -> bool {
        if self.function_answers.is_waiting() {
            return true;
        }
        let mut failed = false;
        for (status, message) in results {
            failed |= matches!(status, CheckStatus::Fail | CheckStatus::Error);
            self.checks.borrow_mut().record(checked, status, message);
        }
        failed
    }

    fn condition(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        condition: &Condition,
        kind: ConditionKind,
        checked: Checked<'_>,
    ) -> Result<(CheckStatus, Option<String>), Failed> {
        let address = matches!(checked.kind, CheckKind::Resource).then_some(checked.addr);
        let value = self.evaluate(scope, entry, condition.condition, address)?;
        let value = convert::convert(&value.without_all_marks(), &Type::Bool).map_err(|error| {
            let detail = format!("Invalid condition result value: {error}.");
            let diagnostic =
                Diagnostic::error("invalid-condition-result", "Invalid condition result", detail);
            self.report_at(entry, condition.condition.into(), address, diagnostic);
            Failed
        })?;
        match value.kind() {
            Kind::Unknown(_) => return Ok((CheckStatus::Unknown, None)),
            Kind::Null => {
                let detail = "Condition expression must return either true or false, not null.";
                let diagnostic = Diagnostic::error(
                    "invalid-condition-result",
                    "Invalid condition result",
                    detail,
                );
                self.report_at(entry, condition.condition.into(), address, diagnostic);
                return Err(Failed);
            }
            _ => {}
        }
        let passed = value.as_bool() == Some(true);
        let message = self.condition_message(scope, entry, condition, address, passed)?;
        if passed {
            return Ok((CheckStatus::Pass, None));
        }
        let shown = message.clone().unwrap_or_else(|| {
            "This check failed, but has an invalid error message as described in the other accompanying messages."
                .to_owned()
        });
        let diagnostic = Diagnostic {
            severity: kind.severity(),
            ..Diagnostic::error("condition-failed", kind.summary(), shown)
        };
        self.report_at(entry, condition.condition.into(), address, diagnostic);
        Ok((CheckStatus::Fail, message))
    }

    /// The error message of a condition; none where it may not be shown, with a warning that tells so.
    fn condition_message(
        &self,
        scope: &EngineScope<'_, '_>,
        entry: &Entry,
        condition: &Condition,
        address: Option<&str>,
        passed: bool,
    ) -> Result<Option<String>, Failed> {
        let message = match self.evaluate(scope, entry, condition.error_message, address) {
            Ok(message) => message,
            Err(Failed) if passed => return Ok(None),
            Err(Failed) => return Err(Failed),
        };
        let kinds = [MarkKind::Sensitive, MarkKind::Ephemeral];
        let Some(kind) = kinds.into_iter().find(|kind| message.has_deep(*kind)) else {
            return Ok(message_text(&message));
        };
        if message.is_known() {
            let (summary, detail) = (secret_message::summary(kind), secret_message::detail(kind));
            let diagnostic = Diagnostic::warning(secret_message::ID, summary, detail);
            self.report_at(entry, condition.error_message.into(), address, diagnostic);
        }
        Ok(None)
    }
}

pub(crate) fn message_text(message: &Value) -> Option<String> {
    let text = convert::convert(&message.without_all_marks(), &Type::String).ok()?;
    text.as_str().map(|it| it.trim().to_owned())
}
