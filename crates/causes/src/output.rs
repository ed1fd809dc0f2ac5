//! The causes of the values of outputs.

use std::rc::Rc;

use addr::{InstanceKey, ModuleInstance};
use engine::ModuleSnapshot;
use state::{Action, OutputChange};
use values::{Mark, Step, Str, Value};

use crate::{
    analysis::ModulePair,
    finding::{Fact, Finding},
    search::{Collected, Interest, Pair, Search, Site, Sited, path_text},
    shown::Visibility,
};

impl<'a> Search<'_, 'a> {
    /// Explains the planned change of an output of the root module.
    pub(crate) fn of_output(&mut self, name: &Str) -> Option<Finding> {
        let change = self.analysis.inputs.plan.output_changes.get(name)?;
        let pair = Pair { before: change.before.clone(), after: change.after.clone() };
        let subject = format!("output.{name}");
        let module = self.analysis.module(&ModuleInstance::root())?;
        let Some(entry) = module.module().outputs.get(name) else {
            return Some(Finding::root(subject, Fact::NoBlock, None));
        };
        let value = entry.output().value?;
        if change.sensitive {
            self.visibility = Visibility::Sensitive;
        }
        let site = Site { module: Rc::clone(&module), entry, key: InstanceKey::None };
        self.begins(&subject, Interest::Changed);
        let place = self.place(&site, value);
        let causes = self.of_changed_output(&site, &pair, change);
        Some(Finding::root(subject, self.output_fact(&pair, change), place).because_of(causes))
    }

    /// Explains an output of the root module: its planned change, or its marks.
    pub(crate) fn of_root_output(
        &mut self,
        module: &Rc<ModulePair<'a>>,
        name: &Str,
        interest: Interest,
    ) -> Option<Finding> {
        let planned = &self.analysis.inputs.plan.output_changes;
        if !planned.contains_key(name)
            && let Some(cause) = self.analysis.left_out_output(name)
        {
            let place = module.module().outputs.get(name).and_then(|it| self.header(it));
            let subject = format!("output.{name}");
            return Some(Finding::root(subject, Fact::NotPlanned, place).because([cause]));
        }
        match interest {
            Interest::Unknown | Interest::Changed | Interest::Made => {
                let of_change = self.of_output(name);
                of_change.or_else(|| self.of_module_output(module, name, &[], interest))
            }
            Interest::Sensitive | Interest::Ephemeral => {
                self.of_module_output(module, name, &[], interest)
            }
        }
    }

    /// The value of an output before and after the plan, with the marks of its declaration.
    pub(crate) fn output_pair(&self, module: &ModulePair<'a>, name: &Str) -> Pair {
        let unknown = Pair { before: Value::dynamic(), after: Value::dynamic() };
        let Some(entry) = module.module().outputs.get(name) else { return unknown };
        let Some(expr) = entry.output().value else { return unknown };
        let value = |snapshot: &ModuleSnapshot<'_>| {
            let value = snapshot.evaluate(&entry.item, expr, &InstanceKey::None);
            match entry.output().sensitive {
                true => value.with_mark(Mark::Sensitive),
                false => value,
            }
        };
        Pair { before: value(&module.before), after: value(&module.after) }
    }

    fn output_fact(&self, pair: &Pair, change: &OutputChange) -> Fact {
        match change.action {
            Action::Create if pair.after.is_wholly_known() => {
                Fact::Is { value: self.shown(&pair.after) }
            }
            _ if pair.differs_in_marks() => Fact::SensitivityChanges,
            _ => self.fact(pair, pair.interest()),
        }
    }

    fn of_changed_output(
        &mut self,
        site: &Site<'a>,
        pair: &Pair,
        change: &OutputChange,
    ) -> Collected {
        let Some(value) = site.entry.output().value else { return Collected::default() };
        let interest = pair.interest();
        let followed = self.of_expr(site, value, &[], interest);
        if !followed.list.is_empty() || interest == Interest::Unknown {
            return followed;
        }
        if change.action == Action::Create {
            let place = self.header(site.entry);
            let subject = format!("output.{}", site.entry.output().name);
            return Collected::of(Finding::root(subject, Fact::IsNew, place));
        }
        let made = self.of_expr(site, value, &[], Interest::Made);
        match made.list.is_empty() {
            true => {
                let written = Fact::Written { value: self.shown(&pair.after) };
                let subject = format!("output.{}", site.entry.output().name);
                Collected::of(Finding::root(subject, written, self.place(site, value)))
            }
            false => made,
        }
    }

    /// Explains the value of an output of a module instance, or a part of it.
    pub(crate) fn of_module_output(
        &mut self,
        module: &Rc<ModulePair<'a>>,
        name: &Str,
        steps: &[Step],
        interest: Interest,
    ) -> Option<Finding> {
        let entry = module.module().outputs.get(name)?;
        let output = entry.output();
        let subject = match module.instance.is_root() {
            true => format!("output.{name}{}", path_text(steps)),
            false => format!("{}.{name}{}", module.instance, path_text(steps)),
        };
        if let Some(fact) = interest.by_declaration(output.sensitive, output.ephemeral) {
            self.begins(&subject, interest);
            return Some(Finding::root(subject, fact, self.header(entry)));
        }
        let site = Site { module: Rc::clone(module), entry, key: InstanceKey::None };
        let outer = self.visibility;
        if output.sensitive && outer == Visibility::Shown {
            self.visibility = Visibility::Sensitive;
        }
        let found =
            self.of_named(subject, Sited { site: &site, expr: output.value? }, steps, interest);
        self.visibility = outer;
        Some(found)
    }
}
