//! The expressions `base[*].rest` and `base.*.rest`.

use db::Summary;
use values::{Type, rules::RuleId};

use crate::{
    analysis::{
        infer::{Certainty, Infer, flow::Flow, iterate::UNROLL},
        value::{
            Abstract,
            failing::Failing,
            inside::Presence,
            when::{Test, When},
        },
    },
    expr::{ExprId, SymbolId},
};

impl Infer<'_> {
    pub(super) fn splat(&mut self, base: ExprId, item: SymbolId, each: ExprId) -> Abstract {
        let at = base;
        let base = self.expr(base);
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Splat, &base), &base);
        let around = flow.clone();
        let result = self.within(&around, |this| match &base.ty {
            // The base may be a null that got no type because the other arm failed.
            _ if !base.failing.keeps_type && base.presence == Presence::Open => {
                this.splat_of_any(&base, item, each, &mut flow)
            }
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                this.splat_of_many(at, &base, item, each)
            }
            Type::Dynamic if base.is_sequence => {
                flow.add_maybe(&base);
                this.splat_of_many(at, &base, item, each)
            }
            Type::Dynamic => this.splat_of_any(&base, item, each, &mut flow),
            // A value that is no sequence counts as one element, a null as none.
            _ if base.presence == Presence::Open => {
                let element = this.each_if_any(item, base.clone(), each);
                let is_there = this.tested(at, Test::Null).not();
                this.each_where(Type::Dynamic, element, &is_there, &[item], at)
            }
            _ => Abstract::tuple(vec![this.with_symbol(item, base.clone(), |it| it.expr(each))]),
        });
        let is_known = base.presence == Presence::Known && matches!(base.ty, Type::Tuple(_));
        if !is_known {
            // While the base is unknown, so is the result.
            flow.add_maybe(&result);
        }
        let result = if is_known { result } else { result.undecided() };
        let failing = Failing::NEVER.reading(&base).reading(&result).of_any_type();
        flow.onto(Abstract { failing, is_sequence: true, ..result })
    }

    /// Infers a splat over a value that may turn out to be one element or a sequence.
    fn splat_of_any(
        &mut self,
        base: &Abstract,
        item: SymbolId,
        each: ExprId,
        flow: &mut Flow,
    ) -> Abstract {
        let element = base.any_element().either(base).undecided();
        let element = self.each_if_any(item, element, each);
        flow.add_maybe(base);
        Abstract::each(Type::Dynamic, element)
    }

    /// Infers the steps for an element that may not exist.
    fn each_if_any(&mut self, item: SymbolId, element: Abstract, each: ExprId) -> Abstract {
        self.with_certainty(Certainty::Doubtful, |it| {
            it.with_symbol(item, element, |it| it.expr(each))
        })
    }

    /// Infers the steps for the element of a list that may be empty.
    fn of_unknown_element(&mut self, item: SymbolId, element: Abstract, each: ExprId) -> Abstract {
        let outer = std::mem::replace(&mut self.in_splat, true);
        let result = self.with_symbol(item, element, |it| it.expr(each));
        self.in_splat = outer;
        result
    }

    /// Infers a splat over a sequence.
    fn splat_of_many(
        &mut self,
        at: ExprId,
        base: &Abstract,
        item: SymbolId,
        each: ExprId,
    ) -> Abstract {
        if base.is_null() {
            self.fails(
                each,
                Summary::SPLAT_OF_NULL,
                "Splat expressions (with the * symbol) cannot be applied to null sequences.",
            );
        }
        let known = base.known_elements(UNROLL);
        let results: Option<Vec<Abstract>> = known.map(|elements| {
            let each_of = |(_, element)| self.with_symbol(item, element, |it| it.expr(each));
            elements.into_iter().map(each_of).collect()
        });
        match (&base.ty, results) {
            (Type::Tuple(_), Some(results)) => Abstract::tuple(results),
            (ty, results) => {
                // The known elements are all elements.
                let mut all_of = None;
                let element = match results {
                    Some(results) => {
                        let when = results.iter().map(|it| it.ephemeral.somewhere());
                        all_of = Some(when.fold(When::Never, |any, it| any.or(&it)));
                        results.into_iter().reduce(|all, it| all.either(&it))
                    }
                    None => None,
                };
                let element = element.unwrap_or_else(|| match ty {
                    // A tuple of unknown length may have no element that the steps apply to.
                    Type::Dynamic => self.each_if_any(item, base.any_element(), each),
                    _ => self.of_unknown_element(item, base.any_element(), each),
                });
                let ty = match ty {
                    Type::Tuple(_) | Type::Dynamic => Type::Dynamic,
                    _ => Type::list(element.ty.clone()),
                };
                let mut result = match element.ephemeral.is_never() {
                    true => Abstract::each(ty, element),
                    false => {
                        let is_filled = self.has_elements(at, base);
                        self.each_where(ty, element, &is_filled, &[item], at)
                    }
                };
                if let Some(when) = all_of {
                    result.ephemeral = result.ephemeral.with_inside(when);
                }
                result
            }
        }
    }
}
