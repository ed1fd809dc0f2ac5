//! Evaluates splat expressions, `base[*].rest`.

use db::Summary;
use values::{
    Kind, Marks, Refinements, Type, Value,
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{ELEMENT, Evaluation, Fault, Outcome},
    expr::{ExprId, SymbolId},
};

/// The parts of a splat.
#[derive(Clone, Copy)]
struct Splat {
    id: ExprId,
    base: ExprId,
    item: SymbolId,
    each: ExprId,
}

impl Evaluation<'_> {
    pub(super) fn splat(
        &mut self,
        id: ExprId,
        base: ExprId,
        item: SymbolId,
        each: ExprId,
    ) -> Outcome {
        let splat = Splat { id, base, item, each };
        let before = self.failures();
        let source = self.value(base)?;
        if self.failures() > before {
            // Evaluates the steps with an unknown element, to report further problems in them.
            let each = self.each(splat, Value::dynamic())?;
            return Ok(Value::dynamic().with_marks(&all_marks(&source, &[each])));
        }
        let ty = source.ty();
        if matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_)) {
            return self.splat_of_sequence(splat, &source, &ty);
        }
        if source.is_null() {
            return Ok(Value::empty_tuple().with_marks(&own_marks(&source)));
        }
        if ty == Type::Dynamic {
            let each = self.unseen(|this| this.each(splat, source.clone()))?;
            return Ok(Value::dynamic().with_marks(&all_marks(&source, &[each])));
        }
        self.splat_of_one(splat, &source)
    }

    /// A value that is not a sequence counts as a sequence of one element. The result is unknown if the value may
    /// be null.
    fn splat_of_one(&mut self, splat: Splat, source: &Value) -> Outcome {
        let each = self.each(splat, source.clone())?;
        if !source.is_definitely_not_null() {
            return Ok(Value::dynamic().with_marks(&all_marks(source, &[each])));
        }
        Ok(Value::tuple(vec![each]).with_marks(&own_marks(source)))
    }

    fn splat_of_sequence(&mut self, splat: Splat, source: &Value, ty: &Type) -> Outcome {
        match source.kind() {
            Kind::Null => {
                let fault = Fault {
                    at: splat.base,
                    summary: Summary::SPLAT_OF_NULL,
                    detail:
                        "Splat expressions (with the * symbol) cannot be applied to null sequences."
                            .to_owned(),
                };
                Ok(self.fail(fault, source.marks()))
            }
            Kind::Unknown(known) => {
                let known = known.clone();
                self.splat_of_unknown(splat, source, ty, &known)
            }
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
                self.splat_of_known(splat, source, ty, items)
            }
            _ => Ok(Value::dynamic().with_marks(&source.deep_marks())),
        }
    }

    fn splat_of_known(
        &mut self,
        splat: Splat,
        source: &Value,
        ty: &Type,
        items: &[Value],
    ) -> Outcome {
        let before = self.failures();
        self.charge(splat.id, (items.len() as u64 + 1) * ELEMENT)?;
        let mut results = Vec::with_capacity(items.len());
        for item in items {
            results.push(self.each(splat, item.clone())?);
        }
        if self.failures() > before {
            let marks = all_marks(source, &results);
            return Ok(Value::dynamic().with_marks(&marks));
        }
        if matches!(ty, Type::Tuple(_)) {
            return Ok(Value::tuple(results).with_marks(&own_marks(source)));
        }
        let element = match results.first() {
            Some(first) => first.ty(),
            None => self.abstract_element(splat, ty.element())?.ty(),
        };
        if results.iter().any(|it| it.ty() != element) {
            return Ok(self.uneven(splat, source, &results));
        }
        Ok(Value::list(element, results).with_marks(&own_marks(source)))
    }

    /// The result of a nested splat whose elements differ in type and cannot form a list.
    fn uneven(&mut self, splat: Splat, source: &Value, results: &[Value]) -> Value {
        let marks = all_marks(source, results);
        if results.iter().any(|it| it.ty().has_dynamic()) {
            return Value::dynamic().with_marks(&marks);
        }
        let fault = Fault {
            at: splat.each,
            summary: Summary::INVALID_NESTED_SPLAT,
            detail: "The second level of splat expression produced elements of different types, so no list can hold \
                     them. Use a \"for\" expression instead: it makes a tuple, whose elements may differ in type."
                .to_owned(),
        };
        self.fail(fault, &marks)
    }

    fn splat_of_unknown(
        &mut self,
        splat: Splat,
        source: &Value,
        ty: &Type,
        known: &Refinements,
    ) -> Outcome {
        if let Type::Tuple(elements) = ty {
            let mut results = Vec::with_capacity(elements.len());
            for element in elements.iter() {
                results.push(self.each(splat, Value::unknown(element.clone()))?);
            }
            let marks = all_marks(source, &results);
            let ty = Type::tuple(results.iter().map(Value::ty));
            return Ok(Value::unknown_with(ty, Refinements::non_null()).with_marks(&marks));
        }
        let each = self.abstract_element(splat, ty.element())?;
        let mut length = Refinements::non_null().with_min_length(known.min_length());
        if let Some(max) = known.max_length() {
            length = length.with_max_length(max);
        }
        let ty = Type::list(each.ty());
        Ok(Value::unknown_with(ty, length).with_marks(&all_marks(source, &[each])))
    }

    /// Applies the steps to an unknown element.
    fn abstract_element(&mut self, splat: Splat, element: Option<&Type>) -> Outcome {
        let element = element.cloned().unwrap_or(Type::Dynamic);
        self.each(splat, Value::unknown(element))
    }

    fn each(&mut self, splat: Splat, item: Value) -> Outcome {
        self.bind(splat.item, item);
        let result = self.value(splat.each);
        self.unbind(splat.item);
        result
    }
}

fn own_marks(source: &Value) -> Marks {
    rules::result_marks(RuleId::Splat, [source])
}

/// The marks of a result that is unknown, including those of its parts.
fn all_marks(source: &Value, results: &[Value]) -> Marks {
    results.iter().fold(own_marks(source), |all, it| all.union(&it.deep_marks()))
}
