//! The search for the causes of a value: from an expression through the references that it reads.

use std::rc::Rc;

use addr::{AbsResource, InstanceKey, ResourceInstance, ResourceMode};
use engine::{ValueSource, take_key};
use hir::{Entry, ExprId, Ref, item::Repetition};
use rustc_hash::FxHashSet;
use values::{MarkKind, Path, Step, Str, Type, Value};

use crate::{
    analysis::{Analysis, ModulePair},
    difference::{is_same, normal_path, part},
    finding::{Computed, Fact, Finding, ValueOrigin},
    place::Place,
    reads::{Read, reads},
    shown::{Visibility, shown},
};

/// The most findings of one answer.
pub const MOST_FINDINGS: usize = 60;

/// The most causes of one finding that are followed.
const MOST_CAUSES: usize = 5;

/// The longest chain.
const DEEPEST: usize = 40;

/// The question about values that a search follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Interest {
    /// Values that are known only after apply.
    Unknown,
    /// Values that differ from those before the plan.
    Changed,
    /// All values that a value is made from.
    Made,
    Sensitive,
    Ephemeral,
}

impl Interest {
    /// The fact that a declaration gives the mark which is asked for. `None` if it does not.
    pub(crate) fn by_declaration(self, is_sensitive: bool, is_ephemeral: bool) -> Option<Fact> {
        match self {
            Interest::Sensitive => is_sensitive.then_some(Fact::DeclaredSensitive),
            Interest::Ephemeral => is_ephemeral.then_some(Fact::DeclaredEphemeral),
            _ => None,
        }
    }
}

/// A value before and after the plan.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) before: Value,
    pub(crate) after: Value,
}

/// A block in a module instance, and one of its instances.
#[derive(Clone)]
pub(crate) struct Site<'a> {
    pub(crate) module: Rc<ModulePair<'a>>,
    pub(crate) entry: &'a Entry,
    pub(crate) key: InstanceKey,
}

/// An expression of a block.
#[derive(Clone, Copy)]
pub(crate) struct Sited<'t, 'a> {
    pub(crate) site: &'t Site<'a>,
    pub(crate) expr: ExprId,
}

/// The search for one answer.
pub(crate) struct Search<'s, 'a> {
    pub(crate) analysis: &'s Analysis<'a>,
    pub(crate) visibility: Visibility,
    seen: FxHashSet<(String, Interest)>,
    findings: usize,
    depth: usize,
}

/// Causes that are collected up to a bound.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) list: Vec<Finding>,
    pub(crate) more: usize,
}

impl Collected {
    pub(crate) fn of(finding: Finding) -> Collected {
        Collected { list: vec![finding], more: 0 }
    }

    pub(crate) fn add(&mut self, other: Collected) {
        self.list.extend(other.list);
        self.more += other.more;
    }
}

impl Finding {
    pub(crate) fn because_of(self, causes: Collected) -> Finding {
        let more = self.more + causes.more;
        Finding { more, ..self }.because(causes.list)
    }
}

impl Pair {
    pub(crate) fn part(&self, steps: &[Step]) -> Pair {
        Pair { before: part(&self.before, steps), after: part(&self.after, steps) }
    }

    pub(crate) fn is_same(&self) -> bool {
        is_same(&self.before, &self.after)
    }

    /// The most interesting question about a value.
    pub(crate) fn interest(&self) -> Interest {
        match () {
            () if !self.after.is_wholly_known() => Interest::Unknown,
            () if !self.is_same() => Interest::Changed,
            () => Interest::Made,
        }
    }

    /// The questions about a value: the most interesting one, then those about its marks.
    pub(crate) fn all_interests(&self) -> Vec<Interest> {
        let marks = [Interest::Sensitive, Interest::Ephemeral];
        let marks = marks.into_iter().filter(|it| self.interests(*it));
        [self.interest()].into_iter().chain(marks).collect()
    }

    pub(crate) fn interests(&self, interest: Interest) -> bool {
        match interest {
            Interest::Unknown => !self.after.is_wholly_known(),
            Interest::Changed => !self.is_same(),
            Interest::Made => true,
            Interest::Sensitive => self.after.has_deep(MarkKind::Sensitive),
            Interest::Ephemeral => self.after.has_deep(MarkKind::Ephemeral),
        }
    }
}

impl<'s, 'a> Search<'s, 'a> {
    pub(crate) fn new(analysis: &'s Analysis<'a>) -> Search<'s, 'a> {
        let seen = FxHashSet::default();
        Search { analysis, visibility: Visibility::Shown, seen, findings: 0, depth: 0 }
    }

    /// The text of a value.
    pub(crate) fn shown(&self, value: &Value) -> String {
        shown(value, self.visibility)
    }

    /// Hides the values of the following findings if a value that they lead to is secret in any part.
    pub(crate) fn hide(&mut self, pair: &Pair) {
        let is_secret = pair.before.has_deep_secret() || pair.after.has_deep_secret();
        if is_secret && self.visibility == Visibility::Shown {
            self.visibility = Visibility::Sensitive;
        }
    }

    /// Follows something with the values hidden that a pair makes secret.
    fn hiding<T>(&mut self, pair: &Pair, follow: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.visibility;
        self.hide(pair);
        let found = follow(self);
        self.visibility = outer;
        found
    }

    /// Counts a finding. Returns false if the answer is full or too deep, or has the finding already.
    pub(crate) fn begins(&mut self, subject: &str, interest: Interest) -> bool {
        self.findings += 1;
        self.seen.insert((subject.to_owned(), interest))
    }

    /// Returns true if the search is at the subject of the question, and not at one of its causes.
    pub(crate) fn is_asked(&self) -> bool {
        self.depth == 0
    }

    /// Returns true if the answer has a finding already.
    pub(crate) fn has_begun(&self, subject: &str, interest: Interest) -> bool {
        self.seen.contains(&(subject.to_owned(), interest))
    }

    /// Collects the findings of candidates until the answer is full.
    pub(crate) fn collect<T>(
        &mut self,
        candidates: Vec<T>,
        mut find: impl FnMut(&mut Self, T) -> Option<Finding>,
    ) -> Collected {
        let (mut list, mut more) = (Vec::new(), 0);
        self.depth += 1;
        for candidate in candidates {
            let is_full = self.findings >= MOST_FINDINGS || self.depth > DEEPEST;
            if is_full || list.len() >= MOST_CAUSES {
                more += 1;
                continue;
            }
            list.extend(find(self, candidate));
        }
        self.depth -= 1;
        Collected { list, more }
    }

    /// The value of an expression before and after the plan.
    pub(crate) fn pair(&self, site: &Site<'a>, expr: ExprId) -> Pair {
        let Site { module, entry, key } = site;
        Pair {
            before: module.before.evaluate(&entry.item, expr, key),
            after: module.after.evaluate(&entry.item, expr, key),
        }
    }

    pub(crate) fn place(&self, site: &Site<'a>, expr: ExprId) -> Option<Place> {
        self.analysis.places.of(site.entry, expr)
    }

    pub(crate) fn header(&self, entry: &Entry) -> Option<Place> {
        self.analysis.places.of(entry, entry.item.header)
    }

    /// The causes of a part of an expression's value: the references that matter.
    pub(crate) fn of_expr(
        &mut self,
        site: &Site<'a>,
        expr: ExprId,
        rest: &[Step],
        interest: Interest,
    ) -> Collected {
        let exprs = &site.entry.item.exprs;
        let (expr, rest) = hir::eval::part_at(exprs, expr, rest);
        let value = |it| site.module.after.evaluate(&site.entry.item, it, &site.key);
        let found = reads(exprs, expr, &value);
        let found = found.into_iter().map(|it| match it.expr == expr && it.splat.is_none() {
            true => Read { steps: [&it.steps, rest].concat(), ..it },
            false => it,
        });
        let relevant = |it: &Read| {
            let pair = self.pair(site, it.expr);
            let pair = if it.expr == expr { pair.part(rest) } else { pair };
            pair.interests(interest)
        };
        let mut names = FxHashSet::default();
        let is_first = |it: &Read| names.insert((it.reference.clone(), format!("{:?}", it.steps)));
        let found: Vec<Read> = found.filter(relevant).filter(is_first).collect();
        self.collect(found, |search, read| search.of_read(site, &read, interest))
    }

    fn of_read(&mut self, site: &Site<'a>, read: &Read, interest: Interest) -> Option<Finding> {
        let module = Rc::clone(&site.module);
        let steps = read.steps.as_slice();
        match &read.reference {
            Ref::Variable(name) => self.of_variable(&module, name, steps, interest),
            Ref::Local(name) => self.of_local(&module, name, steps, interest),
            Ref::Resource(resource) => {
                let resource = resource.clone().in_module(module.instance.clone());
                self.of_resource(&resource, read, interest)
            }
            Ref::Module(call) => self.of_call(&module, call, read, interest),
            Ref::EachKey | Ref::EachValue | Ref::CountIndex => self.of_each(site, read, interest),
            reference => {
                let pair = self.pair(site, read.expr);
                let fact = self.fact(&pair, interest);
                Some(Finding::root(reference.to_string(), fact, self.place(site, read.expr)))
            }
        }
    }

    /// The fact about a value that was followed for an interest.
    pub(crate) fn fact(&self, pair: &Pair, interest: Interest) -> Fact {
        match interest {
            Interest::Sensitive => Fact::Sensitive,
            Interest::Ephemeral => Fact::Ephemeral,
            Interest::Made => Fact::Is { value: self.shown(&pair.after) },
            _ if pair.after.has_deep(MarkKind::Ephemeral) => Fact::Ephemeral,
            _ if !pair.after.is_wholly_known() => Fact::Unknown,
            _ if pair.is_same() || !pair.before.is_wholly_known() => {
                Fact::Is { value: self.shown(&pair.after) }
            }
            _ => Fact::Changes { before: self.shown(&pair.before), after: self.shown(&pair.after) },
        }
    }

    /// A finding about a name, whose causes are those of an expression.
    pub(crate) fn of_named(
        &mut self,
        subject: String,
        at: Sited<'_, 'a>,
        steps: &[Step],
        interest: Interest,
    ) -> Finding {
        let Sited { site, expr } = at;
        let pair = self.pair(site, expr).part(steps);
        let exprs = &site.entry.item.exprs;
        let (inner, _) = hir::eval::part_at(exprs, expr, steps);
        let finding = Finding::root(&*subject, self.fact(&pair, interest), self.place(site, inner));
        if !self.begins(&subject, interest) {
            return Finding { fact: Fact::Seen, ..finding };
        }
        let causes = self.hiding(&pair, |search| search.of_expr(site, expr, steps, interest));
        finding.because_of(causes)
    }

    pub(crate) fn of_local(
        &mut self,
        module: &Rc<ModulePair<'a>>,
        name: &Str,
        steps: &[Step],
        interest: Interest,
    ) -> Option<Finding> {
        let entry = module.module().locals.get(name)?;
        let value = entry.item.kind.as_local()?.value;
        let site = Site { module: Rc::clone(module), entry, key: InstanceKey::None };
        let subject = module.name(format_args!("local.{name}{}", path_text(steps)));
        Some(self.of_named(subject, Sited { site: &site, expr: value }, steps, interest))
    }

    /// The causes of the value of a variable: the argument of the call, or the source of a root module's variable.
    pub(crate) fn of_variable(
        &mut self,
        module: &Rc<ModulePair<'a>>,
        name: &Str,
        steps: &[Step],
        interest: Interest,
    ) -> Option<Finding> {
        let entry = module.module().variables.get(name)?;
        let subject = module.name(format_args!("var.{name}{}", path_text(steps)));
        let declared = entry.variable();
        if let Some(fact) = interest.by_declaration(declared.sensitive, declared.ephemeral) {
            self.begins(&subject, interest);
            return Some(Finding::root(subject, fact, self.header(entry)));
        }
        if let Some((caller, step)) = module.instance.split_last()
            && let Some(caller) = self.analysis.module(&caller)
            && let Some((call, _)) = caller.module().calls.get(step.name.as_str())
            && let Some(input) = call.module_call().inputs.iter().find(|it| it.name == *name)
        {
            let site = Site { module: caller, entry: call, key: step.key.clone() };
            let pair = self.reference_pair(module, &Ref::Variable(name.clone())).part(steps);
            let argument = Sited { site: &site, expr: input.value };
            let found =
                self.hiding(&pair, |search| search.of_named(subject, argument, steps, interest));
            // The variable may convert the argument, and hide it.
            let fact = match found.fact {
                Fact::Seen => Fact::Seen,
                _ => self.fact(&pair, interest),
            };
            return Some(Finding { fact, ..found });
        }
        let value = self.reference_pair(module, &Ref::Variable(name.clone())).part(steps).after;
        self.begins(&subject, interest);
        let (by, place) = self.source(module, name, entry);
        let fact = match value.is_known() || value.has_deep_secret() {
            true => Fact::Given { value: self.shown(&value), by },
            false => Fact::Unknown,
        };
        Some(Finding::root(subject, fact, place))
    }

    /// The value of a reference before and after the plan.
    pub(crate) fn reference_pair(&self, module: &ModulePair<'a>, reference: &Ref) -> Pair {
        Pair {
            before: module.before.reference(reference),
            after: module.after.reference(reference),
        }
    }

    /// The origin of the value of a variable that no call sets.
    fn source(
        &self,
        module: &ModulePair<'a>,
        name: &Str,
        entry: &Entry,
    ) -> (ValueOrigin, Option<Place>) {
        let header = self.header(entry);
        let given = self.analysis.inputs.values.get(name).filter(|_| module.instance.is_root());
        match given.map(|it| &it.source) {
            Some(ValueSource::File(place)) => {
                let place = place.as_ref().map(|it| self.analysis.places.at(it));
                (ValueOrigin::File, place.or(header))
            }
            Some(ValueSource::CommandLine) => (ValueOrigin::CommandLine, header),
            Some(ValueSource::Environment) => (ValueOrigin::Environment, header),
            Some(ValueSource::Prompt) => (ValueOrigin::Prompt, header),
            Some(ValueSource::Plan) => (ValueOrigin::PlanFile, header),
            None => match entry.variable().default {
                Some(default) => (ValueOrigin::Default, self.analysis.places.of(entry, default)),
                None => (ValueOrigin::Nothing, header),
            },
        }
    }

    /// The causes of an output of a called module.
    fn of_call(
        &mut self,
        module: &ModulePair<'a>,
        call: &Str,
        read: &Read,
        interest: Interest,
    ) -> Option<Finding> {
        let mut steps = read.steps.as_slice();
        let key = take_key(&mut steps);
        let behind: Vec<Step> = steps.iter().chain(read.splat.iter().flatten()).cloned().collect();
        let (Step::Attr(output), rest) = behind.split_first()? else { return None };
        let keys = match key.is_none() && read.splat.is_some() {
            true => self.keys_of_call(module, call),
            false => vec![key],
        };
        let instances = keys.into_iter().map(|key| module.instance.child(&**call, key));
        let pairs: Vec<_> = instances.filter_map(|it| self.analysis.module(&it)).collect();
        // The first instance that matters stands for all of them.
        let outputs: Vec<Finding> = self
            .collect(pairs, |search, it| search.of_module_output(&it, output, rest, interest))
            .list;
        outputs.into_iter().next()
    }

    fn keys_of_call(&self, module: &ModulePair<'a>, call: &Str) -> Vec<InstanceKey> {
        let parent = &module.instance;
        let known = self.analysis.inputs.plan.changes().filter_map(|it| {
            let step = it.addr.module.steps().get(parent.steps().len())?;
            (parent.contains(&it.addr.module) && *step.name == **call).then(|| step.key.clone())
        });
        let mut keys: Vec<InstanceKey> = known.collect();
        keys.dedup();
        keys.truncate(MOST_CAUSES);
        keys
    }

    /// The causes of `each.key`, `each.value` and `count.index`: the argument that makes the instances.
    fn of_each(&mut self, site: &Site<'a>, read: &Read, interest: Interest) -> Option<Finding> {
        let Repetition::ForEach(expr) = site.entry.item.repetition() else { return None };
        let key = match &site.key {
            InstanceKey::String(key) => Value::string(key.as_str()),
            InstanceKey::Int(index) => Value::int(*index),
            InstanceKey::None => return None,
        };
        let subject =
            site.module.name(format_args!("{}{}", read.reference, path_text(&read.steps)));
        let all = self.pair(site, expr);
        let mut steps = Vec::new();
        // A set has no parts: its elements are both keys and values.
        let is_set = matches!(all.after.ty(), Type::Set(_));
        if read.reference == Ref::EachValue && !is_set {
            steps = normal_path(&all.after, &[Step::Index(key)]).steps().to_vec();
            steps.extend(read.steps.iter().cloned());
        }
        let pair = self.pair(site, read.expr);
        let (inner, _) = hir::eval::part_at(&site.entry.item.exprs, expr, &steps);
        let finding = Finding::root(&*subject, self.fact(&pair, interest), self.place(site, inner));
        let seen = format!("{subject} of {}{}", site.entry.item.header.0, site.key);
        if !self.begins(&seen, interest) {
            return Some(Finding { fact: Fact::Seen, ..finding });
        }
        let causes = self.hiding(&pair, |search| search.of_expr(site, expr, &steps, interest));
        Some(finding.because_of(causes))
    }

    /// The causes of an attribute of a resource, or of the whole object.
    fn of_resource(
        &mut self,
        resource: &AbsResource,
        read: &Read,
        interest: Interest,
    ) -> Option<Finding> {
        let mut steps = read.steps.as_slice();
        let key = take_key(&mut steps);
        let behind: Vec<Step> = steps.iter().chain(read.splat.iter().flatten()).cloned().collect();
        if resource.resource.mode == ResourceMode::Ephemeral {
            return Some(self.of_ephemeral(&resource.instance(key), &behind));
        }
        let is_single = self.is_single(resource);
        let mut instances = match key.is_none() && !is_single {
            true => self.instances_of(resource),
            false => vec![resource.instance(key)],
        };
        let paths: Vec<(ResourceInstance, Pair)> = instances
            .drain(..)
            .map(|it| {
                let pair = self.object_pair(&it).part(&behind);
                (it, pair)
            })
            .filter(|(_, pair)| pair.interests(interest))
            .collect();
        let count = paths.len();
        let (instance, pair) = paths.into_iter().next()?;
        let path = normal_path(&self.object_pair(&instance).after, &behind);
        let found = self.of_attribute(&instance, &path, &pair, interest);
        Some(Finding { more: found.more + count - 1, ..found })
    }

    fn of_ephemeral(&mut self, instance: &ResourceInstance, steps: &[Step]) -> Finding {
        let subject = format!("{instance}{}", path_text(steps));
        let entry = self.entry(instance).map(|(_, entry)| entry);
        let place = entry.and_then(|it| self.header(it));
        self.begins(&subject, Interest::Ephemeral);
        Finding::root(subject, Fact::Computed(Computed::AtOpening), place)
    }

    fn is_single(&self, resource: &AbsResource) -> bool {
        let entry = self.entry(&resource.instance(InstanceKey::None));
        entry.is_none_or(|(_, it)| {
            matches!(it.item.repetition(), Repetition::Single | Repetition::Enabled(_))
        })
    }

    /// The planned instances of a resource.
    fn instances_of(&self, resource: &AbsResource) -> Vec<ResourceInstance> {
        let changes = self.analysis.after.changes_of(resource);
        changes.iter().map(|it| it.addr.clone()).collect()
    }

    /// The block of an object, with the instance of its module.
    pub(crate) fn entry(
        &self,
        instance: &ResourceInstance,
    ) -> Option<(Rc<ModulePair<'a>>, &'a Entry)> {
        let module = self.analysis.module(&instance.module)?;
        let entry = module.module().resources.get(&instance.resource)?;
        Some((module, entry))
    }

    /// An object before and after the plan.
    pub(crate) fn object_pair(&self, instance: &ResourceInstance) -> Pair {
        if let Some(change) = self.analysis.change(instance) {
            let before = self.analysis.drift(instance).unwrap_or(change);
            return Pair {
                before: before.change.before.clone(),
                after: change.change.after.clone(),
            };
        }
        let Some(module) = self.analysis.module(&instance.module) else {
            return Pair { before: Value::dynamic(), after: Value::dynamic() };
        };
        let key = match &instance.key {
            InstanceKey::None => None,
            InstanceKey::Int(index) => Some(Step::Index(Value::int(*index))),
            InstanceKey::String(key) => Some(Step::Attr(Str::from(key.as_str()))),
        };
        let all = self.reference_pair(&module, &Ref::Resource(Box::new(instance.resource.clone())));
        all.part(key.as_slice())
    }
}

/// Steps as text, as in a configuration.
pub(crate) fn path_text(steps: &[Step]) -> String {
    steps.iter().cloned().collect::<Path>().to_string()
}
