//! Checks ephemerality conditions: if all inputs are known, a value must be ephemeral exactly if its abstract
//! condition holds.

use hir::{
    ExprId, Exprs,
    analysis::{
        Abstract, Ephemerality, When,
        value::{
            Inside,
            when::{Atom, Condition, Test},
        },
    },
    eval::{Evaluated, evaluate},
};
use values::{Kind, MarkKind, Type, Value, convert};

use crate::names::Values;

/// The contradiction between the condition of an abstract value and the runtime value. `None` if they agree.
/// Values that failed or are not wholly known are not compared.
pub(crate) fn untrue(
    known: &Abstract,
    exprs: &Exprs,
    scope: &Values,
    applied: &Evaluated,
    planned: &Evaluated,
) -> Option<String> {
    if applied.has_errors() {
        return None;
    }
    let is_always = known.ephemeral.somewhere() == When::Always;
    if is_always && !planned.has_errors() && !planned.value.has_deep(MarkKind::Ephemeral) {
        return Some("condition: always, but not while planning".to_owned());
    }
    if !applied.value.is_wholly_known() {
        return None;
    }
    let judge = Judge { exprs, scope };
    judge.value(known, &applied.value, "")
}

/// Describes the ephemerality of an abstract value.
pub(crate) fn show(known: &Abstract) -> String {
    let Ephemerality { .. } = &known.ephemeral;
    format!("{} / {}", words(known.ephemeral.here()), words(known.ephemeral.inside()))
}

fn words(when: &When) -> String {
    match when {
        When::Never => "never".to_owned(),
        When::Always => "always".to_owned(),
        When::If(condition) => condition.sentence(),
    }
}

struct Judge<'a> {
    exprs: &'a Exprs,
    scope: &'a Values,
}

impl Judge<'_> {
    fn value(&self, known: &Abstract, value: &Value, path: &str) -> Option<String> {
        let is_here = value.marks().has(MarkKind::Ephemeral);
        let is_anywhere = value.has_deep(MarkKind::Ephemeral);
        let (here, anywhere) = (known.ephemeral.here(), known.ephemeral.somewhere());
        let of_here = self.differs(here, is_here, "itself", path);
        let of_all = || self.differs(&anywhere, is_anywhere, "somewhere", path);
        of_here.or_else(of_all).or_else(|| self.parts(known, value, path))
    }

    fn parts(&self, known: &Abstract, value: &Value, path: &str) -> Option<String> {
        // A mark inside of a set goes on the whole set.
        if matches!(value.kind(), Kind::Set(_)) {
            return None;
        }
        value.elements().find_map(|(key, part)| {
            let known = match (&known.inside, key.kind()) {
                (Inside::Attrs(attrs), Kind::String(name)) => attrs.get(&**name)?,
                (Inside::Items(items), Kind::Number(at)) => items.get(at.to_usize()?)?,
                (Inside::Each(element), _) => element,
                _ => return None,
            };
            self.value(known, part, &format!("{path}/{key:?}"))
        })
    }

    fn differs(&self, when: &When, is_ephemeral: bool, what: &str, path: &str) -> Option<String> {
        let said = match when {
            When::Never => false,
            When::Always => true,
            When::If(condition) => match &**condition {
                Condition::Depends(_) => return None,
                Condition::Exactly(clauses) => {
                    clauses.iter().any(|clause| clause.iter().all(|it| self.holds(it)))
                }
            },
        };
        let words = words(when);
        (said != is_ephemeral)
            .then(|| format!("condition: {what} at {path:?}: {words:?}, but it is {is_ephemeral}"))
    }

    fn holds(&self, atom: &Atom) -> bool {
        assert!(atom.subject.names.is_empty(), "{} has no meaning outside", atom.subject.text);
        let subject: ExprId = atom.subject.expr;
        let evaluated = evaluate(self.exprs, subject, self.scope).expect("nothing interrupts");
        let value = evaluated.value.without_all_marks();
        let is_so = !evaluated.has_errors() && passes(&atom.test, &value);
        is_so == atom.holds
    }
}

fn passes(test: &Test, value: &Value) -> bool {
    let number = || convert::convert(value, &Type::Number).ok()?.as_number()?.to_usize();
    match test {
        Test::True => {
            convert::convert(value, &Type::Bool).ok().and_then(|it| it.as_bool()) == Some(true)
        }
        Test::Null => value.is_null(),
        Test::Empty => value.stored_length() == Some(0),
        Test::Equals(constant) => {
            let equal = values::ops::binary(values::ops::BinaryOp::Equal, value, &constant.0);
            equal.ok().and_then(|it| it.as_bool()) == Some(true)
        }
        Test::Position(position) => number() == Some(*position),
        Test::Wraps { length, position } => {
            let number = convert::convert(value, &Type::Number).ok();
            let number = number.and_then(|it| it.as_number()?.to_i64());
            let length = i64::try_from(*length).expect("it is short");
            number.is_some_and(|it| it.rem_euclid(length) == *position as i64)
        }
        Test::Key(key) => {
            convert::convert(value, &Type::String).ok().is_some_and(|it| it.as_str() == Some(key))
        }
        Test::HasKey(key) => value.as_map().is_some_and(|it| it.contains_key(key)),
        Test::HasMoreThan(count) => value.stored_length().is_some_and(|it| it > *count),
    }
}
