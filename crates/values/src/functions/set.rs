//! Functions on sets.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Type, Value, budget::NODE, convert, equality};

const FIRST: &[Parameter] = &[Parameter::new("first_set", Shape::Set)];
const OTHERS: Parameter = Parameter::new("other_sets", Shape::Set);

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("setunion", FIRST, Returns::From(common_set), union, "Joins sets.")
        .variadic(OTHERS),
    Function::new(
        "setintersection",
        FIRST,
        Returns::From(common_set),
        intersection,
        "Returns the intersection of sets.",
    )
    .variadic(OTHERS),
    Function::new(
        "setsubtract",
        &[Parameter::new("a", Shape::Set), Parameter::new("b", Shape::Set)],
        Returns::From(common_set),
        subtract,
        "Returns the elements of the first set that are not in the second.",
    ),
    Function::new(
        "setproduct",
        &[],
        Returns::From(product_type),
        product,
        "Lists all combinations of elements.",
    )
    .variadic(Parameter::any("sets")),
];

fn common_set(args: &[Value]) -> Result<Type, FunctionError> {
    // An open type does not contribute to the common type.
    let says = |ty: &Type| *ty != Type::Dynamic;
    let types = args.iter().filter_map(|arg| arg.ty().element().cloned()).filter(says);
    let types: Vec<Type> = types.collect();
    if types.is_empty() {
        return Ok(Shape::Set.ty());
    }
    let unified = convert::unify(&types);
    unified
        .map(Type::set)
        .ok_or_else(|| FunctionError::new("given sets must all have compatible element types"))
}

/// Returns the elements of each argument, converted to the element type of the result.
fn operands(call: &Call<'_>) -> Result<Vec<Vec<Value>>, FunctionError> {
    let sets = call.args.iter().enumerate().map(|(i, arg)| {
        let set =
            convert::convert(arg, &call.ty).map_err(|error| FunctionError::at(i, error.message))?;
        Ok(set.as_slice().unwrap_or(&[]).to_vec())
    });
    sets.collect()
}

fn set_of(call: &Call<'_>, items: Vec<Value>) -> Value {
    Value::set(call.ty.element().cloned().unwrap_or(Type::Dynamic), items)
}

fn has(items: &[Value], item: &Value) -> bool {
    items.iter().any(|it| equality::certainly_equal(it, item))
}

fn union(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(set_of(call, operands(call)?.concat()))
}

fn intersection(call: &Call<'_>) -> Result<Value, FunctionError> {
    let sets = operands(call)?;
    let kept =
        sets.first().into_iter().flatten().filter(|item| sets.iter().all(|set| has(set, item)));
    Ok(set_of(call, kept.cloned().collect()))
}

fn subtract(call: &Call<'_>) -> Result<Value, FunctionError> {
    let sets = operands(call)?;
    let kept = sets[0].iter().filter(|item| !has(&sets[1], item));
    Ok(set_of(call, kept.cloned().collect()))
}

/// Returns the element type of one factor; the elements of a tuple must have a common type.
fn factor_type(position: usize, value: &Value) -> Result<Type, FunctionError> {
    match value.ty() {
        Type::List(element) | Type::Set(element) => Ok(Type::clone(&element)),
        Type::Tuple(types) if types.is_empty() => Ok(Type::Dynamic),
        Type::Tuple(types) => convert::unify(&types)
            .ok_or_else(|| FunctionError::at(position, "all elements must be of the same type")),
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::at(position, "a set or a list is required")),
    }
}

fn product_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.len() < 2 {
        return Err(FunctionError::new("at least two arguments are required"));
    }
    let types: Result<Vec<Type>, FunctionError> =
        args.iter().enumerate().map(|(i, arg)| factor_type(i, arg)).collect();
    let tuple = Type::tuple(types?);
    if args.iter().any(|arg| arg.ty() == Type::Dynamic) {
        // The argument may turn out to be a set, which would make the result a set.
        return Ok(Type::Dynamic);
    }
    let is_set = args.iter().any(|arg| matches!(arg.ty(), Type::Set(_)));
    Ok(if is_set { Type::set(tuple) } else { Type::list(tuple) })
}

fn product(call: &Call<'_>) -> Result<Value, FunctionError> {
    let element = call.ty.element().cloned().unwrap_or(Type::Dynamic);
    let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
    for (i, arg) in call.args.iter().enumerate() {
        let ty =
            element.as_tuple().and_then(|types| types.get(i)).cloned().unwrap_or(Type::Dynamic);
        let items = arg.as_slice().unwrap_or(&[]).iter().map(|item| convert::convert(item, &ty));
        let items: Result<Vec<Value>, _> = items.collect();
        let items = items.map_err(|error| FunctionError::at(i, error.message))?;
        // Each combination is a tuple and its elements, and the shorter combinations still exist at the same time.
        let combination = (2 * i as u64 + 4) * NODE;
        let count = (combinations.len() as u64).saturating_mul(items.len() as u64);
        call.reserve(count.saturating_mul(combination))?;
        call.check_interrupt()?;
        combinations = extended(&combinations, &items);
    }
    let tuples: Vec<Value> = combinations.into_iter().map(Value::tuple).collect();
    Ok(match call.ty {
        Type::Set(_) => Value::set(element, tuples),
        _ => Value::list(element, tuples),
    })
}

fn extended(combinations: &[Vec<Value>], items: &[Value]) -> Vec<Vec<Value>> {
    let extend = |combination: &Vec<Value>, item: &Value| {
        let mut longer = combination.clone();
        longer.push(item.clone());
        longer
    };
    combinations
        .iter()
        .flat_map(|combination| items.iter().map(move |item| extend(combination, item)))
        .collect()
}
