//! Diagnostics while the user types.
//!
//! ```text
//!  edit ─► blocks that it can have reached ─► checked at once, for the files that are open and edited
//!                                                    │ when that is done
//!                                                    ▼
//!                                   every module of the configurations, the edited one first
//! ```
//!
//! The immediate check is an approximation: it finds the affected blocks from the names that blocks mention. The
//! check of all modules afterwards is exact and corrects it. The next edit cancels both, but their memoized
//! results are kept.
//!
//! **Invariant:** only newer diagnostics replace the published diagnostics of a file.

use std::hash::{Hash as _, Hasher as _};

use db::{Block, Directory, File};
use hir::{Workspace, diagnostics::FileProblems};
use project::Edit;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use sorted::TreeMap;
use tower_lsp_server::ls_types::{
    Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, PreviousResultId,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticReport,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::{
    convert::diagnostic::Converter,
    documents::uri_of,
    roots::owning_workspaces,
    snapshot::{Outcome, Snapshot, Target, uncancelled},
    tfvars,
};

/// The pending part of an open file's check.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    Blocks(FxHashSet<Block>),
    Everything,
}

/// The state of an open file.
struct OpenFile {
    file: File,
    pending: Pending,
    /// The generation that a worker is checking.
    running: Option<u64>,
    /// The blocks that had diagnostics at the last check. Every check includes them.
    suspects: FxHashSet<Block>,
}

/// The files that are due for a check, and the published diagnostics.
#[derive(Default)]
pub(crate) struct Checks {
    open: TreeMap<String, OpenFile>,
    /// A hash of the last published diagnostics of each file. `None` if they must be published again.
    published: TreeMap<String, Option<u64>>,
    /// The generation: the number of changes so far.
    pub(crate) generation: u64,
    /// The modules that were edited since the last complete check.
    edited: Vec<Directory>,
    are_modules_due: bool,
    are_modules_running: bool,
    /// The generation of the last check of the files outside of modules.
    tfvars: Option<u64>,
}

/// A check for a worker.
pub(crate) enum Check {
    /// A check of the given blocks of an open file, or of all blocks if `blocks` is `None`.
    Blocks { path: String, target: Target, blocks: Option<FxHashSet<Block>> },
    /// A check of every module. Before it, new configurations are inferred in dependency order.
    Modules { modules: Vec<CheckedModule>, new: Vec<Workspace> },
    /// A check of the files outside of modules.
    OtherFiles,
}

/// A module, with the configuration in which it is checked.
#[derive(Clone, Copy)]
pub(crate) struct CheckedModule {
    pub(crate) workspace: Workspace,
    pub(crate) directory: Directory,
}

/// The diagnostics of a file, and the blocks that have some.
#[derive(Default)]
pub(crate) struct Findings {
    diagnostics: Vec<Diagnostic>,
    blocks: Vec<Block>,
}

/// A file with its findings.
pub(crate) struct CheckedFile {
    path: String,
    findings: Findings,
}

/// The result of a check.
pub(crate) struct Checked {
    pub(crate) generation: u64,
    pub(crate) found: Found,
}

/// The findings of a check.
pub(crate) enum Found {
    Blocks {
        path: String,
        findings: Option<Findings>,
    },
    /// Findings by path: the files of one module, or the files outside of modules.
    Files(Vec<CheckedFile>),
    /// The check of all modules has ended; `is_done` is false if an edit cancelled it.
    Modules {
        is_done: bool,
    },
}

impl Checks {
    /// Resets the state after a panic, so that everything is checked again. Keeps the published diagnostics,
    /// because they may have to be removed.
    pub(crate) fn reset(&mut self) {
        let before = std::mem::take(self);
        self.published = before.published;
        // Keeps counting, so that a result of a running check does not look current.
        self.generation = before.generation;
        self.changed(None);
    }

    /// Registers an open file, if it is not registered yet.
    pub(crate) fn open(&mut self, path: &str, file: File) {
        if self.open.get(path).is_some_and(|open| open.file == file) {
            return;
        }
        // Some editors discard the diagnostics of a file when it is closed, so they are published again.
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

    /// Unregisters a closed file.
    pub(crate) fn close(&mut self, path: &str) {
        if self.open.remove(path).is_some() {
            self.changed(None);
        }
    }

    /// Records a change of a module, or of unknown extent if `directory` is `None`.
    pub(crate) fn changed(&mut self, directory: Option<Directory>) {
        self.generation += 1;
        self.are_modules_due = true;
        match directory {
            Some(directory) if !self.edited.contains(&directory) => self.edited.push(directory),
            _ => {}
        }
    }

    /// Records a change of a file outside of modules.
    pub(crate) fn tfvars_changed(&mut self) {
        self.generation += 1;
    }

    /// Returns true if the files outside of modules have to be checked again, and marks them as checked.
    pub(crate) fn begin_tfvars(&mut self) -> bool {
        self.tfvars.replace(self.generation) != Some(self.generation)
    }

    /// Records a change that may affect every block.
    pub(crate) fn everything_changed(&mut self) {
        self.open.values_mut().for_each(|it| it.pending = Pending::Everything);
        self.changed(None);
    }

    /// Records an edit that can affect the blocks in `reached`, or all blocks if that is `None`.
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
                    // An edit may remove the block that had a diagnostic.
                    if !here.is_empty() || edit.blocks.is_empty() {
                        open.pending = Pending::Blocks(here);
                    }
                }
            }
        }
    }

    /// Returns the files to check now with their blocks, or `None` for all blocks, and marks them as being
    /// checked. Files for which `is_held` is true stay pending.
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

    /// Returns true if only the check of all modules is pending.
    pub(crate) fn are_modules_next(&self) -> bool {
        let is_quiet = self.open.values().all(|open| open.pending == Pending::Nothing);
        self.are_modules_due && !self.are_modules_running && is_quiet
    }

    /// Begins the check of all modules if nothing else is pending. Returns the modules that were edited since the
    /// last complete one.
    pub(crate) fn begin_modules(&mut self) -> Option<Vec<Directory>> {
        if !self.are_modules_next() {
            return None;
        }
        self.are_modules_due = false;
        self.are_modules_running = true;
        Some(self.edited.clone())
    }

    /// Records the result of a check. Returns the diagnostics to publish, for the files whose diagnostics differ
    /// from the published ones.
    pub(crate) fn finish(&mut self, checked: Checked) -> Vec<(String, Vec<Diagnostic>)> {
        let is_current = checked.generation == self.generation;
        match checked.found {
            Found::Blocks { path, findings } => {
                let Some(open) = self.open.get_mut(&path).filter(|_| is_current) else {
                    return Vec::new();
                };
                // A failure without an edit is a bug and would only repeat, so the check is not repeated.
                open.pending = Pending::Nothing;
                open.running = None;
                let Some(Findings { diagnostics, blocks }) = findings else { return Vec::new() };
                open.suspects = blocks.into_iter().collect();
                self.publish(path, diagnostics).into_iter().collect()
            }
            Found::Files(files) if is_current => {
                let mut published = Vec::new();
                for CheckedFile { path, findings: Findings { diagnostics, blocks } } in files {
                    if let Some(open) = self.open.get_mut(&path) {
                        open.suspects = blocks.into_iter().collect();
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

    /// Returns the diagnostics of a file to publish. `None` if they equal the published ones.
    fn publish(
        &mut self,
        path: String,
        diagnostics: Vec<Diagnostic>,
    ) -> Option<(String, Vec<Diagnostic>)> {
        let hash = Some(hash(&diagnostics));
        match self.published.get(&path) {
            Some(known) if *known == hash => return None,
            // A file without published diagnostics needs an empty list only if it is open.
            None if diagnostics.is_empty() && !self.open.contains_key(&path) => return None,
            _ => {}
        }
        self.published.insert(path.clone(), hash);
        Some((path, diagnostics))
    }

    /// Removes the files that are no longer part of a module, and returns them. Their diagnostics must be cleared.
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

/// Runs a check. `report` receives each finding as soon as it is available.
pub(crate) fn run(snapshot: Snapshot, check: Check, generation: u64, report: impl Fn(Checked)) {
    let report = |found| report(Checked { generation, found });
    match check {
        Check::Blocks { path, target, blocks } => {
            let outcome = uncancelled(|| {
                snapshot.db.unwind_if_revision_cancelled();
                of_blocks(&snapshot, target, blocks.as_ref())
            });
            drop(snapshot);
            let findings = match outcome {
                Outcome::Done(findings) => Some(findings),
                Outcome::Cancelled | Outcome::Panicked => None,
            };
            report(Found::Blocks { path, findings });
        }
        Check::OtherFiles => {
            let of_file = |path: String| {
                let diagnostics = tfvars::problems(&snapshot, &path);
                CheckedFile { path, findings: Findings { diagnostics, blocks: Vec::new() } }
            };
            let find = || tfvars::paths(&snapshot).into_iter().map(of_file).collect();
            let outcome = uncancelled(find);
            drop(snapshot);
            if let Outcome::Done(found) = outcome {
                report(Found::Files(found));
            }
        }
        Check::Modules { modules, new } => {
            let is_done = of_modules(&snapshot, &modules, &new, |it| report(Found::Files(it)));
            drop(snapshot);
            report(Found::Modules { is_done });
        }
    }
}

/// Checks each module and passes its diagnostics to `report`. Returns false if an edit cancelled the check. A panic
/// in one module does not affect the others.
fn of_modules(
    snapshot: &Snapshot,
    modules: &[CheckedModule],
    new: &[Workspace],
    report: impl Fn(Vec<CheckedFile>),
) -> bool {
    let is_cancelled = |outcome| matches!(outcome, Outcome::Cancelled);
    for workspace in new {
        if is_cancelled(uncancelled(|| project::infer(&*snapshot.db, *workspace))) {
            return false;
        }
    }
    for module in modules {
        let of_module = || report(of_module(snapshot, *module));
        if is_cancelled(uncancelled(of_module)) {
            return false;
        }
    }
    true
}

fn of_blocks(snapshot: &Snapshot, target: Target, blocks: Option<&FxHashSet<Block>>) -> Findings {
    let Target { workspace, directory, file } = target;
    let is_asked = |block| blocks.is_none_or(|blocks| blocks.contains(&block));
    let problems =
        hir::diagnostics::of_blocks_of_file(&*snapshot.db, workspace, directory, file, is_asked);
    converted(snapshot, problems)
}

fn converted(snapshot: &Snapshot, problems: FileProblems) -> Findings {
    let diagnostics = Converter::new(snapshot).diagnostics(&problems.diagnostics);
    Findings { diagnostics, blocks: problems.blocks }
}

fn of_module(snapshot: &Snapshot, module: CheckedModule) -> Vec<CheckedFile> {
    let CheckedModule { workspace, directory } = module;
    let files = project::module_problems(&*snapshot.db, workspace, directory);
    let files = files.into_iter().map(|(file, problems)| CheckedFile {
        path: file.path(&*snapshot.db).to_string(),
        findings: converted(snapshot, problems),
    });
    files.collect()
}

/// The answer to a request for the diagnostics of a file.
pub(crate) fn report(
    snapshot: &Snapshot,
    target: Target,
    previous: Option<&str>,
) -> DocumentDiagnosticReport {
    full_report(of_blocks(snapshot, target, None).diagnostics, previous)
}

/// The answer to a request for the diagnostics of a file outside of modules.
pub(crate) fn report_outside_modules(
    snapshot: &Snapshot,
    path: &str,
    previous: Option<&str>,
) -> DocumentDiagnosticReport {
    full_report(tfvars::problems(snapshot, path), previous)
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

/// The answer for an address that is not a file.
pub(crate) fn empty_report() -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport::default())
}

/// The answer to a request for all diagnostics: every file that has diagnostics or had some in the client's
/// previous result.
pub(crate) fn workspace_report(
    snapshot: &Snapshot,
    previous: &[PreviousResultId],
) -> WorkspaceDiagnosticReport {
    let mut known: FxHashMap<&str, &str> =
        previous.iter().map(|it| (it.uri.as_str(), it.value.as_str())).collect();
    let mut items = Vec::new();
    let modules = owning_workspaces(&*snapshot.db, &snapshot.workspaces);
    let mut modules: Vec<(Directory, Workspace)> = modules.into_iter().collect();
    modules.sort_by_key(|(directory, _)| directory.path(&*snapshot.db));
    let of_modules = modules.into_iter().flat_map(|(directory, workspace)| {
        let files = of_module(snapshot, CheckedModule { workspace, directory });
        files.into_iter().map(|it| (it.path, it.findings.diagnostics))
    });
    let others = tfvars::paths(snapshot).into_iter().map(|path| {
        let diagnostics = tfvars::problems(snapshot, &path);
        (path, diagnostics)
    });
    for (path, diagnostics) in of_modules.chain(others) {
        let document = snapshot.documents.get(&path);
        let uri = document.map(|it| it.uri.clone()).or_else(|| uri_of(&path));
        let Some(uri) = uri else { continue };
        let version = document.map(|it| i64::from(it.version));
        let known = known.remove(uri.as_str());
        if known.is_some() || !diagnostics.is_empty() {
            items.push(file_report(uri, version, known, diagnostics));
        }
    }
    // Clears the diagnostics of files that are no longer part of a module.
    let gone = known.into_keys().filter_map(|uri| uri.parse().ok());
    items.extend(gone.map(|uri| file_report(uri, None, None, Vec::new())));
    WorkspaceDiagnosticReport { items }
}

/// The diagnostics of a file; "unchanged" if the client already has them.
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
