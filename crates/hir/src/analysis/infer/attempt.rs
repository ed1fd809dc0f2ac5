//! `try` and `can`. Whether an expression fails can reveal something about the values that it reads.

use values::{Type, rules::RuleId};

use crate::{
    analysis::{
        infer::{
            Certainty, Infer,
            flow::{Contribution, Flow},
        },
        origin::DroppedMark,
        value::{
            Abstract,
            failing::Failing,
            inside::Presence,
            marks::Tri,
            when::{Ephemerality, When},
        },
    },
    expr::{Call, Expr, ExprId},
};

/// A tried expression: its value, and the marks that its failure reveals.
struct Attempt {
    value: Abstract,
    left_behind: Flow,
    /// The condition under which the expression fails.
    fails: When,
}

impl Infer<'_> {
    /// Infers `try`: the first argument that does not fail. It is not known which one that is, so each argument
    /// that was tried before leaves its marks.
    pub(super) fn attempt(&mut self, call: &Call) -> Abstract {
        let mut result: Option<Abstract> = None;
        let mut previous = Flow::default();
        // While a value that an argument reads is unknown, the result has the marks of all arguments.
        let mut undecided = Flow::default();
        let mut failing = Failing::NEVER;
        let mut forgotten = None;
        // A plain reference never fails, so the arguments after it are not reached.
        let mut can_be_reached = false;
        let mut branches = Vec::with_capacity(call.args.len());
        for (position, &arg) in call.args.iter().enumerate() {
            let is_expanded = call.expand && position + 1 == call.args.len();
            let Attempt { value, left_behind, fails } = self.infer_attempt(RuleId::Try, arg);
            undecided.add_maybe(&value);
            undecided.hidden(&value.failing);
            failing = failing.reading(&value);
            undecided.join(&left_behind.while_unknown());
            let value = if is_expanded { spread(&value) } else { value };
            branches.push(Branch {
                ephemeral: value.ephemeral.clone(),
                left_behind: left_behind.is_ephemeral().clone(),
                fails,
            });
            // While something is unknown, the failure does not show.
            let value = value.if_it_holds();
            let is_plain = value.deep_marks().ephemeral == Tri::No;
            let here = previous.clone().dropping(DroppedMark::Fallback).onto(value);
            if is_plain && can_be_reached && forgotten.is_none() {
                forgotten.clone_from(&here.origin);
            }
            previous.join(&left_behind);
            can_be_reached |= !matches!(self.exprs[arg], Expr::Ref(_) | Expr::Symbol(_));
            result = Some(result.map_or_else(|| here.clone(), |result| result.either(&here)));
        }
        let result = result.unwrap_or_else(Abstract::any).undecided();
        let failing = failing.typed_late();
        let ephemeral = first_that_succeeds(branches);
        let result = undecided.onto(Abstract { constant: None, failing, ephemeral, ..result });
        // Prefer the origin that mentions OpenTofu's different treatment of a fallback over one that OpenTofu
        // refuses as well.
        Abstract { origin: forgotten.or(result.origin), ..result }
    }

    /// Infers `can`.
    pub(super) fn can(&mut self, call: &Call) -> Abstract {
        let mut flow = Flow::default();
        for &arg in &call.args {
            let Attempt { value, left_behind, .. } = self.infer_attempt(RuleId::Can, arg);
            match call.expand {
                // An expanded argument is evaluated before the call, so its failure is not caught.
                true => {
                    flow.add_maybe(&value);
                    flow.join(&left_behind.while_unknown());
                }
                false => flow.join(&left_behind),
            }
        }
        flow.dropping(DroppedMark::Can)
            .onto(Abstract { presence: Presence::NotNull, ..Abstract::of_type(Type::Bool) })
    }

    /// Infers an expression that may fail. The marks of everything that it read are left behind as the rule
    /// requires.
    fn infer_attempt(&mut self, rule: RuleId, id: ExprId) -> Attempt {
        let value = self.with_certainty(Certainty::Hidden, |it| it.expr(id));
        let mut left_behind = Flow::default();
        left_behind.add(self.contribution(rule, &value).weakened(), &value);
        for read in self.referenced_values(id) {
            let contribution = self.contribution(rule, &read);
            // A traversal that fails stops before it has read everything.
            left_behind.add(
                if read.failing.keeps_marks { contribution } else { contribution.weakened() },
                &read,
            );
        }
        let fails = self.failure(id);
        Attempt { value, left_behind, fails }
    }

    /// The values of the references in an expression, each with its whole traversal.
    fn referenced_values(&mut self, id: ExprId) -> Vec<Abstract> {
        let problems = self.problems.len();
        let traversals = crate::eval::traversals(self.exprs, id);
        let referenced_values = traversals
            .into_iter()
            .map(|it| self.with_certainty(Certainty::Hidden, |this| this.expr(it)))
            .collect();
        self.problems.truncate(problems);
        referenced_values
    }
}

/// An argument of `try`.
struct Branch {
    /// The ephemerality of its value if it succeeds.
    ephemeral: Ephemerality,
    /// The condition that its failure reveals something ephemeral.
    left_behind: When,
    /// The condition that it fails.
    fails: When,
}

/// The ephemerality of a `try`.
fn first_that_succeeds(branches: Vec<Branch>) -> Ephemerality {
    let mut rest = branches.into_iter().rev();
    // If the last branch fails, so does the whole `try`.
    let Some(last) = rest.next() else { return Ephemerality::NEVER };
    rest.fold(last.ephemeral, |later, it| {
        Ephemerality::choose(&it.fails, &later.or_here(&it.left_behind), &it.ephemeral)
    })
}

/// An element of the argument before `...`.
fn spread(collection: &Abstract) -> Abstract {
    let mut flow = Flow::default();
    let when = collection.ephemeral.here().clone();
    flow.add(Contribution { marks: collection.marks, when }, collection);
    flow.onto(collection.any_element())
}
