//! Questions, and the picture of the database that they are answered from.
//!
//! **Invariant:** a snapshot is dropped before its answer is sent: an edit waits until no snapshot is left, and whoever has
//! an answer may edit.
//! **Invariant:** a bug in one answer is that answer's error. The server lives on.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
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
    beside::Unfit,
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
    /// What the client has open.
    pub(crate) documents: Documents,
    /// Files that cannot be taken.
    pub(crate) unfit: Arc<Unfit>,
    /// Directories of the workspace that hold modules.
    pub(crate) modules: Arc<BTreeSet<String>>,
    pub(crate) outgoing: UnboundedSender<Outgoing>,
    /// How many edits there were when this was made, and how many there are.
    pub(crate) edits: Edits,
}

/// Edits of texts, counted: other changes of the database leave every position where it is.
#[derive(Clone, Default)]
pub(crate) struct Edits {
    then: u64,
    now: Arc<AtomicU64>,
}

impl Edits {
    /// A text is about to change.
    pub(crate) fn add_one(&self) {
        self.now.fetch_add(1, Ordering::SeqCst);
    }

    /// The count as it is now.
    pub(crate) fn taken(&self) -> Edits {
        Edits { then: self.now.load(Ordering::SeqCst), now: Arc::clone(&self.now) }
    }

    fn were_any(&self) -> bool {
        self.now.load(Ordering::SeqCst) != self.then
    }
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
        Some(self.documents.get(&**file.path(&self.db))?.version)
    }

    /// Says something beside the answer.
    pub(crate) fn tell(&self, outgoing: Outgoing) {
        let _ = self.outgoing.send(outgoing);
    }

    /// The address of a file.
    pub(crate) fn uri(&self, file: File) -> Option<Uri> {
        let path = file.path(&self.db);
        let known = self.documents.get(&**path).map(|it| it.uri.clone());
        known.or_else(|| documents::uri_of(path))
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

/// What an answer takes that may still be on its way from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The file and what is known of its module: the answer is wanted now.
    File,
    /// What the file's configuration requires, for a moment.
    Configuration,
    /// Everybody who calls the module, for without them the answer would be wrong.
    Callers,
}

/// A question that waits for its turn.
pub(crate) trait Ask: Send {
    /// The file that it is about.
    fn path(&self) -> Option<&str>;

    /// What must be there before it can be answered.
    fn needs(&self) -> Needs;

    /// Answers it; or gives it back, because something changed in between and it is to be asked once more.
    fn answer(self: Box<Self>, snapshot: Snapshot, target: Option<Target>) -> Option<Box<dyn Ask>>;

    /// Takes over that a text changed while it waited. Nothing is left of it if it was about the text as it was.
    fn outdated(self: Box<Self>) -> Option<Box<dyn Ask>>;
}

/// A question whose answer is an `R`.
pub(crate) struct Question<R, F> {
    pub(crate) path: Option<String>,
    pub(crate) needs: Needs,
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

    fn needs(&self) -> Needs {
        self.needs
    }

    fn answer(self: Box<Self>, snapshot: Snapshot, target: Option<Target>) -> Option<Box<dyn Ask>> {
        self.interest.run(&snapshot.db);
        if self.interest.is_lost() {
            return None;
        }
        let outcome = uncancelled(|| {
            // Many may have waited with this one, and the edit waits for all of them.
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

    fn outdated(mut self: Box<Self>) -> Option<Box<dyn Ask>> {
        if let Some(left) = self.attempts.checked_sub(1) {
            self.attempts = left;
            return Some(self);
        }
        let _ = self.reply.send(Err(content_modified()));
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

/// Runs a computation over a snapshot. This is the one place of the server where cancellation is caught.
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

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use salsa::Durability;

    use super::*;
    use crate::workers::Workers;

    fn snapshot(db: &Database, edits: &Edits) -> Snapshot {
        Snapshot {
            db: db.clone(),
            encoding: Encoding::default(),
            client: Arc::default(),
            settings: Settings::default(),
            workspaces: Vec::new(),
            documents: Documents::new(),
            unfit: Arc::default(),
            modules: Arc::default(),
            outgoing: tokio::sync::mpsc::unbounded_channel().0,
            edits: edits.taken(),
        }
    }

    /// A question on its way: who asked, and who gets it back.
    struct Asked {
        interest: Arc<Interest>,
        answer: oneshot::Receiver<Result<u32>>,
        given_back: mpsc::Receiver<bool>,
    }

    fn ask(
        workers: &Workers,
        (db, edits): (&Database, &Edits),
        attempts: u8,
        compute: impl Fn(&Snapshot) -> u32 + Send + 'static,
    ) -> Asked {
        let interest = Arc::<Interest>::default();
        let (reply, answer) = oneshot::channel();
        let (is_back, given_back) = mpsc::channel();
        let compute = move |snapshot: &Snapshot, _: Option<Target>| Ok(compute(snapshot));
        let interest_too = Arc::clone(&interest);
        let needs = Needs::File;
        let question =
            Question { path: None, needs, interest: interest_too, reply, compute, attempts };
        let snapshot = snapshot(db, edits);
        workers.spawn(move || {
            let again = Box::new(question).answer(snapshot, None);
            let _ = is_back.send(again.is_some());
        });
        Asked { interest, answer, given_back }
    }

    /// A query that never ends, and that says when it has begun.
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
        /// Waits until the worker is done with it. Whether it is to be asked again, and its answer.
        fn end(mut self) -> (bool, Option<Result<u32>>) {
            let is_back = self.given_back.recv_timeout(PATIENCE).expect("the worker is done");
            (is_back, self.answer.try_recv().ok())
        }
    }

    #[test]
    fn a_bug_in_an_answer_is_its_error_and_the_worker_lives_on() {
        let (workers, db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (_, answer) =
            ask(&workers, (&db, &edits), 9, |_| panic!("a bug, as this test wants it")).end();
        let error = answer.and_then(|it| it.err()).expect("an error");
        assert_eq!(error.code, ErrorCode::InternalError);
        assert!(!error.message.contains("as this test wants it"), "{}", error.message);
        let (_, answer) = ask(&workers, (&db, &edits), 9, |_| 7).end();
        assert_eq!(answer.and_then(std::result::Result::ok), Some(7));
    }

    #[test]
    fn an_answer_that_nobody_wants_any_more_is_not_computed_to_its_end() {
        let (workers, db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let asked = ask(&workers, (&db, &edits), 9, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        asked.interest.lose();
        let (is_back, answer) = asked.end();
        assert!(!is_back, "it is not asked again");
        let error = answer.and_then(|it| it.err()).expect("an error");
        assert_eq!(error.code, ErrorCode::RequestCancelled);
        // One that was given up before its turn is not begun.
        let (compute, begun) = endless();
        let (block, unblock) = mpsc::channel::<()>();
        workers.spawn(move || {
            let _ = unblock.recv();
        });
        let asked = ask(&workers, (&db, &edits), 9, compute);
        asked.interest.lose();
        drop(block);
        assert!(asked.end().1.is_none());
        assert!(begun.try_recv().is_err());
    }

    #[test]
    fn an_edit_sends_a_question_back_as_often_as_it_is_worth() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        for (attempts, is_asked_again) in [(1, true), (0, false)] {
            let (compute, begun) = endless();
            let asked = ask(&workers, (&db, &edits), attempts, compute);
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
    fn a_change_that_is_no_edit_sends_a_question_back_however_little_it_is_worth() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let asked = ask(&workers, (&db, &edits), 0, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        db.synthetic_write(Durability::LOW);
        let (is_back, answer) = asked.end();
        assert!(is_back && answer.is_none());
    }

    /// A worker that looks at nothing before it finds out, however many questions wait in front of an edit.
    #[test]
    fn what_waits_when_an_edit_comes_is_not_begun() {
        let (workers, mut db, edits) =
            (Workers::start("test", 1), Database::default(), Edits::default());
        let (compute, begun) = endless();
        let first = ask(&workers, (&db, &edits), 0, compute);
        begun.recv_timeout(PATIENCE).expect("it begins");
        let waiting: Vec<Asked> =
            (0..100).map(|_| ask(&workers, (&db, &edits), 0, |_| 7)).collect();
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
