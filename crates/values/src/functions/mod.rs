//! The function library. Each function has a signature, a rule for the marks of its result, and a body.
//!
//! Start reading at [`lookup`] and [`Function::call`]. `signature` defines the types of signatures, `call` the
//! steps that all functions share (conversion of arguments, nulls, unknown values, marks), and each other module a
//! family of functions.
//!
//! `try`, `can` and `convert` are listed only for their documentation: they are forms of expressions, which the
//! expression evaluator handles.

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
mod number;
mod pattern;
mod private_key;
mod re2;
mod removed;
mod rfc3339;
mod sequence;
mod set;
mod signature;
mod string;
mod text;
mod verb;
mod yaml;

use std::{sync::LazyLock, time::Duration};

use rustc_hash::FxHashMap;

pub use call::{FunctionEnv, FunctionError, RenderError};
pub use signature::{Function, Parameter, Place, Shape};

/// The functions, by family.
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

/// Parses a duration as Go does, such as `1h30m`. A negative one is zero. `None` if the text is not a duration.
pub fn duration(text: &str) -> Option<Duration> {
    let nanoseconds = rfc3339::duration(text).ok()?;
    Some(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default()))
}

/// Returns every function, family by family.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().copied().flatten()
}

/// Returns the function with a name. The prefix `core::` is allowed. `None` if there is no such function.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static Function> {
    static BY_NAME: LazyLock<FxHashMap<&str, &Function>> =
        LazyLock::new(|| all().map(|function| (function.name, function)).collect());
    BY_NAME.get(name.strip_prefix("core::").unwrap_or(name)).copied()
}

#[cfg(test)]
mod tests;
