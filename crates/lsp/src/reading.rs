//! Background reads that take long: the call graph of the workspace, and schemas of providers.
//!
//! ```text
//!  server thread ── what to read ──► reader (one thread) ── Message::Read ──► server thread
//!        │ answers and edits meanwhile
//! ```
//!
//! A module is available at once as a configuration of its own. It becomes part of its callers' configurations
//! once they are found. Its first check waits a limited time for that and for the schemas, so that the user does
//! not see diagnostics that disappear again.
//!
//! **Invariant:** every read that begins ends with a message, even if it found nothing, because checks and
//! requests wait for it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use addr::ProviderSource;
use db::System;
use hir::{Workspace, provisioner::ProvisionerSchemas};
use parallel::Workers;
use sorted::{TreeMap, TreeSet};
use values::Str;

use crate::{
    installation::{Installation, Installed},
    roots::CallGraph,
};

/// The maximal time that the first check of a module waits for background reads.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// The result of a background read.
pub(crate) enum Read {
    CallGraph(CallGraph),
    Schemas(Schemas),
}

/// A request for the schemas of a configuration.
pub(crate) struct SchemaRequest {
    /// The directory of its root module.
    pub(crate) root: String,
    pub(crate) workspace: Workspace,
    pub(crate) requirements: TreeMap<ProviderSource, Vec<Str>>,
    /// True if the provisioner plugins are read too.
    pub(crate) provisioners: bool,
}

/// The schemas that were found for a configuration.
pub(crate) struct Schemas {
    /// The directory of its root module.
    pub(crate) root: String,
    pub(crate) workspace: Workspace,
    pub(crate) found: Vec<(ProviderSource, Installed)>,
    /// The provisioner plugins. `None` if they were not read.
    pub(crate) provisioners: Option<ProvisionerSchemas>,
}

/// The state of the background reads.
pub(crate) struct Reading {
    reader: Workers,
    report: Arc<dyn Fn(Read) + Send + Sync>,
    /// The call graph of the workspace, from the first scan until a file changes.
    pub(crate) graph: Option<CallGraph>,
    is_scanning: bool,
    /// True if files have changed since the scan began.
    is_outdated: bool,
    /// The open directories whose callers are not known yet.
    unplaced: TreeSet<String>,
    /// True if all modules of the workspace must be loaded once they are known.
    wants_everything: bool,
    /// The end of the time for which first checks wait.
    until: Option<Instant>,
}

impl Reading {
    /// Starts the reader. `report` receives the result of each read, on the thread of the reader.
    pub(crate) fn new(report: Arc<dyn Fn(Read) + Send + Sync>) -> Reading {
        Reading {
            reader: Workers::start("reader", 1),
            report,
            graph: None,
            is_scanning: false,
            is_outdated: false,
            unplaced: TreeSet::new(),
            wants_everything: false,
            until: None,
        }
    }

    fn spawn(&self, read: impl FnOnce() -> Read + Send + 'static) {
        let report = Arc::clone(&self.report);
        self.reader.spawn(move || report(read()));
    }

    /// Records a change of files or workspace folders, which invalidates the call graph.
    pub(crate) fn files_changed(&mut self) {
        self.graph = None;
        self.is_outdated = self.is_scanning;
    }

    /// Requests the callers of the module in a directory.
    pub(crate) fn place(&mut self, directory: &str, system: &Arc<dyn System>, folders: &[String]) {
        self.unplaced.insert(directory.to_owned());
        self.wait();
        self.scan(system, folders);
    }

    /// Requests all modules of the workspace.
    pub(crate) fn find_everything(&mut self, system: &Arc<dyn System>, folders: &[String]) {
        self.wants_everything = true;
        self.scan(system, folders);
    }

    fn scan(&mut self, system: &Arc<dyn System>, folders: &[String]) {
        if std::mem::replace(&mut self.is_scanning, true) {
            return;
        }
        let (system, folders) = (Arc::clone(system), folders.to_vec());
        self.spawn(move || {
            let scan = || CallGraph::scan(&*system, &folders);
            Read::CallGraph(catch_unwind(AssertUnwindSafe(scan)).unwrap_or_default())
        });
    }

    /// Ends a scan. Returns the directories that waited for it, and true if everything must be loaded.
    pub(crate) fn scanned(&mut self) -> (TreeSet<String>, bool) {
        self.is_scanning = false;
        (std::mem::take(&mut self.unplaced), std::mem::take(&mut self.wants_everything))
    }

    /// Keeps the call graph of a scan, unless files have changed since the scan began.
    pub(crate) fn keep(&mut self, graph: CallGraph) {
        self.graph = (!std::mem::take(&mut self.is_outdated)).then_some(graph);
    }

    /// Reads the schemas of a configuration in the background.
    pub(crate) fn schemas(&self, installation: &Arc<dyn Installation>, request: SchemaRequest) {
        let installation = Arc::clone(installation);
        let SchemaRequest { root, workspace, requirements, provisioners } = request;
        self.spawn(move || {
            let directory = PathBuf::from(&root);
            let read = || installation.schemas(&directory, &requirements);
            let found = catch_unwind(AssertUnwindSafe(read)).unwrap_or_default();
            let read = || provisioners.then(|| installation.provisioners(&directory));
            let provisioners = catch_unwind(AssertUnwindSafe(read)).unwrap_or_default();
            Read::Schemas(Schemas { root, workspace, found, provisioners })
        });
    }

    /// Starts the time for which first checks wait.
    pub(crate) fn wait(&mut self) {
        self.until = Some(now() + MAX_WAIT);
    }

    /// The remaining time for which first checks wait. `None` if they do not wait.
    pub(crate) fn remaining_wait(&self) -> Option<Duration> {
        Some(self.until?.saturating_duration_since(now()))
    }

    /// Ends the waiting time of first checks.
    pub(crate) fn stop_waiting(&mut self) {
        self.until = None;
    }

    /// Returns true if the callers of the module in a directory are not known yet.
    pub(crate) fn is_unplaced(&self, directory: &str) -> bool {
        self.unplaced.contains(directory)
    }

    /// Returns true if a running scan may still find callers of an open module, or modules that a request needs.
    pub(crate) fn looks_for_modules(&self) -> bool {
        self.is_scanning && (self.wants_everything || !self.unplaced.is_empty())
    }
}

/// The current monotonic time. A wall clock could be changed during the wait.
#[expect(clippy::disallowed_methods, reason = "nothing that is said depends on it")]
fn now() -> Instant {
    Instant::now()
}
