use sorted::SortedMap;
use values::{Kind, Mark, MarkKind, Step, Str, Type, Value};

use crate::fixture::{block, block_with, computed, nested, optional, sensitive, value, write_only};
use crate::schema::{Attribute, Block, NestedBlock, Nesting, ObjectNesting};
use crate::walk::{
    mark_by_schema, mark_deprecated_by_schema, null_write_only, sensitive_paths, unmark_write_only,
    write_only_paths, write_only_values, write_only_values_present,
};

/// A schema with write-only and sensitive attributes in every kind of place.
fn schema() -> Block {
    let inner = || [("o", optional()), ("s", sensitive(computed())), ("w", write_only())];
    block_with(
        [
            ("list", nested(ObjectNesting::List, inner())),
            ("map", nested(ObjectNesting::Map, inner())),
            ("o", optional()),
            ("s", sensitive(optional())),
            ("single", nested(ObjectNesting::Single, inner())),
            ("w", write_only()),
        ],
        [
            ("b_group", Nesting::Group, block(inner())),
            ("b_list", Nesting::List, block(inner())),
            ("b_map", Nesting::Map, block(inner())),
            ("b_set", Nesting::Set, block(inner())),
            ("b_single", Nesting::Single, block(inner())),
        ],
    )
}

const EVERYWHERE: &str = r#"{"o": "1", "s": "1", "w": "1", "list": [{"w": "1"}, {"w": "?"}], "map": {"k": {"w": "1"}},
    "single": {"w": "1"}, "b_group": {"w": "1"}, "b_list": [{"w": "1"}], "b_map": {"k": {"w": "1"}},
    "b_set": [{"w": "1"}], "b_single": {"w": "1"}}"#;

const EVERYWHERE_NULL: &str = r#"{"o": "1", "s": "1", "list": [{}, {}], "map": {"k": {}},
    "single": {}, "b_group": {}, "b_list": [{}], "b_map": {"k": {}}, "b_set": [{}], "b_single": {}}"#;

fn texts(paths: &[values::Path]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[test]
fn only_write_only_values_are_nulled() {
    let schema = schema();
    let nulled = null_write_only(&value(&schema, EVERYWHERE), &schema);
    assert_eq!(nulled, value(&schema, EVERYWHERE_NULL));
    assert_eq!(nulled.ty(), *schema.implied_type());
    assert!(write_only_values_present("t", &nulled, &schema).is_empty());
    for json in ["null", "\"?\""] {
        let whole = value(&schema, json);
        assert_eq!(null_write_only(&whole, &schema), whole);
    }
}

#[test]
fn nulled_write_only_value_keeps_marks_except_ephemeral() {
    let schema = block([("o", optional()), ("w", write_only())]);
    let secret = Value::from("1").with_mark(Mark::Ephemeral).with_mark(Mark::Sensitive);
    let object = Value::object_from([("o", secret.clone()), ("w", secret)]);
    let nulled = null_write_only(&object, &schema);
    let written = nulled.get_attr("w").expect("the attribute stays");
    assert!(written.is_null());
    assert!(!written.has_deep(MarkKind::Ephemeral));
    assert!(written.has_deep(MarkKind::Sensitive));
    assert!(nulled.get_attr("o").expect("the attribute stays").has_deep(MarkKind::Ephemeral));
}

#[test]
fn write_only_null_keeps_its_type() {
    let dynamic = Attribute { write_only: true, ..Attribute::optional(Type::Dynamic) };
    let schema = block([("w", dynamic)]);
    let of = |value| Value::object_from([("w", value)]);
    let typed = of(Value::null(Type::object([("key", Type::String)])));
    assert_eq!(null_write_only(&typed, &schema), typed);
    let set = of(Value::object_from([("key", Value::from("1"))]));
    assert_eq!(null_write_only(&set, &schema), of(Value::null(Type::Dynamic)));
}

#[test]
fn unmarked_write_only_attribute_keeps_the_sensitive_mark() {
    let schema = block([("o", optional()), ("w", write_only())]);
    let secret = Value::from("1").with_mark(Mark::Ephemeral).with_mark(Mark::Sensitive);
    let object = Value::object_from([("o", secret.clone()), ("w", secret.clone())]);
    let bare = unmark_write_only(&object, &schema);
    assert_eq!(bare.get_attr("w"), Some(secret.without(MarkKind::Ephemeral)));
    assert_eq!(bare.get_attr("o"), Some(secret.clone()));
    let list = Value::tuple(vec![secret]);
    let object = Value::object_from([("w", list.clone())]);
    let bare = unmark_write_only(&object, &schema);
    assert_eq!(bare.get_attr("w"), Some(list.without_all_marks()));
}

#[test]
fn write_only_paths_lists_every_attribute() {
    let schema = schema();
    let paths = write_only_paths(&value(&schema, EVERYWHERE), &schema);
    let expected = [
        ".b_group.w",
        ".b_list[0].w",
        ".b_map[\"k\"].w",
        ".b_set[...].w",
        ".b_single.w",
        ".list[0].w",
        ".list[1].w",
        ".map[\"k\"].w",
        ".single.w",
        ".w",
    ];
    assert_eq!(texts(&paths), expected);
    let values = write_only_values(&value(&schema, EVERYWHERE), &schema);
    assert_eq!(values.len(), expected.len());
    assert_eq!(values.iter().filter(|it| it.as_str() == Some("1")).count(), 9, "{values:?}");
    assert!(write_only_values(&value(&schema, EVERYWHERE_NULL), &schema).is_empty());
}

#[test]
fn write_only_value_in_a_response_is_an_error_without_the_value() {
    let schema = schema();
    let answer = EVERYWHERE.replace("\"1\"", "\"hush\"");
    let diagnostics = write_only_values_present("test_thing", &value(&schema, &answer), &schema);
    assert_eq!(diagnostics.len(), 10);
    for diagnostic in &diagnostics {
        assert!(diagnostic.is_error());
        assert_eq!(diagnostic.summary, "Invalid provider response");
        assert!(diagnostic.detail.contains("\"test_thing\""), "{}", diagnostic.detail);
        assert!(!diagnostic.detail.contains("hush"), "{}", diagnostic.detail);
    }
    assert!(diagnostics[9].detail.contains("\".w\""), "{}", diagnostics[9].detail);
}

#[test]
fn sensitive_attributes_are_marked_by_schema() {
    let schema = schema();
    let marked = mark_by_schema(&value(&schema, EVERYWHERE), &schema);
    let expected = [
        ".s",
        ".b_group.s",
        ".b_list[0].s",
        ".b_map[\"k\"].s",
        ".b_set",
        ".b_single.s",
        ".list[0].s",
        ".list[1].s",
        ".map[\"k\"].s",
        ".single.s",
    ];
    let found: Vec<_> = marked.path_marks().into_iter().map(|(path, _)| path).collect();
    let mut found = texts(&found);
    let mut listed = texts(&sensitive_paths(&value(&schema, EVERYWHERE), &schema));
    let mut expected = expected.map(str::to_owned).to_vec();
    for paths in [&mut found, &mut listed, &mut expected] {
        paths.sort();
    }
    assert_eq!(found, expected);
    assert_eq!(listed, expected);
    assert_eq!(marked.without_all_marks(), value(&schema, EVERYWHERE));
}

#[test]
fn marking_by_schema_keeps_existing_marks() {
    let schema = schema();
    let given = value(&schema, EVERYWHERE)
        .with_part(&Step::Attr("list".into()), |it| it.with_mark(Mark::Ephemeral))
        .with_part(&Step::Attr("o".into()), |it| it.with_mark(Mark::Ephemeral));
    let marked = mark_by_schema(&given, &schema);
    for name in ["list", "o"] {
        let part = marked.get_attr(name).expect("the attribute stays");
        assert!(part.marks().has(MarkKind::Ephemeral), "{name}");
    }
}

#[test]
fn deprecated_attributes_are_marked_with_path_and_advice() {
    let old = Attribute { deprecated: true, deprecation_message: "use new".into(), ..optional() };
    let mut old_block = block([("o", optional())]);
    old_block.deprecated = true;
    old_block.deprecation_message = "use attributes".into();
    let blocks: SortedMap<Str, NestedBlock> =
        [("b".into(), NestedBlock::new(Nesting::List, old_block))].into();
    let attributes = [("new".into(), optional()), ("old".into(), old)].into();
    let schema = Block::new(attributes, blocks);
    let given = value(&schema, r#"{"new": "1", "old": "1", "b": [{"o": "1"}]}"#);
    let marked = mark_deprecated_by_schema(&given, &schema, "test_thing.a");
    let Kind::Object(parts) = marked.kind() else { panic!("an object stays an object") };
    let found: Vec<(String, String)> = parts
        .values()
        .flat_map(|part| part.marks().deprecations())
        .map(|it| (it.what.to_string(), it.message.to_string()))
        .collect();
    let expected = [
        ("test_thing.a.b".to_owned(), "use attributes".to_owned()),
        ("test_thing.a.old".to_owned(), "use new".to_owned()),
    ];
    assert_eq!(found, expected);
}
