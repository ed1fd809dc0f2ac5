//! Checks the coverage of the page `conditions.md` of the secrets specification: each form of expression needs
//! rows with an ephemeral value in each operand position, and a row that is never ephemeral.

use std::collections::BTreeSet;

use hir::{
    ExprId, Exprs, Ref,
    expr::{Expr, Literal},
    lower::{StandaloneExpression, lower_expression},
};
use values::ops::{BinaryOp, UnaryOp};

use crate::specification::rows;

/// The ephemeral variables of the page.
const EPHEMERAL: [&str; 6] = ["secret", "code", "armed", "secrets", "secret_map", "secret_any"];

/// All forms, with the positions of their operands.
const FORMS: &[(&str, &[&str])] = &[
    ("null", &[]),
    ("a bool", &[]),
    ("a number", &[]),
    ("a string", &[]),
    ("a reference", &[]),
    ("a name", &[]),
    ("a type", &[]),
    ("a template", &["part"]),
    ("a template's for", &["tuple"]),
    ("an attribute", &["base"]),
    ("an index", &["base", "key"]),
    ("a splat", &["base", "steps"]),
    ("a tuple", &["element"]),
    ("an object", &["key", "value"]),
    ("for with one name", &["collection", "body"]),
    ("for with two names", &["collection", "body"]),
    ("for with if", &["collection", "body", "condition"]),
    ("for object", &["collection", "key", "value"]),
    ("for object with if", &["collection", "key", "value", "condition"]),
    ("for object grouped", &["collection", "key", "value"]),
    ("!", &["operand"]),
    ("-", &["operand"]),
    ("a conditional", &["condition", "then", "otherwise"]),
    ("a call", &["argument"]),
    ("an expanding call", &["argument", "expanded"]),
    ("+", &["left", "right"]),
    ("minus", &["left", "right"]),
    ("*", &["left", "right"]),
    ("/", &["left", "right"]),
    ("%", &["left", "right"]),
    ("==", &["left", "right"]),
    ("!=", &["left", "right"]),
    ("<", &["left", "right"]),
    ("<=", &["left", "right"]),
    (">", &["left", "right"]),
    (">=", &["left", "right"]),
    ("&&", &["left", "right"]),
    ("||", &["left", "right"]),
];

/// A form with its operands, each with the name of its position.
type Form = (&'static str, Vec<(&'static str, ExprId)>);

/// The forms of an expression. A new form breaks this `match` at compile time, or the test if it is missing in
/// [`FORMS`].
fn forms(expr: &Expr) -> Vec<Form> {
    let one = |name, operands| vec![(name, operands)];
    match expr {
        Expr::Missing => Vec::new(),
        Expr::Literal(Literal::Null) => one("null", vec![]),
        Expr::Literal(Literal::Bool(_)) => one("a bool", vec![]),
        Expr::Literal(Literal::Number(_)) => one("a number", vec![]),
        Expr::Literal(Literal::String(_)) => one("a string", vec![]),
        Expr::Ref(_) => one("a reference", vec![]),
        Expr::Symbol(_) => one("a name", vec![]),
        Expr::Type(_) => one("a type", vec![]),
        Expr::Template(_) => one("a template", children(expr, "part")),
        Expr::TemplateJoin(tuple) => one("a template's for", vec![("tuple", *tuple)]),
        Expr::GetAttr { base, .. } => one("an attribute", vec![("base", *base)]),
        Expr::Index { base, key } => one("an index", vec![("base", *base), ("key", *key)]),
        Expr::Splat { base, each, .. } => one("a splat", vec![("base", *base), ("steps", *each)]),
        Expr::Tuple(_) => one("a tuple", children(expr, "element")),
        Expr::Object(items) => {
            let operands = items.iter().flat_map(|it| [("key", it.key), ("value", it.value)]);
            one("an object", operands.collect())
        }
        Expr::ForTuple(it) => {
            let name = if it.key.is_some() { "for with two names" } else { "for with one name" };
            let mut operands = vec![("collection", it.collection), ("body", it.body)];
            let mut found = one(name, operands.clone());
            if let Some(condition) = it.condition {
                operands.push(("condition", condition));
                found.push(("for with if", operands));
            }
            found
        }
        Expr::ForObject(it) => {
            let mut operands =
                vec![("collection", it.collection), ("key", it.item_key), ("value", it.item_value)];
            let name = if it.group { "for object grouped" } else { "for object" };
            let mut found = one(name, operands.clone());
            if let Some(condition) = it.condition {
                operands.push(("condition", condition));
                found.push(("for object with if", operands));
            }
            found
        }
        Expr::Unary { op: UnaryOp::Not, operand } => one("!", vec![("operand", *operand)]),
        Expr::Unary { op: UnaryOp::Negate, operand } => one("-", vec![("operand", *operand)]),
        Expr::Binary { op, left, right } => {
            one(sign(*op), vec![("left", *left), ("right", *right)])
        }
        Expr::Conditional { condition, then, otherwise } => {
            let arms = vec![("condition", *condition), ("then", *then), ("otherwise", *otherwise)];
            one("a conditional", arms)
        }
        Expr::Call(call) if call.expand => {
            let mut operands = children(expr, "argument");
            if let Some(last) = operands.last_mut() {
                last.0 = "expanded";
            }
            one("an expanding call", operands)
        }
        Expr::Call(_) => one("a call", children(expr, "argument")),
    }
}

fn children(expr: &Expr, place: &'static str) -> Vec<(&'static str, ExprId)> {
    let mut found = Vec::new();
    expr.for_each_child(&mut |child| found.push((place, child)));
    found
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "minus",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

/// Returns true if an expression reads an ephemeral variable.
pub(crate) fn is_ephemeral(exprs: &Exprs, id: ExprId) -> bool {
    let mut is_found =
        matches!(&exprs[id], Expr::Ref(Ref::Variable(name)) if EPHEMERAL.contains(&&**name));
    exprs[id].for_each_child(&mut |child| is_found |= is_ephemeral(exprs, child));
    is_found
}

#[test]
fn every_expression_form_has_rows_in_the_specification() {
    let (mut ephemeral, mut never) = (BTreeSet::new(), BTreeSet::new());
    for row in rows() {
        let StandaloneExpression { exprs, .. } = lower_expression(&row.expression);
        for (name, operands) in exprs.iter().flat_map(|(_, expr)| forms(expr)) {
            assert!(FORMS.iter().any(|it| it.0 == name), "{name} is no form");
            if row.verdict == "never" {
                never.insert(name);
            }
            let has_secret = operands.into_iter().filter(|it| is_ephemeral(&exprs, it.1));
            ephemeral.extend(has_secret.map(|(place, _)| (name, place)));
        }
    }
    let places = FORMS.iter().flat_map(|(name, places)| places.iter().map(move |it| (*name, *it)));
    let missing: Vec<_> = places.filter(|it| !ephemeral.contains(it)).collect();
    assert!(missing.is_empty(), "nothing ephemeral stands in {missing:?}");
    let names = FORMS.iter().map(|it| it.0);
    let missing: Vec<_> = names.filter(|it| !never.contains(it)).collect();
    assert!(missing.is_empty(), "no row is never ephemeral that has {missing:?}");
}
