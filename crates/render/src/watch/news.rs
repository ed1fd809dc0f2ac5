//! The differences between a plan and the previous one.

use std::{cmp::Ordering, fmt::Display};

use causes::Finding;
use sorted::{TreeMap, TreeSet};
use state::{Action, OutputChange, Plan, ResourceChange};
use values::Str;

use crate::plan::comment::is_shown;

/// The differences between two plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanNews {
    /// Changes that the previous plan did not have.
    pub appeared: Vec<NewsEntry>,
    /// Changes that only the previous plan had.
    pub gone: Vec<NewsEntry>,
    /// Changes that differ from those of the previous plan.
    pub changed: Vec<NewsEntry>,
}

/// A difference at one object or output.
#[derive(Clone, Debug, PartialEq)]
pub struct NewsEntry {
    /// The address of the object, or `output.NAME`.
    pub address: String,
    /// The key of the object, if it is deposed.
    pub deposed: Option<String>,
    /// The planned action; for entries in `gone`, the action of the previous plan.
    pub action: Action,
    /// The action of the previous plan if it differs.
    pub before: Option<Action>,
    /// The change with its causes. `None` for entries in `gone`, and if it was not explained.
    pub cause: Option<Finding>,
}

impl NewsEntry {
    fn of_object(change: &ResourceChange) -> NewsEntry {
        let deposed = change.deposed.map(|it| it.as_str().to_owned());
        NewsEntry { deposed, ..NewsEntry::new(change.addr.to_string(), change.change.action) }
    }

    fn of_output(name: &Str, change: &OutputChange) -> NewsEntry {
        NewsEntry::new(format!("output.{name}"), change.action)
    }

    fn new(address: String, action: Action) -> NewsEntry {
        NewsEntry { address, deposed: None, action, before: None, cause: None }
    }
}

impl PlanNews {
    /// Returns true if the plans do not differ.
    pub fn is_empty(&self) -> bool {
        self.appeared.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }

    /// The number of differing objects and outputs.
    pub fn len(&self) -> usize {
        self.appeared.len() + self.gone.len() + self.changed.len()
    }

    /// Adds the causes of the entries that some of the findings explain.
    pub fn explained(mut self, findings: &[Finding]) -> PlanNews {
        let by_object: TreeMap<_, _> =
            findings.iter().map(|it| ((&*it.subject, it.deposed()), it)).collect();
        for entry in self.appeared.iter_mut().chain(&mut self.changed) {
            let object = (&*entry.address, entry.deposed.as_deref());
            entry.cause = by_object.get(&object).map(|it| (*it).clone());
        }
        self
    }
}

/// Compares a plan with the previous one. Both list their objects by address.
pub fn plan_news(before: &Plan, after: &Plan) -> PlanNews {
    let mut news = PlanNews::default();
    merge(
        before.changes().filter(|it| is_shown(it)),
        after.changes().filter(|it| is_shown(it)),
        |a, b| a.compare_addresses(b),
        |old, new| {
            let same = same_change(old, new);
            news.note(old.map(NewsEntry::of_object), new.map(NewsEntry::of_object), same);
        },
    );
    merge(
        shown_outputs(&before.output_changes),
        shown_outputs(&after.output_changes),
        |a, b| a.0.cmp(b.0),
        |old, new| {
            let entry = |(name, it): (&Str, &OutputChange)| NewsEntry::of_output(name, it);
            news.note(old.map(entry), new.map(entry), old == new);
        },
    );
    news
}

/// The changes of a plan that differ from the previous plan; all of them if there is no previous plan.
pub fn changed_objects<'p>(news: Option<&PlanNews>, plan: &'p Plan) -> Vec<&'p ResourceChange> {
    let is_changed = is_changed(news);
    let shown = plan.changes().filter(|it| is_shown(it));
    shown.filter(|it| is_changed(&it.addr)).collect()
}

/// The names of the outputs whose changes differ from the previous plan; of all of them if there is no previous plan.
pub fn changed_outputs<'p>(news: Option<&PlanNews>, plan: &'p Plan) -> Vec<&'p Str> {
    let is_changed = is_changed(news);
    let names = shown_outputs(&plan.output_changes).map(|(name, _)| name);
    names.filter(|it| is_changed(&format_args!("output.{it}"))).collect()
}

/// The test whether an address is among the entries. Writes no address if there are none, as after most saves.
fn is_changed(news: Option<&PlanNews>) -> impl Fn(&dyn Display) -> bool {
    let addresses = news.map(|news| -> TreeSet<&str> {
        let entries = news.appeared.iter().chain(&news.changed);
        entries.map(|it| it.address.as_str()).collect()
    });
    move |address| match &addresses {
        None => true,
        Some(addresses) if addresses.is_empty() => false,
        Some(addresses) => addresses.contains(address.to_string().as_str()),
    }
}

impl PlanNews {
    fn note(&mut self, old: Option<NewsEntry>, new: Option<NewsEntry>, same: bool) {
        match (old, new) {
            (None, Some(new)) => self.appeared.push(new),
            (Some(old), None) => self.gone.push(old),
            (Some(old), Some(new)) if !same => {
                let before = (old.action != new.action).then_some(old.action);
                self.changed.push(NewsEntry { before, ..new });
            }
            _ => {}
        }
    }
}

/// Returns true if two changes of an object are alike.
pub(crate) fn same_change(old: Option<&ResourceChange>, new: Option<&ResourceChange>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            old.change == new.change
                && old.reason == new.reason
                && old.required_replace == new.required_replace
                && old.previous_addr == new.previous_addr
        }
        _ => false,
    }
}

fn shown_outputs(
    outputs: &TreeMap<Str, OutputChange>,
) -> impl Iterator<Item = (&Str, &OutputChange)> {
    outputs.iter().filter(|(_, it)| it.action != Action::NoOp)
}

/// Merges two sorted lists: visits each pair of equal entries, and each entry that only one list has.
fn merge<T: Copy>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
    order: impl Fn(&T, &T) -> Ordering,
    mut visit: impl FnMut(Option<T>, Option<T>),
) {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    loop {
        let which = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => order(a, b),
        };
        let old_one = if which.is_le() { old.next() } else { None };
        let new_one = if which.is_ge() { new.next() } else { None };
        visit(old_one, new_one);
    }
}
