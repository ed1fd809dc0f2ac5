//! Incremental.
