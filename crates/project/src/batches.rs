//! Divides work on the database among the processors, each thread with its own handle of the database.
//!
//! **Invariant:** the results and their order are those of a single thread. If there is little work, or if no
//! thread can be started, the calling thread does the work when it needs the results.
//!
//! The module does not know the work itself; [`warm_up`](crate::warm_up) does.

use std::{
    ops::Range,
    panic::AssertUnwindSafe,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use parallel::processors;

use crate::Handle;

/// The minimum number of items of work that are divided.
pub(crate) const WORTHWHILE: usize = 256;
/// The number of items that a thread takes at once. In long chains of dependencies, inference recurses at most
/// through the batches in progress.
const BATCH: usize = 64;

/// Runs two functions in parallel, the second with its own handle of the database.
pub(crate) fn join<A, B: Send>(
    db: &dyn Handle,
    here: impl FnOnce() -> A,
    there: impl FnOnce(&dyn Handle) -> B + Send,
) -> (A, B) {
    let db = db.handle();
    parallel::join(here, move || there(&*db))
}

/// Returns the number of processors minus one, which stays free for the user's edits.
pub(crate) fn all_but_one() -> usize {
    processors() - 1
}

/// The minimum number of files for which reading them in parallel is faster than starting threads.
const MANY_FILES: usize = 8;

/// Applies `work` to each file in parallel and returns the results in the order of the files.
pub(crate) fn map_files<T: Sync, R: Send>(files: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match files.len() < MANY_FILES {
        true => files.iter().map(work).collect(),
        false => parallel::map(files, work),
    }
}

/// Applies `work` to each batch of items in parallel and returns the results in order. With little work, or if no
/// thread can be started, the iterator computes each result when the caller asks for it.
pub(crate) fn in_batches<T: Sync, R: Send + Sync>(
    db: &dyn Handle,
    pieces: &[T],
    work: impl Fn(&dyn Handle, &[T]) -> R + Sync,
) -> impl Iterator<Item = R> {
    let done: Vec<OnceLock<R>> = pieces.chunks(BATCH).map(|_| OnceLock::new()).collect();
    if pieces.len() >= WORTHWHILE {
        let shares = Shares::of(pieces.len(), processors());
        on_processors(db, &shares, |db, batch| {
            done[batch.start / BATCH].get_or_init(|| work(db, &pieces[batch]));
        });
    }
    let done = done.into_iter().zip(pieces.chunks(BATCH));
    done.map(move |(done, batch)| done.into_inner().unwrap_or_else(|| work(db, batch)))
}

/// Applies `work` to each item in parallel. Returns true if all items are done. With little work, or if no thread
/// can be started, nothing is done: queries then compute the results on demand.
pub(crate) fn each_in_parallel<T: Sync>(
    db: &dyn Handle,
    pieces: &[T],
    shares: &Shares,
    work: impl Fn(&dyn Handle, &T) + Sync,
) -> bool {
    let work =
        |db: &dyn Handle, batch: Range<usize>| pieces[batch].iter().for_each(|it| work(db, it));
    pieces.len() >= WORTHWHILE && on_processors(db, shares, work)
}

/// Processes the batches of all shares, each thread with its own handle of the database. Returns true if all items
/// are done.
fn on_processors(
    db: &dyn Handle,
    shares: &Shares,
    work: impl Fn(&dyn Handle, Range<usize>) + Sync,
) -> bool {
    if shares.threads < 2 {
        return false;
    }
    let (done, work) = (&AtomicUsize::new(0), &work);
    let tasks = (0..shares.threads).map(|own| {
        let db = db.handle();
        move || {
            let take_batches = || {
                for batch in shares.batches(own) {
                    let length = batch.len();
                    work(&*db, batch);
                    done.fetch_add(length, Ordering::Relaxed);
                }
            };
            // A cancelled thread reports nothing: below, this thread checks for the cancellation itself.
            drop(salsa::Cancelled::catch(AssertUnwindSafe(take_batches)));
        }
    });
    parallel::run(tasks.collect());
    db.unwind_if_revision_cancelled();
    done.load(Ordering::Relaxed) == shares.pieces
}

/// The distribution of items of work among threads. A thread that has finished its own share continues with
/// batches of the other shares.
///
/// Each thread gets an equal part of every list, at one position, so that the results of its earlier work on that
/// part are likely in the cache of its processor.
pub(crate) struct Shares {
    pieces: usize,
    threads: usize,
    /// The number of items taken from each share, and the range of the share.
    shares: Vec<(AtomicUsize, Range<usize>)>,
}

impl Shares {
    /// Creates one share for each thread. Shares start at multiples of the batch size.
    pub(crate) fn of(pieces: usize, threads: usize) -> Shares {
        let batches = pieces.div_ceil(BATCH);
        let start = |share: usize| (share * batches / threads * BATCH).min(pieces);
        let shares = (0..threads).map(|it| (AtomicUsize::new(0), start(it)..start(it + 1)));
        Shares { pieces, threads, shares: shares.collect() }
    }

    /// Creates a single share for all threads. When a batch starts, all earlier batches are done or in progress.
    pub(crate) fn one(pieces: usize, threads: usize) -> Shares {
        Shares { pieces, threads, shares: vec![(AtomicUsize::new(0), 0..pieces)] }
    }

    /// Takes batches until none are left: first from the thread's own share, then from the other shares.
    fn batches(&self, own: usize) -> impl Iterator<Item = Range<usize>> {
        let shares = self.shares.iter().cycle().skip(own).take(self.shares.len());
        shares.flat_map(|(taken, share)| {
            std::iter::from_fn(|| {
                let start = share.start + taken.fetch_add(BATCH, Ordering::Relaxed);
                (start < share.end).then(|| start..(start + BATCH).min(share.end))
            })
        })
    }
}
