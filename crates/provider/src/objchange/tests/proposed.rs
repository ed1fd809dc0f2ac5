use values::{Number, Type, Value};

use crate::fixture::{
    block, block_with, computed, nested, optional, optional_computed, required, value, write_only,
};
use crate::objchange::{planned_unknown_object, proposed_new};
use crate::schema::{Attribute, Block, Nesting, ObjectNesting};

/// Compares values, not their texts, so that types and order count.
#[track_caller]
fn check(block: &Block, prior: &str, config: &str, expected: &str) {
    let proposed = proposed_new(block, &value(block, prior), &value(block, config));
    assert_eq!(proposed, value(block, expected));
}

#[test]
fn proposed_attributes_follow_the_configuration_unless_computed() {
    let schema = block([
        ("c", computed()),
        ("o", optional()),
        ("oc", optional_computed()),
        ("w", write_only()),
    ]);
    let cases = [
        // Deletion, and no object at all.
        ("null", "null", "null"),
        (r#"{"o": "a"}"#, "null", r#"{"o": "a"}"#),
        // Creation: computed attributes are null, not unknown.
        ("null", r#"{"o": "a"}"#, r#"{"o": "a"}"#),
        (
            r#"{"c": "x", "o": "a", "oc": "p"}"#,
            r#"{"o": "b"}"#,
            r#"{"c": "x", "o": "b", "oc": "p"}"#,
        ),
        (r#"{"c": "x", "o": "a", "oc": "p"}"#, r#"{"oc": "q"}"#, r#"{"c": "x", "oc": "q"}"#),
        (r#"{"oc": "p"}"#, r#"{"oc": "?", "o": "?"}"#, r#"{"oc": "?", "o": "?"}"#),
        // A computed-only attribute with a configured value, which `ignore_changes` can cause.
        (r#"{"c": "x"}"#, r#"{"c": "y"}"#, r#"{"c": "y"}"#),
        // Write-only: the provider receives the value, and the prior value is null.
        ("{}", r#"{"w": "secret"}"#, r#"{"w": "secret"}"#),
        // An unknown configuration proposes the prior object.
        (r#"{"o": "a"}"#, r#""?""#, r#"{"o": "a"}"#),
    ];
    for (prior, config, expected) in cases {
        check(&schema, prior, config, expected);
    }
}

#[test]
fn omitted_nested_attribute_is_kept_only_if_computed() {
    let with_configured = Attribute {
        computed: true,
        ..nested(ObjectNesting::Single, [("c", computed()), ("o", optional())])
    };
    let schema = block([("n", with_configured)]);
    check(&schema, r#"{"n": {"c": "x", "o": "a"}}"#, "{}", "{}");
    check(&schema, r#"{"n": {"c": "x"}}"#, "{}", r#"{"n": {"c": "x"}}"#);
    let deep = nested(
        ObjectNesting::List,
        [("m", Attribute { computed: true, ..nested(ObjectNesting::Map, [("o", optional())]) })],
    );
    let schema = block([("n", Attribute { computed: true, ..deep })]);
    check(&schema, r#"{"n": [{"m": {"k": {"o": "a"}}}]}"#, "{}", "{}");
    check(&schema, r#"{"n": [{"m": {"k": {}}}]}"#, "{}", r#"{"n": [{"m": {"k": {}}}]}"#);
}

#[test]
fn proposed_nested_objects_merge_by_nesting_mode() {
    let attributes = || [("c", computed()), ("o", optional())];
    let schema = block([
        ("list", nested(ObjectNesting::List, attributes())),
        ("map", nested(ObjectNesting::Map, attributes())),
        ("set", nested(ObjectNesting::Set, attributes())),
        ("single", nested(ObjectNesting::Single, attributes())),
    ]);
    let cases = [
        // The block is removed and not computed, so it is null.
        (r#"{"single": {"c": "x"}}"#, "{}", "{}"),
        (
            r#"{"single": {"c": "x", "o": "a"}}"#,
            r#"{"single": {"o": "b"}}"#,
            r#"{"single": {"c": "x", "o": "b"}}"#,
        ),
        ("{}", r#"{"single": {"o": "b"}}"#, r#"{"single": {"o": "b"}}"#),
        (r#"{"single": {"c": "x"}}"#, r#"{"single": "?"}"#, r#"{"single": "?"}"#),
        // Lists are paired by index: a computed value stays at its index if elements shift.
        (
            r#"{"list": [{"c": "1", "o": "a"}, {"c": "2", "o": "b"}]}"#,
            r#"{"list": [{"o": "b"}]}"#,
            r#"{"list": [{"c": "1", "o": "b"}]}"#,
        ),
        (
            r#"{"list": [{"c": "1", "o": "a"}]}"#,
            r#"{"list": [{"o": "a"}, {"o": "b"}, null]}"#,
            r#"{"list": [{"c": "1", "o": "a"}, {"o": "b"}, null]}"#,
        ),
        (r#"{"list": [{"c": "1"}]}"#, r#"{"list": []}"#, r#"{"list": []}"#),
        (
            r#"{"map": {"a": {"c": "1"}, "b": {"c": "2"}}}"#,
            r#"{"map": {"b": {"o": "x"}, "c": {"o": "y"}, "d": null}}"#,
            r#"{"map": {"b": {"c": "2", "o": "x"}, "c": {"o": "y"}, "d": null}}"#,
        ),
        (
            r#"{"set": [{"c": "1", "o": "a"}, {"c": "2", "o": "b"}]}"#,
            r#"{"set": [{"o": "b"}, {"o": "z"}]}"#,
            r#"{"set": [{"c": "2", "o": "b"}, {"o": "z"}]}"#,
        ),
    ];
    for (prior, config, expected) in cases {
        check(&schema, prior, config, expected);
    }
}

#[test]
fn proposed_blocks_merge_by_nesting_mode() {
    let inner = || block([("c", computed()), ("o", optional())]);
    let cases = [
        (Nesting::Single, r#"{"b": {"c": "x"}}"#, "{}", "{}"),
        (
            Nesting::Single,
            r#"{"b": {"c": "x"}}"#,
            r#"{"b": {"o": "a"}}"#,
            r#"{"b": {"c": "x", "o": "a"}}"#,
        ),
        (Nesting::Single, "{}", r#"{"b": {"o": "a"}}"#, r#"{"b": {"o": "a"}}"#),
        // A group that is left out is an object of nulls, so its computed values stay.
        (Nesting::Group, r#"{"b": {"c": "x", "o": "a"}}"#, r#"{"b": {}}"#, r#"{"b": {"c": "x"}}"#),
        (
            Nesting::List,
            r#"{"b": [{"c": "1", "o": "a"}]}"#,
            r#"{"b": [{"o": "z"}, {"o": "y"}]}"#,
            r#"{"b": [{"c": "1", "o": "z"}, {"o": "y"}]}"#,
        ),
        (Nesting::List, r#"{"b": [{"c": "1"}]}"#, r#"{"b": []}"#, r#"{"b": []}"#),
        // A dynamic block whose `for_each` is unknown.
        (Nesting::List, r#"{"b": [{"c": "1"}]}"#, r#"{"b": "?"}"#, r#"{"b": "?"}"#),
        // An old state may hold null instead of no blocks.
        (Nesting::List, r#"{"b": null}"#, r#"{"b": []}"#, r#"{"b": []}"#),
        (Nesting::List, r#"{"b": null}"#, r#"{"b": [{"o": "a"}]}"#, r#"{"b": [{"o": "a"}]}"#),
        (
            Nesting::Map,
            r#"{"b": {"k": {"c": "1"}, "l": {"c": "2"}}}"#,
            r#"{"b": {"l": {"o": "a"}, "m": {}}}"#,
            r#"{"b": {"l": {"c": "2", "o": "a"}, "m": {}}}"#,
        ),
        (
            Nesting::Set,
            r#"{"b": [{"c": "1", "o": "a"}]}"#,
            r#"{"b": [{"o": "a"}, {"o": "b"}]}"#,
            r#"{"b": [{"c": "1", "o": "a"}, {"o": "b"}]}"#,
        ),
        (Nesting::Set, r#"{"b": [{"c": "1", "o": "a"}]}"#, r#"{"b": "?"}"#, r#"{"b": "?"}"#),
    ];
    for (nesting, prior, config, expected) in cases {
        check(&block_with([], [("b", nesting, inner())]), prior, config, expected);
    }
}

#[test]
fn set_elements_correspond_by_non_computed_attributes() {
    let inner = block([("c", computed()), ("oc", optional_computed()), ("r", required())]);
    let schema = block_with([], [("b", Nesting::Set, inner)]);
    let cases = [
        // Another attribute differs, so there is no matching element and no computed value.
        (r#"[{"r": "a", "oc": "p", "c": "1"}]"#, r#"[{"r": "b"}]"#, r#"[{"r": "b"}]"#),
        (
            r#"[{"r": "a", "oc": "p", "c": "1"}]"#,
            r#"[{"r": "a"}]"#,
            r#"[{"r": "a", "oc": "p", "c": "1"}]"#,
        ),
        // A computed attribute that is set must be equal.
        (
            r#"[{"r": "a", "oc": "p", "c": "1"}]"#,
            r#"[{"r": "a", "oc": "q"}]"#,
            r#"[{"r": "a", "oc": "q"}]"#,
        ),
        // The first of two candidates matches, and each candidate matches only once.
        (
            r#"[{"r": "a", "oc": "p", "c": "1"}, {"r": "a", "oc": "q", "c": "2"}]"#,
            r#"[{"r": "a"}, {"r": "a", "oc": "q"}]"#,
            r#"[{"r": "a", "oc": "p", "c": "1"}, {"r": "a", "oc": "q", "c": "2"}]"#,
        ),
        // Unknown elements match no prior element.
        (
            r#"[{"r": "a", "c": "1"}]"#,
            r#"[{"r": "?"}, {"r": "a"}]"#,
            r#"[{"r": "?"}, {"r": "a", "c": "1"}]"#,
        ),
    ];
    for (prior, config, expected) in cases {
        let wrapped = |elements: &str| format!(r#"{{"b": {elements}}}"#);
        check(&schema, &wrapped(prior), &wrapped(config), &wrapped(expected));
    }
}

#[test]
fn set_element_matches_only_if_all_nested_parts_match() {
    let deep = block([("c", computed()), ("o", optional()), ("oc", optional_computed())]);
    let list = block_with(
        [("oc", optional_computed())],
        [("deep", Nesting::List, deep.clone()), ("set", Nesting::Set, deep)],
    );
    let inner = block_with([("oc", optional_computed())], [("list", Nesting::List, list)]);
    let schema = block_with([], [("b", Nesting::Set, inner)]);
    let prior = r#"{"b": [{"oc": "p", "list": [{"oc": "p", "deep": [{"c": "1", "o": "a", "oc": "q"}], "set": []}]}]}"#;
    let kept = |config: &str| {
        let config = format!(r#"{{"b": [{{"list": [{config}]}}]}}"#);
        let proposed = proposed_new(&schema, &value(&schema, prior), &value(&schema, &config));
        proposed == value(&schema, prior)
    };
    assert!(kept(r#"{"deep": [{"o": "a"}], "set": []}"#));
    assert!(kept(r#"{"deep": [{"o": "a", "oc": "q"}], "set": []}"#));
    // An attribute that is not computed differs because it is left out; in the next case, a computed attribute
    // that is set differs.
    let schema_value =
        |config: &str| proposed_new(&schema, &value(&schema, prior), &value(&schema, config));
    let cases = [
        r#"{"b": [{"list": [{"deep": [{}], "set": []}]}]}"#,
        r#"{"b": [{"list": [{"deep": [{"o": "a", "oc": "z"}], "set": []}]}]}"#,
        r#"{"b": [{"list": [{"deep": [{"o": "a"}], "set": [{}]}]}]}"#,
    ];
    for config in cases {
        assert_eq!(schema_value(config), value(&schema, config), "{config}");
    }
}

#[test]
fn nested_sets_of_a_set_element_must_be_equal() {
    let deep =
        block_with([], [("set", Nesting::Set, block([("c", computed()), ("o", optional())]))]);
    let inner = block_with([("c", computed())], [("list", Nesting::List, deep)]);
    let schema = block_with([], [("b", Nesting::Set, inner)]);
    let prior = r#"{"b": [{"c": "1", "list": [{"set": [{"c": "2", "o": "a"}]}]}]}"#;
    let config = r#"{"b": [{"list": [{"set": [{"o": "a"}]}]}]}"#;
    check(&schema, prior, config, config);
    let equal = r#"{"b": [{"list": [{"set": [{"c": "2", "o": "a"}]}]}]}"#;
    check(&schema, prior, equal, prior);
}

#[test]
fn prior_set_element_is_matched_once() {
    let inner = block_with(
        [("c", computed()), ("oc", optional_computed())],
        [("list", Nesting::List, block([("o", optional())]))],
    );
    let schema = block_with([], [("b", Nesting::Set, inner)]);
    check(
        &schema,
        r#"{"b": [{"c": "1", "oc": "p", "list": [{"o": "1"}]}, {"c": "2", "oc": "p", "list": [{"o": "2"}]}]}"#,
        r#"{"b": [{"list": [{"o": "2"}]}, {"oc": "p", "list": [{"o": "2"}]}]}"#,
        r#"{"b": [{"c": "2", "oc": "p", "list": [{"o": "2"}]}, {"list": [{"o": "2"}]}]}"#,
    );
}

#[test]
fn equal_numbers_of_different_precision_match() {
    let inner = block([("c", computed()), ("n", Attribute::optional(Type::Number))]);
    let schema = block_with([], [("b", Nesting::Set, inner.clone())]);
    let object = |c: Value, number: Number| {
        let element = Value::object_from([("c", c), ("n", Value::number(number))]);
        Value::object_from([("b", Value::set(inner.implied_type().clone(), vec![element]))])
    };
    for (double, text) in [(1e30, "1000000000000000019884624838656"), (0.1, "0.1")] {
        let prior = object("1".into(), Number::from(double));
        let number = Number::parse(text).expect("it is a number");
        let config = object(Value::null(Type::String), number.clone());
        assert_eq!(proposed_new(&schema, &prior, &config), object("1".into(), number), "{text}");
    }
}

#[test]
fn parts_of_a_set_element_correspond_by_index_and_key() {
    let inner = block_with(
        [("map", nested(ObjectNesting::Map, [("c", computed()), ("o", optional())]))],
        [
            ("list", Nesting::List, block([("c", computed()), ("o", optional())])),
            ("set", Nesting::Set, block([("c", computed()), ("o", optional())])),
        ],
    );
    let schema = block_with([], [("b", Nesting::Set, inner)]);
    check(
        &schema,
        r#"{"b": [{"map": {"k": {"c": "1", "o": "a"}}, "list": [{"c": "2", "o": "b"}], "set": []}]}"#,
        r#"{"b": [{"map": {"k": {"o": "a"}}, "list": [{"o": "b"}], "set": []}]}"#,
        r#"{"b": [{"map": {"k": {"c": "1", "o": "a"}}, "list": [{"c": "2", "o": "b"}], "set": []}]}"#,
    );
    check(
        &schema,
        r#"{"b": [{"list": [{"c": "2", "o": "b"}], "set": [{"c": "3", "o": "c"}]}]}"#,
        r#"{"b": [{"list": [{"o": "b"}], "set": [{"o": "c"}]}]}"#,
        r#"{"b": [{"list": [{"o": "b"}], "set": [{"o": "c"}]}]}"#,
    );
}

#[test]
fn blocks_with_dynamic_attributes_stay_tuples_and_objects() {
    let inner = || block([("c", computed()), ("d", Attribute::optional(Type::Dynamic))]);
    let element = |c: Option<&str>, d: Value| {
        let c = c.map_or(Value::null(Type::String), Value::from);
        Value::object_from([("c", c), ("d", d)])
    };
    let wrap = |value: Value| Value::object_from([("b", value)]);
    let list = block_with([], [("b", Nesting::List, inner())]);
    let proposed = proposed_new(
        &list,
        &wrap(Value::tuple(vec![element(Some("1"), Value::int(1))])),
        &wrap(Value::tuple(vec![element(None, "x".into()), element(None, Value::bool(true))])),
    );
    let expected =
        Value::tuple(vec![element(Some("1"), "x".into()), element(None, Value::bool(true))]);
    assert_eq!(proposed, wrap(expected));
    let map = block_with([], [("b", Nesting::Map, inner())]);
    let proposed = proposed_new(
        &map,
        &wrap(Value::object_from([("k", element(Some("1"), Value::int(1)))])),
        &wrap(Value::object_from([
            ("k", element(None, "x".into())),
            ("l", element(None, Value::int(2))),
        ])),
    );
    let expected = Value::object_from([
        ("k", element(Some("1"), "x".into())),
        ("l", element(None, Value::int(2))),
    ]);
    assert_eq!(proposed, wrap(expected));
}

#[test]
fn deferred_data_source_has_unknown_computed_attributes() {
    let inner = || block([("c", computed()), ("o", optional())]);
    let schema = block_with(
        [
            ("c", computed()),
            ("n", Attribute { computed: true, ..nested(ObjectNesting::List, [("c", computed())]) }),
            ("o", optional()),
        ],
        [
            ("group", Nesting::Group, inner()),
            ("list", Nesting::List, inner()),
            ("map", Nesting::Map, inner()),
            ("set", Nesting::Set, inner()),
            ("single", Nesting::Single, inner()),
        ],
    );
    let config = value(
        &schema,
        r#"{"o": "a", "group": {}, "list": [{"o": "b"}], "map": {"k": {"o": "d"}}, "set": [{"o": "e"}], "single": {}}"#,
    );
    let expected = value(
        &schema,
        r#"{"c": "?", "n": "?", "o": "a", "group": {"c": "?"}, "list": [{"c": "?", "o": "b"}],
            "map": {"k": {"o": "d"}}, "set": [{"o": "e"}], "single": {"c": "?"}}"#,
    );
    assert_eq!(planned_unknown_object(&schema, &config), expected);
    let unknown = Value::unknown(schema.implied_type().clone());
    assert_eq!(planned_unknown_object(&schema, &unknown), unknown);
}

#[test]
fn proposed_values_keep_their_marks() {
    let schema = block_with(
        [("c", computed()), ("o", optional())],
        [("list", Nesting::List, block([("o", optional())]))],
    );
    let secret = |text: &str| Value::from(text).with_mark(values::Mark::Sensitive);
    let config = value(&schema, r#"{"list": [{"o": "x"}]}"#)
        .with_part(&values::Step::Attr("o".into()), |_| secret("a"))
        .with_part(&values::Step::Attr("list".into()), |it| it.with_mark(values::Mark::Ephemeral));
    let prior = value(&schema, r#"{"list": [{"o": "y"}]}"#)
        .with_part(&values::Step::Attr("c".into()), |_| secret("b"));
    let proposed = proposed_new(&schema, &prior, &config);
    assert_eq!(proposed.get_attr("o"), Some(secret("a")));
    assert_eq!(proposed.get_attr("c"), Some(secret("b")));
    assert_eq!(proposed.get_attr("list"), config.get_attr("list"));
    let config = config.with_mark(values::Mark::Sensitive);
    assert_eq!(proposed_new(&schema, &prior, &config).marks(), config.marks());
}

/// Comparing all pairs would take many minutes here.
#[test]
fn large_sets_are_matched_without_comparing_all_pairs() {
    let inner = block([("c", computed()), ("o", optional()), ("oc", optional_computed())]);
    let schema = block_with([], [("b", Nesting::Set, inner.clone())]);
    let set = |filled: bool| {
        let elements = (0..5_000).map(|idx| {
            let computed = || match filled {
                true => Value::from(format!("c{idx}")),
                false => Value::null(Type::String),
            };
            let o = Value::from(format!("o{idx}"));
            Value::object_from([("c", computed()), ("o", o), ("oc", computed())])
        });
        let elements = elements.collect();
        Value::object_from([("b", Value::set(inner.implied_type().clone(), elements))])
    };
    let (prior, config) = (set(true), set(false));
    assert_eq!(proposed_new(&schema, &prior, &config), prior);
}
