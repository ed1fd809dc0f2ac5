//! An index of the ends of statements by what they match.

use addr::{AbsResource, InstanceKey, ModuleInstance, Resource, SmolStr};
use rustc_hash::FxHashMap;
use sorted::TreeMap;

use crate::moves::statement::{Endpoint, Statement, StepPattern, Subject};

/// The ends of statements. A lookup takes time for the ends that match and for those whose open keys differ, not
/// for all ends.
#[derive(Default)]
pub(super) struct Ends {
    by_subject: FxHashMap<(Vec<SmolStr>, Subject), Group>,
    /// The ends at a resource or one of its instances.
    by_resource: FxHashMap<(Vec<SmolStr>, Resource), Group>,
    /// The ends at a module, and at resources directly inside of it.
    by_module: FxHashMap<Vec<SmolStr>, Group>,
}

/// Ends whose module addresses have the same names.
#[derive(Default)]
struct Group {
    /// By the steps with open keys, then by the keys of the other steps.
    tables: TreeMap<Vec<bool>, TreeMap<Vec<InstanceKey>, Vec<usize>>>,
}

impl Ends {
    /// Indexes both ends of each statement by the statement's position.
    pub(super) fn of(statements: &[Statement<'_>]) -> Ends {
        let mut ends = Ends::default();
        for (position, statement) in statements.iter().enumerate() {
            for end in [&statement.from, &statement.to] {
                ends.add(position, &statement.pattern(end), end);
            }
        }
        ends
    }

    fn add(&mut self, position: usize, pattern: &[StepPattern], end: &Endpoint) {
        let names = names_of(pattern);
        let resource = match end {
            Endpoint::Module(_) | Endpoint::Call { .. } => None,
            Endpoint::Resource(it) => Some(&it.resource),
            Endpoint::Instance(it) => Some(&it.resource),
        };
        if let Some(resource) = resource {
            let group = self.by_resource.entry((names.clone(), resource.clone())).or_default();
            group.add(position, pattern);
        }
        self.by_module.entry(names.clone()).or_default().add(position, pattern);
        self.by_subject.entry((names, indexed(end))).or_default().add(position, pattern);
    }

    /// The statements with an end that can be related to this one: the same object, or an object around it.
    pub(super) fn around(&self, pattern: &[StepPattern], end: &Endpoint) -> Vec<usize> {
        let mut found = Vec::new();
        let names = names_of(pattern);
        let subject = indexed(end);
        for length in 1..=names.len() {
            let key = (names[..length].to_vec(), Subject::Module);
            if let Some(group) = self.by_subject.get(&key) {
                group.find(&pattern[..length], &mut found);
            }
        }
        let wider = match &subject {
            Subject::Module | Subject::Call => None,
            Subject::Resource(_) => Some(subject.clone()),
            Subject::Instance(resource, _) => Some(Subject::Resource(resource.clone())),
        };
        for subject in [Some(subject), wider].into_iter().flatten() {
            if let Some(group) = self.by_subject.get(&(names.clone(), subject)) {
                group.find(pattern, &mut found);
            }
        }
        sorted::sort(&mut found);
        found.dedup();
        found
    }

    /// Returns true if a statement names this resource or one of its instances.
    pub(super) fn select_resource(&self, address: &AbsResource) -> bool {
        let pattern = exact(&address.module);
        let key = (names_of(&pattern), address.resource.clone());
        self.by_resource.get(&key).is_some_and(|it| it.matches(&pattern))
    }

    /// Returns true if a statement names this module instance, or resources directly inside of it.
    pub(super) fn select_module(&self, module: &ModuleInstance) -> bool {
        let pattern = exact(module);
        self.by_module.get(&names_of(&pattern)).is_some_and(|it| it.matches(&pattern))
    }
}

/// The subject of an end in the index, where modules and calls are the same.
fn indexed(end: &Endpoint) -> Subject {
    match end.subject() {
        Subject::Call => Subject::Module,
        subject => subject,
    }
}

impl Group {
    fn add(&mut self, position: usize, pattern: &[StepPattern]) {
        let open = open_steps(pattern);
        let keys = pattern.iter().filter_map(|it| it.key.clone()).collect();
        self.tables.entry(open).or_default().entry(keys).or_default().push(position);
    }

    fn find(&self, pattern: &[StepPattern], found: &mut Vec<usize>) {
        for (open, table) in &self.tables {
            match keys_at(pattern, open) {
                Some(keys) => found.extend(table.get(&keys).into_iter().flatten()),
                // An open key meets every key of the table.
                None => found.extend(table.values().flatten()),
            }
        }
    }

    fn matches(&self, pattern: &[StepPattern]) -> bool {
        self.tables.iter().any(|(open, table)| {
            keys_at(pattern, open).is_some_and(|keys| table.contains_key(&keys))
        })
    }
}

/// The keys of a pattern at the steps that are not open in a table; `None` if the pattern is open there.
fn keys_at(pattern: &[StepPattern], open: &[bool]) -> Option<Vec<InstanceKey>> {
    let closed = pattern.iter().zip(open).filter(|(_, is_open)| !**is_open);
    closed.map(|(step, _)| step.key.clone()).collect()
}

fn open_steps(pattern: &[StepPattern]) -> Vec<bool> {
    pattern.iter().map(|it| it.key.is_none()).collect()
}

fn names_of(pattern: &[StepPattern]) -> Vec<SmolStr> {
    pattern.iter().map(|it| it.name.clone()).collect()
}

fn exact(module: &ModuleInstance) -> Vec<StepPattern> {
    module.steps().iter().map(StepPattern::exact).collect()
}
