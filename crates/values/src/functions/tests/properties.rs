//! What holds for every function and every value.

use proptest::{collection::vec, prelude::*, sample::select};

use super::{World, call};
use crate::{
    Deprecation, Kind, Mark, MarkKind, Marks, Type, Value,
    functions::{Function, all, lookup},
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

fn arguments() -> impl Strategy<Value = (&'static Function, Vec<Value>)> {
    let functions: Vec<&'static Function> = all().filter(|function| !function.is_form()).collect();
    (select(functions), vec(value(), 0..4))
}

/// One part of the arguments, by counting all parts.
fn at_part(args: &[Value], which: usize, change: impl Fn(&Value) -> Value) -> Vec<Value> {
    let count = std::cell::Cell::new(0);
    let mut visit = |_: &crate::Path, part: &Value| {
        count.set(count.get() + 1);
        if count.get() == which + 1 { change(part) } else { part.clone() }
    };
    args.iter().map(|arg| arg.transform(&mut visit)).collect()
}

fn parts(args: &[Value]) -> usize {
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

/// Whether what is said of `partial` allows `exact`: unknown parts may be anything that their refinements allow.
fn allows(partial: &Value, exact: &Value) -> bool {
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

/// `PROPTEST_CASES` asks for more; there are many functions, so each case counts four times.
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
    fn no_function_panics((function, args) in arguments()) {
        let _ = function.call(&args, &World);
        let unknown: Vec<Value> = args.iter().map(|arg| Value::unknown(arg.ty())).collect();
        let _ = function.call(&unknown, &World);
        let _ = function.return_type(&unknown);
    }

    #[test]
    fn a_result_has_the_type_that_was_announced((function, args) in arguments()) {
        if let (Ok(result), Ok(ty)) = (function.call(&args, &World), function.return_type(&args)) {
            prop_assert!(
                crate::conform::conforms(&result.ty(), &ty).is_empty(),
                "{} of {args:?}: announced {ty}, got {}", function.name, result.ty()
            );
        }
    }

    #[test]
    fn a_result_of_unknowns_allows_the_result_of_what_they_become((function, args) in arguments(), which in 0_usize..12) {
        let Ok(exact) = function.call(&args, &World) else { return Ok(()) };
        let total = parts(&args);
        prop_assume!(total > 0);
        let partial_args = at_part(&args, which % total, |part| Value::unknown(part.ty()));
        match function.call(&partial_args, &World) {
            Ok(partial) => prop_assert!(
                allows(&partial, &exact),
                "{} of {partial_args:?} is {partial:?}, but of {args:?} it is {exact:?}", function.name
            ),
            Err(error) => prop_assert!(false, "{} of {partial_args:?}: {error}, but {args:?} is {exact:?}", function.name),
        }
    }

    #[test]
    fn a_part_that_shows_in_the_result_marks_it(
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
    fn a_function_that_unites_marks_keeps_every_mark((function, args) in arguments(), which in 0_usize..12) {
        let total = parts(&args);
        prop_assume!(total > 0 && crate::rules::rule(function.rule, crate::rules::Domain::Concrete) == MarkRule::UnionDeep);
        let deprecation = Mark::Deprecated(Deprecation { what: "a".into(), message: "b".into() });
        let marks: Marks = [Mark::Sensitive, Mark::Ephemeral, deprecation].into_iter().collect();
        let marked = at_part(&args, which % total, |part| part.with_marks(&marks));
        if let Ok(result) = function.call(&marked, &World) {
            prop_assert_eq!(result.marks(), &marks);
        }
    }
}

#[test]
fn an_error_does_not_quote_a_secret() {
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

/// Texts that functions find fault with while they look for the type of the result, or deep inside.
#[test]
fn no_phase_of_a_call_quotes_a_secret() {
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
