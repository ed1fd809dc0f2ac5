use values::{Type, Value};

use crate::fixture::{block, block_with, optional, value};
use crate::objchange::normalize_legacy;
use crate::schema::{Attribute, Block, Nesting};

#[track_caller]
fn check(block: &Block, given: &str, expected: &str) {
    assert_eq!(normalize_legacy(&value(block, given), block), value(block, expected), "{given}");
}

#[test]
fn normalization_makes_block_collections_known_and_not_null() {
    let inner =
        || block_with([("o", optional())], [("deep", Nesting::List, block([("o", optional())]))]);
    let cases = [
        (Nesting::List, r#"{"b": null}"#, r#"{"b": []}"#),
        (Nesting::List, r#"{"b": "?"}"#, r#"{"b": [{"o": "?", "deep": [{"o": "?"}]}]}"#),
        (
            Nesting::List,
            r#"{"b": [{"o": "a", "deep": null}]}"#,
            r#"{"b": [{"o": "a", "deep": []}]}"#,
        ),
        (Nesting::Set, r#"{"b": null}"#, r#"{"b": []}"#),
        (Nesting::Set, r#"{"b": "?"}"#, r#"{"b": [{"o": "?", "deep": [{"o": "?"}]}]}"#),
        (Nesting::Single, r#"{"b": null}"#, r#"{"b": null}"#),
        (Nesting::Single, r#"{"b": "?"}"#, r#"{"b": {"o": "?", "deep": [{"o": "?"}]}}"#),
        (Nesting::Group, r#"{"b": null}"#, r#"{"b": {"deep": []}}"#),
        (Nesting::Map, r#"{"b": null}"#, r#"{"b": null}"#),
        (Nesting::List, "null", "null"),
    ];
    for (nesting, given, expected) in cases {
        check(&block_with([("o", optional())], [("b", nesting, inner())]), given, expected);
    }
}

#[test]
fn normalization_skips_blocks_with_dynamic_attributes() {
    let inner = block([("d", Attribute::optional(Type::Dynamic))]);
    let schema = block_with([], [("b", Nesting::List, inner)]);
    let given = Value::object_from([("b", Value::null(Type::Dynamic))]);
    assert_eq!(normalize_legacy(&given, &schema), given);
}
