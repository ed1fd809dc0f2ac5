//! Tests of attribute access, indexes and splats.

use super::{check_all, outcome};

#[test]
fn missing_attributes_and_attributes_of_primitives_are_errors() {
    check_all(&[
        ("{a = 1}.a", "1"),
        ("tomap({a = 1}).a", "1"),
        ("{\"\u{e9}\" = 1}.e\u{301}", "1"),
        ("var.u.a.b", "unknown dynamic"),
        ("var.uo.a", "unknown number"),
        ("var.um.a", "unknown string"),
        ("{a = 1}.b", "Unsupported attribute: This object does not have an attribute named \"b\"."),
        (
            "var.uo.b",
            "Unsupported attribute: This object does not have an attribute named \"b\". (var.uo is \
             an object, known only after apply)",
        ),
        (
            "null.a",
            "Attempt to get attribute from null value: This value is null, so it does not have any attributes.",
        ),
        (
            "\"x\".a",
            "Unsupported attribute: Can't access attributes on a primitive-typed value (string).",
        ),
        ("[1].a", "Unsupported attribute: This value does not have any attributes."),
        (
            "var.map.b",
            "Missing map element: This map does not have an element with the key \"b\". (var.map \
             is map of string with 1 element)",
        ),
    ]);
    assert!(
        outcome("var.objects.a")
            .starts_with("Unsupported attribute: Can't access attributes on a list of objects.")
    );
    assert!(
        outcome("toset([{a = 1}]).a")
            .starts_with("Unsupported attribute: Can't access attributes on a set of objects.")
    );
}

#[test]
fn attribute_chain_on_null_reports_one_error() {
    check_all(&[(
        "null.a.b.c",
        "Attempt to get attribute from null value: This value is null, so it does not have any attributes.",
    )]);
}

#[test]
fn index_must_identify_an_existing_element() {
    const NOT: &str =
        "Invalid index: The given key does not identify an element in this collection value";
    check_all(&[
        ("[1, 2][1]", "2"),
        ("[1, 2][\"1\"]", "2"),
        ("{a = 1}[\"a\"]", "1"),
        ("{\"1\" = 2}[1]", "2"),
        ("var.list[0]", "\"a\""),
        ("var.ul[0]", "unknown string"),
        ("[1][var.un]", "unknown number"),
        ("[1, \"a\"][var.un]", "unknown dynamic"),
        ("{a = 1}[var.us]", "unknown dynamic"),
        ("[1][null]", "Invalid index: Can't use a null value as an indexing key."),
        (
            "null[0]",
            "Attempt to index null value: This value is null, so it does not have any indices.",
        ),
        ("\"x\"[0]", "Invalid index: This value does not have any indices."),
        ("[1][\"a\"]", &format!("{NOT}: a number is required.")),
        ("[1][-1]", &format!("{NOT}: a negative number is not a valid index for a sequence.")),
        (
            "[1][1]",
            &format!(
                "{NOT}: the given index is greater than or equal to the length of the collection."
            ),
        ),
        ("[][0]", &format!("{NOT}: the collection has no elements.")),
        (
            "{a = 1}[0]",
            &format!(
                "{NOT}. An object only supports looking up attributes by name, not by numeric index."
            ),
        ),
        ("{a = 1}[\"b\"]", &format!("{NOT}.")),
        ("{a = 1}[[]]", &format!("{NOT}: string required.")),
    ]);
    assert!(
        outcome("[1][1.5]")
            .starts_with(&format!("{NOT}: indexing a sequence requires a whole number"))
    );
    assert!(
        outcome("toset([1])[0]")
            .starts_with("Invalid index: Elements of a set are identified only by their value")
    );
}

#[test]
fn instance_references_do_not_build_the_whole_collection() {
    check_all(&[
        ("aws_x.y[\"k\"].id", "\"aws_x.y/\\\"k\\\"\""),
        ("aws_x.y[0].id", "\"aws_x.y/0\""),
        ("[for k in [\"a\"]: aws_x.y[k].id]", "[\"aws_x.y/\\\"a\\\"\"]"),
        ("module.m.out", "\"m/None/out\""),
        ("module.m[\"k\"].out", "\"m/Some(\\\"k\\\")/out\""),
        ("module.whole.out", "\"general\""),
        (
            "module.whole.nothing",
            "Unsupported attribute: This object does not have an attribute named \"nothing\". \
             (module.whole is object with 1 attribute \"out\")",
        ),
    ]);
}

#[test]
fn splat_turns_any_value_into_a_sequence() {
    check_all(&[
        ("[{a = 1}, {a = \"b\"}][*].a", "[1, \"b\"]"),
        ("var.objects[*].a", "list[1]"),
        ("toset([{a = 1}])[*].a", "list[1]"),
        ("tolist([])[*].a", "list[]"),
        ("null[*]", "[]"),
        ("5[*]", "[5]"),
        ("{a = 1}[*].a", "[1]"),
        ("tomap({a = 1})[*]", "[map{a = 1}]"),
        ("[[1], [2]].*[0]", "[1]"),
        ("[[1], [2]][*][0]", "[1, 2]"),
        ("var.u[*].a", "unknown dynamic"),
        ("var.uo[*].a", "unknown dynamic"),
        ("\"x-${var.us}\"[*]", "[unknown string! \"x-\"..]"),
        ("var.ul[*]", "unknown list of string!"),
        (
            "var.null_list[*]",
            "Splat of null value: Splat expressions (with the * symbol) cannot be applied to null \
             sequences. (var.null_list is null)",
        ),
        (
            "[{a = 1}, {}][*].a",
            "Unsupported attribute: This object does not have an attribute named \"a\".",
        ),
        (
            "var.uo[*].b",
            "Unsupported attribute: This object does not have an attribute named \"b\".",
        ),
    ]);
    assert!(outcome("tolist([[1], [1, 2]])[*][*]").starts_with("list["));
}

#[test]
fn an_inner_splat_of_mixed_types_is_refused() {
    let mixed = outcome("tolist([{a = null}, {a = \"x\"}])[*].a[*]");
    assert!(mixed.starts_with("Invalid nested splat expressions: "), "{mixed}");
}
