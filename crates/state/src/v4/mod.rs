//! State files of format 4.
//!
//! ```text
//!   text ──read──► borrowed mirror of the file (attributes stay slices of the text) ──► State (attributes compact)
//!   State ──write──► one pass over sorted references; attributes are laid out anew, byte by byte
//! ```

mod paths;
mod read;
mod write;

use crate::error::{EncodeError, StateError};
use crate::resources::StateFile;

pub(crate) use read::read_resource;
pub(crate) use write::write_alone as write_resource;

impl StateFile {
    /// Reads a state file as OpenTofu and Terraform write it.
    ///
    /// # Errors
    /// Returns a [`StateError`] for the first error; an invalid file is refused as a whole.
    pub fn read(bytes: &[u8]) -> Result<Self, StateError> {
        read::read(bytes)
    }

    /// Writes the state file in OpenTofu's layout for local files: two spaces, sorted, an empty line at the end.
    ///
    /// # Errors
    /// Returns an [`EncodeError`] for values that must not or cannot be in a file.
    pub fn write(&self) -> Result<Vec<u8>, EncodeError> {
        write::write(self)
    }
}

#[cfg(test)]
mod tests;
