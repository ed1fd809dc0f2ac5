//! The operation `state replace-provider`: gives the objects of one provider to another one.

use addr::{AbsResource, ProviderSource};
use db::{Diagnostic, Summary};

use super::{Editing, Execution, no_state, with_own_backup};
use crate::{
    session::{Failure, Session},
    store::{Purpose, StateOptions},
};

/// A provider, and the one that takes its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The provider in the state.
    pub from: ProviderSource,
    /// The provider that takes over its resources.
    pub to: ProviderSource,
}

/// A replacement that waits for its approval. The state is locked.
pub struct Pending {
    editing: Editing,
    replacement: Replacement,
    resources: Vec<AbsResource>,
}

impl Replacement {
    /// Parses both source addresses.
    ///
    /// # Errors
    /// A diagnostic for each invalid address.
    pub fn parse(from: &str, to: &str) -> Result<Replacement, Failure> {
        match (ProviderSource::parse(from), ProviderSource::parse(to)) {
            (Ok(from), Ok(to)) => Ok(Replacement { from, to }),
            (source, target) => {
                let faults = [("from", from, source.err()), ("to", to, target.err())].into_iter();
                let faults = faults.filter_map(|(role, text, error)| {
                    let summary = Summary::invalid_replacement(role, format!("{text:?}"));
                    let error = error?;
                    Some(Diagnostic::new(summary, format!("{}: {}", error.summary, error.detail)))
                });
                Err(faults.collect::<Vec<_>>().into())
            }
        }
    }
}

/// Locks the state, and finds the resources of the provider. `None` if it has none.
pub fn begin(
    session: &Session,
    options: &StateOptions,
    replacement: Replacement,
) -> Result<Option<Pending>, Failure> {
    let options = with_own_backup(session, options)?;
    let editing = Editing::begin(session, &options, Purpose::ReplaceProvider, Execution::Real)?;
    if !editing.has_state() {
        return editing.fail(session, no_state());
    }
    let resources = editing.state().resources();
    let resources: Vec<AbsResource> = resources
        .filter(|(_, it)| it.provider.source == replacement.from)
        .map(|(address, _)| address.clone())
        .collect();
    if resources.is_empty() {
        editing.leave(session)?;
        return Ok(None);
    }
    Ok(Some(Pending { editing, replacement, resources }))
}

impl Pending {
    /// The resources that get another provider, in the order of their addresses.
    pub fn resources(&self) -> &[AbsResource] {
        &self.resources
    }

    /// Replaces the provider, writes the state, and unlocks it.
    pub fn finish(self, session: &Session) -> Result<(), Failure> {
        let mut state = self.editing.state().clone();
        for resource in &self.resources {
            state.replace_provider(resource, &self.replacement.to);
        }
        self.editing.save(session, &state)
    }

    /// Unlocks the state, and changes nothing.
    pub fn cancel(self, session: &Session) -> Result<(), Failure> {
        self.editing.leave(session)
    }
}
