//! Functions that were removed. A call fails with the current syntax to use instead.

use super::{
    call::FunctionError,
    signature::{Function, Parameter, Place, Returns},
};
use crate::{Type, Value};

const fn removed(
    name: &'static str,
    returns: fn(&[Value]) -> Result<Type, FunctionError>,
    doc: &'static str,
) -> Function {
    let gone = |_: &super::call::Call<'_>| Err(FunctionError::new("the function is gone"));
    Function::new(name, &[], Returns::From(returns), gone, doc)
        .variadic(Parameter::any("vals").nullable().lazy())
        .only_in(Place::Removed)
}

pub(super) const FUNCTIONS: &[Function] = &[
    removed("list", list, "Was removed; `tolist([...])` makes a list."),
    removed("map", map, "Was removed; `tomap({...})` makes a map."),
];

fn list(_: &[Value]) -> Result<Type, FunctionError> {
    Err(FunctionError::new(
        "the \"list\" function was deprecated in Terraform v0.12 and is no longer available; use tolist([ ... ]) \
         syntax to write a literal list",
    ))
}

fn map(_: &[Value]) -> Result<Type, FunctionError> {
    Err(FunctionError::new(
        "the \"map\" function was deprecated in Terraform v0.12 and is no longer available; use tomap({ ... }) \
         syntax to write a literal map",
    ))
}
