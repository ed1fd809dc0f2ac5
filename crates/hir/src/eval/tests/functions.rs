//! Tests of function calls, `try`, `can` and `convert`.

use super::{check_all, outcome};
use crate::{
    eval::constant,
    lower::{StandaloneExpression, lower_expression},
};

#[test]
fn unknown_functions_and_wrong_arguments_are_errors() {
    check_all(&[
        ("nosuch(1)", "Call to unknown function: There is no function named \"nosuch\"."),
        (
            "lengh([])",
            "Call to unknown function: There is no function named \"lengh\". Did you mean \"length\"?",
        ),
        (
            "a::b(1)",
            "Call to unknown function: There are no functions in namespace \"a::\". Functions of \
             the language are in \"core::\", those of a provider in \"provider::NAME::\".",
        ),
        (
            "upper()",
            "Not enough function arguments: Function \"upper\" expects 1 argument(s). Missing value for \"str\".",
        ),
        (
            "upper(\"a\", \"b\")",
            "Too many function arguments: Function \"upper\" expects only 1 argument(s).",
        ),
        (
            "upper([])",
            "Invalid function argument: Invalid value for \"str\" parameter: string required. \
             (while calling upper(str))",
        ),
        (
            "upper(null)",
            "Invalid function argument: Invalid value for \"str\" parameter: argument must not be \
             null. (while calling upper(str))",
        ),
        ("core::upper(\"a\")", "\"A\""),
        (
            "upper(null.a)",
            "Attempt to get attribute from null value: This value is null, so it does not have any attributes.",
        ),
    ]);
}

#[test]
fn last_argument_can_be_expanded() {
    check_all(&[
        ("max([1, 2]...)", "2"),
        ("max(3, tolist([1, 2])...)", "3"),
        ("max(toset([1, 2])...)", "2"),
        ("max(var.ul...)", "unknown dynamic"),
        ("max(var.u...)", "unknown dynamic"),
        (
            "max(null...)",
            "Invalid expanding argument value: The expanding argument (indicated by ...) must not be null.",
        ),
        (
            "max(5...)",
            "Invalid expanding argument value: The expanding argument (indicated by ...) must be \
             of a tuple, list, or set type.",
        ),
        ("try([1, 2]...)", "1"),
    ]);
}

#[test]
fn try_takes_the_first_argument_that_succeeds() {
    check_all(&[
        ("try(1)", "1"),
        ("try(null.a, 5)", "5"),
        ("try(tonumber(\"x\"), \"y\".z, 3)", "3"),
        ("try(var.u.a.b, 5)", "unknown dynamic"),
        ("try(var.uo.nothing, 5)", "5"),
        ("try([for x in var.list: x.y], 5)", "5"),
        ("try(null, 5)", "null"),
        ("can(null.a)", "false"),
        ("can(1)", "true"),
        ("can(var.us)", "unknown bool!"),
        (
            "try()",
            "Error in function call: Call to function \"try\" failed: at least one argument is required.",
        ),
        (
            "can()",
            "Not enough function arguments: Function \"can\" expects 1 argument(s). Missing value for \"expression\".",
        ),
        (
            "try(null.a, [].b)",
            "Error in function call: Call to function \"try\" failed: no expression succeeded:\n\
            - Attempt to get attribute from null value\n  This value is null, so it does not have any attributes.\n\
            - Unsupported attribute\n  This value does not have any attributes.\n\n\
            At least one expression must produce a successful result.",
        ),
    ]);
}

#[test]
fn try_does_not_hide_each_in_a_block_without_for_each() {
    assert!(
        outcome("try(each.key, 1)")
            .starts_with("Reference to \"each\" in context without for_each")
    );
}

#[test]
fn provider_functions_are_called_through_the_scope() {
    check_all(&[
        ("provider::x::echo(1)", "1"),
        ("provider::x::fail()", "Error in function call: No luck."),
        ("try(provider::x::fail(), 2)", "2"),
        ("provider::x::later(1)", "unknown dynamic"),
        ("try(provider::x::picky(\"a\"), 2)", "2"),
        (
            "provider::x::picky(1, var.a)",
            "Invalid function argument: No a. (while calling provider::x::picky(some...); var.a is \"a\")",
        ),
        (
            "provider::x::picky(1, var.e)",
            "Invalid function argument: Call to function \"provider::x::picky\" failed. The \
             function's error message is not shown, because some of its arguments are secret. \
             (while calling provider::x::picky(some...); var.e has an ephemeral value)",
        ),
        ("provider::x::echo(var.e)", "ephemeral(\"hush\")"),
    ]);
}

#[test]
fn constant_expressions_refuse_references_and_calls() {
    for (text, summary) in [
        ("var.a", Some("Variables not allowed")),
        ("upper(\"a\")", Some("Function calls not allowed")),
        ("{a = [1, -2]}", None),
    ] {
        let StandaloneExpression { exprs, root, .. } = lower_expression(text);
        let found = constant(&exprs, root).diagnostics;
        assert_eq!(found.first().map(|it| &*it.summary), summary, "{text}");
    }
}

#[test]
fn error_details_describe_the_values_of_references() {
    check_all(&[
        (
            "upper([var.a, var.n, var.list, var.map, var.mixed, var.objects[0]])",
            "Invalid function argument: Invalid value for \"str\" parameter: string required. \
             (while calling upper(str); var.a is \"a\"; var.list is list of string with 2 \
             elements; var.map is map of string with 1 element; var.mixed is object with 2 \
             attributes; var.n is 5; var.objects[0] is object with 1 attribute \"a\")",
        ),
        (
            "upper([var.s, var.e, var.u, var.us, var.ul])",
            "Invalid function argument: Invalid value for \"str\" parameter: string required. \
             (while calling upper(str); var.e has an ephemeral value; var.s has a sensitive value; \
             var.u will be known only after apply; var.ul is a list of string, known only after \
             apply; var.us is a string, known only after apply)",
        ),
    ]);
}

#[test]
fn convert_takes_a_type() {
    check_all(&[
        ("convert(\"true\", bool)", "true"),
        ("convert([], list(string))", "list[]"),
        ("convert([1, \"a\"], list(any))", "list[\"1\", \"a\"]"),
        ("convert({a = 1, b = 2}, object({a = string}))", "{a = \"1\"}"),
        ("convert({}, object({a = optional(string)}))", "{a = tostring(null)}"),
        ("convert({}, object({a = optional(string, \"x\")}))", "{a = \"x\"}"),
        ("convert({a = null}, object({a = optional(string, \"x\")}))", "{a = \"x\"}"),
        ("convert([{}], list(object({a = optional(number, 1)})))", "list[{a = 1}]"),
        ("core::convert(1, string)", "\"1\""),
        ("try(convert(\"x\", number), 7)", "7"),
        ("can(convert([], list(string)))", "true"),
        ("[for v in [\"1\"] : convert(v, number)]", "[1]"),
        ("convert(var.u, list(string))", "unknown list of string"),
        ("convert(var.us, number)", "unknown number"),
        ("convert(var.e, any)", "ephemeral(\"hush\")"),
        ("convert({a = var.s}, object({a = string}))", "{a = sensitive(\"secret\")}"),
        ("convert([var.s], set(string))", "sensitive(set[\"secret\"])"),
        (
            "convert(\"x\", bool)",
            "Invalid function argument: Invalid value for \"value\" parameter: a bool is required. \
             (while calling convert(value, type))",
        ),
        (
            "convert({}, object({a = string}))",
            "Invalid function argument: Invalid value for \"value\" parameter: attribute \"a\" is \
             required. (while calling convert(value, type))",
        ),
        (
            "convert(1)",
            "Not enough function arguments: Function \"convert\" expects 2 argument(s). Missing value for \"type\".",
        ),
        (
            "convert(1, string, 2)",
            "Too many function arguments: Function \"convert\" expects only 2 argument(s).",
        ),
        (
            "convert([1, 2]...)",
            "Invalid type specification: The second argument of \"convert\" is a type, written as \
             the type of a variable is: convert(value, list(string)).",
        ),
    ]);
}

#[test]
fn errors_of_convert_quote_no_secret() {
    let said = outcome("convert(var.s, number)");
    assert!(said.contains("a number is required") && !said.contains("\"secret\""), "{said}");
    let said = outcome("convert({(var.s) = 1}, object({a = string}))");
    assert!(said.contains("attribute \"a\" is required") && !said.contains("\"secret\""), "{said}");
}

#[test]
fn invalid_type_argument_of_convert_is_an_error() {
    for (text, said) in [
        ("convert(1, strin)", "Did you mean \"string\"?"),
        ("convert([], list)", "The list type constructor requires one argument"),
        ("convert(1, 5)", "A type specification is either"),
        ("convert(1, \"string\")", "Quoted type constraints are no longer supported."),
        ("convert(1, (string))", "A type specification is either"),
        ("convert({}, object({a = optional(string, var.a)}))", "A default is a constant"),
        (
            "convert({}, object({a = optional(number, \"x\")}))",
            "This default value is not compatible",
        ),
    ] {
        let StandaloneExpression { problems, .. } = lower_expression(text);
        assert!(problems.iter().any(|it| it.detail.contains(said)), "{text}: {problems:?}");
    }
}
