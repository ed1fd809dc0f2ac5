//! Replacement because another resource changes: the argument `replace_triggered_by`.
//!
//! An entry names a resource, an instance or a part of one. A creation, an update or a replacement of an instance
//! triggers; if the entry names a part, only if that part changes. The deletion of an instance triggers nothing.
//!
//! **Invariant:** the plan of a resource with triggers is never taken from the memo, because the actions of other
//! resources are no part of their values.

use addr::{AbsResource, InstanceKey};
use db::{Diagnostic, Summary};
use hir::{
    Entry, ExprId,
    expr::{Expr, Ref},
};
use state::ResourceChange;
use values::{Path, Step, Value};

use crate::{
    resource::subject::Subject,
    runs::planning::Planning,
    schedule::Failed,
    walk::{
        instances::Each,
        scope::{EngineScope, instance_key},
    },
};

/// The meaning of an entry of `replace_triggered_by`.
struct Trigger {
    resource: AbsResource,
    /// The key of the instance; `None` for all instances.
    key: Option<InstanceKey>,
    /// The part of the instance.
    part: Path,
}

/// Returns true if changes of other resources may replace the resource.
pub(crate) fn is_triggered(entry: &Entry) -> bool {
    !entry.resource().lifecycle.replace_triggered_by.is_empty()
}

impl Planning<'_> {
    /// Returns true if a planned change of another resource triggers the replacement of an instance.
    pub(crate) fn triggers_replacement(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
    ) -> Result<bool, Failed> {
        for &expr in &entry.resource().lifecycle.replace_triggered_by {
            let Some(trigger) = self.trigger(subject, entry, each, expr)? else { continue };
            if self.is_fired(subject, entry, expr, &trigger)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_fired(
        &self,
        subject: &Subject,
        entry: &Entry,
        expr: ExprId,
        trigger: &Trigger,
    ) -> Result<bool, Failed> {
        let Trigger { resource, key, part } = trigger;
        let fired = self.decisions.with_changes_of(resource, |changes| match key {
            None if part.is_root() => Some(changes.any_renews),
            None => Some(changes.by_key.values().any(|it| changes_part(it, part))),
            Some(key) => changes.by_key.get(key).map(|it| changes_part(it, part)),
        });
        let (None, Some(key)) = (fired, key) else { return Ok(fired.unwrap_or(false)) };
        let detail = format!(
            "There is no instance {} whose change could trigger a replacement. Name an instance that \
             the configuration declares, or the whole resource.",
            resource.instance(key.clone())
        );
        let diagnostic = Diagnostic::new(Summary::REPLACE_TRIGGER_REFERENCE, detail);
        self.report_at(entry, expr.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }

    /// Reads an entry. `None` if it names no resource, which the analysis reports.
    fn trigger(
        &self,
        subject: &Subject,
        entry: &Entry,
        each: &Each,
        expr: ExprId,
    ) -> Result<Option<Trigger>, Failed> {
        let exprs = &entry.item.exprs;
        let scope = EngineScope::new(self, subject.module, Some(each));
        let (mut at, mut steps) = (expr, Vec::new());
        let resource = loop {
            at = match &exprs[at] {
                Expr::GetAttr { base, name } => {
                    steps.push(Step::Attr(name.clone()));
                    *base
                }
                Expr::Index { base, key } => {
                    let key = self.evaluate(&scope, entry, *key, Some(&subject.text))?;
                    steps.push(Step::Index(key.without_all_marks()));
                    *base
                }
                Expr::Ref(Ref::Resource(resource)) => break resource,
                _ => return Ok(None),
            };
        };
        steps.reverse();
        let key = match steps.first() {
            Some(Step::Index(key)) => instance_key(key),
            _ => None,
        };
        let part = steps.into_iter().skip(usize::from(key.is_some())).collect();
        let module = subject.address().module.clone();
        Ok(Some(Trigger { resource: resource.clone().in_module(module), key, part }))
    }
}

/// Returns true if a change creates, updates or replaces an object, and this part of it is not the same afterwards.
fn changes_part(change: &ResourceChange, part: &Path) -> bool {
    let plain = |value: &Value| part.apply(&value.without_all_marks());
    change.change.action.renews()
        && match (plain(&change.change.before), plain(&change.change.after)) {
            _ if part.is_root() => true,
            (Some(before), Some(after)) => !before.raw_equals(&after),
            (before, after) => before.is_some() != after.is_some(),
        }
}
