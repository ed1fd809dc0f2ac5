//! Static analysis: computes the abstract value of every item and the problems of that item, module by module.
//!
//! The key of an analysis is the directory of the module, never the path of calls that leads to it: a variable or
//! an output is ephemeral only where its declaration says so, so each module can be checked on its own.
//!
//! ```text
//! item_value(item) ◄── item_inference(item) ──► problems
//!      ▲                     │ asks
//!      └─────────────────────┘ for the items that it mentions
//! ```
//!
//! **Stability:** editing one item re-runs its own [`item_inference`]; other inferences re-run only if its
//! [`item_value`] changed.
//!
//! The modules form layers; each imports only from the ones above it:
//!
//! | layer | knows |
//! |---|---|
//! | [`value`], [`origin`], [`problem`] | the abstract domain; why a value is ephemeral; a problem without ranges |
//! | [`analyzed`] | the key of an item, and the value of a reference to it |
//! | [`infer`] | the value of each form of expression, given the values of references ([`infer::InferEnv`]) |
//! | [`dependencies`], `env` | the items that an item refers to; `env` implements [`infer::InferEnv`] with them |
//! | `instances`, [`body`] | the instances of a resource or module; a body checked against its schema |
//! | `items` | one file for each kind of item |
//! | [`inference`] | the query that infers an item with `items` |
//! | [`problems`], `recorded` | the results: problems of a block, values for an editor |
//!
//! `env` reads the value of another item with [`item_value`], which reaches [`inference`] through the database.

pub mod analyzed;
pub mod body;
pub(crate) mod cycles;
pub(crate) mod declared;
pub mod dependencies;
pub(crate) mod deprecated;
pub(crate) mod env;
pub mod infer;
pub mod inference;
pub(crate) mod instances;
pub(crate) mod items;
pub mod origin;
pub mod problem;
pub mod problems;
pub(crate) mod recorded;
pub(crate) mod recorder;
pub mod value;

pub use analyzed::{AnalyzedId, AnalyzedItem, AnalyzedPlace, Inference, item_value};

pub use cycles::graph::{DependencyList, DependencyOrder};

pub use dependencies::is_independent;

pub use deprecated::{DeprecatedOutput, DeprecatedPart};

pub use inference::item_inference;

pub use items::output::{EPHEMERAL_ROOT_OUTPUT, output_not_ephemeral};

pub use problem::{ItemProblem, LocatedProblem};

pub use problems::{item_problems, overriding_problems};

pub use recorded::{ItemValues, expr_values};

pub use recorder::{ExprValues, Recorder};

pub use value::{Abstract, Ephemerality, Tri, TriMarks, When};
