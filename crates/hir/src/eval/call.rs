//! Evaluates function calls.

use db::Summary;
use values::{
    MarkKind, Marks, Str, Type, Value,
    functions::{self, Function, FunctionError, Place},
    rules::{self, RuleId},
};

use crate::{
    eval::{
        constraint::apply_type,
        evaluation::{Evaluation, Fault, Outcome},
    },
    expr::{Call, Expr, ExprId},
    fix::Fix,
    provider_function::ArgumentError,
    scope::{Interrupt, Scope},
    suggest,
};

/// An argument of a call.
pub(super) enum Argument {
    /// An argument in the source, not evaluated yet.
    Written(ExprId),
    /// An element of the collection before `...`.
    Expanded(ExprId, Value),
}

impl Argument {
    fn at(&self) -> ExprId {
        match self {
            Argument::Written(id) | Argument::Expanded(id, _) => *id,
        }
    }
}

/// The arguments of a call after expansion.
enum Arguments {
    /// The arguments, and marks that the result inherits: the marks of an empty expanded collection.
    Known(Vec<Argument>, Marks),
    /// The expanded collection is unknown or failed. Holds the result of the call.
    Unknown(Value),
}

impl Evaluation<'_> {
    pub(super) fn call(&mut self, id: ExprId, call: &Call) -> Outcome {
        let Some(scope) = self.scope else {
            let detail = "Functions may not be called here.".to_owned();
            let fault = Fault { at: id, summary: Summary::FUNCTION_CALLS_NOT_ALLOWED, detail };
            return Ok(self.fail(fault, &Marks::NONE));
        };
        let is_of_provider = call.name.starts_with("provider::");
        let function = functions::lookup(&call.name).filter(|function| match function.place {
            Place::Everywhere | Place::Removed => true,
            Place::Configuration => !scope.is_console(),
            Place::Console => scope.is_console(),
        });
        if function.is_none() && !is_of_provider {
            return Ok(self.unknown_function(id, &call.name));
        }
        let (args, marks) = match self.arguments(call)? {
            Arguments::Known(args, marks) => (args, marks),
            Arguments::Unknown(result) => return Ok(result),
        };
        let result = match (function, &*call.name) {
            (_, "try") => return self.attempt(id, &args),
            (Some(function), "can") => {
                match (self.arity_fault(id, function, &args), args.first()) {
                    (None, Some(arg)) => self.can(arg),
                    (fault, _) => Ok(self.fail_arity(fault, id)),
                }
            }
            (Some(function), "convert") => self.conversion(id, function, &args),
            (Some(function), "type") => {
                if let Some(fault) = self.arity_fault(id, function, &args) {
                    return Ok(self.fail_arity(Some(fault), id));
                }
                let detail =
                    "The console-only \"type\" function cannot be used as part of an expression.";
                let (at, summary) = (id, Summary::INVALID_USE_OF_TYPE);
                let fault = Fault { at, summary, detail: detail.to_owned() };
                Ok(self.fail(fault, &Marks::NONE))
            }
            (Some(function), _) => self.library_call(id, function, &args, scope),
            (None, _) => self.provider_call(id, &call.name, &args, scope),
        };
        Ok(result?.with_marks(&marks))
    }

    fn unknown_function(&mut self, at: ExprId, name: &str) -> Value {
        let mut fix = None;
        let detail = match name.rsplit_once("::") {
            Some((namespace, _)) => {
                format!(
                    "There are no functions in namespace \"{namespace}::\". Functions of the \
                     language are in \"core::\", those of a provider in \"provider::NAME::\"."
                )
            }
            None => {
                let is_console = self.scope.is_some_and(|scope| scope.is_console());
                let offered = functions::all().filter(|it| match it.place {
                    Place::Everywhere => true,
                    Place::Configuration => !is_console,
                    Place::Console => is_console,
                    Place::Removed => false,
                });
                let names = offered.map(|function| function.name);
                let close = suggest::closest(name, names);
                fix = Fix::first(name, close);
                let hint = close.map(|close| format!(" Did you mean {close:?}?"));
                format!("There is no function named {name:?}.{}", hint.unwrap_or_default())
            }
        };
        let fault = Fault { at, summary: Summary::UNKNOWN_FUNCTION, detail };
        self.fail_fixable(fault, fix, &Marks::NONE)
    }

    fn arguments(&mut self, call: &Call) -> Result<Arguments, Interrupt> {
        let mut args: Vec<Argument> = call.args.iter().copied().map(Argument::Written).collect();
        let Some(Argument::Written(last)) = (if call.expand { args.pop() } else { None }) else {
            return Ok(Arguments::Known(args, Marks::NONE));
        };
        let before = self.failures();
        let value = self.value(last)?;
        if self.failures() > before {
            return Ok(Arguments::Unknown(Value::dynamic().with_marks(&value.deep_marks())));
        }
        let ty = value.ty();
        if value.is_null() {
            let detail = "The expanding argument (indicated by ...) must not be null.";
            return Ok(Arguments::Unknown(self.invalid_expansion(last, detail, &value)));
        }
        if !matches!(ty, Type::Dynamic | Type::Tuple(_) | Type::List(_) | Type::Set(_)) {
            let detail =
                "The expanding argument (indicated by ...) must be of a tuple, list, or set type.";
            return Ok(Arguments::Unknown(self.invalid_expansion(last, detail, &value)));
        }
        let Some(elements) = value.as_slice() else {
            let rest = self.marks_of_written(&args)?;
            return Ok(Arguments::Unknown(
                Value::dynamic().with_marks(&value.deep_marks().union(&rest)),
            ));
        };
        if elements.is_empty() {
            let marks = rules::result_marks(RuleId::EmptyExpansion, [&value]);
            return Ok(Arguments::Known(args, marks));
        }
        self.reserve(last, value.shallow_size())?;
        // The elements replace the collection, so each of them inherits its marks.
        args.extend(
            elements.iter().map(|it| Argument::Expanded(last, it.with_marks(value.marks()))),
        );
        Ok(Arguments::Known(args, Marks::NONE))
    }

    fn invalid_expansion(&mut self, at: ExprId, detail: &str, value: &Value) -> Value {
        let summary = Summary::INVALID_EXPANDING_ARGUMENT;
        let fault = Fault { at, summary, detail: detail.to_owned() };
        self.fail(fault, &value.deep_marks())
    }

    fn marks_of_written(&mut self, args: &[Argument]) -> Result<Marks, Interrupt> {
        let mut marks = Marks::NONE;
        for arg in args {
            marks.add(&self.unseen(|this| this.argument(arg))?.deep_marks());
        }
        Ok(marks)
    }

    fn argument(&mut self, arg: &Argument) -> Outcome {
        match arg {
            Argument::Written(id) => self.value(*id),
            Argument::Expanded(_, value) => Ok(value.clone()),
        }
    }

    fn library_call(
        &mut self,
        id: ExprId,
        function: &Function,
        args: &[Argument],
        scope: &dyn Scope,
    ) -> Outcome {
        let fault = self.arity_fault(id, function, args);
        if fault.is_some() {
            return Ok(self.fail_arity(fault, id));
        }
        let values = match self.all_values(args)? {
            Ok(values) => values,
            Err(failed) => return Ok(failed),
        };
        match function.call(&values, scope.functions()) {
            Ok(result) => Ok(result),
            Err(FunctionError { exceeded: Some(exceeded), .. }) => self.within(id, Err(exceeded)),
            Err(error) => Ok(self.call_failed(id, function, args, &values, error)),
        }
    }

    /// Evaluates `convert`, whose second argument is a type expression.
    fn conversion(&mut self, id: ExprId, function: &Function, args: &[Argument]) -> Outcome {
        let exprs = self.exprs;
        let (value, to) = match (self.arity_fault(id, function, args), args) {
            (None, [value, to]) => (value, to.at()),
            (fault, _) => return Ok(self.fail_arity(fault, id)),
        };
        let value = match self.all_values(std::slice::from_ref(value))? {
            Ok(mut values) => values.remove(0),
            Err(failed) => return Ok(failed),
        };
        let Expr::Type(constraint) = &exprs[to] else {
            let detail = "The second argument of \"convert\" is a type, written as the type of a \
                          variable is: convert(value, list(string)).";
            let fault = Fault {
                at: to,
                summary: Summary::INVALID_TYPE_CONSTRAINT,
                detail: detail.to_owned(),
            };
            return Ok(self.fail(fault, &value.deep_marks()));
        };
        let Some(constraint) = constraint else {
            // The invalid type is already reported.
            return Ok(Value::dynamic().with_marks(&value.deep_marks()));
        };
        if value.ty() != constraint.ty {
            self.charge(id, value.walked_size())?;
        }
        match apply_type(constraint, value.clone()) {
            Ok(converted) => Ok(converted),
            Err(error) => {
                let error = FunctionError::at(0, error.message);
                Ok(self.call_failed(id, function, args, &[value], error))
            }
        }
    }

    /// The values of all arguments. If one failed, the result of the call.
    fn all_values(&mut self, args: &[Argument]) -> Result<Result<Vec<Value>, Value>, Interrupt> {
        let before = self.failures();
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.argument(arg)?);
        }
        if self.failures() == before {
            return Ok(Ok(values));
        }
        Ok(Err(Value::dynamic().with_marks(&deep_marks(&values))))
    }

    fn provider_call(
        &mut self,
        id: ExprId,
        name: &Str,
        args: &[Argument],
        scope: &dyn Scope,
    ) -> Outcome {
        let values = match self.all_values(args)? {
            Ok(values) => values,
            Err(failed) => return Ok(failed),
        };
        let marks = rules::result_marks(RuleId::Function, &values);
        match scope.provider_function(name, &values) {
            Ok(result) => Ok(result.with_marks(&marks)),
            Err(Interrupt::ArgumentError(error)) => {
                Ok(self.argument_error(id, name, args, *error, &marks))
            }
            Err(Interrupt::Refused { summary, detail }) => {
                Ok(self.fail(Fault { at: id, summary, detail }, &marks))
            }
            Err(interrupt) => Err(interrupt),
        }
    }

    fn argument_error(
        &mut self,
        id: ExprId,
        name: &Str,
        args: &[Argument],
        error: ArgumentError,
        marks: &Marks,
    ) -> Value {
        let argument_at_fault = error.argument.and_then(|position| args.get(position));
        let at = argument_at_fault.map_or(id, Argument::at);
        let summary = error.summary.clone();
        let has_secret = marks.has(MarkKind::Sensitive) || marks.has(MarkKind::Ephemeral);
        let detail = match has_secret {
            true => error.redacted_detail(name),
            false => error.detail,
        };
        let doing = Some(format!("while calling {}", error.called));
        self.fail_in(Fault { at, summary, detail }, doing, marks)
    }

    fn arity_fault(&self, at: ExprId, function: &Function, args: &[Argument]) -> Option<Fault> {
        let (name, wanted) = (function.name, function.params.len());
        if let Some(missing) = function.params.get(args.len()) {
            let least = if function.variadic.is_some() { " at least" } else { "" };
            let missing = missing.name;
            let detail = format!(
                "Function {name:?} expects{least} {wanted} argument(s). Missing value for {missing:?}."
            );
            let summary = Summary::NOT_ENOUGH_FUNCTION_ARGUMENTS;
            return Some(Fault { at, summary, detail });
        }
        if function.variadic.is_none() && args.len() > wanted {
            let at = args.get(wanted).map_or(at, Argument::at);
            let detail = format!("Function {name:?} expects only {wanted} argument(s).");
            let summary = Summary::TOO_MANY_FUNCTION_ARGUMENTS;
            return Some(Fault { at, summary, detail });
        }
        None
    }

    fn fail_arity(&mut self, fault: Option<Fault>, id: ExprId) -> Value {
        let fault = fault.unwrap_or_else(|| Fault {
            at: id,
            summary: Summary::NOT_ENOUGH_FUNCTION_ARGUMENTS,
            detail: "An argument is missing.".to_owned(),
        });
        self.fail(fault, &Marks::NONE)
    }

    fn call_failed(
        &mut self,
        id: ExprId,
        function: &Function,
        args: &[Argument],
        values: &[Value],
        error: FunctionError,
    ) -> Value {
        let at = match argument_at_fault(function, &error) {
            Some((position, _)) => args.get(position).map_or(id, Argument::at),
            None => id,
        };
        let (summary, detail) = function_problem(function, &error);
        let fault = Fault { at, summary, detail };
        self.fail_in(
            fault,
            Some(format!("while calling {}", signature(function))),
            &deep_marks(values),
        )
    }
}

/// The summary and detail of the diagnostic for a failed call.
pub fn function_problem(function: &Function, error: &FunctionError) -> (Summary, String) {
    let message = error.message.strip_suffix('.').unwrap_or(&error.message);
    match argument_at_fault(function, error) {
        Some((_, parameter)) => {
            let detail = format!("Invalid value for {parameter:?} parameter: {message}.");
            (Summary::INVALID_FUNCTION_ARGUMENT, detail)
        }
        None => {
            let detail = format!("Call to function {:?} failed: {message}.", function.name);
            (Summary::ERROR_IN_FUNCTION_CALL, detail)
        }
    }
}

/// The argument at fault and the name of its parameter. `None` if the error is not about one argument.
fn argument_at_fault(function: &Function, error: &FunctionError) -> Option<(usize, &'static str)> {
    let position = error.argument?;
    Some((position, function.parameter(position)?.name))
}

fn deep_marks(values: &[Value]) -> Marks {
    values.iter().fold(Marks::NONE, |all, it| all.union(&it.deep_marks()))
}

/// The signature as text, such as `name(first, second, rest...)`.
fn signature(function: &Function) -> String {
    let mut params: Vec<String> = function.params.iter().map(|it| it.name.to_owned()).collect();
    params.extend(function.variadic.as_ref().map(|it| format!("{}...", it.name)));
    format!("{}({})", function.name, params.join(", "))
}
