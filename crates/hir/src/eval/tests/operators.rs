//! Tests of operators, conditionals and templates.

use super::{check, check_all};

#[test]
fn operands_are_converted_and_null_is_refused() {
    check_all(&[
        ("1 + \"2\"", "3"),
        ("1 + \"a\"", "Invalid operand: Unsuitable value for right operand: a number is required."),
        (
            "\"a\" && true",
            "Invalid operand: Unsuitable value for left operand: a bool is required.",
        ),
        ("!\"a\"", "Invalid operand: Unsuitable value for unary operand: a bool is required."),
        ("-\"a\"", "Invalid operand: Unsuitable value for unary operand: a number is required."),
        ("null + 1", "Operation failed: Error during operation: argument must not be null."),
        ("-null", "Operation failed: Error during operation: argument must not be null."),
        ("1 / 0", "+Inf"),
        ("5 % 0", "5"),
        (
            "var.a + var.n",
            "Invalid operand: Unsuitable value for left operand: a number is required. (var.a is \"a\")",
        ),
    ]);
}

#[test]
fn equality_does_not_convert_operands() {
    check_all(&[
        ("1 == \"1\"", "false"),
        ("[1] == tolist([1])", "false"),
        ("null == tolist(null)", "true"),
        ("var.us == null", "unknown bool!"),
        ("\"x-${var.us}\" == null", "false"),
        ("\"foo-${var.us}\" == \"bar\"", "false"),
        ("[1, var.un] == [2, 3]", "false"),
        ("[var.un, 1] == [3, 2]", "unknown bool!"),
        ("1 != 2", "true"),
    ]);
}

#[test]
fn logical_operators_short_circuit() {
    check_all(&[
        ("false && nosuch()", "false"),
        ("nosuch() && false", "false"),
        ("true || null.a", "true"),
        ("var.ub || true", "true"),
        ("true || var.ub", "true"),
        ("var.ub && var.ub", "unknown bool!"),
        ("var.ub && true", "unknown bool!"),
        ("null && true", "false"),
        ("true && null", "false"),
        ("null || true", "true"),
        ("null || false", "Operation failed: Error during operation: argument must not be null."),
        (
            "false && \"a\"",
            "Invalid operand: Unsuitable value for right operand: a bool is required.",
        ),
        ("true && nosuch()", "Call to unknown function: There is no function named \"nosuch\"."),
    ]);
}

#[test]
fn conditionals_unify_their_arms() {
    check_all(&[
        ("true ? 1 : \"a\"", "\"1\""),
        ("true ? [1] : [\"a\"]", "[\"1\"]"),
        ("true ? [1, 2] : [\"a\"]", "list[\"1\", \"2\"]"),
        ("true ? {a = 1} : {b = \"x\"}", "map{a = \"1\"}"),
        ("false ? {a = 1} : {}", "map{}"),
        ("true ? null : 1", "tonumber(null)"),
        ("true ? null : null", "null"),
        ("true ? 1 : null.a", "1"),
        ("\"true\" ? 1 : 2", "1"),
        (
            "false ? each.key : 1",
            "Reference to \"each\" in context without for_each: The \"each\" object can be used only with for_each.",
        ),
    ]);
}

#[test]
fn inconsistent_conditional_describes_the_difference_of_its_arms() {
    let cases = [
        ("true ? 1 : false", "The 'true' value is number, but the 'false' value is bool"),
        (
            "true ? {a = 1} : {a = []}",
            "Type mismatch for object attribute \"a\": The 'true' value is number, but the 'false' value is tuple",
        ),
        (
            "true ? {a = 1, b = 1} : {b = []}",
            "The 'true' value includes object attribute \"a\", which is absent in the 'false' value",
        ),
        (
            "true ? {b = []} : {a = 1, b = 1}",
            "Type mismatch for object attribute \"b\": The 'true' value is tuple, but the 'false' value is number",
        ),
        (
            "true ? [1, []] : [1, {}]",
            "Type mismatch for tuple element 1: The 'true' value is tuple, but the 'false' value is object",
        ),
        (
            "true ? [1, 2] : [[]]",
            "The 'true' tuple has length 2, but the 'false' tuple has length 1",
        ),
        (
            "true ? tolist([1]) : tolist([{}])",
            "The 'true' value is list of number, but the 'false' value is list of object",
        ),
        (
            "true ? tolist([{a = 1}]) : tolist([{a = []}])",
            "Mismatched list element types: Type mismatch for object attribute \"a\": The 'true' \
             value is number, but the 'false' value is tuple",
        ),
    ];
    for (text, reason) in cases {
        let summary = "Inconsistent conditional result types";
        let intro = "The true and false result expressions must have consistent types";
        check(text, &format!("{summary}: {intro}. {reason}."));
    }
}

#[test]
fn condition_must_convert_to_bool() {
    check_all(&[
        (
            "null ? 1 : 2",
            "Null condition: The condition value is null. Conditions must either be true or false.",
        ),
        ("[] ? 1 : 2", "Incorrect condition type: The condition expression must be of type bool."),
        (
            "var.a ? 1 : 2",
            "Incorrect condition type: The condition expression must be of type bool. (var.a is \"a\")",
        ),
    ]);
}

#[test]
fn unknown_condition_keeps_the_refinements_of_both_arms() {
    check_all(&[
        ("var.ub ? 1 : 2", "unknown number! 1..2"),
        ("(var.ub ? 1 : 2) > 0", "true"),
        ("(var.ub ? 1 : 2) > 5", "false"),
        ("var.ub ? null : null", "null"),
        ("var.ub ? \"a\" : \"b\"", "unknown string!"),
        ("var.ub ? \"a\" : null", "unknown string"),
        ("var.ub ? tolist([1, 2]) : tolist([1])", "unknown list of number! 1..2"),
        ("var.ub ? null.a : 1", "unknown dynamic"),
        ("var.ub ? var.u : 1", "unknown dynamic"),
    ]);
}

#[test]
fn templates_refuse_null_and_structures() {
    check_all(&[
        ("\"a${1}${true}\"", "\"a1true\""),
        (
            "\"a${null}\"",
            "Invalid template interpolation value: The expression result is null. Cannot include a \
             null value in a string template.",
        ),
        (
            "\"a${[]}\"",
            "Invalid template interpolation value: Cannot include the given value in a string \
             template: string required.",
        ),
        ("\"${true}\"", "true"),
        ("\"%{for x in [1, 2]}${x},%{endfor}\"", "\"1,2,\""),
        ("\"%{if var.t}y%{else}n%{endif}\"", "\"y\""),
        ("\"%{if false}y%{endif}\"", "\"\""),
    ]);
}

#[test]
fn an_unknown_template_keeps_its_safe_prefix() {
    check_all(&[
        ("\"a-${var.us}\"", "unknown string! \"a-\".."),
        ("\"ab${var.us}\"", "unknown string! \"a\".."),
        ("\"b${var.us}\"", "unknown string!"),
        ("\"a-${\"b-${var.us}\"}\"", "unknown string! \"a-\".."),
        (
            "\"a${var.us}${null}\"",
            "Invalid template interpolation value: The expression result is null. Cannot include a \
             null value in a string template.",
        ),
        ("\"a-%{for x in var.u}${x}%{endfor}\"", "unknown string! \"a-\".."),
        ("\"%{for x in [var.us]}${x}%{endfor}-\"", "unknown string!"),
    ]);
}
