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
#[error("{summary}: {detail}")]
pub struct OpError {
    /// The diagnostic's summary line.
    pub summary: &'static str,
    /// The diagnostic's detail.
    pub detail: String,
    /// The faulty operand: 0 is the left one, or the indexed value. `None` if no single operand is faulty.
    pub operand: Option<usize>,
}

impl OpError {
    fn new(summary: &'static str, detail: impl Into<String>) -> OpError {
        OpError { summary, detail: detail.into(), operand: None }
    }

    fn at(self, operand: usize) -> OpError {
        OpError { operand: Some(operand), ..self }
    }
}

const NULL_OPERAND: &str = "Error during operation: argument must not be null.";

#[cfg(test)]
mod tests;
