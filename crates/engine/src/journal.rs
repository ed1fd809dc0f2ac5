//! The journal of a run: a durable record of its changes, from which they can be reconstructed however the run
//! ended.
//!
//! ```text
//!   intent ─► durable ─► the provider is asked ─► answer ─► changed ─► durable ─► the instance is done
//! ```
//!
//! **Invariant:** a provider with remote objects is called to change one only after the intent is durable.
//! **Invariant:** the response of a provider is durable before anything that depends on it starts.

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance};
use db::Diagnostic;
use provider::BoxFuture;
use state::{ObjectAddress, State, journal::IntentAction};

use crate::shell;

/// The number of a journal entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number(pub u64);

/// Records the changes that a run is about to make, and their results.
///
/// The methods only queue and return at once: a run has one thread, and while a method blocks, no answer of a
/// provider is received and no ephemeral resource is renewed. [`Journal::durable`] waits for persistence, so that an
/// implementation can combine the writes of several callers. The default methods record nothing: the journal of a
/// plan, for example, records open ephemeral resources but no changes.
pub trait Journal: Send + Sync {
    /// Records that a provider is about to change an object. `named` is an identifier with which a user can find
    /// the object outside.
    fn intent(
        &self,
        _object: &ObjectAddress,
        _action: IntentAction,
        _provider: &ProviderConfigRef,
        _named: Option<String>,
    ) -> Number {
        Number(0)
    }

    /// Records that an object of an instance has changed. The record holds all objects of the instance, current and
    /// deposed. `state` contains the change and is otherwise equal to the last recorded state. `answers` is the intent
    /// to which this is the response.
    ///
    /// # Errors
    /// Fails if this change cannot be recorded, or if a write of the state that an earlier change caused has failed
    /// since. The run then starts nothing new, and its outcome contains the final state.
    fn changed(
        &self,
        _state: &State,
        _changed: &ResourceInstance,
        _answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        Ok(())
    }

    /// Records that the provider has responded to an intent and that nothing changed.
    fn unchanged(&self, _answers: Number) {}

    /// Records that an ephemeral resource is about to be opened. Its data are never recorded.
    fn opening(&self, _address: &ResourceInstance, _provider: &ProviderSource) -> Number {
        Number(0)
    }

    /// Records that an ephemeral resource has been closed, or that opening it failed.
    fn closed(&self, _opening: Number) {}

    /// Completes when all entries so far are durable, that is, outlive this process.
    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A journal that records nothing, for runs that change nothing.
pub struct NoJournal;

impl Journal for NoJournal {}

/// Returns the options that a user has after a creation with an unknown result. `state` is the file of the state,
/// `None` for the usual one.
pub fn ways_out(address: &ResourceInstance, state: Option<&str>) -> String {
    let quoted = shell::quoted(&address.to_string());
    let state = state.map(|it| format!("-state={} ", shell::quoted(it))).unwrap_or_default();
    format!(
        "  mayfly state adopt {state}{quoted} ID    if it exists; the provider's documentation describes \
         the import ID\n  mayfly state adopt {state}-gone {quoted}    if it does not exist\n  \
         -retry-uncertain, as an option of plan, apply or destroy: to create it anyway"
    )
}
