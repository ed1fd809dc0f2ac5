//! The operators of expressions: conversion of operands, unknown values, marks.
//!
//! Start reading at [`binary`], [`unary`], [`index`] and [`attribute`].

mod access;
mod binary;
mod ranges;
mod unary;

pub use access::{attribute, index};
pub use binary::{BinaryOp, binary};
pub use unary::{UnaryOp, unary};

/// The reason why an operation has no result. It never quotes a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{detail}")]
pub struct OpError {
    /// The kind of the error.
    pub kind: OpErrorKind,
    /// The diagnostic's detail.
    pub detail: String,
    /// The faulty operand: 0 is the left one, or the indexed value. `None` if no single operand is faulty.
    pub operand: Option<usize>,
}

/// The kind of an [`OpError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpErrorKind {
    /// A value has no attribute of this name.
    NoAttribute,
    /// A map has no element with this key.
    NoElement,
    /// A null has no attributes.
    AttributeOfNull,
    /// A null has no elements.
    IndexOfNull,
    /// A value has no element at this position, or no elements at all.
    Index,
    /// An operand has the wrong type.
    Operand,
    /// The operation has no result for these operands.
    Operation,
}

impl OpError {
    fn new(kind: OpErrorKind, detail: impl Into<String>) -> OpError {
        OpError { kind, detail: detail.into(), operand: None }
    }

    fn at(self, operand: usize) -> OpError {
        OpError { operand: Some(operand), ..self }
    }
}

const NULL_OPERAND: &str = "Error during operation: argument must not be null.";

#[cfg(test)]
mod tests;
