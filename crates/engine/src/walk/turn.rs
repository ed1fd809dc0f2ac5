//! The outcome of a turn that starts no task.

/// The outcome of the turn of a node that starts no task.
pub(crate) enum Turn {
    /// The node has its result. If `keeps` is true, its dependencies stay open as long as a dependent may read the
    /// result.
    Done { keeps: bool },
    /// The node failed, and the failure was reported.
    Failed,
    /// The node waits for further dependencies and then has another turn.
    Again,
}
