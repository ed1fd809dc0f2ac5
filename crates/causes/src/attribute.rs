//! The causes of the value of one attribute.

use std::sync::Arc;

use addr::ResourceInstance;
use hir::{
    Entry,
    eval::{PathExpr, exprs_at, part_at},
};
use provider::Schema;
use state::{Action, ResourceChange};
use values::{MarkKind, Path};

use crate::{
    difference::differing,
    finding::{Computed, Fact, Finding},
    place::Place,
    search::{Collected, Interest, Pair, Search, Site},
    secrecy::{Secrecy, secrecy},
    shown::Visibility,
};

/// An attribute of an object, with the expressions that set it.
struct Asked<'t, 'a> {
    instance: &'t ResourceInstance,
    path: &'t Path,
    pair: &'t Pair,
    change: Option<&'a ResourceChange>,
    site: Option<Site<'a>>,
    exprs: Vec<PathExpr>,
    subject: String,
    place: Option<Place>,
    secrecy: Secrecy,
}

impl Asked<'_, '_> {
    fn is_write_only(&self) -> bool {
        self.secrecy.of_value == Visibility::WriteOnly
    }
}

/// The causes of a value, and the fact if it is another one than the value itself shows.
struct Causes {
    fact: Option<Fact>,
    causes: Collected,
}

impl From<Collected> for Causes {
    fn from(causes: Collected) -> Causes {
        Causes { fact: None, causes }
    }
}

impl<'a> Search<'_, 'a> {
    /// Explains the value of an attribute. `pair` is the value before and after the plan.
    pub(crate) fn of_attribute(
        &mut self,
        instance: &ResourceInstance,
        path: &Path,
        pair: &Pair,
        interest: Interest,
    ) -> Finding {
        let outer = self.visibility;
        let schema = self.schema(instance);
        let secrecy = schema.as_deref().map_or(Secrecy::NONE, |it| secrecy(it.block(), path));
        self.visibility = secrecy.of_value.or_outer(outer);
        let asked = Asked { secrecy, ..self.asked(instance, path, pair) };
        let fact = self.attribute_fact(&asked, interest);
        let finding = Finding::root(&*asked.subject, fact, asked.place.clone());
        let finding = match self.begins(&asked.subject, interest) {
            false => Finding { fact: Fact::Seen, ..finding },
            true => {
                self.visibility = secrecy.of_parts.or_outer(outer);
                self.hide(pair);
                let Causes { fact, causes } = self.attribute_causes(&asked, interest);
                let fact = fact.unwrap_or(finding.fact.clone());
                Finding { fact, ..finding }.because_of(causes)
            }
        };
        self.visibility = outer;
        finding
    }

    fn asked<'t>(
        &self,
        instance: &'t ResourceInstance,
        path: &'t Path,
        pair: &'t Pair,
    ) -> Asked<'t, 'a> {
        let site = self.site(instance);
        let exprs = site.as_ref().map(|it| exprs_at(&it.entry.resource().body, path));
        let exprs = if path.is_root() { Vec::new() } else { exprs.unwrap_or_default() };
        let first = site.as_ref().zip(exprs.first()).and_then(|(site, it)| {
            let (inner, _) = part_at(&site.entry.item.exprs, it.expr, &it.rest);
            self.place(site, inner)
        });
        let header = || site.as_ref().and_then(|it| self.header(it.entry));
        Asked {
            instance,
            path,
            pair,
            change: self.analysis.change(instance),
            place: first.or_else(header),
            subject: format!("{instance}{path}"),
            secrecy: Secrecy::NONE,
            site,
            exprs,
        }
    }

    pub(crate) fn site(&self, instance: &ResourceInstance) -> Option<Site<'a>> {
        let (module, entry) = self.entry(instance)?;
        Some(Site { module, entry, key: instance.key.clone() })
    }

    fn schema(&self, instance: &ResourceInstance) -> Option<Arc<Schema>> {
        let program = self.analysis.inputs.program;
        let of_block = || {
            let (module, entry) = self.entry(instance)?;
            let local_name = hir::names::provider_local_name(entry.resource());
            module.module().provider_sources.get(local_name).cloned()
        };
        let change = self.analysis.change(instance);
        let source = change.map(|it| it.provider.source.clone()).or_else(of_block)?;
        let resource = &instance.resource;
        program.schemas.get(&source)?.of_mode(resource.mode, &resource.type_name)
    }

    fn attribute_fact(&self, asked: &Asked<'_, 'a>, interest: Interest) -> Fact {
        let is_of_mark = matches!(interest, Interest::Sensitive | Interest::Ephemeral);
        if asked.is_write_only() && !is_of_mark {
            return Fact::WriteOnly;
        }
        let forces = asked.change.is_some_and(|change| {
            let is_at = |it: &Path| it.is_prefix_of(asked.path) || asked.path.is_prefix_of(it);
            change.required_replace.iter().any(is_at)
        });
        let is_followed = matches!(interest, Interest::Changed | Interest::Unknown);
        match self.fact(asked.pair, interest) {
            Fact::Changes { before, after } if forces => Fact::ForcesReplacement { before, after },
            Fact::Unknown if forces && is_followed && asked.pair.before.is_wholly_known() => {
                let (before, after) =
                    (self.shown(&asked.pair.before), self.shown(&asked.pair.after));
                Fact::ForcesReplacement { before, after }
            }
            fact => fact,
        }
    }

    fn attribute_causes(&mut self, asked: &Asked<'_, 'a>, interest: Interest) -> Causes {
        match interest {
            Interest::Sensitive if asked.secrecy.of_value == Visibility::Sensitive => {
                Causes { fact: Some(Fact::DeclaredSensitive), causes: Collected::default() }
            }
            _ if asked.is_write_only() && interest != Interest::Ephemeral => {
                self.of_configuration(asked, Interest::Made).into()
            }
            Interest::Made | Interest::Sensitive | Interest::Ephemeral => {
                self.of_configuration(asked, interest).into()
            }
            _ if !asked.pair.after.is_wholly_known() => self.of_unknown(asked),
            _ => self.of_changed(asked),
        }
    }

    /// The references that matter in the expressions that set an attribute.
    fn of_configuration(&mut self, asked: &Asked<'_, 'a>, interest: Interest) -> Collected {
        let Some(site) = &asked.site else { return Collected::default() };
        let mut all = Collected::default();
        for PathExpr { expr, rest } in &asked.exprs {
            let causes = self.of_expr(site, *expr, rest, interest);
            all.list.extend(causes.list);
            all.more += causes.more;
        }
        all
    }

    fn of_unknown(&mut self, asked: &Asked<'_, 'a>) -> Causes {
        let causes = self.of_configuration(asked, Interest::Unknown);
        if !causes.list.is_empty() || causes.more > 0 {
            return causes.into();
        }
        let Some(change) = asked.change else { return Collected::default().into() };
        let (when, causes) = match change.change.action {
            Action::Create => {
                // A new object of a new block needs no further cause.
                let is_again = self.analysis.drift(&change.addr).is_some();
                let causes =
                    if is_again { self.object_cause(change) } else { Collected::default() };
                (Computed::AtCreation, causes)
            }
            Action::Read => (Computed::AtRead, self.object_cause(change)),
            Action::Update => (Computed::AtUpdate, self.object_cause(change)),
            it if it.is_creation() => (Computed::AtReplacement, self.object_cause(change)),
            _ => return Collected::default().into(),
        };
        Causes { fact: Some(Fact::Computed(when)), causes }
    }

    /// The action of the object as a cause. Nothing if the answer is about it.
    fn object_cause(&mut self, change: &ResourceChange) -> Collected {
        let is_open = self.has_begun(&change.addr.to_string(), Interest::Changed);
        let changes = if is_open { Vec::new() } else { vec![change] };
        self.collect(changes, |search, it| Some(search.of_change(it)))
    }

    fn of_changed(&mut self, asked: &Asked<'_, 'a>) -> Causes {
        if asked
            .change
            .is_some_and(|it| matches!(it.change.action, Action::Delete | Action::Forget))
        {
            return match asked.change {
                Some(change) => self.object_cause(change).into(),
                None => Collected::default().into(),
            };
        }
        let changed = self.of_configuration(asked, Interest::Changed);
        if !changed.list.is_empty() || changed.more > 0 {
            return changed.into();
        }
        let mut causes = Collected::default();
        causes.list.extend(self.changed_outside(asked.instance, asked.path));
        let is_set = asked.exprs.iter().any(|it| self.sets(asked, it));
        if !is_set {
            let fact = match asked.pair.after.is_null() || asked.exprs.is_empty() {
                true if !asked.exprs.is_empty() => Fact::NotSet,
                _ => Fact::Computed(Computed::AtPlan),
            };
            let is_all = causes.list.is_empty();
            let root = Finding::root(&*asked.subject, fact, asked.place.clone());
            causes.list.extend(is_all.then_some(root));
            return causes.into();
        }
        let made = self.of_configuration(asked, Interest::Made);
        causes.more += made.more;
        match made.list.is_empty() {
            true => {
                let value = self.shown(&asked.pair.after);
                let fact = Fact::Written { value };
                causes.list.push(Finding::root(&*asked.subject, fact, asked.place.clone()));
            }
            false => causes.list.extend(made.list),
        }
        causes.into()
    }

    /// Returns true if an expression gives a value other than null.
    fn sets(&self, asked: &Asked<'_, 'a>, it: &PathExpr) -> bool {
        let Some(site) = &asked.site else { return false };
        !self.pair(site, it.expr).part(&it.rest).after.is_null()
    }

    /// The change of the attribute that the refresh found.
    pub(crate) fn changed_outside(
        &self,
        instance: &ResourceInstance,
        path: &Path,
    ) -> Option<Finding> {
        let drift = &self.analysis.drift(instance)?.change;
        let pair = Pair { before: drift.before.clone(), after: drift.after.clone() };
        let pair = pair.part(path.steps());
        if pair.is_same() {
            return None;
        }
        let (before, after) = (self.shown(&pair.before), self.shown(&pair.after));
        let fact = Fact::ChangedOutside { before, after };
        Some(Finding::root(format!("{instance}{path}"), fact, None))
    }

    /// The values of the expressions that set an attribute.
    pub(crate) fn configured(&self, instance: &ResourceInstance, path: &Path) -> Vec<Pair> {
        let Some(site) = self.site(instance) else { return Vec::new() };
        let exprs = exprs_at(&site.entry.resource().body, path);
        exprs.iter().map(|it| self.pair(&site, it.expr).part(&it.rest)).collect()
    }

    /// The attributes of an object that change, those that the configuration sets first.
    pub(crate) fn changed_attributes(&self, change: &ResourceChange) -> Vec<Path> {
        let entry = self.entry(&change.addr).map(|(_, entry)| entry);
        let is_set = |path: &Path| entry.is_some_and(|it| is_set(it, path));
        let mut paths = differing(&change.change.before, &change.change.after);
        sorted::sort_by_key(&mut paths, |it| !is_set(it));
        paths
    }
}

fn is_set(entry: &Entry, path: &Path) -> bool {
    !exprs_at(&entry.resource().body, path).is_empty()
}

impl Pair {
    /// Returns true if only the marks of a value differ.
    pub(crate) fn differs_in_marks(&self) -> bool {
        let is_sensitive = |it: &values::Value| it.has_deep(MarkKind::Sensitive);
        self.is_same() && is_sensitive(&self.before) != is_sensitive(&self.after)
    }
}
