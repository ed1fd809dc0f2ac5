//! Inference: the abstract value of every expression of an item.
//!
//! No sub-expression is skipped: both arms of a conditional, the bodies of `for`, all arguments. A failing expression
//! carries the marks of all that it read. What is constant is handed to the evaluator, so that constants mean the same
//! in both domains; how marks flow is read from the same table of rules ([`values::rules`]).
//!
//! While something is unknown, the concrete domain gives a value as a whole the marks of whatever may end up inside of
//! it. So wherever a result may be unknown, or come from a failing evaluation that something else hides, the abstract
//! value as a whole has those marks *perhaps* ([`Flow::perhaps`]).
//!
//! Where everything is known, there is no *perhaps*: beside its marks, each value carries [when](super::value::when) it is
//! ephemeral, by the same rules ([`Infer::given`]). What a condition is, an index selects or a loop walks over is read from
//! the expressions themselves (`condition`), as the source has them.

mod access;
mod attempt;
mod call;
mod carried;
mod carry;
mod closed;
mod condition;
mod conditional;
mod constructor;
mod convert;
mod flow;
mod iterate;
mod operator;
mod splat;
mod template;

use std::sync::Arc;

pub(super) use constructor::key_text;
use db::Severity;
use flow::Flow;
pub(super) use flow::Given;
pub(super) use iterate::UNROLL;
use rustc_hash::FxHashSet;
use values::{
    Budget, Exceeded, MarkKind, Value,
    rules::{self, Domain, MarkRule, RuleId},
};

use super::{
    deprecated::{DeprecatedOutput, DeprecatedPart, DeprecatedReference},
    origin::Origin,
    problem::ItemProblem,
    recorded::Recorder,
    value::{Abstract, Failing, Tri, TriMarks, When},
};
use crate::{
    eval,
    expr::{At, Expr, ExprId, Exprs, Ref, SymbolId},
    names::{ItemKey, Keys},
    scope::{EvalDiagnostic, Interrupt, Scope},
};

/// Gives references their abstract values.
pub trait InferEnv {
    /// The value of a whole reference.
    fn reference(&self, reference: &Ref, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract;

    /// `module.call.output` and `module.call[key].output`. `None` where there is no such call, which was reported.
    fn module_output(
        &self,
        call: &str,
        output: &str,
        at: ExprId,
        problems: &mut Vec<ItemProblem>,
    ) -> Option<Abstract>;

    /// Whether the item may have no instance, so that nothing in it is evaluated.
    fn may_be_absent(&self) -> bool {
        false
    }

    /// Whether the item is declared in the root module.
    fn is_in_root(&self) -> bool {
        true
    }

    /// How the instances of a module call are told apart; [`Keys::None`] if there is no such call.
    fn module_keys(&self, call: &str) -> Keys;

    /// What is known of a function of a provider.
    fn provider_function(&self, name: &str) -> crate::provider_function::Lookup;

    /// The deprecated outputs of a module call.
    fn deprecated_outputs(&self, _call: &str) -> Vec<DeprecatedOutput> {
        Vec::new()
    }

    /// The parts of a resource that its provider deprecates.
    fn deprecated_parts(&self, _resource: &addr::Resource) -> Vec<DeprecatedPart> {
        Vec::new()
    }

    /// Adds the place where something is declared to a problem.
    fn declared_here(&self, problem: ItemProblem, _key: ItemKey, _message: &str) -> ItemProblem {
        problem
    }

    /// The item that the expressions are of.
    fn item(&self) -> ItemKey;

    /// A link of the chain: this reference, in this item.
    fn link(&self, at: At, message: &str, from: Option<Arc<Origin>>) -> Option<Arc<Origin>>;

    /// Who wants to know the value of every expression; nobody, unless an editor asks.
    fn recorder(&self) -> Option<&Recorder> {
        None
    }
}

/// Whether an expression is evaluated, which decides what becomes of its problems.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Whenever the item is.
    Sure,
    /// Perhaps: the body of a loop that may have no rounds, what stands beside `&&`. A problem is a hint.
    Doubtful,
    /// Perhaps, and written so that it may fail: the arms of a conditional, `try` and `can`. A problem is none.
    Hidden,
}

/// What the constants of one item may take. A larger one is left to the run, whose budget is larger: here it is a value
/// that is not known, and an editor stays quick.
const MOST_BYTES: u64 = 64 << 20;
const MOST_STEPS: u64 = 1_000_000;

/// The inference of one item's expressions.
pub struct Infer<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) env: &'a dyn InferEnv,
    symbols: Vec<Option<Abstract>>,
    closed: closed::Closed,
    /// What was found wrong.
    pub problems: Vec<ItemProblem>,
    pub(super) reported: FxHashSet<(At, &'static str, Severity)>,
    certainty: Certainty,
    /// Whether this place is in the steps of a splat, which an empty list applies to an element that is never known.
    in_splat: bool,
    /// What is marked because of the loops around this place. It goes to their results and not to what stands inside of
    /// them, which nobody sees but who listens.
    around: Flow,
    /// References to what is deprecated in the expression that is inferred.
    pub(super) deprecated: Vec<DeprecatedReference>,
    /// How many expressions around this one are being inferred.
    depth: usize,
    /// How many rounds of loops are walked one by one here, all loops around this place together.
    rounds: usize,
    budget: Budget,
}

impl<'a> Infer<'a> {
    /// Begins the inference of an item.
    pub fn new(exprs: &'a Exprs, env: &'a dyn InferEnv) -> Infer<'a> {
        Infer {
            exprs,
            env,
            symbols: vec![None; exprs.symbol_count()],
            closed: closed::Closed::of(exprs),
            problems: Vec::new(),
            reported: FxHashSet::default(),
            certainty: Certainty::Sure,
            in_splat: false,
            around: Flow::default(),
            deprecated: Vec::new(),
            depth: 0,
            rounds: 1,
            budget: Budget::new(MOST_BYTES).with_steps(MOST_STEPS),
        }
    }

    /// The abstract value of an expression. The outermost one gets the warnings about what is deprecated.
    pub fn expr(&mut self, id: ExprId) -> Abstract {
        self.depth += 1;
        let value = self.inner_expr(id);
        self.depth -= 1;
        if self.depth == 0 { self.warn_of_deprecated(id, value) } else { value }
    }

    fn inner_expr(&mut self, id: ExprId) -> Abstract {
        let is_closed = self.closed.contains(id);
        let value = if is_closed { self.constant(id) } else { self.composed(id) };
        if value.is_too_large_for_constant() {
            self.hint_at_size(id);
        }
        let value = if value.ephemeral.is_vague() { self.named(id, value) } else { value };
        if let Some(recorder) = self.env.recorder() {
            if is_closed {
                // A constant is evaluated at once; its parts have values all the same.
                self.with_certainty(Certainty::Hidden, |it| it.composed(id));
            }
            recorder.note(id, &self.around.clone().onto(value.clone()));
        }
        value
    }

    /// The expressions that errors are at.
    pub(super) fn faults(&self) -> FxHashSet<ExprId> {
        let errors = self.problems.iter().filter(|it| it.severity == Severity::Error);
        errors.filter_map(|it| it.at.expr()).collect()
    }

    /// Whether one of these is in an expression.
    pub(super) fn is_faulty(&self, id: ExprId, faults: &FxHashSet<ExprId>) -> bool {
        self.exprs.has_any_inside(id, faults)
    }

    /// The value of an expression from those of its parts.
    fn composed(&mut self, id: ExprId) -> Abstract {
        let exprs = self.exprs;
        match &exprs[id] {
            Expr::Missing | Expr::Literal(_) | Expr::Type(_) => Abstract::any(),
            Expr::Template(parts) => self.template(id, parts),
            Expr::TemplateJoin(tuple) => self.template_join(*tuple),
            Expr::Ref(reference) => self.reference(reference, id),
            Expr::Symbol(symbol) => {
                self.symbols[symbol.0 as usize].clone().unwrap_or_else(|| self.recorded(*symbol))
            }
            Expr::GetAttr { base, name } => self.get_attr(id, *base, name),
            Expr::Index { base, key } => self.index(id, *base, *key),
            Expr::Splat { base, item, each } => self.splat(*base, *item, *each),
            Expr::Tuple(elements) => self.tuple(elements),
            Expr::Object(items) => self.object(items),
            Expr::ForTuple(parts) => self.for_tuple(parts),
            Expr::ForObject(parts) => self.for_object(parts),
            Expr::Unary { op, operand } => self.unary(*op, *operand),
            Expr::Binary { op, left, right } => self.binary(*op, *left, *right),
            Expr::Conditional { condition, then, otherwise } => {
                self.conditional(id, *condition, *then, *otherwise)
            }
            Expr::Call(call) => self.call(id, call),
        }
    }

    fn reference(&mut self, reference: &Ref, at: ExprId) -> Abstract {
        let before = self.problems.len();
        let value = self.env.reference(reference, at, &mut self.problems);
        self.drop_repeated(before);
        if value.deep_marks().deprecated > Tri::No {
            match reference {
                Ref::Module(call) => self.note_deprecated(at, call, None),
                Ref::Resource(resource) => self.note_deprecated_parts(at, resource),
                _ => {}
            }
        }
        // What an item is made of fails there.
        Abstract { failing: Failing::NEVER, ..value }
    }

    /// What a name stood for, where it is read outside of what binds it: an expression that is not finished yet.
    fn recorded(&self, symbol: SymbolId) -> Abstract {
        let found = self.env.recorder().and_then(|recorder| recorder.symbol(symbol));
        found.unwrap_or_else(Abstract::any)
    }

    /// Infers what stands in the text and belongs to nothing: `local.a` in `local.a.`, where a name is missing.
    pub(super) fn leftovers(&mut self) {
        let Some(recorder) = self.env.recorder() else { return };
        for (id, _) in self.exprs.iter().collect::<Vec<_>>().into_iter().rev() {
            if !recorder.knows(id) {
                self.with_certainty(Certainty::Hidden, |it| it.expr(id));
            }
        }
    }

    /// Binds a name while something inside of it is inferred.
    pub(super) fn with_symbol<T>(
        &mut self,
        symbol: SymbolId,
        value: Abstract,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if let Some(recorder) = self.env.recorder() {
            recorder.note_symbol(symbol, &self.around.clone().onto(value.clone()));
        }
        let outer = self.symbols[symbol.0 as usize].replace(value);
        let result = work(self);
        self.symbols[symbol.0 as usize] = outer;
        result
    }

    /// Goes through the elements of something from which marks flow.
    fn within<T>(&mut self, flow: &Flow, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.around.clone();
        self.around.join(flow);
        let result = work(self);
        self.around = outer;
        result
    }

    /// Does something of which it is not certain that it is evaluated.
    fn with_certainty<T>(&mut self, certainty: Certainty, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.certainty;
        self.certainty = outer.max(certainty);
        let result = work(self);
        self.certainty = outer;
        result
    }

    /// Reports what fails if it is evaluated.
    fn fails(
        &mut self,
        at: impl Into<At>,
        id: &'static str,
        summary: &str,
        detail: impl Into<String>,
    ) {
        self.report_by_certainty(ItemProblem::error(at.into(), id, summary, detail));
    }

    pub(super) fn report_by_certainty(&mut self, problem: ItemProblem) {
        match self.certainty {
            Certainty::Sure => self.report(problem),
            Certainty::Doubtful => {
                let detail = format!("If this is evaluated, it fails: {}", problem.detail);
                self.report(ItemProblem { detail, ..problem }.with_severity(Severity::Hint));
            }
            Certainty::Hidden => {}
        }
    }

    /// Reports what is wrong whether or not it is evaluated. A loop walked round by round reports it once.
    fn report(&mut self, problem: ItemProblem) {
        if self.reported.insert((problem.at, problem.id, problem.severity)) {
            self.problems.push(problem);
        }
    }

    /// Looks again at the problems from `before` on, which something else reported.
    fn drop_repeated(&mut self, before: usize) {
        let found: Vec<ItemProblem> = self.problems.drain(before..).collect();
        found.into_iter().for_each(|problem| self.report(problem));
    }

    /// An expression without references: the evaluator knows what it means.
    fn constant(&mut self, id: ExprId) -> Abstract {
        let scope = NoReferences(NoSurroundings(&self.budget));
        match eval::evaluate(self.exprs, id, &scope) {
            Ok(evaluated) if evaluated.exceeded.is_some() => {
                self.warn_of_size(id, evaluated);
                self.composed(id)
            }
            Ok(evaluated) => {
                let has_failed = evaluated.has_errors();
                self.adopt(evaluated.diagnostics);
                let is_constant = evaluated.value.is_wholly_known();
                let value = Abstract::constant(evaluated.value);
                if is_constant && value.constant.is_none() {
                    self.hint_at_size(id);
                }
                let failing =
                    if has_failed { Failing::NEVER.of_any_type() } else { Failing::NEVER };
                Abstract { failing, ..value }
            }
            Err(_) => Abstract::any(),
        }
    }

    /// A constant that takes more than the folding of constants may: where, and who computes it.
    fn warn_of_size(&mut self, id: ExprId, evaluated: eval::Evaluated) {
        if let Some(exceeded @ Exceeded::Memory { .. }) = evaluated.exceeded {
            let at = evaluated.diagnostics.into_iter().find(|it| it.id == eval::TOO_LARGE);
            self.warn_of_excess(at.map_or(id.into(), |it| it.at), exceeded);
        }
    }

    pub(super) fn warn_of_excess(&mut self, at: At, exceeded: Exceeded) {
        let Exceeded::Memory { needed, limit } = exceeded else { return };
        let (needed, limit) = (needed >> 20, limit >> 20);
        let detail = format!(
            "The constants of this declaration would take {needed} MiB or more, and are not computed beyond {limit} MiB before a plan. A plan computes them, and              stops at the limit of the environment variable {}. Make a smaller value.",
            Budget::VARIABLE
        );
        if self.certainty == Certainty::Sure {
            let problem = ItemProblem::error(at, eval::TOO_LARGE, "Value too large", detail);
            self.report(problem.with_severity(Severity::Warning));
        }
    }

    /// A constant that is computed, and too large to be kept.
    pub(super) fn hint_at_size(&mut self, id: ExprId) {
        let detail = "This constant is larger than 4 MiB, so nothing is known of it before a plan computes it.";
        let problem = ItemProblem::error(id.into(), eval::TOO_LARGE, "Large value", detail);
        self.report(problem.with_severity(Severity::Hint));
    }

    fn adopt(&mut self, diagnostics: Vec<EvalDiagnostic>) {
        for diagnostic in diagnostics {
            self.report_by_certainty(ItemProblem::from(diagnostic));
        }
    }

    /// What a part of a construct gives to the whole, as the table says.
    pub(super) fn given(&self, rule: RuleId, value: &Abstract) -> Given {
        let ephemeral = &value.ephemeral;
        let (marks, when) = match rules::rule(rule, Domain::Abstract) {
            MarkRule::UnionDeep => (value.deep_marks(), ephemeral.somewhere()),
            MarkRule::EphemeralDeep => {
                (value.deep_marks().only(MarkKind::Ephemeral), ephemeral.somewhere())
            }
            MarkRule::UnionTop
            | MarkRule::FirstTop
            | MarkRule::Adds(_)
            | MarkRule::Removes(_)
            | MarkRule::NullsOut(_) => (value.marks, ephemeral.here().clone()),
            MarkRule::Elementwise | MarkRule::Nothing => (TriMarks::NONE, When::Never),
        };
        Given { marks, when }
    }

    /// What a part gives of which nobody may see that it fails: then marks are there only that are sure of what fails, too.
    fn given_if_hidden(&mut self, at: ExprId, given: Given, value: &Abstract) -> Given {
        if !value.failing.keeps_marks {
            return given.weakened();
        }
        let is_exact = given.when.is_never()
            || given.marks.ephemeral == Tri::Yes
            || self.failure(at).is_never();
        if is_exact { given } else { Given { when: given.when.weakened(), ..given } }
    }

    /// What parts give that only a condition is known of, where the rule lets anything pass.
    fn given_on(&self, rule: RuleId, given: Given) -> Given {
        match rules::rule(rule, Domain::Abstract) {
            MarkRule::Elementwise | MarkRule::Nothing => given.only(&When::Never),
            _ => given,
        }
    }

    /// A value with what something else gives it.
    pub(super) fn marked_by(&self, rule: RuleId, from: &Abstract, value: Abstract) -> Abstract {
        let mut flow = Flow::default();
        flow.add(self.given(rule, from), from);
        flow.onto(value)
    }
}

/// The scope of an expression without references.
struct NoReferences<'b>(NoSurroundings<'b>);

impl Scope for NoReferences<'_> {
    fn reference(&self, _: &Ref) -> Result<Value, Interrupt> {
        Ok(Value::dynamic())
    }

    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        Ok(Value::dynamic())
    }

    fn functions(&self) -> &dyn values::functions::FunctionEnv {
        &self.0
    }
}

/// What functions find while nothing runs: no files, no time.
struct NoSurroundings<'b>(&'b Budget);

impl values::functions::FunctionEnv for NoSurroundings<'_> {
    fn budget(&self) -> Option<&Budget> {
        Some(self.0)
    }

    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("files are not read by static analysis".to_owned())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Err("files are not read by static analysis".to_owned())
    }

    fn render_template(
        &self,
        _: &str,
        _: &str,
        _: &Value,
    ) -> Result<Value, values::functions::RenderError> {
        Ok(Value::dynamic())
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}
