//! Decisions about objects, as pure functions from data to data. The effects around them (questions to providers,
//! diagnostics, events) are in the other modules of `resource`.
//!
//! A new action needs its rule and its tests here. `change.rs` asks for the action on a declared object, and
//! `plan.rs` for that on any other; `apply.rs` and `destroy.rs` carry it out. `docs/add-an-action.md` lists the rest.

use addr::InstanceKey;
use state::{Action, Reason, Status};

use crate::walk::instances::Repeated;

/// The object before a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Before {
    /// There is no object.
    Absent,
    /// The object is usable.
    Ready,
    /// The object must be replaced, because its creation did not complete.
    Tainted,
}

/// The facts about a planned change that determine its action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Planned {
    /// True if the planned object equals the one before.
    pub(crate) is_unchanged: bool,
    /// True if an attribute changes that cannot change in place.
    pub(crate) forces_replacement: bool,
    /// True if a write-only attribute requires a replacement, although its value cannot be compared.
    pub(crate) write_only_forces: bool,
}

/// An action, with its reason if the configuration alone does not explain it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decision {
    pub(crate) action: Action,
    pub(crate) reason: Option<Reason>,
}

impl From<Action> for Decision {
    fn from(action: Action) -> Decision {
        Decision { action, reason: None }
    }
}

/// Decides what happens to an object that the configuration declares. `is_requested` is true if the user asked for
/// its replacement.
pub(crate) fn decide(before: Before, planned: Planned, is_requested: bool) -> Decision {
    let replace = |reason| Decision { action: Action::DeleteThenCreate, reason: Some(reason) };
    let is_forced =
        planned.write_only_forces || (planned.forces_replacement && !planned.is_unchanged);
    match before {
        Before::Absent => Action::Create.into(),
        Before::Tainted => replace(Reason::ReplaceBecauseTainted),
        Before::Ready if is_requested => replace(Reason::ReplaceByRequest),
        Before::Ready if is_forced => replace(Reason::ReplaceBecauseCannotUpdate),
        Before::Ready if planned.is_unchanged => Action::NoOp.into(),
        Before::Ready => Action::Update.into(),
    }
}

/// The facts in configuration and state about the end of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Keeping {
    /// True if the block that declares the object has `lifecycle { destroy = false }`.
    pub(crate) by_block: bool,
    /// True if the block had it when the object was last changed.
    pub(crate) by_state: bool,
    /// The value of `destroy` in a `removed` block; `None` without such a block.
    pub(crate) removed: Option<bool>,
}

/// Decides what happens to an object that ends. `reason` is that of its deletion. A `removed` block says what the user
/// wants last.
pub(crate) fn decide_end(keeping: Keeping, reason: Option<Reason>) -> Decision {
    let why = match keeping {
        Keeping { by_block: true, .. } => Some(Reason::ForgotBecauseLifecycleDestroyInConfig),
        Keeping { by_state: true, .. } => Some(Reason::ForgotBecauseLifecycleDestroyInState),
        _ => None,
    };
    match keeping.removed {
        Some(true) => Decision { action: Action::Delete, reason },
        Some(false) => Decision { action: Action::Forget, reason: why.or(reason) },
        None if why.is_some() => Decision { action: Action::Forget, reason: why },
        None => Decision { action: Action::Delete, reason },
    }
}

/// The action of a replacement whose old object is forgotten instead of destroyed. Any other action stays.
pub(crate) fn forgetting(action: Action) -> Action {
    if action.is_replace() { Action::ForgetThenCreate } else { action }
}

/// The action of a replacement whose new object is created before the old one is destroyed. Any other action stays.
pub(crate) fn creating_first(action: Action) -> Action {
    if action.is_replace() { Action::CreateThenDelete } else { action }
}

/// Returns true if the action that the apply plans, once everything is known, completes the approved one.
pub(crate) fn completes(approved: Action, last: Action) -> bool {
    match (approved, last) {
        (approved, last) if approved == last => true,
        // The old object is destroyed, deposed or forgotten. An update may turn out to be unnecessary.
        (
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate,
            Action::Create,
        )
        | (Action::Update, Action::NoOp) => true,
        _ => false,
    }
}

/// The facts about a data source that determine when it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DataSource {
    /// True if its configuration is wholly known.
    pub(crate) is_known: bool,
    /// True if a dependency has a pending change that the data source must wait for.
    pub(crate) waits: bool,
    /// True if the data source belongs to a `check` block.
    pub(crate) is_nested: bool,
}

/// The reason why a data source is read in apply; `None` if only the plan reads it.
pub(crate) fn read_reason(data: DataSource) -> Option<Reason> {
    match data {
        DataSource { is_known: false, .. } => Some(Reason::ReadBecauseConfigUnknown),
        DataSource { waits: true, .. } => Some(Reason::ReadBecauseDependencyPending),
        DataSource { is_nested: true, .. } => Some(Reason::ReadBecauseCheckNested),
        DataSource { .. } => None,
    }
}

/// The reason for deleting an instance that the repetition of its resource no longer makes.
pub(crate) fn gone_reason(repeated: Repeated, key: &InstanceKey) -> Reason {
    match (repeated, key) {
        (Repeated::Count, InstanceKey::Int(_)) => Reason::DeleteBecauseCountIndex,
        (Repeated::ForEach, InstanceKey::String(_)) => Reason::DeleteBecauseEachKey,
        (Repeated::Enabled, InstanceKey::None) => Reason::DeleteBecauseEnabledFalse,
        _ => Reason::DeleteBecauseWrongRepetition,
    }
}

/// The result of an apply call, as far as it determines the status of the object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Applied {
    pub(crate) has_failed: bool,
    /// True if the call created the object.
    pub(crate) is_new: bool,
    /// True if provisioners run after the creation.
    pub(crate) has_provisioners: bool,
}

/// The status of an object after an apply call. `before` is its status in the state; `None` if there was no object.
pub(crate) fn status_after(applied: Applied, before: Option<Status>) -> Status {
    match applied {
        Applied { has_failed: true, is_new: true, .. } => Status::Tainted,
        Applied { has_failed: true, is_new: false, .. } => before.unwrap_or(Status::Ready),
        // Tainted until its provisioners have succeeded, because the run may end at any moment before.
        Applied { is_new: true, has_provisioners: true, .. } => Status::Tainted,
        Applied { .. } => Status::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGED: Planned =
        Planned { is_unchanged: false, forces_replacement: false, write_only_forces: false };

    #[track_caller]
    fn check(before: Before, planned: Planned, is_requested: bool, expected: Decision) {
        assert_eq!(decide(before, planned, is_requested), expected);
    }

    fn replace(reason: Reason) -> Decision {
        Decision { action: Action::DeleteThenCreate, reason: Some(reason) }
    }

    #[test]
    fn absent_object_is_created() {
        let forced = Planned { forces_replacement: true, write_only_forces: true, ..CHANGED };
        check(Before::Absent, CHANGED, false, Action::Create.into());
        check(Before::Absent, forced, true, Action::Create.into());
    }

    #[test]
    fn tainted_object_is_replaced_even_if_unchanged() {
        let unchanged = Planned { is_unchanged: true, ..CHANGED };
        check(Before::Tainted, unchanged, false, replace(Reason::ReplaceBecauseTainted));
        check(Before::Tainted, CHANGED, true, replace(Reason::ReplaceBecauseTainted));
    }

    #[test]
    fn replace_request_replaces_an_unchanged_object() {
        let unchanged = Planned { is_unchanged: true, ..CHANGED };
        check(Before::Ready, unchanged, true, replace(Reason::ReplaceByRequest));
    }

    #[test]
    fn attribute_forces_replacement_only_if_the_object_changes() {
        let forced = Planned { forces_replacement: true, ..CHANGED };
        let unchanged = Planned { is_unchanged: true, ..forced };
        check(Before::Ready, forced, false, replace(Reason::ReplaceBecauseCannotUpdate));
        check(Before::Ready, unchanged, false, Action::NoOp.into());
    }

    #[test]
    fn write_only_attribute_forces_replacement_of_an_equal_object() {
        let forced = Planned { is_unchanged: true, write_only_forces: true, ..CHANGED };
        check(Before::Ready, forced, false, replace(Reason::ReplaceBecauseCannotUpdate));
    }

    #[test]
    fn changed_object_is_updated_and_an_equal_one_kept() {
        let unchanged = Planned { is_unchanged: true, ..CHANGED };
        check(Before::Ready, CHANGED, false, Action::Update.into());
        check(Before::Ready, unchanged, false, Action::NoOp.into());
    }

    #[test]
    fn object_is_forgotten_if_a_block_or_the_state_keeps_it() {
        let reason = Some(Reason::DeleteBecauseNoResourceConfig);
        let decided = |keeping| decide_end(keeping, reason);
        let forget = |reason| Decision { action: Action::Forget, reason: Some(reason) };
        let delete = Decision { action: Action::Delete, reason };
        let by_state = Keeping { by_state: true, ..Keeping::default() };
        let by_block = Keeping { by_block: true, ..by_state };
        assert_eq!(decided(Keeping::default()), delete);
        assert_eq!(decided(by_block), forget(Reason::ForgotBecauseLifecycleDestroyInConfig));
        assert_eq!(decided(by_state), forget(Reason::ForgotBecauseLifecycleDestroyInState));
        assert_eq!(decided(Keeping { removed: Some(true), ..by_state }), delete);
        let removed = Keeping { removed: Some(false), ..Keeping::default() };
        assert_eq!(decided(removed), forget(Reason::DeleteBecauseNoResourceConfig));
    }

    #[test]
    fn forgetting_changes_only_replacements() {
        assert_eq!(forgetting(Action::DeleteThenCreate), Action::ForgetThenCreate);
        assert_eq!(forgetting(Action::Update), Action::Update);
        assert!(completes(Action::ForgetThenCreate, Action::Create));
    }

    #[test]
    fn creating_first_changes_only_replacements() {
        assert_eq!(creating_first(Action::DeleteThenCreate), Action::CreateThenDelete);
        assert_eq!(creating_first(Action::Create), Action::Create);
        assert!(completes(Action::CreateThenDelete, Action::Create));
    }

    #[test]
    fn final_plan_may_do_less_than_the_approved_plan() {
        assert!(completes(Action::DeleteThenCreate, Action::Create));
        assert!(completes(Action::Update, Action::NoOp));
        assert!(!completes(Action::NoOp, Action::Update));
        assert!(!completes(Action::Update, Action::DeleteThenCreate));
    }

    #[test]
    fn data_source_read_is_deferred_for_the_first_reason() {
        let data = DataSource { is_known: true, waits: false, is_nested: true };
        assert_eq!(read_reason(data), Some(Reason::ReadBecauseCheckNested));
        let data = DataSource { waits: true, ..data };
        assert_eq!(read_reason(data), Some(Reason::ReadBecauseDependencyPending));
        let data = DataSource { is_known: false, ..data };
        assert_eq!(read_reason(data), Some(Reason::ReadBecauseConfigUnknown));
        let data = DataSource { is_known: true, waits: false, is_nested: false };
        assert_eq!(read_reason(data), None);
    }

    #[test]
    fn failed_update_keeps_the_object_status() {
        let update = Applied { has_failed: true, is_new: false, has_provisioners: true };
        assert_eq!(status_after(update, Some(Status::Tainted)), Status::Tainted);
        assert_eq!(status_after(update, Some(Status::Ready)), Status::Ready);
    }

    #[test]
    fn new_object_is_tainted_until_its_provisioners_succeed() {
        let created = Applied { has_failed: false, is_new: true, has_provisioners: true };
        assert_eq!(status_after(created, None), Status::Tainted);
        let created = Applied { has_provisioners: false, ..created };
        assert_eq!(status_after(created, None), Status::Ready);
        let created = Applied { has_failed: true, ..created };
        assert_eq!(status_after(created, None), Status::Tainted);
    }
}
