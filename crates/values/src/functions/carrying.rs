//! Functions that carry over elements of their arguments. The elements keep their own marks.

use std::collections::BTreeMap;

use super::{
    call::{Call, FunctionError, NOT_WHOLE},
    signature::{Function, Needs, Parameter, Returns},
};
use crate::{
    Kind, Marks, Number, Refinements, Str, Type, Value, ValueMap, convert,
    rules::{self, RuleId},
};

const fn carrying(
    name: &'static str,
    params: &'static [Parameter],
    returns: fn(&[Value]) -> Result<Type, FunctionError>,
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::From(returns), body, doc)
        .rule(RuleId::CarryingFunction)
        .needs(Needs::Outermost)
}

pub(super) const FUNCTIONS: &[Function] = &[
    carrying("concat", &[], concat_type, concat, "Joins lists or tuples one after the other.")
        .variadic(Parameter::any("seqs").lazy()),
    carrying(
        "merge",
        &[],
        merge_type,
        merge,
        "Merges maps or objects; the last entry with a key wins.",
    )
    .variadic(Parameter::any("maps").nullable().lazy())
    .nullable(),
    carrying(
        "lookup",
        &[Parameter::any("inputMap").lazy(), Parameter::string("key").lazy()],
        lookup_type,
        lookup,
        "Returns the element of a map with a key, or a default.",
    )
    .variadic(Parameter::any("default").nullable().lazy().carried())
    .nullable()
    .needs(Needs::Nothing),
    carrying(
        "element",
        &[Parameter::any("list").lazy(), Parameter::number("index").lazy()],
        element_type,
        element,
        "Returns one element of a list; the index wraps around.",
    )
    .nullable()
    .needs(Needs::Nothing),
    carrying(
        "values",
        &[Parameter::any("mapping").lazy()],
        values_type,
        values,
        "Lists the elements of a map by key.",
    ),
    carrying(
        "zipmap",
        &[
            Parameter::new("keys", super::Shape::ListOfString).lazy(),
            Parameter::any("values").lazy(),
        ],
        zipmap_type,
        zipmap,
        "Makes a map from a list of keys and a list of values.",
    ),
    carrying(
        "flatten",
        &[Parameter::any("list").lazy()],
        flatten_type,
        flatten,
        "Replaces the lists inside a list by their elements.",
    )
    .needs(Needs::Walked),
    carrying(
        "reverse",
        &[Parameter::any("list").lazy()],
        reverse_type,
        reverse,
        "Reverses a list.",
    ),
    carrying(
        "slice",
        &[
            Parameter::any("list").lazy(),
            Parameter::number("start_index").lazy(),
            Parameter::number("end_index").lazy(),
        ],
        slice_type,
        slice,
        "Returns the elements from one index up to, but not including, another.",
    ),
    carrying(
        "chunklist",
        &[Parameter::new("list", super::Shape::List).lazy(), Parameter::number("size").lazy()],
        chunk_type,
        chunklist,
        "Splits a list into lists of a given length.",
    ),
];

fn concat_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    let wrong = |ty: &Type| !matches!(ty, Type::List(_) | Type::Tuple(_) | Type::Dynamic);
    if let Some(i) = types.iter().position(wrong) {
        let got = types[i].friendly_name();
        return Err(FunctionError::at(
            i,
            format!("all arguments must be lists or tuples; got {got}"),
        ));
    }
    if types.contains(&Type::Dynamic) {
        return Ok(Type::Dynamic);
    }
    if types.iter().all(|ty| matches!(ty, Type::List(_))) {
        let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
        let unified = convert::unify(&elements);
        return unified
            .map(Type::list)
            .ok_or_else(|| FunctionError::new("all lists must have the same element type"));
    }
    let mut elements = Vec::new();
    for (arg, ty) in args.iter().zip(&types) {
        match (ty, arg.stored_length()) {
            (Type::Tuple(types), _) => elements.extend(types.iter().cloned()),
            (Type::List(element), Some(length)) => {
                elements.extend(vec![Type::clone(element); length])
            }
            _ => return Ok(Type::Dynamic),
        }
    }
    Ok(Type::tuple(elements))
}

fn concat(call: &Call<'_>) -> Result<Value, FunctionError> {
    if call.args.iter().any(|arg| !arg.is_known()) {
        return Ok(call.unknown());
    }
    let items = call.args.iter().filter_map(Value::as_slice).flatten();
    match &call.ty {
        Type::List(element) => {
            let items: Result<Vec<Value>, _> =
                items.map(|item| convert::convert(item, element)).collect();
            let items = items.map_err(|error| FunctionError::new(error.message))?;
            Ok(Value::list(Type::clone(element), items))
        }
        _ => Ok(Value::tuple(items.cloned().collect())),
    }
}

fn merge_type(args: &[Value]) -> Result<Type, FunctionError> {
    let mut types = Vec::new();
    for arg in args {
        let ty = arg.ty();
        match (&ty, arg.is_null()) {
            (Type::Dynamic, true) => {}
            (Type::Dynamic, false) => return Ok(Type::Dynamic),
            (Type::Map(_) | Type::Object(_), _) => types.push((ty, arg)),
            _ => {
                let message =
                    format!("arguments must be maps or objects, got {:?}", ty.friendly_name());
                return Err(FunctionError::new(message));
            }
        }
    }
    let Some((first, _)) = types.first() else {
        return Ok(Type::object::<&str>([]));
    };
    // A null without a type is not a map, so the result is an object, as in OpenTofu.
    let is_typed = types.len() == args.len();
    if matches!(first, Type::Map(_)) && is_typed && types.iter().all(|(ty, _)| ty == first) {
        return Ok(first.clone());
    }
    let mut attributes: BTreeMap<Str, Type> = BTreeMap::new();
    for (ty, arg) in &types {
        match (ty, arg.kind()) {
            (_, Kind::Null) => {}
            (Type::Object(object), _) => {
                attributes.extend(object.iter().map(|(name, ty)| (name.clone(), ty.clone())));
            }
            (_, Kind::Map(entries)) => {
                attributes.extend(entries.iter().map(|(key, value)| (key.clone(), value.ty())))
            }
            _ => return Ok(Type::Dynamic),
        }
    }
    Ok(Type::object(attributes))
}

fn merge(call: &Call<'_>) -> Result<Value, FunctionError> {
    if call.args.iter().any(|arg| !arg.is_known()) {
        return Ok(call.unknown());
    }
    if !call.args.is_empty()
        && call.args.iter().all(Value::is_null)
        && !matches!(call.ty, Type::Object(_))
    {
        return Ok(Value::null(call.ty.clone()));
    }
    let entries = call.args.iter().filter_map(Value::as_map).flatten();
    let entries: ValueMap = entries.map(|(key, value)| (key.clone(), value.clone())).collect();
    match &call.ty {
        Type::Map(element) => Ok(Value::map(Type::clone(element), entries)),
        _ => Ok(Value::object(entries)),
    }
}

fn lookup_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.len() > 3 {
        return Err(FunctionError::at(3, "lookup() takes two or three arguments"));
    }
    match args[0].ty() {
        Type::Object(object) => match args[1].as_str() {
            None => Ok(Type::Dynamic),
            Some(name) => match (object.get(name), args.get(2)) {
                (Some(ty), _) => Ok(ty.clone()),
                (None, Some(default)) => Ok(default.ty()),
                (None, None) => {
                    Err(FunctionError::at(0, "the given object has no attribute of that name"))
                }
            },
        },
        Type::Map(element) => {
            let Some(default) = args.get(2) else { return Ok(Type::clone(&element)) };
            let unified = convert::unify(&[Type::clone(&element), default.ty()]);
            let fits = unified.filter(|ty| convert::can_convert(&default.ty(), ty));
            fits.ok_or_else(|| {
                FunctionError::at(
                    2,
                    "the default value must have the same type as the map elements",
                )
            })
        }
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::at(0, "lookup() requires a map as the first argument")),
    }
}

fn lookup(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (collection, key) = (&call.args[0], &call.args[1]);
    let (Some(entries), Some(name)) = (collection.as_map(), key.as_str()) else {
        return Ok(call.unknown());
    };
    let found = match (entries.get(name), call.args.get(2)) {
        (Some(found), _) => found,
        (None, Some(default)) => default,
        (None, None) => {
            let message = format!("lookup failed to find key {}", call.quoted(name));
            return Err(FunctionError::new(message));
        }
    };
    convert::convert(found, &call.ty).map_err(|error| FunctionError::new(error.message))
}

fn prefixed(what: &str, error: &FunctionError) -> FunctionError {
    FunctionError::new(format!("{what}: {}", error.message))
}

/// Returns the position for an index that wraps around; negative indices count from the end.
fn wrapped(index: &Value, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok().filter(|length| *length > 0)?;
    usize::try_from(index.as_number()?.to_i64()?.rem_euclid(length)).ok()
}

fn element_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::List(element) => Ok(Type::clone(&element)),
        Type::Tuple(types) if types.is_empty() => {
            Err(FunctionError::new("cannot use element function with an empty list"))
        }
        Type::Tuple(types) if !args[1].is_known() => {
            let same = types.iter().all(|ty| *ty == types[0]);
            Ok(if same { types[0].clone() } else { Type::Dynamic })
        }
        Type::Tuple(types) => match wrapped(&args[1], types.len()) {
            Some(i) => Ok(types[i].clone()),
            None => Err(FunctionError::new(format!("invalid index: {NOT_WHOLE}"))),
        },
        Type::Dynamic => Ok(Type::Dynamic),
        ty => Err(FunctionError::new(format!("cannot read elements from {}", ty.friendly_name()))),
    }
}

fn element(call: &Call<'_>) -> Result<Value, FunctionError> {
    let Some(items) = call.args[0].as_slice() else {
        return Ok(call.unknown());
    };
    if items.is_empty() {
        return Err(FunctionError::new("cannot use element function with an empty list"));
    }
    if !call.args[1].is_known() {
        return Ok(call.unknown());
    }
    call.integer(1).map_err(|error| prefixed("invalid index", &error))?;
    Ok(wrapped(&call.args[1], items.len()).map_or_else(|| call.unknown(), |i| items[i].clone()))
}

fn values_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Map(element) => Ok(Type::List(element)),
        Type::Object(object) => Ok(Type::tuple(object.iter().map(|(_, ty)| ty.clone()))),
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::new("values() requires a map as the first argument")),
    }
}

fn values(call: &Call<'_>) -> Result<Value, FunctionError> {
    match (call.args[0].kind(), &call.ty) {
        (Kind::Map(entries), Type::List(element)) => {
            Ok(Value::list(Type::clone(element), entries.values().cloned().collect()))
        }
        (Kind::Object(attributes), _) => Ok(Value::tuple(attributes.values().cloned().collect())),
        (Kind::Unknown(known), _) => Ok(call.unknown().refined(known)),
        _ => Ok(call.unknown()),
    }
}

fn zipmap_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[1].ty() {
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(types) => {
            let Some(keys) = args[0].as_slice().filter(|_| args[0].is_wholly_known()) else {
                return Ok(Type::Dynamic);
            };
            check_pairs(keys.len(), types.len())?;
            let names = keys.iter().map(|key| key.as_str().unwrap_or_default());
            Ok(Type::object(names.zip(types.iter().cloned())))
        }
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::new("values argument must be a list or tuple value")),
    }
}

fn check_pairs(keys: usize, values: usize) -> Result<(), FunctionError> {
    if keys == values {
        return Ok(());
    }
    Err(FunctionError::new(format!(
        "number of keys ({keys}) does not match number of values ({values})"
    )))
}

fn zipmap(call: &Call<'_>) -> Result<Value, FunctionError> {
    let marks = rules::result_marks(RuleId::ZipmapKeys, [&call.args[0]]);
    let (Some(keys), Some(values)) = (call.args[0].as_slice(), call.args[1].as_slice()) else {
        return Ok(call.unknown());
    };
    check_pairs(keys.len(), values.len())?;
    if keys.iter().any(|key| !key.is_known()) {
        return Ok(call.unknown());
    }
    let entries = keys.iter().zip(values).map(|(key, value)| match key.kind() {
        Kind::String(key) => Ok((Str::from(key.clone()), value.clone())),
        _ => Err(FunctionError::at(0, "keys must not be null")),
    });
    let entries = entries.collect::<Result<ValueMap, FunctionError>>()?;
    let zipped = match &call.ty {
        Type::Map(element) => Value::map(Type::clone(element), entries),
        _ => Value::object(entries),
    };
    Ok(zipped.with_marks(&marks))
}

fn is_sequence(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
}

fn flatten_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Dynamic => Ok(Type::Dynamic),
        ty if is_sequence(&ty) => {
            let mut flat = Flat::default();
            flat.add(&args[0]);
            Ok(if flat.complete { Value::tuple(flat.items).ty() } else { Type::Dynamic })
        }
        _ => Err(FunctionError::new("can only flatten lists, sets and tuples")),
    }
}

/// The flattened elements of nested sequences.
struct Flat {
    items: Vec<Value>,
    /// The marks of the sequences that were flattened.
    marks: Marks,
    /// True if the lengths of all sequences are known.
    complete: bool,
}

impl Default for Flat {
    fn default() -> Flat {
        Flat { items: Vec::new(), marks: Marks::NONE, complete: true }
    }
}

impl Flat {
    fn add(&mut self, value: &Value) {
        let may_nest = is_sequence(&value.ty()) || value.ty() == Type::Dynamic;
        let uncertain_set = matches!(value.kind(), Kind::Set(_)) && !value.is_wholly_known();
        match value.as_slice() {
            Some(items) => {
                self.marks.add(value.marks());
                self.complete &= !(uncertain_set && items.len() > 1);
                for item in items {
                    self.add(item);
                }
            }
            None => {
                self.complete &= value.is_known() || !may_nest;
                self.items.push(value.clone());
            }
        }
    }
}

fn flatten(call: &Call<'_>) -> Result<Value, FunctionError> {
    let mut flat = Flat::default();
    flat.add(&call.args[0]);
    if !flat.complete {
        return Ok(call.unknown());
    }
    Ok(Value::tuple(flat.items).with_marks(&flat.marks))
}

fn reverse_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        Type::Tuple(types) => Ok(Type::tuple(types.iter().rev().cloned())),
        Type::Dynamic => Ok(Type::Dynamic),
        ty => Err(FunctionError::at(
            0,
            format!("can only reverse list or tuple values, not {}", ty.friendly_name()),
        )),
    }
}

fn reverse(call: &Call<'_>) -> Result<Value, FunctionError> {
    match (call.args[0].kind(), &call.ty) {
        (Kind::Set(_), _) if !call.args[0].is_wholly_known() => Ok(call.unknown()),
        (Kind::List(items) | Kind::Set(items), Type::List(element)) => {
            Ok(Value::list(Type::clone(element), items.iter().rev().cloned().collect()))
        }
        (Kind::Tuple(items), _) => Ok(Value::tuple(items.iter().rev().cloned().collect())),
        (Kind::Unknown(known), _) => Ok(call.unknown().refined(known)),
        _ => Ok(call.unknown()),
    }
}

fn slice_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        list @ Type::List(_) => Ok(list),
        Type::Tuple(types) => {
            let (Some(start), Some(end)) = (args[1].as_number(), args[2].as_number()) else {
                return Ok(Type::Dynamic);
            };
            let (start, end) = slice_range(start, end, types.len())?;
            Ok(Type::tuple(types[start..end].iter().cloned()))
        }
        Type::Set(_) => Err(FunctionError::at(
            0,
            "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the \
             ordering of the result is not important",
        )),
        Type::Dynamic => Ok(Type::Dynamic),
        _ => Err(FunctionError::at(0, "must be a list or tuple value")),
    }
}

fn slice_range(
    start: &Number,
    end: &Number,
    length: usize,
) -> Result<(usize, usize), FunctionError> {
    let whole = |position: usize, number: &Number| {
        number.to_i64().ok_or_else(|| {
            let which = if position == 1 { "start" } else { "end" };
            FunctionError::at(position, format!("invalid {which} index: {NOT_WHOLE}"))
        })
    };
    let start = usize::try_from(whole(1, start)?);
    let start =
        start.map_err(|_| FunctionError::at(1, "start index must not be less than zero"))?;
    let end = usize::try_from(whole(2, end)?);
    let end = end.map_err(|_| FunctionError::at(2, "end index must not be less than zero"))?;
    if start > length {
        return Err(FunctionError::at(
            1,
            "start index must not be greater than the length of the list",
        ));
    }
    if end > length {
        return Err(FunctionError::at(
            2,
            "end index must not be greater than the length of the list",
        ));
    }
    if start > end {
        return Err(FunctionError::at(1, "start index must not be greater than end index"));
    }
    Ok((start, end))
}

fn slice(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (Some(items), Some(start), Some(end)) =
        (call.args[0].as_slice(), call.args[1].as_number(), call.args[2].as_number())
    else {
        return Ok(call.unknown());
    };
    let (start, end) = slice_range(start, end, items.len())?;
    let items = items[start..end].to_vec();
    Ok(match &call.ty {
        Type::List(element) => Value::list(Type::clone(element), items),
        _ => Value::tuple(items),
    })
}

fn chunk_type(args: &[Value]) -> Result<Type, FunctionError> {
    Ok(Type::list(args[0].ty()))
}

fn chunklist(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (Some(items), true) = (call.args[0].as_slice(), call.args[1].is_known()) else {
        return Ok(call.unknown());
    };
    let size = usize::try_from(call.integer(1).map_err(|error| prefixed("invalid size", &error))?)
        .map_err(|_| FunctionError::new("the size argument must be positive"))?;
    let list = call.ty.element().cloned().unwrap_or(Type::Dynamic);
    let element = list.element().cloned().unwrap_or(Type::Dynamic);
    let size = if size == 0 { items.len().max(1) } else { size };
    let chunks =
        items.chunks(size).map(|chunk| Value::list(element.clone(), chunk.to_vec())).collect();
    Ok(Value::list(list, chunks).refined(&Refinements::non_null()))
}
