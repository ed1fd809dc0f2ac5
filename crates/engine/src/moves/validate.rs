//! Checks `moved` blocks against the declared instances.
//!
//! The analysis has checked the blocks of each module by themselves. Here are the rules that depend on keys, on
//! several modules, or on implied moves.

use addr::ModuleInstance;
use db::{Diagnostic, Related, Summary};
use hir::Entry;
use rustc_hash::FxHashMap;

use crate::{
    moves::{
        Moves,
        declared::{Declarations, Limits, OfPlan, OfValues, known_values},
        statement::{Endpoint, Statement},
    },
    offline::ModuleScope,
    walk::context::Walk,
};

/// Reports the faults of `moved` blocks, after a plan has found the declared instances.
pub(crate) fn validate(walk: &Walk<'_>, moves: &Moves<'_>) {
    validate_with(walk, moves, &OfPlan(walk));
}

/// Reports the faults of `moved` blocks in a destroy plan, within its limits.
pub(crate) fn validate_destruction(walk: &Walk<'_>, moves: &Moves<'_>, limits: Limits<'_>) {
    if !moves.declared.is_empty() {
        let values = known_values(walk);
        let root = ModuleScope::root(&values);
        validate_with(walk, moves, &OfValues { root, limits });
    }
}

fn validate_with(walk: &Walk<'_>, moves: &Moves<'_>, declarations: &dyn Declarations) {
    let (from, to) = (FxHashMap::default(), FxHashMap::default());
    let mut check = Check { walk, declarations, from, to, found: 0 };
    for statement in &moves.declared {
        for outer in declarations.instances_of(statement.module.names()) {
            check.statement(statement, &outer);
        }
    }
    if check.found == 0 && !moves.cycle.is_empty() {
        check.report_cycle(moves);
    }
}

struct Check<'c, 'p> {
    walk: &'c Walk<'p>,
    declarations: &'c dyn Declarations,
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
        if self.declarations.declares(&from) {
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
}
