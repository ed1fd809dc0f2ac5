//! The state of a run: as it was before, and as it is written now.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use addr::{ProviderConfigRef, ResourceInstance};
use state::{Object, State};

use super::StateIndex;

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

    /// The current object of an instance; `None` if it has none.
    pub(crate) fn object(&self, address: &ResourceInstance) -> Option<Arc<Object>> {
        self.current.borrow().current(address).cloned()
    }

    /// Sets the current object of an instance; `None` removes it.
    pub(crate) fn set_object(
        &self,
        address: &ResourceInstance,
        provider: &ProviderConfigRef,
        object: Option<Arc<Object>>,
    ) {
        self.change(|state| match object {
            Some(object) => state.set_current(address, provider, object),
            None => drop(state.remove_current(address)),
        });
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
