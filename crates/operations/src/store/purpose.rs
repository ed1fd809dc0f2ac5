//! The purpose for which a state is opened: its names in locks, journals and messages.

/// The purpose for which a state is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Planning.
    Plan,
    /// Evaluating expressions in the console.
    Console,
    /// Applying changes.
    Apply,
    /// Destroying all objects.
    Destroy,
    /// Keeping the state of a test.
    Test,
    /// Updating the state to match the objects.
    Refresh,
    /// Importing an object.
    Import,
    /// Recording the outcome of a creation that was never confirmed.
    Adopt,
    /// Marking an object as tainted.
    Taint,
    /// Removing the mark from a tainted object.
    Untaint,
    /// Moving objects to other addresses.
    Move,
    /// Removing objects from the state.
    Remove,
    /// Replacing the whole state.
    Push,
    /// Replacing the provider of resources.
    ReplaceProvider,
    /// Creating a workspace.
    NewWorkspace,
    /// Deleting a workspace.
    DeleteWorkspace,
}

impl Purpose {
    /// The name of the operation in locks and journals.
    pub(super) fn operation(self) -> &'static str {
        match self {
            Purpose::Plan => "OperationTypePlan",
            Purpose::Console => "console",
            Purpose::Apply | Purpose::Destroy => "OperationTypeApply",
            Purpose::Test => "test",
            Purpose::Refresh => "OperationTypeRefresh",
            Purpose::Import => "import",
            Purpose::Adopt => "state-adopt",
            Purpose::Taint => "taint",
            Purpose::Untaint => "untaint",
            Purpose::Move => "state-mv",
            Purpose::Remove => "state-rm",
            Purpose::Push => "state-push",
            Purpose::ReplaceProvider => "state-replace-provider",
            Purpose::NewWorkspace => "workspace-new",
            Purpose::DeleteWorkspace => "workspace-delete",
        }
    }

    /// Returns true if the operation writes a new state.
    pub(super) fn writes(self) -> bool {
        !matches!(self, Purpose::Plan | Purpose::Console)
    }

    /// Returns true if the operation changes the state without a call of a provider.
    pub(super) fn edits(self) -> bool {
        self.writes()
            && !matches!(
                self,
                Purpose::Apply
                    | Purpose::Destroy
                    | Purpose::Test
                    | Purpose::Import
                    | Purpose::Adopt
            )
    }

    pub(super) fn command(self) -> &'static str {
        match self {
            Purpose::Plan => "mayfly plan",
            Purpose::Console => "mayfly console",
            Purpose::Apply => "mayfly apply",
            Purpose::Destroy => "mayfly destroy",
            Purpose::Test => "mayfly test",
            Purpose::Refresh => "mayfly refresh",
            Purpose::Import => "mayfly import",
            Purpose::Adopt => "mayfly state adopt",
            Purpose::Taint => "mayfly taint",
            Purpose::Untaint => "mayfly untaint",
            Purpose::Move => "mayfly state mv",
            Purpose::Remove => "mayfly state rm",
            Purpose::Push => "mayfly state push",
            Purpose::ReplaceProvider => "mayfly state replace-provider",
            Purpose::NewWorkspace => "mayfly workspace new",
            Purpose::DeleteWorkspace => "mayfly workspace delete",
        }
    }
}
