//! The meaning of properties in each block type of the language.

/// The interpretation of strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// The string is a template.
    Template,
    /// The string is an expression: a reference, a keyword or a type.
    Raw,
    /// The string is literal.
    Literal,
    /// The string is literal, except for references to provider configurations.
    Requirement,
}

/// The properties of a JSON object that is the body of a block.
pub(super) struct Shape {
    /// Arguments whose strings are expressions.
    pub(super) raw: &'static [&'static str],
    /// Arguments whose strings are literal.
    pub(super) literal: &'static [&'static str],
    /// Block types, each with its number of labels.
    pub(super) blocks: &'static [(&'static str, usize, &'static Shape)],
    /// The interpretation of all other properties.
    pub(super) rest: Rest,
}

/// The interpretation of properties that a shape does not name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// Arguments.
    Arguments(Mode),
    /// Arguments or blocks, as the schema says.
    Schema,
    /// Errors.
    Nothing,
}

/// The top level of a file.
pub(super) static FILE: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[
        ("variable", 1, &VARIABLE),
        ("output", 1, &OUTPUT),
        ("locals", 0, &PLAIN),
        ("resource", 2, &RESOURCE),
        ("data", 2, &RESOURCE),
        ("ephemeral", 2, &RESOURCE),
        ("module", 1, &MODULE),
        ("provider", 1, &PROVIDER),
        ("terraform", 0, &TERRAFORM),
        ("check", 1, &CHECK),
        ("moved", 0, &MOVED),
        ("import", 0, &IMPORT),
        ("removed", 0, &REMOVED),
        ("language", 0, &PLAIN),
    ],
    rest: Rest::Nothing,
};

static PLAIN: Shape =
    Shape { raw: &[], literal: &[], blocks: &[], rest: Rest::Arguments(Mode::Template) };

static SCHEMA: Shape =
    Shape { raw: &[], literal: &[], blocks: &[("dynamic", 1, &DYNAMIC)], rest: Rest::Schema };

static VARIABLE: Shape = Shape {
    raw: &["type"],
    literal: &["default", "description", "deprecated"],
    blocks: &[("validation", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static OUTPUT: Shape = Shape {
    raw: &["depends_on"],
    literal: &["description", "deprecated"],
    blocks: &[("precondition", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static RESOURCE: Shape = Shape {
    raw: &["depends_on", "provider"],
    literal: &[],
    blocks: &[
        ("lifecycle", 0, &LIFECYCLE),
        ("provisioner", 1, &PROVISIONER),
        ("connection", 0, &PLAIN),
        ("dynamic", 1, &DYNAMIC),
        ("_", 0, &SCHEMA),
    ],
    rest: Rest::Schema,
};

static LIFECYCLE: Shape = Shape {
    raw: &["ignore_changes", "replace_triggered_by"],
    literal: &[],
    blocks: &[("precondition", 0, &PLAIN), ("postcondition", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static PROVISIONER: Shape = Shape {
    raw: &["when", "on_failure"],
    literal: &[],
    blocks: &[("connection", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static DYNAMIC: Shape = Shape {
    raw: &["iterator"],
    literal: &[],
    blocks: &[("content", 0, &SCHEMA)],
    rest: Rest::Arguments(Mode::Template),
};

static MODULE: Shape = Shape {
    raw: &["depends_on", "providers"],
    literal: &[],
    blocks: &[("lifecycle", 0, &LIFECYCLE)],
    rest: Rest::Arguments(Mode::Template),
};

static PROVIDER: Shape = Shape {
    raw: &[],
    literal: &["alias", "version"],
    blocks: &[("dynamic", 1, &DYNAMIC), ("_", 0, &SCHEMA)],
    rest: Rest::Schema,
};

static TERRAFORM: Shape = Shape {
    raw: &["experiments", "language"],
    literal: &["required_version"],
    blocks: &[
        ("required_providers", 0, &REQUIRED_PROVIDERS),
        ("backend", 1, &SCHEMA),
        ("cloud", 0, &SCHEMA),
        ("encryption", 0, &ENCRYPTION),
        ("provider_meta", 1, &PLAIN),
    ],
    rest: Rest::Arguments(Mode::Template),
};

static ENCRYPTION: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[
        ("key_provider", 2, &KEYS),
        ("method", 2, &KEYS),
        ("state", 0, &TARGET),
        ("plan", 0, &TARGET),
        ("remote_state_data_sources", 0, &DATA_SOURCES),
    ],
    rest: Rest::Nothing,
};

static KEYS: Shape =
    Shape { raw: &["keys", "chain"], literal: &[], blocks: &[], rest: Rest::Schema };

static TARGET: Shape = Shape {
    raw: &["method"],
    literal: &[],
    blocks: &[("fallback", 0, &TARGET)],
    rest: Rest::Arguments(Mode::Template),
};

static DATA_SOURCES: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[("default", 0, &TARGET), ("remote_state_data_source", 1, &TARGET)],
    rest: Rest::Nothing,
};

static REQUIRED_PROVIDERS: Shape =
    Shape { raw: &[], literal: &[], blocks: &[], rest: Rest::Arguments(Mode::Requirement) };

static CHECK: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[("data", 2, &RESOURCE), ("assert", 0, &PLAIN)],
    rest: Rest::Nothing,
};

static MOVED: Shape =
    Shape { raw: &["from", "to"], literal: &[], blocks: &[], rest: Rest::Nothing };

static IMPORT: Shape = Shape {
    raw: &["to", "provider"],
    literal: &[],
    blocks: &[],
    rest: Rest::Arguments(Mode::Template),
};

static REMOVED: Shape = Shape {
    raw: &["from"],
    literal: &[],
    blocks: &[("lifecycle", 0, &LIFECYCLE), ("provisioner", 1, &PROVISIONER)],
    rest: Rest::Nothing,
};

impl Shape {
    /// The shape and the number of labels of a block type. `None` if the property is not a block.
    pub(super) fn block(&self, name: &str) -> Option<(usize, &'static Shape)> {
        let mut blocks = self.blocks.iter();
        blocks.find(|(kind, ..)| *kind == name).map(|(_, labels, shape)| (*labels, *shape))
    }

    /// The interpretation of an argument's strings. `None` if the property is not an argument.
    pub(super) fn mode(&self, name: &str) -> Option<Mode> {
        match self.rest {
            _ if self.raw.contains(&name) => Some(Mode::Raw),
            _ if self.literal.contains(&name) => Some(Mode::Literal),
            Rest::Arguments(mode) => Some(mode),
            Rest::Schema => Some(Mode::Template),
            Rest::Nothing => None,
        }
    }

    /// All names of the shape, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let arguments = self.raw.iter().chain(self.literal).copied();
        arguments.chain(self.blocks.iter().map(|(kind, ..)| *kind))
    }

    /// The shape of a body that a schema describes.
    pub(super) fn of_schema() -> &'static Shape {
        &SCHEMA
    }
}
