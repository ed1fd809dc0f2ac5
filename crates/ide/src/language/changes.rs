//! The blocks that change which objects the state has: `moved`, `import` and `removed`.

use super::{
    Argument, CONNECTION, FOR_EACH, LanguageBlock, PROVIDER, PROVISIONER, ValueForm, argument,
    block, required, single,
};

const REMOVED_LIFECYCLE: LanguageBlock = single(block(
    "lifecycle",
    &[],
    &[argument(
        "destroy",
        ValueForm::Bool,
        "Whether the objects are destroyed. If false, the state only forgets them. True where absent.",
    )],
    &[],
    "What becomes of the objects.",
));

pub(super) const MOVED: LanguageBlock = block(
    "moved",
    &[],
    &[
        required(
            "from",
            ValueForm::Address,
            "The previous address of a resource, a module or an instance.",
        ),
        required("to", ValueForm::Address, "The address that the objects have from now on."),
    ],
    &[],
    "Records the previous address of objects, so that they are kept and not made again.",
);

const IMPORT_ID: Argument = argument(
    "id",
    ValueForm::String,
    "The import ID of the object, in the form that its provider documents. Either this or `identity`.",
);

const IMPORT_IDENTITY: Argument = argument(
    "identity",
    ValueForm::Any,
    "The identity of the object, for resource types that have one. Either this or `id`.",
);

pub(super) const IMPORT: LanguageBlock = block(
    "import",
    &[],
    &[
        required(
            "to",
            ValueForm::Address,
            "The address that gets the object, also in a called module.",
        ),
        IMPORT_ID,
        IMPORT_IDENTITY,
        FOR_EACH,
        PROVIDER,
    ],
    &[],
    "Imports an existing object into the state with the next apply.",
);

pub(super) const REMOVED: LanguageBlock = block(
    "removed",
    &[],
    &[required(
        "from",
        ValueForm::Address,
        "The resource or module that the configuration no longer has.",
    )],
    &[REMOVED_LIFECYCLE, CONNECTION, PROVISIONER],
    "Says what becomes of the objects of a resource or module whose block is gone.",
);
