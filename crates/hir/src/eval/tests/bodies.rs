//! Tests of bodies with schemas.

use std::sync::Arc;

use provider::{
    Attribute, AttributeType, Block, NestedBlock, NestedObject, Nesting, ObjectNesting,
};
use sorted::SortedMap;
use values::{Path, Str, Type, Value};

use super::{Names, show, show_problem};
use crate::{
    At,
    eval::{Evaluated, decode_body, locate_path},
    item::Item,
    lower::{lower_chunk, source_map::SourceMap},
};

fn attributes<const N: usize>(attributes: [(&str, Attribute); N]) -> SortedMap<Str, Attribute> {
    attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect()
}

/// A schema with the attributes `name` (optional string), `size` (optional number), `any` (dynamic) and `id`
/// (computed), and a nested block `rule` of the given nesting with a required string `port` and an optional string
/// `note`.
fn schema(nesting: Nesting, min_items: i64, max_items: i64) -> Block {
    let rule = Block::new(
        attributes([
            ("port", Attribute::required(Type::String)),
            ("note", Attribute::optional(Type::String)),
        ]),
        SortedMap::new(),
    );
    let rule = NestedBlock { min_items, max_items, ..NestedBlock::new(nesting, rule) };
    let own = attributes([
        ("name", Attribute::optional(Type::String)),
        ("size", Attribute::optional(Type::Number)),
        ("any", Attribute::optional(Type::Dynamic)),
        ("id", Attribute::computed(Type::String)),
    ]);
    Block::new(own, [("rule".into(), rule)].into())
}

fn lowered(body: &str) -> (Arc<Item>, SourceMap, String) {
    let text = format!("resource \"t\" \"n\" {{\n{body}\n}}\n");
    let lowered = lower_chunk(&text);
    assert!(lowered.problems.is_empty(), "{body}: {:?}", lowered.problems);
    (lowered.items[0].clone(), lowered.source_maps[0].clone(), text)
}

fn decoded(schema: &Block, body: &str) -> (Evaluated, SourceMap, String) {
    let (item, map, text) = lowered(body);
    let resource = item.kind.as_resource().expect("the fixture is a resource");
    let evaluated = decode_body(&item.exprs, &resource.body, item.header, schema, &Names::new());
    (evaluated.expect("nothing interrupts"), map, text)
}

/// Compares the attributes of the object, without null ones, or the diagnostics with the text at their locations.
#[track_caller]
fn check(schema: &Block, body: &str, expected: &str) {
    let (evaluated, map, text) = decoded(schema, body);
    let problems: Vec<String> = evaluated
        .diagnostics
        .iter()
        .map(|it| {
            format!("{} @ {}", show_problem(it), map.range(it.at).map_or("?", |range| &text[range]))
        })
        .collect();
    let found = if problems.is_empty() { show_set(&evaluated.value) } else { problems.join(" | ") };
    assert_eq!(found, expected, "{body}");
}

fn show_set(object: &Value) -> String {
    let entries = object.as_map().expect("an object").iter().filter(|(_, value)| !value.is_null());
    entries.map(|(name, value)| format!("{name} = {}", show(value))).collect::<Vec<_>>().join(", ")
}

#[test]
fn attributes_are_converted_and_absent_ones_are_null() {
    let schema = schema(Nesting::List, 0, 0);
    check(
        &schema,
        "name = 5\nsize = \"7\"\nany = [1]",
        "any = [1], name = \"5\", rule = list[], size = 7",
    );
    let (evaluated, ..) = decoded(&schema, "name = 5");
    assert_eq!(evaluated.value.ty(), *schema.implied_type(), "the object has the schema's type");
    check(
        &schema,
        "size = \"x\"",
        "Incorrect attribute value type: Inappropriate value for attribute \"size\": a number is required. @ \"x\"",
    );
    check(&schema, "name = var.e", "name = ephemeral(\"hush\"), rule = list[]");
}

#[test]
fn unexpected_arguments_and_blocks_are_errors_with_suggestions() {
    let schema = schema(Nesting::List, 0, 0);
    check(
        &schema,
        "nam = 1",
        "Unsupported argument: An argument named \"nam\" is not expected here. Did you mean \"name\"? @ nam",
    );
    check(
        &schema,
        "rule = 1",
        "Unsupported argument: An argument named \"rule\" is not expected here. Did you mean to \
         define a block of type \"rule\"? @ rule",
    );
    check(
        &schema,
        "rul {}",
        "Unsupported block type: Blocks of type \"rul\" are not expected here. Did you mean \"rule\"? @ rul",
    );
    check(
        &schema,
        "name {}",
        "Unsupported block type: Blocks of type \"name\" are not expected here. Did you mean to \
         define argument \"name\"? If so, use the equals sign to assign it a value. @ name",
    );
}

#[test]
fn missing_required_argument_is_reported_at_the_block_header() {
    let schema = schema(Nesting::List, 0, 0);
    check(
        &schema,
        "rule {}",
        "Missing required argument: The argument \"port\" is required, but no definition was found. @ rule",
    );
}

#[test]
fn nested_blocks_decode_by_nesting_mode() {
    let two = "rule { port = 2 }\nrule { port = 1 }";
    check(
        &schema(Nesting::List, 0, 0),
        two,
        "rule = list[{note = tostring(null), port = \"2\"}, {note = tostring(null), port = \"1\"}]",
    );
    check(
        &schema(Nesting::Set, 0, 0),
        "rule { port = 2 }\nrule { port = 2 }",
        "rule = set[{note = tostring(null), port = \"2\"}]",
    );
    check(
        &schema(Nesting::Single, 0, 0),
        "rule { port = 2 }",
        "rule = {note = tostring(null), port = \"2\"}",
    );
    check(&schema(Nesting::Single, 0, 0), "", "");
    check(
        &schema(Nesting::Group, 0, 0),
        "",
        "rule = {note = tostring(null), port = tostring(null)}",
    );
    check(
        &schema(Nesting::Map, 0, 0),
        "rule \"a\" { port = 2 }",
        "rule = map{a = {note = tostring(null), port = \"2\"}}",
    );
    check(&schema(Nesting::Set, 0, 0), "", "rule = set[]");
}

#[test]
fn number_of_nested_blocks_is_checked() {
    let two = "rule { port = 2 }\nrule { port = 1 }";
    let header = "resource \"t\" \"n\"";
    check(
        &schema(Nesting::List, 3, 0),
        two,
        &format!("Insufficient rule blocks: At least 3 \"rule\" blocks are required. @ {header}"),
    );
    check(
        &schema(Nesting::Set, 0, 1),
        two,
        "Too many rule blocks: No more than 1 \"rule\" blocks are allowed @ rule",
    );
    check(
        &schema(Nesting::Single, 0, 0),
        two,
        "Duplicate rule block: Only one block of type \"rule\" is allowed. @ rule",
    );
    check(
        &schema(Nesting::Single, 1, 1),
        "",
        &format!("Missing rule block: A block of type \"rule\" is required here. @ {header}"),
    );
    check(
        &schema(Nesting::Map, 0, 0),
        "rule { port = 1 }",
        "Missing key for rule: All rule blocks must have 1 labels (key). @ rule",
    );
    check(
        &schema(Nesting::List, 0, 0),
        "rule \"a\" { port = 1 }",
        "Extraneous label for rule: No labels are expected for rule blocks. @ rule \"a\"",
    );
    check(
        &schema(Nesting::Map, 0, 0),
        "rule \"a\" { port = 1 }\nrule \"a\" { port = 2 }",
        "Duplicate rule block: A block of type \"rule\" with the label \"a\" is already there. @ rule \"a\"",
    );
}

#[test]
fn dynamic_blocks_expand_in_order_beside_static_blocks() {
    let list = schema(Nesting::List, 0, 0);
    check(
        &list,
        "rule { port = 0 }\ndynamic \"rule\" {\n for_each = [1, 2]\n content { port = rule.value + \
         rule.key }\n}\nrule { port = 9 }",
        "rule = list[{note = tostring(null), port = \"0\"}, {note = tostring(null), port = \"1\"}, \
         {note = tostring(null), port = \"3\"}, {note = tostring(null), port = \"9\"}]",
    );
    check(
        &schema(Nesting::Map, 0, 0),
        "dynamic \"rule\" {\n for_each = {x = 1}\n iterator = it\n labels = [it.key]\n content { port = it.value }\n}",
        "rule = map{x = {note = tostring(null), port = \"1\"}}",
    );
    check(
        &list,
        "dynamic \"rule\" {\n for_each = toset([\"a\"])\n content { port = \"${rule.key}${rule.value}\" }\n}",
        "rule = list[{note = tostring(null), port = \"aa\"}]",
    );
}

#[test]
fn unknown_for_each_of_dynamic_block_makes_the_blocks_unknown() {
    let list = schema(Nesting::List, 3, 0);
    let dynamic = |for_each: &str, port: &str| {
        format!("dynamic \"rule\" {{\n for_each = {for_each}\n content {{ port = {port} }}\n}}")
    };
    check(&list, &dynamic("var.u", "rule.value"), "rule = unknown list of object");
    check(&list, &dynamic("var.u", "null.a"), "rule = unknown list of object");
    check(&list, &dynamic("var.u", "var.e"), "rule = ephemeral(unknown list of object)");
    check(
        &list,
        &dynamic("[var.ue][*].x", "1"),
        "Unsupported attribute: Can't access attributes on a primitive-typed value (string). @ .x",
    );
}

/// An unknown parent block does not make the inner block's content unknown, so only marks of stored values count.
#[test]
fn blocks_in_unknown_dynamic_block_are_marked_by_stored_values_only() {
    let text = || Attribute::optional(Type::String);
    let wo = Attribute { write_only: true, ..text() };
    let nested = |block| NestedBlock::new(Nesting::List, block);
    let inner = Block::new(attributes([("kept", text()), ("wo", wo)]), SortedMap::new());
    let rule = Block::new(SortedMap::new(), [("inner".into(), nested(inner))].into());
    let schema = Block::new(SortedMap::new(), [("rule".into(), nested(rule))].into());
    let (plain, ephemeral) =
        ("rule = unknown list of object", "rule = ephemeral(unknown list of object)");
    for (for_each, content, expected) in [
        ("{ a = var.e }", "wo = inner.value", plain),
        ("{ a = var.e }", "kept = inner.key", plain),
        ("{ a = var.e }", "kept = inner.value", ephemeral),
        ("[var.e, \"x\"]", "kept = \"x\"", plain),
        ("[\"x\", { y = var.e }]", "kept = try(inner.value.y, \"\")", ephemeral),
        ("[]", "kept = var.e", plain),
        ("[rule.value]", "wo = var.e", plain),
        ("[rule.value]", "kept = \"${inner.value}${var.e}\"", ephemeral),
        ("toset([var.e])", "kept = \"x\"", ephemeral),
        ("rule.value", "wo = var.e", plain),
        ("null", "kept = \"x\"", plain),
    ] {
        let text = format!(
            "dynamic \"rule\" {{\n for_each = var.u\n content {{\n dynamic \"inner\" {{\n for_each \
             = {for_each}\n content {{\n {content}\n }}\n }}\n }}\n}}"
        );
        check(&schema, &text, expected);
    }
}

#[test]
fn dynamic_blocks_take_the_marks_of_their_collection() {
    let list = schema(Nesting::List, 0, 0);
    check(
        &list,
        "dynamic \"rule\" {\n for_each = toset([var.e])\n content { port = 1 }\n}",
        "rule = list[ephemeral({note = tostring(null), port = ephemeral(\"1\")})]",
    );
}

#[test]
fn iterators_of_secret_collections_are_secret() {
    let list = schema(Nesting::List, 0, 0);
    let map = schema(Nesting::Map, 0, 0);
    let dynamic = |for_each: &str, port: &str, label: &str| {
        format!(
            "dynamic \"rule\" {{\n for_each = {for_each}\n {label}\n content {{ port = {port} }}\n}}"
        )
    };
    for (for_each, kind) in [
        ("toset([var.e])", "an ephemeral"),
        ("split(\",\", var.e)", "an ephemeral"),
        ("{ (var.e) = 1 }", "an ephemeral"),
        ("toset([var.s])", "a sensitive"),
    ] {
        check(
            &list,
            &dynamic(for_each, "rule.key.x", ""),
            &format!(
                "Unsupported attribute: Can't access attributes on a primitive-typed value \
                      (string). (rule.key has {kind} value) @ .x"
            )
            .replace(
                "(string)",
                if for_each.starts_with("split") { "(number)" } else { "(string)" },
            ),
        );
        check(
            &map,
            &dynamic(for_each, "1", "labels = [rule.key]"),
            &format!(
                "Invalid dynamic block label: Cannot use a sensitive or ephemeral value as a \
                 dynamic block label: labels are shown and kept. (rule.key has {kind} value) @ rule.key"
            ),
        );
    }
    check(
        &map,
        &dynamic("sensitive({ a = 1, b = 2 })", "1", "labels = [\"same\"]"),
        "Duplicate rule block: A block of type \"rule\" with the label \"same\" is already there. @ dynamic \"rule\"",
    );
    check(
        &map,
        &dynamic("{ a = var.s }", "rule.value", "labels = [rule.key]"),
        "rule = map{a = {note = tostring(null), port = sensitive(\"secret\")}}",
    );
}

#[test]
fn invalid_for_each_and_labels_of_dynamic_blocks_are_errors() {
    let list = schema(Nesting::List, 0, 0);
    let dynamic = |for_each: &str| {
        format!("dynamic \"rule\" {{\n for_each = {for_each}\n content {{ port = 1 }}\n}}")
    };
    check(
        &list,
        &dynamic("null"),
        "Invalid dynamic for_each value: Cannot use a null value in for_each. @ null",
    );
    check(
        &list,
        &dynamic("5"),
        "Invalid dynamic for_each value: Cannot use a number value in for_each. An iterable \
         collection is required. @ 5",
    );
    let map = schema(Nesting::Map, 0, 0);
    let labelled = |label: &str| {
        format!(
            "dynamic \"rule\" {{\n for_each = [1]\n labels = [{label}]\n content {{ port = 1 }}\n}}"
        )
    };
    check(
        &map,
        &labelled("null"),
        "Invalid dynamic block label: Cannot use a null value as a dynamic block label. @ null",
    );
    check(
        &map,
        &labelled("var.us"),
        "Invalid dynamic block label: This value is not yet known. Dynamic block labels must be \
         immediately-known values. (var.us is a string, known only after apply) @ var.us",
    );
    check(
        &map,
        &labelled("var.e"),
        "Invalid dynamic block label: Cannot use a sensitive or ephemeral value as a dynamic block \
         label: labels are shown and kept. (var.e has an ephemeral value) @ var.e",
    );
}

#[test]
fn blocks_with_dynamic_attributes_make_tuples_and_objects() {
    let of = |nesting| {
        let inner =
            Block::new(attributes([("x", Attribute::optional(Type::Dynamic))]), SortedMap::new());
        Block::new(SortedMap::new(), [("b".into(), NestedBlock::new(nesting, inner))].into())
    };
    check(&of(Nesting::List), "b { x = 1 }\nb { x = \"a\" }", "b = [{x = 1}, {x = \"a\"}]");
    check(&of(Nesting::Map), "b \"k\" { x = 1 }", "b = {k = {x = 1}}");
    check(
        &of(Nesting::List),
        "dynamic \"b\" {\n for_each = var.u\n content { x = 1 }\n}",
        "b = unknown dynamic",
    );
}

#[test]
fn omitted_optional_attributes_of_nested_attributes_are_null() {
    let inner = attributes([
        ("a", Attribute::required(Type::String)),
        ("b", Attribute::optional(Type::Number)),
    ]);
    let nested = AttributeType::Nested(NestedObject::new(ObjectNesting::List, inner));
    let schema = Block::new(
        attributes([("n", Attribute { optional: true, ..Attribute::new(nested) })]),
        SortedMap::new(),
    );
    check(
        &schema,
        "n = [{a = 1}, {a = 2, b = \"3\"}]",
        "n = list[{a = \"1\", b = tonumber(null)}, {a = \"2\", b = 3}]",
    );
    check(
        &schema,
        "n = [{b = 1}]",
        "Incorrect attribute value type: Inappropriate value for attribute \"n\": element 0: \
         attribute \"a\" is required. @ [{b = 1}]",
    );
}

#[test]
fn attribute_of_objects_can_be_written_as_blocks() {
    let object = Type::object([
        ("a", Type::String),
        ("deep", Type::list(Type::object([("x", Type::Number)]))),
    ]);
    let legacy = Block::new(
        attributes([("l", Attribute::optional(Type::list(object.clone())))]),
        SortedMap::new(),
    );
    check(
        &legacy,
        "l {\n a = 1\n deep { x = 2 }\n}",
        "l = list[{a = \"1\", deep = list[{x = 2}]}]",
    );
    check(
        &legacy,
        "dynamic \"l\" {\n for_each = [1]\n content { a = l.value }\n}",
        "l = list[{a = \"1\", deep = tolist(null) /* of object */}]",
    );
    check(&legacy, "l = []", "l = list[]");
    let modern = Block::new(
        attributes([
            ("l", Attribute::optional(Type::list(object))),
            ("o", Attribute::optional(Type::object([("x", Type::Number)]))),
        ]),
        SortedMap::new(),
    );
    let (evaluated, ..) = decoded(&modern, "l { a = 1 }");
    assert_eq!(evaluated.diagnostics[0].summary, "Unsupported block type");
}

/// A schema with the attributes `l` (list of objects) and `s` (required set of objects), and a block `nest` with
/// an attribute `l`.
fn legacy_schema() -> Block {
    let object = Type::object([("a", Type::String)]);
    let list = || ("l", Attribute::optional(Type::list(object.clone())));
    let nest = NestedBlock::new(Nesting::List, Block::new(attributes([list()]), SortedMap::new()));
    let set = ("s", Attribute::required(Type::set(object.clone())));
    Block::new(attributes([list(), set]), [("nest".into(), nest)].into())
}

#[test]
fn dynamic_blocks_without_elements_leave_the_attribute_unset() {
    let block = |name: &str, for_each: &str| {
        format!(
            "dynamic \"{name}\" {{\n for_each = {for_each}\n content {{ a = {name}.value }}\n}}\n"
        )
    };
    let with = |body: String| format!("s = []\n{body}");
    let check = |body: String, expected: &str| check(&legacy_schema(), &with(body), expected);
    let empty = "nest = list[], s = set[]";
    check(String::new(), empty);
    for none in ["[]", "{}", "toset([])", "sensitive([])"] {
        check(block("l", none), empty);
    }
    check(block("l", "[]") + &block("l", "{}"), empty);
    check("l = []".to_owned(), "l = list[], nest = list[], s = set[]");
    let one = "l = list[{a = \"1\"}], nest = list[], s = set[]";
    check(block("l", "[]") + &block("l", "[1]"), one);
    check(block("l", "[1]") + &block("l", "[]"), one);
    check(block("l", "[]") + "l { a = 1 }", one);
    let nested = |inner: &str| format!("nest {{\n{inner}\n}}");
    check(nested(&block("l", "[]")), "nest = list[{l = tolist(null) /* of object */}], s = set[]");
    check(nested(&block("l", "[1]")), "nest = list[{l = list[{a = \"1\"}]}], s = set[]");
    check(nested("l = []"), "nest = list[{l = list[]}], s = set[]");
    check(
        "l = []\n".to_owned() + &block("l", "[]"),
        "Unsupported block type: Blocks of type \"l\" are not expected here. Did you mean to \
         define argument \"l\"? If so, use the equals sign to assign it a value. @ dynamic \"l\"",
    );
}

#[test]
fn dynamic_blocks_of_unknown_number_make_the_attribute_unknown() {
    let unknown = "dynamic \"l\" {\n for_each = var.ul\n content { a = 1 }\n}";
    let (evaluated, ..) = decoded(&legacy_schema(), &format!("s = []\n{unknown}\nl {{}}"));
    assert!(evaluated.diagnostics.is_empty(), "{:?}", evaluated.diagnostics);
    let list = evaluated.value.as_map().and_then(|it| it.get("l")).expect("is set");
    assert!(!list.is_known() && !list.is_null());
}

#[test]
fn dynamic_blocks_without_elements_do_not_satisfy_a_required_attribute() {
    check(
        &legacy_schema(),
        "dynamic \"s\" {\n for_each = []\n content {}\n}",
        "Missing required argument: The argument \"s\" is required, but no definition was found. @ \
         resource \"t\" \"n\"",
    );
}

#[test]
fn attribute_path_is_located_in_the_text() {
    let cases = [
        (Path::root().attr("any").attr("k").index(Value::int(1)), "2"),
        (Path::root().attr("any").attr("nothing"), "{k = [1, 2]}"),
        (Path::root().attr("rule").index(Value::int(1)).attr("port"), "\"b\""),
        (Path::root().attr("rule").index(Value::int(1)).attr("note"), "rule"),
        (Path::root().attr("rule").index(Value::int(5)).attr("port"), "rule.value"),
        (Path::root().attr("size"), "?"),
    ];
    let body = "any = {k = [1, 2]}\nrule { port = \"a\" }\nrule { port = \"b\" }\n\
                dynamic \"rule\" {\n for_each = [1]\n content { port = rule.value }\n}";
    let (item, map, text) = lowered(body);
    let resource = item.kind.as_resource().expect("the fixture is a resource");
    for (path, expected) in cases {
        let at: Option<At> = locate_path(&resource.body, &item.exprs, &path);
        let found = at.and_then(|at| map.range(at)).map_or("?", |range| &text[range]);
        assert_eq!(found, expected, "{path}");
    }
}
