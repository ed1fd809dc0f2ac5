//! JSON documents: conversion to and from values, selection, edits, and the set operations of `ephemeral_body`.
//!
//! Start reading at [`convert`], which connects values and JSON texts, then [`tree`], the document that the
//! operations change, and [`select`], which finds parts of an answer. [`overlap`], [`patch`] and [`applied`] together
//! are the rules of `ephemeral_body`; [`attributes`] filters `output`, and [`edit`] applies `update_body_patches`.
//!
//! ```text
//!   value ◄── convert ──► JSON text ──► select ──► part of an answer, as text
//!                            │
//!                            ▼
//!                          tree ──► edit, attributes, overlap, patch ──► JSON text
//! ```
//!
//! **Invariant:** a document that the functions write is compact, its keys are sorted and unique, its strings have
//! Go's escapes, and numbers have Go's notation unless that would change them. So equal documents have equal texts.
//! **Invariant:** documents have no `Debug`, and no error quotes a value or a key of a document, since answers may be
//! secret. An error quotes only paths, which come from the configuration.
//! **Invariant:** the depth of a document is bounded by the reader, so every recursion over one is bounded; steps that
//! a path adds are bounded by [`tree::MAX_STEPS`].

pub mod applied;
pub mod attributes;
pub mod convert;
pub mod edit;
pub(super) mod number;
pub mod overlap;
pub mod patch;
pub mod select;
mod span;
pub mod tree;
