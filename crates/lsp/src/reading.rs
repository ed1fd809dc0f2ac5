//! Reading what takes long beside the server thread: who calls whom in the workspace, and schemas of providers.
//!
//! ```text
//!  server thread ── what to read ──► reader (one thread) ── Message::Read ──► server thread
//!        │ answers and edits meanwhile
//! ```
//!
//! A module is there at once, as a configuration of its own, and becomes part of those that call it when they are found. Its
//! first check waits a moment for that and for the schemas, so that a person does not see what is taken back.
//!
//! **Invariant:** whatever is begun is answered, be it with nothing: something waits for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, mpsc::Sender},
    time::{Duration, Instant},
};

use addr::ProviderSource;
use db::System;
use hir::Workspace;
use values::Str;

use crate::{
    installation::{Installation, Installed},
    roots::CallGraph,
    server::Message,
    workers::Workers,
};

/// How long the first check of a module waits for what is read.
const PATIENCE: Duration = Duration::from_secs(15);

/// What was read.
pub(crate) enum Read {
    CallGraph(CallGraph),
    Schemas(Schemas),
}

/// The schemas that were found for a configuration.
pub(crate) struct Schemas {
    /// The directory of its root module.
    pub(crate) root: String,
    pub(crate) workspace: Workspace,
    pub(crate) found: Vec<(ProviderSource, Installed)>,
}

/// What is being read, and what waits for it.
pub(crate) struct Reading {
    reader: Workers,
    messages: Sender<Message>,
    /// Who calls whom, once somebody has asked and until a file changes.
    pub(crate) graph: Option<CallGraph>,
    is_scanning: bool,
    /// Whether files have changed since the scan began.
    is_outdated: bool,
    /// Directories that somebody opened whose callers are not known yet.
    unplaced: BTreeSet<String>,
    /// Whether all modules of the workspace are to be loaded when they are known.
    wants_everything: bool,
    /// Until when first checks wait.
    until: Option<Instant>,
}

impl Reading {
    pub(crate) fn new(messages: Sender<Message>) -> Reading {
        Reading {
            reader: Workers::start("reader", 1),
            messages,
            graph: None,
            is_scanning: false,
            is_outdated: false,
            unplaced: BTreeSet::new(),
            wants_everything: false,
            until: None,
        }
    }

    fn spawn(&self, read: impl FnOnce() -> Read + Send + 'static) {
        let messages = self.messages.clone();
        self.reader.spawn(move || drop(messages.send(Message::Read(read()))));
    }

    /// Files came, went or changed, or the folders of the workspace did.
    pub(crate) fn files_changed(&mut self) {
        self.graph = None;
        self.is_outdated = self.is_scanning;
    }

    /// Finds out who calls the module in a directory.
    pub(crate) fn place(&mut self, directory: &str, system: &Arc<dyn System>, folders: &[String]) {
        self.unplaced.insert(directory.to_owned());
        self.wait();
        self.scan(system, folders);
    }

    /// Finds all modules of the workspace.
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

    /// Takes over what a scan found: the directories that waited for it, and whether everything is to be loaded.
    pub(crate) fn scanned(&mut self) -> (BTreeSet<String>, bool) {
        self.is_scanning = false;
        (std::mem::take(&mut self.unplaced), std::mem::take(&mut self.wants_everything))
    }

    /// Keeps what a scan found, unless files have changed since it began.
    pub(crate) fn keep(&mut self, graph: CallGraph) {
        self.graph = (!std::mem::take(&mut self.is_outdated)).then_some(graph);
    }

    /// Reads schemas for a configuration.
    pub(crate) fn schemas(
        &self,
        installation: &Arc<dyn Installation>,
        (root, workspace): (String, Workspace),
        requirements: BTreeMap<ProviderSource, Vec<Str>>,
    ) {
        let installation = Arc::clone(installation);
        self.spawn(move || {
            let directory = PathBuf::from(&root);
            let read = || installation.schemas(&directory, &requirements);
            let found = catch_unwind(AssertUnwindSafe(read)).unwrap_or_default();
            Read::Schemas(Schemas { root, workspace, found })
        });
    }

    /// First checks wait from now on.
    pub(crate) fn wait(&mut self) {
        self.until = Some(now() + PATIENCE);
    }

    /// How long first checks still wait; `None` if they do not.
    pub(crate) fn patience(&self) -> Option<Duration> {
        Some(self.until?.saturating_duration_since(now()))
    }

    /// First checks have waited long enough.
    pub(crate) fn lose_patience(&mut self) {
        self.until = None;
    }

    /// Whether nobody knows yet who calls the module in a directory.
    pub(crate) fn is_unplaced(&self, directory: &str) -> bool {
        self.unplaced.contains(directory)
    }

    /// Whether somebody may call a module that is open, or that was asked for, and is not known yet.
    pub(crate) fn looks_for_modules(&self) -> bool {
        self.is_scanning && (self.wants_everything || !self.unplaced.is_empty())
    }
}

/// How long a person has waited is a matter of no configuration, and a wall clock may be set meanwhile.
#[expect(clippy::disallowed_methods, reason = "nothing that is said depends on it")]
fn now() -> Instant {
    Instant::now()
}
