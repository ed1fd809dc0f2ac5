//! Interrupts of a test. The first one ends the test after the current run, and what was created is destroyed. The
//! second one gives up, and reports what is left.

use std::sync::{Arc, Mutex, PoisonError};

use ::values::Str;
use db::{Diagnostic, Summary};
use engine::{CancelLevel, CancelToken};
use sorted::TreeMap;
use state::State;

use crate::{
    session::Session,
    test::{Abandoned, AbandonedState, TestView, objects::addresses},
};

/// The interrupts of a test, and what a second one would leave behind.
pub(super) struct Interrupts {
    /// The requests of the user.
    user: CancelToken,
    /// Interrupts running operations. The first request of the user does not reach them: a run is finished, and a
    /// clean-up is done in any case.
    pub(super) operations: CancelToken,
    held: Arc<Mutex<TreeMap<Arc<str>, Abandoned>>>,
}

impl Interrupts {
    /// Starts to wait for a second interrupt.
    pub(super) fn new(session: &Session, view: &Arc<dyn TestView>) -> Interrupts {
        let interrupts = Interrupts {
            user: session.cancel.clone(),
            operations: CancelToken::new(),
            held: Arc::default(),
        };
        let (user, operations) = (interrupts.user.clone(), interrupts.operations.clone());
        let (held, view) = (Arc::clone(&interrupts.held), Arc::clone(view));
        session.runtime.spawn(async move {
            user.reached(CancelLevel::Aborting).await;
            {
                let held = held.lock().unwrap_or_else(PoisonError::into_inner);
                held.values().for_each(|it| view.abandoned(it));
            }
            operations.cancel();
            operations.cancel();
        });
        interrupts
    }

    /// Returns true if no further run may begin.
    pub(super) fn is_stopping(&self) -> bool {
        self.user.level() >= CancelLevel::Stopping
    }

    /// Returns true if nothing may be done any more.
    pub(super) fn is_aborting(&self) -> bool {
        self.user.level() >= CancelLevel::Aborting
    }

    /// Changes what an interrupt would leave behind of a file.
    pub(super) fn hold(&self, file: &Arc<str>, change: impl FnOnce(&mut Abandoned)) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let of_file = held.entry(Arc::clone(file)).or_default();
        of_file.file = Arc::clone(file);
        change(of_file);
    }

    /// Forgets a file that is done.
    pub(super) fn release(&self, file: &Arc<str>) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(file);
    }
}

impl AbandonedState {
    /// The objects in the state of a module that a run named.
    pub(super) fn of(run: &Str, source: &Str, state: &State) -> AbandonedState {
        AbandonedState { run: run.clone(), source: source.clone(), addresses: addresses(state) }
    }
}

/// The error of an operation that an interrupt ended.
pub(super) fn interrupted() -> Diagnostic {
    let detail = "The test operation could not be completed due to an interrupt signal. Please read \
                  the remaining diagnostics carefully for any sign of failed state cleanup or \
                  dangling resources.";
    Diagnostic::new(Summary::TEST_INTERRUPTED, detail)
}
