//! Doing work on all processors, each thread with its own handle of the database.
//!
//! **Invariant:** what comes out is what one thread would give, in the same order. A machine that has no thread to give, and
//! little work, leaves it to whoever asks, which then does it itself.
//!
//! It does not know what the work is; that is [`prime`](crate::prime).

use std::{
    num::NonZero,
    ops::Range,
    panic::AssertUnwindSafe,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use salsa::Database as _;

use crate::Database;

/// Fewer pieces of work than this are not worth a thread.
pub(crate) const WORTHWHILE: usize = 256;
/// How many pieces a thread takes at once. Where much follows upon each other, inference recurses at most through the batches
/// that are being worked on.
const BATCH: usize = 64;

/// Does two things at once, the second on a thread of its own with its own handle of the database. Nothing comes of it on a
/// machine that has no thread to give.
pub(crate) fn side_by_side<A, B: Send>(
    db: &Database,
    stack: usize,
    here: impl FnOnce() -> A,
    there: impl FnOnce(&Database) -> B + Send,
) -> (A, Option<B>) {
    let db = db.clone();
    thread::scope(|scope| {
        let work = move || there(&db);
        let thread = thread::Builder::new().stack_size(stack).spawn_scoped(scope, work);
        let a = here();
        let b = thread.ok().map(|it| match it.join() {
            Ok(b) => b,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (a, b)
    })
}

/// How many there are.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// One is left for who types meanwhile.
pub(crate) fn all_but_one() -> usize {
    processors() - 1
}

/// Fewer files than this are read before a thread has begun.
const MANY_FILES: usize = 8;

/// What `work` gives for each of some things, in their order.
pub(crate) fn side_by_side_each<T: Sync, R: Send>(
    things: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if things.len() < MANY_FILES || processors() < 2 {
        return things.iter().map(work).collect();
    }
    let part = things.len().div_ceil(processors());
    let work_on = |part: &[T]| -> Vec<R> { part.iter().map(&work).collect() };
    thread::scope(|scope| {
        let mut parts = things.chunks(part);
        let here = parts.next();
        let there: Vec<_> = parts
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, || work_on(part))))
            .collect();
        let mut done = here.map(work_on).unwrap_or_default();
        for (part, thread) in there {
            match thread {
                Ok(thread) => match thread.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                // A machine that has no thread to give.
                Err(_) => done.extend(work_on(part)),
            }
        }
        done
    })
}

/// What `work` gives for each batch of some pieces, in their order. Little work, or what was left by a machine that has no
/// thread to give, is done when it is asked for.
pub(crate) fn in_batches<T: Sync, R: Send + Sync>(
    db: &Database,
    pieces: &[T],
    stack: usize,
    work: impl Fn(&Database, &[T]) -> R + Sync,
) -> impl Iterator<Item = R> {
    let done: Vec<OnceLock<R>> = pieces.chunks(BATCH).map(|_| OnceLock::new()).collect();
    if pieces.len() >= WORTHWHILE {
        let shares = Shares::of(pieces.len(), processors());
        on_processors(db, &shares, stack, |db, batch| {
            done[batch.start / BATCH].get_or_init(|| work(db, &pieces[batch]));
        });
    }
    let done = done.into_iter().zip(pieces.chunks(BATCH));
    done.map(move |(done, batch)| done.into_inner().unwrap_or_else(|| work(db, batch)))
}

/// Does each piece of work. Little work, or a machine that has no thread to give, leaves it to whoever asks for the results.
/// Gives whether all was done.
pub(crate) fn each_on_processors<T: Sync>(
    db: &Database,
    pieces: &[T],
    stack: usize,
    shares: &Shares,
    work: impl Fn(&Database, &T) + Sync,
) -> bool {
    let work =
        |db: &Database, batch: Range<usize>| pieces[batch].iter().for_each(|it| work(db, it));
    pieces.len() >= WORTHWHILE && on_processors(db, shares, stack, work)
}

/// Does the work of each share, each thread with its own handle, this one among them: whoever asks has a stack for it, as it
/// may be left to it anyway. Gives whether all was done.
fn on_processors(
    db: &Database,
    shares: &Shares,
    stack: usize,
    work: impl Fn(&Database, Range<usize>) + Sync,
) -> bool {
    let threads = shares.threads;
    if threads < 2 {
        return false;
    }
    let done = AtomicUsize::new(0);
    let (done, work) = (&done, &work);
    let take_batches = |db: Database, own: usize| {
        let take_batches = move || {
            for batch in shares.batches(own) {
                let length = batch.len();
                work(&db, batch);
                done.fetch_add(length, Ordering::Relaxed);
            }
        };
        // A thread that is cancelled has nothing to tell: below, this one finds out by itself.
        drop(salsa::Cancelled::catch(AssertUnwindSafe(take_batches)));
    };
    thread::scope(|scope| {
        // This thread works along: one that only waits leaves its processor empty until the system gives it to another.
        for own in 1..threads {
            let db = db.clone();
            let work = move || take_batches(db, own);
            drop(thread::Builder::new().stack_size(stack).spawn_scoped(scope, work));
        }
        take_batches(db.clone(), 0);
    });
    db.unwind_if_revision_cancelled();
    done.load(Ordering::Relaxed) == shares.pieces
}

/// How some pieces of work are shared by threads. A thread whose share is done goes on with those of others, in batches.
///
/// A piece that is in the same part of every list is worked on by the same thread each time, whose processor has what was
/// found out about it at hand.
pub(crate) struct Shares {
    pieces: usize,
    threads: usize,
    /// How many pieces of each share were taken, and where the share is.
    shares: Vec<(AtomicUsize, Range<usize>)>,
}

impl Shares {
    /// A share of its own for each thread. They begin with whole batches.
    pub(crate) fn of(pieces: usize, threads: usize) -> Shares {
        let batches = pieces.div_ceil(BATCH);
        let start = |share: usize| (share * batches / threads * BATCH).min(pieces);
        let shares = (0..threads).map(|it| (AtomicUsize::new(0), start(it)..start(it + 1)));
        Shares { pieces, threads, shares: shares.collect() }
    }

    /// One share of all threads: what comes first is done, or being done, when something else is begun.
    pub(crate) fn one(pieces: usize, threads: usize) -> Shares {
        Shares { pieces, threads, shares: vec![(AtomicUsize::new(0), 0..pieces)] }
    }

    /// Batches for a thread, until there are none left.
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
