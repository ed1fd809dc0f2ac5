//! Every source of ephemeral values.

/// The value of the ephemeral variable in every run.
pub(crate) const VARIABLE: &str = "canary-of-the-variable";
/// The value of the ephemeral output.
pub(crate) const OUTPUT: &str = "canary-of-the-output";
/// The value that the ephemeral resource reads. The provider does not declare it as sensitive, so that nothing
/// else hides it.
pub(crate) const REMOTE: &str = "canary-of-the-remote-secret";

/// A source of ephemeral values.
pub(crate) struct Source {
    /// A description for failure messages.
    pub(crate) name: &'static str,
    /// The expression.
    pub(crate) expr: &'static str,
    /// The whole object, for `depends_on`.
    pub(crate) object: &'static str,
    /// The declarations that the expression needs, as files of a fixture.
    pub(crate) declarations: &'static str,
    /// True if the value is known at plan.
    pub(crate) is_known: bool,
}

pub(crate) const SOURCES: &[Source] = &[
    Source {
        name: "ephemeral variable",
        expr: "var.e",
        object: "var.e",
        declarations: "//- /source.tf\nvariable \"e\" {\n  type      = string\n  ephemeral = true\n}\n",
        is_known: true,
    },
    Source {
        name: "ephemeral output of a module",
        expr: "module.source.o",
        object: "module.source",
        declarations: "//- /source.tf\nmodule \"source\" {\n  source = \"./source\"\n}\n\
                       //- /source/main.tf\noutput \"o\" {\n  value     = \
                       \"canary-of-the-output\"\n  ephemeral = true\n}\n",
        is_known: true,
    },
    Source {
        name: "local made of one",
        expr: "local.l",
        object: "local.l",
        declarations: "//- /source.tf\nvariable \"e\" {\n  type      = string\n  ephemeral = \
                       true\n}\nlocals {\n  l = \"x${var.e}\"\n}\n",
        is_known: true,
    },
    Source {
        name: "attribute of an ephemeral resource",
        expr: "ephemeral.playground_secret.source.arn",
        object: "ephemeral.playground_secret.source",
        declarations: "//- /source.tf\nephemeral \"playground_secret\" \"source\" {\n  name = \"remote\"\n}\n",
        is_known: true,
    },
    Source {
        name: "ephemeral resource that is not known at plan",
        expr: "ephemeral.playground_secret.source.arn",
        object: "ephemeral.playground_secret.source",
        declarations: "//- /source.tf\nresource \"terraform_data\" \"later\" {\n  input = \"remote\"\n}\n\
                       ephemeral \"playground_secret\" \"source\" {\n  name = terraform_data.later.output\n}\n",
        is_known: false,
    },
    Source {
        name: "tofu.applying",
        expr: "tofu.applying",
        object: "tofu.applying",
        declarations: "",
        is_known: true,
    },
    Source {
        name: "terraform.applying",
        expr: "terraform.applying",
        object: "terraform.applying",
        declarations: "",
        is_known: true,
    },
];
