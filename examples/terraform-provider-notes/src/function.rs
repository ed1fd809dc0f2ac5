//! The function `slug`.

use mayfly_sdk::{Function, FunctionError};

use crate::store;

/// `provider::notes::slug(title)`: the title as a file name.
pub(crate) fn slug() -> Function {
    let slug = |title: String| match store::slug(&title) {
        slug if slug.is_empty() => {
            Err(FunctionError::argument(0, "the title has no letters and digits"))
        }
        slug => Ok(slug),
    };
    Function::new("slug", slug)
        .summary("The file name of a note")
        .description("Returns a title in lower case, with hyphens in place of other characters.")
        .parameter("title", "The title of a note.")
}
