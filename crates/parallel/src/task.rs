//! Work that whichever thread comes first may begin.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Work on an input `I` with the result `R`, of which the owner can take either back at any time.
///
/// **Invariant:** the work begins once or never. A caller that takes it back waits only for work that has begun.
pub struct Task<I, R> {
    state: Mutex<State<I, R>>,
    /// Notified when the state is no longer [`State::Running`], if the owner waits.
    changed: Condvar,
}

enum State<I, R> {
    Waiting(Box<I>),
    /// True if the owner waits for the end. Only then is it notified, because that asks the system.
    Running(bool),
    Ended(Ended<I, R>),
}

/// The end of a task.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<I, R> {
    /// The work was done.
    Done(R),
    /// The work had not begun.
    NotBegun(I),
    /// The work panicked, or the task was taken before. A panic has printed its message.
    Lost,
}

impl<I, R> Task<I, R> {
    /// Makes a task that has not begun.
    pub fn new(input: I) -> Task<I, R> {
        Task { state: Mutex::new(State::Waiting(Box::new(input))), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<I, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true while a thread does the work.
    pub fn is_running(&self) -> bool {
        matches!(*self.lock(), State::Running(_))
    }

    /// Does the work on this thread, unless it has begun already or was taken back.
    pub fn run(&self, work: impl FnOnce(I) -> R) {
        let mut state = self.lock();
        let input = match std::mem::replace(&mut *state, State::Running(false)) {
            State::Waiting(input) => input,
            other => {
                *state = other;
                return;
            }
        };
        drop(state);
        let ended = match catch_unwind(AssertUnwindSafe(|| work(*input))) {
            Ok(result) => Ended::Done(result),
            Err(_) => Ended::Lost,
        };
        let before = std::mem::replace(&mut *self.lock(), State::Ended(ended));
        if matches!(before, State::Running(true)) {
            self.changed.notify_all();
        }
    }

    /// Takes the task back. Waits for its end if it is running.
    pub fn take(&self) -> Ended<I, R> {
        let mut state = self.lock();
        while let State::Running(is_awaited) = &mut *state {
            *is_awaited = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *state, State::Ended(Ended::Lost)) {
            State::Waiting(input) => Ended::NotBegun(*input),
            State::Ended(ended) => ended,
            State::Running(_) => Ended::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        thread,
    };

    use super::*;

    #[test]
    fn a_task_ends_once() {
        let task = Task::new(20);
        task.run(|it| it + 1);
        task.run(|it| it + 2);
        assert_eq!(task.take(), Ended::Done(21));
        assert_eq!(task.take(), Ended::Lost);
    }

    #[test]
    fn a_task_that_was_taken_back_never_begins() {
        let task = Task::<i32, i32>::new(20);
        assert_eq!(task.take(), Ended::NotBegun(20));
        task.run(|_| panic!("it begins"));
        assert_eq!(task.take(), Ended::Lost);
    }

    #[test]
    fn a_panic_loses_the_task_and_nothing_else() {
        let task = Task::<i32, i32>::new(20);
        task.run(|_| panic!("a bug, as this test wants it"));
        assert_eq!(task.take(), Ended::Lost);
    }

    #[test]
    fn the_owner_waits_for_work_that_has_begun() {
        let task = Arc::new(Task::new(20));
        let (go, may_go) = mpsc::channel();
        let there = Arc::clone(&task);
        let worker = thread::spawn(move || {
            there.run(|it| {
                let _ = may_go.recv();
                it + 1
            });
        });
        while !task.is_running() {
            thread::yield_now();
        }
        let owner = Arc::clone(&task);
        let owner = thread::spawn(move || owner.take());
        while !matches!(*task.lock(), State::Running(true)) {
            thread::yield_now();
        }
        let _ = go.send(());
        assert_eq!(owner.join().expect("the owner ends"), Ended::Done(21));
        worker.join().expect("the worker ends");
    }
}
