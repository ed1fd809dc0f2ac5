//! Tests of marks, of their caches, and of the visible output of marked values.

use expect_test::{Expect, expect};

use crate::{
    Deprecation, Kind, Mark, MarkKind, Marks, Path, Refinements, Type, Value,
    functions::{self, FunctionEnv, RenderError},
};

struct NoWorld;

impl FunctionEnv for NoWorld {
    fn read_file(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("no files".to_owned())
    }
    fn file_exists(&self, _path: &str) -> Result<bool, String> {
        Ok(false)
    }
    fn render_template(
        &self,
        _name: &str,
        _text: &str,
        _variables: &Value,
    ) -> Result<Value, RenderError> {
        Err("no templates".to_owned().into())
    }
    fn now(&self) -> Option<String> {
        None
    }
    fn uuid(&self) -> Option<String> {
        None
    }
}

fn deprecated(what: &str) -> Mark {
    Mark::Deprecated(Deprecation { what: what.into(), message: "use b".into() })
}

fn all_marks() -> Marks {
    [Mark::Sensitive, Mark::Ephemeral, deprecated("module.a.old")].into_iter().collect()
}

fn ephemeral(value: impl Into<Value>) -> Value {
    value.into().with_mark(Mark::Ephemeral)
}

#[track_caller]
fn check(value: &Value, expected: Expect) {
    expected.assert_eq(&format!("{value:?}"));
}

#[test]
fn value_is_at_most_48_bytes() {
    assert!(size_of::<Value>() <= 48, "{}", size_of::<Value>());
    assert!(size_of::<Option<Value>>() <= 48);
}

#[test]
fn marks_of_a_value_are_removed_independently() {
    let value = Value::string("x").with_marks(&all_marks());
    for removed in MarkKind::ALL {
        let rest = value.without(removed);
        for kind in MarkKind::ALL {
            assert_eq!(
                rest.marks().has(kind),
                kind != removed,
                "{kind:?} after removing {removed:?}"
            );
        }
    }
    assert_eq!(value.deep_marks(), all_marks());
    assert_eq!(value.unmark(), (Value::string("x"), all_marks()));
}

#[test]
fn marks_of_inner_values_are_removed_independently() {
    let inner = Value::string("x").with_marks(&all_marks());
    let value =
        Value::object_from([("a", Value::tuple(vec![inner, Value::int(1)])), ("b", "y".into())]);
    assert!(value.marks().is_empty());
    for removed in MarkKind::ALL {
        let rest = value.without_deep(removed);
        for kind in MarkKind::ALL {
            assert_eq!(rest.has_deep(kind), kind != removed);
        }
        assert!(rest.without_all_marks().raw_equals(&value.without_all_marks()));
    }
}

#[test]
fn several_deprecation_marks_are_kept() {
    let value = Value::int(1)
        .with_mark(deprecated("a"))
        .with_mark(deprecated("b"))
        .with_mark(deprecated("a"));
    let causes: Vec<&str> = value.marks().deprecations().map(|it| it.what.as_ref()).collect();
    assert_eq!(causes, ["a", "b"]);
}

#[test]
fn mark_paths_restore_the_same_value() {
    let value = Value::object_from([
        ("list", Value::list(Type::String, vec!["a".into(), ephemeral("b")])),
        ("map", Value::map(Type::String, [("k".into(), ephemeral("c"))].into_iter().collect())),
        ("set", Value::set(Type::String, vec![ephemeral("d"), "e".into()])),
    ])
    .with_mark(Mark::Sensitive);
    let (bare, marks) = value.unmark_deep();
    assert!(!bare.is_marked_deep());
    let shown: Vec<String> =
        marks.iter().map(|(path, marks)| format!("{path} {marks:?}")).collect();
    assert_eq!(
        shown,
        [" {Sensitive}", ".list[1] {Ephemeral}", ".map[\"k\"] {Ephemeral}", ".set {Ephemeral}"]
    );
    assert!(bare.with_path_marks(&marks).raw_equals(&value));
}

#[test]
fn mark_of_a_missing_part_is_set_on_the_nearest_existing_one() {
    let value = Value::object_from([("a", Value::set(Type::String, vec!["x".into()]))]);
    let marked = |path: Path| value.with_path_marks(&[(path, Mark::Ephemeral.into())]);
    check(&marked(Path::root().attr("b").attr("c")), expect!["(ephemeral value)"]);
    check(
        &marked(Path::root().attr("a").index("x".into())),
        expect![[r#"{"a" = (ephemeral value)}"#]],
    );
}

#[test]
fn marks_of_set_elements_move_to_the_set() {
    let set = Value::set(Type::String, vec![ephemeral("a"), "b".into()]);
    assert!(set.marks().has(MarkKind::Ephemeral));
    assert!(set.as_slice().expect("elements").iter().all(|item| item.marks().is_empty()));
}

#[test]
fn debug_output_of_values_shows_no_secret() {
    check(&ephemeral("hunter2"), expect!["(ephemeral value)"]);
    check(&Value::string("hunter2").with_mark(Mark::Sensitive), expect!["(sensitive value)"]);
    check(
        &ephemeral(Value::string("hunter2").with_mark(Mark::Sensitive)),
        expect!["(ephemeral value)"],
    );
    check(
        &Value::object_from([("a", ephemeral("hunter2")), ("b", Value::int(1))]),
        expect![[r#"{"a" = (ephemeral value), "b" = 1}"#]],
    );
    let path = Path::root().attr("a").index(ephemeral("hunter2"));
    assert_eq!(path.to_string(), ".a[...]");
    assert!(!format!("{path:?}").contains("hunter2"));
}

#[test]
fn debug_output_of_values_equals_the_console() {
    check(&Value::string("a\"${b}\n"), expect![[r#""a\"$${b}\n""#]]);
    check(&Value::null(Type::list(Type::String)), expect!["tolist(null) /* of string */"]);
    check(&Value::null(Type::Dynamic), expect!["null"]);
    check(&Value::unknown(Type::String), expect!["(known after apply)"]);
    check(
        &Value::set(Type::Number, vec![Value::int(10), Value::int(9)]),
        expect!["toset([9, 10])"],
    );
}

#[test]
fn cached_flags_of_a_value_cover_parts_at_every_depth() {
    let deep = Value::tuple(vec![Value::tuple(vec![Value::object_from([(
        "a",
        ephemeral(Value::unknown(Type::String)),
    )])])]);
    assert!(!deep.is_wholly_known() && deep.is_known());
    assert!(deep.has_deep(MarkKind::Ephemeral) && !deep.has_deep(MarkKind::Sensitive));
    let replaced = deep
        .transform(&mut |_, part| if part.is_known() { part.clone() } else { Value::string("x") });
    assert!(replaced.is_wholly_known() && !replaced.has_deep(MarkKind::Ephemeral));
}

#[test]
fn ephemeralasnull_nulls_only_ephemeral_parts() {
    #[track_caller]
    fn check(value: Value, expected: Expect) {
        let function = functions::lookup("ephemeralasnull").expect("the function");
        let result = function.call(std::slice::from_ref(&value), &NoWorld).expect("a result");
        assert!(!result.has_deep(MarkKind::Ephemeral));
        expected.assert_eq(&format!("{result:?} {:?}", result.deep_marks()));
    }
    let marked = |value: Value| value.with_marks(&all_marks());
    check(Value::string("a"), expect![[r#""a" {}"#]]);
    check(ephemeral("a"), expect!["tostring(null) {}"]);
    check(ephemeral(1), expect!["tonumber(null) {}"]);
    check(ephemeral(true), expect!["tobool(null) {}"]);
    check(Value::null(Type::String), expect!["tostring(null) {}"]);
    check(ephemeral(Value::null(Type::String)), expect!["tostring(null) {}"]);
    check(ephemeral(Value::dynamic()), expect!["(known after apply) {}"]);
    check(Value::unknown(Type::Bool), expect!["(known after apply) {}"]);
    check(
        ephemeral(Value::list(Type::String, vec!["a".into()])),
        expect!["tolist(null) /* of string */ {}"],
    );
    check(ephemeral(Value::object_from([("a", Value::int(1))])), expect!["null {}"]);
    check(
        Value::list(Type::String, vec!["a".into(), ephemeral("b")]),
        expect![[r#"tolist(["a", tostring(null)]) {}"#]],
    );
    check(
        Value::map(
            Type::String,
            [("k".into(), ephemeral("v")), ("l".into(), "w".into())].into_iter().collect(),
        ),
        expect![[r#"tomap({"k" = tostring(null), "l" = "w"}) {}"#]],
    );
    check(
        Value::set(Type::String, vec![ephemeral("a")]),
        expect!["toset(null) /* of string */ {}"],
    );
    check(
        Value::tuple(vec![Value::object_from([("a", ephemeral("x")), ("b", "y".into())])]),
        expect![[r#"[{"a" = tostring(null), "b" = "y"}] {}"#]],
    );
    check(
        Value::object_from([("a", ephemeral(Value::tuple(vec![])))]),
        expect![[r#"{"a" = null} {}"#]],
    );
    check(
        marked("x".into()),
        expect![[
            r#"(sensitive value) {Sensitive, Deprecated(Deprecation { what: "module.a.old", message: "use b" })}"#
        ]],
    );
    check(Value::string("x").with_mark(Mark::Sensitive), expect!["(sensitive value) {Sensitive}"]);
}

#[test]
fn ephemeralasnull_keeps_no_attribute_names_in_the_type() {
    #[track_caller]
    fn check(value: Value, expected: Type) {
        let function = functions::lookup("ephemeralasnull").expect("the function");
        let result = function.call(&[value], &NoWorld).expect("a result");
        assert_eq!(result.ty(), expected);
    }
    let secret = || ephemeral(Value::object_from([("secret", Value::int(1))]));
    let object = Type::object([("secret", Type::Number)]);
    check(secret(), Type::Dynamic);
    check(Value::tuple(vec![secret()]), Type::tuple([Type::Dynamic]));
    check(ephemeral(Value::unknown(object.clone())), Type::Dynamic);
    check(ephemeral(Value::list(object.clone(), vec![])), Type::Dynamic);
    check(ephemeral("x"), Type::String);
    // The elements of a collection share its type, which does not depend on them: otherwise a conversion has
    // marked the whole.
    check(Value::list(object.clone(), vec![secret()]), Type::list(object));
}

#[test]
fn ephemeralasnull_of_an_unknown_drops_refinements() {
    let value = Value::unknown_with(Type::String, Refinements::non_null().with_prefix("a"));
    let function = functions::lookup("ephemeralasnull").expect("the function");
    let result = function.call(&[ephemeral(value)], &NoWorld).expect("a result");
    let Kind::Unknown(known) = result.kind() else { panic!("known") };
    assert_eq!(*known, Refinements::NONE);
}

#[test]
fn sensitive_and_nonsensitive_keep_other_marks() {
    let call = |name: &str, value: &Value| {
        functions::lookup(name)
            .expect("the function")
            .call(std::slice::from_ref(value), &NoWorld)
            .expect("a result")
    };
    let value = Value::string("x").with_marks(&all_marks());
    assert_eq!(call("nonsensitive", &value).marks(), &all_marks().without(MarkKind::Sensitive));
    let ephemeral = ephemeral("x");
    assert_eq!(
        call("sensitive", &ephemeral).marks(),
        &Marks::from(Mark::Sensitive).with(Mark::Ephemeral)
    );
    assert_eq!(call("issensitive", &value), Value::bool(true));
    assert_eq!(call("issensitive", &ephemeral), Value::bool(false));
    let inside = Value::tuple(vec![value.clone()]);
    assert!(call("nonsensitive", &inside).raw_equals(&inside));
    assert!(!call("issensitive", &Value::unknown(Type::String)).is_known());
}

#[test]
fn unknown_value_with_one_possible_value_is_known() {
    let exactly = |n: u64| Refinements::non_null().with_min_length(n).with_max_length(n);
    let one = crate::Number::from(1_i64);
    let number = Refinements::non_null().with_lower(one.clone(), true).with_upper(one, true);
    check(&Value::unknown_with(Type::Number, number.clone()), expect!["1"]);
    check(&Value::unknown_with(Type::list(Type::String), exactly(0)), expect!["tolist([])"]);
    check(
        &Value::unknown_with(Type::list(Type::String), exactly(2)),
        expect!["tolist([(known after apply), (known after apply)])"],
    );
    check(
        &Value::unknown_with(Type::set(Type::String), exactly(1)),
        expect!["toset([(known after apply)])"],
    );
    check(
        &Value::unknown_with(Type::map(Type::String), exactly(1)),
        expect!["(known after apply)"],
    );
    check(
        &Value::unknown_with(Type::list(Type::String), exactly(u64::MAX)),
        expect!["(known after apply)"],
    );
    assert!(!Value::unknown_with(Type::String, number).is_known());
}

#[test]
fn strings_are_normalized_to_nfc() {
    assert_eq!(Value::string("e\u{301}"), Value::string("\u{e9}"));
    let object = Value::object_from([("e\u{301}", Value::int(1))]);
    assert_eq!(object.get_attr("\u{e9}"), Some(Value::int(1)));
}
