//! What happens around every function: arity, conversion, nulls, unknowns and marks.

use std::borrow::Cow;

use super::signature::{Body, Function, Needs, Parameter, Returns, Unknowns};
use crate::{
    Budget, Exceeded, MarkKind, Refinements, Type, Value, convert,
    rules::{self, Domain, MarkRule, RuleId},
};

/// What functions need of the world.
pub trait FunctionEnv {
    /// The content of a file, by the path as the configuration gives it.
    ///
    /// # Errors
    /// With the reason, in words for the user.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Whether a file exists.
    ///
    /// # Errors
    /// With the reason why that cannot be told, or that it is no ordinary file.
    fn file_exists(&self, path: &str) -> Result<bool, String>;

    /// The names in a directory, each with whether it is a directory itself.
    ///
    /// # Errors
    /// With the reason, in words for the user.
    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        Err(format!("{path:?} cannot be listed here"))
    }

    /// The directory that relative paths start from; `None` if it is not known.
    fn base_directory(&self) -> Option<String> {
        None
    }

    /// The user's home directory, if there is one.
    fn home_directory(&self) -> Option<String> {
        None
    }

    /// Whether what is at a path is decided later, by a run. The result of whoever asks for it is unknown then.
    fn is_undecided(&self, _path: &str) -> bool {
        false
    }

    /// Renders a template whose variables are the attributes or elements of `variables`. Those have their marks, to tell
    /// what is secret; the template is to see none, and the call puts them on the result.
    ///
    /// # Errors
    /// With the reason, in words for the user.
    fn render_template(
        &self,
        name: &str,
        text: &str,
        variables: &Value,
    ) -> Result<Value, RenderError>;

    /// The time of `timestamp()` in RFC 3339, or `None` while it is not decided.
    fn now(&self) -> Option<String>;

    /// The time of `plantimestamp()` in RFC 3339, or `None` where there is no plan.
    fn plan_time(&self) -> Option<String> {
        None
    }

    /// Random bytes to hash a password with, or `None` while they are not decided.
    fn salt(&self) -> Option<[u8; 16]> {
        None
    }

    /// What evaluations may take, and until when. With `None`, each call may take the default on its own.
    fn budget(&self) -> Option<&Budget> {
        None
    }

    /// A new random UUID, or `None` while it is not decided.
    fn uuid(&self) -> Option<String>;
}

/// Why a template was not rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenderError {
    /// Something is wrong with it, in words for the user.
    Failed(String),
    /// The evaluation around must end, too.
    Exceeded(Exceeded),
}

impl From<String> for RenderError {
    fn from(message: String) -> RenderError {
        RenderError::Failed(message)
    }
}

/// Why a call has no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// The argument at fault, if one is.
    pub argument: Option<usize>,
    /// The reason. It quotes no secret.
    pub message: String,
    /// Whether there is nothing wrong: the result will be known later.
    is_undecided: bool,
    /// The argument whose text the reason has parts of.
    quotes: Option<usize>,
    /// Set where the evaluation as a whole must end, and not only this call.
    pub exceeded: Option<Exceeded>,
}

impl FunctionError {
    pub(super) fn new(message: impl Into<String>) -> FunctionError {
        FunctionError {
            argument: None,
            message: message.into(),
            is_undecided: false,
            quotes: None,
            exceeded: None,
        }
    }

    /// The end of the evaluation as a whole.
    pub(super) fn exceeding(exceeded: Exceeded) -> FunctionError {
        FunctionError { exceeded: Some(exceeded), ..FunctionError::new(exceeded.to_string()) }
    }

    /// No error: the result depends on what only a run decides.
    pub(super) fn undecided() -> FunctionError {
        FunctionError { is_undecided: true, ..FunctionError::new("") }
    }

    /// A reason with parts of an argument's text in it. If that argument is secret, the user is told something else.
    pub(super) fn quoting(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { quotes: Some(argument), ..FunctionError::new(message) }
    }

    /// The same reason, told of the call as a whole in other words.
    pub(super) fn told_as(self, message: String) -> FunctionError {
        FunctionError { argument: None, message, ..self }
    }

    /// The same reason, told of one argument.
    pub(super) fn told_of(self, argument: usize) -> FunctionError {
        FunctionError { argument: Some(argument), ..self }
    }

    fn without_secrets_of(self, args: &[Value]) -> FunctionError {
        let quoted = self.quotes.and_then(|argument| args.get(argument));
        if !quoted.is_some_and(Value::has_deep_secret) {
            return self;
        }
        let message = "the reason is not shown: it would quote a sensitive or ephemeral value";
        FunctionError { message: message.to_owned(), quotes: None, ..self }
    }

    /// The reason why an argument does not fit. It may not quote a secret.
    pub fn at(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { argument: Some(argument), ..FunctionError::new(message) }
    }
}

/// What is said of a number that is not whole, or too large.
pub(super) const NOT_WHOLE: &str =
    "value must be a whole number, between -9223372036854775808 and 9223372036854775807";

/// One call as a body sees it.
pub(super) struct Call<'a> {
    /// Arguments of the parameters' types. Under most rules they have no marks.
    pub(super) args: &'a [Value],
    /// The same arguments with their marks.
    pub(super) marked: &'a [Value],
    /// The type that the result has.
    pub(super) ty: Type,
    pub(super) env: &'a dyn FunctionEnv,
    /// Whether messages must not quote arguments.
    pub(super) secret: bool,
}

impl Call<'_> {
    /// The text of an argument that is a known string; empty for anything else.
    pub(super) fn text(&self, position: usize) -> &str {
        self.args.get(position).and_then(Value::as_str).unwrap_or("")
    }

    /// The number of an argument.
    pub(super) fn number(&self, position: usize) -> Result<&crate::Number, FunctionError> {
        let number = self.args.get(position).and_then(Value::as_number);
        number.ok_or_else(|| FunctionError::at(position, "number required"))
    }

    /// The whole number of an argument.
    pub(super) fn whole(&self, position: usize) -> Result<i64, FunctionError> {
        let whole = self.number(position)?.to_i64();
        whole.ok_or_else(|| FunctionError::new(NOT_WHOLE))
    }

    /// The elements of an argument that is a known list, set or tuple; none for anything else.
    pub(super) fn items(&self, position: usize) -> &[Value] {
        self.args.get(position).and_then(Value::as_slice).unwrap_or(&[])
    }

    /// Text for a message, unless it may be secret.
    pub(super) fn quoted(&self, text: &str) -> String {
        self.shown(format_args!("{text:?}"))
    }

    /// A part of an argument for a message, unless it may be secret.
    pub(super) fn shown(&self, part: impl std::fmt::Display) -> String {
        match self.secrecy() {
            Some(word) => format!("({word} value)"),
            None => part.to_string(),
        }
    }

    /// Why messages must not quote arguments, in a word.
    pub(super) fn secrecy(&self) -> Option<&'static str> {
        let has = |kind| self.marked.iter().any(|it| it.has_deep(kind));
        match (has(MarkKind::Ephemeral), has(MarkKind::Sensitive)) {
            (true, true) => Some("ephemeral sensitive"),
            (true, false) => Some("ephemeral"),
            (false, true) => Some("sensitive"),
            (false, false) => None,
        }
    }

    /// Makes sure that so many bytes may be allocated.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), FunctionError> {
        reserve(self.env, bytes)
    }

    /// Bytes that may be allocated.
    pub(super) fn room(&self) -> u64 {
        self.env.budget().map_or(Budget::DEFAULT_LIMIT, Budget::left)
    }

    /// Counts a step of work whose length the arguments decide.
    pub(super) fn step(&self) -> Result<(), FunctionError> {
        self.env.budget().map_or(Ok(()), Budget::step).map_err(FunctionError::exceeding)
    }

    /// Looks whether the user interrupted the run: for steps that take long.
    pub(super) fn check_interrupt(&self) -> Result<(), FunctionError> {
        self.env.budget().map_or(Ok(()), Budget::check).map_err(FunctionError::exceeding)
    }

    /// An unknown result of the type that the call has, with the marks of whatever may end up inside it.
    pub(super) fn unknown(&self) -> Value {
        unknown_of(Value::unknown(self.ty.clone()), self.args)
    }
}

impl Function {
    /// The type of the result for arguments that are known, unknown, or stand for their types as unknown values.
    ///
    /// # Errors
    /// If no such call can succeed.
    pub fn return_type(&self, args: &[Value]) -> Result<Type, FunctionError> {
        let args = self.prepared(args)?;
        self.typed(&without_marks(&args)).map_err(|error| error.without_secrets_of(&args))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// If an argument does not fit, or the function refuses.
    pub fn call(&self, args: &[Value], env: &dyn FunctionEnv) -> Result<Value, FunctionError> {
        let Body::Plain(body) = self.body else {
            return Err(FunctionError::new(format!("{} is no ordinary function", self.name)));
        };
        self.reserve_for(args, env)?;
        let args = self.prepared(args)?;
        let is_carried = |i: usize| self.parameter(i).is_some_and(|parameter| parameter.is_carried);
        let merged = args.iter().enumerate().filter(|(i, _)| !is_carried(*i)).map(|(_, arg)| arg);
        let marks = rules::result_marks(self.rule, merged);
        let bare = match args.iter().any(Value::is_marked_deep) {
            false => Cow::Borrowed(&args[..]),
            true => {
                let bare = args.iter().enumerate();
                let bare = bare
                    .map(|(i, arg)| if is_carried(i) { arg.clone() } else { self.stripped(arg) });
                Cow::Owned(bare.collect())
            }
        };
        let types = without_marks(&args);
        let ty = self.typed(&types).map_err(|error| error.without_secrets_of(&args))?;
        let result = if self.has_unknown(&bare) {
            let carries = matches!(rules::rule(self.rule, Domain::Concrete), MarkRule::UnionTop);
            let known = if self.nullable { Refinements::NONE } else { Refinements::non_null() };
            unknown_of(Value::unknown_with(ty, known), if carries { &bare } else { &[] })
        } else {
            let secret = args.iter().any(Value::has_deep_secret);
            let call = Call { args: &bare, marked: &args, ty, env, secret };
            match body(&call) {
                Err(error) if error.is_undecided => call.unknown(),
                result => result.map_err(|error| error.without_secrets_of(&args))?,
            }
        };
        self.charge(&result, &bare, env)?;
        let result = if self.nullable { result } else { result.refined_not_null() };
        Ok(result.with_marks(&marks))
    }

    /// Makes sure that there is room for what the function needs.
    fn reserve_for(&self, args: &[Value], env: &dyn FunctionEnv) -> Result<(), FunctionError> {
        let sum = |size: fn(&Value) -> u64| {
            args.iter().fold(0, |sum: u64, arg| sum.saturating_add(size(arg)))
        };
        let bytes = match self.needs {
            Needs::Nothing => return Ok(()),
            Needs::Outermost => sum(Value::shallow_size),
            Needs::Walked => sum(Value::walked_size),
            Needs::Unshared => sum(Value::unshared_size),
            Needs::Bytes(bytes) => bytes(args),
        };
        reserve(env, bytes)
    }

    /// Charges a result, as far as it was made here.
    fn charge(
        &self,
        result: &Value,
        args: &[Value],
        env: &dyn FunctionEnv,
    ) -> Result<(), FunctionError> {
        let Some(budget) = env.budget() else { return Ok(()) };
        let size = match self.needs {
            Needs::Nothing => return Ok(()),
            _ if args.iter().any(|arg| arg.shares_node(result)) => return Ok(()),
            _ if self.rule == RuleId::CarryingFunction => result.shallow_size(),
            // Texts are those of the argument.
            _ if self.rule == RuleId::Conversion => result.walked_size(),
            _ => result.unshared_size(),
        };
        budget.charge(size).map_err(FunctionError::exceeding)
    }

    fn typed(&self, args: &[Value]) -> Result<Type, FunctionError> {
        match self.returns {
            Returns::Fixed(shape) => Ok(shape.ty()),
            Returns::From(rule) => rule(args),
        }
    }

    /// Arguments of the parameters' types, with their marks.
    fn prepared(&self, args: &[Value]) -> Result<Vec<Value>, FunctionError> {
        if args.len() < self.params.len() {
            let missing = &self.params[args.len()];
            let message = format!(
                "Function {:?} expects {} argument(s). Missing value for {:?}.",
                self.name,
                self.params.len(),
                missing.name
            );
            return Err(FunctionError::new(message));
        }
        if self.variadic.is_none() && args.len() > self.params.len() {
            let message =
                format!("Function {:?} expects only {} argument(s).", self.name, self.params.len());
            return Err(FunctionError::at(self.params.len(), message));
        }
        let pairs =
            args.iter().enumerate().filter_map(|(i, arg)| Some((i, arg, self.parameter(i)?)));
        pairs.map(|(i, arg, parameter)| argument(i, arg, parameter)).collect()
    }

    /// The argument as the body sees it under the function's rule.
    fn stripped(&self, arg: &Value) -> Value {
        match self.rule {
            // The body itself decides about marks.
            RuleId::IsSensitive | RuleId::EphemeralAsNull => return arg.clone(),
            _ => {}
        }
        match rules::rule(self.rule, Domain::Concrete) {
            MarkRule::UnionTop
            | MarkRule::Elementwise
            | MarkRule::Adds(_)
            | MarkRule::Removes(_) => arg.unmark().0,
            _ => arg.without_all_marks(),
        }
    }

    fn has_unknown(&self, args: &[Value]) -> bool {
        args.iter().enumerate().any(|(i, arg)| {
            match self.parameter(i).map(|parameter| parameter.unknowns) {
                Some(Unknowns::Deep) => !arg.is_wholly_known(),
                Some(Unknowns::Shallow) => !arg.is_known(),
                Some(Unknowns::Lazy) | None => false,
            }
        })
    }
}

fn reserve(env: &dyn FunctionEnv, bytes: u64) -> Result<(), FunctionError> {
    let reserved = match env.budget() {
        Some(budget) => budget.reserve(bytes),
        // Without a budget each call has a whole one.
        None => Budget::new(Budget::DEFAULT_LIMIT).reserve(bytes),
    };
    reserved.map_err(FunctionError::exceeding)
}

/// Arguments without any marks; most have none.
fn without_marks(args: &[Value]) -> Cow<'_, [Value]> {
    match args.iter().any(Value::is_marked_deep) {
        false => Cow::Borrowed(args),
        true => Cow::Owned(args.iter().map(Value::without_all_marks).collect()),
    }
}

/// An unknown value with the marks of whatever may end up inside it.
fn unknown_of(unknown: Value, parts: &[Value]) -> Value {
    parts.iter().fold(unknown, |value, part| value.with_marks(&part.deep_marks()))
}

fn argument(position: usize, value: &Value, parameter: &Parameter) -> Result<Value, FunctionError> {
    let converted = convert::convert(value, &parameter.shape.ty())
        .map_err(|error| FunctionError::at(position, error.message))?;
    if converted.is_null() && !parameter.allows_null {
        return Err(FunctionError::at(position, "argument must not be null"));
    }
    Ok(converted)
}
