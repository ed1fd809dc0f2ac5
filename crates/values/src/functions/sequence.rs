//! Functions that create lists.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Number, Type, Value, equality};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "range",
        &[],
        Returns::Fixed(Shape::ListOfNumber),
        range,
        "Lists the numbers from a start up to, but not including, an end.",
    )
    .variadic(Parameter::number("params")),
    Function::new(
        "distinct",
        &[Parameter::new("list", Shape::List)],
        Returns::From(|args| Ok(args[0].ty())),
        distinct,
        "Removes later duplicates from a list.",
    ),
    Function::new(
        "compact",
        &[Parameter::new("list", Shape::ListOfString)],
        Returns::Fixed(Shape::ListOfString),
        compact,
        "Removes null and empty strings from a list.",
    ),
    Function::new(
        "sort",
        &[Parameter::new("list", Shape::ListOfString)],
        Returns::Fixed(Shape::ListOfString),
        sort,
        "Sorts strings by their bytes.",
    ),
];

/// The maximum number of elements; a larger count is a mistake in the configuration.
const MOST: usize = 1024;

fn range(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (zero, one) = (Number::zero(), Number::from(1_i64));
    let (start, end, step) = match call.args.len() {
        1 => (zero.clone(), call.number(0)?.clone(), None),
        2 => (call.number(0)?.clone(), call.number(1)?.clone(), None),
        3 => (call.number(0)?.clone(), call.number(1)?.clone(), Some(call.number(2)?.clone())),
        _ => return Err(FunctionError::new("must have one, two, or three arguments")),
    };
    let down = end.compare(&start).is_lt();
    let step = step.unwrap_or_else(|| if down { one.negated() } else { one });
    if down && step.signum() >= 0 {
        return Err(FunctionError::at(2, "end must be greater than start when step is positive"));
    }
    if !down && step.signum() < 0 && end != start {
        return Err(FunctionError::at(2, "end must be less than start when step is negative"));
    }
    let mut numbers = Vec::new();
    let mut next = start;
    while (down && next.compare(&end).is_gt()) || (!down && next.compare(&end).is_lt()) {
        if numbers.len() >= MOST {
            let message = format!(
                "more than {MOST} values were generated; either decrease the difference between start and end or use \
                 a smaller step"
            );
            return Err(FunctionError::new(message));
        }
        numbers.push(Value::number(next.clone()));
        next = next.add(&step).ok_or_else(|| FunctionError::new("the step is infinite"))?;
    }
    Ok(Value::list(Type::Number, numbers))
}

fn distinct(call: &Call<'_>) -> Result<Value, FunctionError> {
    let mut kept: Vec<Value> = Vec::new();
    let mut hashes: std::collections::BTreeMap<String, Vec<usize>> = Default::default();
    for item in call.items(0) {
        let bucket = hashes.entry(crate::set_order::hash_text(item)).or_default();
        if !bucket.iter().any(|&i| equality::certainly_equal(&kept[i], item)) {
            bucket.push(kept.len());
            kept.push(item.clone());
        }
    }
    Ok(Value::list(element_type(&call.ty), kept))
}

fn element_type(list: &Type) -> Type {
    list.element().cloned().unwrap_or(Type::Dynamic)
}

fn compact(call: &Call<'_>) -> Result<Value, FunctionError> {
    let kept =
        call.items(0).iter().filter(|item| item.as_str().is_some_and(|text| !text.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

fn sort(call: &Call<'_>) -> Result<Value, FunctionError> {
    if let Some(i) = call.items(0).iter().position(Value::is_null) {
        return Err(FunctionError::at(
            0,
            format!("given list element {i} is null; a null string cannot be sorted"),
        ));
    }
    let mut items = call.items(0).to_vec();
    sorted::sort_by(&mut items, |a, b| a.as_str().cmp(&b.as_str()));
    Ok(Value::list(Type::String, items))
}
