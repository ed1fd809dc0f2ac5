//! Threads that answer questions from snapshots.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

/// A piece of work.
pub(crate) type Task = Box<dyn FnOnce() + Send>;

/// Inference follows references by recursion.
const STACK: usize = 1 << 30;

/// A few threads that take tasks from one queue, in order.
pub(crate) struct Workers {
    tasks: mpsc::Sender<Task>,
}

impl Workers {
    /// Starts threads; they end when this is dropped and what was given is done.
    pub(crate) fn start(name: &str, count: usize) -> Workers {
        let (tasks, queue) = mpsc::channel::<Task>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            let work = move || {
                loop {
                    let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match task {
                        // Whoever gave it hears nothing of it; the thread is there for the next one.
                        Ok(task) => drop(catch_unwind(AssertUnwindSafe(task))),
                        Err(_) => return,
                    }
                }
            };
            // Without a thread nothing is answered, which the client notices by its own timeouts.
            drop(thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work));
        }
        Workers { tasks }
    }

    /// Gives a task to the next thread that is free.
    pub(crate) fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let _ = self.tasks.send(Box::new(task));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_outlives_the_bug_of_a_task() {
        let workers = Workers::start("test", 1);
        let (done, is_done) = mpsc::channel();
        workers.spawn(|| panic!("a bug, as this test wants it"));
        workers.spawn(move || {
            let _ = done.send(());
        });
        is_done.recv_timeout(Duration::from_secs(20)).expect("the next task is done");
    }
}
