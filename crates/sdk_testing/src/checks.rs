//! Steps of a test and their expectations.

use serde_json::Value as Json;

use crate::outcome::{Action, Outcome};

/// A step of a [`crate::Case`] with its expectations.
pub struct Step {
    pub(crate) kind: Kind,
    pub(crate) checks: Vec<Check>,
    /// True if a plan after the step may have changes.
    pub(crate) is_unsettled: bool,
    /// Attributes that an import need not find.
    pub(crate) ignored: Vec<String>,
}

/// The kind of a step.
pub(crate) enum Kind {
    Apply(String),
    Plan(String),
    Fail { configuration: String, text: String },
    Import { address: String, id: String },
}

type Check = Box<dyn Fn(&Outcome) -> Result<(), String>>;

impl Step {
    /// Applies a configuration. A second plan must have no changes.
    #[must_use]
    pub fn apply(configuration: &str) -> Step {
        Step::of(Kind::Apply(configuration.to_owned()))
    }

    /// Plans a configuration without applying it.
    #[must_use]
    pub fn plan(configuration: &str) -> Step {
        Step::of(Kind::Plan(configuration.to_owned()))
    }

    /// Applies a configuration, which must fail with an error that contains this text: in its summary, its detail, or
    /// across `summary: detail`. Line breaks count as spaces.
    #[must_use]
    pub fn fails(configuration: &str, text: &str) -> Step {
        let (configuration, text) = (configuration.to_owned(), text.to_owned());
        Step::of(Kind::Fail { configuration, text })
    }

    /// Imports an object that an earlier step has created into an empty state, with the configuration of the last
    /// applied step. The imported object must equal the one in the state.
    #[must_use]
    pub fn import(address: &str, id: &str) -> Step {
        Step::of(Kind::Import { address: address.to_owned(), id: id.to_owned() })
    }

    fn of(kind: Kind) -> Step {
        Step { kind, checks: Vec::new(), is_unsettled: false, ignored: Vec::new() }
    }

    /// Expects the value of an attribute; see [`Outcome::attribute`] for paths.
    #[must_use]
    pub fn attribute(self, address: &str, path: &str, expected: impl Into<Json>) -> Step {
        let (address, path, expected) = (address.to_owned(), path.to_owned(), expected.into());
        self.check(move |outcome| {
            let found = outcome.attribute(&address, &path);
            same(&format!("{address}: {path}"), found, &expected)
        })
    }

    /// Expects an attribute that is not null.
    #[must_use]
    pub fn attribute_is_set(self, address: &str, path: &str) -> Step {
        let (address, path) = (address.to_owned(), path.to_owned());
        self.check(move |outcome| match outcome.attribute(&address, &path) {
            Some(found) if !found.is_null() => Ok(()),
            _ => Err(format!("{address}: {path} is not set")),
        })
    }

    /// Expects the value of an output.
    #[must_use]
    pub fn output(self, name: &str, expected: impl Into<Json>) -> Step {
        let (name, expected) = (name.to_owned(), expected.into());
        self.check(move |outcome| {
            same(&format!("output {name}"), outcome.outputs.get(&name), &expected)
        })
    }

    /// Expects the planned action for an object.
    #[must_use]
    pub fn action(self, address: &str, expected: Action) -> Step {
        let address = address.to_owned();
        self.check(move |outcome| match outcome.actions.get(&address) {
            Some(found) if *found == expected => Ok(()),
            found => Err(format!("{address}: the planned action is {found:?}, not {expected:?}")),
        })
    }

    /// Expects a warning that contains this text.
    #[must_use]
    pub fn warns(self, text: &str) -> Step {
        let text = text.to_owned();
        self.check(move |outcome| match outcome.warnings.iter().any(|it| contains(it, &text)) {
            true => Ok(()),
            false => {
                Err(format!("no warning has the text {text:?}; warnings: {:#?}", outcome.warnings))
            }
        })
    }

    /// Adds an expectation. Its error says what is wrong.
    #[must_use]
    pub fn check(mut self, check: impl Fn(&Outcome) -> Result<(), String> + 'static) -> Step {
        self.checks.push(Box::new(check));
        self
    }

    /// Permits changes in a plan after this step, and differences between the objects and the state, for objects that
    /// change by themselves.
    #[must_use]
    pub fn unsettled(mut self) -> Step {
        self.is_unsettled = true;
        self
    }

    /// Names an attribute that an import does not find, such as a write-only version.
    #[must_use]
    pub fn ignoring(mut self, attribute: &str) -> Step {
        self.ignored.push(attribute.to_owned());
        self
    }
}

/// Returns true if `text` is a part of a diagnostic. Cores break lines at different places.
pub(crate) fn contains(diagnostic: &str, text: &str) -> bool {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line(diagnostic).contains(&one_line(text))
}

/// Compares JSON. Numbers are compared by value. What is missing is not even null.
fn same(what: &str, found: Option<&Json>, expected: &Json) -> Result<(), String> {
    let is_same = match (found, expected) {
        (Some(Json::Number(found)), Json::Number(expected)) => {
            let whole = found.as_i64().zip(expected.as_i64());
            whole.map_or(found.as_f64() == expected.as_f64(), |(found, expected)| found == expected)
        }
        (found, expected) => found == Some(expected),
    };
    let shown = found.map_or_else(|| "missing".to_owned(), Json::to_string);
    if is_same { Ok(()) } else { Err(format!("{what} is {shown}, not {expected}")) }
}
