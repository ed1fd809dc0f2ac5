//! Incremental checks of a configuration: computes only the diagnostics that an edit can affect.
//!
//! **Invariant:** the result equals that of a full check. If the effect of the edits since the last check is
//! unknown, everything is checked.

use db::{Block, Diagnostic, Directory, File};
use hir::{
    Program,
    diagnostics::FileProblems,
    statics::{self, Modules},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Handle, Project, batches, reverse_index::Edit, tree::Changes, warm_up};

/// The result of the last check.
pub(crate) struct LastCheck {
    files: FxHashMap<File, FileProblems>,
    program: Program,
    modules: Option<Modules>,
}

/// The blocks that edits can affect, by module.
type Reached = Vec<(Directory, FxHashSet<Block>)>;

impl Project {
    /// Returns the diagnostics and the program. The first call checks everything, as [`Project::checked`] does.
    /// Later calls need no dependency order, because most items are inferred already, and check only the blocks
    /// that the edits can affect.
    pub fn recheck(&mut self) -> (Vec<Diagnostic>, Program) {
        let changes = self.tree_mut().take_changes();
        // Problems with computed sources are reported in modules other than the edited ones.
        let before = self.looked.take();
        let modules = statics::modules(self.db(), self.workspace());
        let is_same = before.as_ref().is_none_or(|it| it.modules == *modules);
        let reached = self.reached(&changes).filter(|_| is_same);
        let looked = match (before, reached) {
            (Some(before), Some(reached)) => self.look_at(before, &changes.edits, &reached),
            (Some(_), None) => self.look_at_everything(),
            (None, _) => {
                warm_up::values(self.db(), self.workspace());
                self.look_at_everything()
            }
        };
        let diagnostics = self.problems_with(|_, file| {
            looked.files.get(&file).map(|it| it.diagnostics.clone()).unwrap_or_default()
        });
        let program = looked.program.clone();
        self.looked = Some(looked);
        (diagnostics, program)
    }

    /// Returns the blocks that the changes can affect; `None` if they can affect everything.
    fn reached(&self, changes: &Changes) -> Option<Reached> {
        if changes.is_more {
            return None;
        }
        let mut all = Reached::new();
        for edit in &changes.edits {
            let reached = self.tree().reached(edit)?;
            let is_root = edit.directory == self.root();
            if edit.changes_modules() || (!is_root && edit.changes_signature(&reached, self.db())) {
                return None;
            }
            match all.iter_mut().find(|(directory, _)| *directory == edit.directory) {
                Some((_, blocks)) => blocks.extend(reached),
                None => all.push((edit.directory, reached)),
            }
        }
        Some(all)
    }

    fn look_at_everything(&mut self) -> LastCheck {
        let directories = hir::reachable(self.db(), self.workspace());
        directories.iter().for_each(|directory| self.tree_mut().follow(*directory));
        let (db, workspace) = (self.db(), self.workspace());
        for &directory in &directories {
            warm_up::problems(db, workspace, directory);
        }
        let program = move |db: &dyn Handle| hir::program(db, workspace);
        let files = || {
            let files = directories.iter().flat_map(|&directory| {
                directory.files(db).iter().map(move |&file| (directory, file))
            });
            files.map(|(directory, file)| (file, self.of_file(directory, file, |_| true))).collect()
        };
        let (files, program) = batches::join(db, files, program);
        LastCheck { files, program, modules: statics::modules(db, workspace).clone() }
    }

    fn look_at(&self, before: LastCheck, edits: &[Edit], reached: &Reached) -> LastCheck {
        let mut files = before.files;
        let nothing = FxHashSet::default();
        for directory in hir::reachable(self.db(), self.workspace()) {
            let here = reached.iter().find(|(it, _)| *it == directory);
            let here = here.map_or(&nothing, |(_, blocks)| blocks);
            for &file in directory.files(self.db()) {
                let known = files.get(&file).map(|it| it.blocks.as_slice()).unwrap_or_default();
                // Check blocks with diagnostics again: the locations in these diagnostics may have moved.
                let suspects: FxHashSet<Block> = known.iter().copied().collect();
                let is_asked = |block| here.contains(&block) || suspects.contains(&block);
                if !here.is_empty() || !suspects.is_empty() {
                    files.insert(file, self.of_file(directory, file, is_asked));
                }
            }
        }
        let program = self.program_after(before.program, edits).unwrap_or_else(|| self.program());
        LastCheck { files, program, modules: before.modules }
    }

    fn program_after(&self, mut program: Program, edits: &[Edit]) -> Option<Program> {
        for edit in edits {
            if edit.redeclares {
                return None;
            }
            program = hir::program_with(self.db(), &program, edit.directory, &edit.blocks)?;
        }
        Some(program)
    }

    fn of_file(
        &self,
        directory: Directory,
        file: File,
        is_asked: impl Fn(Block) -> bool,
    ) -> FileProblems {
        let (db, workspace) = (self.db(), self.workspace());
        hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, is_asked)
    }
}
