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
    /// The block types.
    pub(super) blocks: &'static [NestedShape],
    /// The interpretation of all other properties.
    pub(super) rest: Rest,
}

/// A block type in the body of a block.
pub(super) struct NestedShape {
    name: &'static str,
    /// The number of labels.
    labels: usize,
    shape: &'static Shape,
}

const fn nested(name: &'static str, labels: usize, shape: &'static Shape) -> NestedShape {
    NestedShape { name, labels, shape }
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
        nested("variable", 1, &VARIABLE),
        nested("output", 1, &OUTPUT),
        nested("locals", 0, &PLAIN),
        nested("resource", 2, &RESOURCE),
        nested("data", 2, &RESOURCE),
        nested("ephemeral", 2, &RESOURCE),
        nested("module", 1, &MODULE),
        nested("provider", 1, &PROVIDER),
        nested("terraform", 0, &TERRAFORM),
        nested("check", 1, &CHECK),
        nested("moved", 0, &MOVED),
        nested("import", 0, &IMPORT),
        nested("removed", 0, &REMOVED),
        nested("language", 0, &PLAIN),
    ],
    rest: Rest::Nothing,
};

/// The top level of a test file.
pub(super) static TEST_FILE: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[
        nested("run", 1, &RUN),
        nested("variables", 0, &PLAIN),
        nested("provider", 1, &PROVIDER),
        nested("mock_provider", 1, &MOCK_PROVIDER),
        nested("override_resource", 0, &OVERRIDE),
        nested("override_data", 0, &OVERRIDE),
        nested("override_module", 0, &OVERRIDE),
    ],
    rest: Rest::Nothing,
};

static RUN: Shape = Shape {
    raw: &["command", "providers", "expect_failures"],
    literal: &[],
    blocks: &[
        nested("plan_options", 0, &PLAN_OPTIONS),
        nested("assert", 0, &PLAIN),
        nested("variables", 0, &PLAIN),
        nested("module", 0, &TEST_MODULE),
        nested("override_resource", 0, &OVERRIDE),
        nested("override_data", 0, &OVERRIDE),
        nested("override_module", 0, &OVERRIDE),
    ],
    rest: Rest::Nothing,
};

static PLAN_OPTIONS: Shape = Shape {
    raw: &["mode", "replace", "target"],
    literal: &[],
    blocks: &[],
    rest: Rest::Arguments(Mode::Template),
};

static TEST_MODULE: Shape =
    Shape { raw: &[], literal: &["source", "version"], blocks: &[], rest: Rest::Nothing };

static OVERRIDE: Shape =
    Shape { raw: &["target"], literal: &[], blocks: &[], rest: Rest::Arguments(Mode::Template) };

static MOCK_PROVIDER: Shape = Shape {
    raw: &[],
    literal: &["alias"],
    blocks: &[
        nested("mock_resource", 1, &PLAIN),
        nested("mock_data", 1, &PLAIN),
        nested("override_resource", 0, &OVERRIDE),
        nested("override_data", 0, &OVERRIDE),
    ],
    rest: Rest::Arguments(Mode::Template),
};

static PLAIN: Shape =
    Shape { raw: &[], literal: &[], blocks: &[], rest: Rest::Arguments(Mode::Template) };

static SCHEMA: Shape =
    Shape { raw: &[], literal: &[], blocks: &[nested("dynamic", 1, &DYNAMIC)], rest: Rest::Schema };

static VARIABLE: Shape = Shape {
    raw: &["type"],
    literal: &["default", "description", "deprecated"],
    blocks: &[nested("validation", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static OUTPUT: Shape = Shape {
    raw: &["depends_on"],
    literal: &["description", "deprecated"],
    blocks: &[nested("precondition", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static RESOURCE: Shape = Shape {
    raw: &["depends_on", "provider"],
    literal: &[],
    blocks: &[
        nested("lifecycle", 0, &LIFECYCLE),
        nested("provisioner", 1, &PROVISIONER),
        nested("connection", 0, &PLAIN),
        nested("dynamic", 1, &DYNAMIC),
        nested("_", 0, &SCHEMA),
    ],
    rest: Rest::Schema,
};

static LIFECYCLE: Shape = Shape {
    raw: &["ignore_changes", "replace_triggered_by"],
    literal: &[],
    blocks: &[nested("precondition", 0, &PLAIN), nested("postcondition", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static PROVISIONER: Shape = Shape {
    raw: &["when", "on_failure"],
    literal: &[],
    blocks: &[nested("connection", 0, &PLAIN)],
    rest: Rest::Arguments(Mode::Template),
};

static DYNAMIC: Shape = Shape {
    raw: &["iterator"],
    literal: &[],
    blocks: &[nested("content", 0, &SCHEMA)],
    rest: Rest::Arguments(Mode::Template),
};

static MODULE: Shape = Shape {
    raw: &["depends_on", "providers"],
    literal: &[],
    blocks: &[nested("lifecycle", 0, &LIFECYCLE)],
    rest: Rest::Arguments(Mode::Template),
};

static PROVIDER: Shape = Shape {
    raw: &[],
    literal: &["alias", "version"],
    blocks: &[nested("dynamic", 1, &DYNAMIC), nested("_", 0, &SCHEMA)],
    rest: Rest::Schema,
};

static TERRAFORM: Shape = Shape {
    raw: &["experiments", "language"],
    literal: &["required_version"],
    blocks: &[
        nested("required_providers", 0, &REQUIRED_PROVIDERS),
        nested("backend", 1, &SCHEMA),
        nested("cloud", 0, &SCHEMA),
        nested("encryption", 0, &ENCRYPTION),
        nested("provider_meta", 1, &PLAIN),
    ],
    rest: Rest::Arguments(Mode::Template),
};

static ENCRYPTION: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[
        nested("key_provider", 2, &KEYS),
        nested("method", 2, &KEYS),
        nested("state", 0, &TARGET),
        nested("plan", 0, &TARGET),
        nested("remote_state_data_sources", 0, &DATA_SOURCES),
    ],
    rest: Rest::Nothing,
};

static KEYS: Shape =
    Shape { raw: &["keys", "chain"], literal: &[], blocks: &[], rest: Rest::Schema };

static TARGET: Shape = Shape {
    raw: &["method"],
    literal: &[],
    blocks: &[nested("fallback", 0, &TARGET)],
    rest: Rest::Arguments(Mode::Template),
};

static DATA_SOURCES: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[nested("default", 0, &TARGET), nested("remote_state_data_source", 1, &TARGET)],
    rest: Rest::Nothing,
};

static REQUIRED_PROVIDERS: Shape =
    Shape { raw: &[], literal: &[], blocks: &[], rest: Rest::Arguments(Mode::Requirement) };

static CHECK: Shape = Shape {
    raw: &[],
    literal: &[],
    blocks: &[nested("data", 2, &RESOURCE), nested("assert", 0, &PLAIN)],
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
    blocks: &[nested("lifecycle", 0, &LIFECYCLE), nested("provisioner", 1, &PROVISIONER)],
    rest: Rest::Nothing,
};

impl Shape {
    /// The shape and the number of labels of a block type. `None` if the property is not a block.
    pub(super) fn block(&self, name: &str) -> Option<(usize, &'static Shape)> {
        let mut blocks = self.blocks.iter();
        blocks.find(|it| it.name == name).map(|it| (it.labels, it.shape))
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
        arguments.chain(self.blocks.iter().map(|it| it.name))
    }

    /// The shape of a body that a schema describes.
    pub(super) fn of_schema() -> &'static Shape {
        &SCHEMA
    }
}
