//! Moves: gives objects of the prior state new addresses before anything is planned.
//!
//! ```text
//!   `moved` blocks ──────────┐
//!                            ├─► Vec<Statement> ──► order ──► Mover ──► State with new addresses, and the old ones
//!   configuration, state ────┘                                                              │
//!         (implied)                                                  plan ──► the instances that are declared
//!                                                                                           │
//!                                                                          validate ◄───────┘
//! ```
//!
//! A statement holds in each instance of its module, and what it matches depends on the state. An implied move keeps
//! the object of a block that gains or loses `count` or `enabled`: `x` and `x[0]` are the same object.
//!
//! **Invariant:** a move never takes an address that has an object. Such a move is blocked, and a warning reports
//! it.
//! **Invariant:** if the statements form a cycle, none is executed, and the plan has an error.

mod declared;
mod ends;
mod execute;
mod implied;
mod order;
mod statement;
mod validate;

use addr::{ConfigResource, ResourceInstance};
use db::{Diagnostic, Summary};
use hir::Program;
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};
use state::State;

pub(crate) use self::{
    declared::Limits,
    validate::{validate, validate_destruction},
};
use self::{ends::Ends, execute::Mover, statement::Statement};

/// The result of executing moves.
#[derive(Default)]
pub(crate) struct Moved {
    /// The former addresses of the moved objects, by their new addresses.
    pub(crate) previous: TreeMap<ResourceInstance, Previous>,
    /// The moves that were blocked: pairs of the current address and the intended address.
    blocked: TreeSet<(String, String)>,
}

/// The address of an object in the prior state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Previous {
    pub(crate) address: ResourceInstance,
    /// True if a `moved` block moved the object last.
    pub(crate) is_declared: bool,
}

/// The moves of a plan: the `moved` blocks, and what was executed.
pub(crate) struct Moves<'p> {
    pub(crate) moved: Moved,
    /// The `moved` blocks, each for every path of module calls that leads to it.
    declared: Vec<Statement<'p>>,
    /// The positions in `declared` of blocks that form a cycle.
    cycle: Vec<usize>,
}

/// Executes the `moved` blocks of a configuration and the implied moves on a state. If everything is destroyed, no
/// object becomes one of another type: its own provider destroys it.
pub(crate) fn execute<'p>(
    program: &'p Program,
    state: &mut State,
    destroys_all: bool,
) -> Moves<'p> {
    let mut statements = declared(program);
    let count = statements.len();
    statements.extend(implied::implied(program, state, &Ends::of(&statements)));
    if statements.is_empty() {
        return Moves { moved: Moved::default(), declared: statements, cycle: Vec::new() };
    }
    let (moved, cycle) = match order::order(&statements, &Ends::of(&statements)) {
        Ok(order) => {
            let mut mover = Mover::new(state, destroys_all);
            order.iter().for_each(|it| mover.execute(&statements[*it]));
            let moved = mover.finish();
            state.rename_dependencies(&moved.renamed());
            (moved, Vec::new())
        }
        Err(cycle) => (Moved::default(), cycle),
    };
    statements.truncate(count);
    Moves {
        moved,
        declared: statements,
        cycle: cycle.into_iter().filter(|it| *it < count).collect(),
    }
}

/// The statements of the `moved` blocks.
fn declared(program: &Program) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    for block in program.others() {
        let moved = block.entry.item.kind.as_moved();
        found.extend(moved.and_then(|it| Statement::of_block(block.module, it, block.entry)));
    }
    found
}

impl Moved {
    /// The new addresses of the resources whose objects moved, by their former addresses.
    fn renamed(&self) -> TreeMap<ConfigResource, TreeSet<ConfigResource>> {
        let mut renamed: TreeMap<ConfigResource, TreeSet<ConfigResource>> = TreeMap::new();
        for (to, from) in &self.previous {
            let (from, to) = (from.address.config(), to.config());
            if from != to {
                renamed.entry(from).or_default().insert(to);
            }
        }
        renamed
    }

    /// The former addresses of the objects that `moved` blocks moved, by their new addresses.
    pub(crate) fn declared(&self) -> FxHashMap<ResourceInstance, ResourceInstance> {
        let declared = self.previous.iter().filter(|(_, it)| it.is_declared);
        declared.map(|(to, it)| (to.clone(), it.address.clone())).collect()
    }

    /// Returns a warning that lists the blocked moves; `None` if there are none.
    pub(crate) fn warning(&self) -> Option<Diagnostic> {
        if self.blocked.is_empty() {
            return None;
        }
        let lines =
            self.blocked.iter().map(|(from, to)| format!("\n  - {from} could not move to {to}"));
        let detail = format!(
            "The configuration implies other addresses for objects of the prior state, and at \
             these addresses there are other objects already:{}\n\nThe plan destroys the objects \
             that could not move. If that is not intended, take one of the two objects out of the \
             state or give it another address, then plan again.",
            lines.collect::<String>()
        );
        Some(Diagnostic::new(Summary::UNRESOLVED_MOVE, detail))
    }
}
