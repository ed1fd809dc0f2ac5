//! Tests that the two evaluation domains agree: the abstract evaluator predicts every mark of the concrete
//! evaluator, and the concrete evaluator confirms everything that the abstract one is certain about.
//!
//! Start reading at [`table`]: one readable row for each mark rule. [`random`] evaluates generated expressions in
//! both domains; [`relation`] defines agreement, [`names`] the variables of the expressions, [`generate`] the
//! expressions. [`blocks`] tests the one rule that is not visible in expressions; [`bytes`] tests texts that the
//! generator cannot make.

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
