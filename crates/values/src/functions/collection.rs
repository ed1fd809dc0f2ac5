//! Functions that query a collection.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Needs, Parameter, Returns, Shape},
};
use unicode_segmentation::UnicodeSegmentation;

use crate::{Kind, Number, Refinements, Str, Type, Value, convert, equality, rules::RuleId};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "length",
        &[Parameter::any("value").lazy()],
        Returns::From(length_type),
        length,
        "Counts the elements of a collection or the characters of a string.",
    )
    .rule(RuleId::Length)
    .needs(Needs::Nothing),
    Function::new(
        "keys",
        &[Parameter::any("inputMap").lazy()],
        Returns::From(keys_type),
        keys,
        "Lists the keys of a map or the attribute names of an object, in order.",
    )
    .rule(RuleId::Keys)
    .needs(Needs::Outermost),
    Function::new(
        "contains",
        &[Parameter::any("list").shallow(), Parameter::any("value").lazy()],
        Returns::Fixed(Shape::Bool),
        contains,
        "Returns true if a list, tuple or set contains a value.",
    ),
    Function::new(
        "index",
        &[Parameter::any("list"), Parameter::any("value")],
        Returns::Fixed(Shape::Number),
        index,
        "Finds the index of the first element that equals a value.",
    ),
    Function::new(
        "alltrue",
        &[Parameter::new("list", Shape::ListOfBool).shallow()],
        Returns::Fixed(Shape::Bool),
        all_true,
        "Returns true if all elements of a list are true.",
    ),
    Function::new(
        "anytrue",
        &[Parameter::new("list", Shape::ListOfBool).shallow()],
        Returns::Fixed(Shape::Bool),
        any_true,
        "Returns true if any element of a list is true.",
    ),
    Function::new(
        "one",
        &[Parameter::any("list").lazy()],
        Returns::From(one_type),
        one,
        "Returns the only element of a collection, or null if the collection is empty.",
    )
    .nullable()
    .needs(Needs::Nothing),
    Function::new(
        "sum",
        &[Parameter::any("list")],
        Returns::Fixed(Shape::Number),
        sum,
        "Returns the sum of numbers.",
    ),
    Function::new(
        "transpose",
        &[Parameter::new("values", Shape::MapOfListsOfString)],
        Returns::Fixed(Shape::MapOfListsOfString),
        transpose,
        "Swaps the keys and values of a map of lists of strings.",
    ),
    Function::new(
        "matchkeys",
        &[
            Parameter::new("values", Shape::List),
            Parameter::new("keys", Shape::List),
            Parameter::new("searchset", Shape::List),
        ],
        Returns::From(matched_type),
        match_keys,
        "Lists the values whose keys occur in another list.",
    ),
];

fn length_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Bool | Type::Number => Err(FunctionError::new(
            "argument must be a string, a collection type, or a structural type",
        )),
        _ => Ok(Type::Number),
    }
}

/// Returns the number of characters as users see them.
fn characters(text: &str) -> usize {
    // In ASCII, only a carriage return and a newline are one character together.
    match text.is_ascii() && !text.contains('\r') {
        true => text.len(),
        false => text.graphemes(true).count(),
    }
}

fn length(call: &Call<'_>) -> Result<Value, FunctionError> {
    let value = &call.args[0];
    let exact = |length: usize| Value::number(Number::from(length));
    if let Kind::String(text) = value.kind() {
        return Ok(exact(characters(text)));
    }
    let range = match (value.ty(), value.kind()) {
        (Type::Tuple(types), _) => return Ok(exact(types.len())),
        (Type::Object(object), _) => return Ok(exact(object.len())),
        (Type::String, Kind::Unknown(known)) => {
            // A safe prefix keeps its characters whatever text follows.
            Refinements::NONE.with_min_length(characters(known.prefix()) as u64)
        }
        _ => value.range(),
    };
    let mut known = Refinements::non_null().with_lower(Number::from(range.min_length()), true);
    if let Some(most) = range.max_length() {
        known = known.with_upper(Number::from(most), true);
    }
    Ok(Value::unknown_with(Type::Number, known))
}

fn keys_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Map(_) => Ok(Type::list(Type::String)),
        Type::Object(object) => Ok(Type::tuple(object.iter().map(|_| Type::String))),
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::at(0, "must have map or object type")),
    }
}

fn keys(call: &Call<'_>) -> Result<Value, FunctionError> {
    let names =
        |names: Vec<&Str>| names.into_iter().map(|name| Value::string(name.clone())).collect();
    match (call.args[0].ty(), call.args[0].kind()) {
        (Type::Object(object), _) => {
            Ok(Value::tuple(names(object.iter().map(|(name, _)| name).collect())))
        }
        (_, Kind::Map(entries)) => Ok(Value::list(Type::String, names(entries.keys().collect()))),
        (_, Kind::Unknown(known)) => Ok(call.unknown().refined(known)),
        _ => Ok(call.unknown()),
    }
}

fn contains(call: &Call<'_>) -> Result<Value, FunctionError> {
    if !call.args[1].is_known() {
        // Also for an empty list: OpenTofu checks for unknown arguments first.
        return Ok(call.unknown());
    }
    let mut undecided = false;
    let items = call.args[0].as_slice();
    let items = items.ok_or_else(|| FunctionError::new("argument must be list, tuple, or set"))?;
    for item in items {
        match equality::compare(item, &call.args[1]) {
            Some(true) => return Ok(Value::bool(true)),
            Some(false) => {}
            None => undecided = true,
        }
    }
    Ok(if undecided { call.unknown() } else { Value::bool(false) })
}

fn index(call: &Call<'_>) -> Result<Value, FunctionError> {
    let items = match call.args[0].kind() {
        Kind::List(items) | Kind::Tuple(items) => items,
        _ => return Err(FunctionError::new("argument must be a list or tuple")),
    };
    if items.is_empty() {
        return Err(FunctionError::new("cannot search an empty list"));
    }
    let found = items.iter().position(|item| equality::certainly_equal(item, &call.args[1]));
    found
        .map(|i| Value::number(Number::from(i)))
        .ok_or_else(|| FunctionError::new("item not found"))
}

fn all_true(call: &Call<'_>) -> Result<Value, FunctionError> {
    quantified(call, false)
}

fn any_true(call: &Call<'_>) -> Result<Value, FunctionError> {
    quantified(call, true)
}

/// Returns `deciding` if one element equals it, since that element decides the result; null counts as false.
fn quantified(call: &Call<'_>, deciding: bool) -> Result<Value, FunctionError> {
    let mut undecided = false;
    for item in call.items(0) {
        match item.kind() {
            Kind::Unknown(_) => undecided = true,
            _ if item.as_bool().unwrap_or(false) == deciding => return Ok(Value::bool(deciding)),
            _ => {}
        }
    }
    Ok(if undecided { call.unknown() } else { Value::bool(!deciding) })
}

const NOT_ONE: &str = "must be a list, set, or tuple value with either zero or one elements";

fn one_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::List(element) | Type::Set(element) => Ok(Type::clone(&element)),
        Type::Tuple(types) if types.len() < 2 => {
            Ok(types.first().cloned().unwrap_or(Type::Dynamic))
        }
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::at(0, NOT_ONE)),
    }
}

fn one(call: &Call<'_>) -> Result<Value, FunctionError> {
    let value = &call.args[0];
    let Some(items) = value.as_slice() else {
        let least = value.range().min_length();
        return if least > 1 { Err(FunctionError::at(0, NOT_ONE)) } else { Ok(call.unknown()) };
    };
    // Unknown elements of a set may turn out to be equal.
    let may_merge = matches!(value.kind(), Kind::Set(_)) && !value.is_wholly_known();
    match items {
        [] => Ok(Value::null(call.ty.clone())),
        [only] => Ok(only.clone()),
        _ if may_merge => Ok(call.unknown()),
        _ => Err(FunctionError::at(0, NOT_ONE)),
    }
}

fn sum(call: &Call<'_>) -> Result<Value, FunctionError> {
    const WRONG: &str = "argument must be list, set, or tuple of number values";
    let items = call.args[0].as_slice();
    let items =
        items.ok_or_else(|| FunctionError::at(0, format!("cannot sum noniterable; {WRONG}")))?;
    if items.is_empty() {
        return Err(FunctionError::at(0, "cannot sum an empty list"));
    }
    // Keep the numbers at machine precision: the sum has the precision of its operands.
    let mut total: Option<Number> = None;
    for item in items {
        let item =
            convert::convert(item, &Type::Number).map_err(|_| FunctionError::at(0, WRONG))?;
        let number = item.as_number().ok_or_else(|| FunctionError::at(0, WRONG))?;
        total = Some(match total {
            None => number.clone(),
            Some(total) => total
                .add(number)
                .ok_or_else(|| FunctionError::at(0, "can't compute sum of opposing infinities"))?,
        });
    }
    Ok(Value::number(total.unwrap_or_else(Number::zero)))
}

fn transpose(call: &Call<'_>) -> Result<Value, FunctionError> {
    let mut swapped: std::collections::BTreeMap<Str, Vec<Value>> = Default::default();
    for (key, list) in call.args[0].as_map().into_iter().flatten() {
        if list.is_null() {
            return Err(FunctionError::new("input must not contain null list"));
        }
        for item in list.as_slice().into_iter().flatten() {
            let Kind::String(name) = item.kind() else {
                return Err(FunctionError::at(0, "input must not contain null list elements"));
            };
            swapped.entry(Str::from(name.clone())).or_default().push(Value::string(key.clone()));
        }
    }
    let swapped =
        swapped.into_iter().map(|(name, keys)| (name, Value::list(Type::String, keys))).collect();
    Ok(Value::map(Type::list(Type::String), swapped))
}

fn matched_type(args: &[Value]) -> Result<Type, FunctionError> {
    let (keys, searched) = (args[1].ty(), args[2].ty());
    let is_open = keys.has_dynamic() || searched.has_dynamic();
    if !is_open && convert::unify(&[keys, searched]).is_none() {
        return Err(FunctionError::new("keys and searchset must be of the same type"));
    }
    Ok(args[0].ty())
}

fn match_keys(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (values, keys, searched) = (call.items(0), call.items(1), call.items(2));
    if values.len() != keys.len() {
        return Err(FunctionError::new("length of keys and values should be equal"));
    }
    let wanted = |key: &Value| searched.iter().any(|it| equality::certainly_equal(it, key));
    let found = values
        .iter()
        .zip(keys)
        .filter(|(_, key)| wanted(key))
        .map(|(value, _)| value.clone())
        .collect();
    let element = call.ty.element().cloned().unwrap_or(Type::Dynamic);
    Ok(Value::list(element, found))
}
