//! Values of the root module's input variables, and their sources.
//!
//! **Invariant:** no type here prints values with `Debug`, because ephemeral values are among them.

use db::{Diagnostic, Location, Summary};
use hir::{At, Entry, Program, item::Variable};
use sorted::TreeMap;
use values::{Str, Value, convert::ConvertError};

/// Raw values for the variables of the root module. The engine, which knows the declarations, converts them,
/// applies defaults and validates.
#[derive(Clone, Default)]
pub struct VariableValues {
    values: TreeMap<Str, GivenValue>,
    /// The outputs of earlier runs of a test, by the name of the run.
    runs: TreeMap<Str, Value>,
}

/// A value with its source.
#[derive(Clone)]
pub struct GivenValue {
    /// The value before conversion. A text from the command line that is not an expression of the declared type
    /// stays a string.
    pub value: Value,
    /// The source, for diagnostics.
    pub source: ValueSource,
}

impl GivenValue {
    /// Returns the diagnostic for a value that cannot be converted to the type of the variable. Names the source
    /// of the value.
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
        Diagnostic::new(Summary::INVALID_VARIABLE_VALUE, detail)
    }
}

/// Returns the error for a root module variable without a value; `None` if the variable has a default.
pub fn missing_value(program: &Program, entry: &Entry) -> Option<Diagnostic> {
    let variable = entry.variable();
    let name = &variable.name;
    let detail = format!(
        "The root module input variable \"{name}\" is not set, and has no default value. Use a \
         -var or -var-file command line argument to provide a value for this variable."
    );
    let diagnostic = Diagnostic::new(Summary::NO_VALUE_FOR_VARIABLE, detail);
    let location = program.locate(entry.origin, At::from(entry.item.header));
    let context = Some(format!("variable \"{name}\""));
    variable.default.is_none().then_some(Diagnostic { location, context, ..diagnostic })
}

/// Warns about deprecated variables of the root module that the user gives values to.
pub(crate) fn given_deprecated(program: &Program, given: &VariableValues) -> Vec<Diagnostic> {
    let entries = given.values.keys().filter_map(|name| program.root().variables.get(name));
    let warning = |entry: &Entry| {
        let variable = entry.variable();
        let (name, message) = (&variable.name, variable.deprecated.as_ref()?);
        let detail = format!(
            "The root variable {name:?} is deprecated with the following message: {message}"
        );
        let location = program.locate(entry.origin, At::from(entry.item.header));
        Some(Diagnostic::new(Summary::DEPRECATED_ROOT_VARIABLE, detail).at(location))
    };
    entries.filter_map(warning).collect()
}

/// The source of the value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueSource {
    /// `-var NAME=…` on the command line.
    CommandLine,
    /// The environment variable `TF_VAR_NAME`.
    Environment,
    /// A variables file, named on the command line or loaded automatically.
    File(Option<Location>),
    /// An interactive prompt.
    Prompt,
    /// A saved plan.
    Plan,
}

impl VariableValues {
    /// Creates an empty set of values.
    pub fn new() -> VariableValues {
        VariableValues::default()
    }

    /// Sets a value and replaces one from an earlier source.
    pub fn set(&mut self, name: impl Into<Str>, value: Value, source: ValueSource) {
        self.values.insert(name.into(), GivenValue { value, source });
    }

    /// Returns the value of a variable; `None` if it has none.
    pub fn get(&self, name: &str) -> Option<&GivenValue> {
        self.values.get(name)
    }

    /// Sets the outputs of an earlier run of a test, as an object.
    pub fn set_run(&mut self, name: impl Into<Str>, outputs: Value) {
        self.runs.insert(name.into(), outputs);
    }

    /// Returns the outputs of an earlier run of a test; `None` if there is no such run.
    pub fn run(&self, name: &str) -> Option<&Value> {
        self.runs.get(name)
    }

    /// The names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &GivenValue)> {
        self.values.iter()
    }

    /// Returns true if the variable has a value.
    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}
