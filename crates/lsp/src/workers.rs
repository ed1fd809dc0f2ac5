//! The worker pool that answers requests from snapshots.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

/// A task for a worker.
pub(crate) type Task = Box<dyn FnOnce() + Send>;

/// Inference recurses along references.
const STACK: usize = 1 << 30;

/// A worker pool whose threads take tasks from one queue, in order.
pub(crate) struct Workers {
    tasks: mpsc::Sender<Task>,
}

impl Workers {
    /// Starts the threads. They end after the pool is dropped and all tasks are done.
    pub(crate) fn start(name: &str, count: usize) -> Workers {
        let (tasks, queue) = mpsc::channel::<Task>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            let work = move || {
                loop {
                    let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match task {
                        // A panic ends only the task; the thread takes the next one.
                        Ok(task) => drop(catch_unwind(AssertUnwindSafe(task))),
                        Err(_) => return,
                    }
                }
            };
            // If no thread can be started, requests stay unanswered and the client times out.
            drop(thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(work));
        }
        Workers { tasks }
    }

    /// Queues a task for the next free thread.
    pub(crate) fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let _ = self.tasks.send(Box::new(task));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn worker_thread_survives_a_panic() {
        let workers = Workers::start("test", 1);
        let (done, is_done) = mpsc::channel();
        workers.spawn(|| panic!("a bug, as this test wants it"));
        workers.spawn(move || {
            let _ = done.send(());
        });
        is_done.recv_timeout(Duration::from_secs(20)).expect("the next task is done");
    }
}
