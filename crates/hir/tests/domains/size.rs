//! Tests that inference is linear in the size of an expression: quadratic behavior would take minutes here.

use std::{collections::BTreeMap, fmt::Write};

use hir::{
    analysis::{Abstract, Tri, infer::Infer},
    lower::{StandaloneExpression, lower_expression},
};
use values::{MarkKind, Type};

use crate::names::Declared;

const MANY: usize = 20_000;

fn infer(text: &str) -> (Abstract, usize) {
    let secret = Abstract::of_type(Type::String).with_mark(MarkKind::Ephemeral, Tri::Yes);
    let plain = Abstract::of_type(Type::String);
    let declared = Declared::of(BTreeMap::from([("e", secret), ("s", plain)]));
    let StandaloneExpression { exprs, root, problems, .. } = lower_expression(text);
    assert!(problems.is_empty(), "{problems:?}");
    let mut infer = Infer::new(&exprs, &declared);
    let value = infer.expr(root);
    (value, infer.problems.len())
}

fn repeated(part: impl Fn(usize) -> String) -> String {
    (0..MANY).fold(String::new(), |mut text, index| {
        write!(text, "{}, ", part(index)).expect("strings take everything");
        text
    })
}

#[test]
fn long_constructors_are_inferred() {
    let tuple = format!("[{}]", repeated(|_| "var.e".to_owned()));
    assert_eq!(infer(&tuple).0.deep_marks().ephemeral, Tri::Yes);
    let object = format!("{{{}}}", repeated(|index| format!("a{index} = var.e")));
    assert_eq!(infer(&object).0.deep_marks().ephemeral, Tri::Yes);
    let merged = format!("merge({object}, {{a1 = 1}}).a1");
    assert_eq!(infer(&merged).0.deep_marks().ephemeral, Tri::No);
}

#[test]
fn inference_reports_all_of_many_errors() {
    let text = format!("[{}]", repeated(|_| "var.s.nothing".to_owned()));
    assert_eq!(infer(&text).1, MANY);
}

#[test]
fn inference_of_long_and_nested_loops_ends() {
    let tuple = format!("[{}]", repeated(|_| "var.e".to_owned()));
    let text = format!("[for a in {tuple} : [for b in {tuple} : [a, b]]]");
    assert_eq!(infer(&text).0.deep_marks().ephemeral, Tri::Maybe);
    let small = "[var.e, var.e, var.e, var.e, var.e, var.e, var.e, var.e, var.e, var.e]";
    let nested = (0..12).fold("var.e".to_owned(), |body, _| format!("[for v in {small} : {body}]"));
    assert!(infer(&nested).0.deep_marks().ephemeral >= Tri::Maybe);
}

#[test]
fn deep_nesting_is_inferred() {
    let deep = (0..150).fold("var.e".to_owned(), |inner, _| format!("{{a = [{inner}]}}"));
    assert_eq!(infer(&deep).0.deep_marks().ephemeral, Tri::Yes);
    let logic = (0..150).fold("var.s == \"a\"".to_owned(), |inner, _| format!("({inner} && true)"));
    assert_eq!(infer(&logic).1, 0);
    let arms =
        (0..150).fold("var.e".to_owned(), |inner, _| format!("(var.s == \"a\" ? {inner} : var.s)"));
    assert_eq!(infer(&arms).0.marks.ephemeral, Tri::Yes);
    let tried = (0..150).fold("var.e".to_owned(), |inner, _| format!("try({inner}, var.s)"));
    assert!(infer(&tried).0.marks.ephemeral >= Tri::Maybe);
}
