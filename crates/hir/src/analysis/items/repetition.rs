//! `count`, `for_each` and `enabled` of resources and module calls.

use std::iter;

use db::Summary;
use values::{Kind, Type, Value, convert};

use crate::{
    analysis::{
        env::ItemEnv,
        infer::Infer,
        problem::ItemProblem,
        value::{Abstract, marks::Tri},
    },
    expr::{Call, Expr, ExprId},
    item::{Item, Repetition},
    repetition::{NULL_IN_SET, has_keys, wrong_type},
};

/// Infers `count`, `for_each` or `enabled` and reports unsuitable values. `None` if the item has none of them.
pub(super) fn repetition(infer: &mut Infer<'_>, repetition: Repetition) -> Option<Abstract> {
    let (name, expr) = match repetition {
        Repetition::Single => return None,
        Repetition::Count(expr) => ("count", expr),
        Repetition::ForEach(expr) => ("for_each", expr),
        Repetition::Enabled(expr) => ("enabled", expr),
    };
    let value = infer.expr(expr);
    refuse_ephemeral_repetition(infer, name, expr, &value);
    // A value that is certainly ephemeral is reported for that alone.
    if value.marks.ephemeral != Tri::Yes {
        refuse_sensitive_repetition(infer, name, expr, &value);
    }
    check_repetition_type(infer, name, expr, &value);
    Some(value)
}

pub(super) fn refuse_ephemeral_repetition(
    infer: &mut Infer<'_>,
    name: &str,
    expr: ExprId,
    value: &Abstract,
) {
    let certainty = value.marks.ephemeral;
    if certainty == Tri::No {
        return;
    }
    let (summary, detail) = match name {
        "enabled" => (
            Summary::ephemeral_repetition(name),
            "The given \"enabled\" argument value is unsuitable: the given value is ephemeral."
                .to_owned(),
        ),
        _ => (
            Summary::ephemeral_repetition(name),
            format!(
                "Ephemeral values, or values derived from ephemeral values, cannot be used as \
                 {name} arguments. If used, the ephemeral value could be exposed as a resource instance key."
            ),
        ),
    };
    let problem = ItemProblem::new(expr.into(), summary, detail);
    let when = value.ephemeral.here();
    infer.problems.push(problem.if_ephemeral(certainty, when, value.origin.as_ref()));
}

pub(super) fn refuse_sensitive_repetition(
    infer: &mut Infer<'_>,
    name: &str,
    expr: ExprId,
    value: &Abstract,
) {
    if value.marks.sensitive != Tri::Yes {
        return;
    }
    // OpenTofu accepts a sensitive `count` in a plan; only instance keys must not be shown. In a module that may
    // have no instances, its `validate` does not evaluate `enabled`, and loses the marks of unknown values.
    let is_left_to_plan = || name == "enabled" || opentofu_drops_marks(infer, expr);
    let is_accepted = name == "count" || (!infer.env.is_in_root() && is_left_to_plan());
    if is_accepted {
        return;
    }
    let detail = match name {
        "for_each" => {
            "Sensitive values, or values derived from sensitive values, cannot be used as for_each \
             arguments. If used, the sensitive value could be exposed as a resource instance key."
        }
        _ => "The given \"enabled\" argument value is unsuitable: the given value is sensitive.",
    };
    infer.problems.push(ItemProblem::new(expr.into(), Summary::sensitive_repetition(name), detail));
}

/// Functions of which OpenTofu evaluates a marked unknown argument of any type with its marks: of strings, and of the
/// elements of literal tuples.
const KEEP_MARKS: [&str; 8] =
    ["base64encode", "format", "join", "length", "lower", "title", "trimspace", "upper"];
const KEEP_MARKS_OF_ELEMENTS: [&str; 5] = ["concat", "flatten", "setunion", "tolist", "toset"];

/// Returns true if OpenTofu loses marks in the expression while nothing is known: those of the argument of `keys`,
/// and in most functions those of a value whose type no declaration determines.
fn opentofu_drops_marks(infer: &Infer<'_>, expr: ExprId) -> bool {
    let drops = |call: &Call| {
        let keeps = KEEP_MARKS.contains(&&*call.name) || keeps_elements(infer, call);
        &*call.name == "keys" || !keeps && call.args.iter().any(|it| has_open_type(infer, *it))
    };
    within(infer, expr).any(|(at, it)| match it {
        Expr::Call(call) => drops(call),
        Expr::Unary { .. } => has_open_type(infer, at),
        _ => false,
    })
}

/// Returns true if a function keeps the marks of the elements, and the elements are known to be a literal tuple.
fn keeps_elements(infer: &Infer<'_>, call: &Call) -> bool {
    let is_known = |it: &ExprId| match &infer.exprs[*it] {
        Expr::Tuple(_) | Expr::ForTuple(_) => true,
        Expr::Call(call) => keeps_elements(infer, call),
        _ => false,
    };
    KEEP_MARKS_OF_ELEMENTS.contains(&&*call.name) && call.args.iter().all(is_known)
}

/// Returns true if the expression refers to something whose type no declaration determines.
fn has_open_type(infer: &Infer<'_>, expr: ExprId) -> bool {
    within(infer, expr).any(|(at, it)| match it {
        Expr::Ref(found) => infer.env.reference(found, at, &mut Vec::new()).has_open_type(),
        _ => false,
    })
}

/// The expression and all its parts.
fn within<'i>(infer: &'i Infer<'_>, expr: ExprId) -> impl Iterator<Item = (ExprId, &'i Expr)> {
    let mut open = vec![expr];
    iter::from_fn(move || {
        let at = open.pop()?;
        let it = &infer.exprs[at];
        it.for_each_child(&mut |child| open.push(child));
        Some((at, it))
    })
}

pub(super) fn check_repetition_type(
    infer: &mut Infer<'_>,
    name: &str,
    expr: ExprId,
    value: &Abstract,
) {
    let is_null = value.constant.as_ref().is_some_and(|it| it.0.is_null());
    let unsuitable =
        |problem: &str| format!("The given \"{name}\" argument value is unsuitable: {problem}.");
    let found = match name {
        _ if is_null => Some(unsuitable("the given value is null")),
        "count" => match converted(value, &Type::Number) {
            Ok(Some(number)) => count_problem(&number).map(unsuitable),
            Ok(None) => None,
            Err(problem) => return incorrect_type(infer, expr, &problem),
        },
        "enabled" => match converted(value, &Type::Bool) {
            Ok(_) => None,
            Err(problem) => return incorrect_type(infer, expr, &problem),
        },
        _ => for_each_problem(value).map(|problem| unsuitable(&problem)),
    };
    let what = match (name, &value.ty) {
        ("for_each", Type::Set(_)) if !is_null => "for_each set",
        _ => name,
    };
    if let Some(detail) = found {
        infer.problems.push(ItemProblem::new(
            expr.into(),
            Summary::invalid_repetition_value(what),
            detail,
        ));
    }
}

pub(super) fn incorrect_type(infer: &mut Infer<'_>, expr: ExprId, problem: &str) {
    let detail = format!("Invalid expression value: {problem}.");
    infer.problems.push(ItemProblem::new(expr.into(), Summary::INCORRECT_REPETITION_TYPE, detail));
}

/// Converts the constant to a type. `None` if the value is no constant.
///
/// # Errors
/// A message that says why the constant, or any value of its type, cannot be converted.
pub(super) fn converted(value: &Abstract, wanted: &Type) -> Result<Option<Value>, String> {
    match &value.constant {
        Some(constant) => {
            convert::convert(&constant.0, wanted).map(Some).map_err(|error| error.to_string())
        }
        None if value.ty == Type::Dynamic || convert::can_convert(&value.ty, wanted) => Ok(None),
        None => Err(convert::mismatch(&value.ty, wanted)),
    }
}

pub(super) fn count_problem(count: &Value) -> Option<&'static str> {
    let count = count.as_number()?;
    if count.signum() < 0 {
        return Some("must be greater than or equal to zero");
    }
    if count.is_integer() && count.to_usize().is_none() {
        return Some("the number is too large");
    }
    (!count.is_integer()).then_some("a whole number is required")
}

pub(super) fn for_each_problem(value: &Abstract) -> Option<String> {
    if !has_keys(&value.ty) {
        return Some(wrong_type(&value.ty));
    }
    let constant = value.constant.as_ref().map(|it| it.0.unmark().0);
    let holds_null = match constant.as_ref().map(Value::kind) {
        Some(Kind::Set(elements)) => elements.iter().any(Value::is_null),
        _ => false,
    };
    holds_null.then(|| NULL_IN_SET.to_owned())
}

/// Sets up `each` and `count` for an item and checks their argument. Returns the value of the argument and the
/// problems.
pub(super) fn with_repetition(
    item: &Item,
    repeated: Repetition,
    env: &mut ItemEnv<'_>,
) -> (Option<Abstract>, Vec<ItemProblem>) {
    if repeated == Repetition::Single {
        return (None, Vec::new());
    }
    env.in_repetition.set(true);
    let mut infer = Infer::new(&item.exprs, env);
    let value = repetition(&mut infer, repeated);
    let problems = std::mem::take(&mut infer.problems);
    drop(infer);
    env.in_repetition.set(false);
    env.may_be_absent = true;
    match repeated {
        Repetition::ForEach(_) => {
            env.each = value.as_ref().map(super::super::instances::each_value)
        }
        Repetition::Count(_) => env.counted = true,
        Repetition::Single | Repetition::Enabled(_) => {}
    }
    (value, problems)
}
