//! The pages that explain what a user is told: `docs/diagnostics/ID.md`, one for each id.

/// Takes the texts into the executable, sorted by their ids.
macro_rules! pages {
    ($($id:literal,)*) => {
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

/// The ids and the texts of their pages in Markdown, sorted.
pub(crate) fn all() -> &'static [(&'static str, &'static str)] {
    generated::PAGES
}

/// The page of an id.
pub(crate) fn page(id: &str) -> Option<&'static str> {
    let at = all().binary_search_by_key(&id, |(it, _)| it).ok()?;
    Some(all()[at].1)
}
