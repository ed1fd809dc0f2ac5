//! Sample calls that succeed, at least one per function. Each is repeated with parts of its arguments unknown,
//! refined or marked. Randomly generated calls fail too often in the conversion of their arguments to test as
//! much.

use std::collections::BTreeMap;

use super::{
    World, from_json,
    properties::{allows, at_part, parts},
};
use crate::{
    Kind, Mark, MarkKind, Refinements, Type, Value, ValueMap,
    functions::{Function, Place, all, lookup},
    rules::RuleId,
};

/// A function and its arguments.
pub(super) type Sample = (&'static Function, Vec<Value>);

/// One sample per line: the name, and the arguments in JSON.
const SAMPLES: &str = include_str!("samples.txt");

pub(super) fn samples() -> Vec<Sample> {
    SAMPLES.lines().map(sample).collect()
}

fn sample(line: &str) -> Sample {
    let (name, args) = line.split_once(' ').unwrap_or_else(|| panic!("no arguments: {line}"));
    let function = lookup(name).unwrap_or_else(|| panic!("no function {name}"));
    let args = match name {
        // Keys are too long for the file.
        "rsadecrypt" => {
            vec![include_str!("keys/hello.base64").into(), include_str!("keys/pkcs8.pem").into()]
        }
        _ => from_json(args).as_slice().expect("an array of arguments").to_vec(),
    };
    (function, args)
}

/// Returns the functions that can be called at all.
pub(super) fn callable() -> impl Iterator<Item = &'static Function> {
    all().filter(|it| !it.is_form() && it.place != Place::Removed)
}

#[test]
fn samples_call_every_function_successfully() {
    let mut count: BTreeMap<&str, usize> = callable().map(|it| (it.name, 0)).collect();
    for (function, args) in samples() {
        function.call(&args, &World).unwrap_or_else(|it| panic!("{function:?} of {args:?}: {it}"));
        *count.get_mut(function.name).expect("it can be called") += 1;
    }
    let missing: Vec<&str> = count.iter().filter(|it| *it.1 == 0).map(|it| *it.0).collect();
    assert!(missing.is_empty(), "samples.txt has no call of {missing:?}");
}

/// Returns unknown values that may turn out to be the value: without refinements, and with all possible
/// refinements.
fn unknowns_of(value: &Value) -> Vec<Value> {
    let mut unknowns = vec![Value::unknown(value.ty())];
    if value.is_null() || value.ty() == Type::Dynamic {
        return unknowns;
    }
    let known = Refinements::non_null();
    unknowns.push(Value::unknown_with(value.ty(), known.clone()));
    unknowns.push(Value::unknown_with(
        value.ty(),
        match value.kind() {
            Kind::String(text) => {
                let half: String = text.chars().take(text.chars().count() / 2).collect::<String>();
                known.with_prefix(half)
            }
            Kind::Number(number) => known.with_lower(number.clone(), true),
            _ => match value.stored_length().filter(|_| value.ty().is_collection()) {
                Some(length) => {
                    known.with_min_length(length as u64).with_max_length(length as u64 + 1)
                }
                None => known,
            },
        },
    ));
    unknowns
}

/// Returns the samples, and the same calls with arguments converted to the parameter types: lists, sets and maps.
fn typed_samples() -> Vec<Sample> {
    let mut found = samples();
    for (function, args) in samples() {
        let typed = args.iter().enumerate().map(|(position, arg)| {
            let shape = function.parameter(position).expect("it was called").shape;
            let to = match (shape.ty(), arg.ty()) {
                (Type::Dynamic, Type::Tuple(_)) => Type::list(Type::Dynamic),
                (Type::Dynamic, Type::Object(_)) => Type::map(Type::Dynamic),
                (ty, _) => ty,
            };
            crate::convert::convert(arg, &to).unwrap_or_else(|_| arg.clone())
        });
        let typed: Vec<Value> = typed.collect();
        if typed != args && function.call(&typed, &World).is_ok() {
            found.push((function, typed));
        }
    }
    found
}

#[test]
fn sample_with_one_unknown_part_allows_its_exact_result() {
    let mut checked = 0;
    for (function, args) in typed_samples() {
        let exact = function.call(&args, &World).expect("a sample");
        for which in 0..parts(&args) {
            for variant in 0..3 {
                let partial = at_part(&args, which, |part| {
                    let unknowns = unknowns_of(part);
                    unknowns[variant.min(unknowns.len() - 1)].clone()
                });
                let result = function.call(&partial, &World);
                let result = result.unwrap_or_else(|it| {
                    panic!("{function:?} of {partial:?}: {it}, but {exact:?}")
                });
                assert!(
                    allows(&result, &exact),
                    "{function:?} of {partial:?} is {result:?}, but of {args:?} it is {exact:?}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 2_000, "{checked}");
}

/// Two unknown parts can reveal errors that one does not.
#[test]
fn sample_with_two_unknown_parts_allows_its_exact_result() {
    for (function, args) in typed_samples() {
        let exact = function.call(&args, &World).expect("a sample");
        let count = parts(&args);
        for (first, second) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
            // Replace the later part first, because replacing the earlier one would change the later one's number.
            let partial = at_part(&args, second, |part| Value::unknown(part.ty()));
            let partial = at_part(&partial, first, |part| Value::unknown(part.ty()));
            let result = function.call(&partial, &World);
            let result = result
                .unwrap_or_else(|it| panic!("{function:?} of {partial:?}: {it}, but {exact:?}"));
            assert!(
                allows(&result, &exact),
                "{function:?} of {partial:?} is {result:?}, but of {args:?} it is {exact:?}"
            );
        }
    }
}

/// Returns other values of the same type, of which one may change the result.
fn others_of(part: &Value) -> Vec<Value> {
    match part.ty() {
        Type::String => ["", "a", "zz", "1", "true", "b"].map(Value::from).to_vec(),
        Type::Number => [-1, 0, 1, 2, 10].map(Value::int).to_vec(),
        Type::Bool => [true, false].map(Value::bool).to_vec(),
        Type::List(element) => vec![Value::list((*element).clone(), Vec::new())],
        Type::Set(element) => vec![Value::set((*element).clone(), Vec::new())],
        Type::Map(element) => vec![Value::map((*element).clone(), ValueMap::new())],
        ty => vec![Value::null(ty)],
    }
}

#[test]
fn sample_part_that_affects_the_result_marks_it() {
    let (mut checked, mut shown) = (0, 0);
    for (function, args) in typed_samples() {
        // The results of these functions depend on marks.
        if matches!(function.rule, RuleId::EphemeralAsNull | RuleId::IsSensitive) {
            continue;
        }
        let exact = function.call(&args, &World).expect("a sample");
        for which in 0..parts(&args) {
            let shows = {
                let mut shows = false;
                at_part(&args, which, |part| {
                    shows |= others_of(part).into_iter().any(|other| {
                        let changed = at_part(&args, which, |_| other.clone());
                        function.call(&changed, &World).is_ok_and(|it| !it.raw_equals(&exact))
                    });
                    part.clone()
                });
                shows
            };
            for unknown in [false, true] {
                let marked = at_part(&args, which, |part| {
                    let part = if unknown { Value::unknown(part.ty()) } else { part.clone() };
                    part.with_mark(Mark::Ephemeral).with_mark(Mark::Sensitive)
                });
                let result = function.call(&marked, &World);
                let result = result.unwrap_or_else(|it| panic!("{function:?} of {marked:?}: {it}"));
                checked += 1;
                if !unknown {
                    assert_eq!(
                        result.without_all_marks(),
                        exact.without_all_marks(),
                        "{function:?}"
                    );
                }
                if shows {
                    shown += 1;
                    assert!(
                        result.has_deep(MarkKind::Ephemeral),
                        "{function:?} of {marked:?}, part {which}: {result:?} has no mark"
                    );
                }
            }
        }
    }
    assert!(checked > 1_400 && shown * 2 > checked, "{shown} of {checked} parts show");
}

/// Returns the value with every text and every name in it changed.
fn with_texts(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    let entries = |entries: &ValueMap| {
        let changed = entries
            .iter()
            .map(|(name, part)| (crate::Str::from(change(name)), with_texts(part, change)));
        changed.collect()
    };
    match value.kind() {
        Kind::String(text) => change(text).into(),
        Kind::Object(attributes) => Value::object(entries(attributes)),
        Kind::Tuple(items) => Value::tuple(items.iter().map(|it| with_texts(it, change)).collect()),
        _ => value.clone(),
    }
}

/// The secret is the text of an argument, a part of it, or a name. The mark is on the whole argument, or only on
/// the part with the secret.
#[test]
fn sample_errors_quote_no_secret_text_or_name() {
    const SECRET: &str = "hunter2";
    let changes: [&dyn Fn(&str) -> String; 4] = [
        &|_| SECRET.to_owned(),
        &|text| format!("{SECRET}{text}"),
        &|text| format!("{text}{SECRET}"),
        &|text| {
            let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |it| it.0);
            format!("{}{SECRET}{}", &text[..middle], &text[middle..])
        },
    ];
    let (mut wrong, mut refused) = (String::new(), 0);
    for (function, args) in samples() {
        for (position, change) in (0..args.len()).flat_map(|at| changes.map(|it| (at, it))) {
            let changed = with_texts(&args[position], &change);
            for mark in [Mark::Sensitive, Mark::Ephemeral] {
                let whole = changed.with_mark(mark.clone());
                let leaves = changed.map_parts(|_, part| part.with_mark(mark.clone()));
                for marked in [whole, leaves] {
                    if !marked.has_deep_secret() || has_plain_name(&marked, SECRET) {
                        continue;
                    }
                    let mut given = args.clone();
                    given[position] = marked;
                    let errors =
                        [function.call(&given, &World).err(), function.return_type(&given).err()];
                    for error in errors.into_iter().flatten() {
                        refused += 1;
                        if error.message.contains(SECRET) {
                            wrong += &format!("{function:?} of {given:?}: {error}\n");
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(refused > 300, "{refused}");
}

/// Returns true if the text occurs in an attribute name of an unmarked value, where it is not a secret.
fn has_plain_name(value: &Value, text: &str) -> bool {
    let names = value.as_map().into_iter().flatten().any(|(name, _)| name.contains(text));
    names && value.marks().is_empty()
}
