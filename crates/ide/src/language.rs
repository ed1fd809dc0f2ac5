//! The blocks and arguments that the language defines, each with a sentence of documentation. Those of providers
//! come from their schemas.

mod changes;
mod test_blocks;

pub(crate) use self::test_blocks::{TEST_ROOTS, TEST_TOP_LEVEL};

/// A block type of the language.
pub(crate) struct LanguageBlock {
    pub(crate) name: &'static str,
    /// The meanings of the labels, in order.
    pub(crate) labels: &'static [&'static str],
    pub(crate) doc: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) blocks: &'static [LanguageBlock],
    /// True if a body may contain only one such block.
    pub(crate) is_single: bool,
    /// True if this version implements the block. Other blocks have a hover text but are not proposed.
    pub(crate) is_supported: bool,
}

/// An argument of the language.
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) takes: ValueForm,
    pub(crate) is_required: bool,
    pub(crate) doc: &'static str,
}

/// The form of the value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueForm {
    /// Any expression.
    Any,
    Bool,
    Number,
    String,
    /// A list of strings.
    Strings,
    /// A map of strings.
    StringMap,
    /// A map or a set of strings.
    Instances,
    /// A type constraint.
    Type,
    /// The address of a resource, a module or an instance.
    Address,
    /// References to items: `[a.b, module.c]`.
    References,
    /// A provider configuration: `name` or `name.alias`.
    Provider,
    /// A map of provider configurations: `{ child = parent.alias }`.
    Providers,
    /// References to resources and their attributes.
    Triggers,
    /// `all`, or names of the resource's attributes.
    Attributes,
    /// One of these keywords.
    Keyword(&'static [&'static str]),
    /// Addresses of objects of the module under test.
    Addresses(Addressed),
}

/// The objects that an address in a test file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addressed {
    /// Managed resources, also in called modules.
    Managed,
    /// Data sources, also in called modules.
    Data,
    /// Managed resources and data sources, also in called modules.
    Objects,
    /// Module calls.
    Modules,
    /// Resources, data sources and module calls.
    ObjectsAndModules,
    /// Variables, outputs, checks, resources and data sources of the module itself.
    Checkable,
}

impl ValueForm {
    /// The text that is shown after the name of the argument.
    pub(crate) fn shown(self) -> String {
        match self {
            ValueForm::Any => "any".to_owned(),
            ValueForm::Bool => "bool".to_owned(),
            ValueForm::Number => "number".to_owned(),
            ValueForm::String => "string".to_owned(),
            ValueForm::Strings => "list(string)".to_owned(),
            ValueForm::StringMap => "map(string)".to_owned(),
            ValueForm::Instances => "map(any) | set(string)".to_owned(),
            ValueForm::Type => "type".to_owned(),
            ValueForm::Address => "address".to_owned(),
            ValueForm::References => "list of references".to_owned(),
            ValueForm::Provider => "provider reference".to_owned(),
            ValueForm::Providers => "map of provider references".to_owned(),
            ValueForm::Triggers => "list of resource references".to_owned(),
            ValueForm::Attributes => "list of attribute names".to_owned(),
            ValueForm::Keyword(words) => words.join(" | "),
            ValueForm::Addresses(Addressed::Managed) => "resource address".to_owned(),
            ValueForm::Addresses(Addressed::Data) => "data source address".to_owned(),
            ValueForm::Addresses(Addressed::Modules) => "module address".to_owned(),
            ValueForm::Addresses(_) => "list of addresses".to_owned(),
        }
    }
}

const fn argument(name: &'static str, takes: ValueForm, doc: &'static str) -> Argument {
    Argument { name, takes, is_required: false, doc }
}

const fn required(name: &'static str, takes: ValueForm, doc: &'static str) -> Argument {
    Argument { name, takes, is_required: true, doc }
}

const fn block(
    name: &'static str,
    labels: &'static [&'static str],
    arguments: &'static [Argument],
    blocks: &'static [LanguageBlock],
    doc: &'static str,
) -> LanguageBlock {
    LanguageBlock { name, labels, doc, arguments, blocks, is_single: false, is_supported: true }
}

const fn single(block: LanguageBlock) -> LanguageBlock {
    LanguageBlock { is_single: true, ..block }
}

const fn unsupported(
    name: &'static str,
    labels: &'static [&'static str],
    doc: &'static str,
) -> LanguageBlock {
    LanguageBlock { is_supported: false, ..block(name, labels, &[], &[], doc) }
}

const COUNT: Argument = argument(
    "count",
    ValueForm::Number,
    "The number of instances. Each is identified by `count.index`, starting at 0.",
);
const FOR_EACH: Argument = argument(
    "for_each",
    ValueForm::Instances,
    "One instance for each element of a map or of a set of strings; `each.key` and `each.value` are its element.",
);
const DEPENDS_ON: Argument =
    argument("depends_on", ValueForm::References, "Dependencies that no expression refers to.");
const PROVIDER: Argument = argument(
    "provider",
    ValueForm::Provider,
    "The provider configuration to use, as `name` or `name.alias`; the default one of the type's \
     provider where absent.",
);
const DESCRIPTION: Argument =
    argument("description", ValueForm::String, "A description for users of the module.");
const SENSITIVE: Argument = argument(
    "sensitive",
    ValueForm::Bool,
    "Hides the value in output. It is still written to the state and to plans.",
);
const DEPRECATED: Argument = argument(
    "deprecated",
    ValueForm::String,
    "A message about what to use instead; shown as a warning at each use.",
);
const ENABLED: Argument = argument(
    "enabled",
    ValueForm::Bool,
    "Whether there is an instance at all; an alternative to `count` for one or none.",
);

const CONDITION: &[Argument] = &[
    required("condition", ValueForm::Bool, "What must be true."),
    required("error_message", ValueForm::String, "The error message if the condition is false."),
];
const PRECONDITION: LanguageBlock = block(
    "precondition",
    &[],
    CONDITION,
    &[],
    "A condition that must be true before the object is created or changed.",
);
const POSTCONDITION: LanguageBlock = block(
    "postcondition",
    &[],
    CONDITION,
    &[],
    "A condition that must be true once the object exists; `self` refers to the object.",
);

const CONNECTION: LanguageBlock = single(block(
    "connection",
    &[],
    &[
        argument("type", ValueForm::Keyword(&["\"ssh\""]), "How to connect."),
        argument("host", ValueForm::String, "The address of the machine."),
        argument("port", ValueForm::Number, "The port to connect to."),
        argument("user", ValueForm::String, "The user to connect as."),
        argument("password", ValueForm::String, "The password; it may be ephemeral."),
        argument(
            "private_key",
            ValueForm::String,
            "The key to authenticate with; it may be ephemeral.",
        ),
        argument("timeout", ValueForm::String, "How long to try, as in `\"5m\"`."),
    ],
    &[],
    "How provisioners reach the machine. Its arguments may be ephemeral.",
));

const PROVISIONER: LanguageBlock = block(
    "provisioner",
    &["type"],
    &[
        argument(
            "when",
            ValueForm::Keyword(&["create", "destroy"]),
            "When it runs: after the resource is created, or before it is destroyed.",
        ),
        argument(
            "on_failure",
            ValueForm::Keyword(&["continue", "fail"]),
            "What to do if it fails.",
        ),
    ],
    &[CONNECTION],
    "A command that runs once the resource is created, or before it is destroyed. Its arguments may be ephemeral.",
);

/// The arguments of the provisioner `local-exec`.
pub(crate) const LOCAL_EXEC: &[Argument] = &[
    required("command", ValueForm::String, "The command to run."),
    argument(
        "interpreter",
        ValueForm::Strings,
        "The program and its first arguments that run the command.",
    ),
    argument("working_dir", ValueForm::String, "The directory that the command runs in."),
    argument("environment", ValueForm::StringMap, "Variables of the command's environment."),
    argument("quiet", ValueForm::Bool, "Hides the command itself in output."),
];

const MANAGED_LIFECYCLE: LanguageBlock = single(block(
    "lifecycle",
    &[],
    &[
        argument(
            "create_before_destroy",
            ValueForm::Bool,
            "Makes the new object before the old one is destroyed, where one replaces the other.",
        ),
        argument(
            "prevent_destroy",
            ValueForm::Bool,
            "Refuses every plan that would destroy the object.",
        ),
        argument(
            "ignore_changes",
            ValueForm::Attributes,
            "Attributes whose changes in the configuration are not applied to an object that exists, or `all`.",
        ),
        argument(
            "replace_triggered_by",
            ValueForm::Triggers,
            "Resources and attributes whose change replaces the object.",
        ),
        ENABLED,
    ],
    &[PRECONDITION, POSTCONDITION],
    "How objects of the resource come and go.",
));

const LIFECYCLE: LanguageBlock = single(block(
    "lifecycle",
    &[],
    &[ENABLED],
    &[PRECONDITION, POSTCONDITION],
    "Controls whether the object exists, and the conditions that it must meet.",
));

const MODULE_LIFECYCLE: LanguageBlock =
    single(block("lifecycle", &[], &[ENABLED], &[], "Whether there is an instance of the module."));

/// The block `dynamic "x" {}`, which any body with nested blocks may contain.
pub(crate) const DYNAMIC: LanguageBlock = block(
    "dynamic",
    &["block type"],
    &[
        required("for_each", ValueForm::Any, "The collection; each of its elements makes a block."),
        argument(
            "iterator",
            ValueForm::Any,
            "The name under which `content` sees the element; the block's type where absent.",
        ),
        argument("labels", ValueForm::Strings, "Labels of the blocks that are made."),
    ],
    &[single(block("content", &[], &[], &[], "The body of each block that is made."))],
    "Makes a nested block for each element of a collection.",
);

/// `provider "x" {}`, which test files have too.
const PROVIDER_BLOCK: LanguageBlock = block(
    "provider",
    &["name"],
    &[
        argument(
            "alias",
            ValueForm::String,
            "A name for a further configuration of the same provider, chosen with `provider = name.alias`.",
        ),
        argument(
            "for_each",
            ValueForm::Instances,
            "One configuration for each element, chosen with `provider = name.alias[key]`.",
        ),
    ],
    &[],
    "A configuration of a provider. Its arguments may be ephemeral.",
);

/// The top-level blocks of a file.
pub(crate) const TOP_LEVEL: &[LanguageBlock] = &[
    block(
        "resource",
        &["type", "name"],
        &[COUNT, FOR_EACH, PROVIDER, DEPENDS_ON],
        &[MANAGED_LIFECYCLE, CONNECTION, PROVISIONER],
        "An object that is created, changed and destroyed according to the configuration.",
    ),
    block(
        "data",
        &["type", "name"],
        &[COUNT, FOR_EACH, PROVIDER, DEPENDS_ON],
        &[LIFECYCLE],
        "Something that is read and not managed here.",
    ),
    block(
        "ephemeral",
        &["type", "name"],
        &[COUNT, FOR_EACH, PROVIDER, DEPENDS_ON],
        &[LIFECYCLE],
        "A resource that is opened when it is needed, closed afterwards, and never written to the state or to a plan.",
    ),
    block(
        "module",
        &["name"],
        &[
            required(
                "source",
                ValueForm::String,
                "Where the module is: a path that begins with `./` or `../`, or an address to download it from.",
            ),
            argument(
                "version",
                ValueForm::String,
                "Which versions of a module from a registry may be used.",
            ),
            COUNT,
            FOR_EACH,
            argument(
                "providers",
                ValueForm::Providers,
                "Provider configurations of this module to pass to the called module, under their \
                 names there.",
            ),
            DEPENDS_ON,
        ],
        &[MODULE_LIFECYCLE],
        "A call of another module, with values for its variables.",
    ),
    PROVIDER_BLOCK,
    block(
        "variable",
        &["name"],
        &[
            argument(
                "type",
                ValueForm::Type,
                "The type that values are converted to; any type where absent.",
            ),
            argument(
                "default",
                ValueForm::Any,
                "The value where none is given; without it the variable is required.",
            ),
            DESCRIPTION,
            SENSITIVE,
            argument(
                "ephemeral",
                ValueForm::Bool,
                "Keeps the value out of the state and out of plans. It can be used only where \
                 nothing is kept: in write-only attributes, provider configurations, ephemeral \
                 resources and other ephemeral values.",
            ),
            argument(
                "nullable",
                ValueForm::Bool,
                "Whether null is a value of its own; where it is not, null stands for the default. True where absent.",
            ),
            DEPRECATED,
        ],
        &[block(
            "validation",
            &[],
            CONDITION,
            &[],
            "A condition that the variable's value must meet.",
        )],
        "An input of the module.",
    ),
    block(
        "output",
        &["name"],
        &[
            required("value", ValueForm::Any, "The value that callers of the module receive."),
            DESCRIPTION,
            SENSITIVE,
            argument(
                "ephemeral",
                ValueForm::Bool,
                "Lets the output hold ephemeral values, which are not written to the state. \
                 Outputs of the root module cannot be ephemeral.",
            ),
            DEPENDS_ON,
            DEPRECATED,
        ],
        &[PRECONDITION],
        "A value that the module returns to its callers, or that is shown after a run.",
    ),
    block(
        "locals",
        &[],
        &[],
        &[],
        "Names for expressions, used as `local.name` within the module.",
    ),
    block(
        "terraform",
        &[],
        &[argument(
            "required_version",
            ValueForm::String,
            "Which versions of the language the configuration is written for.",
        )],
        &[
            single(block(
                "required_providers",
                &[],
                &[],
                &[],
                "The providers of the module: for each local name where it comes from and which versions may be used.",
            )),
            single(block(
                "backend",
                &["type"],
                &[],
                &[],
                "Where the state is kept. Ephemeral values are refused here.",
            )),
            unsupported(
                "cloud",
                &[],
                "Where the state is kept and runs take place, for services that do so.",
            ),
        ],
        "Settings of the module: the providers that it needs and where its state is kept.",
    ),
    block(
        "check",
        &["name"],
        &[],
        &[block("assert", &[], CONDITION, &[], "A condition; a warning if it is false.")],
        "Assertions about the infrastructure after a run. A failed assertion is a warning.",
    ),
    changes::MOVED,
    changes::IMPORT,
    changes::REMOVED,
];

/// The keys of an entry of `required_providers`.
pub(crate) const REQUIRED_PROVIDER: &[Argument] = &[
    argument(
        "source",
        ValueForm::String,
        "Where the provider comes from, as in `\"hashicorp/aws\"`.",
    ),
    argument("version", ValueForm::String, "Which versions may be used, as in `\"~> 6.0\"`."),
    argument(
        "configuration_aliases",
        ValueForm::Providers,
        "Further configurations that the calling module must pass, as in `[aws.west]`.",
    ),
];

/// The keywords of type constraints: name, snippet, documentation.
pub(crate) const TYPES: &[(&str, &str, &str)] = &[
    ("string", "string", "Text."),
    ("number", "number", "A number."),
    ("bool", "bool", "`true` or `false`."),
    ("any", "any", "Any one type, found from the value."),
    ("list", "list(${1:string})", "A sequence of values of one type."),
    ("set", "set(${1:string})", "Distinct values of one type, without an order."),
    ("map", "map(${1:string})", "Values of one type under names."),
    (
        "object",
        "object({\n  ${1:name} = ${2:string}\n})",
        "Named attributes, each of its own type.",
    ),
    ("tuple", "tuple([${1:string}])", "A fixed sequence of values, each of its own type."),
    (
        "optional",
        "optional(${1:string})",
        "An attribute of an object that may be left out; a second argument is the value it then has.",
    ),
];

/// The first names of references, with documentation; without resource types and names that `for` binds.
pub(crate) const ROOTS: &[(&str, &str)] = &[
    ("var", "The module's input variables."),
    ("local", "The module's local values."),
    ("module", "Outputs of called modules."),
    ("data", "Data sources, as `data.type.name`."),
    ("ephemeral", "Ephemeral resources, as `ephemeral.type.name`."),
    ("each", "The element of `for_each` that this instance is made for."),
    ("count", "The number of this instance under `count`."),
    ("self", "The resource itself, in its provisioners, connections and postconditions."),
    ("path", "Directories of the configuration."),
    ("terraform", "Facts about the run."),
    ("tofu", "Facts about the run; the same as `terraform`."),
];

/// The attributes of the roots that the language defines: root, attribute, type, documentation.
pub(crate) const ATTRIBUTES: &[(&str, &str, &str, &str)] = &[
    ("each", "key", "string", "The key of this instance's element; of a set, the element itself."),
    ("each", "value", "any", "The value of this instance's element."),
    ("count", "index", "number", "The number of this instance, from 0 on."),
    ("path", "module", "string", "The directory of the module that the expression is in."),
    ("path", "root", "string", "The directory of the root module."),
    ("path", "cwd", "string", "The directory that the run was started in."),
    ("path", "temp", "string", "A temporary directory of the module instance, gone after the run."),
    ("terraform", "workspace", "string", "The name of the workspace."),
    (
        "terraform",
        "applying",
        "bool",
        "Whether the apply command is running. It is ephemeral, because it is not the same in the plan.",
    ),
    ("tofu", "workspace", "string", "The name of the workspace."),
    (
        "tofu",
        "applying",
        "bool",
        "Whether the apply command is running. It is ephemeral, because it is not the same in the plan.",
    ),
];

/// The block type with the given name.
pub(crate) fn block_of<'a>(blocks: &'a [LanguageBlock], name: &str) -> Option<&'a LanguageBlock> {
    blocks.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(blocks: &[LanguageBlock], see: &mut impl FnMut(&str, &str)) {
        for block in blocks {
            see(block.name, block.doc);
            block.arguments.iter().for_each(|it| see(it.name, it.doc));
            visit(block.blocks, see);
        }
    }

    #[test]
    fn every_block_and_argument_has_documentation() {
        let mut count = 0;
        for blocks in [TOP_LEVEL, TEST_TOP_LEVEL] {
            visit(blocks, &mut |name, doc| {
                count += 1;
                assert!(doc.ends_with('.') && doc.len() > 10, "{name}: {doc:?}");
            });
        }
        assert!(count > 100, "{count}");
    }

    /// The analysis reports unsupported arguments, so it must know every argument that completion proposes.
    #[test]
    fn analysis_accepts_every_documented_argument() {
        for block in TOP_LEVEL.iter().filter(|it| it.is_supported && it.name != "provider") {
            let labels: Vec<String> =
                block.labels.iter().map(|it| format!(" \"test_{it}\"")).collect();
            for argument in block.arguments {
                let text = format!(
                    "{}{} {{\n  {} = null\n}}\n",
                    block.name,
                    labels.concat(),
                    argument.name
                );
                let fixture = crate::fixture::load(&text);
                let problems = fixture.project.diagnostics();
                let is_unknown = |it: &&db::Diagnostic| it.id() == "unsupported-argument";
                assert!(problems.iter().find(is_unknown).is_none(), "{text}");
            }
        }
    }

    /// Editors highlight the words of these lists; `cargo xtask codegen` generates their grammars from them.
    #[test]
    fn grammar_lists_every_documented_word() {
        let lists = [
            include_str!("../../../grammar/words/block_types.txt"),
            include_str!("../../../grammar/words/nested_block_types.txt"),
            include_str!("../../../grammar/words/references.txt"),
        ];
        let mut nested = vec![DYNAMIC.name];
        let mut blocks: Vec<&LanguageBlock> = TOP_LEVEL.iter().chain([&DYNAMIC]).collect();
        while let Some(block) = blocks.pop() {
            nested.extend(block.blocks.iter().map(|it| it.name));
            blocks.extend(block.blocks);
        }
        let top_level = TOP_LEVEL.iter().map(|it| it.name).collect();
        let roots = ROOTS.iter().map(|(name, _)| *name).collect();
        for (list, words) in lists.into_iter().zip([top_level, nested, roots]) {
            let listed: Vec<&str> = list.lines().collect();
            let missing: Vec<_> = words.iter().filter(|it| !listed.contains(it)).collect();
            assert!(missing.is_empty(), "not in grammar/words: {missing:?}");
        }
    }
}
