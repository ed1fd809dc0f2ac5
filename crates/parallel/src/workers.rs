//! Threads with a queue of tasks, and threads that own a resource.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{Builder, JoinHandle},
};

use crate::on_deep_stack;

/// Starts a thread that owns a resource until it ends, such as a journal, a terminal or a database.
///
/// # Errors
/// If the system starts no thread.
#[expect(clippy::disallowed_methods, reason = "this crate owns the threads")]
pub fn thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work)
}

/// A task for a worker.
type Task = Box<dyn FnOnce() + Send>;

/// Threads that take tasks from one queue, in order, and run them on deep stacks.
///
/// The pool of this crate is no replacement: while one of its threads waits for a part of its own work, it runs other
/// tasks, and an older request would be answered after a newer one.
pub struct Workers {
    tasks: mpsc::Sender<Task>,
}

impl Workers {
    /// Starts the threads. They end after this value is dropped and all tasks are done.
    pub fn start(name: &str, count: usize) -> Workers {
        let (tasks, queue) = mpsc::channel::<Task>();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let queue = Arc::clone(&queue);
            // If no thread can be started, requests stay unanswered and the client times out.
            drop(thread(name, move || on_deep_stack(|| take_all(&queue))));
        }
        Workers { tasks }
    }

    /// Queues a task for the next free thread.
    pub fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let _ = self.tasks.send(Box::new(task));
    }
}

/// Runs tasks until the other end of the queue is gone.
fn take_all(queue: &Mutex<mpsc::Receiver<Task>>) {
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match task {
            // A panic ends only the task; the thread takes the next one.
            Ok(task) => drop(catch_unwind(AssertUnwindSafe(task))),
            Err(_) => return,
        }
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
