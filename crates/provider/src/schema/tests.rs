use sorted::SortedMap;
use values::{Path, Type, Value};

use super::{
    Attribute, AttributeType, Block, MissingAttribute, NestedBlock, NestedObject, Nesting,
    ObjectNesting, Schema,
};
use crate::fixture::{block, block_with, computed, nested, optional, required, write_only};

fn dynamic() -> Attribute {
    Attribute::optional(Type::Dynamic)
}

#[test]
fn the_implied_type_follows_nesting_and_dynamic_attributes() {
    let cases = [
        (Nesting::Single, false, "object({ b = object({ a = string }) })"),
        (Nesting::Group, false, "object({ b = object({ a = string }) })"),
        (Nesting::List, false, "object({ b = list(object({ a = string })) })"),
        (Nesting::Set, false, "object({ b = set(object({ a = string })) })"),
        (Nesting::Map, false, "object({ b = map(object({ a = string })) })"),
        (Nesting::Single, true, "object({ b = object({ a = any }) })"),
        (Nesting::List, true, "object({ b = any })"),
        (Nesting::Map, true, "object({ b = any })"),
    ];
    for (nesting, is_dynamic, expected) in cases {
        let attribute = if is_dynamic { dynamic() } else { optional() };
        let schema = block_with([], [("b", nesting, block([("a", attribute)]))]);
        assert_eq!(schema.implied_type().to_string(), expected, "{nesting:?}");
    }
}

#[test]
fn type_of_a_nested_attribute_stays_a_collection() {
    let schema = block([
        ("list", nested(ObjectNesting::List, [("a", dynamic())])),
        ("map", nested(ObjectNesting::Map, [("a", dynamic())])),
        ("set", nested(ObjectNesting::Set, [("a", optional())])),
        ("single", nested(ObjectNesting::Single, [("a", optional())])),
    ]);
    let expected = "object({ list = list(object({ a = any })), map = map(object({ a = any })), \
                    set = set(object({ a = string })), single = object({ a = string }) })";
    assert_eq!(schema.implied_type().to_string(), expected);
}

#[test]
fn optional_attributes_are_optional_only_in_the_decode_type() {
    let attributes = [("c", computed()), ("o", optional()), ("r", required())];
    let schema = block([("n", nested(ObjectNesting::List, attributes))]);
    let attribute = &schema.attributes()["n"];
    let decode = "list(object({ c = optional(string), o = optional(string), r = string }))";
    assert_eq!(attribute.decode_type().to_string(), decode);
    assert!(!schema.implied_type().has_optional());
}

#[test]
fn empty_block_value_has_null_attributes_and_empty_collections() {
    let inner = || block([("a", optional())]);
    let deep = || block([("d", dynamic())]);
    let schema = block_with(
        [("a", optional()), ("n", nested(ObjectNesting::List, [("a", optional())]))],
        [
            ("dyn_list", Nesting::List, deep()),
            ("dyn_map", Nesting::Map, deep()),
            ("group", Nesting::Group, inner()),
            ("list", Nesting::List, inner()),
            ("map", Nesting::Map, inner()),
            ("set", Nesting::Set, inner()),
            ("single", Nesting::Single, inner()),
        ],
    );
    let empty = schema.empty_value();
    let part = |name: &str| empty.get_attr(name).expect("every name has a value");
    assert!(part("a").is_null() && part("n").is_null() && part("single").is_null());
    assert_eq!(part("dyn_list"), Value::empty_tuple());
    assert_eq!(part("dyn_map"), Value::empty_object());
    assert_eq!(part("group"), Value::object_from([("a", Value::null(Type::String))]));
    for name in ["list", "map", "set"] {
        assert_eq!(part(name).stored_length(), Some(0), "{name}");
    }
    assert_eq!(empty.ty().as_object().map(|it| it.len()), Some(9));
}

#[test]
fn schema_attribute_is_found_by_path() {
    let inner = block([("s", nested(ObjectNesting::Map, [("leaf", required())]))]);
    let schema = block_with([("a", optional())], [("b", Nesting::List, inner)]);
    let root = Path::root;
    let index = || Value::int(0);
    let cases = [
        (root().attr("a"), true),
        (root().attr("a").attr("x"), false),
        (root().attr("b"), false),
        (root().attr("b").index(index()), false),
        (root().attr("b").index(index()).attr("s"), true),
        (root().attr("b").index(index()).attr("s").index("k".into()), false),
        (root().attr("b").index(index()).attr("s").index("k".into()).attr("leaf"), true),
        (root().attr("x"), false),
        (root(), false),
    ];
    for (path, found) in cases {
        assert_eq!(schema.attribute_by_path(&path).is_some(), found, "{path}");
    }
}

fn limited(nesting: Nesting, min_items: i64, max_items: i64) -> Schema {
    let nested = NestedBlock { block: Block::default(), nesting, min_items, max_items };
    Schema::new(0, Block::new(SortedMap::new(), [("b".into(), nested)].into()))
}

fn with_attribute(attribute: Attribute) -> Schema {
    Schema::new(0, block([("a-b", attribute)]))
}

fn problems(schema: &Schema) -> String {
    let lines: Vec<String> = schema.problems().iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn invalid_schema_is_reported() {
    let ty = || AttributeType::Type(Type::String);
    let both = Attribute { required: true, ..optional() };
    let computed_required = Attribute { computed: true, ..required() };
    let dynamic_set = nested(ObjectNesting::Set, [("d", dynamic())]);
    let in_set = Schema::new(0, block_with([], [("b", Nesting::Set, block([("d", dynamic())]))]));
    let clash =
        Schema::new(0, block_with([("b", optional())], [("b", Nesting::List, Block::default())]));
    let bad_name = Schema::new(0, block_with([], [("B-", Nesting::List, Block::default())]));
    let bounds = "MinItems and MaxItems must";
    let cases = [
        // Real providers have dashes in attribute names.
        (with_attribute(optional()), String::new()),
        (
            with_attribute(Attribute::new(ty())),
            "a-b: must set Optional, Required or Computed".into(),
        ),
        (with_attribute(both), "a-b: cannot set both Optional and Required".into()),
        (with_attribute(computed_required), "a-b: cannot set both Computed and Required".into()),
        (
            with_attribute(dynamic_set),
            "a-b: NestingSet objects may not contain attributes of dynamic type".into(),
        ),
        (in_set, "b: NestingSet blocks may not contain attributes of dynamic type".into()),
        (clash, "b: name defined as both attribute and child block type".into()),
        (bad_name, "B-: name may contain only lowercase letters, digits and underscores".into()),
        (Schema::new(-1, Block::default()), "version must not be negative".into()),
        (limited(Nesting::Single, 1, 1), String::new()),
        (limited(Nesting::Single, 0, 1), format!("b: {bounds} match in NestingSingle mode")),
        (
            limited(Nesting::Single, 2, 2),
            format!("b: {bounds} be set to either 0 or 1 in NestingSingle mode"),
        ),
        (limited(Nesting::Group, 1, 1), format!("b: {bounds} both be 0 in this nesting mode")),
        (limited(Nesting::Map, 0, 1), format!("b: {bounds} both be 0 in this nesting mode")),
        (limited(Nesting::List, 2, 0), String::new()),
        (limited(Nesting::List, 2, 1), "b: MinItems must be less than or equal to MaxItems".into()),
        (limited(Nesting::List, -1, 0), format!("b: {bounds} both be greater than zero")),
    ];
    for (schema, expected) in cases {
        assert_eq!(problems(&schema), expected);
    }
}

#[test]
fn schema_nested_too_deeply_is_refused() {
    let mut attribute = optional();
    for _ in 0..1_000 {
        let attributes = [("n".into(), attribute)].into();
        let object = NestedObject::new(ObjectNesting::Single, attributes);
        attribute = Attribute { optional: true, ..Attribute::new(AttributeType::Nested(object)) };
    }
    assert!(problems(&with_attribute(attribute)).ends_with("nested too deeply"));
}

#[test]
fn write_only_attributes_inside_sets_are_refused_and_sets_accepted() {
    let inner = || block([("w", write_only())]);
    let of_set_type =
        Attribute { write_only: true, ..Attribute::optional(Type::set(Type::String)) };
    let whole = Attribute { write_only: true, ..nested(ObjectNesting::Set, [("o", optional())]) };
    let cases = [
        (block([("s", of_set_type)]), None),
        (block([("s", whole)]), None),
        (block_with([], [("b", Nesting::List, inner())]), None),
        (block_with([], [("b", Nesting::Set, inner())]), Some(".b.w")),
        (
            block_with(
                [],
                [("b", Nesting::Set, block_with([], [("c", Nesting::Single, inner())]))],
            ),
            Some(".b.c.w"),
        ),
        (block([("s", nested(ObjectNesting::Set, [("w", write_only())]))]), Some(".s.w")),
        (
            block([(
                "l",
                nested(
                    ObjectNesting::List,
                    [(
                        "s",
                        nested(
                            ObjectNesting::Set,
                            [("m", nested(ObjectNesting::Map, [("w", write_only())]))],
                        ),
                    )],
                ),
            )]),
            Some(".l.s.m.w"),
        ),
    ];
    for (block, expected) in cases {
        let schema = Schema::new(0, block);
        assert_eq!(schema.write_only_in_set().as_deref(), expected);
    }
}

#[test]
fn schemas_may_differ_in_which_arguments_are_required() {
    let inner = || block([("name", required())]);
    let schema = |token: Attribute| {
        let blocks = [("one", Nesting::Single, inner()), ("many", Nesting::List, inner())];
        Schema::new(0, block_with([("token", token)], blocks))
    };
    let (here, there) = (schema(required()), schema(optional()));
    assert_eq!(super::difference::of_schemas(&here, &there), None);
    let computed = schema(Attribute::optional_computed(Type::String));
    assert_eq!(super::difference::of_schemas(&here, &computed).as_deref(), Some("token"));
    let inside = |name: Value| Value::object_from([("name", name)]);
    let null = || Value::null(Type::String);
    let value = Value::object_from([
        ("token", null()),
        ("one", inside(null())),
        ("many", Value::tuple(vec![inside(Value::unknown(Type::String)), inside(null())])),
    ]);
    let shown = |missing: Vec<MissingAttribute>| -> Vec<String> {
        missing.iter().map(|it| format!("{:?} {}", it.path, it.name)).collect()
    };
    let told = shown(here.block().missing(&value));
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().any(|it| it.ends_with(" token")));
    assert_eq!(shown(there.block().missing(&value)).len(), 2);
    assert!(here.block().without_required().missing(&value).is_empty());
    assert_eq!(here.block().without_required().implied_type(), here.block().implied_type());
}
