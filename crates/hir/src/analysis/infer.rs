//! Inference: the abstract value of every expression of an item.
//!
//! No sub-expression is skipped: both arms of a conditional, the bodies of `for`, all arguments. A failing expression
//! carries the marks of all that it read. What is constant is handed to the evaluator, so that constants mean the same
//! in both domains; how marks flow is read from the same table of rules ([`values::rules`]).

mod call;
mod closed;
pub(crate) use closed::for_each_child;
mod collection;
mod operator;

use std::sync::Arc;

use values::{
    MarkKind, Str, Type, Value,
    rules::{self, Domain, MarkRule, RuleId},
};

use super::{
    origin::Origin,
    problem::ItemProblem,
    value::{Abstract, Tri, TriMarks},
};
use crate::{
    eval,
    expr::{At, Expr, ExprId, Exprs, Ref, SymbolId, TemplatePart},
    scope::{EvalDiagnostic, Interrupt, Scope},
};

/// Gives references their abstract values.
pub trait InferEnv {
    /// The value of a whole reference.
    fn reference(&self, reference: &Ref, at: ExprId, problems: &mut Vec<ItemProblem>) -> Abstract;

    /// `module.call.output` and `module.call[key].output`. `None` where there is no such call, which was reported.
    fn module_output(&self, call: &str, output: &str, at: ExprId, problems: &mut Vec<ItemProblem>) -> Option<Abstract>;

    /// Whether a module call has instances, so that an index comes before the output.
    fn module_is_repeated(&self, call: &str) -> bool;

    /// A function of a provider: its result type, or a problem.
    fn provider_function(&self, name: &str) -> Result<Type, String>;

    /// A link of the chain: this reference, in this item.
    fn link(&self, at: At, message: &str, from: Option<Arc<Origin>>) -> Option<Arc<Origin>>;
}

/// The inference of one item's expressions.
pub struct Infer<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) env: &'a dyn InferEnv,
    symbols: Vec<Option<Abstract>>,
    closed: closed::Closed,
    /// What was found wrong.
    pub problems: Vec<ItemProblem>,
    /// Above zero where it is not certain that the expression is evaluated: in the arms of a conditional that is not
    /// decided, in `try` and `can`. What would only fail if it were evaluated is not reported there.
    uncertain: u32,
}

impl<'a> Infer<'a> {
    /// Begins the inference of an item.
    pub fn new(exprs: &'a Exprs, env: &'a dyn InferEnv) -> Infer<'a> {
        let symbols = vec![None; exprs.symbol_count()];
        let closed = closed::Closed::of(exprs);
        Infer { exprs, env, symbols, closed, problems: Vec::new(), uncertain: 0 }
    }

    /// The abstract value of an expression.
    pub fn expr(&mut self, id: ExprId) -> Abstract {
        if self.closed.contains(id) {
            return self.constant(id);
        }
        let exprs = self.exprs;
        match &exprs[id] {
            Expr::Missing | Expr::Literal(_) => Abstract::any(),
            Expr::Template(parts) => self.template(parts),
            Expr::TemplateJoin(tuple) => {
                let tuple = self.expr(*tuple);
                let marks = tuple.deep_marks();
                Abstract::of_type(Type::String).with_marks(&marks).with_origin(tuple.origin)
            }
            Expr::Ref(reference) => self.env.reference(reference, id, &mut self.problems),
            Expr::Symbol(symbol) => self.symbols[symbol.0 as usize].clone().unwrap_or_else(Abstract::any),
            Expr::GetAttr { base, name } => self.get_attr(id, *base, name),
            Expr::Index { base, key } => self.index(id, *base, *key),
            Expr::Splat { base, item, each } => self.splat(*base, *item, *each),
            Expr::Tuple(elements) => {
                let items = elements.iter().map(|element| self.expr(*element)).collect();
                Abstract::tuple(items)
            }
            Expr::Object(items) => self.object(items),
            Expr::ForTuple(parts) => self.for_tuple(parts),
            Expr::ForObject(parts) => self.for_object(parts),
            Expr::Unary { op, operand } => self.unary(id, *op, *operand),
            Expr::Binary { op, left, right } => self.binary(id, *op, *left, *right),
            Expr::Conditional { condition, then, otherwise } => self.conditional(id, *condition, *then, *otherwise),
            Expr::Call(call) => self.call(id, call),
        }
    }

    /// Binds a name while something inside of it is inferred.
    pub(super) fn with_symbol<T>(&mut self, symbol: SymbolId, value: Abstract, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.symbols[symbol.0 as usize].replace(value);
        let result = work(self);
        self.symbols[symbol.0 as usize] = outer;
        result
    }

    /// Does something of which it is not certain that it is evaluated.
    fn uncertainly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.uncertain += 1;
        let result = work(self);
        self.uncertain -= 1;
        result
    }

    /// Reports what would fail if it were evaluated.
    fn fails(&mut self, at: impl Into<At>, id: &'static str, summary: &str, detail: impl Into<String>) {
        if self.uncertain == 0 {
            self.problems.push(ItemProblem::error(at.into(), id, summary, detail));
        }
    }

    /// An expression without references: the evaluator knows what it means.
    fn constant(&mut self, id: ExprId) -> Abstract {
        match eval::evaluate(self.exprs, id, &NoReferences) {
            Ok(evaluated) => {
                self.adopt(evaluated.diagnostics);
                Abstract::constant(evaluated.value)
            }
            Err(_) => Abstract::any(),
        }
    }

    fn adopt(&mut self, diagnostics: Vec<EvalDiagnostic>) {
        if self.uncertain == 0 {
            self.problems.extend(diagnostics.into_iter().map(ItemProblem::from));
        }
    }

    fn template(&mut self, parts: &[TemplatePart]) -> Abstract {
        let mut marks = TriMarks::NONE;
        let mut origin = None;
        for part in parts {
            let TemplatePart::Expr(expr) = part else { continue };
            let value = self.expr(*expr);
            self.check_template_part(*expr, &value);
            marks = marks.union(&self.rule_marks(RuleId::Template, &value));
            origin = origin.or(value.origin);
        }
        Abstract::of_type(Type::String).with_marks(&marks).with_origin(origin)
    }

    fn check_template_part(&mut self, expr: ExprId, value: &Abstract) {
        if value.constant.as_ref().is_some_and(|it| it.0.is_null()) {
            self.fails(
                expr,
                "invalid-template-interpolation",
                "Invalid template interpolation value",
                "The expression result is null. Cannot include a null value in a string template.",
            );
        } else if !value.ty.is_primitive() && value.ty != Type::Dynamic {
            self.fails(
                expr,
                "invalid-template-interpolation",
                "Invalid template interpolation value",
                "Cannot include the given value in a string template: string required.",
            );
        }
    }

    fn get_attr(&mut self, id: ExprId, base: ExprId, name: &Str) -> Abstract {
        if let Some(call) = self.module_of(base)
            && let Some(output) = self.env.module_output(&call, name, id, &mut self.problems)
        {
            return output;
        }
        let value = self.expr(base);
        let marks = self.rule_marks(RuleId::Attribute, &value);
        match value.attr(name) {
            Some(attr) => attr.with_marks(&marks),
            None => {
                self.missing_attribute(id, &value, name);
                Abstract::any().with_marks(&value.deep_marks()).with_origin(value.origin)
            }
        }
    }

    /// The call's name, where an expression is a module call whose outputs come next: `module.x`, `module.x[k]`.
    fn module_of(&mut self, base: ExprId) -> Option<Str> {
        match &self.exprs[base] {
            Expr::Ref(Ref::Module(call)) if !self.env.module_is_repeated(call) => Some(call.clone()),
            Expr::Index { base, key } => match &self.exprs[*base] {
                Expr::Ref(Ref::Module(call)) if self.env.module_is_repeated(call) => {
                    let (call, key) = (call.clone(), *key);
                    self.expr(key);
                    Some(call)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn missing_attribute(&mut self, id: ExprId, value: &Abstract, name: &str) {
        let detail = match &value.ty {
            _ if value.constant.as_ref().is_some_and(|it| it.0.is_null()) => {
                let detail = "This value is null, so it does not have any attributes.";
                return self.fails(id, "attempt-to-get-attribute-from-null", "Attempt to get attribute from null value", detail);
            }
            Type::Object(object) => {
                let close = crate::suggest::closest(name, object.iter().map(|(name, _)| &**name));
                let hint = close.map(|close| format!(" Did you mean \"{close}\"?")).unwrap_or_default();
                format!("This object does not have an attribute named \"{name}\".{hint}")
            }
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                let kind = match &value.ty {
                    Type::Set(_) => "set",
                    Type::Tuple(_) => "tuple",
                    _ => "list",
                };
                format!(
                    "Can't access attributes on a {kind}. Did you mean to access attribute \"{name}\" for a specific element, or \
                     across all elements with [*]?"
                )
            }
            ty if ty.is_primitive() => {
                format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly_name())
            }
            _ => return,
        };
        self.fails(id, "unsupported-attribute", "Unsupported attribute", detail);
    }

    /// The marks that a part of a construct gives to the whole, as the table says.
    pub(super) fn rule_marks(&self, rule: RuleId, value: &Abstract) -> TriMarks {
        match rules::rule(rule, Domain::Abstract) {
            MarkRule::UnionDeep => value.deep_marks(),
            MarkRule::EphemeralDeep => TriMarks::NONE.with(MarkKind::Ephemeral, value.deep_marks().ephemeral),
            MarkRule::UnionTop | MarkRule::FirstTop => value.marks.clone(),
            MarkRule::Adds(_) | MarkRule::Removes(_) | MarkRule::NullsOut(_) => value.marks.clone(),
            MarkRule::Elementwise | MarkRule::Nothing => TriMarks::NONE,
        }
    }
}

/// The scope of an expression without references.
struct NoReferences;

impl Scope for NoReferences {
    fn reference(&self, _: &Ref) -> Result<Value, Interrupt> {
        Ok(Value::dynamic())
    }

    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        Ok(Value::dynamic())
    }

    fn functions(&self) -> &dyn values::functions::FunctionEnv {
        &NoSurroundings
    }
}

/// What of a value's marks is sure when the value is reached only perhaps.
pub(super) fn perhaps(marks: &TriMarks) -> TriMarks {
    TriMarks {
        sensitive: marks.sensitive.min(Tri::Maybe),
        ephemeral: marks.ephemeral.min(Tri::Maybe),
        deprecated: marks.deprecated.min(Tri::Maybe),
    }
}

/// What functions find while nothing runs: no files, no time.
pub(super) struct NoSurroundings;

impl values::functions::FunctionEnv for NoSurroundings {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("files are not read by static analysis".to_owned())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Err("files are not read by static analysis".to_owned())
    }

    fn render_template(&self, _: &str, _: &str, _: &Value) -> Result<Value, String> {
        Ok(Value::unknown(Type::String))
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}
