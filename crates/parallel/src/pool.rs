//! One pool of threads for work that is divided among the processors.
//!
//! **Invariant:** the calling thread takes a share too: while it waits, its processor would stay idle until the
//! system gives it to another thread.
//! **Invariant:** callers hold no lock and compute no query while they divide work. The pool runs the work of several
//! callers in turn, and a task that waits for a lock of its caller would never end.

use std::{
    iter,
    num::NonZero,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::on_deep_stack;

/// The pool, which starts when it is first needed. `None` if there is one processor, or if no thread can be started.
static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();

fn pool() -> Option<&'static ThreadPool> {
    let start = || {
        let helpers = processors() - 1;
        let builder = ThreadPoolBuilder::new().num_threads(helpers);
        let builder = builder.thread_name(|index| format!("pool {index}"));
        (helpers > 0).then(|| builder.build().ok()).flatten()
    };
    POOL.get_or_init(start).as_ref()
}

/// Returns the number of processors, which is at least one. The system is asked once: it reads a dozen files for the
/// answer.
#[expect(clippy::disallowed_methods, reason = "this crate owns the threads")]
pub fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs all tasks concurrently, the first one on the calling thread, each on a deep stack. Returns their results in
/// order. A panic of a task reaches the caller when all tasks have ended.
pub fn run<R: Send>(tasks: Vec<impl FnOnce() -> R + Send>) -> Vec<R> {
    let mut others = tasks.into_iter();
    let Some(first) = others.next() else { return Vec::new() };
    let Some(pool) = pool().filter(|_| others.len() > 0) else {
        return iter::once(first).chain(others).map(on_deep_stack).collect();
    };
    let mut results: Vec<Option<R>> = others.as_slice().iter().map(|_| None).collect();
    let first = pool.in_place_scope(|scope| {
        for (task, result) in others.zip(&mut results) {
            scope.spawn(move |_| *result = Some(on_deep_stack(task)));
        }
        on_deep_stack(first)
    });
    iter::once(first).chain(results.into_iter().flatten()).collect()
}

/// Runs work on a deep stack of another thread, some time later. Returns false, without running it, if there is no
/// other thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> bool {
    let Some(pool) = pool() else { return false };
    pool.spawn(|| on_deep_stack(work));
    true
}

/// Runs two functions concurrently, the first one on the calling thread, each on a deep stack.
pub fn join<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    let Some(pool) = pool() else {
        return (on_deep_stack(here), on_deep_stack(there));
    };
    let mut b = None;
    let a = pool.in_place_scope(|scope| {
        scope.spawn(|_| b = Some(on_deep_stack(there)));
        on_deep_stack(here)
    });
    (a, b.expect("a scope ends after its tasks"))
}

/// Applies `work` to each item, on all processors. Returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, work) = (&AtomicUsize::new(0), &work);
    let tasks = (0..processors().min(items.len())).map(|_| move || take_from(items, next, work));
    in_order(run(tasks.collect()))
}

/// Applies `work` to each item, on up to `threads` threads that exist only for this call. Returns the results in the
/// order of the items. For work that mostly waits, for example for other processes.
pub fn map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let (next, work) = (&AtomicUsize::new(0), &work);
    let take = move || on_deep_stack(|| take_from(items, next, work));
    in_order(thread::scope(|scope| {
        let started: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(take)).collect();
        let here = take();
        let ended = started.into_iter().map(|it| it.join());
        let ended = ended.map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        iter::once(here).chain(ended).collect()
    }))
}

/// Divides the items into parts of `length` items and calls `work` on each processor, with the parts that this
/// processor takes when it is free. So a call can keep something from one part to the next. It returns its results with
/// the indices of the parts; this function returns all results in the order of the parts.
pub fn share_parts<T: Sync, R: Send>(
    items: &[T],
    length: usize,
    work: impl Fn(TakenParts<'_, T>) -> Vec<(usize, R)> + Sync,
) -> Vec<R> {
    let (length, next, work) = (length.max(1), &AtomicUsize::new(0), &work);
    let count = processors().min(items.len().div_ceil(length));
    let tasks = (0..count).map(|_| move || work(TakenParts { items, length, next }));
    in_order(run(tasks.collect()))
}

/// Parts of a list that no other processor has taken, with their indices, until none are left.
pub struct TakenParts<'i, T> {
    items: &'i [T],
    length: usize,
    next: &'i AtomicUsize,
}

impl<'i, T> Iterator for TakenParts<'i, T> {
    type Item = (usize, &'i [T]);

    fn next(&mut self) -> Option<(usize, &'i [T])> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Some((index, self.items.chunks(self.length).nth(index)?))
    }
}

/// Applies `work` to items that no other thread has taken, until none are left. Returns the results with the indices
/// of their items.
fn take_from<T, R>(items: &[T], next: &AtomicUsize, work: impl Fn(&T) -> R) -> Vec<(usize, R)> {
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        Some((index, items.get(index)?))
    };
    iter::from_fn(take).map(|(index, item)| (index, work(item))).collect()
}

fn in_order<R>(taken: Vec<Vec<(usize, R)>>) -> Vec<R> {
    let mut all: Vec<(usize, R)> = taken.into_iter().flatten().collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::Barrier,
    };

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled: Vec<u32> = items.iter().map(|it| it * 2).collect();
        assert_eq!(map(&items, |it| it * 2), doubled);
        assert_eq!(map_on(3, &items, |it| it * 2), doubled);
        for length in [0, 1, 300, 1000, 5000] {
            let double = |(index, part): (usize, &[u32])| {
                assert!(part.len() == length.clamp(1, 1000) || part.last() == Some(&999));
                (index, part.iter().map(|it| it * 2).collect::<Vec<_>>())
            };
            let parts = share_parts(&items, length, |parts| parts.map(double).collect());
            assert_eq!(parts.concat(), doubled);
        }
        assert_eq!(map(&[(); 0], |()| ()), []);
        assert_eq!(map_on(3, &[(); 0], |()| ()), []);
        assert_eq!(
            share_parts(&[(); 0], 0, |parts| parts.map(|(index, _)| (index, ())).collect()),
            []
        );
    }

    #[test]
    fn both_functions_run_at_the_same_time() {
        if processors() == 1 {
            return;
        }
        let both = Barrier::new(2);
        let here = thread::current().id();
        let (a, b) = join(
            || {
                both.wait();
                thread::current().id()
            },
            || {
                both.wait();
                thread::current().id()
            },
        );
        assert_eq!(a, here);
        assert_ne!(b, here);
    }

    #[test]
    fn spawned_work_runs_on_another_thread() {
        let (done, is_done) = std::sync::mpsc::channel();
        let is_spawned = spawn(move || {
            let _ = done.send(thread::current().id());
        });
        assert_eq!(is_spawned, processors() > 1);
        assert!(is_done.recv().ok() != Some(thread::current().id()));
    }

    #[test]
    fn work_that_waits_has_threads_of_its_own() {
        let all = Barrier::new(20);
        map_on(20, &[(); 20], |()| all.wait());
    }

    #[test]
    fn a_panic_reaches_the_caller_after_the_other_tasks() {
        let done = AtomicUsize::new(0);
        let task = |index: usize| {
            let done = &done;
            move || match index {
                2 => std::panic::panic_any("a bug"),
                _ => done.fetch_add(1, Ordering::Relaxed),
            }
        };
        let caught = catch_unwind(AssertUnwindSafe(|| run((0..5).map(task).collect())));
        let panic = caught.expect_err("a task panics");
        assert_eq!(panic.downcast_ref(), Some(&"a bug"));
        if processors() > 1 {
            assert_eq!(done.into_inner(), 4);
        }
    }

    #[test]
    fn tasks_may_divide_their_own_work() {
        let sums = map(&[1, 2, 3], |factor| {
            let items: Vec<u32> = (0..100).collect();
            map(&items, |it| it * factor).iter().sum::<u32>()
        });
        assert_eq!(sums, [4950, 9900, 14850]);
    }
}
