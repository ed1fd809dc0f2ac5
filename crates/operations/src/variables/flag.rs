//! The flags that set root variables.

use std::path::PathBuf;

/// A `-var` or `-var-file` flag. In the order of the command line, a later one overrides an earlier one.
#[derive(Clone, PartialEq, Eq)]
pub enum VarFlag {
    /// `-var NAME=VALUE`
    Value(String),
    /// `-var-file FILE`
    File(PathBuf),
}
