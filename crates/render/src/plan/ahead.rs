//! The text of planned objects, rendered on other processors while the plan is still being made.
//!
//! **Invariant:** a text counts only for the change from which it was rendered, so the text of a plan is the same with
//! and without it, on any number of processors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use addr::ProviderSource;
use engine::ChangeSink;
use parallel::{Ended, Task};
use provider::ProviderSchemas;
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use state::ResourceChange;

use super::{
    comment, human,
    view::{ObjectView, PlanView, SchemaFinder},
};
use crate::{Schemas, style::Style};

/// The number of objects that are handed over to another processor at once: enough to be worth waking it.
const PART: usize = 128;

/// Renders the objects of one plan while it is being made.
pub struct ObjectsAhead {
    settings: Arc<Settings>,
    handed_over: Mutex<HandedOver>,
}

/// The data besides an object that its text depends on.
struct Settings {
    style: Style,
    show_sensitive: bool,
    data_dir: String,
}

#[derive(Default)]
struct HandedOver {
    /// Changes for which no part has been started.
    waiting: Vec<Arc<ResourceChange>>,
    parts: Vec<Arc<Task<Part, RenderedPart>>>,
}

/// Changes, and the schemas of their providers.
struct Part {
    changes: Vec<Arc<ResourceChange>>,
    schemas: TreeMap<ProviderSource, Option<Arc<ProviderSchemas>>>,
}

/// Changes with their texts.
struct RenderedPart {
    changes: Vec<Arc<ResourceChange>>,
    texts: Vec<String>,
}

/// The texts of objects, by the allocations of their changes.
#[derive(Default)]
pub(super) struct ObjectTexts {
    by_change: FxHashMap<*const ResourceChange, String>,
    /// Keeps the allocations.
    changes: Vec<Vec<Arc<ResourceChange>>>,
}

impl ObjectTexts {
    /// Takes the text of an object. `None` if it must still be rendered.
    pub(super) fn take(&mut self, change: &ResourceChange) -> Option<String> {
        self.by_change.remove(&std::ptr::from_ref(change))
    }

    fn add(&mut self, part: RenderedPart) {
        let RenderedPart { changes, texts } = part;
        self.by_change.extend(changes.iter().map(Arc::as_ptr).zip(texts));
        self.changes.push(changes);
    }
}

impl ObjectsAhead {
    /// Prepares to render a plan whose data directory is `data_dir`. The other parameters are those of [`PlanView`].
    pub fn new(style: Style, show_sensitive: bool, data_dir: &str) -> ObjectsAhead {
        let settings = Settings { style, show_sensitive, data_dir: data_dir.to_owned() };
        ObjectsAhead { settings: Arc::new(settings), handed_over: Mutex::default() }
    }

    /// Renders the plan that was made, as [`plan`](human::plan) does, in pieces.
    pub fn plan(&self, view: &PlanView<'_>) -> Vec<String> {
        human::plan_with(view, self.texts(view), &self.settings.style)
    }

    /// The texts of a plan's objects. Takes back the parts that have not begun, and waits for those that have.
    fn texts(&self, view: &PlanView<'_>) -> ObjectTexts {
        let HandedOver { parts, .. } = std::mem::take(&mut *self.lock());
        let Settings { show_sensitive, data_dir, .. } = &*self.settings;
        let mut texts = ObjectTexts::default();
        if view.show_sensitive != *show_sensitive || view.plan.data_dir != *data_dir {
            return texts;
        }
        texts.by_change.reserve(parts.len() * PART);
        // The last ones first: while this thread waits for a part, another thread would begin the next one.
        for part in parts.into_iter().rev() {
            match part.take() {
                Ended::Done(rendered) => texts.add(rendered),
                Ended::NotBegun(_) | Ended::Lost => {}
            }
        }
        texts
    }

    fn lock(&self) -> MutexGuard<'_, HandedOver> {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSink for ObjectsAhead {
    fn planned(&self, change: &Arc<ResourceChange>, schemas: Schemas<'_>) {
        if parallel::processors() == 1 || !comment::is_shown(change) {
            return;
        }
        let HandedOver { waiting, parts } = &mut *self.lock();
        waiting.push(Arc::clone(change));
        if waiting.len() == PART {
            let part = Arc::new(Task::new(Part::new(std::mem::take(waiting), schemas)));
            parts.push(Arc::clone(&part));
            let settings = Arc::clone(&self.settings);
            // Without another thread, the part stays as it is and is taken back.
            let _ = parallel::spawn(move || part.run(|it| it.render(&settings)));
        }
    }
}

impl Part {
    fn new(changes: Vec<Arc<ResourceChange>>, find: Schemas<'_>) -> Part {
        let mut schemas = TreeMap::new();
        for change in &changes {
            let source = &change.provider.source;
            if !schemas.contains_key(source) {
                schemas.insert(source.clone(), find(source));
            }
        }
        Part { changes, schemas }
    }

    fn render(self, settings: &Settings) -> RenderedPart {
        let Settings { ref style, show_sensitive, ref data_dir } = *settings;
        let found = |source: &ProviderSource| self.schemas.get(source).cloned().flatten();
        let mut finder = SchemaFinder::new(&found);
        let texts = self.changes.iter().map(|change| {
            let block = finder.block(change);
            human::object(&ObjectView { block, show_sensitive, data_dir }, change, style)
        });
        let texts = texts.collect();
        RenderedPart { changes: self.changes, texts }
    }
}

#[cfg(test)]
mod tests {
    use state::{Action, Plan};
    use values::Value;

    use super::*;
    use crate::plan::tests::{change, null, plan_of, schemas, secret};

    /// A plan with two parts and a rest, of objects with and without a schema.
    fn large_plan() -> Plan {
        let object = |index: usize| {
            let name = Value::string(format!("{index}"));
            let (address, after) = match index % 3 {
                0 => ("t_secret.it", secret(&[("path", name.clone()), ("sensitive", name)])),
                1 => ("data.t_secret.it", null()),
                _ => ("t_other.it", Value::object_from([("name", name)])),
            };
            change(&format!("{address}[{index}]"), Action::Create, null(), after)
        };
        plan_of((0..2 * PART + 10).map(object).collect())
    }

    /// Checks that the text is the same with and without a rendering ahead of `planned`. Returns the number of objects
    /// whose texts were used.
    #[track_caller]
    fn check(
        ahead: ObjectsAhead,
        planned: &[Arc<ResourceChange>],
        plan: &Plan,
        reveal: bool,
    ) -> usize {
        let known = schemas();
        let find = |_: &ProviderSource| Some(Arc::clone(&known));
        // In the order in which a run could come to them.
        planned.iter().rev().for_each(|it| ahead.planned(it, &find));
        let parts = ahead.lock().parts.clone();
        for part in parts {
            // Does nothing if another thread was faster.
            part.run(|it| it.render(&ahead.settings));
        }
        let view = PlanView { plan, schemas: &find, show_sensitive: reveal };
        let texts = ahead.texts(&view);
        let is_known =
            |it: &&ResourceChange| texts.by_change.contains_key(&std::ptr::from_ref(*it));
        let used = plan.changes().filter(is_known).count();
        let text = human::plan_with(&view, texts, &Style::PLAIN).concat();
        assert_eq!(text, human::plan(&view, &Style::PLAIN));
        used
    }

    fn ahead(reveal: bool) -> ObjectsAhead {
        ObjectsAhead::new(Style::PLAIN, reveal, ".terraform")
    }

    /// The number of objects in whole parts, if another processor can render them.
    fn in_parts() -> usize {
        if parallel::processors() > 1 { 2 * PART } else { 0 }
    }

    #[test]
    fn text_is_the_same_as_without_rendering_ahead() {
        let plan = large_plan();
        for reveal in [false, true] {
            assert_eq!(check(ahead(reveal), &plan.resource_changes, &plan, reveal), in_parts());
        }
        assert_eq!(check(ahead(false), &[], &plan, false), 0);
    }

    #[test]
    fn changes_that_the_plan_replaces_or_drops_do_not_count() {
        let mut plan = large_plan();
        let planned = plan.resource_changes.clone();
        plan.resource_changes.truncate(PART);
        for it in plan.resource_changes.iter_mut().step_by(2) {
            Arc::make_mut(it).change.action = Action::Delete;
        }
        // The first ten, which came last, are in no part.
        let used = check(ahead(false), &planned, &plan, false);
        assert_eq!(used, if in_parts() > 0 { PART / 2 - 5 } else { 0 });
    }

    #[test]
    fn secrets_and_directories_are_shown_as_the_plan_wants_it() {
        let plan = large_plan();
        assert_eq!(check(ahead(true), &plan.resource_changes, &plan, false), 0);
        let elsewhere = ObjectsAhead::new(Style::PLAIN, false, "elsewhere");
        assert_eq!(check(elsewhere, &plan.resource_changes, &plan, false), 0);
    }
}
