//! The operations `taint` and `untaint`: mark an object as one to be replaced, and take the mark back.

use std::sync::Arc;

use addr::{ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use state::{Object, State, Status};

use super::{Editing, Execution};
use crate::{
    session::{Failure, Session},
    store::{Purpose, StateOptions},
};

/// The change of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The object is marked.
    Taint,
    /// The mark is removed.
    Untaint,
}

/// Parses the address of an object that can be tainted.
///
/// # Errors
/// A diagnostic for any other address.
pub fn address(text: &str) -> Result<ResourceInstance, Failure> {
    let address = addr::parse_resource_instance(text)
        .map_err(|error| super::select::address_fault(text, error))?;
    if address.resource.mode == ResourceMode::Managed {
        return Ok(address);
    }
    let detail = format!(
        "Resource instance {address} cannot be tainted: only managed resources are created, and so \
         only they can be replaced."
    );
    Err(Diagnostic::new(Summary::UNTAINTABLE_ADDRESS, detail).into())
}

/// Changes the mark of an object. Returns false if the state has no such instance.
pub fn mark(
    session: &Session,
    options: &StateOptions,
    address: &ResourceInstance,
    mark: Mark,
) -> Result<bool, Failure> {
    let purpose = match mark {
        Mark::Taint => Purpose::Taint,
        Mark::Untaint => Purpose::Untaint,
    };
    let editing = Editing::begin(session, options, purpose, Execution::Real)?;
    if editing.state().instance(address).is_none() {
        editing.leave(session)?;
        return Ok(false);
    }
    match marked(editing.state(), address, mark) {
        Ok(state) => editing.save(session, &state).map(|()| true),
        Err(refused) => editing.fail(session, refused),
    }
}

/// The error for an instance that the state does not have.
pub fn missing(
    session: &Session,
    options: &StateOptions,
    address: &ResourceInstance,
) -> Diagnostic {
    let is_empty =
        crate::store::read_unlocked(session, options).is_ok_and(|open| open.file.state.is_empty());
    let detail = match is_empty {
        true => "The state currently contains no resource instances whatsoever. This may occur if \
                 the configuration has never been applied or if it has recently been destroyed."
            .to_owned(),
        false => format!(
            "There is no resource instance in the state with the address {address}. If the resource \
             configuration has just been added, you must run \"mayfly apply\" once to create the \
             corresponding instance(s) before they can be tainted."
        ),
    };
    Diagnostic::new(Summary::NO_TAINT_TARGET, detail)
}

/// The warning for an instance that the state does not have and need not have.
pub fn allowed_missing(address: &ResourceInstance) -> Diagnostic {
    let detail = format!(
        "Resource instance {address} was not found, but this is not an error because \
         -allow-missing was set."
    );
    Diagnostic::new(Summary::MISSING_TAINT_TARGET, detail)
}

fn marked(state: &State, address: &ResourceInstance, mark: Mark) -> Result<State, Box<Diagnostic>> {
    let (Some(object), Some(provider)) = (state.current(address), state.provider_of(address))
    else {
        let detail = format!(
            "Resource instance {address} is currently part-way through a create_before_destroy \
             replacement action. Run \"mayfly apply\" to complete its replacement before tainting it."
        );
        return Err(Box::new(Diagnostic::new(Summary::NO_TAINT_TARGET, detail)));
    };
    if mark == Mark::Untaint && object.status != Status::Tainted {
        let detail = format!(
            "Resource instance {address} is not currently tainted, and so it cannot be untainted."
        );
        return Err(Box::new(Diagnostic::new(Summary::NOT_TAINTED, detail)));
    }
    let status = match mark {
        Mark::Taint => Status::Tainted,
        Mark::Untaint => Status::Ready,
    };
    let object = Arc::new(Object { status, ..(**object).clone() });
    let mut marked = state.clone();
    marked.set_current(address, &provider.clone(), object);
    Ok(marked)
}
