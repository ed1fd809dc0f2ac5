//! The operation `state rm`: removes instances from the state, and leaves their objects as they are.

use addr::ResourceInstance;
use db::{Diagnostic, Summary};
use state::Instance;

use super::{Editing, Execution, no_state, select, with_own_backup};
use crate::{
    session::{Failure, Session},
    store::{Purpose, StateOptions},
};

/// Removes the instances that the addresses select. Returns their addresses, in the order in which they are selected.
///
/// # Errors
/// A diagnostic if there is no state, if an address is invalid, or if the addresses select nothing. A dry run that
/// selects nothing is no error.
pub fn remove(
    session: &Session,
    options: &StateOptions,
    addresses: &[String],
    execution: Execution,
) -> Result<Vec<ResourceInstance>, Failure> {
    let options = with_own_backup(session, options)?;
    let editing = Editing::begin(session, &options, Purpose::Remove, execution)?;
    if !editing.has_state() {
        return editing.fail(session, no_state());
    }
    let found = match select::found(editing.state(), addresses) {
        Ok(found) => found,
        Err(failure) => return editing.fail(session, failure),
    };
    if execution == Execution::Dry {
        editing.leave(session)?;
        return Ok(found);
    }
    if found.is_empty() {
        return editing.fail(session, nothing());
    }
    let mut state = editing.state().clone();
    for address in &found {
        state.set_instance(address, None, Instance::default());
    }
    editing.save(session, &state)?;
    Ok(found)
}

fn nothing() -> Diagnostic {
    let detail = "No matching objects found. To view the available instances, use \"mayfly state \
                  list\". Please modify the address to reference a specific instance.";
    Diagnostic::new(Summary::NO_MATCHING_OBJECT, detail)
}
