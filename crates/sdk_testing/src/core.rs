//! The operations that each core offers to a test.

use crate::outcome::Outcome;

/// A file of a configuration.
#[derive(Clone)]
pub(crate) struct File {
    /// The path, relative to the root module.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A core with a state that starts empty.
pub(crate) trait Core {
    /// The name in messages.
    fn name(&self) -> String;

    /// Plans.
    fn plan(&mut self, files: &[File]) -> Outcome;

    /// Plans and applies. The state changes.
    fn apply(&mut self, files: &[File]) -> Outcome;

    /// Imports an object into an empty state. The state of the core stays as it is.
    fn import(&mut self, files: &[File], address: &str, id: &str) -> Outcome;

    /// Destroys everything in the state.
    fn destroy(&mut self, files: &[File]) -> Outcome;
}
