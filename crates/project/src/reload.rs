//! The way from the disk to the source tree: the only place that decides whether a file of a configuration changed.
//!
//! The decision compares texts, not timestamps or events. An editor that saves by renaming, a checkout, and a save
//! without a change all give the correct result.
//!
//! ```text
//!   events with paths ─► reload ──────┐
//!                                     ├─► list and read again ─► texts that differ ─► edits
//!   something may differ ─► reload_all┘
//! ```

use std::{path::PathBuf, sync::Arc};

use db::{Directory, File, system::normalize};
use salsa::Setter as _;
use sorted::{TreeMap, TreeSet};

use crate::{
    SourceTree, load,
    tree::{is_within, split_path},
};

impl SourceTree {
    /// Returns the directories whose changes can change a configuration, including missing ones.
    pub fn directories_to_watch(&self) -> Vec<PathBuf> {
        self.directories().map(|shown| normalize(&self.base.join(&**shown))).collect()
    }

    pub(crate) fn reload<'p>(&mut self, changed: impl IntoIterator<Item = &'p str>) {
        let mut by_directory: TreeMap<Arc<str>, TreeSet<Arc<str>>> = TreeMap::new();
        for path in changed {
            let (parent, _) = split_path(path);
            by_directory.entry(Arc::from(parent)).or_default().insert(Arc::from(path));
            for below in self.directories().filter(|it| is_within(it, path)) {
                let files =
                    self.directories.get(below).into_iter().flat_map(|it| self.paths_in(*it));
                by_directory.entry(below.clone()).or_default().extend(files);
            }
        }
        for (parent, changed) in by_directory {
            if self.directories.contains_key(&parent) {
                self.reload_directory(&parent, |shown| changed.contains(shown));
            } else if self.missing.contains(&parent) {
                self.load_called_modules();
            }
        }
    }

    /// Reads all directories and files again. Returns true if anything differs from what is loaded.
    pub(crate) fn reload_all(&mut self) -> bool {
        let before = self.changes;
        let directories: Vec<Arc<str>> = self.directories.keys().cloned().collect();
        for path in directories {
            self.reload_directory(&path, |_| true);
        }
        if !self.missing.is_empty() {
            self.load_called_modules();
        }
        self.changes != before
    }

    /// Reads a directory again, and those of its files for which `may_differ` returns true.
    pub(crate) fn reload_directory(&mut self, path: &str, may_differ: impl Fn(&Arc<str>) -> bool) {
        let Some(&directory) = self.directories.get(path) else { return };
        let listing = match load::list(&*self.system, &self.base, path, &self.open_in(path)) {
            Ok(listing) => listing,
            Err(error) if load::is_gone(&error) => load::Listing::default(),
            // Keep the files: without them, the plan would destroy everything that the module declares.
            Err(_) => return,
        };
        let mut unloadable = listing.unloadable;
        let mut present = TreeSet::new();
        for shown in listing.files {
            let known = self.files.contains_key(&shown);
            if !known || (may_differ(&shown) && !self.is_open(&shown)) {
                match self.text_to_take(&shown) {
                    Ok(text) => self.take_text(&shown, directory, &text),
                    Err(file) => {
                        unloadable.push(*file);
                        continue;
                    }
                }
            }
            present.insert(shown);
        }
        if self.unloadable_in(path) != unloadable {
            self.more_changed();
        }
        self.unloadable.insert(Arc::from(path), unloadable);
        let gone: Vec<Arc<str>> =
            self.paths_in(directory).filter(|it| !present.contains(it)).collect();
        let gone: Vec<File> = gone.iter().filter_map(|path| self.remove(path)).collect();
        self.take_files(directory);
        let spare = self.spare.of_modules.entry(directory).or_default();
        gone.into_iter().for_each(|file| spare.take_file(&mut *self.db, file));
    }

    fn take_text(&mut self, shown: &Arc<str>, directory: Directory, text: &load::Text) {
        match self.files.get(shown) {
            Some(loaded) => {
                let file = loaded.file;
                if self.is_text_of(file, text) {
                    return;
                }
                if file.decode_error(&*self.db) != text.decode_error {
                    self.more_changed();
                    file.set_decode_error(&mut *self.db).to(text.decode_error);
                }
                self.set_text(shown, &text.text);
            }
            None => {
                let spare = self.spare.of_modules.entry(directory).or_default();
                let file = text.cut(shown).file(&mut *self.db, shown, true, spare);
                let is_open = self.unfiled.remove(shown).is_some();
                self.insert(shown, file, directory, is_open);
            }
        }
    }

    /// Returns true if the blocks of a file have this text.
    fn is_text_of(&self, file: File, text: &load::Text) -> bool {
        let db = &*self.db;
        let mut rest = text.text.as_str();
        let mut blocks = file.blocks(db).iter();
        let is_next = |block: &db::Block| match rest.strip_prefix(&**block.text(db)) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        };
        file.decode_error(db) == text.decode_error && blocks.all(is_next) && rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use db::{MemorySystem, System};

    use super::*;
    use crate::EditableProject;

    /// Loads a project, applies `change`, reloads it, and compares the diagnostics with those of a new project.
    #[track_caller]
    fn check(change: impl FnOnce(&MemorySystem), expected: bool) {
        let system = Arc::new(MemorySystem::new());
        system.write(
            "main.tf",
            "module \"m\" {\n  source = \"./m\"\n}\nmodule \"n\" {\n  source = \"./n\"\n}\n",
        );
        system.write("m/main.tf", "locals {\n  a = 1\n}\n");
        system.write("note.txt", "");
        let shared = || Arc::clone(&system) as Arc<dyn System>;
        let load = || {
            EditableProject::load(shared(), PathBuf::from("."), TreeMap::new()).expect("readable")
        };
        let mut project = load();
        project.checked();
        assert!(!project.tree_mut().reload_all());
        change(&system);
        assert_eq!(project.tree_mut().reload_all(), expected);
        assert!(!project.tree_mut().reload_all());
        assert_eq!(project.recheck().0, load().diagnostics());
    }

    #[test]
    fn changed_file_content_is_loaded() {
        check(|it| it.write("m/main.tf", "locals {\n  a = nothing.b\n}\n"), true);
        check(|it| it.write("main.tf", ""), true);
        check(|it| it.write("m/main.tf", *b"locals {\n  a = \"\xff\"\n}\n"), true);
    }

    #[test]
    fn unchanged_or_unrelated_files_cause_no_reload() {
        check(|it| it.write("m/main.tf", "locals {\n  a = 1\n}\n"), false);
        check(|it| it.write("note.txt", "other"), false);
    }

    #[test]
    fn added_and_removed_files_are_loaded() {
        check(|it| it.write("more.tf", "locals {\n  b = nothing.b\n}\n"), true);
        check(|it| it.write("more.tf.json", "{}"), true);
        check(|it| it.remove("m/main.tf"), true);
        check(|it| it.write("n/main.tf", ""), true);
    }
}
