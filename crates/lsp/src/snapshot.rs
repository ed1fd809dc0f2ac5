//! Requests, and the snapshots of the database from which they are answered.
//!
//! **Invariant:** a snapshot is dropped before its answer is sent. An edit waits until all snapshots are gone, and
//! a client may send an edit as soon as it has the answer.
//! **Invariant:** a panic while an answer is computed becomes the error of that answer; the server keeps running.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use db::{Directory, File};
use hir::Workspace;
use ide::{Document, FileRange};
use project::Handle;
use rustc_hash::FxHashMap;
use salsa::{CancellationToken, Cancelled};
use serde::Serialize;
use serde_json::Value as Json;
use sorted::{TreeMap, TreeSet};
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tower_lsp_server::{
    jsonrpc::{Error, ErrorCode, Result},
    ls_types::{Location, Uri},
};

use crate::{
    client::Client,
    documents::{self, Documents},
    installation::Installation,
    outgoing::Outgoing,
    position::{Encoding, Lines},
    settings::Settings,
};

/// A file of a module, with the configuration to which it belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) workspace: Workspace,
    pub(crate) directory: Directory,
    pub(crate) file: File,
}

/// The diagnostics of the files that the database rejects, by path.
pub(crate) type RejectedFiles = TreeMap<String, Vec<db::Diagnostic>>;

/// A snapshot of the database and of the server's state.
pub(crate) struct Snapshot {
    pub(crate) db: Box<dyn Handle>,
    pub(crate) encoding: Encoding,
    pub(crate) client: Arc<Client>,
    pub(crate) settings: Settings,
    /// Every loaded configuration.
    pub(crate) workspaces: Vec<Workspace>,
    /// The open documents of the client.
    pub(crate) documents: Documents,
    /// The open test files by path. Their texts are also in the database.
    pub(crate) tests: TreeMap<String, File>,
    /// The diagnostics of the rejected files.
    pub(crate) rejected: Arc<RejectedFiles>,
    /// The directories of the workspace that contain modules.
    pub(crate) modules: Arc<TreeSet<String>>,
    pub(crate) outgoing: UnboundedSender<Outgoing>,
    /// Access to the record of the last plan.
    pub(crate) installation: Arc<dyn Installation>,
    /// The counter of edits, which detects edits after the snapshot.
    pub(crate) edits: Edits,
}

/// A count of text edits. Other changes of the database do not move positions.
#[derive(Clone, Default)]
pub(crate) struct Edits {
    then: u64,
    now: Arc<AtomicU64>,
}

impl Edits {
    /// Counts an edit that is about to happen.
    pub(crate) fn add_one(&self) {
        self.now.fetch_add(1, Ordering::SeqCst);
    }

    /// The counter with its current value recorded.
    pub(crate) fn taken(&self) -> Edits {
        Edits { then: self.now.load(Ordering::SeqCst), now: Arc::clone(&self.now) }
    }

    fn were_any(&self) -> bool {
        self.now.load(Ordering::SeqCst) != self.then
    }
}

/// A cache of the lines of files.
pub(crate) struct LinesOfFiles<'s> {
    snapshot: &'s Snapshot,
    known: FxHashMap<File, (Option<Uri>, Lines)>,
}

impl LinesOfFiles<'_> {
    /// The location of a place.
    pub(crate) fn location(&mut self, place: FileRange) -> Option<Location> {
        let snapshot = self.snapshot;
        let (uri, lines) = self
            .known
            .entry(place.file)
            .or_insert_with(|| (snapshot.uri(place.file), snapshot.lines(place.file)));
        Some(Location::new(uri.clone()?, lines.range(place.range)))
    }
}

impl Snapshot {
    /// An open test file, with the module under test. `None` if no such module is loaded.
    pub(crate) fn test_target(&self, path: &str) -> Option<Target> {
        let file = *self.tests.get(path)?;
        let db = &*self.db;
        let targets = self.workspaces.iter().filter_map(|&workspace| {
            let directory = ide::module_under_test(db, workspace, path)?;
            Some(Target { workspace, directory, file })
        });
        // The configurations of a database know the same modules, but not the same schemas.
        targets.max_by_key(|it| it.workspace.root(db) == it.directory)
    }

    /// The open test files as documents for `ide`.
    pub(crate) fn test_documents(&self) -> impl Iterator<Item = Document<'_>> {
        let targets = self.tests.keys().filter_map(|path| self.test_target(path));
        targets.map(|target| self.document(target))
    }

    /// A file as a document for `ide`.
    pub(crate) fn document(&self, target: Target) -> Document<'_> {
        let Target { workspace, directory, file } = target;
        Document { db: &*self.db, workspace, directory, file }
    }

    /// The lines of a file.
    pub(crate) fn lines(&self, file: File) -> Lines {
        Lines::of(&*self.db, file, self.encoding)
    }

    /// A cache of the lines of files.
    pub(crate) fn lines_of_files(&self) -> LinesOfFiles<'_> {
        LinesOfFiles { snapshot: self, known: FxHashMap::default() }
    }

    /// The version of an open file.
    pub(crate) fn version(&self, file: File) -> Option<i32> {
        Some(self.documents.get(&**file.path(&*self.db))?.version)
    }

    /// Sends a notification in addition to the answer.
    pub(crate) fn send(&self, outgoing: Outgoing) {
        let _ = self.outgoing.send(outgoing);
    }

    /// The URI of a file.
    pub(crate) fn uri(&self, file: File) -> Option<Uri> {
        let path = file.path(&*self.db);
        let known = self.documents.get(&**path).map(|it| it.uri.clone());
        known.or_else(|| documents::uri_of(path))
    }

    /// The location of a place.
    pub(crate) fn location(&self, place: FileRange) -> Option<Location> {
        Some(Location::new(self.uri(place.file)?, self.lines(place.file).range(place.range)))
    }
}

/// Tracks whether the client still wants an answer.
#[derive(Default)]
pub(crate) struct Interest {
    is_gone: AtomicBool,
    running: Mutex<Option<CancellationToken>>,
}

impl Interest {
    /// Marks the answer as unwanted and cancels its computation.
    pub(crate) fn lose(&self) {
        self.is_gone.store(true, Ordering::SeqCst);
        if let Some(token) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            token.cancel();
        }
    }

    fn is_lost(&self) -> bool {
        self.is_gone.load(Ordering::SeqCst)
    }

    fn run(&self, db: &dyn Handle) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(db.cancellation_token());
    }
}

/// The data from the disk that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The file and the loaded part of its module; the request does not wait.
    File,
    /// The schemas and modules of the file's configuration; the request waits a limited time for them.
    Configuration,
    /// All callers of the module; without them the answer would be wrong.
    Callers,
}

/// The answer to a request: its JSON or an error.
pub(crate) type Answer = Result<Json>;

/// A computation of an answer, which runs again if an edit cancels it.
pub(crate) type Compute = Box<dyn Fn(&Snapshot, Option<Target>) -> Answer + Send>;

/// A request in the queue.
pub(crate) struct QueuedRequest {
    /// The path of the file that the request is about. `None` if it is about the whole workspace.
    pub(crate) path: Option<String>,
    /// The data that must be loaded before the request is answered.
    pub(crate) needs: Needs,
    pub(crate) interest: Arc<Interest>,
    pub(crate) reply: oneshot::Sender<Answer>,
    pub(crate) compute: Compute,
    /// The number of retries that are left after edits.
    pub(crate) attempts: u8,
}

impl QueuedRequest {
    /// Answers the request. Returns it if the computation was cancelled and must be repeated.
    pub(crate) fn answer(
        self,
        snapshot: Snapshot,
        target: Option<Target>,
    ) -> Option<QueuedRequest> {
        self.interest.run(&*snapshot.db);
        if self.interest.is_lost() {
            return None;
        }
        let outcome = uncancelled(|| {
            // Many requests may wait, and an edit waits for all of them, so each checks for cancellation first.
            snapshot.db.unwind_if_revision_cancelled();
            (self.compute)(&snapshot, target)
        });
        let is_edited = snapshot.edits.were_any();
        drop(snapshot);
        let answer = match outcome {
            Outcome::Done(answer) => answer,
            Outcome::Cancelled if self.interest.is_lost() => Err(Error::request_cancelled()),
            Outcome::Cancelled if is_edited => return self.outdated(),
            Outcome::Cancelled => return Some(self),
            Outcome::Panicked => Err(internal_error()),
        };
        let _ = self.reply.send(answer);
        None
    }

    /// Handles a change of the text while the request waited. Returns `None` if the request was about the old
    /// text; it is then answered with an error.
    pub(crate) fn outdated(mut self) -> Option<QueuedRequest> {
        if let Some(left) = self.attempts.checked_sub(1) {
            self.attempts = left;
            return Some(self);
        }
        let _ = self.reply.send(Err(content_modified()));
        None
    }
}

/// The outcome of a computation over a snapshot.
pub(crate) enum Outcome<R> {
    Done(R),
    /// Cancelled by an edit or by the client.
    Cancelled,
    /// Ended by a panic, which the panic hook has already reported.
    Panicked,
}

/// Runs a computation over a snapshot. Only this function of the server catches cancellation.
pub(crate) fn uncancelled<R>(compute: impl FnOnce() -> R) -> Outcome<R> {
    let caught = catch_unwind(AssertUnwindSafe(|| Cancelled::catch(AssertUnwindSafe(compute))));
    match caught {
        Ok(Ok(result)) => Outcome::Done(result),
        Ok(Err(_)) => Outcome::Cancelled,
        Err(panic) if panic.is::<Cancelled>() => Outcome::Cancelled,
        Err(panic) => {
            // Dropping the payload of a panic may panic again, which must not end the worker.
            drop(catch_unwind(AssertUnwindSafe(|| drop(panic))));
            Outcome::Panicked
        }
    }
}

/// The JSON of a result.
pub(crate) fn json_of(result: &impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(|_| Error::internal_error())
}

/// The error of a request that an edit made obsolete.
pub(crate) fn content_modified() -> Error {
    Error { code: ErrorCode::ContentModified, message: "the text has changed".into(), data: None }
}

/// The error of a request that ended with a panic.
pub(crate) fn internal_error() -> Error {
    let message = "Mayfly failed to answer because of a bug in Mayfly; the server continues";
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}

#[cfg(test)]
mod tests {
    use parallel::Workers;
    use project::Database;
    use salsa::Database as _;
    use std::{sync::mpsc, time::Duration};

    use salsa::Durability;

    use super::*;

    fn snapshot(db: &Database, edits: &Edits) -> Snapshot {
        Snapshot {
            db: db.handle(),
            encoding: Encoding::default(),
            client: Arc::default(),
            settings: Settings::default(),
            workspaces: Vec::new(),
            documents: Documents::new(),
            tests: TreeMap::new(),
            rejected: Arc::default(),
            modules: Arc::default(),
            outgoing: tokio::sync::mpsc::unbounded_channel().0,
            installation: Arc::new(crate::installation::Nothing),
            edits: edits.taken(),
        }
    }

    /// A pending request of a test.
    struct Asked {
        interest: Arc<Interest>,
        answer: oneshot::Receiver<Answer>,
        given_back: mpsc::Receiver<bool>,
    }

    fn ask(
        workers: &Workers,
        snapshot: Snapshot,
        attempts: u8,
        compute: impl Fn(&Snapshot) -> u32 + Send + 'static,
    ) -> Asked {
        let interest = Arc::<Interest>::default();
        let (reply, answer) = oneshot::channel();
        let (is_back, given_back) = mpsc::channel();
        let compute: Compute = Box::new(move |snapshot, _| Ok(compute(snapshot).into()));
        let interest_too = Arc::clone(&interest);
        let needs = Needs::File;
        let request =
            QueuedRequest { path: None, needs, interest: interest_too, reply, compute, attempts };
        workers.spawn(move || {
            let again = request.answer(snapshot, None);
            let _ = is_back.send(again.is_some());
        });
        Asked { interest, answer, given_back }
    }

    /// A computation that never ends, and a channel that reports its start.
    fn endless() -> (impl Fn(&Snapshot) -> u32 + Send + 'static, mpsc::Receiver<()>) {
        let (begin, begun) = mpsc::channel();
        let compute = move |snapshot: &Snapshot| -> u32 {
            let _ = begin.send(());
            loop {
                snapshot.db.unwind_if_revision_cancelled();
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        (compute, begun)
    }

    const PATIENCE: Duration = Duration::from_secs(20);

    impl Asked {
        /// Waits for the worker. Returns true if the request must be repeated, and the answer.
        fn end(mut self) -> (bool, Option<Answer>) {
            let is_back = self.given_back.recv_timeout(PATIENCE).expect("the worker is done");
            (is_back, self.answer.try_recv().ok())
        }
    }

    #[test]
    fn panic_in_a_request_is_an_error_and_the_worker_continues() {
        let (workers, db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (_, answer) =
            ask(&workers, snapshot(&db, &edits), 9, |_| panic!("a bug, as this test wants it"))
                .end();
        let error = answer.and_then(|it| it.err()).expect("an error");
        assert_eq!(error.code, ErrorCode::InternalError);
        assert!(!error.message.contains("as this test wants it"), "{}", error.message);
        let (_, answer) = ask(&workers, snapshot(&db, &edits), 9, |_| 7).end();
        assert_eq!(answer.and_then(std::result::Result::ok), Some(7.into()));
    }

    #[test]
    fn cancelled_request_stops_computing() {
        let (workers, db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let asked = ask(&workers, snapshot(&db, &edits), 9, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        asked.interest.lose();
        let (is_back, answer) = asked.end();
        assert!(!is_back, "it is not asked again");
        let error = answer.and_then(|it| it.err()).expect("an error");
        assert_eq!(error.code, ErrorCode::RequestCancelled);
        // A request that is cancelled before its turn does not begin.
        let (compute, begun) = endless();
        let (block, unblock) = mpsc::channel::<()>();
        workers.spawn(move || {
            let _ = unblock.recv();
        });
        let asked = ask(&workers, snapshot(&db, &edits), 9, compute);
        asked.interest.lose();
        drop(block);
        assert!(asked.end().1.is_none());
        assert!(begun.try_recv().is_err());
    }

    #[test]
    fn edit_retries_a_request_up_to_its_attempts() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        for (attempts, is_asked_again) in [(1, true), (0, false)] {
            let (compute, begun) = endless();
            let asked = ask(&workers, snapshot(&db, &edits), attempts, compute);
            begun.recv_timeout(PATIENCE).expect("it begins");
            edits.add_one();
            // Returns when the snapshot is gone.
            db.synthetic_write(Durability::LOW);
            let (is_back, answer) = asked.end();
            assert_eq!(is_back, is_asked_again);
            let code = answer.and_then(|it| it.err()).map(|error| error.code);
            assert_eq!(code, (!is_asked_again).then_some(ErrorCode::ContentModified));
        }
    }

    #[test]
    fn change_without_an_edit_always_retries_a_request() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let asked = ask(&workers, snapshot(&db, &edits), 0, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        db.synthetic_write(Durability::LOW);
        let (is_back, answer) = asked.end();
        assert!(is_back && answer.is_none());
    }

    /// An edit must not have to wait for queued requests, however many there are.
    #[test]
    fn queued_requests_do_not_begin_after_an_edit() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let first = ask(&workers, snapshot(&db, &edits), 0, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        let waiting: Vec<Asked> =
            (0..100).map(|_| ask(&workers, snapshot(&db, &edits), 0, |_| 7)).collect();
        edits.add_one();
        db.synthetic_write(Durability::LOW);
        assert_eq!(
            first.end().1.and_then(|it| it.err()).map(|it| it.code),
            Some(ErrorCode::ContentModified)
        );
        for asked in waiting {
            let error = asked.end().1.and_then(|it| it.err()).expect("an error");
            assert_eq!(error.code, ErrorCode::ContentModified);
        }
    }
}
