//! The causes of the planned action of an object.

mod blocks;
mod end;
mod import;
mod instances;
mod order;

pub(crate) use self::{blocks::OtherBlocks, import::ImportSites};

use addr::ResourceInstance;
use hir::{Entry, ExprId, Ref, item::IgnoreChanges};
use state::{Action, PlanMode, Reason, ResourceChange};
use values::{Path, Str};

use crate::{
    difference::differing,
    finding::{Fact, Finding, Order},
    search::{Collected, Interest, Pair, Search, Site},
    shown::Visibility,
};

impl<'a> Search<'_, 'a> {
    /// Explains the planned action of an object.
    pub(crate) fn of_change(&mut self, change: &ResourceChange) -> Finding {
        let subject = change.addr.to_string();
        let deposed = change.deposed.map(|it| it.as_str().to_owned());
        let key = format!("{subject}{}", deposed.as_deref().unwrap_or_default());
        let fact = Fact::Planned { action: change.change.action, deposed };
        let place = self.entry(&change.addr).and_then(|(_, entry)| self.header(entry));
        let finding = Finding::root(&*subject, fact, place);
        if !self.begins(&key, Interest::Changed) {
            return finding;
        }
        // The action of an object is no part of the value that led here.
        let outer = std::mem::replace(&mut self.visibility, Visibility::Shown);
        let is_asked = self.is_asked();
        let mut causes = match change.deposed {
            Some(_) => Collected::of(Finding::root(subject, Fact::LeftBehind, None)),
            None => self.of_action(change),
        };
        if is_asked && let Some(site) = self.site(&change.addr) {
            causes.list.extend(self.of_order(&site, change));
        }
        // An object may change because of its configuration, and move or be imported beside that.
        causes.add(self.of_origin(change));
        self.visibility = outer;
        finding.because_of(causes)
    }

    /// The earlier address of the object, and its import.
    fn of_origin(&mut self, change: &ResourceChange) -> Collected {
        let mut causes = Collected::default();
        let subject = change.addr.to_string();
        if let Some(from) = &change.previous_addr {
            let block = self.analysis.blocks().moved(from, &change.addr);
            let place = block.and_then(|it| self.header(it));
            let fact = Fact::Moved { from: from.to_string() };
            causes.list.push(Finding::root(&*subject, fact, place));
        }
        if let Some(importing) = &change.change.importing {
            causes.list.push(self.of_import(&change.addr, importing));
        }
        causes
    }

    fn of_action(&mut self, change: &ResourceChange) -> Collected {
        match change.change.action {
            Action::NoOp => self.of_no_change(change),
            Action::Create => self.of_creation(change),
            Action::Read => self.of_reading(change),
            Action::Update => self.of_update(change),
            Action::Delete | Action::Forget => self.of_end(change),
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                self.of_replacement(change)
            }
        }
    }

    fn of_creation(&mut self, change: &ResourceChange) -> Collected {
        if let Some(drift) = self.analysis.drift(&change.addr)
            && drift.change.action == Action::Delete
        {
            let subject = change.addr.to_string();
            return Collected::of(Finding::root(subject, Fact::DeletedOutside, None));
        }
        let instances = self.of_existence(&change.addr);
        if instances.list.is_empty() {
            let place = self.entry(&change.addr).and_then(|(_, entry)| self.header(entry));
            return Collected::of(Finding::root(change.addr.to_string(), Fact::IsNew, place));
        }
        instances
    }

    fn of_update(&mut self, change: &ResourceChange) -> Collected {
        let paths = self.changed_attributes(change);
        if paths.is_empty() {
            let subject = change.addr.to_string();
            return Collected::of(Finding::root(subject, Fact::SensitivityChanges, None));
        }
        self.of_attributes(change, paths)
    }

    fn of_attributes(&mut self, change: &ResourceChange, paths: Vec<Path>) -> Collected {
        let object =
            Pair { before: change.change.before.clone(), after: change.change.after.clone() };
        self.collect(paths, |search, path| {
            let pair = object.part(path.steps());
            let interest = match pair.after.is_wholly_known() {
                true => Interest::Changed,
                false => Interest::Unknown,
            };
            // The question may be about this attribute, whose value follows from the action.
            let is_asked = search.has_begun(&format!("{}{path}", change.addr), interest);
            (!is_asked).then(|| search.of_attribute(&change.addr, &path, &pair, interest))
        })
    }

    fn of_replacement(&mut self, change: &ResourceChange) -> Collected {
        let subject = change.addr.to_string();
        match change.reason {
            Some(Reason::ReplaceBecauseTainted) => {
                Collected::of(Finding::root(subject, Fact::Tainted, None))
            }
            Some(Reason::ReplaceByRequest) => {
                Collected::of(Finding::root(subject, Fact::ReplaceRequested, None))
            }
            Some(Reason::ReplaceByTriggers) => match self.site(&change.addr) {
                Some(site) => self.of_triggers(&site),
                None => Collected::default(),
            },
            _ => self.of_attributes(change, self.replacing(change)),
        }
    }

    /// The attributes that force the replacement of an object. A provider may name an attribute, or a part of it.
    fn replacing(&self, change: &ResourceChange) -> Vec<Path> {
        let all = self.changed_attributes(change);
        let forces = |path: &Path| {
            change.required_replace.iter().any(|it| it.is_prefix_of(path) || path.is_prefix_of(it))
        };
        let forcing: Vec<Path> = all.into_iter().filter(forces).collect();
        match forcing.is_empty() {
            true => change.required_replace.clone(),
            false => forcing,
        }
    }

    /// The references of `replace_triggered_by` that change.
    fn of_triggers(&mut self, site: &Site<'a>) -> Collected {
        let triggers = site.entry.resource().lifecycle.replace_triggered_by.to_vec();
        self.collect(triggers, |search, expr| search.of_trigger(site, expr))
    }

    fn of_trigger(&mut self, site: &Site<'a>, expr: ExprId) -> Option<Finding> {
        let exprs = &site.entry.item.exprs;
        let value = |it| site.module.after.evaluate(&site.entry.item, it, &site.key);
        let read = crate::reads::reads(exprs, expr, &value).into_iter().next()?;
        let Ref::Resource(resource) = &read.reference else { return None };
        let mut steps = read.steps.as_slice();
        let key = engine::take_key(&mut steps);
        let resource = resource.clone().in_module(site.module.instance.clone());
        let changes = self.analysis.after.changes_of(&resource).iter();
        let mut changes = changes.filter(|it| key.is_none() || it.addr.key == key);
        let change = *changes.find(|it| it.change.action.renews())?;
        let subject = format!("{}{}", change.addr, crate::search::path_text(steps));
        let place = self.place(site, expr);
        let finding = Finding::root(subject, Fact::Triggered, place);
        let causes = match steps {
            [] => self.collect(vec![change], |search, it| Some(search.of_change(it))),
            steps => self.of_attributes(change, vec![steps.iter().cloned().collect()]),
        };
        Some(finding.because_of(causes))
    }

    fn of_reading(&mut self, change: &ResourceChange) -> Collected {
        let subject = change.addr.to_string();
        let Some(site) = self.site(&change.addr) else { return Collected::default() };
        let place = self.header(site.entry);
        match change.reason {
            Some(Reason::ReadBecauseDependencyPending) => {
                let fact = Fact::ReadAtApply(Order::PendingDependency);
                let causes = self.of_dependencies(&site);
                Collected::of(Finding::root(subject, fact, place).because_of(causes))
            }
            Some(Reason::ReadBecauseCheckNested) => {
                let fact = Fact::ReadAtApply(Order::InCheck);
                Collected::of(Finding::root(subject, fact, place))
            }
            _ => self.of_unknown_arguments(&site, change),
        }
    }

    fn of_unknown_arguments(&mut self, site: &Site<'a>, change: &ResourceChange) -> Collected {
        let body = &site.entry.resource().body;
        let attrs = body.attrs.iter().map(|it| (it.name.clone(), it.value));
        let blocks = body
            .blocks
            .iter()
            .filter_map(|it| Some((it.kind.clone(), it.dynamic.as_ref()?.for_each)));
        let unknown = |(_, expr): &(Str, ExprId)| !self.pair(site, *expr).after.is_wholly_known();
        let unknown: Vec<(Str, ExprId)> = attrs.chain(blocks).filter(unknown).collect();
        let found = self.collect(unknown, |search, (name, expr)| {
            let path = Path::root().attr(&name);
            let pair = search.pair(site, expr);
            Some(search.of_attribute(&change.addr, &path, &pair, Interest::Unknown))
        });
        match found.list.is_empty() {
            true => {
                let fact = Fact::ReadAtApply(Order::UnknownConfiguration);
                let place = self.header(site.entry);
                Collected::of(Finding::root(change.addr.to_string(), fact, place))
            }
            false => found,
        }
    }

    /// The differences that `ignore_changes` ignores; nothing if there are none.
    fn of_no_change(&mut self, change: &ResourceChange) -> Collected {
        let Some(site) = self.site(&change.addr) else { return Collected::default() };
        let ignored: Vec<Path> = match &site.entry.resource().lifecycle.ignore_changes {
            IgnoreChanges::None => return Collected::default(),
            IgnoreChanges::All => body_paths(site.entry),
            IgnoreChanges::Paths(paths) => paths.iter().map(|(path, _)| path.0.clone()).collect(),
        };
        let differs = |path: &Path| {
            let object = crate::difference::part(&change.change.before, path.steps());
            hir::eval::exprs_at(&site.entry.resource().body, path).iter().any(|it| {
                let configured = self.pair(&site, it.expr).part(&it.rest).after;
                !configured.is_null() && !differing(&object, &configured).is_empty()
            })
        };
        let differing: Vec<Path> = ignored.into_iter().filter(differs).collect();
        self.collect(differing, |search, path| {
            let place = search.header(site.entry);
            let subject = format!("{}{path}", change.addr);
            let outside = search.changed_outside(&change.addr, &path);
            Some(Finding::root(subject, Fact::Ignored, place).because(outside))
        })
    }

    /// The root cause of a plan that destroys everything.
    pub(crate) fn of_mode(&self, address: &ResourceInstance) -> Option<Finding> {
        let mode = self.analysis.inputs.plan.mode;
        (mode == PlanMode::Destroy)
            .then(|| Finding::root(address.to_string(), Fact::DestroyMode(mode), None))
    }
}

fn body_paths(entry: &Entry) -> Vec<Path> {
    let attrs = entry.resource().body.attrs.iter();
    attrs.map(|it| Path::root().attr(&it.name)).collect()
}
