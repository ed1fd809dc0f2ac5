//! Reuse between runs: the memo, and which results the next run cannot have.

use std::cell::{Cell, RefCell};

use sorted::TreeSet;

use crate::{graph::NodeIx, memo::Memo};

/// The results that a run takes from earlier runs and leaves for later ones.
pub(crate) struct Reuse<'a> {
    memo: RefCell<&'a mut Memo>,
    /// True if the memo remembered nothing when the run began.
    is_first_run: bool,
    /// Nodes whose results the next run cannot have: those of ephemeral values, and providers.
    unkept: RefCell<TreeSet<NodeIx>>,
    /// Set once instances have ephemeral values, from their `for_each`: then the next run cannot start from this one.
    has_ephemeral_instances: Cell<bool>,
    /// The number of turns of all nodes.
    turns: Cell<usize>,
}

impl<'a> Reuse<'a> {
    pub(crate) fn new(memo: &'a mut Memo) -> Reuse<'a> {
        Reuse {
            is_first_run: memo.is_empty(),
            memo: RefCell::new(memo),
            unkept: RefCell::default(),
            has_ephemeral_instances: Cell::default(),
            turns: Cell::default(),
        }
    }

    /// Returns true if there is nothing that the run could take from an earlier one.
    pub(crate) fn is_first_run(&self) -> bool {
        self.is_first_run
    }

    /// Reads the memo.
    pub(crate) fn memo<T>(&self, read: impl FnOnce(&Memo) -> T) -> T {
        read(&self.memo.borrow())
    }

    /// Changes the memo.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Memo) -> T) -> T {
        change(&mut self.memo.borrow_mut())
    }

    pub(crate) fn count_turn(&self) {
        self.turns.set(self.turns.get() + 1);
    }

    pub(crate) fn turns(&self) -> usize {
        self.turns.get()
    }

    pub(crate) fn add_unkept(&self, node: NodeIx) {
        self.unkept.borrow_mut().insert(node);
    }

    pub(crate) fn take_unkept(&self) -> TreeSet<NodeIx> {
        self.unkept.take()
    }

    pub(crate) fn restore_unkept(&self, nodes: TreeSet<NodeIx>) {
        self.unkept.replace(nodes);
    }

    pub(crate) fn note_ephemeral_instances(&self) {
        self.has_ephemeral_instances.set(true);
    }

    pub(crate) fn has_ephemeral_instances(&self) -> bool {
        self.has_ephemeral_instances.get()
    }
}
