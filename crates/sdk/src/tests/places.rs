//! Tests of null, unknown and unsuitable values in every place.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};
use values::{Kind, Number, Path, Str, Type, Value};

use super::{echo::Echo, shown};
use crate::{AttributeValue, Choice, Diagnostic, MaybeUnknown, Model, Part, Secret, Set, Unknowns};

/// The path and the first sentence of an error.
fn line(error: &Diagnostic) -> String {
    let path = error.path.as_ref().map(ToString::to_string).unwrap_or_default();
    let first = error.detail.split(". ").next().unwrap_or_default();
    format!("{path}: {}", first.trim_end_matches('.'))
}

fn read<T: AttributeValue>(value: &Value, unknowns: Unknowns) -> String {
    let part = Part { value, path: Path::root().attr("a"), unknowns };
    match T::decode(&part) {
        Ok(read) => shown(&read.encode()),
        Err(error) => line(&error),
    }
}

/// Compares the results of reading null and unknown values, in a configuration and in a plan.
#[track_caller]
fn check_places<T: AttributeValue>(expected: &[&str; 3]) {
    let (null, unknown) = (Value::null(T::ty()), Value::unknown(T::ty()));
    let results = [
        read::<T>(&null, Unknowns::Refused),
        read::<T>(&unknown, Unknowns::Refused),
        read::<T>(&unknown, Unknowns::Absent),
    ];
    assert_eq!(results, *expected);
}

const MISSING: &str = ".a: a must be set, and not to null";
const UNKNOWN: &str = ".a: a is needed now, but its value is known only after an apply";
const CHOSEN: &str = ".a: a is unknown in the plan, which its field cannot be";

#[test]
fn null_and_unknown_need_a_type_for_them() {
    check_places::<String>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<u8>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<Vec<bool>>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<BTreeMap<Str, bool>>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<Inner>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<Shade>(&[MISSING, UNKNOWN, CHOSEN]);
    check_places::<Option<String>>(&["null", UNKNOWN, "null"]);
    check_places::<Option<Inner>>(&["null", UNKNOWN, "null"]);
    check_places::<MaybeUnknown<String>>(&[MISSING, "?", "?"]);
    check_places::<MaybeUnknown<Option<String>>>(&["null", "?", "?"]);
    check_places::<MaybeUnknown<Option<Vec<Inner>>>>(&["null", "?", "?"]);
    check_places::<Option<MaybeUnknown<String>>>(&["null", "?", "null"]);
    check_places::<Value>(&["null", "?", "?"]);
}

#[derive(Model)]
struct Inner {
    name: String,
    note: Option<String>,
    open: MaybeUnknown<Option<i64>>,
}

#[derive(Choice, Clone, Copy)]
enum Shade {
    Light,
    Dark,
}

#[derive(Model)]
struct Places {
    list: Option<Vec<Inner>>,
    map: Option<BTreeMap<Str, Inner>>,
    set: Option<Set<Inner>>,
    texts: Option<BTreeSet<String>>,
    shades: Option<Vec<Shade>>,
    numbers: Option<BTreeMap<Str, u8>>,
    floats: Option<Vec<f64>>,
    secrets: Option<Set<Secret>>,
    #[block]
    one: Option<Inner>,
    #[block]
    several: Vec<Inner>,
    #[block]
    labelled: BTreeMap<Str, Inner>,
}

#[track_caller]
fn check(config: &str, expected: Expect) {
    let results =
        [Unknowns::Refused, Unknowns::Absent].map(|unknowns| {
            match Echo::<Places>::read(config, unknowns) {
                Ok(read) => shown(&read.encode()),
                Err(error) => line(&error),
            }
        });
    let [refused, absent] = results;
    let text = if refused == absent { refused } else { format!("{refused}\n{absent}") };
    expected.assert_eq(&text);
}

#[test]
fn errors_about_parts_have_their_paths() {
    check(
        r#"{"list": [{"name": "n"}, {"name": null}]}"#,
        expect![".list[1].name: list[1].name must be set, and not to null"],
    );
    check(
        r#"{"list": [{"name": "n", "note": "?"}]}"#,
        expect![[r#"
            .list[0].note: list[0].note is needed now, but its value is known only after an apply
            {labelled={}, list=[{name="n"}], several=[]}"#]],
    );
    check(
        r#"{"map": {"k": {"name": "?"}}}"#,
        expect![[r#"
            .map["k"].name: map["k"].name is needed now, but its value is known only after an apply
            .map["k"].name: map["k"].name is unknown in the plan, which its field cannot be"#]],
    );
    check(
        r#"{"map": {"k": null}}"#,
        expect![[r#".map["k"]: map["k"] must be set, and not to null"#]],
    );
    check(
        r#"{"shades": ["light", "LIGHT"]}"#,
        expect![".shades[1]: shades[1] must be one of: light, dark"],
    );
    check(
        r#"{"shades": ["dark"], "texts": ["b", "a"]}"#,
        expect![[r#"{labelled={}, several=[], shades=["dark"], texts=["a", "b"]}"#]],
    );
    check(
        r#"{"numbers": {"a": 255, "b": 256}}"#,
        expect![[r#".numbers["b"]: numbers["b"] must be a whole number from 0 to 255"#]],
    );
    check(
        r#"{"numbers": {"a": -1}}"#,
        expect![[r#".numbers["a"]: numbers["a"] must be a whole number from 0 to 255"#]],
    );
    check(
        r#"{"numbers": {"a": 1.5}}"#,
        expect![[r#".numbers["a"]: numbers["a"] must be a whole number"#]],
    );
    check(
        r#"{"floats": [0.1, 12345678901234567890.123]}"#,
        expect![[
            r#".floats[1]: floats[1] must be a number of at most 15 digits that fits into 64 bits"#
        ]],
    );
    check(
        r#"{"one": {"name": null}}"#,
        expect![".one.name: one.name must be set, and not to null"],
    );
    check(
        r#"{"several": [{"name": "a"}, {"name": "?"}]}"#,
        expect![[r#"
            .several[1].name: several[1].name is needed now, but its value is known only after an apply
            .several[1].name: several[1].name is unknown in the plan, which its field cannot be"#]],
    );
    check(
        r#"{"labelled": {"x": {"name": null}}}"#,
        expect![[r#".labelled["x"].name: labelled["x"].name must be set, and not to null"#]],
    );
}

#[test]
fn null_counts_as_no_blocks() {
    check(
        r#"{"several": null, "labelled": null, "one": null}"#,
        expect!["{labelled={}, several=[]}"],
    );
}

/// The key of an element of a set is the element itself.
#[test]
fn errors_about_elements_of_sets_do_not_quote_them() {
    check(
        r#"{"set": [{"name": null, "note": "hidden"}]}"#,
        expect![".set[...].name: set[...].name must be set, and not to null"],
    );
    check(
        r#"{"secrets": ["hidden", null]}"#,
        expect![".secrets[...]: secrets[...] must be set, and not to null"],
    );
}

#[test]
fn huge_numbers_are_refused_with_a_path() {
    for text in ["1e100000", "-1e100000", "18446744073709551616", "1e-100000", "0.5"] {
        let value = Value::number(Number::parse(text).expect("is a number"));
        for result in [
            read::<i64>(&value, Unknowns::Refused),
            read::<u64>(&value, Unknowns::Refused),
            read::<i8>(&value, Unknowns::Refused),
        ] {
            assert!(result.starts_with(".a: a must be a whole number"), "{result}");
            assert!(result.len() < 200, "{text}");
        }
    }
    for text in ["1e400", "-1e400", "1e-400", "0.12345678901234567890123"] {
        let value = Value::number(Number::parse(text).expect("is a number"));
        let result = read::<f64>(&value, Unknowns::Refused);
        assert!(result.starts_with(".a: a must be a number of at most"), "{result}");
    }
    let largest = Value::number(Number::parse("18446744073709551615").expect("is a number"));
    assert_eq!(read::<u64>(&largest, Unknowns::Refused), "18446744073709551615");
    assert_eq!(f64::NAN.encode(), Value::null(Type::Number));
}

/// A core converts values to the types of the schema, so only a wrong provider meets these.
#[test]
fn values_of_another_type_are_errors() {
    for value in [Value::string("s"), Value::bool(true), Value::int(1), Value::empty_object()] {
        let [is_text, is_flag, is_number] = [
            matches!(value.kind(), Kind::String(_)),
            matches!(value.kind(), Kind::Bool(_)),
            matches!(value.kind(), Kind::Number(_)),
        ];
        let refused = |read: String| read.contains("another type than the provider expects");
        assert_eq!(refused(read::<String>(&value, Unknowns::Refused)), !is_text);
        assert_eq!(refused(read::<Secret>(&value, Unknowns::Refused)), !is_text);
        assert_eq!(refused(read::<bool>(&value, Unknowns::Refused)), !is_flag);
        assert_eq!(refused(read::<i64>(&value, Unknowns::Refused)), !is_number);
        assert_eq!(refused(read::<Shade>(&value, Unknowns::Refused)), !is_text);
        assert!(refused(read::<Vec<String>>(&value, Unknowns::Refused)));
        assert!(refused(read::<Set<Inner>>(&value, Unknowns::Refused)));
        let is_object = matches!(value.kind(), Kind::Object(_));
        assert_eq!(refused(read::<BTreeMap<Str, bool>>(&value, Unknowns::Refused)), !is_object);
        assert_eq!(refused(read::<Inner>(&value, Unknowns::Refused)), !is_object);
    }
}

#[test]
fn number_of_thousands_of_digits_is_refused() {
    let huge = Value::number(Number::parse("1e5000").expect("a number"));
    let refused = read::<u8>(&huge, Unknowns::Refused);
    assert_eq!(refused, ".a: a must be a whole number from 0 to 255");
}
