//! Checks `moved` blocks against the instances that the plan found.
//!
//! The analysis has checked the blocks of each module by themselves. Here are the rules that depend on keys, on
//! several modules, or on implied moves.

use addr::{ModuleInstance, SmolStr};
use db::{Diagnostic, Related, Summary};
use hir::Entry;
use rustc_hash::FxHashMap;

use crate::{
    graph::ModuleIx,
    moves::{
        Moves,
        statement::{Endpoint, Statement},
    },
    walk::{context::Walk, modules::ModuleRun},
};

/// Reports the faults of `moved` blocks.
pub(crate) fn validate(walk: &Walk<'_>, moves: &Moves<'_>) {
    let mut check = Check { walk, from: FxHashMap::default(), to: FxHashMap::default(), found: 0 };
    for statement in &moves.declared {
        for outer in check.instances_of(statement.module.names()) {
            check.statement(statement, &outer);
        }
    }
    if check.found == 0 && !moves.cycle.is_empty() {
        check.report_cycle(moves);
    }
}

struct Check<'c, 'p> {
    walk: &'c Walk<'p>,
    /// The statements by the address that they move from, and by the one that they move to.
    from: FxHashMap<Endpoint, Other<'c>>,
    to: FxHashMap<Endpoint, Other<'c>>,
    found: usize,
}

/// The other end of a statement, and its block.
#[derive(Clone)]
struct Other<'c> {
    end: Endpoint,
    block: &'c Entry,
}

impl<'c> Check<'c, '_> {
    /// Checks a statement in one instance of its module.
    fn statement(&mut self, statement: &'c Statement<'c>, outer: &ModuleInstance) {
        let Some(block) = statement.block else { return };
        let (from, to) = (statement.from.within(outer), statement.to.within(outer));
        if from == to {
            let detail = format!(
                "This statement declares a move from {from} to the same address, which is the same \
                 as not declaring this move at all."
            );
            self.report(block, None, Diagnostic::new(Summary::REDUNDANT_MOVE, detail));
            return;
        }
        if self.is_declared(&from) {
            let detail = format!(
                "This statement declares a move from {from}, but that {} is still declared.\n\nChange \
                 your configuration so that it will be declared as {to} instead.",
                from.noun()
            );
            self.report(block, None, Diagnostic::new(Summary::MOVED_OBJECT_EXISTS, detail));
        }
        let noun = from.noun();
        let end = Other { end: to.clone(), block };
        let first = self.from.entry(from.clone()).or_insert(end).clone();
        if first.end != to {
            let detail = format!(
                "Another statement declared that {from} moved to {}, but this statement instead \
                 declares that it moved to {to}.\n\nEach {noun} can move to only one destination.",
                first.end
            );
            let problem = Diagnostic::new(Summary::AMBIGUOUS_MOVES, detail);
            self.report(block, Some(first.block), problem);
        }
        let end = Other { end: from.clone(), block };
        let first = self.to.entry(to.clone()).or_insert(end).clone();
        if first.end != from {
            let detail = format!(
                "Another statement declared that {} moved to {to}, but this statement instead \
                 declares that {from} moved there.\n\nEach {noun} can have moved from only one source.",
                first.end
            );
            let problem = Diagnostic::new(Summary::AMBIGUOUS_MOVES, detail);
            self.report(block, Some(first.block), problem);
        }
    }

    fn report(&mut self, block: &Entry, other: Option<&Entry>, diagnostic: Diagnostic) {
        self.found += 1;
        let program = self.walk.config.program;
        let location = other.and_then(|it| program.locate(it.origin, it.item.header.into()));
        let message = "the other statement".to_owned();
        let related = location.map(|location| Related { location, message });
        let diagnostic = Diagnostic { related: related.into_iter().collect(), ..diagnostic };
        self.walk.report_at(block, block.item.header.into(), None, diagnostic);
    }

    fn report_cycle(&mut self, moves: &Moves<'_>) {
        let statements: Vec<&Statement<'_>> =
            moves.cycle.iter().map(|it| &moves.declared[*it]).collect();
        let steps = statements.iter().map(|it| format!("\n  - {} → {}", it.from, it.to));
        let detail = format!(
            "The following chained move statements form a cycle, and so there is no final location \
             to move objects to:{}\n\nA chain of move statements must end with an address that \
             doesn't appear in any other statements, and which typically also refers to an object \
             still declared in the configuration.",
            steps.collect::<String>()
        );
        let Some(block) = statements.iter().find_map(|it| it.block) else { return };
        let other = statements.iter().skip(1).find_map(|it| it.block);
        self.report(block, other, Diagnostic::new(Summary::CYCLIC_MOVES, detail));
    }

    /// The declared instances of a module.
    fn instances_of(&self, names: &[SmolStr]) -> Vec<ModuleInstance> {
        let root = self.walk.modules.root();
        let mut found: Vec<_> = root.into_iter().collect();
        for name in names {
            let inner = found.iter().filter_map(|it| it.children_of(name));
            let inner: Vec<ModuleIx> =
                inner.flat_map(|it| it.instances.values().copied().collect::<Vec<_>>()).collect();
            found = inner.into_iter().map(|it| self.walk.modules.get(it)).collect();
        }
        found.iter().map(|it| it.address.clone()).collect()
    }

    fn module(&self, steps: &[addr::ModuleStep]) -> Option<std::rc::Rc<ModuleRun>> {
        let mut module = self.walk.modules.root()?;
        for step in steps {
            let child = *module.children_of(&step.name)?.instances.get(&step.key)?;
            module = self.walk.modules.get(child);
        }
        Some(module)
    }

    /// Returns true if the configuration still declares what an endpoint names.
    fn is_declared(&self, end: &Endpoint) -> bool {
        match end {
            Endpoint::Module(steps) => self.module(steps).is_some(),
            Endpoint::Call { caller, name } => {
                self.module(caller).is_some_and(|it| it.template.calls.contains_key(name.as_str()))
            }
            Endpoint::Resource(it) => self
                .module(it.module.steps())
                .is_some_and(|module| module.template.resources.contains_key(&it.resource)),
            Endpoint::Instance(it) => self.module(it.module.steps()).is_some_and(|module| {
                let Some(node) = module.template.resources.get(&it.resource) else { return false };
                // The expansion of a resource is the node before.
                let nodes = [Some(*node), node.checked_sub(1)].into_iter().flatten();
                let keys = nodes.filter_map(|node| self.walk.nodes.keys(module.node(node))).next();
                keys.is_some_and(|keys| keys.contains(&it.key))
            }),
        }
    }
}
