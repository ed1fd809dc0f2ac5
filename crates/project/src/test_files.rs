//! The test files that an editor has open.
//!
//! **Invariant:** a test file is in no directory, so no query about a module reads it, and an edit of it invalidates
//! nothing but itself.

use std::{borrow::BorrowMut, sync::Arc};

use db::{EditedText, File, SpareInputs, input::file_from_text};
use sorted::TreeMap;

use crate::{EditableTree, SourceTree};

/// The test files by path. A closed file keeps its inputs for the time when it is opened again.
#[derive(Default)]
pub(crate) struct TestFiles(TreeMap<Arc<str>, TestText>);

struct TestText {
    file: File,
    edited: EditedText,
    spare: SpareInputs,
    is_open: bool,
}

impl<T: BorrowMut<SourceTree>> EditableTree<T> {
    /// Opens a test file, or sets its text.
    pub fn set_test_file(&mut self, path: &str, text: &str) {
        self.tree_of_edits().set_test_file(path, text);
    }

    /// Closes a test file.
    pub fn close_test_file(&mut self, path: &str) {
        let tree = self.tree_of_edits();
        if tree.test_file(path).is_some() {
            tree.set_test_file(path, "");
            tree.tests.0.entry(Arc::from(path)).and_modify(|it| it.is_open = false);
        }
    }
}

impl SourceTree {
    /// The open test file with this path.
    pub fn test_file(&self, path: &str) -> Option<File> {
        self.tests.0.get(path).filter(|it| it.is_open).map(|it| it.file)
    }

    /// The open test files by path.
    pub fn test_files(&self) -> impl Iterator<Item = (&Arc<str>, File)> {
        self.tests.0.iter().filter(|(_, it)| it.is_open).map(|(path, it)| (path, it.file))
    }

    fn set_test_file(&mut self, path: &str, text: &str) {
        let db = &mut *self.db;
        let Some(known) = self.tests.0.get_mut(path) else {
            let file = file_from_text(db, Arc::from(path), text, None);
            let edited = EditedText::of(db, file);
            let spare = SpareInputs::default();
            let opened = TestText { file, edited, spare, is_open: true };
            self.tests.0.insert(Arc::from(path), opened);
            return;
        };
        known.is_open = true;
        let edits = known.edited.set(db, text);
        let removed = edits.removed().to_vec();
        edits.apply(db, &mut known.spare);
        removed.into_iter().for_each(|block| known.spare.take_block(db, block));
    }
}
