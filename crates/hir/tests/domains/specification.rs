//! Tests the tables of the page `conditions.md` of the secrets specification: the ephemerality of each expression.

use std::{collections::BTreeSet, fmt::Write as _};

use hir::{
    analysis::{When, value::when::Condition},
    expr::Expr,
    lower::{StandaloneExpression, lower_expression},
};
use values::{
    functions::{Function, Shape},
    rules::{Domain, RuleId, disable},
};

use crate::{forms::is_ephemeral, names::of_the_specification, random::Sides};

const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/spec/secrets/conditions.md"));

/// The number of evaluations of each expression.
const SEEDS: u64 = 6;

/// An expression, and the verdict of the page.
pub(crate) struct Row<'p> {
    line: usize,
    pub(crate) expression: String,
    pub(crate) verdict: &'p str,
}

/// Parses the rows of the page, which have the form ``| `expression` | verdict |``.
pub(crate) fn rows() -> Vec<Row<'static>> {
    let row = |(line, text): (usize, &'static str)| {
        let (expression, rest) = text.strip_prefix("| `")?.split_once("` | ")?;
        let verdict = rest.strip_suffix(" |")?;
        let expression = expression.replace("\\|", "|").replace('␤', "\n");
        Some(Row { line: line + 1, expression, verdict })
    };
    PAGE.lines().enumerate().filter_map(row).collect()
}

/// The verdict on a value, at any depth, in the words of the page.
fn verdict(when: &When) -> String {
    match when {
        When::Never => "never".to_owned(),
        When::Always => "always".to_owned(),
        When::If(condition) => {
            let sentence = condition.sentence();
            let words = match &**condition {
                Condition::Exactly(_) => sentence.strip_prefix("The value is ephemeral "),
                Condition::Depends(_) => sentence.strip_prefix("The value may be ephemeral, "),
            };
            words.unwrap_or(&sentence).trim_end_matches('.').to_owned()
        }
    }
}

#[test]
fn inferred_verdict_of_each_row_matches_the_specification() {
    let sides = Sides::among(of_the_specification());
    let mut wrong = String::new();
    for row in rows() {
        let found = verdict(&sides.known(&row.expression).ephemeral.somewhere());
        if found != row.verdict {
            let _ = writeln!(wrong, "{}: `{}` is said to be: {found}", row.line, row.expression);
        }
    }
    assert!(wrong.is_empty(), "tests/spec/secrets/conditions.md\n{wrong}");
    assert!(rows().len() > 250, "only {} rows", rows().len());
}

#[test]
fn evaluation_agrees_with_the_verdict_of_each_row() {
    let sides = Sides::among(of_the_specification());
    let mut wrong = String::new();
    for row in rows() {
        let found = (0..SEEDS).find_map(|seed| sides.check(&row.expression, seed));
        if let Some(found) = found {
            let _ = writeln!(wrong, "{}: `{}`: {}", row.line, row.expression, found.detail);
        }
    }
    assert!(wrong.is_empty(), "tests/spec/secrets/conditions.md\n{wrong}");
}

#[test]
fn verdicts_show_no_secret_constant() {
    let with_secrets: Vec<Row<'_>> =
        rows().into_iter().filter(|it| it.expression.contains("hush")).collect();
    assert!(with_secrets.len() > 10, "only {} rows have one", with_secrets.len());
    for row in with_secrets {
        assert!(!row.verdict.contains("hush"), "{}: {}", row.line, row.verdict);
    }
}

/// [`crate::blocks`] tests the rule of `dynamic` blocks.
#[test]
fn disabling_any_abstract_rule_changes_a_verdict() {
    let sides = Sides::among(of_the_specification());
    let rows = rows();
    let is_idle = |rule: &RuleId| {
        let _disabled = disable(*rule, Domain::Abstract);
        let is_as_said = |row: &Row<'_>| {
            verdict(&sides.known(&row.expression).ephemeral.somewhere()) == row.verdict
        };
        rows.iter().all(is_as_said)
    };
    let idle: Vec<_> = RuleId::ALL
        .iter()
        .filter(|it| **it != RuleId::DynamicBlock)
        .filter(|it| is_idle(it))
        .collect();
    assert!(idle.is_empty(), "no row needs {idle:?}");
}

/// Three arguments for a parameter: one that is not ephemeral, an ephemeral one, and one with an ephemeral part.
fn arguments(function: &Function, position: usize) -> [Option<&'static str>; 3] {
    let shape = function.parameter(position).map_or(Shape::Any, |it| it.shape);
    let sequence = [Some("var.list"), Some("var.secrets"), Some("[var.secret]")];
    let mapping = [Some("var.m"), Some("var.secret_map"), Some("{ a = var.secret }")];
    match (function.name, position, shape) {
        ("keys" | "values" | "merge", ..) | ("lookup", 0, _) => mapping,
        ("concat" | "element" | "flatten" | "reverse" | "slice" | "chunklist" | "one", ..)
            if shape == Shape::Any =>
        {
            sequence
        }
        ("zipmap", 1, _) | ("setproduct", ..) => sequence,
        ("templatefile" | "templatestring", 1, _) => mapping,
        (_, _, Shape::Type) => [Some("string"), None, None],
        (_, _, Shape::Bool) => [Some("var.flag"), Some("var.armed"), None],
        (_, _, Shape::Number) => [Some("var.n"), Some("var.code"), None],
        (_, _, Shape::String) => [Some("var.text"), Some("var.secret"), None],
        (_, _, Shape::Map) => mapping,
        (_, _, Shape::MapOfListsOfString) => {
            [Some("{ a = var.list }"), None, Some("{ a = [var.secret] }")]
        }
        (_, _, Shape::Any) => [Some("var.any"), Some("var.secret_any"), Some("[var.secret]")],
        _ => sequence,
    }
}

/// The calls of a function that the page must contain: each argument ephemeral in turn, as a whole and in a part.
fn calls(function: &Function) -> Vec<String> {
    // `setproduct` needs at least two sets.
    let more = if function.name == "setproduct" { 2 } else { 1 };
    let count = function.params.len() + if function.variadic.is_some() { more } else { 0 };
    let call = |ephemeral: Option<(usize, usize)>| {
        let arguments = (0..count).map(|position| {
            let kind = ephemeral.filter(|it| it.0 == position).map_or(0, |it| it.1);
            arguments(function, position)[kind]
        });
        let arguments: Option<Vec<&str>> = arguments.collect();
        Some(format!("{}({})", function.name, arguments?.join(", ")))
    };
    if count == 0 {
        return call(None).into_iter().collect();
    }
    let places = (0..count).flat_map(|position| [(position, 1), (position, 2)]);
    places.filter_map(|place| call(Some(place))).collect()
}

/// The position of the argument that reads an ephemeral variable.
fn ephemeral_position(call: &str) -> Option<usize> {
    let StandaloneExpression { exprs, root, .. } = lower_expression(call);
    let Expr::Call(call) = &exprs[root] else { panic!("{call} is no call") };
    call.args.iter().position(|arg| is_ephemeral(&exprs, *arg))
}

#[test]
fn every_function_has_rows_in_the_specification() {
    let there: BTreeSet<String> = rows().into_iter().map(|it| it.expression).collect();
    let sides = Sides::among(of_the_specification());
    let mut missing = String::new();
    let mut count = 0;
    for function in values::functions::all().filter(|it| it.is_for_configurations()) {
        count += 1;
        let calls: Vec<String> =
            calls(function).into_iter().filter(|call| sides.may_succeed(call)).collect();
        // A function that refuses every call above would have no row.
        let used: BTreeSet<usize> = calls.iter().filter_map(|it| ephemeral_position(it)).collect();
        let wanted = (0..function.params.len() + usize::from(function.variadic.is_some()))
            .filter(|it| function.parameter(*it).is_none_or(|it| it.shape != Shape::Type));
        let unseen: Vec<usize> = wanted.filter(|it| !used.contains(it)).collect();
        assert!(
            unseen.is_empty(),
            "{}: nothing ephemeral in {unseen:?} of {calls:?}",
            function.name
        );
        for call in calls.into_iter().filter(|call| !there.contains(call)) {
            let found = verdict(&sides.known(&call).ephemeral.somewhere());
            let _ = writeln!(missing, "| `{call}` | {found} |");
        }
    }
    assert!(missing.is_empty(), "tests/spec/secrets/conditions.md lacks\n{missing}");
    assert!(count > 120, "only {count} functions");
}
