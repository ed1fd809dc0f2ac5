//! The threads that run the futures of a session.

use std::{io, pin::Pin, sync::Arc};

use tokio::{
    runtime::{Builder, Handle, Runtime as Tokio},
    task::JoinHandle,
};

/// The runtime of a session. Its clones are the same runtime, which ends with the last of them.
///
/// **Invariant:** whatever the type of a future, the same machine code waits for it. With Tokio's own method, the
/// compiler copies the loop that waits, and each function that the future calls in it, for each kind of future.
#[derive(Clone)]
pub struct Runtime(Arc<Tokio>);

impl Runtime {
    /// Makes a runtime with worker threads.
    ///
    /// # Errors
    /// Returns an error if the system starts no thread.
    pub fn with_workers(threads: usize) -> io::Result<Runtime> {
        let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
        Ok(Runtime(Arc::new(runtime)))
    }

    /// Makes a runtime that runs futures on the thread that waits for them, without timers and input or output.
    ///
    /// # Errors
    /// Returns an error if the system has no resources for it.
    pub(crate) fn on_this_thread() -> io::Result<Runtime> {
        Ok(Runtime(Arc::new(Builder::new_current_thread().build()?)))
    }

    /// Runs a future to its end and returns its output.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut output = None;
        let storing: Pin<Box<dyn Future<Output = ()> + '_>> =
            Box::pin(async { output = Some(future.await) });
        self.0.block_on(storing);
        output.expect("a future that has ended has stored its output")
    }

    /// Starts a future that runs beside the operations.
    pub fn spawn<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.0.spawn(future)
    }

    /// A handle for tasks that outlive the call.
    pub fn handle(&self) -> &Handle {
        self.0.handle()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn the_output_or_the_panic_of_a_future_reaches_the_caller() {
        let runtimes = [Runtime::with_workers(1), Runtime::on_this_thread()];
        for runtime in runtimes.map(|it| it.expect("can be made")) {
            let text = String::from("borrowed");
            let spawned = runtime.spawn(async { 7 });
            let output = runtime.block_on(async { (text.as_str(), spawned.await.expect("ends")) });
            assert_eq!(output, ("borrowed", 7));
            let wait = || runtime.block_on(async { std::panic::panic_any("a bug") });
            let panic = catch_unwind(AssertUnwindSafe(wait)).expect_err("the future panics");
            assert_eq!(panic.downcast_ref(), Some(&"a bug"));
            assert_eq!(runtime.block_on(async { 8 }), 8);
        }
    }
}
