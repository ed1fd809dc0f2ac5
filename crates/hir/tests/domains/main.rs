//! The two evaluation domains agree: what the concrete evaluator marks at run, the abstract one said before, and what
//! the abstract one is sure of, the concrete one does.
//!
//! Start at [`table`]: one readable row for each rule. [`random`] throws generated expressions at both domains;
//! [`relation`] says what agreement is, [`names`] what the expressions can refer to, [`generate`] how they are made. [`blocks`]
//! has the one rule that no expression shows; [`bytes`] takes texts that no generator made.

mod blocks;
mod bytes;
mod conditions;
mod forms;
mod generate;
mod names;
mod random;
mod relation;
mod rng;
mod size;
mod specification;
mod table;
