//! The derive macros of `mayfly-sdk`: a struct as the objects of a schema, and an enum as texts from a list.
//!
//! Start reading at [`macro@Model`]; `model` generates its code from what `field` and `container` have parsed. The
//! tests are in `mayfly-sdk`: `tests/mistakes.rs` for errors, `src/tests/options.rs` for the options.
//!
//! **Invariant:** a mistake in an attribute is an error at its place in the struct, never a panic.
//! **Absent on purpose:** the meaning of the attributes, which `mayfly_sdk::schema` defines.

mod choice;
mod container;
mod description;
mod field;
mod model;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `mayfly_sdk::Model` for a struct, and adds a constant `Key` for each attribute.
///
/// ```ignore
/// /// A note.
/// #[derive(Model)]
/// #[model(version = 1, conflicting(body, body_file))]
/// struct Note {
///     /// The id that the store chooses.
///     #[attribute(computed, keeps_state)]
///     id: Option<String>,
///     /// The title.
///     #[attribute(requires_replace, identity, length(1, 80))]
///     title: String,
///     body: Option<String>,
///     body_file: Option<String>,
///     #[attribute(default = "en", one_of("en", "de"))]
///     language: String,
///     #[attribute(write_only)]
///     password: Option<Secret>,
///     #[block]
///     labels: Vec<Label>,
/// }
/// ```
///
/// The description of the type and of each attribute is its documentation comment. A field of type `Option` or `Value`
/// is optional and any other one is required, unless the field says something else.
///
/// `#[model(…)]` on the struct:
///
/// | option | meaning |
/// |---|---|
/// | `version = 1` | the version of the schema, by default 0 |
/// | `deprecated = "text"` | the type is deprecated; the text names the replacement |
/// | `exactly_one_of(a, b)`, `at_least_one_of(a, b)` | of these attributes and blocks |
/// | `conflicting(a, b, c)` | at most one of these; the error is at each one that is too many |
/// | `requires(a, b)` | if `a` is set, `b` must be |
/// | `validate = function` | `fn(&Object, &mut Diagnostics)` validates each object |
/// | `markdown` | the descriptions are Markdown |
/// | `plain` | as a part of another struct it is a plain object, which protocol 5 has too |
///
/// `#[attribute(…)]` on a field:
///
/// | option | meaning |
/// |---|---|
/// | `required`, `optional`, `computed` | the configuration must or may set it; the provider sets it |
/// | `default = value` | the value if the configuration sets none |
/// | `sensitive`, `write_only` | the value is hidden; the value is only sent |
/// | `identity` | a part of the resource identity |
/// | `requires_replace`, `requires_replace_if_configured` | a change replaces the object |
/// | `keeps_state` | once the provider has chosen the value, it stays |
/// | `modify = modifier` | a plan modifier |
/// | `one_of("a", "b")`, `between(1, 9)`, `range(0.0, 1.0)`, `length(1, 80)`, `count(1, 3)` | validators |
/// | `check = function` | `fn(&str) -> Result<_, impl Display>` accepts the text, such as `str::parse::<IpAddr>` |
/// | `validate = validator` | a validator |
/// | `deprecated = "text"` | the attribute is deprecated |
/// | `name = "type"` | the name, if it is not that of the field |
///
/// `#[block]` or `#[block(min = 1, max = 3)]` on a field is a type of nested block, and `#[flatten]` adds the
/// attributes of another struct. `#[flatten(prefix = "create_")]` adds them with a prefix before their names, so that a
/// struct can have them several times; the keys of the flattened struct are without the prefix.
#[proc_macro_derive(Model, attributes(model, attribute, block, flatten))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    model::implement(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `mayfly_sdk::Choice` and `AttributeValue` for an enum without fields. The text of a variant is its name
/// in snake case, or the one in `#[choice("text")]`.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::implement(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
