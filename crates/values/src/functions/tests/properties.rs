//! Properties that hold for every function and every value.

use std::collections::BTreeMap;

use proptest::{
    collection::vec, prelude::*, sample::select, strategy::ValueTree, test_runner::TestRunner,
};

use super::{
    World, call,
    samples::{Sample, callable, samples},
};
use crate::{
    Deprecation, Kind, Mark, MarkKind, Marks, Type, Value,
    functions::{Shape, all, lookup},
    rules::{MarkRule, RuleId},
};

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::null(Type::Dynamic)),
        Just(Value::null(Type::String)),
        any::<bool>().prop_map(Value::bool),
        (-5_i64..5).prop_map(Value::int),
        Just(Value::from(crate::Number::from(1.5))),
        select(vec![
            "",
            "a",
            "b",
            "1",
            "%s",
            "%d-%v",
            "true",
            "aGk=",
            "hello.txt",
            "[1]",
            "/(/",
            "é",
            ","
        ])
        .prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 4, |inner| {
        let text = select(vec!["a", "b", "", "1"]).prop_map(Value::from);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::tuple),
            vec((select(vec!["a", "b", "k"]), inner), 0..3).prop_map(Value::object_from),
            vec(text.clone(), 0..4).prop_map(|items| Value::list(Type::String, items)),
            vec(text.clone(), 0..4).prop_map(|items| Value::set(Type::String, items)),
            vec((select(vec!["a", "b"]), text), 0..3).prop_map(|entries| {
                Value::map(
                    Type::String,
                    entries.into_iter().map(|(key, value)| (key.into(), value)).collect(),
                )
            }),
        ]
    })
}

/// Generates a function with random arguments, or with the arguments of one of its samples, some of them replaced.
/// A replacement comes from another sample, has the type of the parameter, or is any value.
fn arguments() -> impl Strategy<Value = Sample> {
    let random = (select(callable().collect::<Vec<_>>()), vec(value(), 0..4));
    prop_oneof![1 => random, 4 => varied()]
}

fn varied() -> impl Strategy<Value = Sample> {
    let all = samples();
    let drawn = select(all.clone()).prop_flat_map(move |(function, args)| {
        let alike: Vec<Vec<Value>> =
            all.iter().filter(|it| it.0.name == function.name).map(|it| it.1.clone()).collect();
        let args: Vec<_> = args
            .into_iter()
            .enumerate()
            .map(|(position, arg)| {
                let others = alike.iter().filter_map(|it| it.get(position).cloned());
                let others: Vec<Value> = others.collect();
                let shape = function.parameter(position).map_or(Shape::Any, |it| it.shape);
                prop_oneof![6 => Just(arg), 2 => select(others), 3 => of_shape(shape), 1 => value()]
            })
            .collect();
        (Just(function), args)
    });
    drawn.boxed()
}

/// Generates a value that usually converts to the type of a parameter.
fn of_shape(shape: Shape) -> BoxedStrategy<Value> {
    let number = || (-3_i64..12).prop_map(Value::int);
    let text = || select(vec!["", "a", "b,c", "k", "1", "true", "é", "a\nb"]).prop_map(Value::from);
    let boolean = || any::<bool>().prop_map(Value::bool);
    let texts = || vec(text(), 0..4).prop_map(|items| Value::list(Type::String, items));
    match shape {
        Shape::Bool => boolean().boxed(),
        Shape::Number => number().boxed(),
        Shape::String => text().boxed(),
        Shape::ListOfString => texts().boxed(),
        Shape::SetOfString => {
            vec(text(), 0..4).prop_map(|items| Value::set(Type::String, items)).boxed()
        }
        Shape::ListOfNumber => {
            vec(number(), 0..4).prop_map(|items| Value::list(Type::Number, items)).boxed()
        }
        Shape::ListOfBool => {
            vec(boolean(), 0..4).prop_map(|items| Value::list(Type::Bool, items)).boxed()
        }
        Shape::List | Shape::Set => {
            prop_oneof![texts(), vec(value(), 0..4).prop_map(Value::tuple)].boxed()
        }
        Shape::Map => {
            vec((select(vec!["a", "b", "k"]), text()), 0..3).prop_map(Value::object_from).boxed()
        }
        Shape::MapOfListsOfString => {
            vec((select(vec!["a", "b", "k"]), texts()), 0..3).prop_map(Value::object_from).boxed()
        }
        Shape::Any | Shape::Type => value().boxed(),
    }
}

/// Checks that the generated calls are useful: if all calls failed, the properties would show nothing.
#[test]
fn most_random_calls_succeed_and_reach_every_function() {
    const DRAWN: u32 = 6_000;
    let mut runner = TestRunner::deterministic();
    let mut reached: BTreeMap<&str, u32> = callable().map(|it| (it.name, 0)).collect();
    let mut succeeded = 0;
    let strategy = arguments();
    for _ in 0..DRAWN {
        let drawn = strategy.new_tree(&mut runner).expect("a value");
        let (function, args) = drawn.current();
        if function.call(&args, &World).is_ok() {
            succeeded += 1;
            *reached.entry(function.name).or_default() += 1;
        }
    }
    let seldom: Vec<_> = reached.iter().filter(|it| *it.1 < 5).collect();
    assert!(seldom.is_empty(), "too few calls succeed: {seldom:?}");
    assert!(succeeded * 2 > DRAWN, "{succeeded} of {DRAWN}");
}

/// Changes one part of the arguments. `which` is its number in a walk over all parts.
pub(super) fn at_part(
    args: &[Value],
    which: usize,
    mut change: impl FnMut(&Value) -> Value,
) -> Vec<Value> {
    let count = std::cell::Cell::new(0);
    let mut visit = |_: &crate::Path, part: &Value| {
        count.set(count.get() + 1);
        if count.get() == which + 1 { change(part) } else { part.clone() }
    };
    args.iter().map(|arg| arg.transform(&mut visit)).collect()
}

pub(super) fn parts(args: &[Value]) -> usize {
    let mut count = 0;
    args.iter().for_each(|arg| {
        arg.walk(&mut |_, _| {
            count += 1;
            true
        });
    });
    count
}

fn is_unknown_somewhere(value: &Value) -> bool {
    !value.is_wholly_known()
}

/// Returns true if `partial` allows `exact`: an unknown part may be any value that its refinements allow.
pub(super) fn allows(partial: &Value, exact: &Value) -> bool {
    match (partial.kind(), exact.kind()) {
        (Kind::Unknown(known), _) => {
            let type_fits = crate::conform::conforms(&exact.ty(), &partial.ty()).is_empty()
                || exact.is_null()
                || exact.ty() == Type::Dynamic;
            let number_fits = exact.as_number().is_none_or(|number| known.includes_number(number));
            let text_fits = exact.as_str().is_none_or(|text| text.starts_with(known.prefix()));
            let is_counted = exact.ty().is_collection();
            let length_fits = exact
                .stored_length()
                .is_none_or(|n| !is_counted || known.includes_length(n as u64));
            type_fits
                && number_fits
                && text_fits
                && length_fits
                && !(known.is_not_null() && exact.is_null())
        }
        (Kind::Tuple(a), Kind::Tuple(b)) | (Kind::List(a), Kind::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| allows(a, b))
        }
        (Kind::Object(a), Kind::Object(b)) | (Kind::Map(a), Kind::Map(b)) => {
            a.keys().eq(b.keys()) && a.values().zip(b.values()).all(|(a, b)| allows(a, b))
        }
        (Kind::Set(_), Kind::Set(_)) if is_unknown_somewhere(partial) => true,
        _ => partial.without_all_marks() == exact.without_all_marks(),
    }
}

/// `PROPTEST_CASES` can raise the number of cases. There are many functions, so each case counts four times.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases * 4,
        failure_persistence: None,
        max_global_rejects: 100_000,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn functions_never_panic((function, args) in arguments()) {
        let _ = function.call(&args, &World);
        let unknown: Vec<Value> = args.iter().map(|arg| Value::unknown(arg.ty())).collect();
        let _ = function.call(&unknown, &World);
        let _ = function.return_type(&unknown);
    }

    #[test]
    fn function_result_has_the_announced_type((function, args) in arguments()) {
        if let (Ok(result), Ok(ty)) = (function.call(&args, &World), function.return_type(&args)) {
            prop_assert!(
                crate::conform::conforms(&result.ty(), &ty).is_empty(),
                "{} of {args:?}: announced {ty}, got {}", function.name, result.ty()
            );
        }
    }

    #[test]
    fn result_of_unknown_arguments_allows_the_known_result(
        (function, args) in arguments(),
        which in 0_usize..12,
    ) {
        let Ok(exact) = function.call(&args, &World) else { return Ok(()) };
        let total = parts(&args);
        prop_assume!(total > 0);
        let partial_args = at_part(&args, which % total, |part| Value::unknown(part.ty()));
        match function.call(&partial_args, &World) {
            Ok(partial) => prop_assert!(
                allows(&partial, &exact),
                "{} of {partial_args:?} is {partial:?}, but of {args:?} it is {exact:?}", function.name
            ),
            Err(error) => prop_assert!(false, "{} of {partial_args:?}: {error}, but {args:?} is \
                                               {exact:?}", function.name),
        }
    }

    #[test]
    fn argument_part_that_affects_the_result_marks_it(
        (function, args) in arguments(),
        which in 0_usize..12,
        other in leaf(),
    ) {
        let total = parts(&args);
        prop_assume!(total > 0 && function.rule != RuleId::EphemeralAsNull);
        let which = which % total;
        let marked = at_part(&args, which, |part| part.with_mark(Mark::Ephemeral));
        let changed = at_part(&args, which, |part| if part.ty() == other.ty() { other.clone() } else { part.clone() });
        let (Ok(result), Ok(before), Ok(after)) =
            (function.call(&marked, &World), function.call(&args, &World), function.call(&changed, &World))
        else { return Ok(()) };
        if !before.raw_equals(&after) {
            prop_assert!(
                result.has_deep(MarkKind::Ephemeral),
                "{} of {args:?} with part {which} ephemeral: {before:?} becomes {after:?} unmarked", function.name
            );
        }
        prop_assert_eq!(result.without_all_marks(), before.without_all_marks());
    }

    #[test]
    fn functions_that_unite_marks_keep_every_mark((function, args) in arguments(), which in 0_usize..12) {
        let total = parts(&args);
        let rule = crate::rules::rule(function.rule, crate::rules::Domain::Concrete);
        prop_assume!(total > 0 && rule == MarkRule::UnionDeep);
        let deprecation = Mark::Deprecated(Deprecation { what: "a".into(), message: "b".into() });
        let marks: Marks = [Mark::Sensitive, Mark::Ephemeral, deprecation].into_iter().collect();
        let marked = at_part(&args, which % total, |part| part.with_marks(&marks));
        if let Ok(result) = function.call(&marked, &World) {
            prop_assert_eq!(result.marks(), &marks);
        }
    }
}

#[test]
fn function_errors_quote_no_secret() {
    let secret = Value::string("hunter2").with_mark(Mark::Ephemeral);
    for function in all().filter(|function| !function.is_form()) {
        for count in 0..4 {
            let args = vec![secret.clone(); count];
            if let Err(error) = function.call(&args, &World) {
                assert!(!error.message.contains("hunter2"), "{}: {error}", function.name);
            }
        }
    }
    let object = Value::object_from([("hunter2", Value::int(1))]).with_mark(Mark::Sensitive);
    let error = call("templatefile", &["nosuch".into(), object]).expect_err("no file");
    assert!(!error.message.contains("hunter2"), "{error}");
}

/// Texts that functions reject while they determine the type of the result, or deep inside their body.
#[test]
fn type_and_body_errors_quote_no_secret() {
    let quoting = [
        ("csvdecode", vec!["hunter2,hunter2\n1,2"], 0),
        ("yamldecode", vec!["*hunter2"], 0),
        ("yamldecode", vec!["!hunter2 x"], 0),
        ("yamldecode", vec!["!!int hunter2"], 0),
        ("format", vec!["%9hunter2"], 0),
        ("format", vec!["%[9]d", "hunter2"], 1),
        ("formatlist", vec!["%9hunter2"], 0),
        ("rsadecrypt", vec!["aGk=", "-----BEGIN hunter2-----\naGk=\n-----END hunter2-----\n"], 1),
        ("jsondecode", vec!["{\"a\": hunter2}"], 0),
        ("regex", vec!["hunter2(", "x"], 0),
        ("urldecode", vec!["%hu"], 0),
        ("timeadd", vec!["2026-01-01T00:00:00Z", "5hunter2"], 1),
        ("formatdate", vec!["YYYY hunter2", "2026-01-01T00:00:00Z"], 0),
        ("cidrhost", vec!["hunter2", "1"], 0),
        ("parseint", vec!["hunter2", "10"], 0),
        ("uuidv5", vec!["hunter2", "x"], 0),
        ("tonumber", vec!["hunter2"], 0),
        ("base64decode", vec!["hunter2!"], 0),
        ("textencodebase64", vec!["x", "hunter2"], 1),
        ("assumeequal", vec!["hunter2", "x"], 0),
    ];
    for (name, args, secret) in quoting {
        let plain: Vec<Value> = args.iter().map(|text| Value::from(*text)).collect();
        assert!(call(name, &plain).is_err(), "{name} accepts {args:?}");
        for mark in [Mark::Sensitive, Mark::Ephemeral] {
            let mut marked = plain.clone();
            marked[secret] = marked[secret].clone().with_mark(mark);
            let error = call(name, &marked).expect_err("refused as before");
            assert!(!error.message.contains("hu"), "{name}: {error}");
            let error = lookup(name).expect("a function").return_type(&marked).err();
            assert!(error.is_none_or(|it| !it.message.contains("hu")), "{name}");
        }
    }
}

/// Numbers and prefix lengths are parts of arguments too, and may be secret.
#[test]
fn function_errors_contain_no_secret_number() {
    let quoting: [(&str, Vec<Value>, usize); 8] = [
        ("cidrhost", vec!["10.0.0.0/29".into(), Value::int(29)], 0),
        ("cidrhost", vec!["10.0.0.0/28".into(), Value::int(29)], 1),
        ("cidrnetmask", vec!["29::/64".into()], 0),
        ("cidrsubnet", vec!["10.0.0.0/29".into(), Value::int(29), Value::int(1)], 1),
        ("cidrsubnet", vec!["10.0.0.0/8".into(), Value::int(2), Value::int(29)], 2),
        ("cidrsubnets", vec!["::/100".into(), Value::int(29)], 1),
        ("cidrsubnets", vec!["10.0.0.0/28".into(), Value::int(1), Value::int(1), Value::int(1)], 0),
        ("bcrypt", vec!["x".into(), Value::int(290)], 1),
    ];
    for (name, args, secret) in quoting {
        let said = call(name, &args).expect_err("refused").message;
        assert!(said.contains("29"), "{name}: {said}");
        for mark in [Mark::Sensitive, Mark::Ephemeral] {
            let mut marked = args.clone();
            marked[secret] = marked[secret].clone().with_mark(mark);
            let said = call(name, &marked).expect_err("refused as before").message;
            assert!(!said.contains("29"), "{name}: {said}");
        }
    }
}

/// OpenTofu's words for hidden values depend on their marks.
#[test]
fn hidden_argument_is_described_by_its_marks() {
    let said = |marks: &[Mark], name: &str| {
        let value = Value::string("x").with_marks(&marks.iter().cloned().collect());
        let args = if name == "parseint" { vec![value, Value::int(10)] } else { vec![value] };
        call(name, &args).expect_err("refused").message
    };
    let both = [Mark::Ephemeral, Mark::Sensitive];
    assert_eq!(
        said(&[], "tonumber"),
        "cannot convert \"x\" to number; given string must be a decimal representation of a number"
    );
    assert_eq!(said(&both[..1], "tonumber"), "cannot convert this ephemeral string to number");
    assert_eq!(said(&both[1..], "tobool"), "cannot convert this sensitive string to bool");
    assert_eq!(said(&both, "tobool"), "cannot convert this ephemeral sensitive string to bool");
    let shown = |marks| said(marks, "parseint");
    assert_eq!(shown(&[]), "cannot parse \"x\" as a base 10 integer");
    assert_eq!(shown(&both[..1]), "cannot parse (ephemeral value) as a base 10 integer");
    assert_eq!(shown(&both[1..]), "cannot parse (sensitive value) as a base 10 integer");
    assert_eq!(shown(&both), "cannot parse (ephemeral sensitive value) as a base 10 integer");
}
