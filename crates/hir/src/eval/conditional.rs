//! Evaluates conditional expressions, `condition ? a : b`.

use db::Summary;
use values::{
    Marks, ObjectType, Refinements, Type, Value, convert,
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{Captured, Evaluation, Fault, Outcome},
    expr::ExprId,
};

/// Both arms, and the type of the result.
struct Arms {
    ty: Type,
    then: Captured,
    otherwise: Captured,
}

impl Evaluation<'_> {
    pub(super) fn conditional(
        &mut self,
        id: ExprId,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    ) -> Outcome {
        let then = self.captured(then)?;
        let otherwise = self.captured(otherwise)?;
        let Some(ty) = common_type(&then.value, &otherwise.value) else {
            let condition = self.unseen(|this| this.value(condition))?;
            let failed = self.inconsistent(id, &then.value, &otherwise.value);
            return Ok(failed.with_marks(condition.marks()));
        };
        let arms = Arms { ty, then, otherwise };
        let before = self.failures();
        let value = self.value(condition)?;
        if self.failures() > before {
            return Ok(Value::unknown(arms.ty.clone()).with_marks(&arms.all_marks(&value)));
        }
        if value.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            return Ok(self.unusable_condition(
                condition,
                Summary::NULL_CONDITION,
                detail,
                &value,
                &arms,
            ));
        }
        match convert::convert(&value, &Type::Bool) {
            Ok(decided) => match decided.as_bool() {
                Some(decision) => self.chosen(id, &value, decision, arms),
                None => Ok(arms.undecided(&value)),
            },
            Err(_) => {
                let detail = "The condition expression must be of type bool.";
                Ok(self.unusable_condition(
                    condition,
                    Summary::INCORRECT_CONDITION_TYPE,
                    detail,
                    &value,
                    &arms,
                ))
            }
        }
    }

    fn chosen(&mut self, id: ExprId, condition: &Value, decision: bool, arms: Arms) -> Outcome {
        let Arms { ty, then, otherwise } = arms;
        let (name, chosen, other) =
            if decision { ("true", then, otherwise) } else { ("false", otherwise, then) };
        let marks =
            rules::result_marks(RuleId::Conditional, [condition, &chosen.value, &other.value]);
        let value = self.adopt(chosen);
        if value.ty() != ty {
            self.charge(id, value.walked_size())?;
        }
        Ok(match convert::convert(&value, &ty) {
            Ok(converted) => converted.with_marks(&marks),
            Err(error) => {
                let fault = Fault {
                    at: id,
                    summary: Summary::INCONSISTENT_CONDITIONAL_RESULT_TYPES,
                    detail: format!(
                        "The {name} result value has the wrong type: {}.",
                        error.message
                    ),
                };
                let read = marks.union(&value.deep_marks());
                self.fail(fault, &read);
                Value::unknown(ty).with_marks(&read)
            }
        })
    }

    fn unusable_condition(
        &mut self,
        at: ExprId,
        summary: Summary,
        detail: &str,
        condition: &Value,
        arms: &Arms,
    ) -> Value {
        let marks = arms.all_marks(condition);
        self.fail(Fault { at, summary, detail: detail.to_owned() }, &marks);
        Value::unknown(arms.ty.clone()).with_marks(&marks)
    }

    fn inconsistent(&mut self, id: ExprId, then: &Value, otherwise: &Value) -> Value {
        let (a, b) = (then.ty(), otherwise.ty());
        // The attribute names of an ephemeral object may themselves be secret.
        let is_secret = then.has_deep_secret() || otherwise.has_deep_secret();
        let why = if is_secret { named_mismatch(&a, &b) } else { mismatch(&a, &b) };
        let fault = Fault {
            at: id,
            summary: Summary::INCONSISTENT_CONDITIONAL_RESULT_TYPES,
            detail: format!(
                "The true and false result expressions must have consistent types. {why}."
            ),
        };
        self.fail(fault, &then.deep_marks().union(&otherwise.deep_marks()))
    }
}

impl Arms {
    /// The result while the condition is unknown: unknown, with the refinements that hold for both arms.
    fn undecided(&self, condition: &Value) -> Value {
        let marks = self.all_marks(condition);
        let (then, otherwise) = (&self.then.value, &self.otherwise.value);
        if then.is_null() && otherwise.is_null() {
            return Value::null(self.ty.clone()).with_marks(&marks);
        }
        let both = self.common_refinements();
        Value::unknown_with(self.ty.clone(), both).with_marks(&marks)
    }

    /// The refinements that hold for both arms. Bounds survive only if both arms are numbers, or collections of
    /// one type: this function does not track how a conversion changes bounds.
    fn common_refinements(&self) -> Refinements {
        let (then, otherwise) = (&self.then.value, &self.otherwise.value);
        let ty = then.ty();
        if (ty == Type::Number || ty.is_collection())
            && ty == otherwise.ty()
            && !then.is_null()
            && !otherwise.is_null()
        {
            return then.range().or(&otherwise.range());
        }
        if then.is_definitely_not_null() && otherwise.is_definitely_not_null() {
            return Refinements::non_null();
        }
        Refinements::NONE
    }

    /// The marks of a result that may be either arm. Includes the marks of inner values, because the result is
    /// unknown.
    fn all_marks(&self, condition: &Value) -> Marks {
        let (then, otherwise) = (&self.then.value, &self.otherwise.value);
        let own = rules::result_marks(RuleId::Conditional, [condition, then, otherwise]);
        own.union(&then.deep_marks()).union(&otherwise.deep_marks())
    }
}

/// The type of the result. An untyped null takes the type of the other arm. If the type of an arm is unknown, so
/// is that of the result. `None` if the types have no common type.
fn common_type(then: &Value, otherwise: &Value) -> Option<Type> {
    let (a, b) = (then.ty(), otherwise.ty());
    if a == b {
        return Some(a);
    }
    if then.is_null() && a == Type::Dynamic {
        return Some(b);
    }
    if otherwise.is_null() && b == Type::Dynamic {
        return Some(a);
    }
    if a == Type::Dynamic || b == Type::Dynamic {
        return Some(Type::Dynamic);
    }
    convert::unify(&[a, b])
}

/// The reason why two types have no common type.
fn mismatch(then: &Type, otherwise: &Type) -> String {
    match (then, otherwise) {
        (Type::Object(a), Type::Object(b)) => object_mismatch(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => tuple_mismatch(a, b),
        (Type::List(a), Type::List(b)) => element_mismatch("list", a, b),
        (Type::Set(a), Type::Set(b)) => element_mismatch("set", a, b),
        (Type::Map(a), Type::Map(b)) => element_mismatch("map", a, b),
        _ => None,
    }
    .unwrap_or_else(|| named_mismatch(then, otherwise))
}

fn named_mismatch(then: &Type, otherwise: &Type) -> String {
    let (a, b) = (then.friendly_name(), otherwise.friendly_name());
    if a == b {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the \
                'false' value"
            .to_owned();
    }
    format!("The 'true' value is {a}, but the 'false' value is {b}")
}

fn object_mismatch(then: &ObjectType, otherwise: &ObjectType) -> Option<String> {
    for (name, ty) in then.iter() {
        match otherwise.get(name) {
            None => {
                return Some(format!(
                    "The 'true' value includes object attribute {name:?}, which is absent in the 'false' value"
                ));
            }
            Some(other) if convert::unify(&[ty.clone(), other.clone()]).is_none() => {
                return Some(format!(
                    "Type mismatch for object attribute {name:?}: {}",
                    mismatch(ty, other)
                ));
            }
            Some(_) => {}
        }
    }
    let (extra, _) = otherwise.iter().find(|(name, _)| then.get(name).is_none())?;
    Some(format!(
        "The 'false' value includes object attribute {extra:?}, which is absent in the 'true' value"
    ))
}

fn tuple_mismatch(then: &[Type], otherwise: &[Type]) -> Option<String> {
    if then.len() != otherwise.len() {
        return Some(format!(
            "The 'true' tuple has length {}, but the 'false' tuple has length {}",
            then.len(),
            otherwise.len()
        ));
    }
    let pairs = then.iter().zip(otherwise).enumerate();
    let (position, (a, b)) = { pairs }
        .find(|(_, (a, b))| convert::unify(&[Type::clone(a), Type::clone(b)]).is_none())?;
    Some(format!("Type mismatch for tuple element {position}: {}", mismatch(a, b)))
}

/// The mismatch of element types. `None` unless the elements are two objects or two tuples: for other elements,
/// the names of the collection types are enough.
fn element_mismatch(noun: &str, then: &Type, otherwise: &Type) -> Option<String> {
    let nested = matches!(
        (then, otherwise),
        (Type::Object(_), Type::Object(_)) | (Type::Tuple(_), Type::Tuple(_))
    );
    nested.then(|| format!("Mismatched {noun} element types: {}", mismatch(then, otherwise)))
}
