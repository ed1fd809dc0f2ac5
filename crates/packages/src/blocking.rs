//! The place where file work leaves the asynchronous runtime, and the bound on the work that runs at once.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

use futures::{StreamExt, future, stream};
use parallel::Workers;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The number of packages that are fetched, hashed or placed at once.
pub(crate) const AT_ONCE: usize = 8;

/// The threads for file work, as many as processors. Threads of the runtime would be up to [`AT_ONCE`] and those of
/// all downloads, and each would keep a heap with the buffers of its largest work.
static WORKERS: LazyLock<Workers> = LazyLock::new(|| {
    let count = parallel::processors().clamp(2, AT_ONCE);
    Workers::start("packages", count)
});

/// Runs file work on a thread for it. The work must not wait for other work or other processes.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = oneshot::channel();
    WORKERS.spawn(move || drop(sender.send(catch_unwind(AssertUnwindSafe(work)))));
    match receiver.await.expect("a thread for file work has been started") {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}

/// Runs work that may wait for other processes, on a thread of its own.
pub(crate) async fn waiting<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The work was cancelled, because the runtime ends. It drops this future, too.
            Err(_) => future::pending().await,
        },
    }
}

/// The events of one task.
pub(crate) struct Events<E>(UnboundedSender<E>);

impl<E> Events<E> {
    pub(crate) fn emit(&self, event: E) {
        // The receiver lives as long as the task.
        drop(self.0.send(event));
    }
}

/// Runs a task for each item, [`AT_ONCE`] at once. Results and events keep the order of the items: the events of
/// the first unfinished task are forwarded at once, and those of later tasks wait for it.
pub(crate) async fn in_order<I, T, E, F: Future<Output = T>>(
    items: impl IntoIterator<Item = I>,
    task: impl Fn(I, Events<E>) -> F,
    on_event: &mut (dyn FnMut(E) + Send),
) -> Vec<T> {
    let (tasks, receivers): (Vec<F>, Vec<_>) = items
        .into_iter()
        .map(|item| {
            let (sender, receiver) = unbounded_channel();
            (task(item, Events(sender)), receiver)
        })
        .unzip();
    let results = stream::iter(tasks).buffered(AT_ONCE).collect::<Vec<T>>();
    let forwarding = async {
        for mut receiver in receivers {
            while let Some(event) = receiver.recv().await {
                on_event(event);
            }
        }
    };
    future::join(results, forwarding).await.0
}

/// Runs a future to its end, for tests.
#[cfg(test)]
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn results_and_events_keep_the_order_of_the_items() {
        let running = AtomicUsize::new(0);
        let task = |item: u64, events: Events<String>| {
            let running = &running;
            async move {
                events.emit(format!("{item} begins"));
                let count = running.fetch_add(1, Ordering::Relaxed) + 1;
                assert!(count <= AT_ONCE, "{count} run at once");
                sleep(Duration::from_millis(100 - item)).await;
                running.fetch_sub(1, Ordering::Relaxed);
                events.emit(format!("{item} ends"));
                item
            }
        };
        let mut events = Vec::new();
        let results = in_order(0..20, task, &mut |it| events.push(it)).await;
        assert_eq!(results, (0..20).collect::<Vec<_>>());
        let expected = (0..20).flat_map(|it| [format!("{it} begins"), format!("{it} ends")]);
        assert_eq!(events, expected.collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn ordered_tasks_run_concurrently() {
        let begin = tokio::time::Instant::now();
        let task = |_, _: Events<()>| sleep(Duration::from_secs(1));
        in_order(0..AT_ONCE, task, &mut |()| {}).await;
        assert_eq!(begin.elapsed().as_secs(), 1);
    }
}
