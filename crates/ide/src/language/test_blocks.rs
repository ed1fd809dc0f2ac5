//! The blocks and arguments of test files, each with a sentence of documentation.

use super::{
    Addressed, Argument, CONDITION, LanguageBlock, PROVIDER_BLOCK, ValueForm, argument, block,
    required, single,
};

const VARIABLES: LanguageBlock = single(block(
    "variables",
    &[],
    &[],
    &[],
    "Values of the module's variables. Those of a run override those of the file.",
));

const PLAN_OPTIONS: LanguageBlock = single(block(
    "plan_options",
    &[],
    &[
        argument(
            "mode",
            ValueForm::Keyword(&["normal", "refresh-only"]),
            "What the run plans; `refresh-only` plans only what has changed outside.",
        ),
        argument("refresh", ValueForm::Bool, "Whether objects are read first. True where absent."),
        argument(
            "replace",
            ValueForm::Addresses(Addressed::Objects),
            "Resources whose objects are replaced.",
        ),
        argument(
            "target",
            ValueForm::Addresses(Addressed::ObjectsAndModules),
            "The resources and modules to which the run is limited.",
        ),
    ],
    &[],
    "The options with which the run plans.",
));

const MODULE: LanguageBlock = single(block(
    "module",
    &[],
    &[
        required(
            "source",
            ValueForm::String,
            "The module that the run executes: a path that begins with `./` or `../`, or an address of a registry.",
        ),
        argument(
            "version",
            ValueForm::String,
            "Which versions of a module of a registry may be used.",
        ),
    ],
    &[],
    "Another module that the run executes instead of the one under test.",
));

const ASSERT: LanguageBlock = block(
    "assert",
    &[],
    CONDITION,
    &[],
    "A condition that must be true after the command of the run.",
);

const VALUES: Argument = argument(
    "values",
    ValueForm::Any,
    "The values of the attributes that the provider would compute.",
);

const OVERRIDE_RESOURCE: LanguageBlock = block(
    "override_resource",
    &[],
    &[
        required(
            "target",
            ValueForm::Addresses(Addressed::Managed),
            "The resource, possibly in a called module, whose objects are made up.",
        ),
        VALUES,
    ],
    &[],
    "A resource whose objects are made up: its provider is not asked.",
);

const OVERRIDE_DATA: LanguageBlock = block(
    "override_data",
    &[],
    &[
        required(
            "target",
            ValueForm::Addresses(Addressed::Data),
            "The data source, possibly in a called module, whose result is made up.",
        ),
        VALUES,
    ],
    &[],
    "A data source whose result is made up: its provider is not asked.",
);

const OVERRIDE_MODULE: LanguageBlock = block(
    "override_module",
    &[],
    &[
        required(
            "target",
            ValueForm::Addresses(Addressed::Modules),
            "The module call whose outputs are given.",
        ),
        argument("outputs", ValueForm::Any, "The values of the module's outputs."),
    ],
    &[],
    "A module call whose outputs are given: nothing in the module is executed.",
);

const DEFAULTS: &[Argument] = &[argument(
    "defaults",
    ValueForm::Any,
    "The values of computed attributes in the objects that are made up.",
)];

const MOCK_PROVIDER: LanguageBlock = block(
    "mock_provider",
    &["name"],
    &[
        argument("alias", ValueForm::String, "The alias of the configuration that is replaced."),
        argument(
            "for_each",
            ValueForm::Instances,
            "One configuration for each element. It needs an alias.",
        ),
    ],
    &[
        block(
            "mock_resource",
            &["type"],
            DEFAULTS,
            &[],
            "Values for the objects of a resource type that are made up.",
        ),
        block(
            "mock_data",
            &["type"],
            DEFAULTS,
            &[],
            "Values for the results of a type of data sources that are made up.",
        ),
        OVERRIDE_RESOURCE,
        OVERRIDE_DATA,
    ],
    "A provider configuration that makes up all objects and results, without the provider's services.",
);

const RUN: LanguageBlock = block(
    "run",
    &["name"],
    &[
        argument(
            "command",
            ValueForm::Keyword(&["apply", "plan"]),
            "What the run does. `apply` where absent.",
        ),
        argument(
            "expect_failures",
            ValueForm::Addresses(Addressed::Checkable),
            "The variables, outputs, checks and resources whose conditions must fail.",
        ),
        argument(
            "providers",
            ValueForm::Providers,
            "Provider configurations of this file for the module, under their names there. All of them where absent.",
        ),
    ],
    &[VARIABLES, PLAN_OPTIONS, MODULE, ASSERT, OVERRIDE_RESOURCE, OVERRIDE_DATA, OVERRIDE_MODULE],
    "A step of the test: a plan or an apply of the module under test, and what must be true afterwards.",
);

/// The top-level blocks of a test file.
pub(crate) const TEST_TOP_LEVEL: &[LanguageBlock] = &[
    RUN,
    VARIABLES,
    PROVIDER_BLOCK,
    MOCK_PROVIDER,
    OVERRIDE_RESOURCE,
    OVERRIDE_DATA,
    OVERRIDE_MODULE,
];

/// The first names of references that only test files have, with documentation.
pub(crate) const TEST_ROOTS: &[(&str, &str)] = &[
    ("run", "Outputs of earlier runs of this file."),
    ("output", "Outputs of the module that the run executes."),
];
