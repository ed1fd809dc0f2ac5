//! The targets of names, and their occurrences.

use db::{Block, Directory};
use hir::names::ItemName;
use syntax::TextRange;

use crate::{FileRange, test_file::TestName};

/// The target of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// An item of a module, which may not be declared.
    Item(Directory, ItemName),
    /// A name that `for` or `dynamic` binds, with the place of the binding.
    Bound(Block, TextRange),
    /// Something without a name of its own, such as an argument or an object key, with its place.
    Place(FileRange),
    /// A whole module.
    Module(Directory),
    /// A name that the test file of the occurrence declares.
    OfTest(TestName),
}

/// The role of a name at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name is declared.
    Declaration,
    /// The name gets a value.
    Write,
    /// The value of the name is read.
    Read,
}

/// An occurrence of a name in the text.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    /// The target of the name.
    pub(crate) named: Named,
    /// The range of the name, relative to the start of the block. In `var.x` it is `x`, even if the request is at
    /// `var`.
    pub(crate) range: TextRange,
    /// The role of the name.
    pub(crate) role: Role,
}

impl Occurrence {
    /// An occurrence that reads the name.
    pub(crate) fn read(named: Named, range: TextRange) -> Occurrence {
        Occurrence { named, range, role: Role::Read }
    }

    /// An occurrence that declares the name.
    pub(super) fn declaration(named: Named, range: TextRange) -> Occurrence {
        Occurrence { named, range, role: Role::Declaration }
    }
}
