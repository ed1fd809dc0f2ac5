//! Tests of constructors and `for` expressions.

use super::{check_all, evaluated, outcome};
use crate::{
    eval::evaluate,
    expr::{Expr, ExprId},
    lower::{StandaloneExpression, lower_expression},
};

#[test]
fn object_keys_must_convert_to_strings() {
    check_all(&[
        ("{a = 1, a = 2}", "{a = 2}"),
        ("{(var.a) = 1, 1.5 = 2}", "{1.5 = 2, a = 1}"),
        ("{(null) = 1}", "Null value as key: Can't use a null value as a key."),
        ("{([]) = 1}", "Incorrect key type: Can't use this value as a key: string required."),
        ("{(var.us) = 1}", "unknown dynamic"),
    ]);
}

#[test]
fn for_makes_tuples_and_objects_in_order() {
    check_all(&[
        ("[for x in [2, 1]: x * 2]", "[4, 2]"),
        ("[for i, x in var.list: \"${i}${x}\"]", "[\"0a\", \"1b\"]"),
        ("[for k, v in {b = 1, a = 2}: k]", "[\"a\", \"b\"]"),
        ("[for x in toset([\"b\", \"a\"]): x]", "[\"a\", \"b\"]"),
        ("[for k, v in toset([\"b\"]): k]", "[\"b\"]"),
        ("{for x in [\"a\", \"b\"]: x => upper(x) if x != \"a\"}", "{b = \"B\"}"),
        ("{for x in [\"a\", \"a\"]: x => x...}", "{a = [\"a\", \"a\"]}"),
        ("[for x in [[1, 2], [3]]: [for x in x: x]]", "[[1, 2], [3]]"),
        ("[for x in []: nosuch()]", "[]"),
        ("[for x in [var.us]: x]", "[unknown string]"),
    ]);
}

#[test]
fn for_over_unknown_collection_is_unknown() {
    check_all(&[
        ("[for x in var.ul: x]", "unknown dynamic"),
        ("[for x in var.u: x.y]", "unknown dynamic"),
        ("[for x in [1]: x if var.ub]", "unknown dynamic"),
        ("{for x in [var.us]: x => 1}", "unknown dynamic"),
    ]);
}

#[test]
fn invalid_collections_and_conditions_of_for_are_errors() {
    check_all(&[
        (
            "[for x in null: x]",
            "Iteration over null value: A null value cannot be used as the collection in a 'for' expression.",
        ),
        (
            "[for x in 5: x]",
            "Iteration over non-iterable value: A value of type number cannot be used as the \
             collection in a 'for' expression.",
        ),
        (
            "[for x in var.us: x]",
            "Iteration over non-iterable value: A value of type string cannot be used as the \
             collection in a 'for' expression. (var.us is a string, known only after apply)",
        ),
        (
            "[for x in [1, 2]: x if null]",
            "Condition is null: The value of the 'if' clause must not be null.",
        ),
        (
            "[for x in [1, 2]: x if \"a\"]",
            "Invalid 'for' condition: The 'if' clause value is invalid: a bool is required.",
        ),
        (
            "[for x in [true, null]: x if x]",
            "Invalid 'for' condition: The value of the 'if' clause must not be null. (x is null)",
        ),
        (
            "{for x in [null]: x => x}",
            "Invalid object key: Key expression in 'for' expression must not produce a null value. (x is null)",
        ),
        (
            "{for x in [[]]: x => 1}",
            "Invalid object key: The key expression produced an invalid result: string required. (x is empty tuple)",
        ),
        (
            "{for x in [\"a\", \"a\"]: x => x}",
            "Duplicate object key: Two different items produced the key \"a\" in this 'for' \
             expression. If duplicates are expected, use the ellipsis (...) after the value \
             expression to enable grouping by key. (x is \"a\")",
        ),
    ]);
}

#[test]
fn equal_errors_of_loop_elements_are_reported_once() {
    check_all(&[(
        "[for x in [\"a\", \"b\"]: x.y]",
        "Unsupported attribute: Can't access attributes on a primitive-typed value (string). (x is \"a\")",
    )]);
}

#[test]
fn duplicate_ephemeral_keys_are_not_shown() {
    let shown = outcome("{for x in [var.e, var.e]: x => 1}");
    assert!(shown.contains("Two different items produced the same key"), "{shown}");
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn failed_reference_poisons_the_enclosing_expressions() {
    for text in [
        "local.failed",
        "try(local.failed, 1)",
        "can(local.failed)",
        "true ? 1 : local.failed",
        "false && local.failed",
    ] {
        assert_eq!(outcome(text), "Poisoned", "{text}");
    }
}

#[test]
fn for_over_a_hundred_thousand_elements_is_evaluated() {
    let StandaloneExpression { exprs, root, .. } =
        lower_expression("[for i, x in var.big: {key = i, of = x.name} if x.name != \"9\"]");
    let scope = super::Names {
        variables: [(
            "big",
            values::Value::tuple(
                (0..100_000)
                    .map(|i| {
                        values::Value::object_from([("name", values::Value::string(i.to_string()))])
                    })
                    .collect(),
            ),
        )]
        .into(),
    };
    let result = evaluate(&exprs, root, &scope).expect("nothing interrupts");
    assert_eq!(result.value.stored_length(), Some(99_999));
}

#[test]
fn errors_are_located_at_the_smallest_expression() {
    let StandaloneExpression { exprs, .. } = lower_expression("[1 + \"a\"]");
    let problems = evaluated("[1 + \"a\"]").expect("nothing interrupts").diagnostics;
    let crate::expr::At::Expr(ExprId(at)) = problems[0].at else { panic!("not at an expression") };
    assert!(matches!(&exprs[ExprId(at)], Expr::Literal(_)));
}

#[test]
fn deepest_nesting_that_parses_can_be_evaluated() {
    // Callers evaluate on such stacks; the two megabytes of a test thread are too few without optimization.
    parallel::on_deep_stack(evaluate_deepest);
}

fn evaluate_deepest() {
    for (open, close) in [
        ("[", "]"),
        ("{a = ", "}"),
        ("-", ""),
        ("1 + (", ")"),
        ("upper(", ")"),
        ("try(", ")"),
        ("true ? ", " : 1"),
        ("[for x in [1]: ", "]"),
        ("\"a${", "}\""),
        ("true && ", ""),
    ] {
        let depth = 2_000;
        let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let StandaloneExpression { exprs, root, .. } = lower_expression(&text);
        evaluate(&exprs, root, &super::Names::new()).expect("nothing interrupts");
    }
    let chain = format!("1{}", " + 1".repeat(2_000));
    let StandaloneExpression { exprs, root, .. } = lower_expression(&chain);
    evaluate(&exprs, root, &super::Names::new()).expect("nothing interrupts");
}
