//! Questions, and the picture of the database that they are answered from.
//!
//! **Invariant:** a snapshot is dropped before its answer is sent: an edit waits until no snapshot is left, and whoever has
//! an answer may edit.
//! **Invariant:** a bug in one answer is that answer's error. The server lives on.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use db::{Directory, File};
use hir::Workspace;
use ide::{Document, FileRange};
use project::Database;
use rustc_hash::FxHashMap;
use salsa::{CancellationToken, Cancelled, Database as _};
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tower_lsp_server::{
    jsonrpc::{Error, ErrorCode, Result},
    ls_types::{Location, Uri},
};

use crate::{
    capabilities::Client,
    documents::{self, Documents},
    outgoing::Outgoing,
    position::{Encoding, Lines},
    settings::Settings,
};

/// A file of a module, as part of the configuration that counts for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) workspace: Workspace,
    pub(crate) directory: Directory,
    pub(crate) file: File,
}

/// The database at one moment.
pub(crate) struct Snapshot {
    pub(crate) db: Database,
    pub(crate) encoding: Encoding,
    pub(crate) client: Arc<Client>,
    pub(crate) settings: Settings,
    /// Every configuration that is loaded.
    pub(crate) workspaces: Vec<Workspace>,
    /// The versions of what the client has open.
    pub(crate) documents: Documents,
    pub(crate) outgoing: UnboundedSender<Outgoing>,
}

/// The lines of several files, each made once.
pub(crate) struct LinesOfFiles<'s> {
    snapshot: &'s Snapshot,
    known: FxHashMap<File, (Option<Uri>, Lines)>,
}

impl LinesOfFiles<'_> {
    /// A place for the client.
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
    /// A file as questions see it.
    pub(crate) fn document(&self, target: Target) -> Document<'_> {
        let Target { workspace, directory, file } = target;
        Document { db: &self.db, workspace, directory, file }
    }

    /// The lines of a file.
    pub(crate) fn lines(&self, file: File) -> Lines {
        Lines::of(&self.db, file, self.encoding)
    }

    /// The lines of several files.
    pub(crate) fn lines_of_files(&self) -> LinesOfFiles<'_> {
        LinesOfFiles { snapshot: self, known: FxHashMap::default() }
    }

    /// The version of a file that is open.
    pub(crate) fn version(&self, file: File) -> Option<i32> {
        self.documents.get(&**file.path(&self.db)).copied()
    }

    /// Says something beside the answer.
    pub(crate) fn tell(&self, outgoing: Outgoing) {
        let _ = self.outgoing.send(outgoing);
    }

    /// The address of a file.
    pub(crate) fn uri(&self, file: File) -> Option<Uri> {
        documents::uri_of(file.path(&self.db))
    }

    /// A place for the client.
    pub(crate) fn location(&self, place: FileRange) -> Option<Location> {
        Some(Location::new(self.uri(place.file)?, self.lines(place.file).range(place.range)))
    }
}

/// Whether anybody still wants an answer.
#[derive(Default)]
pub(crate) struct Interest {
    is_gone: AtomicBool,
    running: Mutex<Option<CancellationToken>>,
}

impl Interest {
    /// Nobody does any more.
    pub(crate) fn lose(&self) {
        self.is_gone.store(true, Ordering::SeqCst);
        if let Some(token) = &*self.running.lock().unwrap_or_else(PoisonError::into_inner) {
            token.cancel();
        }
    }

    fn is_lost(&self) -> bool {
        self.is_gone.load(Ordering::SeqCst)
    }

    fn run(&self, db: &Database) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(db.cancellation_token());
    }
}

/// A question that waits for its turn.
pub(crate) trait Ask: Send {
    /// The file that it is about.
    fn path(&self) -> Option<&str>;

    /// Answers it; or gives it back, because an edit came in between and it is to be asked once more.
    fn answer(self: Box<Self>, snapshot: Snapshot, target: Option<Target>) -> Option<Box<dyn Ask>>;
}

/// A question whose answer is an `R`.
pub(crate) struct Question<R, F> {
    pub(crate) path: Option<String>,
    pub(crate) interest: Arc<Interest>,
    pub(crate) reply: oneshot::Sender<Result<R>>,
    pub(crate) compute: F,
    /// How often it is asked again after an edit.
    pub(crate) attempts: u8,
}

impl<R, F> Ask for Question<R, F>
where
    R: Send + 'static,
    F: Fn(&Snapshot, Option<Target>) -> Result<R> + Send + 'static,
{
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    fn answer(
        mut self: Box<Self>,
        snapshot: Snapshot,
        target: Option<Target>,
    ) -> Option<Box<dyn Ask>> {
        self.interest.run(&snapshot.db);
        if self.interest.is_lost() {
            return None;
        }
        let outcome = uncancelled(|| (self.compute)(&snapshot, target));
        drop(snapshot);
        let answer = match outcome {
            Outcome::Done(answer) => answer,
            Outcome::Cancelled if self.interest.is_lost() => Err(Error::request_cancelled()),
            Outcome::Cancelled if self.attempts > 0 => {
                self.attempts -= 1;
                return Some(self);
            }
            Outcome::Cancelled => Err(content_modified()),
            Outcome::Panicked => Err(internal_error()),
        };
        let _ = self.reply.send(answer);
        None
    }
}

/// How a computation over a snapshot ended.
pub(crate) enum Outcome<R> {
    Done(R),
    /// By an edit, or because nobody wants it.
    Cancelled,
    /// By a bug; the panic hook has said where.
    Panicked,
}

/// Runs a computation over a snapshot. This is the one place where cancellation is caught.
pub(crate) fn uncancelled<R>(compute: impl FnOnce() -> R) -> Outcome<R> {
    let caught = catch_unwind(AssertUnwindSafe(|| Cancelled::catch(AssertUnwindSafe(compute))));
    match caught {
        Ok(Ok(result)) => Outcome::Done(result),
        Ok(Err(_)) => Outcome::Cancelled,
        Err(panic) if panic.is::<Cancelled>() => Outcome::Cancelled,
        Err(panic) => {
            // A panic whose own message panics when it is dropped must not end the worker.
            drop(catch_unwind(AssertUnwindSafe(|| drop(panic))));
            Outcome::Panicked
        }
    }
}

/// An edit came in between.
pub(crate) fn content_modified() -> Error {
    Error { code: ErrorCode::ContentModified, message: "the text has changed".into(), data: None }
}

/// A bug of ours.
fn internal_error() -> Error {
    let message = "Mayfly failed to answer because of a bug of its own; the server goes on";
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}
