//! Functions of providers.

use std::{fmt, sync::Arc};

use provider::{DescriptionKind, FunctionFault, FunctionParameter, FunctionSignature};
use sorted::TreeSet;
use values::{Path, Str, Type, Value};

use crate::{
    diagnostics::Diagnostic,
    model::{AttributeValue, Part, Unknowns},
};

/// A function of a provider. It is pure: the same arguments give the same result, and nothing else happens.
///
/// ```
/// use mayfly_sdk::{Function, FunctionError};
///
/// fn repeat(text: String, count: u16) -> Result<String, FunctionError> {
///     match count {
///         0 => Err(FunctionError::argument(1, "must be at least 1")),
///         count => Ok(text.repeat(count.into())),
///     }
/// }
///
/// let function = Function::new("repeat", repeat)
///     .summary("Repeats a text")
///     .parameter("text", "The text.")
///     .parameter("count", "How often.");
/// ```
#[derive(Clone)]
pub struct Function {
    pub(crate) name: Str,
    pub(crate) signature: FunctionSignature,
    /// The number of parameters that have got a name.
    named: usize,
    /// True if parameters follow [`Rest`].
    has_early_rest: bool,
    body: Body,
}

type Body = Arc<dyn Fn(&[Value]) -> Result<Value, FunctionFault> + Send + Sync>;

/// The error of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionError {
    argument: Option<usize>,
    message: String,
}

impl FunctionError {
    /// An error about the call as a whole.
    pub fn new(message: impl fmt::Display) -> FunctionError {
        FunctionError { argument: None, message: message.to_string() }
    }

    /// An error about the argument with this index, the first having index 0. Name the reason, not the value.
    pub fn argument(index: usize, message: impl fmt::Display) -> FunctionError {
        FunctionError { argument: Some(index), message: message.to_string() }
    }
}

impl From<FunctionError> for FunctionFault {
    fn from(error: FunctionError) -> FunctionFault {
        FunctionFault { argument: error.argument, message: error.message }
    }
}

impl Function {
    /// Creates a function without descriptions. Name its parameters in order with [`Function::parameter`].
    pub fn new<P>(name: impl Into<Str>, body: impl Callable<P>) -> Function {
        Function {
            name: name.into(),
            signature: signature(body.parameters(), body.returns()),
            named: 0,
            has_early_rest: body
                .parameters()
                .iter()
                .rev()
                .skip(1)
                .any(|it| matches!(it, DescribedParameter::Rest(_))),
            body: Arc::new(move |arguments| body.call(arguments)),
        }
    }

    /// Sets the summary of one line.
    #[must_use]
    pub fn summary(mut self, text: &str) -> Function {
        self.signature.summary = text.into();
        self
    }

    /// Marks the descriptions of the function and of its parameters as Markdown.
    #[must_use]
    pub fn markdown(mut self) -> Function {
        let kind = DescriptionKind::Markdown;
        self.signature.description_kind = kind;
        let all = self.signature.parameters.iter_mut().chain(&mut self.signature.variadic);
        all.for_each(|it| it.description_kind = kind);
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Function {
        self.signature.description = text.into();
        self
    }

    /// Marks the function as deprecated. The text names the replacement.
    #[must_use]
    pub fn deprecated(mut self, text: &str) -> Function {
        self.signature.deprecation_message = text.into();
        self
    }

    /// Names and describes the next parameter, also that of [`Rest`].
    #[must_use]
    pub fn parameter(mut self, name: &str, description: &str) -> Function {
        let signature = &mut self.signature;
        let mut all = signature.parameters.iter_mut().chain(&mut signature.variadic);
        if let Some(parameter) = all.nth(self.named) {
            parameter.name = name.into();
            parameter.description = description.into();
        }
        self.named += 1;
        self
    }

    /// The mistake in the definition. `None` if there is none.
    pub(crate) fn problem(&self) -> Option<String> {
        let signature = &self.signature;
        let count = signature.parameters.len() + usize::from(signature.variadic.is_some());
        if self.has_early_rest {
            return Some("parameters follow Rest, which takes all arguments".to_owned());
        }
        if count != self.named {
            let named = self.named;
            return Some(format!(
                "it has {count} parameters, but {named} are named by Function::parameter"
            ));
        }
        let mut names = TreeSet::new();
        let mut all = signature.parameters.iter().chain(&signature.variadic);
        let twice = all.find(|it| !names.insert(&it.name))?;
        Some(format!("two parameters have the name {:?}", twice.name))
    }

    /// Computes the result.
    ///
    /// # Errors
    /// If the number or the values of the arguments are unsuitable.
    pub(crate) fn call(&self, arguments: &[Value]) -> Result<Value, FunctionFault> {
        let (given, named) = (arguments.len(), self.signature.parameters.len());
        match if self.signature.variadic.is_some() { given >= named } else { given == named } {
            true => (self.body)(arguments),
            false => {
                let least = if self.signature.variadic.is_some() { "at least " } else { "" };
                let noun = if named == 1 { "argument" } else { "arguments" };
                let message = format!("{:?} takes {least}{named} {noun}, not {given}", self.name);
                Err(FunctionError::new(message).into())
            }
        }
    }
}

/// All further arguments, as the type of the last parameter of a function.
pub struct Rest<T>(pub Vec<T>);

/// The type of a parameter: an [`AttributeValue`], or [`Rest`] in the last place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for a parameter of a provider function",
    note = "a parameter is an `AttributeValue`, or `Rest<T>` for all further arguments"
)]
pub trait Parameter: Sized {
    /// The parameter of the signature, without a name. True if it stands for all further arguments.
    #[doc(hidden)]
    fn describe() -> DescribedParameter;

    /// Takes the argument or arguments from those that are left.
    #[doc(hidden)]
    fn take(arguments: &mut Arguments<'_>) -> Result<Self, FunctionFault>;
}

/// A parameter that is being described.
#[doc(hidden)]
pub enum DescribedParameter {
    /// One argument.
    One(FunctionParameter),
    /// All further arguments.
    Rest(FunctionParameter),
}

/// The arguments that were not taken yet.
#[doc(hidden)]
pub struct Arguments<'a> {
    values: &'a [Value],
    taken: usize,
}

impl Arguments<'_> {
    fn next<T: AttributeValue>(&mut self) -> Result<T, FunctionFault> {
        let index = self.taken;
        let value = self.values.get(self.taken).cloned().unwrap_or_else(|| Value::null(T::ty()));
        self.taken += 1;
        let part = Part { value: &value, path: Path::root(), unknowns: Unknowns::Refused };
        // A core ends the sentence.
        let text = |it: &Diagnostic| it.detail.trim().trim_end_matches('.').to_owned();
        let fault = |it: Diagnostic| FunctionError::argument(index, text(&it)).into();
        T::decode(&part).map_err(fault)
    }
}

fn parameter<T: AttributeValue>() -> FunctionParameter {
    FunctionParameter {
        name: Str::default(),
        ty: T::ty(),
        allow_null_value: T::HAS_NULL,
        allow_unknown_values: T::HAS_UNKNOWN,
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
    }
}

impl<T: AttributeValue> Parameter for T {
    fn describe() -> DescribedParameter {
        DescribedParameter::One(parameter::<T>())
    }

    fn take(arguments: &mut Arguments<'_>) -> Result<T, FunctionFault> {
        arguments.next()
    }
}

impl<T: AttributeValue> Parameter for Rest<T> {
    fn describe() -> DescribedParameter {
        DescribedParameter::Rest(parameter::<T>())
    }

    fn take(arguments: &mut Arguments<'_>) -> Result<Rest<T>, FunctionFault> {
        let left = arguments.values.len().saturating_sub(arguments.taken);
        (0..left).map(|_| arguments.next()).collect::<Result<_, _>>().map(Rest)
    }
}

/// A Rust function or closure that can be the body of a [`Function`]: its parameters are [`Parameter`]s, at most six,
/// and it returns a `Result` of an [`AttributeValue`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the body of a provider function",
    note = "a body takes at most six parameters that are `AttributeValue`s, the last one possibly `Rest<T>`, and \
            returns `Result<R, FunctionError>`, where `R` is an `AttributeValue`"
)]
pub trait Callable<P>: Send + Sync + 'static {
    /// The parameters without names and descriptions.
    #[doc(hidden)]
    fn parameters(&self) -> Vec<DescribedParameter>;

    /// The type of the result.
    #[doc(hidden)]
    fn returns(&self) -> Type;

    /// Computes the result.
    #[doc(hidden)]
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionFault>;
}

fn signature(parameters: Vec<DescribedParameter>, returns: Type) -> FunctionSignature {
    let mut signature = FunctionSignature {
        parameters: Vec::new(),
        variadic: None,
        returns,
        summary: Str::default(),
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: Str::default(),
    };
    for parameter in parameters {
        match parameter {
            DescribedParameter::One(it) => signature.parameters.push(it),
            DescribedParameter::Rest(it) => signature.variadic = Some(it),
        }
    }
    signature
}

macro_rules! callable {
    ($($parameter:ident),*) => {
        impl<F, R, $($parameter),*> Callable<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> Result<R, FunctionError> + Send + Sync + 'static,
            R: AttributeValue,
            $($parameter: Parameter),*
        {
            fn parameters(&self) -> Vec<DescribedParameter> {
                vec![$($parameter::describe()),*]
            }

            fn returns(&self) -> Type {
                R::ty()
            }

            fn call(&self, values: &[Value]) -> Result<Value, FunctionFault> {
                let arguments = &mut Arguments { values, taken: 0 };
                let result = self($($parameter::take(arguments)?),*);
                debug_assert!(arguments.taken >= values.len(), "the count was checked before");
                Ok(result.map_err(FunctionFault::from)?.encode())
            }
        }
    };
}

callable!();
callable!(A);
callable!(A, B);
callable!(A, B, C);
callable!(A, B, C, D);
callable!(A, B, C, D, E);
callable!(A, B, C, D, E, G);
