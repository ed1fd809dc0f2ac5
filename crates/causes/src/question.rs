//! Questions: what an address names in a plan and its configuration.

use std::rc::Rc;

use addr::{ModuleInstance, PartStep, ResourceInstance, ResourceMode, Target, parse_object_part};
use hir::{Ref, suggest};
use values::{Step, Str, Value};

use crate::{
    analysis::{Analysis, ModulePair, is_change},
    difference::normal_path,
    finding::{Fact, Finding},
    search::{Interest, Pair, Search, path_text},
};

/// The subject of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Objects: one instance, all instances of a resource, or all objects in a module.
    Objects(Target),
    /// An attribute of an object.
    Attribute(ResourceInstance, Vec<Step>),
    /// A value of a module, or a part of it.
    Value(ModuleValue),
}

/// A named value of a module instance, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleValue {
    /// The module instance.
    pub module: ModuleInstance,
    /// The kind of the declaration.
    pub kind: ValueKind,
    /// The name.
    pub name: Str,
    /// The steps to the part.
    pub steps: Vec<Step>,
}

/// The kinds of declarations that give a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `output.NAME`
    Output,
    /// `local.NAME`
    Local,
    /// `var.NAME`
    Variable,
}

/// An address that names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAddress {
    /// The problem, if the text is no address at all.
    pub invalid: Option<String>,
    /// Addresses that exist and are similar, the best first.
    pub near: Vec<String>,
}

/// The most suggestions for a wrong address.
const MOST_SUGGESTED: usize = 3;

impl Question {
    /// Finds what an address names.
    ///
    /// # Errors
    /// The address is not one, or names nothing in the plan and its configuration.
    pub fn parse(analysis: &Analysis<'_>, text: &str) -> Result<Question, UnknownAddress> {
        let part = parse_object_part(text).map_err(|error| UnknownAddress {
            invalid: Some(error.to_string()),
            near: near(analysis, text),
        })?;
        let steps: Vec<Step> = part.steps.iter().map(step).collect();
        let question = match (part.object, steps) {
            (Target::Resource(it), steps) => match value_kind(&it.resource) {
                Some(kind) => {
                    let name = Str::from(it.resource.name.as_str());
                    Question::Value(ModuleValue { module: it.module, kind, name, steps })
                }
                None => of_object(Target::Resource(it), steps),
            },
            (object, steps) => of_object(object, steps),
        };
        match question.exists(analysis) {
            true => Ok(question),
            false => Err(UnknownAddress { invalid: None, near: near(analysis, text) }),
        }
    }

    fn exists(&self, analysis: &Analysis<'_>) -> bool {
        let module = |it: &ModuleInstance| analysis.module(it);
        match self {
            Question::Objects(Target::Module(it)) => {
                module(it).is_some() || analysis.objects().any(|object| it.contains(&object.module))
            }
            Question::Objects(target) => {
                let is_declared = || Search::new(analysis).declared(target).is_some();
                analysis.objects().any(|it| target.covers(&it)) || is_declared()
            }
            Question::Attribute(it, steps) => {
                let search = Search::new(analysis);
                let pair = search.object_pair(it);
                analysis.objects().any(|object| object == *it) && has_part(&pair, steps)
            }
            Question::Value(it) => {
                module(&it.module).is_some_and(|module| it.is_declared(module.module()))
            }
        }
    }
}

impl ModuleValue {
    fn is_declared(&self, module: &hir::Module) -> bool {
        match self.kind {
            ValueKind::Output => module.outputs.contains_key(&self.name),
            ValueKind::Local => module.locals.contains_key(&self.name),
            ValueKind::Variable => module.variables.contains_key(&self.name),
        }
    }

    /// The value before and after the plan.
    fn pair<'a>(&self, search: &Search<'_, 'a>, module: &ModulePair<'a>) -> Pair {
        let whole = match self.kind {
            ValueKind::Output => search.output_pair(module, &self.name),
            ValueKind::Local => search.reference_pair(module, &Ref::Local(self.name.clone())),
            ValueKind::Variable => search.reference_pair(module, &Ref::Variable(self.name.clone())),
        };
        whole.part(&self.steps)
    }

    fn explain<'a>(
        &self,
        search: &mut Search<'_, 'a>,
        module: &Rc<ModulePair<'a>>,
        interest: Interest,
    ) -> Option<Finding> {
        let ModuleValue { name, steps, .. } = self;
        match self.kind {
            ValueKind::Output if module.instance.is_root() && steps.is_empty() => {
                search.of_root_output(module, name, interest)
            }
            ValueKind::Output => search.of_module_output(module, name, steps, interest),
            ValueKind::Local => search.of_local(module, name, steps, interest),
            ValueKind::Variable => search.of_variable(module, name, steps, interest),
        }
    }
}

fn value_kind(resource: &addr::Resource) -> Option<ValueKind> {
    match (resource.mode, resource.type_name.as_str()) {
        (ResourceMode::Managed, "output") => Some(ValueKind::Output),
        (ResourceMode::Managed, "local") => Some(ValueKind::Local),
        (ResourceMode::Managed, "var") => Some(ValueKind::Variable),
        _ => None,
    }
}

fn of_object(object: Target, steps: Vec<Step>) -> Question {
    match (object, steps) {
        (object, steps) if steps.is_empty() => Question::Objects(object),
        (Target::Resource(it), steps) => {
            Question::Attribute(it.instance(addr::InstanceKey::None), steps)
        }
        (Target::Instance(it), steps) => Question::Attribute(it, steps),
        (object, _) => Question::Objects(object),
    }
}

fn step(step: &PartStep) -> Step {
    match step {
        PartStep::Name(name) => Step::Attr(Str::from(name.as_str())),
        PartStep::Index(addr::InstanceKey::Int(index)) => Step::Index(Value::int(*index)),
        PartStep::Index(addr::InstanceKey::String(key)) => Step::Index(Value::string(key.as_str())),
        PartStep::Index(addr::InstanceKey::None) => Step::Index(Value::int(0)),
    }
}

/// Returns true if the first attribute of a path exists. Deeper parts may depend on unknown values.
fn has_part(pair: &Pair, steps: &[Step]) -> bool {
    let Some(first) = steps.first() else { return true };
    let has = |it: &Value| {
        !it.is_known() || normal_path(it, std::slice::from_ref(first)).apply(it).is_some()
    };
    has(&pair.before) && !pair.before.is_null() || has(&pair.after) && !pair.after.is_null()
}

/// The addresses that are most similar to a text.
fn near(analysis: &Analysis<'_>, text: &str) -> Vec<String> {
    let asked: Vec<&str> = words(text).collect();
    let outputs = analysis.inputs.plan.output_changes.keys().map(|it| format!("output.{it}"));
    let known = analysis.objects().map(|it| it.to_string()).chain(outputs);
    let score = |it: &str| {
        let has = |word: &&&str| words(it).any(|own| own == **word);
        let long = || words(it).filter(|own| own.len() > 2);
        let is_close = |word: &&&str| suggest::closest(word, long()).is_some();
        let exact = asked.iter().filter(has).count();
        let close = asked.iter().filter(is_close).count();
        // The shorter one of equally similar addresses comes first.
        (exact + close, usize::MAX - words(it).count())
    };
    let mut scored: Vec<_> = known.map(|it| (score(&it), it)).collect();
    scored.retain(|(score, _)| score.0 > 0);
    sorted::sort_by(&mut scored, |a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let found = scored.into_iter().map(|(_, it)| it);
    found.take(MOST_SUGGESTED).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_' && it != '-')
        .filter(|it| !it.is_empty() && !matches!(*it, "module" | "data"))
}

impl<'a> Analysis<'a> {
    /// The addresses of all objects that the plan has, without repetition, and those that it only reads.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ResourceInstance> {
        let plan = self.inputs.plan;
        let planned = plan.changes().filter(|it| it.deposed.is_none()).map(|it| it.addr.clone());
        let stored = self.inputs.refreshed.instances().map(|it| it.address);
        let stored = stored.filter(|it| self.change(it).is_none());
        planned.chain(stored).chain(plan.ephemerals.iter().map(|it| it.addr.clone()))
    }

    pub(crate) fn answer(&self, question: &Question) -> Vec<Finding> {
        match question {
            Question::Objects(target) => self.of_objects(target),
            Question::Attribute(instance, steps) => self.of_part(instance, steps),
            Question::Value(value) => self.of_value(value),
        }
    }

    /// Explains a value of a module: the value first, then its marks.
    fn of_value(&self, value: &ModuleValue) -> Vec<Finding> {
        let Some(module) = self.module(&value.module) else { return Vec::new() };
        let interests = value.pair(&Search::new(self), &module).all_interests();
        let find = |interest| value.explain(&mut Search::new(self), &module, interest);
        interests.into_iter().filter_map(find).collect()
    }

    /// One finding for each object; for a module without changes, why its instance exists.
    fn of_objects(&self, target: &Target) -> Vec<Finding> {
        let plan = self.inputs.plan;
        let changes = plan.changes().filter(|it| target.covers(&it.addr));
        if let Target::Module(module) = target {
            let changed: Vec<Finding> =
                changes.filter(|it| is_change(it)).map(|it| self.explain_change(it)).collect();
            return std::iter::once(self.of_module(module, changed.len())).chain(changed).collect();
        }
        let found: Vec<Finding> = changes.map(|it| self.explain_change(it)).collect();
        match found.is_empty() {
            true => self.of_unplanned(target),
            false => found,
        }
    }

    fn of_module(&self, module: &ModuleInstance, changes: usize) -> Finding {
        let mut search = Search::new(self);
        let causes = match search.is_declared(module) {
            true => search.of_module_existence(module),
            false => search.of_lost_module(module),
        };
        let fact = Fact::Module { changes };
        let left_out = self.left_out_module(module);
        Finding::root(module.to_string(), fact, None).because_of(causes).because(left_out)
    }

    /// Objects that the plan only reads, ephemeral resources, and blocks without an object.
    fn of_unplanned(&self, target: &Target) -> Vec<Finding> {
        let found: Vec<ResourceInstance> = self.objects().filter(|it| target.covers(it)).collect();
        if found.is_empty() {
            return Search::new(self).of_absent(target).into_iter().collect();
        }
        let explain = |it: ResourceInstance| {
            let search = Search::new(self);
            let place = search.entry(&it).and_then(|(_, entry)| search.header(entry));
            if let Some(cause) = self.left_out(&it) {
                return Finding::root(it.to_string(), Fact::NotPlanned, place).because([cause]);
            }
            let fact = match it.resource.mode {
                ResourceMode::Ephemeral => Fact::DeclaredEphemeral,
                _ => Fact::Planned { action: state::Action::NoOp, deposed: None },
            };
            Finding::root(it.to_string(), fact, place)
        };
        found.into_iter().map(explain).collect()
    }

    /// Explains an attribute: its value first, then its marks.
    fn of_part(&self, instance: &ResourceInstance, steps: &[Step]) -> Vec<Finding> {
        let search = Search::new(self);
        if let Some(cause) = self.left_out(instance) {
            let subject = format!("{instance}{}", path_text(steps));
            let place = search.entry(instance).and_then(|(_, entry)| search.header(entry));
            return vec![Finding::root(subject, Fact::NotPlanned, place).because([cause])];
        }
        let object = search.object_pair(instance);
        let of_change = self
            .change(instance)
            .map(|it| Pair { before: it.change.before.clone(), after: it.change.after.clone() });
        let known = if object.after.is_null() { &object.before } else { &object.after };
        let path = normal_path(known, steps);
        let pair = of_change.unwrap_or(object).part(steps);
        let mut interests = pair.all_interests();
        let configured = search.configured(instance, &path);
        let is_ephemeral = |it: &Pair| it.interests(Interest::Ephemeral);
        if configured.iter().any(is_ephemeral) && !interests.contains(&Interest::Ephemeral) {
            interests.push(Interest::Ephemeral);
        }
        let find = |it| Search::new(self).of_attribute(instance, &path, &pair, it);
        interests.into_iter().map(find).collect()
    }
}
