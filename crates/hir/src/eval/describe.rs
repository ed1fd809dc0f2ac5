//! Short descriptions of values, which diagnostics show below the source line.
//!
//! **Invariant:** the description of a sensitive or ephemeral value contains only that fact. The description of a
//! container has only the number of its parts and, for a single attribute, its name.

use db::Difference;
use values::{Kind, MarkKind, Refinements, Type, Value, json, ops::BinaryOp};

use crate::{
    eval::{
        evaluation::Evaluation,
        traversal::{traversal_text, traversals},
    },
    expr::{Expr, ExprId},
};

/// Returns one line for each value that the expression reads, such as `var.x is "a"`, sorted by name.
pub(super) fn values_of(evaluation: &mut Evaluation<'_>, expr: ExprId) -> Vec<String> {
    lines_of(evaluation, expr, |value| Some(statement(value)))
}

/// Like [`values_of`], without the values that explain nothing: secret and unknown ones.
pub(super) fn known_values_of(evaluation: &mut Evaluation<'_>, expr: ExprId) -> Vec<String> {
    let is_shown = |it: &Value| {
        it.is_known()
            && !it.marks().has(MarkKind::Sensitive)
            && !it.marks().has(MarkKind::Ephemeral)
    };
    lines_of(evaluation, expr, |value| is_shown(value).then(|| statement(value)))
}

/// The two sides of an expression `left == right`. `None` for any other expression, and if a side is unknown or
/// secret in any part.
pub(super) fn difference(evaluation: &mut Evaluation<'_>, expr: ExprId) -> Option<Difference> {
    let Expr::Binary { op: BinaryOp::Equal, left, right } = evaluation.exprs[expr] else {
        return None;
    };
    let mut side = |id| {
        let value = evaluation.unseen(|this| this.value(id)).ok()?;
        let is_shown = value.is_wholly_known() && !value.has_deep_secret();
        json::encode(is_shown.then_some(&value.without_all_marks())?, &value.ty()).ok()
    };
    Some(Difference { left: side(left)?, right: side(right)? })
}

fn lines_of(
    evaluation: &mut Evaluation<'_>,
    expr: ExprId,
    statement: impl Fn(&Value) -> Option<String>,
) -> Vec<String> {
    /// The maximum number of values. A longer list does not explain an expression.
    const MAX_LISTED: usize = 16;
    let exprs = evaluation.exprs;
    let mut lines = Vec::new();
    for traversal in traversals(exprs, expr).into_iter().take(MAX_LISTED) {
        if let Some((id, value)) = evaluation.longest_that_succeeds(traversal)
            && let Some(text) = traversal_text(exprs, id)
            && let Some(statement) = statement(&value)
        {
            lines.push(format!("{text} {statement}"));
        }
    }
    sorted::sort(&mut lines);
    lines.dedup();
    lines
}

impl Evaluation<'_> {
    /// The value of the longest prefix of a traversal that evaluates without failure. `None` if there is none.
    /// Reports no diagnostics.
    fn longest_that_succeeds(&mut self, mut id: ExprId) -> Option<(ExprId, Value)> {
        loop {
            let before = self.failures();
            let (value, failed) = self.unseen(|this| (this.value(id), this.failures() > before));
            match (value, &self.exprs[id]) {
                (Ok(value), _) if !failed => return Some((id, value)),
                (Ok(_), Expr::GetAttr { base, .. } | Expr::Index { base, .. }) => id = *base,
                _ => return None,
            }
        }
    }
}

/// The predicate of a value in a description: `is "a"`, `has a sensitive value`, `will be known only after apply`.
pub(crate) fn statement(value: &Value) -> String {
    if value.marks().has(MarkKind::Ephemeral) {
        return "has an ephemeral value".to_owned();
    }
    if value.marks().has(MarkKind::Sensitive) {
        return "has a sensitive value".to_owned();
    }
    match value.kind() {
        Kind::Unknown(refinements) => unknown_statement(&value.ty(), refinements),
        _ => format!("is {}", description(value)),
    }
}

fn unknown_statement(ty: &Type, refinements: &Refinements) -> String {
    if *ty == Type::Dynamic {
        return "will be known only after apply".to_owned();
    }
    let length = if ty.is_collection() { length_statement(refinements) } else { String::new() };
    let article = if matches!(ty, Type::Object(_)) { "an" } else { "a" };
    format!("is {article} {}{length}, known only after apply", ty.friendly_name())
}

fn length_statement(refinements: &Refinements) -> String {
    /// The maximum upper bound that is shown. Larger bounds do not help the reader.
    const GREATEST: u64 = 1024;
    match (refinements.min_length(), refinements.max_length().filter(|max| *max <= GREATEST)) {
        (min, Some(max)) if min == max => format!(" of length {min}"),
        (0, Some(max)) => format!(" with up to {max} elements"),
        (0, None) => String::new(),
        (min, Some(max)) => format!(" with between {min} and {max} elements"),
        (min, None) => format!(" with at least {min} elements"),
    }
}

/// A short description of a known value: `"a"`, `list of string with 2 elements`.
fn description(value: &Value) -> String {
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Unknown(_) => "(not yet known)".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => number.ten_digit_text(),
        Kind::String(text) => quoted(text),
        Kind::List(items) | Kind::Set(items) => {
            with_elements(&value.ty().friendly_name(), items.len())
        }
        Kind::Tuple(items) => with_elements("tuple", items.len()),
        Kind::Map(entries) => with_elements(&value.ty().friendly_name(), entries.len()),
        Kind::Object(attributes) => match (attributes.len(), attributes.keys().next()) {
            (0, _) | (_, None) => "object with no attributes".to_owned(),
            (1, Some(name)) => format!("object with 1 attribute {}", quoted(name)),
            (count, _) => format!("object with {count} attributes"),
        },
    }
}

fn with_elements(name: &str, count: usize) -> String {
    match count {
        0 => format!("empty {name}"),
        1 => format!("{name} with 1 element"),
        count => format!("{name} with {count} elements"),
    }
}

/// Quotes a string and truncates it to the length of a line.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
