//! The differences between a plan and the previous one.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use state::{Action, OutputChange, Plan, ResourceChange};
use values::Str;

use crate::plan::comment::is_shown;

/// The differences between two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanNews {
    /// Changes that the previous plan did not have.
    pub appeared: Vec<NewsEntry>,
    /// Changes that only the previous plan had.
    pub gone: Vec<NewsEntry>,
    /// Changes that differ from those of the previous plan.
    pub changed: Vec<NewsEntry>,
}

/// A difference at one object or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsEntry {
    /// The address of the object, or `output.NAME`.
    pub address: String,
    /// The planned action; for entries in `gone`, the action of the previous plan.
    pub action: Action,
    /// The action of the previous plan if it differs.
    pub before: Option<Action>,
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
}

/// Compares a plan with the previous one. Both list their objects by address.
pub fn plan_news(before: &Plan, after: &Plan) -> PlanNews {
    let mut news = PlanNews::default();
    merge(
        before.changes().filter(|it| is_shown(it)),
        after.changes().filter(|it| is_shown(it)),
        |a, b| a.addr.cmp(&b.addr),
        |old, new| news.note(old.map(described), new.map(described), same_change(old, new)),
    );
    merge(
        shown_outputs(&before.output_changes),
        shown_outputs(&after.output_changes),
        |a, b| a.0.cmp(b.0),
        |old, new| {
            let described =
                |(name, it): (&Str, &OutputChange)| (format!("output.{name}"), it.action);
            news.note(old.map(described), new.map(described), old == new);
        },
    );
    news
}

/// The changes of a plan that differ from the previous plan; all of them if there is no previous plan.
pub fn changed_objects<'p>(news: Option<&PlanNews>, plan: &'p Plan) -> Vec<&'p ResourceChange> {
    let shown = plan.changes().filter(|it| is_shown(it));
    let Some(news) = news else { return shown.collect() };
    let entries = news.appeared.iter().chain(&news.changed);
    let addresses: BTreeSet<&str> = entries.map(|it| it.address.as_str()).collect();
    match addresses.is_empty() {
        true => Vec::new(),
        false => shown.filter(|it| addresses.contains(it.addr.to_string().as_str())).collect(),
    }
}

impl PlanNews {
    fn note(&mut self, old: Option<(String, Action)>, new: Option<(String, Action)>, same: bool) {
        match (old, new) {
            (None, Some((address, action))) => {
                self.appeared.push(NewsEntry { address, action, before: None });
            }
            (Some((address, action)), None) => {
                self.gone.push(NewsEntry { address, action, before: None });
            }
            (Some((_, was)), Some((address, action))) if !same => {
                let before = (was != action).then_some(was);
                self.changed.push(NewsEntry { address, action, before });
            }
            _ => {}
        }
    }
}

fn described(change: &ResourceChange) -> (String, Action) {
    (change.addr.to_string(), change.change.action)
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
    outputs: &BTreeMap<Str, OutputChange>,
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
