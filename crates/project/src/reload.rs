//! Detects changes of the files of a configuration on the disk.
//!
//! The detection compares texts, not timestamps or events. An editor that saves by renaming, a checkout, and a
//! save without a change all give the correct result.
//!
//! ```text
//!   Files::of(project) … something happened … Files::follow(project) ─► what differs ─► SourceTree::reload
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use db::{Block, File, System, system::normalize};

use crate::{EditableProject, Project, load::is_gone, tree::called_paths};

/// The known files in the directories of a configuration.
pub struct Files {
    system: Arc<dyn System>,
    base: PathBuf,
    listings: BTreeMap<Arc<str>, Listing>,
}

/// The candidates for configuration files in a directory. The value is `None` for a loaded file; for any other
/// file it is true if the file can be read.
type Listing = BTreeMap<String, Option<bool>>;

impl Files {
    /// Lists the files of a project that was just loaded with the same `system` and `root`.
    pub fn of(system: Arc<dyn System>, root: PathBuf, project: &Project) -> Files {
        let mut files = Files { system, base: root, listings: BTreeMap::new() };
        files.list(project);
        files
    }

    /// Returns the directories of all modules, including missing directories.
    pub fn directories(&self) -> Vec<PathBuf> {
        self.listings.keys().map(|shown| self.path_of(shown)).collect()
    }

    /// Detects changed files and reloads them in `project`. Returns true if there were any.
    pub fn follow(&mut self, project: &mut EditableProject) -> bool {
        let mut changed = self.other_files(project);
        changed.extend(self.other_texts(project));
        if changed.is_empty() {
            return false;
        }
        project.tree_mut().reload(changed.iter().map(String::as_str));
        self.list(project);
        true
    }

    fn list(&mut self, project: &Project) {
        let listing = |shown: Arc<str>| {
            let listing = self.listing(project, &shown).unwrap_or_default();
            (shown, listing)
        };
        self.listings = directories(project).into_iter().map(listing).collect();
    }

    fn path_of(&self, shown: &str) -> PathBuf {
        normalize(&self.base.join(shown))
    }

    /// Returns files that were added or removed, and unloaded files that became readable or unreadable.
    fn other_files(&self, project: &Project) -> Vec<String> {
        let mut others = Vec::new();
        for (shown, known) in &self.listings {
            let Some(listing) = self.listing(project, shown) else { continue };
            let names: BTreeSet<&String> = listing.keys().chain(known.keys()).collect();
            let differ = names.into_iter().filter(|name| listing.get(*name) != known.get(*name));
            others.extend(differ.map(|name| shown_as(shown, name)));
        }
        others
    }

    /// Lists a directory; `None` if it exists but cannot be listed.
    fn listing(&self, project: &Project, shown: &Arc<str>) -> Option<Listing> {
        let path = self.path_of(shown);
        let entries = match self.system.list_directory(&path) {
            Err(error) if is_gone(&error) => Vec::new(),
            listed => listed.ok()?,
        };
        let candidates =
            entries.into_iter().filter(|it| !it.is_directory && is_candidate(&it.name));
        let described = candidates.map(|entry| {
            let is_loaded = project.tree().file(&shown_as(shown, &entry.name)).is_some();
            let readable =
                (!is_loaded).then(|| self.system.read_file(&path.join(&entry.name)).is_ok());
            (entry.name, readable)
        });
        Some(described.collect())
    }

    /// Returns the loaded files whose text on the disk differs.
    fn other_texts(&self, project: &Project) -> Vec<String> {
        let differs = |path: &&Arc<str>| {
            let Some((file, _)) = project.tree().file(path) else { return false };
            match self.system.read_file(&self.path_of(path)) {
                Ok(bytes) => !is_text_of(project, file, &bytes),
                Err(_) => true,
            }
        };
        project.tree().paths().filter(differs).map(ToString::to_string).collect()
    }
}

/// Returns the directories of all loaded modules, and the missing directories of module calls.
fn directories(project: &Project) -> BTreeSet<Arc<str>> {
    let db = project.db();
    let known = project.workspace().directories(db);
    let callers: Vec<_> = known.values().copied().collect();
    let mut all = called_paths(db, project.workspace(), &callers);
    all.extend(known.keys().cloned());
    all.insert(project.root().path(db).clone());
    all
}

fn is_text_of(project: &Project, file: File, bytes: &[u8]) -> bool {
    let db = project.db();
    let is_text = |bytes: &[u8]| {
        let mut rest = bytes;
        let mut blocks = file.blocks(db).iter().copied();
        blocks.all(|block: Block| match rest.strip_prefix(block.text(db).as_bytes()) {
            Some(after) => {
                rest = after;
                true
            }
            None => false,
        }) && rest.is_empty()
    };
    if file.decode_error(db).is_none() && is_text(bytes) {
        return true;
    }
    // A byte order mark and invalid UTF-8 are not part of the text in the database.
    let (text, error) = syntax::decode(bytes);
    let error = error.map(|error| u32::from(error.range.start()));
    error == file.decode_error(db) && is_text(text.as_bytes())
}

fn shown_as(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// Returns true if the file name has the extension of a configuration file, even if the file is not loaded.
fn is_candidate(name: &str) -> bool {
    let path = Path::new(name.strip_suffix(".json").unwrap_or(name));
    path.extension().is_some_and(|it| it == "tf" || it == "tofu")
}

#[cfg(test)]
mod tests {
    use db::MemorySystem;

    use super::*;

    /// Loads a project, applies `change`, follows it, and compares the diagnostics with those of a new project.
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
            EditableProject::load(shared(), PathBuf::from("."), BTreeMap::new()).expect("readable")
        };
        let mut project = load();
        project.checked();
        let mut files = Files::of(shared(), PathBuf::from("."), &project);
        assert!(!files.follow(&mut project));
        change(&system);
        assert_eq!(files.follow(&mut project), expected);
        assert!(!files.follow(&mut project));
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
