//! The function library: each function's signature, the rule by which its result is marked, and its body.
//!
//! Start at [`lookup`] and [`Function::call`]; `signature` holds the vocabulary, `call` the protocol that all functions
//! share (conversion of arguments, nulls, unknowns, marks), and the other modules one family each.
//!
//! `try`, `can` and `convert` are listed for their documentation only: they are forms of expressions, evaluated where
//! expressions are.

mod address;
mod assume;
mod base64_text;
mod call;
mod carrying;
mod charset;
mod choice;
mod cidr;
mod collection;
mod compress;
mod conversion;
mod crypto;
mod csv;
mod date;
mod encoding;
mod file;
mod format;
mod glob;
mod hash;
mod marking;
mod moment;
mod number;
mod pattern;
mod private_key;
mod re2;
mod removed;
mod sequence;
mod set;
mod signature;
mod string;
mod text;
mod verb;
mod yaml;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub use call::{FunctionEnv, FunctionError, RenderError};
pub use signature::{Function, Parameter, Place, Shape};

/// All functions of all families.
const FAMILIES: &[&[Function]] = &[
    assume::FUNCTIONS,
    carrying::FUNCTIONS,
    charset::FUNCTIONS,
    choice::FUNCTIONS,
    cidr::FUNCTIONS,
    collection::FUNCTIONS,
    compress::FUNCTIONS,
    conversion::FUNCTIONS,
    crypto::FUNCTIONS,
    csv::FUNCTIONS,
    date::FUNCTIONS,
    encoding::FUNCTIONS,
    file::FUNCTIONS,
    format::FUNCTIONS,
    hash::FUNCTIONS,
    marking::FUNCTIONS,
    number::FUNCTIONS,
    pattern::FUNCTIONS,
    removed::FUNCTIONS,
    sequence::FUNCTIONS,
    set::FUNCTIONS,
    string::FUNCTIONS,
    text::FUNCTIONS,
    yaml::FUNCTIONS,
];

/// Whether a text is a duration such as `1h30m`, as Go reads it.
pub fn is_duration(text: &str) -> bool {
    moment::duration(text).is_ok()
}

/// Every function, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().copied().flatten()
}

/// The function of a name. The prefix `core::` is allowed.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static Function> {
    static BY_NAME: LazyLock<FxHashMap<&str, &Function>> =
        LazyLock::new(|| all().map(|function| (function.name, function)).collect());
    BY_NAME.get(name.strip_prefix("core::").unwrap_or(name)).copied()
}

#[cfg(test)]
mod tests;
