//! The evaluation of conditions, and their diagnostics.

use db::{CheckedObject, Diagnostic, Severity, Summary};
use hir::{
    Entry,
    eval::{self, Explanation},
    item::Condition,
    secret_message,
};
use state::{CheckKind, CheckStatus};
use values::MarkKind;

use crate::{
    graph::ModuleIx,
    schedule::Failed,
    walk::{
        checks::{Checked, ConditionKind, condition_result, message_text},
        context::Walk,
        scope::EngineScope,
        turn::Turn,
    },
};

impl Walk<'_> {
    /// Evaluates the conditions of one object and records the results.
    ///
    /// # Errors
    /// If a condition failed or could not be evaluated. Assertions of `check` blocks only warn.
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
        let stops = kind != ConditionKind::Assertion && !self.settings.is_refresh_only;
        if failed && stops { Err(Failed) } else { Ok(()) }
    }

    /// Records the results of conditions and returns true if one failed. While answers of provider functions are
    /// missing, it records nothing and returns true.
    pub(super) fn record_checks(
        &self,
        checked: Checked<'_>,
        results: Vec<(CheckStatus, Option<String>)>,
    ) -> bool {
        if self.calls.answers.is_waiting() {
            return true;
        }
        let mut failed = false;
        for (status, message) in results {
            failed |= matches!(status, CheckStatus::Fail | CheckStatus::Error);
            self.checks.record(checked, status, message);
        }
        failed
    }

    /// Evaluates the assertions of a `run` block of a test. A failed one is an error, but does not stop the others.
    pub(crate) fn run_assertions(&self, index: ModuleIx, entry: &Entry) -> Turn {
        let Some(run) = entry.item.kind.as_run() else { return Turn::Failed };
        let scope = EngineScope::new(self, index, None);
        let address = format!("run.{}", run.name);
        let checked = Checked { kind: CheckKind::Check, config_addr: &address, addr: &address };
        let kind = ConditionKind::TestAssertion;
        let evaluate = |it| self.condition(&scope, entry, it, kind, checked).is_ok();
        let evaluated = run.asserts.iter().filter(|it| evaluate(it)).count();
        if !self.calls.answers.is_waiting() {
            self.report.note_assertions(evaluated);
        }
        Turn::Done { keeps: false }
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
        let result = condition_result(&value).map_err(|invalid| {
            let found = match kind {
                ConditionKind::TestAssertion => invalid.of_test(),
                _ => invalid.of_condition(),
            };
            self.report_at(entry, condition.condition.into(), address, found);
            Failed
        })?;
        let Some(passed) = result else {
            if kind == ConditionKind::TestAssertion {
                let detail = "Condition expression could not be evaluated at this time.";
                let found = Diagnostic::new(Summary::UNKNOWN_TEST_CONDITION, detail);
                self.report_at(entry, condition.condition.into(), address, found);
            }
            if kind == ConditionKind::Assertion {
                let detail = "The condition could not be evaluated at this time, a result will be \
                              known when this plan is applied.";
                let diagnostic = Diagnostic::new(Summary::CHECK_UNKNOWN, detail);
                self.report_at(entry, condition.condition.into(), address, diagnostic);
            }
            return Ok((CheckStatus::Unknown, None));
        };
        let message = self.condition_message(scope, entry, condition, address, passed)?;
        if passed {
            return Ok((CheckStatus::Pass, None));
        }
        let shown = message.clone().unwrap_or_else(|| {
            "This check failed, but has an invalid error message as described in the other accompanying messages."
                .to_owned()
        });
        let summary = match self.settings.is_refresh_only {
            true => kind.summary().at_most(Severity::Warning),
            false => kind.summary(),
        };
        let object = CheckedObject { address: checked.addr.to_owned(), is_demoted: false };
        let object = (kind != ConditionKind::TestAssertion).then_some(object);
        let Explanation { values, difference } =
            eval::explain_condition(&entry.item.exprs, condition.condition, scope);
        let found = Diagnostic::new(summary, shown);
        let diagnostic = Diagnostic { checked: object, values, difference, ..found };
        self.report_at(entry, condition.condition.into(), address, diagnostic);
        Ok((CheckStatus::Fail, message))
    }

    /// The error message of a condition. `None` if the message is sensitive or ephemeral and so must not be shown,
    /// which a warning reports, or if the condition passed and its message cannot be evaluated.
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
            let diagnostic = Diagnostic::new(summary, detail);
            self.report_at(entry, condition.error_message.into(), address, diagnostic);
        }
        Ok(None)
    }
}
