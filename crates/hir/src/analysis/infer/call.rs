//! Function calls.
//!
//! The types, errors and constants of a call come from calling the function with values that are unknown except for
//! their structure. The marks of the result come from the rule of the function.

use db::Summary;
use provider::FunctionSignature;
use values::{
    MarkKind, Type, Value, convert,
    functions::{self, Function, FunctionError, Place},
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    analysis::{
        infer::{
            EmptyEnvironment, Infer,
            closed::is_impure,
            flow::{Contribution, Flow},
        },
        problem::ItemProblem,
        value::{
            Abstract,
            failing::Failing,
            inside::{Inside, Presence},
            is_kept,
            marks::{Tri, TriMarks},
            when::{Ephemerality, When},
        },
    },
    eval,
    expr::{At, Call, Expr, ExprId},
    fix::Fix,
    provider_function::{self, ArgumentError, Lookup},
    suggest,
};

/// The largest number of expanded arguments that are inferred one by one.
const MAX_ARGUMENTS: usize = 1024;

impl Infer<'_> {
    pub(super) fn call(&mut self, id: ExprId, call: &Call) -> Abstract {
        match &*call.name {
            "try" => return self.attempt(call),
            "can" => return self.can(call),
            _ => {}
        }
        let args: Vec<Abstract> = call.args.iter().map(|arg| self.expr(*arg)).collect();
        let is_of_provider = call.name.starts_with("provider::");
        let function =
            functions::lookup(&call.name).filter(|function| function.place != Place::Console);
        if function.is_none() && !is_of_provider {
            self.unknown_function(id, &call.name);
        }
        let rule = function.map_or(RuleId::Function, |function| function.rule);
        let (args, from_empty) = match self.expanded(call, args) {
            Ok(expanded) => expanded,
            Err(args) => return self.any_number(function, rule, call, &args),
        };
        let value = match function {
            Some(function) if function.name == "convert" => {
                self.conversion_call(id, call, function, &args)
            }
            Some(function) => self.library_call(id, call, function, &args),
            None if is_of_provider => self.provider_call(id, call, &args),
            None => self.failed_call(&args),
        };
        match from_empty {
            Some(flow) => flow.onto(value),
            None => value,
        }
    }

    /// Reports a function that does not exist, whether or not the call is evaluated.
    fn unknown_function(&mut self, at: ExprId, name: &str) {
        let mut fix = None;
        let detail = match name.rsplit_once("::") {
            Some((namespace, _)) => {
                format!(
                    "There are no functions in namespace \"{namespace}::\". Functions of the \
                     language are in \"core::\", those of a provider in \"provider::NAME::\"."
                )
            }
            None => {
                let offered = functions::all().filter(|it| it.is_for_configurations());
                let names = offered.map(|function| function.name);
                let close = suggest::closest(name, names);
                fix = Fix::first(name, close);
                let hint = close.map(|close| format!(" Did you mean \"{close}\"?"));
                format!("There is no function named \"{name}\".{}", hint.unwrap_or_default())
            }
        };
        let problem = ItemProblem::new(At::Callee(at), Summary::UNKNOWN_FUNCTION, detail);
        self.report(problem.fixed_by(fix));
    }

    fn provider_call(&mut self, id: ExprId, call: &Call, args: &[Abstract]) -> Abstract {
        let ty = match self.env.provider_function(&call.name) {
            Lookup::Known(signature) => {
                self.check_provider_call(id, call, &signature, args);
                signature.returns
            }
            Lookup::Unknown { detail, close } => {
                let summary = Summary::UNKNOWN_PROVIDER_FUNCTION;
                let problem = ItemProblem::new(id.into(), summary, detail);
                let meant = provider_function::parse(&call.name)
                    .and_then(|it| Fix::first(it.function, close.as_deref()));
                self.report(problem.fixed_by(meant));
                Type::Dynamic
            }
            Lookup::NotLoaded | Lookup::OfConfiguration => Type::Dynamic,
        };
        let mut flow = Flow::default();
        for arg in args {
            flow.add(self.contribution(RuleId::Function, arg), arg);
        }
        flow.onto(Abstract { failing: failing_call(args), ..Abstract::of_type(ty) })
    }

    fn check_provider_call(
        &mut self,
        id: ExprId,
        call: &Call,
        signature: &FunctionSignature,
        args: &[Abstract],
    ) {
        let mut errors: Vec<ArgumentError> =
            provider_function::arity(&call.name, signature, args.len()).into_iter().collect();
        for (position, arg) in args.iter().enumerate() {
            let Some(parameter) = provider_function::parameter(signature, position) else { break };
            let why = match () {
                () if arg.is_null() && !parameter.allow_null_value => {
                    "argument must not be null".to_owned()
                }
                () if arg.is_null() || arg.ty == Type::Dynamic || parameter.ty == Type::Dynamic => {
                    continue;
                }
                () if convert::can_convert(&arg.ty, &parameter.ty) => continue,
                () => convert::mismatch(&arg.ty, &parameter.ty),
            };
            errors.push(provider_function::unsuitable(
                &call.name, signature, position, parameter, &why,
            ));
        }
        for error in errors {
            let at = error.argument.and_then(|position| call.args.get(position)).unwrap_or(&id);
            self.fails(*at, error.summary, error.detail);
        }
    }

    /// The value of a call that fails. It has the marks of all arguments.
    pub(super) fn failed_call(&self, args: &[Abstract]) -> Abstract {
        let mut flow = Flow::default();
        args.iter().for_each(|arg| flow.add_maybe(arg));
        // The call succeeds if a null turns out to have another type than it seems to have, so its ephemerality is
        // not *never*.
        let all = args.iter().fold(When::Never, |all, it| all.or(&it.ephemeral.somewhere()));
        let ephemeral = Ephemerality::new(all.weakened(), all.weakened());
        flow.onto(Abstract { failing: failing_call(args), ephemeral, ..Abstract::any() })
    }

    /// Expands the last argument of `f(a, b...)`. Also returns the marks that flow to the result if it has no
    /// elements.
    ///
    /// # Errors
    /// The unchanged arguments, if the length of the last one is not known.
    fn expanded(
        &mut self,
        call: &Call,
        mut args: Vec<Abstract>,
    ) -> Result<(Vec<Abstract>, Option<Flow>), Vec<Abstract>> {
        if !call.expand {
            return Ok((args, None));
        }
        let (Some(last), Some(at)) = (args.pop(), call.args.last()) else {
            return Ok((args, None));
        };
        let is_sequence =
            matches!(last.ty, Type::Dynamic | Type::Tuple(_) | Type::List(_) | Type::Set(_));
        if last.is_null() || !is_sequence {
            let problem = match last.is_null() {
                true => "must not be null",
                false => "must be of a tuple, list, or set type",
            };
            let detail = format!("The expanding argument (indicated by ...) {problem}.");
            self.fails(*at, Summary::INVALID_EXPANDING_ARGUMENT, detail);
        }
        if !last.failing.keeps_type {
            // The expanded argument is evaluated first; if it fails, the others were not read.
            for arg in &mut args {
                arg.failing = arg.failing.clone().losing_marks(true);
            }
        }
        let is_known = last.presence == Presence::Known;
        match last.known_elements(MAX_ARGUMENTS).filter(|_| is_known) {
            Some(elements) if elements.is_empty() => {
                let mut flow = Flow::default();
                flow.add(self.contribution(RuleId::EmptyExpansion, &last), &last);
                Ok((args, Some(flow)))
            }
            Some(elements) => {
                // The collection itself disappears, so its marks go on every element.
                let spread = elements.into_iter().map(|(_, element)| {
                    let mut flow = Flow::default();
                    let when = last.ephemeral.here().clone();
                    flow.add(Contribution { marks: last.marks, when }, &last);
                    flow.onto(element)
                });
                args.extend(spread);
                Ok((args, None))
            }
            None => {
                args.push(last);
                Err(args)
            }
        }
    }

    /// The value of a call with an unknown number of arguments: the last of `args` stands for any number of them.
    fn any_number(
        &mut self,
        function: Option<&Function>,
        rule: RuleId,
        call: &Call,
        args: &[Abstract],
    ) -> Abstract {
        let mut flow = Flow::default();
        let ephemeral = self.of_any_number(function, rule, call, args);
        for arg in args {
            flow.add_maybe(arg);
            flow.hidden(&arg.failing);
        }
        let written = args.len().saturating_sub(1);
        let any = vec![Value::dynamic(); function.map_or(0, |it| it.params.len()).max(written)];
        let ty = function.and_then(|function| function.return_type(&any).ok());
        let inside = match rule {
            RuleId::CarryingFunction => Inside::Opaque(flow.marks()),
            _ => Inside::PLAIN,
        };
        let ty = ty.unwrap_or(Type::Dynamic);
        // The expanded argument is evaluated first; if that fails, the others were not read.
        let failing = failing_call(args).typed_late().losing_marks(true);
        flow.onto(Abstract { inside, failing, ephemeral, ..Abstract::of_type(ty) })
    }

    /// Reports a wrong number of arguments, whether or not the call is evaluated. Returns true if the number is
    /// right.
    fn has_right_arity(
        &mut self,
        id: ExprId,
        call: &Call,
        function: &Function,
        given: usize,
    ) -> bool {
        let (name, wanted) = (function.name, function.params.len());
        let (at, summary, detail) = if let Some(missing) = function.params.get(given) {
            let least = if function.variadic.is_some() { " at least" } else { "" };
            let detail = format!(
                "Function \"{name}\" expects{least} {wanted} argument(s). Missing value for \"{}\".",
                missing.name
            );
            (At::Closer(id), Summary::NOT_ENOUGH_FUNCTION_ARGUMENTS, detail)
        } else if function.variadic.is_none() && given > wanted {
            let at = At::from(call.args.get(wanted).copied().unwrap_or(id));
            let detail = format!("Function \"{name}\" expects only {wanted} argument(s).");
            (at, Summary::TOO_MANY_FUNCTION_ARGUMENTS, detail)
        } else {
            return true;
        };
        let problem = ItemProblem::new(at, summary, detail);
        match call.expand {
            true => self.report_by_certainty(problem),
            false => self.report(problem),
        }
        false
    }

    fn library_call(
        &mut self,
        id: ExprId,
        call: &Call,
        function: &'static Function,
        args: &[Abstract],
    ) -> Abstract {
        if !self.has_right_arity(id, call, function, args.len()) {
            return self.failed_call(args);
        }
        let plain: Vec<Value> = args.iter().map(Abstract::plain_value).collect();
        let before = self.budget.used();
        let called = function.call(&plain, &EmptyEnvironment(&self.budget));
        self.budget.settle(before, called.as_ref().ok());
        let is_left_to_run = |error: &FunctionError| {
            // Files and the time are available only during the run, whose budget for large values is larger, too.
            is_impure(function.name) || error.exceeded.is_some()
        };
        let result = match called {
            Ok(result) if is_impure(function.name) => Value::unknown(result.ty()),
            Err(error) if is_left_to_run(&error) => {
                if let Some(exceeded) = error.exceeded {
                    self.warn_of_excess(id.into(), exceeded);
                }
                Value::unknown(function.return_type(&plain).unwrap_or(Type::Dynamic))
            }
            Ok(result) => result,
            Err(_) if self.takes_null(function, args, &plain) => return self.failed_call(args),
            Err(error) => {
                let at = error.argument.and_then(|index| call.args.get(index));
                let (summary, detail) = eval::function_problem(function, &error);
                self.fails(at.copied().unwrap_or(id), summary, detail);
                return self.failed_call(args);
            }
        };
        let ty = result_type(function, args, &result);
        let mut failing = failing_call(args);
        failing.keeps_type |= always_succeeds(function, args);
        // The types of the carried parts stay as open as they were.
        let is_made_of_parts = function.rule == RuleId::CarryingFunction
            && matches!(ty, Type::Tuple(_) | Type::Object(_));
        failing.is_typed_early |=
            !args.iter().any(Abstract::has_open_type) || !(ty.has_dynamic() || is_made_of_parts);
        // A mark that the function adds, or that only a missing element has, is lost if the call fails.
        let loses = function.rule == RuleId::Sensitive && !self.cannot_fail(call.args[0], &args[0])
            || matches!(function.name, "element" | "lookup") && !has_known_parts(&args[0]);
        let value = match function.rule {
            RuleId::CarryingFunction => {
                let value = self.carry(function, call, args, &ty, &result);
                let takes_one_type = matches!(ty, Type::List(_) | Type::Map(_));
                let is_open = takes_one_type && args.iter().any(Abstract::has_open_type);
                if is_open { value.with_open_parts() } else { value }
            }
            RuleId::Conversion => self.conversion(function, &args[0], &ty),
            RuleId::Sensitive | RuleId::Nonsensitive | RuleId::EphemeralAsNull => {
                self.marking(function.rule, &args[0])
            }
            RuleId::IsSensitive => self.is_sensitive(&args[0], &result),
            rule => self.blend(rule, args, &ty, &result),
        };
        if value.constant.is_none() && result.is_wholly_known() && !is_kept(&result) {
            self.hint_at_size(id);
        }
        Abstract { failing: failing.losing_marks(loses), ..value }
    }

    /// Infers `convert`, whose second argument is a type expression.
    fn conversion_call(
        &mut self,
        id: ExprId,
        call: &Call,
        function: &Function,
        args: &[Abstract],
    ) -> Abstract {
        if !self.has_right_arity(id, call, function, args.len()) {
            return self.failed_call(args);
        }
        let exprs = self.exprs;
        let to = call.args.get(1).map(|to| &exprs[*to]);
        let (Some(Expr::Type(Some(constraint))), Some(value)) = (to, args.first()) else {
            // Another check has reported the argument.
            return self.failed_call(args);
        };
        if let Err(error) = eval::apply_type(constraint, value.plain_value()) {
            // A default may replace a null of any type, so the error is not certain.
            let is_sure = value.constant.is_some()
                || value.failing.keeps_type && constraint.defaults.is_none();
            if is_sure {
                let error = FunctionError::at(0, error.message);
                let (summary, detail) = eval::function_problem(function, &error);
                self.fails(call.args[0], summary, detail);
            }
            return self.failed_call(args);
        }
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Conversion, value), value);
        let ephemeral = value.ephemeral.only_inside();
        let bare = Abstract { marks: TriMarks::NONE, ephemeral, ..value.clone() };
        let converted = self.given_type(&bare, constraint);
        let mut failing = failing_call(&args[..1]);
        failing.is_typed_early |= !value.has_open_type() || !constraint.ty.has_dynamic();
        flow.onto(Abstract { failing, ..converted })
    }

    /// Returns true if an expression only reads a value that exists.
    fn cannot_fail(&self, id: ExprId, value: &Abstract) -> bool {
        let is_read = match &self.exprs[id] {
            Expr::Ref(_) | Expr::Symbol(_) | Expr::GetAttr { .. } | Expr::Index { .. } => true,
            _ => value.constant.is_some(),
        };
        is_read && value.failing.keeps_type
    }

    /// Returns true if the call may succeed because an argument turns out to be a null without a type.
    fn takes_null(&self, function: &Function, args: &[Abstract], plain: &[Value]) -> bool {
        let loose = args.iter().zip(plain).map(|(arg, plain)| {
            // A part of a value that exists may be such a null, too.
            if !arg.failing.keeps_type { Value::dynamic() } else { plain.clone() }
        });
        let loose: Vec<Value> = loose.collect();
        loose != plain && function.call(&loose, &EmptyEnvironment(&self.budget)).is_ok()
    }

    /// The value of a call whose result has no parts of the arguments.
    fn blend(&self, rule: RuleId, args: &[Abstract], ty: &Type, result: &Value) -> Abstract {
        let mut flow = Flow::default();
        match rule {
            RuleId::Length | RuleId::Keys => {
                flow.add(self.contribution(rule, &args[0]), &args[0]);
            }
            rule => args.iter().for_each(|arg| flow.add(self.contribution(rule, arg), arg)),
        }
        flow.onto(of_result(args, ty, result))
    }

    fn is_sensitive(&self, arg: &Abstract, result: &Value) -> Abstract {
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::IsSensitive, arg), arg);
        let answer = match arg.marks.sensitive {
            Tri::Yes => Some(true),
            // A value that is not known yet may turn out to be marked.
            Tri::No if arg.constant.is_some() => result.as_bool(),
            _ => None,
        };
        flow.onto(match answer {
            Some(answer) => Abstract::constant(Value::bool(answer)),
            None => Abstract { presence: Presence::NotNull, ..Abstract::of_type(Type::Bool) },
        })
    }

    fn marking(&self, rule: RuleId, arg: &Abstract) -> Abstract {
        match rules::rule(rule, Domain::Abstract) {
            MarkRule::Adds(kind) => arg.clone().with_mark(kind, Tri::Yes),
            MarkRule::Removes(kind) => {
                // While the value is unknown, marks of its parts are on the whole and are removed with it.
                let inside = match arg.presence {
                    Presence::Known => arg.clone(),
                    _ => arg.weakened(),
                };
                let ephemeral = match kind {
                    MarkKind::Ephemeral => arg.ephemeral.only_inside(),
                    _ => arg.ephemeral.clone(),
                };
                Abstract { marks: arg.marks.with(kind, Tri::No), ephemeral, ..inside }
            }
            MarkRule::NullsOut(kind) => nulled(arg, kind, true),
            _ if rule == RuleId::EphemeralAsNull => arg.clone(),
            _ => arg.unmarked(),
        }
    }

    fn conversion(&self, function: &Function, arg: &Abstract, ty: &Type) -> Abstract {
        let to = match function.name {
            "tostring" => Type::String,
            "tonumber" => Type::Number,
            "tobool" => Type::Bool,
            "toset" => Type::set(Type::Dynamic),
            "tomap" => Type::map(Type::Dynamic),
            _ => Type::list(Type::Dynamic),
        };
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Conversion, arg), arg);
        let ephemeral = arg.ephemeral.only_inside();
        let bare = Abstract { marks: TriMarks::NONE, ephemeral, ..arg.clone() };
        let converted = self.converted(&bare, &to);
        flow.onto(Abstract { ty: ty.clone(), ..converted })
    }
}

/// Functions that accept every value, except null, of the types of their parameters.
const TOTAL: [&str; 15] = [
    "length",
    "upper",
    "lower",
    "strrev",
    "trimspace",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "base64encode",
    "urlencode",
    "ceil",
    "floor",
    "startswith",
    "endswith",
];

/// Returns true if a call cannot fail, whatever values its arguments have.
fn always_succeeds(function: &Function, args: &[Abstract]) -> bool {
    let takes = |position: usize, arg: &Abstract| {
        let fits = match function.name {
            "length" => {
                arg.ty.is_collection() || matches!(arg.ty, Type::Tuple(_) | Type::Object(_))
            }
            _ => function.parameter(position).is_some_and(|it| it.shape.ty() == arg.ty),
        };
        fits && arg.failing.keeps_type && arg.presence > Presence::Open
    };
    TOTAL.contains(&function.name) && args.iter().enumerate().all(|(at, arg)| takes(at, arg))
}

fn has_known_parts(value: &Abstract) -> bool {
    value.presence == Presence::Known && value.known_length().is_some()
}

/// The effect of a failure of the call: it has read all of its arguments, and its result has any type.
pub(super) fn failing_call(args: &[Abstract]) -> Failing {
    let failing = args.iter().fold(Failing::NEVER, |failing, arg| failing.reading(arg));
    let is_constant = args.iter().all(|arg| arg.constant.is_some());
    if is_constant { failing } else { failing.of_any_type() }
}

/// The value of a call from its result without marks.
pub(super) fn of_result(args: &[Abstract], ty: &Type, result: &Value) -> Abstract {
    let value = Abstract::constant(result.without_all_marks());
    // An argument whose type is lost by a failure may be a wholly unknown value.
    let is_settled =
        args.iter().all(|arg| arg.failing.keeps_type || arg.presence == Presence::Known);
    // The type of the argument that is returned may depend on the types of all arguments.
    let is_typed = *ty != Type::Dynamic || !args.iter().any(Abstract::has_open_type);
    let value = if is_settled && is_typed { value } else { value.undecided() };
    Abstract { ty: ty.clone(), ..value }
}

/// The type that every result conforms to. It stays open if the type of an argument is, because the value then
/// decides.
fn result_type(function: &Function, args: &[Abstract], result: &Value) -> Type {
    let ty = result.ty();
    // A null adds no attributes, and maps of one type are merged to a map.
    let decides_kind = |arg: &Abstract| match &arg.ty {
        Type::Object(_) => arg.presence == Presence::Open,
        Type::Map(_) => arg.has_open_type(),
        _ => false,
    };
    if function.name == "merge" && args.iter().any(decides_kind) {
        return Type::Dynamic;
    }
    if !args.iter().any(Abstract::has_open_type) {
        return ty;
    }
    let is_structural = function.rule == RuleId::CarryingFunction;
    if is_structural && matches!(ty, Type::Tuple(_) | Type::Object(_)) {
        return ty;
    }
    function.return_type(&vec![Value::dynamic(); args.len()]).unwrap_or(Type::Dynamic)
}

/// The value with every part that has the mark replaced by null, or by an unknown value without the mark if the
/// part is unknown. The type of a marked object or tuple becomes open, because its names may be the secret, but not
/// the type of an element of a collection.
fn nulled(value: &Abstract, kind: MarkKind, may_open: bool) -> Abstract {
    let whole = value.marks.get(kind);
    if value.deep_marks().get(kind) == Tri::No {
        return value.clone();
    }
    let marks = value.marks.with(kind, Tri::No);
    let parts_may_open = may_open && !value.ty.is_collection();
    let inside = match &value.inside {
        _ if whole == Tri::Yes => Inside::PLAIN,
        Inside::Opaque(marks) => Inside::Opaque(marks.with(kind, Tri::No)),
        inside => inside.map(&mut |part| nulled(part, kind, parts_may_open)),
    };
    let presence = if whole == Tri::No { value.presence } else { Presence::Open };
    let is_shaped = value.ty.is_shaped_by_values();
    let ty = match &value.ty {
        _ if whole > Tri::No && may_open && is_shaped => Type::Dynamic,
        ty if parts_may_open => opened(ty, &inside),
        ty => ty.clone(),
    };
    let ephemeral = match kind {
        MarkKind::Ephemeral => Ephemerality::NEVER,
        _ => value.ephemeral.clone(),
    };
    let nulled =
        Abstract { ty, marks, inside, presence, constant: None, ephemeral, ..value.clone() };
    let is_explained = nulled.deep_marks().ephemeral > Tri::No;
    Abstract { origin: nulled.origin.filter(|_| is_explained), ..nulled }
}

/// The type of an object or tuple after the types of its parts became open.
fn opened(ty: &Type, inside: &Inside) -> Type {
    let open = |ty: &Type| if ty.is_shaped_by_values() { Type::Dynamic } else { ty.clone() };
    match (ty, inside) {
        (Type::Object(_), Inside::Attrs(attrs)) => {
            Type::object(attrs.iter().map(|(name, attr)| (name.clone(), attr.ty.clone())))
        }
        (Type::Tuple(_), Inside::Items(items)) => Type::tuple(items.iter().map(|it| it.ty.clone())),
        (Type::Object(object), _) => {
            Type::object(object.iter().map(|(name, ty)| (name.clone(), open(ty))))
        }
        (Type::Tuple(types), _) => Type::tuple(types.iter().map(open)),
        (ty, _) => ty.clone(),
    }
}
