//! Threads that answer questions from snapshots.

use std::{
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
                        Ok(task) => task(),
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
