//! Inference: computes the abstract value of every expression of an item.
//!
//! No sub-expression is skipped: both arms of a conditional, the bodies of `for` and all arguments are inferred. A
//! failing expression carries the marks of everything that it read. Constant expressions are handed to the
//! evaluator, so that constants mean the same in both domains. The flow of marks follows the same table of rules as
//! in the evaluator ([`values::rules`]).
//!
//! While something is unknown, the concrete domain marks a whole value with the marks of everything that may end up
//! inside of it. So if a result may be unknown, or may come from a failed evaluation whose failure is hidden, the
//! abstract value as a whole carries those marks as *maybe* ([`Flow::add_maybe`]).
//!
//! In runs in which everything is known, no mark is uncertain: in addition to its marks, each value carries the
//! condition [when](super::value::when) it is ephemeral, computed by the same rules ([`Infer::contribution`]). The
//! text of conditions, of the indexes and of the collections is taken from the expressions of the source
//! (`condition`).

pub(crate) mod access;
pub(crate) mod attempt;
pub(crate) mod call;
pub(crate) mod carried;
pub(crate) mod carry;
pub(crate) mod closed;
pub(crate) mod condition;
pub(crate) mod conditional;
pub(crate) mod constructor;
pub(crate) mod convert;
pub(crate) mod deprecated;
pub(crate) mod flow;
pub(crate) mod iterate;
pub(crate) mod operator;
pub(crate) mod splat;
pub(crate) mod template;

use std::sync::Arc;

use db::{Rule, Severity, Summary};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use values::{
    Budget, Exceeded, MarkKind, Value,
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    analysis::{
        deprecated::{DeprecatedOutput, DeprecatedPart, DeprecatedReference},
        infer::flow::Flow,
        origin::Origin,
        problem::ItemProblem,
        recorder::Recorder,
        value::{
            Abstract,
            failing::Failing,
            marks::{Tri, TriMarks},
            when::When,
        },
    },
    eval,
    expr::{At, Expr, ExprId, Exprs, Ref, SymbolId},
    item_name::{ItemKey, Keys},
    scope::{EvalDiagnostic, Interrupt, Scope},
};

pub(super) use flow::Contribution;

/// The names that an inference can refer to, and their abstract values.
pub trait InferEnv {
    /// Returns the value of a whole reference, and reports a reference that does not resolve.
    fn reference(&self, reference: &Ref, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract;

    /// Returns the value of `module.call.output` or `module.call[key].output`. `None` if there is no such call;
    /// [`InferEnv::reference`] reports that.
    fn module_output(
        &self,
        call: &str,
        output: &str,
        at: ExprId,
        problems: &mut Vec<ItemProblem>,
    ) -> Option<Abstract>;

    /// Returns true if the item may have no instance, so that nothing in it is evaluated.
    fn may_be_absent(&self) -> bool {
        false
    }

    /// Returns true if the item is declared in the root module.
    fn is_in_root(&self) -> bool {
        true
    }

    /// Returns the kind of keys of the instances of a module call; [`Keys::None`] if there is no such call.
    fn module_keys(&self, call: &str) -> Keys;

    /// Looks up a function of a provider.
    fn provider_function(&self, name: &str) -> crate::provider_function::Lookup;

    /// Returns the deprecated outputs of a module call.
    fn deprecated_outputs(&self, _call: &str) -> Vec<DeprecatedOutput> {
        Vec::new()
    }

    /// Returns the parts of a resource that its provider deprecates.
    fn deprecated_parts(&self, _resource: &addr::Resource) -> Vec<DeprecatedPart> {
        Vec::new()
    }

    /// Adds the place of a declaration to a problem.
    fn declared_here(&self, problem: ItemProblem, _key: ItemKey, _message: &str) -> ItemProblem {
        problem
    }

    /// Returns the item that the expressions belong to.
    fn item(&self) -> ItemKey;

    /// Returns a link of an origin chain for a place of this item, followed by `from`.
    fn link(&self, at: At, message: &str, from: Option<Arc<Origin>>) -> Option<Arc<Origin>>;

    /// Returns the recorder that observes the value of every expression. `None` unless an editor asks for the
    /// values.
    fn recorder(&self) -> Option<&Recorder> {
        None
    }
}

/// The certainty that an expression is evaluated, which decides how its problems are reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Evaluated whenever the item is. Problems are reported as they are.
    Sure,
    /// Perhaps not evaluated: the body of a loop that may have no rounds, the other operand of `&&`. A problem
    /// becomes a hint.
    Doubtful,
    /// Perhaps not evaluated, in a construct that may hide a failure: the arms of a conditional, `try` and `can`.
    /// Problems are dropped.
    Hidden,
}

/// The memory that the constants of one item may take. A larger constant is left to the run, whose budget is
/// larger. Here it becomes an unknown value, which keeps an editor fast.
const MAX_BYTES: u64 = 64 << 20;

/// The number of steps that the evaluation of the constants of one item may take.
const MAX_STEPS: u64 = 1_000_000;

/// The inference of one item's expressions.
pub struct Infer<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) env: &'a dyn InferEnv,
    symbols: Vec<Option<Abstract>>,
    closed: closed::ClosedExprs,
    /// The problems that were found.
    pub problems: Vec<ItemProblem>,
    pub(super) reported: FxHashSet<(At, Rule, Severity)>,
    certainty: Certainty,
    /// True within the steps of a splat that are inferred for an element that is never known, because the list may
    /// be empty.
    in_splat: bool,
    /// The marks that the enclosing loops put on their results. They are not put on the expressions inside, except
    /// on the values that the recorder observes.
    around: Flow,
    /// The references to deprecated things in the expression that is being inferred.
    pub(super) deprecated: Vec<DeprecatedReference>,
    /// The number of enclosing expressions that are being inferred.
    depth: usize,
    /// The number of rounds that the enclosing loops unroll, multiplied together.
    rounds: usize,
    budget: Budget,
    /// The values of unmarked blocks, by the address of their schema. Blocks of one type share one value.
    unmarked: SmallVec<[(*const provider::Block, Abstract); 2]>,
}

impl<'a> Infer<'a> {
    /// Starts the inference of an item.
    pub fn new(exprs: &'a Exprs, env: &'a dyn InferEnv) -> Infer<'a> {
        Infer {
            exprs,
            env,
            symbols: vec![None; exprs.symbol_count()],
            closed: closed::ClosedExprs::of(exprs),
            problems: Vec::new(),
            reported: FxHashSet::default(),
            certainty: Certainty::Sure,
            in_splat: false,
            around: Flow::default(),
            deprecated: Vec::new(),
            depth: 0,
            rounds: 1,
            budget: Budget::new(MAX_BYTES).with_steps(MAX_STEPS),
            unmarked: SmallVec::new(),
        }
    }

    /// Returns the value of a block of this schema without nested blocks and marks, which `make` creates. It is kept
    /// for further blocks until [`Infer::forget_unmarked_objects`], which must be called before the schema is dropped.
    pub(super) fn unmarked_object(
        &mut self,
        schema: &provider::Block,
        make: impl FnOnce(&provider::Block) -> Abstract,
    ) -> Abstract {
        let address = std::ptr::from_ref(schema);
        if let Some((_, known)) = self.unmarked.iter().find(|(it, _)| *it == address) {
            return known.clone();
        }
        let object = make(schema);
        self.unmarked.push((address, object.clone()));
        object
    }

    /// Drops what [`Infer::unmarked_object`] keeps.
    pub(super) fn forget_unmarked_objects(&mut self) {
        self.unmarked.clear();
    }

    /// Infers an expression. The outermost call also warns about deprecated references.
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
                // A constant is evaluated as a whole, but the recorder also needs the values of its parts.
                self.with_certainty(Certainty::Hidden, |it| it.composed(id));
            }
            recorder.note(id, &self.around.clone().onto(value.clone()));
        }
        value
    }

    /// The expressions that have errors.
    pub(super) fn faults(&self) -> FxHashSet<ExprId> {
        let errors = self.problems.iter().filter(|it| it.severity() == Severity::Error);
        errors.filter_map(|it| it.at.expr()).collect()
    }

    /// Returns true if one of the faulty expressions is within the expression.
    pub(super) fn is_faulty(&self, id: ExprId, faults: &FxHashSet<ExprId>) -> bool {
        self.exprs.has_any_inside(id, faults)
    }

    /// Infers an expression from the values of its parts.
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
        // The failure of another item is reported at that item.
        Abstract { failing: Failing::NEVER, ..value }
    }

    /// The recorded value of a name that is read outside of the construct that binds it. This happens in an
    /// expression that is not finished yet.
    fn recorded(&self, symbol: SymbolId) -> Abstract {
        let found = self.env.recorder().and_then(|recorder| recorder.symbol(symbol));
        found.unwrap_or_else(Abstract::any)
    }

    /// Infers expressions that are in the text but belong to nothing, such as `local.a` in `local.a.`, where a name
    /// is missing. The recorder needs their values.
    pub(super) fn infer_unfinished(&mut self) {
        let Some(recorder) = self.env.recorder() else { return };
        for (id, _) in self.exprs.iter().collect::<Vec<_>>().into_iter().rev() {
            if !recorder.knows(id) {
                self.with_certainty(Certainty::Hidden, |it| it.expr(id));
            }
        }
    }

    /// Binds a name to a value while `work` runs.
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

    /// Runs `work`, which infers the elements of a collection, with the collection's marks in `flow` as marks of an
    /// enclosing loop.
    fn within<T>(&mut self, flow: &Flow, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.around.clone();
        self.around.join(flow);
        let result = work(self);
        self.around = outer;
        result
    }

    /// Runs `work` for expressions that are evaluated with at most this certainty.
    fn with_certainty<T>(&mut self, certainty: Certainty, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.certainty;
        self.certainty = outer.max(certainty);
        let result = work(self);
        self.certainty = outer;
        result
    }

    /// Reports an evaluation that fails if it takes place.
    fn fails(&mut self, at: impl Into<At>, summary: Summary, detail: impl Into<String>) {
        self.report_by_certainty(ItemProblem::new(at.into(), summary, detail));
    }

    /// Reports a problem with a severity that follows from the current certainty.
    pub(super) fn report_by_certainty(&mut self, problem: ItemProblem) {
        match self.certainty {
            Certainty::Sure => self.report(problem),
            Certainty::Doubtful => {
                let detail = format!("If this is evaluated, it fails: {}", problem.detail);
                self.report(ItemProblem { detail, ..problem }.at_most(Severity::Hint));
            }
            Certainty::Hidden => {}
        }
    }

    /// Reports a problem that exists whether or not the expression is evaluated. A loop that is unrolled reports it
    /// once.
    fn report(&mut self, problem: ItemProblem) {
        if self.reported.insert((problem.at, problem.id(), problem.severity())) {
            self.problems.push(problem);
        }
    }

    /// Removes repeated problems among those from `before` on, which other code has added.
    fn drop_repeated(&mut self, before: usize) {
        let found: Vec<ItemProblem> = self.problems.drain(before..).collect();
        found.into_iter().for_each(|problem| self.report(problem));
    }

    /// Evaluates an expression without references.
    fn constant(&mut self, id: ExprId) -> Abstract {
        if let Expr::Literal(literal) = &self.exprs[id]
            && literal.is_short()
        {
            return Abstract::constant(literal.value());
        }
        let scope = NoReferences(EmptyEnvironment(&self.budget));
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

    /// Warns about a constant that exceeds the memory that constants may take, at the expression that exceeds it.
    fn warn_of_size(&mut self, id: ExprId, evaluated: eval::Evaluated) {
        if let Some(exceeded @ Exceeded::Memory { .. }) = evaluated.exceeded {
            let at = evaluated.diagnostics.into_iter().find(|it| it.id() == eval::TOO_LARGE);
            self.warn_of_excess(at.map_or(id.into(), |it| it.at), exceeded);
        }
    }

    pub(super) fn warn_of_excess(&mut self, at: At, exceeded: Exceeded) {
        let Exceeded::Memory { needed, limit } = exceeded else { return };
        let (needed, limit) = (needed >> 20, limit >> 20);
        let detail = format!(
            "The constants of this declaration would take {needed} MiB or more, and are not \
             computed beyond {limit} MiB before a plan. A plan computes them, and              \
             stops at the limit of the environment variable {}. Make a smaller value.",
            Budget::VARIABLE
        );
        if self.certainty == Certainty::Sure {
            let problem = ItemProblem::new(at, Summary::CONSTANT_TOO_LARGE, detail);
            self.report(problem);
        }
    }

    /// Adds a hint for a constant that can be computed but is too large to be kept.
    pub(super) fn hint_at_size(&mut self, id: ExprId) {
        let detail = "This constant is larger than 4 MiB, so its value is unknown until a plan \
                      computes it.";
        let problem = ItemProblem::new(id.into(), Summary::LARGE_CONSTANT, detail);
        self.report(problem);
    }

    fn adopt(&mut self, diagnostics: Vec<EvalDiagnostic>) {
        for diagnostic in diagnostics {
            self.report_by_certainty(ItemProblem::from(diagnostic));
        }
    }

    /// Returns the marks that a part of a construct gives to the whole by the rule.
    pub(super) fn contribution(&self, rule: RuleId, value: &Abstract) -> Contribution {
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
        Contribution { marks, when }
    }

    /// Returns the marks of a part whose failure may be hidden. Only marks that are certain even if the part fails
    /// stay certain.
    fn contribution_if_hidden(
        &mut self,
        at: ExprId,
        contribution: Contribution,
        value: &Abstract,
    ) -> Contribution {
        if !value.failing.keeps_marks {
            return contribution.weakened();
        }
        let is_exact = contribution.when.is_never()
            || contribution.marks.ephemeral == Tri::Yes
            || self.failure(at).is_never();
        if is_exact {
            contribution
        } else {
            Contribution { when: contribution.when.weakened(), ..contribution }
        }
    }

    /// Returns the contribution of parts of which only the condition is known. Removes the condition unless the rule
    /// lets marks pass.
    fn contribution_on(&self, rule: RuleId, contribution: Contribution) -> Contribution {
        match rules::rule(rule, Domain::Abstract) {
            MarkRule::Elementwise | MarkRule::Nothing => contribution.only(&When::Never),
            _ => contribution,
        }
    }

    /// Returns a value with the marks that `from` gives it by the rule.
    pub(super) fn marked_by(&self, rule: RuleId, from: &Abstract, value: Abstract) -> Abstract {
        let mut flow = Flow::default();
        flow.add(self.contribution(rule, from), from);
        flow.onto(value)
    }
}

/// The scope of an expression without references.
struct NoReferences<'b>(EmptyEnvironment<'b>);

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

/// The environment of functions outside of a run: no files, no time.
struct EmptyEnvironment<'b>(&'b Budget);

impl values::functions::FunctionEnv for EmptyEnvironment<'_> {
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
