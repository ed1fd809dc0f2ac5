//! The pages that explain diagnostics: `docs/diagnostics/ID.md`, one for each id.

/// Includes the texts in the executable, sorted by id.
macro_rules! pages {
    ($($id:literal,)*) => {
        /// The ids and texts of all pages, sorted by id.
        pub(super) const PAGES: &[(&str, &str)] = &[
            $((
                $id,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics/", $id, ".md")),
            ),)*
        ];
    };
}

#[path = "generated/pages.rs"]
mod generated;

/// The ids and the Markdown texts of all pages, sorted by id.
pub(crate) fn all() -> &'static [(&'static str, &'static str)] {
    generated::PAGES
}

/// The page of an id. `None` if the id does not exist.
pub(crate) fn page(id: &str) -> Option<&'static str> {
    let at = all().binary_search_by_key(&id, |(it, _)| it).ok()?;
    Some(all()[at].1)
}
