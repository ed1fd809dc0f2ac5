//! Values of root input variables, and where each came from.
//!
//! **Invariant:** nothing here has `Debug` with a value in it; ephemeral values are among them.

use std::collections::BTreeMap;

use db::{Diagnostic, Location};
use hir::{At, Entry, Program, item::Variable};
use values::{Str, Value, convert::ConvertError};

/// Raw values for the root module's variables, as they were found; conversion, defaults and validation happen in the
/// engine, which knows the declarations.
#[derive(Clone, Default)]
pub struct VariableValues {
    values: BTreeMap<Str, GivenValue>,
}

/// One value with its source.
#[derive(Clone)]
pub struct GivenValue {
    /// The value, without conversion: a string for what was text on a command line and could not be read as an
    /// expression of the declared type, see [`GivenValue::is_text`].
    pub value: Value,
    /// Where it came from, for messages.
    pub source: ValueSource,
}

impl GivenValue {
    /// That the value is not of the variable's type, with the source that it came from.
    pub(crate) fn unsuitable(&self, variable: &Variable, error: &ConvertError) -> Diagnostic {
        let name = &variable.name;
        let what = match &self.source {
            ValueSource::CommandLine => {
                format!("Unsuitable value for var.{name} set using -var=\"{name}=...\"")
            }
            ValueSource::Environment => format!(
                "Unsuitable value for var.{name} set using the TF_VAR_{name} environment variable"
            ),
            ValueSource::Prompt => {
                format!("Unsuitable value for var.{name} set using an interactive prompt")
            }
            ValueSource::Plan => format!("Unsuitable value for var.{name} in the plan file"),
            ValueSource::File(_) => hir::variables_file::not_suitable(variable),
        };
        let detail = format!("{what}: {}.", error.message);
        Diagnostic::error("invalid-variable-value", "Invalid value for input variable", detail)
    }
}

/// The error about a variable of the root module that has no value; `None` if it has a default.
pub fn missing_value(program: &Program, entry: &Entry) -> Option<Diagnostic> {
    let variable = entry.variable();
    let name = &variable.name;
    let detail = format!(
        "The root module input variable \"{name}\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable."
    );
    let diagnostic =
        Diagnostic::error("no-value-for-variable", "No value for required variable", detail);
    let location = program.locate(entry.origin, At::from(entry.item.header));
    let context = Some(format!("variable \"{name}\""));
    variable.default.is_none().then_some(Diagnostic { location, context, ..diagnostic })
}

/// Where the value of a variable came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueSource {
    /// `-var NAME=…` on the command line.
    CommandLine,
    /// `TF_VAR_NAME`.
    Environment,
    /// A variables file named on the command line or loaded by itself.
    File(Option<Location>),
    /// Asked of the user.
    Prompt,
    /// Kept by a saved plan.
    Plan,
}

impl VariableValues {
    /// No values.
    pub fn new() -> VariableValues {
        VariableValues::default()
    }

    /// Sets a value; a later source replaces an earlier one.
    pub fn set(&mut self, name: impl Into<Str>, value: Value, source: ValueSource) {
        self.values.insert(name.into(), GivenValue { value, source });
    }

    /// The value of a variable, if one was given.
    pub fn get(&self, name: &str) -> Option<&GivenValue> {
        self.values.get(name)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &GivenValue)> {
        self.values.iter()
    }

    /// Whether a value was given.
    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}
