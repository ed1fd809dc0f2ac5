//! Diagnostics while somebody types.
//!
//! ```text
//!  edit ─► blocks that it can have reached ─► checked at once, for the files that are open and edited
//!                                                    │ when that is done
//!                                                    ▼
//!                                   every module of the configurations, the edited one first
//! ```
//!
//! What is checked at once is a guess that is right as far as the names that blocks mention tell; what is checked after it
//! is exact, and mends the guess where it was wrong. Both are cancelled by the next edit, and what they have computed by
//! then is not lost.
//!
//! **Invariant:** what is shown for a file is replaced by something newer only.

use std::{
    collections::BTreeMap,
    hash::{Hash as _, Hasher as _},
};

use db::{Block, Directory, File};
use hir::{Workspace, diagnostics::FileProblems};
use project::Edit;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use salsa::Database as _;
use tower_lsp_server::ls_types::{
    Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, PreviousResultId,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticReport,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::{
    beside,
    convert::diagnostic::Converter,
    documents::uri_of,
    server::homes,
    snapshot::{Outcome, Snapshot, Target, uncancelled},
};

/// What is to be checked of an open file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    Blocks(FxHashSet<Block>),
    Everything,
}

/// What is known of an open file.
struct OpenFile {
    file: File,
    pending: Pending,
    /// The generation that a worker checks now.
    running: Option<u64>,
    /// The blocks that something was wrong with, the last time: they are looked at each time.
    suspects: FxHashSet<Block>,
}

/// Which files are to be checked, and what was said of them.
#[derive(Default)]
pub(crate) struct Checks {
    open: BTreeMap<String, OpenFile>,
    /// A hash of what was last published for each file that has something published; none if it is to be said again.
    published: BTreeMap<String, Option<u64>>,
    /// How often something has changed.
    pub(crate) generation: u64,
    /// Modules that were edited since they were last checked as a whole.
    edited: Vec<Directory>,
    are_modules_due: bool,
    are_modules_running: bool,
    /// The generation that files beside the modules were looked at in.
    beside: Option<u64>,
}

/// A check that a worker does.
pub(crate) enum Check {
    /// Some blocks of a file that is edited.
    Blocks { path: String, target: Target, blocks: Option<FxHashSet<Block>> },
    /// Every module; configurations that are new are inferred in order first.
    Modules { modules: Vec<(Workspace, Directory)>, new: Vec<Workspace> },
    /// Files beside the modules.
    Beside,
}

/// What a check found.
pub(crate) struct Checked {
    pub(crate) generation: u64,
    pub(crate) found: Found,
}

/// What was found, or that the check was cancelled.
pub(crate) enum Found {
    Blocks {
        path: String,
        found: Option<(Vec<Diagnostic>, Vec<Block>)>,
    },
    /// Files by path: those of one module, or those beside them.
    Files(Vec<(String, Vec<Diagnostic>, Vec<Block>)>),
    /// All modules were checked; or not, because an edit came in between.
    Modules {
        is_done: bool,
    },
}

impl Checks {
    /// After a bug all is to be checked again; what was said before is remembered, for it may have to be taken back.
    pub(crate) fn begin_again(&mut self) {
        let before = std::mem::take(self);
        self.published = before.published;
        // What is being checked now is not to be mistaken for something new.
        self.generation = before.generation;
        self.changed(None);
    }

    /// A file is open from now on, if it was not yet.
    pub(crate) fn open(&mut self, path: &str, file: File) {
        if self.open.get(path).is_some_and(|open| open.file == file) {
            return;
        }
        // Not every editor keeps what was said of a file that it had closed.
        if let Some(published) = self.published.get_mut(path) {
            *published = None;
        }
        let open = OpenFile {
            file,
            pending: Pending::Everything,
            running: None,
            suspects: FxHashSet::default(),
        };
        self.open.insert(path.to_owned(), open);
        self.changed(None);
    }

    /// A file is closed.
    pub(crate) fn close(&mut self, path: &str) {
        if self.open.remove(path).is_some() {
            self.changed(None);
        }
    }

    /// Something changed: a module, or who knows what.
    pub(crate) fn changed(&mut self, directory: Option<Directory>) {
        self.generation += 1;
        self.are_modules_due = true;
        match directory {
            Some(directory) if !self.edited.contains(&directory) => self.edited.push(directory),
            _ => {}
        }
    }

    /// The text of a file beside the modules changed.
    pub(crate) fn beside_changed(&mut self) {
        self.generation += 1;
    }

    /// Whether files beside the modules are to be looked at: something has changed. From now on they count as looked at.
    pub(crate) fn begin_beside(&mut self) -> bool {
        self.beside.replace(self.generation) != Some(self.generation)
    }

    /// Everything may be different.
    pub(crate) fn everything_changed(&mut self) {
        self.open.values_mut().for_each(|it| it.pending = Pending::Everything);
        self.changed(None);
    }

    /// A text changed, and can have reached some blocks of its module, or all.
    pub(crate) fn edited(
        &mut self,
        edit: &Edit,
        reached: Option<FxHashSet<Block>>,
        file_of: impl Fn(Block) -> File,
    ) {
        self.changed(Some(edit.directory));
        for open in self.open.values_mut() {
            let Some(reached) = &reached else {
                open.pending = Pending::Everything;
                continue;
            };
            let here = reached.iter().copied().filter(|block| file_of(*block) == open.file);
            match &mut open.pending {
                Pending::Everything => {}
                Pending::Blocks(blocks) => blocks.extend(here),
                Pending::Nothing => {
                    let here: FxHashSet<Block> = here.collect();
                    // A block that is gone may have been the one that something was wrong with.
                    if !here.is_empty() || edit.blocks.is_empty() {
                        open.pending = Pending::Blocks(here);
                    }
                }
            }
        }
    }

    /// What is to be checked at once, by path; for each the blocks, or all. From now on it counts as being checked.
    /// Files that `is_held` stay due.
    pub(crate) fn begin(
        &mut self,
        is_held: impl Fn(&str) -> bool,
    ) -> Vec<(String, Option<FxHashSet<Block>>)> {
        let generation = self.generation;
        let is_due = |path: &str, open: &OpenFile| {
            open.running != Some(generation) && open.pending != Pending::Nothing && !is_held(path)
        };
        let due = self.open.iter_mut().filter(|(path, open)| is_due(path, open));
        due.filter_map(|(path, open)| {
            let blocks = match &open.pending {
                Pending::Nothing => return None,
                Pending::Everything => None,
                Pending::Blocks(blocks) => Some(blocks.union(&open.suspects).copied().collect()),
            };
            open.running = Some(generation);
            Some((path.clone(), blocks))
        })
        .collect()
    }

    /// Whether nothing is left to check but all modules.
    pub(crate) fn are_modules_next(&self) -> bool {
        let is_quiet = self.open.values().all(|open| open.pending == Pending::Nothing);
        self.are_modules_due && !self.are_modules_running && is_quiet
    }

    /// Whether all modules are to be checked now: nothing more urgent is left. Those that were edited since come back.
    pub(crate) fn begin_modules(&mut self) -> Option<Vec<Directory>> {
        if !self.are_modules_next() {
            return None;
        }
        self.are_modules_due = false;
        self.are_modules_running = true;
        Some(self.edited.clone())
    }

    /// Takes over what was found. What is to be published: the diagnostics of files that have others now.
    pub(crate) fn finish(&mut self, checked: Checked) -> Vec<(String, Vec<Diagnostic>)> {
        let is_current = checked.generation == self.generation;
        match checked.found {
            Found::Blocks { path, found } => {
                let Some(open) = self.open.get_mut(&path).filter(|_| is_current) else {
                    return Vec::new();
                };
                // What failed without an edit failed by a bug, and would again.
                open.pending = Pending::Nothing;
                open.running = None;
                let Some((diagnostics, suspects)) = found else { return Vec::new() };
                open.suspects = suspects.into_iter().collect();
                self.publish(path, diagnostics).into_iter().collect()
            }
            Found::Files(files) if is_current => {
                let mut published = Vec::new();
                for (path, diagnostics, suspects) in files {
                    if let Some(open) = self.open.get_mut(&path) {
                        open.suspects = suspects.into_iter().collect();
                    }
                    published.extend(self.publish(path, diagnostics));
                }
                published
            }
            Found::Files(_) => Vec::new(),
            Found::Modules { is_done } => {
                self.are_modules_running = false;
                match is_done && is_current {
                    true => self.edited.clear(),
                    false => self.are_modules_due = true,
                }
                Vec::new()
            }
        }
    }

    /// What is to be published of a file, unless it is what was published last.
    fn publish(
        &mut self,
        path: String,
        diagnostics: Vec<Diagnostic>,
    ) -> Option<(String, Vec<Diagnostic>)> {
        let hash = Some(hash(&diagnostics));
        match self.published.get(&path) {
            Some(known) if *known == hash => return None,
            // A file of which nothing was ever said has nothing wrong, unless somebody looks at it.
            None if diagnostics.is_empty() && !self.open.contains_key(&path) => return None,
            _ => {}
        }
        self.published.insert(path.clone(), hash);
        Some((path, diagnostics))
    }

    /// Files that something was published of and that are not part of any module any more.
    pub(crate) fn forget(&mut self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let gone: Vec<String> =
            self.published.keys().filter(|path| !is_there(path)).cloned().collect();
        self.published.retain(|path, _| !gone.contains(path));
        gone
    }
}

fn hash(diagnostics: &[Diagnostic]) -> u64 {
    let mut hasher = FxHasher::default();
    serde_json::to_string(diagnostics).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// Does a check. `tell` takes what is found, as it is found.
pub(crate) fn run(snapshot: Snapshot, check: Check, generation: u64, tell: impl Fn(Checked)) {
    let tell = |found| tell(Checked { generation, found });
    match check {
        Check::Blocks { path, target, blocks } => {
            let outcome = uncancelled(|| {
                snapshot.db.unwind_if_revision_cancelled();
                of_blocks(&snapshot, target, blocks.as_ref())
            });
            drop(snapshot);
            let found = match outcome {
                Outcome::Done(found) => Some(found),
                Outcome::Cancelled | Outcome::Panicked => None,
            };
            tell(Found::Blocks { path, found });
        }
        Check::Beside => {
            let of_file = |path: String| {
                let problems = beside::problems(&snapshot, &path);
                (path, problems, Vec::new())
            };
            let find = || beside::paths(&snapshot).into_iter().map(of_file).collect();
            let outcome = uncancelled(find);
            drop(snapshot);
            if let Outcome::Done(found) = outcome {
                tell(Found::Files(found));
            }
        }
        Check::Modules { modules, new } => {
            let is_done = of_modules(&snapshot, &modules, &new, |it| tell(Found::Files(it)));
            drop(snapshot);
            tell(Found::Modules { is_done });
        }
    }
}

/// Tells what is wrong with each module; whether it came to the end. A bug in one keeps nothing from the others.
fn of_modules(
    snapshot: &Snapshot,
    modules: &[(Workspace, Directory)],
    new: &[Workspace],
    tell: impl Fn(Vec<(String, Vec<Diagnostic>, Vec<Block>)>),
) -> bool {
    let is_cancelled = |outcome| matches!(outcome, Outcome::Cancelled);
    for workspace in new {
        if is_cancelled(uncancelled(|| project::infer(&snapshot.db, *workspace))) {
            return false;
        }
    }
    for (workspace, directory) in modules {
        let of_module = || tell(of_module(snapshot, *workspace, *directory));
        if is_cancelled(uncancelled(of_module)) {
            return false;
        }
    }
    true
}

fn of_blocks(
    snapshot: &Snapshot,
    target: Target,
    blocks: Option<&FxHashSet<Block>>,
) -> (Vec<Diagnostic>, Vec<Block>) {
    let Target { workspace, directory, file } = target;
    let is_asked = |block| blocks.is_none_or(|blocks| blocks.contains(&block));
    let problems =
        hir::diagnostics::of_blocks_of_file(&snapshot.db, workspace, directory, file, is_asked);
    converted(snapshot, problems)
}

fn converted(snapshot: &Snapshot, problems: FileProblems) -> (Vec<Diagnostic>, Vec<Block>) {
    (Converter::new(snapshot).diagnostics(&problems.diagnostics), problems.blocks)
}

fn of_module(
    snapshot: &Snapshot,
    workspace: Workspace,
    directory: Directory,
) -> Vec<(String, Vec<Diagnostic>, Vec<Block>)> {
    let files = project::module_problems(&snapshot.db, workspace, directory);
    let files = files.into_iter().map(|(file, problems)| {
        let (diagnostics, blocks) = converted(snapshot, problems);
        (file.path(&snapshot.db).to_string(), diagnostics, blocks)
    });
    files.collect()
}

/// The answer to a client that asks for the diagnostics of a file.
pub(crate) fn report(
    snapshot: &Snapshot,
    target: Target,
    previous: Option<&str>,
) -> DocumentDiagnosticReport {
    let (items, _) = of_blocks(snapshot, target, None);
    full_report(items, previous)
}

/// The same for a file that is no part of a module.
pub(crate) fn report_beside(
    snapshot: &Snapshot,
    path: &str,
    previous: Option<&str>,
) -> DocumentDiagnosticReport {
    full_report(beside::problems(snapshot, path), previous)
}

fn full_report(items: Vec<Diagnostic>, previous: Option<&str>) -> DocumentDiagnosticReport {
    let id = format!("{:x}", hash(&items));
    if previous == Some(id.as_str()) {
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                result_id: id,
            },
        });
    }
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport {
            result_id: Some(id),
            items,
        },
    })
}

/// The answer for what is no file.
pub(crate) fn empty_report() -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport::default())
}

/// The answer to a client that asks for all diagnostics: those of each file that has some, or had some.
pub(crate) fn workspace_report(
    snapshot: &Snapshot,
    previous: &[PreviousResultId],
) -> WorkspaceDiagnosticReport {
    let mut known: FxHashMap<&str, &str> =
        previous.iter().map(|it| (it.uri.as_str(), it.value.as_str())).collect();
    let mut items = Vec::new();
    let modules = homes(&snapshot.db, &snapshot.workspaces);
    let mut modules: Vec<(Directory, Workspace)> = modules.into_iter().collect();
    modules.sort_by_key(|(directory, _)| directory.path(&snapshot.db));
    let of_modules = modules.into_iter().flat_map(|(directory, workspace)| {
        let files = of_module(snapshot, workspace, directory);
        files.into_iter().map(|(path, diagnostics, _)| (path, diagnostics))
    });
    let beside = beside::paths(snapshot).into_iter().map(|path| {
        let diagnostics = beside::problems(snapshot, &path);
        (path, diagnostics)
    });
    for (path, diagnostics) in of_modules.chain(beside) {
        let document = snapshot.documents.get(&path);
        let uri = document.map(|it| it.uri.clone()).or_else(|| uri_of(&path));
        let Some(uri) = uri else { continue };
        let version = document.map(|it| i64::from(it.version));
        let known = known.remove(uri.as_str());
        if known.is_some() || !diagnostics.is_empty() {
            items.push(file_report(uri, version, known, diagnostics));
        }
    }
    // What is not part of any module any more has nothing wrong.
    let gone = known.into_keys().filter_map(|uri| uri.parse().ok());
    items.extend(gone.map(|uri| file_report(uri, None, None, Vec::new())));
    WorkspaceDiagnosticReport { items }
}

/// The diagnostics of a file, unless they are those that the client knows.
fn file_report(
    uri: Uri,
    version: Option<i64>,
    known: Option<&str>,
    items: Vec<Diagnostic>,
) -> WorkspaceDocumentDiagnosticReport {
    let result_id = format!("{:x}", hash(&items));
    if known == Some(result_id.as_str()) {
        let unchanged_document_diagnostic_report = UnchangedDocumentDiagnosticReport { result_id };
        let report = WorkspaceUnchangedDocumentDiagnosticReport {
            uri,
            version,
            unchanged_document_diagnostic_report,
        };
        return WorkspaceDocumentDiagnosticReport::Unchanged(report);
    }
    let result_id = Some(result_id);
    let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id, items };
    WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
        uri,
        version,
        full_document_diagnostic_report,
    })
}
