//! The expression `condition ? a : b`.

use db::Summary;
use values::{Type, Value, convert, ops::UnaryOp, rules::RuleId};

use crate::{
    analysis::{
        infer::{Certainty, Infer, flow::Flow},
        value::{Abstract, failing::Failing, join::join_types, marks::Tri, when::When},
    },
    expr::{At, Expr, ExprId, Literal, ObjectItem},
    item::ConstValue,
};

impl Infer<'_> {
    pub(super) fn conditional(
        &mut self,
        id: ExprId,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    ) -> Abstract {
        let condition_value = self.expr(condition);
        self.check_condition(condition, &condition_value);
        let decided = decision(&condition_value);
        let arm = |it: &mut Self, arm: ExprId, chosen: bool| match decided {
            Some(decided) if decided == chosen => it.expr(arm),
            _ => it.with_certainty(Certainty::Hidden, |it| it.expr(arm)),
        };
        let a = arm(self, then, true);
        let b = arm(self, otherwise, false);
        self.check_arms(id, Arm { at: then, value: &a }, Arm { at: otherwise, value: &b });
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Conditional, &condition_value), &condition_value);
        let mut failing = Failing::NEVER.reading(&condition_value);
        for (arm, value) in [(then, &a), (otherwise, &b)] {
            let contribution = self.contribution(RuleId::Conditional, value);
            // The failure of the arm that is not chosen is hidden.
            flow.add(self.contribution_if_hidden(arm, contribution, value), value);
            flow.hidden_in_every_run(&value.failing);
            failing = failing.reading(value);
        }
        let ty = common_type(&a, &b);
        // If one arm fails, nothing determines the type of a null in the other.
        let is_typed_late =
            is_open_null(&a) && !is_settled(&b) || is_open_null(&b) && !is_settled(&a);
        if is_typed_late {
            failing = failing.typed_late();
        }
        let value = match decided {
            Some(true) => self.chosen(&a, &b, &ty, &mut flow),
            Some(false) => self.chosen(&b, &a, &ty, &mut flow),
            None => {
                // While the condition is unknown, the whole has the marks inside of either arm.
                flow.add_maybe(&a);
                flow.add_maybe(&b);
                // If the chosen arm fails, so does the whole, so a mark that is certain in both arms is certain in
                // the result. If one arm is a null, the mark is certain in one arm only.
                let is_beside_null = a.is_null() || b.is_null();
                let [a, b] = [&a, &b].map(|arm| {
                    let arm = self.converted(arm, &ty.wanted);
                    if is_beside_null { arm.if_it_holds() } else { arm }
                });
                let first = match a.deep_marks().union(&b.deep_marks()).ephemeral {
                    Tri::No => When::Never,
                    _ => self.truth(condition),
                };
                let either = a.either_by(&b, &first).undecided();
                // While the condition is unknown, an arm that fails is an unknown value, not a null.
                let is_certain = [then, otherwise].into_iter().all(|arm| self.is_plain(arm));
                let constant = either.constant.clone().filter(|_| is_certain);
                Abstract { constant, ..either }
            }
        };
        failing.keeps_type &= ty.is_sure;
        flow.onto(Abstract { ty: ty.result, failing, ..value })
    }

    /// The kind of an expression's value, even if a part of it fails or has an open type. `None` if it is not
    /// certain.
    fn kind(&self, id: ExprId, value: &Abstract) -> Option<Kind> {
        match &self.exprs[id] {
            Expr::Conditional { then, otherwise, .. } => {
                let arms = [then, otherwise].map(|it| self.kind_of_text(*it));
                self.kind_of_value(value).or(arms[0].filter(|it| arms[1] == Some(*it)))
            }
            _ => self.kind_of_value(value).or_else(|| self.kind_of_text(id)),
        }
    }

    /// The kind of a value, if a failure does not change its type.
    fn kind_of_value(&self, value: &Abstract) -> Option<Kind> {
        let is_sure = value.failing.keeps_type && value.ty != Type::Dynamic;
        is_sure.then(|| Kind::of(&value.ty))
    }

    /// The kind of an expression that follows from its syntax alone.
    fn kind_of_text(&self, id: ExprId) -> Option<Kind> {
        match &self.exprs[id] {
            Expr::Literal(literal) => match literal {
                Literal::Null => None,
                Literal::Bool(_) => Some(Kind::Bool),
                Literal::Number(_) => Some(Kind::Number),
                Literal::String(_) => Some(Kind::Text),
            },
            Expr::Template(_) => Some(Kind::Text),
            Expr::Unary { op: UnaryOp::Not, .. } => Some(Kind::Bool),
            Expr::Unary { op: UnaryOp::Negate, .. } => Some(Kind::Number),
            Expr::Binary { op, .. } => Some(Kind::of(&op.result_type())),
            Expr::Tuple(_) => Some(Kind::Composed),
            // An unknown name leaves the type open.
            Expr::Object(items) => {
                let is_name = |it: &ObjectItem| match &self.exprs[it.key] {
                    Expr::Literal(literal) => *literal != Literal::Null,
                    _ => false,
                };
                items.iter().all(is_name).then_some(Kind::Composed)
            }
            Expr::Conditional { then, otherwise, .. } => {
                let then = self.kind_of_text(*then)?;
                (self.kind_of_text(*otherwise) == Some(then)).then_some(then)
            }
            _ => None,
        }
    }

    /// Returns true if an expression is a constant or a name; neither can fail.
    fn is_plain(&self, id: ExprId) -> bool {
        self.closed.contains(id) || matches!(self.exprs[id], Expr::Ref(_) | Expr::Symbol(_))
    }

    /// The value of a conditional whose condition is known.
    fn chosen(
        &self,
        chosen: &Abstract,
        other: &Abstract,
        ty: &CommonType,
        flow: &mut Flow,
    ) -> Abstract {
        if is_open_null(chosen) {
            // The null takes the type of the other arm, if that is known.
            let null = is_settled(other).then(|| Value::null(other.ty.clone()));
            return Abstract { constant: null.map(ConstValue::shared), ..chosen.clone() };
        }
        if chosen.ty == other.ty && ty.is_sure {
            return chosen.clone();
        }
        let converted = self.converted(chosen, &ty.wanted);
        if ty.is_sure {
            return converted;
        }
        // The conversion depends on the type of the other arm, which is not certain. If the result is a set, the
        // marks of elements are on the whole.
        flow.add_maybe(chosen);
        converted.either(chosen).undecided().with_open_parts()
    }

    fn check_condition(&mut self, at: ExprId, condition: &Abstract) {
        if condition.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            self.fails(at, Summary::NULL_CONDITION, detail);
        } else if !convert::can_convert(&condition.ty, &Type::Bool) {
            let detail = "The condition expression must be of type bool.";
            self.fails(at, Summary::INCORRECT_CONDITION_TYPE, detail);
        }
    }

    fn check_arms(&mut self, id: ExprId, then: Arm<'_>, otherwise: Arm<'_>) {
        let (a, b) = (then.value, otherwise.value);
        if is_open_null(a) || is_open_null(b) {
            return;
        }
        let kinds = self.kind(then.at, a).zip(self.kind(otherwise.at, b));
        let are_apart = kinds.is_some_and(|(a, b)| a.is_apart_from(b));
        if !are_apart && (a.has_open_type() || b.has_open_type()) {
            return;
        }
        let have_common = a.ty == b.ty || convert::unify(&[a.ty.clone(), b.ty.clone()]).is_some();
        if !are_apart && have_common {
            return;
        }
        let (then, otherwise) = (a.ty.friendly_name(), b.ty.friendly_name());
        let detail = match then == otherwise {
            true => "The true and false result expressions must have consistent types. At least \
                     one deeply-nested attribute or element is not compatible across both the \
                     'true' and the 'false' value."
                .to_owned(),
            false => format!(
                "The true and false result expressions must have consistent types. The 'true' \
                 value is {then}, but the 'false' value is {otherwise}."
            ),
        };
        // The arm that is not chosen may fail, and then has any type.
        let keeps_types = are_apart || a.failing.keeps_type && b.failing.keeps_type;
        let certainty = if keeps_types { Certainty::Sure } else { Certainty::Hidden };
        let summary = Summary::INCONSISTENT_CONDITIONAL_RESULT_TYPES;
        self.with_certainty(certainty, |it| it.fails(At::Arms(id), summary, detail));
    }
}

/// A result expression of a conditional, and its value.
#[derive(Clone, Copy)]
struct Arm<'v> {
    at: ExprId,
    value: &'v Abstract,
}

/// The value of the condition, if the source determines it.
fn decision(condition: &Abstract) -> Option<bool> {
    convert::convert(&condition.constant.as_ref()?.0, &Type::Bool).ok()?.as_bool()
}

/// The outermost layer of a type. Some pairs have no common type, whatever they contain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Text,
    /// A collection, an object or a tuple.
    Composed,
}

impl Kind {
    fn of(ty: &Type) -> Kind {
        match ty {
            Type::Bool => Kind::Bool,
            Type::Number => Kind::Number,
            Type::String => Kind::Text,
            _ => Kind::Composed,
        }
    }

    fn is_apart_from(self, other: Kind) -> bool {
        // Booleans and numbers convert to text.
        match (self, other) {
            (Kind::Composed, Kind::Composed) | (Kind::Text, Kind::Bool | Kind::Number) => false,
            (Kind::Bool | Kind::Number, Kind::Text) => false,
            (a, b) => a != b,
        }
    }
}

/// The type of a conditional.
struct CommonType {
    /// The type that every result conforms to.
    result: Type,
    /// The type that arms are converted to, as far as it is known.
    wanted: Type,
    /// True if `wanted` is certain.
    is_sure: bool,
}

/// Returns true if an arm determines the type of a null in the other arm in every run.
fn is_settled(arm: &Abstract) -> bool {
    arm.failing.keeps_type && !arm.has_open_type()
}

fn common_type(a: &Abstract, b: &Abstract) -> CommonType {
    let sure = |ty: &Type| CommonType { result: ty.clone(), wanted: ty.clone(), is_sure: true };
    if is_open_null(a) {
        return sure(&b.ty);
    }
    if is_open_null(b) {
        return sure(&a.ty);
    }
    let is_open = a.has_open_type() || b.has_open_type();
    if a.ty == b.ty && !is_open {
        return sure(&a.ty);
    }
    if is_open {
        // The open types take part in the search for a common type and may change all others.
        let result = loosely_unified(&a.ty, &b.ty);
        return CommonType { result, wanted: Type::Dynamic, is_sure: false };
    }
    let unified = convert::unify(&[a.ty.clone(), b.ty.clone()]).unwrap_or(Type::Dynamic);
    if a.failing.keeps_type && b.failing.keeps_type {
        return sure(&unified);
    }
    // An arm that fails has no type, and the other arm then keeps its own.
    let result = join_types(&join_types(&a.ty, &b.ty), &unified);
    CommonType { result, wanted: unified, is_sure: false }
}

/// Returns true for a null without a type, which takes the type of the other arm.
fn is_open_null(value: &Abstract) -> bool {
    value.is_null() && value.ty == Type::Dynamic
}

/// The type that every common type of two types conforms to, if part of them is open.
fn loosely_unified(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::List(a), Type::List(b)) => Type::list(loosely_unified(a, b)),
        (Type::Set(a), Type::Set(b)) => Type::set(loosely_unified(a, b)),
        (Type::Map(a), Type::Map(b)) => Type::map(loosely_unified(a, b)),
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            Type::tuple(a.iter().zip(b.iter()).map(|(a, b)| loosely_unified(a, b)))
        }
        (Type::Object(a), Type::Object(b))
            if a.iter().map(|(name, _)| name).eq(b.iter().map(|(name, _)| name)) =>
        {
            let pairs = a.iter().zip(b.iter());
            Type::object(pairs.map(|((name, a), (_, b))| (name.clone(), loosely_unified(a, b))))
        }
        (a, b) if a == b && !a.has_dynamic() => a.clone(),
        _ => Type::Dynamic,
    }
}
