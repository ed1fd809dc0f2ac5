//! Provider functions: parses names like `provider::name::function`, and checks arguments against signatures.
//!
//! The module's `required_providers` gives the provider of a name, and the provider's schema gives its functions.
//! A configured provider may offer more functions than its schema has, and an alias selects one of the
//! configurations of a provider: [`is_of_configuration`]. Such a call depends on the configuration.
//! The analysis, the engine and the console share this code, so they report the same diagnostics for a call.

use db::Summary;
use provider::{FunctionParameter, FunctionSignature};
use sorted::SortedMap;
use values::{Str, Type, Value, convert};

use crate::expr::{Expr, ExprId, Exprs};

/// The parts of a provider function's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'n> {
    /// The local name of the provider in the module.
    pub provider: &'n str,
    /// The alias of the provider configuration. `None` for the default configuration.
    pub alias: Option<&'n str>,
    /// The name of the function.
    pub function: &'n str,
}

/// Parses `provider::name::function` or `provider::name::alias::function`. `None` if the name has another form.
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

/// Returns true if only a configured provider can answer the call. `declared` are the functions of the schema, which
/// an unconfigured provider can answer too.
pub fn is_of_configuration(name: Name<'_>, declared: &SortedMap<Str, FunctionSignature>) -> bool {
    name.alias.is_some() || !declared.contains_key(name.function)
}

/// The calls of provider functions among the expressions of an item.
pub fn calls(exprs: &Exprs) -> impl Iterator<Item = (ExprId, Name<'_>)> {
    let all = exprs.calls_providers().then(|| exprs.iter()).into_iter().flatten();
    all.filter_map(|(id, expr)| match expr {
        Expr::Call(call) => Some((id, parse(&call.name)?)),
        _ => None,
    })
}

/// The detail of the diagnostic for a name that [`parse`] rejects.
pub fn not_a_name() -> String {
    "A function of a provider is called as provider::NAME::FUNCTION(...): the name of the provider \
     in this module's required_providers, then the function."
        .to_owned()
}

/// The detail of the diagnostic for a provider that the module does not declare.
pub fn no_provider(name: &str, provider: &str) -> String {
    format!(
        "There is no function named \"{name}\". Ensure that provider name \"{provider}\" is \
         declared in this module's required_providers block."
    )
}

/// The detail of the diagnostic for a function that the provider does not have, and the closest name among
/// `offered`.
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

/// The detail of the diagnostic for a function that the configured provider does not have among the `offered` ones.
pub fn not_registered<'f>(
    name: &str,
    parts: Name<'_>,
    offered: impl IntoIterator<Item = &'f str>,
) -> String {
    let hint = crate::suggest::question(crate::suggest::closest(parts.function, offered));
    format!("Function \"{name}\" was not registered by provider.{hint}")
}

/// A problem with the arguments of a call. `Debug` omits the detail, which may quote an argument.
#[derive(Clone, PartialEq, Eq)]
pub struct ArgumentError {
    /// The index of the argument at fault. `None` if the problem is not about one argument.
    pub argument: Option<usize>,
    /// The summary of the diagnostic.
    pub summary: Summary,
    /// The detail of the diagnostic.
    pub detail: String,
    /// The function with the names of its parameters: `provider::a::f(first, rest...)`.
    pub called: String,
    /// Set if the detail quotes the provider's own error message, which may contain argument values.
    pub is_quote: bool,
}

impl std::fmt::Debug for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArgumentError").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl ArgumentError {
    /// The error that the provider function returned for its arguments. `argument` is the index that the provider
    /// blames.
    pub fn returned(
        name: &str,
        signature: &FunctionSignature,
        argument: Option<usize>,
        message: &str,
    ) -> ArgumentError {
        let message = message.trim_end().trim_end_matches('.');
        if let Some(position) = argument
            && let Some(parameter) = parameter(signature, position)
        {
            let unsuitable = unsuitable(name, signature, position, parameter, message);
            return ArgumentError { is_quote: true, ..unsuitable };
        }
        let detail = format!("Call to function {name:?} failed: {message}.");
        let called = called(name, signature);
        ArgumentError {
            argument: None,
            summary: Summary::ERROR_IN_FUNCTION_CALL,
            detail,
            called,
            is_quote: true,
        }
    }

    /// The detail of the diagnostic if an argument is secret: omits the provider's message.
    pub fn redacted_detail(&self, name: &str) -> String {
        match self.is_quote {
            true => format!(
                "Call to function {name:?} failed. The function's error message is not shown, \
                 because some of its arguments are secret."
            ),
            false => self.detail.clone(),
        }
    }
}

/// The outcome of [`prepare`].
pub enum Prepared {
    /// The converted arguments, for the call to the provider.
    Call(Vec<Value>),
    /// The result is unknown: an argument is unknown and its parameter does not accept unknown values. Holds the
    /// return type.
    Unknown(Type),
}

/// Returns the problem if the number of arguments is wrong.
pub fn arity(name: &str, signature: &FunctionSignature, count: usize) -> Option<ArgumentError> {
    let wanted = signature.parameters.len();
    if let Some(missing) = signature.parameters.get(count) {
        let least = if signature.variadic.is_some() { " at least" } else { "" };
        let detail = format!(
            "Function {name:?} expects{least} {wanted} argument(s). Missing value for {:?}.",
            missing.name
        );
        let called = called(name, signature);
        return Some(ArgumentError {
            argument: None,
            summary: Summary::NOT_ENOUGH_FUNCTION_ARGUMENTS,
            detail,
            called,
            is_quote: false,
        });
    }
    let is_too_many = signature.variadic.is_none() && count > wanted;
    is_too_many.then(|| ArgumentError {
        argument: Some(wanted),
        summary: Summary::TOO_MANY_FUNCTION_ARGUMENTS,
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

/// The parameter that the argument at `position` belongs to. `None` if there are too many arguments.
pub fn parameter(signature: &FunctionSignature, position: usize) -> Option<&FunctionParameter> {
    signature.parameters.get(position).or(signature.variadic.as_ref())
}

/// The problem of an argument that does not suit its parameter.
pub fn unsuitable(
    name: &str,
    signature: &FunctionSignature,
    position: usize,
    parameter: &FunctionParameter,
    why: &str,
) -> ArgumentError {
    let detail = format!("Invalid value for {:?} parameter: {why}.", parameter.name);
    let summary = Summary::INVALID_FUNCTION_ARGUMENT;
    let called = called(name, signature);
    ArgumentError { argument: Some(position), summary, detail, called, is_quote: false }
}

/// Converts the arguments to the parameter types.
///
/// # Errors
/// If there are too few or too many arguments, or one is null or has a type that the function does not accept.
pub fn prepare(
    name: &str,
    signature: &FunctionSignature,
    arguments: &[Value],
) -> Result<Prepared, ArgumentError> {
    if let Some(error) = arity(name, signature, arguments.len()) {
        return Err(error);
    }
    let invalid =
        |position, parameter: &_, why: &str| unsuitable(name, signature, position, parameter, why);
    let mut converted = Vec::with_capacity(arguments.len());
    let mut is_unknown = false;
    for (position, argument) in arguments.iter().enumerate() {
        let Some(parameter) = parameter(signature, position) else { break };
        if argument.is_null() && !parameter.allow_null_value {
            return Err(invalid(position, parameter, "argument must not be null"));
        }
        let value = convert::convert(argument, &parameter.ty)
            .map_err(|error| invalid(position, parameter, &error.to_string()))?;
        is_unknown |= !parameter.allow_unknown_values && !value.is_wholly_known();
        converted.push(value);
    }
    Ok(match is_unknown {
        true => Prepared::Unknown(signature.returns.clone()),
        false => Prepared::Call(converted),
    })
}

/// The result of looking up a provider function during analysis.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup {
    /// The function exists.
    Known(FunctionSignature),
    /// The provider has no such function, or the module has no such provider.
    Unknown {
        /// The detail of the diagnostic.
        detail: String,
        /// The suggested name. `None` if no name is close.
        close: Option<Str>,
    },
    /// The functions of the provider are not known, so the analysis accepts any name.
    NotLoaded,
    /// The schema does not have the function, but the configured provider may offer it.
    OfConfiguration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_function_name_has_three_or_four_parts() {
        let name = |provider, alias, function| Some(Name { provider, alias, function });
        assert_eq!(parse("provider::a::f"), name("a", None, "f"));
        assert_eq!(parse("provider::a::b::f"), name("a", Some("b"), "f"));
        for other in ["provider::a", "core::f", "f", "provider::a::b::c::f"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
