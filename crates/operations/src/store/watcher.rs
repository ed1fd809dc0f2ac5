//! The journal of a `watch` process. A watcher holds no lock on the state, so it has a separate journal beside the
//! state. The journal exists as long as an ephemeral resource is open, and is locked as long as the watcher lives.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use addr::{ProviderSource, ResourceInstance};
use backend::{JournalStore, LocalJournal, LocalPaths, StoreError};
use db::{Diagnostic, Sources, Summary};
use durability::{EphemeralJournal, Writer, file_fault, recovery};
use engine::{NoJournal, Number};
use provider::BoxFuture;
use state::journal::{Begin, Journal};

use super::StateOptions;
use crate::{
    PROGRAM,
    session::{Failure, Session},
};

/// The journal of a watcher.
pub struct WatchJournal {
    paths: LocalPaths,
    id: String,
    writer: Option<Arc<Writer>>,
    /// The number of open resources.
    open: Arc<AtomicUsize>,
    /// True if the journal cannot be written. Watching continues without it.
    is_off: bool,
}

impl WatchJournal {
    /// Creates a journal without writing anything.
    pub fn new(session: &Session, options: &StateOptions) -> Result<WatchJournal, Failure> {
        let paths = super::paths(session, options)?;
        let (id, open) = (uuid::Uuid::new_v4().to_string(), Arc::default());
        let is_off = LocalJournal::of_watcher(&paths.write, &id).check_writable().is_err();
        Ok(WatchJournal { paths, id, writer: None, open, is_off })
    }

    /// The journal for resources that are opened and closed from now on.
    pub fn openings(&mut self, session: &Session) -> Arc<dyn engine::Journal> {
        if self.is_off {
            return Arc::new(NoJournal);
        }
        let (paths, id) = (&self.paths, &self.id);
        let writer = self.writer.get_or_insert_with(|| {
            let store = LocalJournal::of_watcher(&paths.write, id);
            let failpoints = session.failpoints.clone();
            Arc::new(Writer::new(Arc::new(store), begin(session), Vec::new(), failpoints))
        });
        let (writer, system) = (Arc::clone(writer), Arc::clone(&session.system));
        let openings = EphemeralJournal::new(writer, system, session.failpoints.clone());
        Arc::new(OpenCount { openings, open: Arc::clone(&self.open) })
    }

    /// Ends the journal if no resource is open. The next opening starts a new one.
    pub fn end_if_all_is_closed(&mut self, session: &Session) {
        if self.open.load(Ordering::Relaxed) == 0 {
            self.end(session);
        }
    }

    /// Ends the journal. Resources that could not be closed were reported.
    pub fn end(&mut self, session: &Session) {
        if let Some(writer) = self.writer.take() {
            // Ignore a failure: everything in the journal was already reported.
            let _ = writer.end(begin(session));
        }
    }
}

/// Counts the open resources.
struct OpenCount {
    openings: EphemeralJournal,
    open: Arc<AtomicUsize>,
}

impl engine::Journal for OpenCount {
    fn opening(&self, address: &ResourceInstance, provider: &ProviderSource) -> Number {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.openings.opening(address, provider)
    }

    fn closed(&self, number: Number) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.openings.closed(number);
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        self.openings.durable()
    }
}

fn begin(session: &Session) -> Begin {
    Begin {
        operation: "mayfly watch".to_owned(),
        workspace: session.workspace().to_string(),
        time: session.timestamp(),
        program: PROGRAM.to_owned(),
        ..Begin::default()
    }
}

/// Reports the resources that killed watchers of this state left open.
pub fn report_dead_watchers(session: &Session, options: &StateOptions) -> Result<(), Failure> {
    report(session, &super::paths(session, options)?);
    Ok(())
}

/// Reports the resources that killed watchers of the state at `paths` left open, and removes their journals.
pub(super) fn report(session: &Session, paths: &LocalPaths) {
    for dead in LocalJournal::of_dead_watchers(&paths.write) {
        let found = match left_by(&dead.journal) {
            Ok(found) => found,
            Err(error) => {
                let detail = format!(
                    "{error}. It records the ephemeral resources that \"mayfly watch\" held open \
                     when it was killed, and is not removed. Correct its permissions, or remove \
                     it."
                );
                let warning = Diagnostic::new(Summary::WATCHER_JOURNAL_UNREADABLE, detail);
                session.view.diagnostics(&[warning], &Sources::default());
                continue;
            }
        };
        session.view.diagnostics(&found, &Sources::default());
        if let Err(error) = dead.journal.remove() {
            let cause = file_fault(&error).unwrap_or_else(|| format!("{error}."));
            let detail = format!("{cause} This warning is repeated until the file is removed.");
            let warning = Diagnostic::new(Summary::JOURNAL_REMOVAL, detail);
            session.view.diagnostics(&[warning], &Sources::default());
        }
    }
}

/// The diagnostics for the resources that the watcher of a journal left open.
///
/// # Errors
/// The journal cannot be read, so it must not be removed.
fn left_by(store: &LocalJournal) -> Result<Vec<Diagnostic>, StoreError> {
    let entries = match store.read() {
        Err(error @ StoreError::Damaged { .. }) => return Ok(vec![damaged(store, &error)]),
        read => read?.unwrap_or_default(),
    };
    Ok(match Journal::read(&entries) {
        Ok(Some(journal)) => {
            let openings: Vec<_> = journal.left_open().into_iter().cloned().collect();
            recovery::left_open(&openings).into_iter().collect()
        }
        Ok(None) => Vec::new(),
        Err(error) => vec![damaged(store, &error)],
    })
}

fn damaged(store: &LocalJournal, error: &dyn fmt::Display) -> Diagnostic {
    let detail = format!(
        "{}: {error}. It recorded the ephemeral resources that \"mayfly watch\" held open when it \
         was killed. It is removed, because it contains nothing else.",
        store.place()
    );
    Diagnostic::new(Summary::WATCHER_JOURNAL_DAMAGED, detail)
}
