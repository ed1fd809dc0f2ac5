//! Function calls.
//!
//! A function's types, errors and, where the structure of its arguments is known, its marks come from calling it on
//! values that are unknown but for their structure: once with the marks that are sure, once with those that are possible.

use values::{
    MarkKind, Type, Value,
    functions::{self, Function},
    rules::{self, Domain, MarkRule, RuleId},
};

use super::{Infer, NoSurroundings, closed::is_impure, perhaps};
use crate::{
    analysis::value::{Abstract, Inside, Tri, TriMarks},
    expr::{Call, ExprId},
    suggest,
};

impl Infer<'_> {
    pub(super) fn call(&mut self, id: ExprId, call: &Call) -> Abstract {
        match &*call.name {
            "try" => return self.attempt(call),
            "can" => return self.can(call),
            _ => {}
        }
        let args: Vec<Abstract> = call.args.iter().map(|arg| self.expr(*arg)).collect();
        if call.name.starts_with("provider::") {
            return self.provider_call(id, call, &args);
        }
        let Some(function) = functions::lookup(&call.name) else {
            self.unknown_function(id, &call.name);
            return blend(RuleId::Function, Abstract::any(), &args);
        };
        let args = match call.expand {
            true => match expand(args) {
                Ok(args) => args,
                // How many arguments there will be is not known.
                Err(args) => return blend(function.rule, Abstract::any(), &args),
            },
            false => args,
        };
        self.known_call(id, call, function, &args)
    }

    /// Errors of references and names are reported whether or not the call is evaluated.
    fn unknown_function(&mut self, id: ExprId, name: &str) {
        let close = suggest::closest(name, functions::all().map(|function| function.name));
        let hint = close.map(|close| format!(" Did you mean \"{close}\"?")).unwrap_or_default();
        let detail = format!("There is no function named \"{name}\".{hint}");
        self.problems.push(crate::analysis::problem::ItemProblem::error(
            id.into(),
            "unknown-function",
            "Call to unknown function",
            detail,
        ));
    }

    fn provider_call(&mut self, id: ExprId, call: &Call, args: &[Abstract]) -> Abstract {
        let ty = self.env.provider_function(&call.name).unwrap_or_else(|detail| {
            self.problems.push(crate::analysis::problem::ItemProblem::error(
                id.into(),
                "unknown-function",
                "Unknown provider function",
                detail,
            ));
            Type::Dynamic
        });
        blend(RuleId::Function, Abstract::of_type(ty), args)
    }

    /// The number of arguments is wrong whether or not the call is evaluated.
    fn check_arity(&mut self, id: ExprId, call: &Call, function: &Function, given: usize) -> bool {
        let (name, wanted) = (function.name, function.params.len());
        let (at, id, summary, detail) = if let Some(missing) = function.params.get(given) {
            let least = if function.variadic.is_some() { " at least" } else { "" };
            let detail =
                format!("Function \"{name}\" expects{least} {wanted} argument(s). Missing value for \"{}\".", missing.name);
            (id, "not-enough-function-arguments", "Not enough function arguments", detail)
        } else if function.variadic.is_none() && given > wanted {
            let at = call.args.get(wanted).copied().unwrap_or(id);
            let detail = format!("Function \"{name}\" expects only {wanted} argument(s).");
            (at, "too-many-function-arguments", "Too many function arguments", detail)
        } else {
            return true;
        };
        self.problems.push(crate::analysis::problem::ItemProblem::error(at.into(), id, summary, detail));
        false
    }

    fn known_call(&mut self, id: ExprId, call: &Call, function: &'static Function, args: &[Abstract]) -> Abstract {
        if !self.check_arity(id, call, function, args.len()) {
            return blend(function.rule, Abstract::any(), args);
        }
        let sure: Vec<Value> = args.iter().map(|arg| arg.to_value(Tri::Yes)).collect();
        let result = match function.call(&sure, &NoSurroundings) {
            Ok(result) => result,
            Err(error) => {
                // Files are read when the program runs; whether they exist then is not for the analysis to say.
                if !is_impure(function.name) {
                    let at = error.argument.and_then(|index| call.args.get(index)).copied().unwrap_or(id);
                    let (id, summary, detail) = crate::eval::function_problem(function, &error);
                    self.fails(at, id, summary, detail);
                }
                return blend(function.rule, Abstract::any(), args);
            }
        };
        let result = if is_impure(function.name) { Value::unknown(result.ty()) } else { result };
        let keeps_parts = !matches!(
            rules::rule(function.rule, Domain::Abstract),
            MarkRule::UnionDeep | MarkRule::FirstTop | MarkRule::Nothing
        );
        if !keeps_parts {
            let plain = result.without_all_marks();
            return blend(function.rule, Abstract::constant(plain), args);
        }
        if args.iter().all(is_structured) {
            let possible: Vec<Value> = args.iter().map(|arg| arg.to_value(Tri::Maybe)).collect();
            let possible = function.call(&possible, &NoSurroundings).unwrap_or_else(|_| result.clone());
            let origin = args.iter().find_map(|arg| arg.origin.clone());
            return Abstract::between(&result, &possible).with_origin(origin);
        }
        self.carry(function, result.ty(), args)
    }

    /// A function that carries parts over, of arguments whose structure is not known: every part of the result may be
    /// any part of the arguments.
    fn carry(&self, function: &'static Function, ty: Type, args: &[Abstract]) -> Abstract {
        match rules::rule(function.rule, Domain::Abstract) {
            MarkRule::NullsOut(kind) => return args[0].without_deep(kind),
            MarkRule::Adds(kind) => return args[0].clone().with_mark(kind, Tri::Yes),
            MarkRule::Removes(kind) => {
                let marks = args[0].marks.clone().with(kind, Tri::No);
                return Abstract { marks, ..args[0].clone() };
            }
            _ => {}
        }
        let mut top = TriMarks::NONE;
        let mut inner = TriMarks::NONE;
        for arg in args {
            top = top.union(&self.rule_marks(function.rule, arg));
            inner = inner.union(&perhaps(&arg.inner_marks()));
        }
        let origin = args.iter().find_map(|arg| arg.origin.clone());
        // A part may come out as the result itself, as with `element`.
        let whole = Abstract { inside: Inside::Opaque(inner.clone()), ..Abstract::of_type(ty) };
        whole.with_marks(&top).with_marks(&inner).with_origin(origin)
    }

    /// `try`: the first argument that does not fail. Which one that is cannot be told, and everything that was tried
    /// leaves its marks (DESIGN 2.9).
    fn attempt(&mut self, call: &Call) -> Abstract {
        let mut result: Option<Abstract> = None;
        let mut tried: Option<TriMarks> = None;
        for &arg in &call.args {
            let value = self.uncertainly(|it| it.expr(arg));
            let reads = self.reads(arg);
            let here = match &tried {
                Some(tried) => value.with_marks(tried),
                None => value,
            };
            let left = self.left_behind(RuleId::Try, &reads);
            tried = Some(tried.unwrap_or(TriMarks::NONE).union(&perhaps(&left)));
            result = Some(match result {
                Some(result) => result.either(&here),
                None => here,
            });
        }
        // While what is read is unknown, the concrete domain marks the whole.
        let inner = tried.unwrap_or(TriMarks::NONE);
        let result = result.unwrap_or_else(Abstract::any);
        let deep = perhaps(&result.inner_marks());
        Abstract { constant: None, ..result }.with_marks(&inner).with_marks(&deep)
    }

    fn can(&mut self, call: &Call) -> Abstract {
        let mut marks = TriMarks::NONE;
        let mut origin = None;
        for &arg in &call.args {
            let value = self.uncertainly(|it| it.expr(arg));
            let reads = self.reads(arg);
            marks = marks.union(&self.left_behind(RuleId::Can, &reads)).union(&perhaps(&value.deep_marks()));
            origin = origin.or(value.origin).or_else(|| reads.iter().find_map(|it| it.origin.clone()));
        }
        Abstract::of_type(Type::Bool).with_marks(&marks).with_origin(origin)
    }

    /// What shows of a tried expression: that what it read is ephemeral. Sensitivity is not kept, as in the references.
    fn left_behind(&self, rule: RuleId, reads: &[Abstract]) -> TriMarks {
        let all = reads.iter().fold(TriMarks::NONE, |marks, read| marks.union(&self.rule_marks(rule, read)));
        TriMarks::NONE.with(MarkKind::Ephemeral, all.ephemeral)
    }

    /// The references in an expression, as far as their traversals go.
    fn reads(&mut self, id: ExprId) -> Vec<Abstract> {
        let traversals = crate::eval::traversals(self.exprs, id);
        let problems = self.problems.len();
        let reads = traversals.into_iter().map(|it| self.uncertainly(|this| this.expr(it))).collect();
        self.problems.truncate(problems);
        reads
    }
}

/// Whether the structure of a value is known down to its leaves, so that calling a function on it shows where marks go.
fn is_structured(value: &Abstract) -> bool {
    match &value.inside {
        Inside::Opaque(marks) => *marks == TriMarks::NONE,
        Inside::Attrs(attrs) => !matches!(value.ty, Type::Map(_)) && attrs.values().all(is_structured),
        Inside::Items(items) => !matches!(value.ty, Type::List(_) | Type::Set(_)) && items.iter().all(is_structured),
        Inside::Each(element) => element.deep_marks() == TriMarks::NONE,
    }
}

/// The marks of all arguments on a result without parts of theirs.
fn blend(rule: RuleId, result: Abstract, args: &[Abstract]) -> Abstract {
    let mut marks = TriMarks::NONE;
    let mut origin = None;
    let first_only = matches!(rules::rule(rule, Domain::Abstract), MarkRule::FirstTop);
    for arg in args.iter().take(if first_only { 1 } else { usize::MAX }) {
        marks = marks.union(&match rules::rule(rule, Domain::Abstract) {
            MarkRule::Nothing => TriMarks::NONE,
            MarkRule::FirstTop => arg.marks.clone(),
            _ => arg.deep_marks(),
        });
        origin = origin.or_else(|| arg.origin.clone());
    }
    let constant = if marks == TriMarks::NONE { result.constant.clone() } else { None };
    Abstract { constant, ..result }.with_marks(&marks).with_origin(origin)
}

/// Spreads the last argument of `f(a, b...)`; gives the arguments back where its length is not known.
fn expand(mut args: Vec<Abstract>) -> Result<Vec<Abstract>, Vec<Abstract>> {
    let Some(last) = args.last() else { return Ok(args) };
    match last.known_elements() {
        Some(elements) => {
            let marks = last.marks.clone();
            args.pop();
            args.extend(elements.into_iter().map(|(_, element)| element.with_marks(&marks)));
            Ok(args)
        }
        None => Err(args),
    }
}
