//! The state of a run: as it was before, and as it is written now.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use state::{Object, ObjectAddress, State};

use crate::walk::state_index::StateIndex;

/// The state before a run, and the one that it ends with.
pub(crate) struct RunState {
    previous: Arc<State>,
    index: Rc<StateIndex>,
    current: RefCell<State>,
}

impl RunState {
    /// A run that starts from `previous`, whose resources are in `index`.
    pub(crate) fn new(previous: Arc<State>, index: Rc<StateIndex>) -> RunState {
        RunState { current: RefCell::new((*previous).clone()), previous, index }
    }

    /// The state before the run.
    pub(crate) fn previous(&self) -> &Arc<State> {
        &self.previous
    }

    /// The resources of the state before the run, by module instance.
    pub(crate) fn index(&self) -> &StateIndex {
        &self.index
    }

    /// Reads the state as it is now.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.current.borrow())
    }

    /// Changes the state.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.current.borrow_mut())
    }

    /// The object at an address.
    pub(crate) fn object(&self, address: &ObjectAddress) -> Option<Arc<Object>> {
        self.current.borrow().object(address).cloned()
    }

    /// Takes the state out that the run ends with.
    pub(crate) fn take(&self) -> State {
        self.current.take()
    }

    /// Goes on from the state that an earlier run came to.
    pub(crate) fn restore(&self, state: State) {
        self.current.replace(state);
    }
}
