//! Evaluates conditions with the values that the root module is given now. Another run may give other values.

use values::{
    Kind, Str, Type, Value, convert,
    ops::{self, BinaryOp},
};

use crate::{
    Db,
    analysis::value::when::{Atom, Condition, Test},
    content::item,
    item_name::ItemKey,
    statics::evaluate::{CallPath, evaluate},
    workspace::Workspace,
};

/// A sentence that says if a condition holds with the current values. `None` if a value that the condition reads
/// is unknown, secret, or outside of the root module.
pub(crate) fn sentence(db: &dyn Db, workspace: Workspace, condition: &Condition) -> Option<String> {
    let Condition::Exactly(clauses) = condition else { return None };
    if !workspace.static_inputs(db).is_set() {
        return None;
    }
    let mut is_ephemeral = false;
    for clause in clauses {
        let mut holds = true;
        // Check all atoms of a clause even if one does not hold: a single secret suppresses the sentence.
        for atom in clause {
            holds &= holds_now(db, workspace, atom)?;
        }
        is_ephemeral |= holds;
    }
    let mut reads: Vec<Str> = Vec::new();
    for read in condition.reads() {
        if !reads.contains(&read) {
            reads.push(read);
        }
    }
    let (values, all) = match reads.as_slice() {
        [] => return None,
        [one] => ("value", one.to_string()),
        [first @ .., last] => ("values", format!("{} and {last}", first.join(", "))),
    };
    let is = if is_ephemeral { "is" } else { "is not" };
    Some(format!("With today's {values} of {all}, it {is} ephemeral."))
}

fn holds_now(db: &dyn Db, workspace: Workspace, atom: &Atom) -> Option<bool> {
    let (key, expr) = (atom.subject.item, atom.subject.expr);
    if !atom.subject.names.is_empty() || !is_in_root(db, workspace, key) {
        return None;
    }
    let root = CallPath::root(db, workspace);
    let value = evaluate(db, root, key, item(db, key), expr, &atom.subject.text).ok()?;
    if value.has_deep_secret() || !value.is_wholly_known() {
        return None;
    }
    Some(passes(&atom.test, &value) == atom.holds)
}

fn is_in_root(db: &dyn Db, workspace: Workspace, key: ItemKey) -> bool {
    workspace.root(db).files(db).contains(&key.block.file(db))
}

fn passes(test: &Test, value: &Value) -> bool {
    let number = || convert::convert(value, &Type::Number).ok()?.as_number()?.to_i64();
    let is_at = |number: i64, position: usize| i64::try_from(position) == Ok(number);
    match test {
        Test::True => {
            let value = convert::convert(value, &Type::Bool).ok();
            value.and_then(|it| it.as_bool()) == Some(true)
        }
        Test::Null => value.is_null(),
        Test::Empty => value.stored_length() == Some(0),
        Test::Equals(constant) => {
            let equal = ops::binary(BinaryOp::Equal, value, &constant.0).ok();
            equal.and_then(|it| it.as_bool()) == Some(true)
        }
        Test::Position(position) => number().is_some_and(|it| is_at(it, *position)),
        Test::Wraps { length, position } => {
            let length = i64::try_from(*length).unwrap_or(i64::MAX).max(1);
            number().is_some_and(|it| is_at(it.rem_euclid(length), *position))
        }
        Test::Key(key) => {
            let text = convert::convert(value, &Type::String).ok();
            text.is_some_and(|it| matches!(it.kind(), Kind::String(text) if **text == **key))
        }
        Test::HasKey(key) => value.as_map().is_some_and(|it| it.contains_key(key)),
        Test::HasMoreThan(count) => value.stored_length().is_some_and(|it| it > *count),
    }
}
