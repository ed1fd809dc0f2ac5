//! Lists of objects.

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// The whole name of the object, which the owner of the bucket chose.
    pub name: String,
    /// The size in bytes, as the list tells it.
    pub size: u64,
}

/// A part of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) objects: Vec<ListedObject>,
    /// Selects the next page. `None` if this is the last one.
    pub(crate) next: Option<String>,
}
