//! Functions of providers: what a name like `provider::name::function` means, and which arguments one takes.
//!
//! What a name means follows from the module's `required_providers`, and which functions there are from the schemas; so
//! analysis, engine and console say the same about a call.

use provider::{FunctionParameter, FunctionSignature};
use values::{Str, Type, Value, convert};

/// The summary where there is no such function.
pub const UNKNOWN: &str = "Unknown provider function";

const FAILED: &str = "Error in function call";
const TOO_FEW: &str = "Not enough function arguments";
const TOO_MANY: &str = "Too many function arguments";

/// The parts of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'n> {
    /// As the module calls the provider.
    pub provider: &'n str,
    /// The configuration of the provider, where it is not the default one.
    pub alias: Option<&'n str>,
    /// The function.
    pub function: &'n str,
}

/// The parts of `provider::name::function` or `provider::name::alias::function`.
pub fn parse(name: &str) -> Option<Name<'_>> {
    let parts: Vec<&str> = name.split("::").collect();
    match parts[..] {
        ["provider", provider, function] => Some(Name { provider, alias: None, function }),
        ["provider", provider, alias, function] => {
            Some(Name { provider, alias: Some(alias), function })
        }
        _ => None,
    }
}

/// What is said of a name that has not the parts of one.
pub fn not_a_name() -> String {
    "A function of a provider is called as provider::NAME::FUNCTION(...): the name of the provider in this module's required_providers, then \
     the function."
        .to_owned()
}

/// What is said where the module has no such provider.
pub fn no_provider(name: &str, provider: &str) -> String {
    format!(
        "There is no function named \"{name}\". Ensure that provider name \"{provider}\" is declared in this module's required_providers block."
    )
}

/// What is said where the provider has no such function, with one that may be meant.
pub fn not_offered<'f>(
    name: Name<'_>,
    offered: impl IntoIterator<Item = &'f str>,
) -> (String, Option<&'f str>) {
    let close = crate::suggest::closest(name.function, offered);
    let hint = crate::suggest::question(close);
    let detail = format!(
        "The function \"{}\" is not available from the provider \"{}\".{hint}",
        name.function, name.provider
    );
    (detail, close)
}

/// What is wrong with the arguments of a call. `Debug` shows no detail: it may quote an argument.
#[derive(Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The argument at fault, counted from 0; none if the number of arguments is wrong.
    pub argument: Option<usize>,
    /// One line.
    pub summary: &'static str,
    /// What is wrong.
    pub detail: String,
    /// The function with the names of its parameters: `provider::a::f(first, rest...)`.
    pub called: String,
    /// Whether the function itself says so, in words that may quote what it was given.
    pub is_quote: bool,
}

impl std::fmt::Debug for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Misfit").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl Misfit {
    /// What a function says that could not work with its arguments.
    pub fn said(
        name: &str,
        signature: &FunctionSignature,
        argument: Option<usize>,
        message: &str,
    ) -> Misfit {
        let message = message.trim_end().trim_end_matches('.');
        if let Some(position) = argument
            && let Some(parameter) = parameter(signature, position)
        {
            let unsuitable = unsuitable(name, signature, position, parameter, message);
            return Misfit { is_quote: true, ..unsuitable };
        }
        let detail = format!("Call to function {name:?} failed: {message}.");
        let called = called(name, signature);
        Misfit { argument: None, summary: FAILED, detail, called, is_quote: true }
    }

    /// The id of the diagnostic.
    pub fn id(&self) -> &'static str {
        match self.summary {
            FAILED => "error-in-function-call",
            TOO_FEW => "not-enough-function-arguments",
            TOO_MANY => "too-many-function-arguments",
            _ => "invalid-function-argument",
        }
    }

    /// What a diagnostic says where secrets are among the arguments.
    pub fn discreet_detail(&self, name: &str) -> String {
        match self.is_quote {
            true => format!(
                "Call to function {name:?} failed. What the function says about it is not shown, because secrets are among its arguments."
            ),
            false => self.detail.clone(),
        }
    }
}

/// What a call can be answered with before the provider is asked.
pub enum Prepared {
    /// The provider is to be asked with these.
    Call(Vec<Value>),
    /// An argument is not known, and the function does not take such.
    Unknown(Type),
}

/// What is wrong with the number of arguments.
pub fn arity(name: &str, signature: &FunctionSignature, count: usize) -> Option<Misfit> {
    let wanted = signature.parameters.len();
    if let Some(missing) = signature.parameters.get(count) {
        let least = if signature.variadic.is_some() { " at least" } else { "" };
        let detail = format!(
            "Function {name:?} expects{least} {wanted} argument(s). Missing value for {:?}.",
            missing.name
        );
        let called = called(name, signature);
        return Some(Misfit { argument: None, summary: TOO_FEW, detail, called, is_quote: false });
    }
    let is_too_many = signature.variadic.is_none() && count > wanted;
    is_too_many.then(|| Misfit {
        argument: Some(wanted),
        summary: TOO_MANY,
        detail: format!("Function {name:?} expects only {wanted} argument(s)."),
        called: called(name, signature),
        is_quote: false,
    })
}

fn called(name: &str, signature: &FunctionSignature) -> String {
    let mut parameters: Vec<&str> = signature.parameters.iter().map(|it| &*it.name).collect();
    let rest = signature.variadic.as_ref().map(|it| format!("{}...", it.name));
    parameters.extend(rest.as_deref());
    format!("{name}({})", parameters.join(", "))
}

/// The parameter that an argument is for.
pub fn parameter(signature: &FunctionSignature, position: usize) -> Option<&FunctionParameter> {
    signature.parameters.get(position).or(signature.variadic.as_ref())
}

/// That an argument does not suit its parameter.
pub fn unsuitable(
    name: &str,
    signature: &FunctionSignature,
    position: usize,
    parameter: &FunctionParameter,
    why: &str,
) -> Misfit {
    let detail = format!("Invalid value for {:?} parameter: {why}.", parameter.name);
    let summary = "Invalid function argument";
    let called = called(name, signature);
    Misfit { argument: Some(position), summary, detail, called, is_quote: false }
}

/// The arguments as the signature wants them.
///
/// # Errors
/// Where there are too few or too many, or one is null or of a type that the function does not take.
pub fn prepare(
    name: &str,
    signature: &FunctionSignature,
    arguments: &[Value],
) -> Result<Prepared, Misfit> {
    if let Some(misfit) = arity(name, signature, arguments.len()) {
        return Err(misfit);
    }
    let misfit =
        |position, parameter: &_, why: &str| unsuitable(name, signature, position, parameter, why);
    let mut converted = Vec::with_capacity(arguments.len());
    let mut is_unknown = false;
    for (position, argument) in arguments.iter().enumerate() {
        let Some(parameter) = parameter(signature, position) else { break };
        if argument.is_null() && !parameter.allow_null_value {
            return Err(misfit(position, parameter, "argument must not be null"));
        }
        let value = convert::convert(argument, &parameter.ty)
            .map_err(|error| misfit(position, parameter, &error.to_string()))?;
        is_unknown |= !parameter.allow_unknown_values && !value.is_wholly_known();
        converted.push(value);
    }
    Ok(match is_unknown {
        true => Prepared::Unknown(signature.returns.clone()),
        false => Prepared::Call(converted),
    })
}

/// What analysis knows of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup {
    /// There is such a function.
    Known(FunctionSignature),
    /// There is none.
    Unknown {
        /// Why.
        detail: String,
        /// The name that may be meant.
        close: Option<Str>,
    },
    /// Nobody knows what the provider has.
    Unseen,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_three_or_four_parts() {
        let name = |provider, alias, function| Some(Name { provider, alias, function });
        assert_eq!(parse("provider::a::f"), name("a", None, "f"));
        assert_eq!(parse("provider::a::b::f"), name("a", Some("b"), "f"));
        for other in ["provider::a", "core::f", "f", "provider::a::b::c::f"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
