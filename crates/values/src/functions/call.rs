//! The steps that all function calls share: arity, conversion, nulls, unknown values and marks.

use std::borrow::Cow;

use super::signature::{Body, Function, Needs, Parameter, Returns, Unknowns};
use crate::{
    Budget, Exceeded, MarkKind, Refinements, Type, Value, convert,
    rules::{self, Domain, MarkRule, RuleId},
};

/// The environment in which functions are called.
pub trait FunctionEnv {
    /// Returns the content of a file. The path is as written in the configuration.
    ///
    /// # Errors
    /// Returns the reason, worded for the user.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Returns true if a file exists.
    ///
    /// # Errors
    /// Returns the reason why this cannot be determined, or that the path is not a regular file.
    fn file_exists(&self, path: &str) -> Result<bool, String>;

    /// Returns the names in a directory, each with a flag that is true for a directory.
    ///
    /// # Errors
    /// Returns the reason, worded for the user.
    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        Err(format!("{path:?} cannot be listed here"))
    }

    /// Returns the directory that relative paths start from; `None` if it is not known.
    fn base_directory(&self) -> Option<String> {
        None
    }

    /// Returns the user's home directory, or `None` if there is none.
    fn home_directory(&self) -> Option<String> {
        None
    }

    /// Returns true if only a later run determines the file at a path. The results of calls that read it are then
    /// unknown.
    fn is_undecided(&self, _path: &str) -> bool {
        false
    }

    /// Renders a template whose variables are the attributes or elements of `variables`. The variables have their
    /// marks so that the environment knows which are secret. The template must see them without marks; the call
    /// adds the marks to the result.
    ///
    /// # Errors
    /// Returns the reason, worded for the user.
    fn render_template(
        &self,
        name: &str,
        text: &str,
        variables: &Value,
    ) -> Result<Value, RenderError>;

    /// Returns the time of `timestamp()` in RFC 3339, or `None` while it is not determined.
    fn now(&self) -> Option<String>;

    /// Returns the time of `plantimestamp()` in RFC 3339, or `None` if there is no plan.
    fn plan_time(&self) -> Option<String> {
        None
    }

    /// Returns random bytes for hashing a password, or `None` while they are not determined.
    fn salt(&self) -> Option<[u8; 16]> {
        None
    }

    /// Returns the budget of the evaluation. With `None`, each call gets the default limit on its own.
    fn budget(&self) -> Option<&Budget> {
        None
    }

    /// Returns a new random UUID, or `None` while it is not determined.
    fn uuid(&self) -> Option<String>;
}

/// The reason why a template was not rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenderError {
    /// The template has an error, described for the user.
    Failed(String),
    /// The whole evaluation must end.
    Exceeded(Exceeded),
}

impl From<String> for RenderError {
    fn from(message: String) -> RenderError {
        RenderError::Failed(message)
    }
}

/// The reason why a call has no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// The faulty argument; `None` if the error is about the call as a whole.
    pub argument: Option<usize>,
    /// The reason. It quotes no secret.
    pub message: String,
    /// Set if this is not an error: the result is unknown until a later run.
    is_undecided: bool,
    /// The argument whose text the message quotes.
    quotes: Option<usize>,
    /// Set if the whole evaluation must end, not only this call.
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

    /// Creates the error that ends the whole evaluation.
    pub(super) fn exceeding(exceeded: Exceeded) -> FunctionError {
        FunctionError { exceeded: Some(exceeded), ..FunctionError::new(exceeded.to_string()) }
    }

    /// Creates the marker for a result that only a later run determines. It is not an error.
    pub(super) fn undecided() -> FunctionError {
        FunctionError { is_undecided: true, ..FunctionError::new("") }
    }

    /// Creates an error whose message quotes an argument's text. If that argument is secret, another message
    /// replaces it.
    pub(super) fn quoting(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { quotes: Some(argument), ..FunctionError::new(message) }
    }

    /// Returns the error with another message, without a faulty argument.
    pub(super) fn with_message(self, message: String) -> FunctionError {
        FunctionError { argument: None, message, ..self }
    }

    /// Returns the error with the given faulty argument.
    pub(super) fn with_argument(self, argument: usize) -> FunctionError {
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

    /// Creates an error for an argument that does not fit. The message must not quote a secret.
    pub fn at(argument: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { argument: Some(argument), ..FunctionError::new(message) }
    }
}

/// The message for a number that is not whole, or too large.
pub(super) const NOT_WHOLE: &str =
    "value must be a whole number, between -9223372036854775808 and 9223372036854775807";

/// A call as the body of a function sees it.
pub(super) struct Call<'a> {
    /// The arguments, converted to the types of the parameters. Under most rules they have no marks.
    pub(super) args: &'a [Value],
    /// The arguments with their marks, otherwise equal to `args`.
    pub(super) marked: &'a [Value],
    /// The type of the result.
    pub(super) ty: Type,
    pub(super) env: &'a dyn FunctionEnv,
    /// True if messages must not quote arguments.
    pub(super) secret: bool,
}

impl Call<'_> {
    /// Returns the text of an argument that is a known string; empty for any other argument.
    pub(super) fn text(&self, position: usize) -> &str {
        self.args.get(position).and_then(Value::as_str).unwrap_or("")
    }

    /// Returns the number of an argument.
    pub(super) fn number(&self, position: usize) -> Result<&crate::Number, FunctionError> {
        let number = self.args.get(position).and_then(Value::as_number);
        number.ok_or_else(|| FunctionError::at(position, "number required"))
    }

    /// Returns the whole number of an argument.
    pub(super) fn integer(&self, position: usize) -> Result<i64, FunctionError> {
        let whole = self.number(position)?.to_i64();
        whole.ok_or_else(|| FunctionError::new(NOT_WHOLE))
    }

    /// Returns the elements of an argument that is a known list, set or tuple; empty for any other argument.
    pub(super) fn items(&self, position: usize) -> &[Value] {
        self.args.get(position).and_then(Value::as_slice).unwrap_or(&[])
    }

    /// Quotes a text for a message, unless it may be secret.
    pub(super) fn quoted(&self, text: &str) -> String {
        self.shown(format_args!("{text:?}"))
    }

    /// Formats a part of an argument for a message. If it may be secret, the result names only its marks.
    pub(super) fn shown(&self, part: impl std::fmt::Display) -> String {
        match self.secrecy() {
            Some(word) => format!("({word} value)"),
            None => part.to_string(),
        }
    }

    /// Returns the adjective for the marks that forbid messages to quote arguments; `None` if quoting is allowed.
    pub(super) fn secrecy(&self) -> Option<&'static str> {
        let has = |kind| self.marked.iter().any(|it| it.has_deep(kind));
        match (has(MarkKind::Ephemeral), has(MarkKind::Sensitive)) {
            (true, true) => Some("ephemeral sensitive"),
            (true, false) => Some("ephemeral"),
            (false, true) => Some("sensitive"),
            (false, false) => None,
        }
    }

    /// Checks that `bytes` bytes may be allocated.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), FunctionError> {
        reserve(self.env, bytes)
    }

    /// Returns the number of bytes that may be allocated.
    pub(super) fn room(&self) -> u64 {
        self.env.budget().map_or(Budget::DEFAULT_LIMIT, Budget::left)
    }

    /// Counts a step of work whose length depends on the arguments.
    pub(super) fn step(&self) -> Result<(), FunctionError> {
        self.env.budget().map_or(Ok(()), Budget::step).map_err(FunctionError::exceeding)
    }

    /// Checks for an interruption by the user. For steps that take long.
    pub(super) fn check_interrupt(&self) -> Result<(), FunctionError> {
        self.env.budget().map_or(Ok(()), Budget::check).map_err(FunctionError::exceeding)
    }

    /// Returns an unknown result of the call's type, with the marks of all values that may become part of it.
    pub(super) fn unknown(&self) -> Value {
        unknown_of(Value::unknown(self.ty.clone()), self.args)
    }
}

impl Function {
    /// Returns the type of the result. An argument may be an unknown value that stands for its type.
    ///
    /// # Errors
    /// Returns an error if no such call can succeed.
    pub fn return_type(&self, args: &[Value]) -> Result<Type, FunctionError> {
        let args = self.prepared(args)?;
        self.typed(&without_marks(&args)).map_err(|error| error.without_secrets_of(&args))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Returns an error if an argument does not fit, or if the function itself fails.
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

    /// Checks that the memory which the function needs is available.
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

    /// Charges the memory of a result, without the parts that it shares with arguments.
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
            // The texts are shared with the argument.
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

    /// Converts the arguments to the types of the parameters. They keep their marks.
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

    /// Returns the argument as the body sees it under the function's mark rule.
    fn stripped(&self, arg: &Value) -> Value {
        match self.rule {
            // The body itself handles marks.
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
        // Without a budget, each call gets a full default budget.
        None => Budget::new(Budget::DEFAULT_LIMIT).reserve(bytes),
    };
    reserved.map_err(FunctionError::exceeding)
}

/// Returns the arguments without any marks. Most have none and are borrowed.
fn without_marks(args: &[Value]) -> Cow<'_, [Value]> {
    match args.iter().any(Value::is_marked_deep) {
        false => Cow::Borrowed(args),
        true => Cow::Owned(args.iter().map(Value::without_all_marks).collect()),
    }
}

/// Returns an unknown value with the marks of all values that may become part of it.
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
