//! Values of root input variables, and where each came from.
//!
//! **Invariant:** nothing here has `Debug` with a value in it; ephemeral values are among them.

use std::collections::BTreeMap;

use db::Location;
use values::{Str, Value};

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
