//! A running plugin: its channel and its shutdown.

use std::{
    io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use provider::BoxFuture;
use tokio::{
    process::Child,
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};
use tonic::transport::Channel;

use crate::{
    generated::plugin::{Empty, grpc_controller_client::GrpcControllerClient},
    logs::{Listener, Tail},
    protocol::ProtocolVersion,
    sandboxed::Sandboxed,
    sink::PluginEvent,
    supervision::Registration,
};

/// The time that a plugin gets to exit after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// The time to read the rest of stderr after the process ended. A descendant may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
const LONGEST_POLL: Duration = Duration::from_millis(20);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child process. Dropping the guard kills the process and removes its socket.
///
/// The child stays in the shared slot until it is reaped, so that
/// [`Processes::kill_all`](crate::Processes::kill_all) can reach it at any time. Its end
/// is therefore polled: waiting for it would need exclusive access to the slot.
pub(crate) struct Guard {
    child: Arc<Mutex<Child>>,
    registration: Registration,
    /// True once [`Guard::end`] has finished its work.
    is_over: AtomicBool,
    socket: Option<PathBuf>,
    /// Removes the temporary directory of the process when it is dropped.
    sandboxed: Option<Sandboxed>,
}

impl Guard {
    /// Watches `child`, which must have been created with `kill_on_drop` and the variable of the registration.
    pub(crate) fn new(
        child: Child,
        registration: Registration,
        sandboxed: Option<Sandboxed>,
    ) -> Self {
        registration.started(child.id());
        let child = Arc::new(Mutex::new(child));
        registration.holds(&child);
        Self { child, registration, is_over: AtomicBool::new(false), socket: None, sandboxed }
    }

    /// Records that the process listens. If it listens on a Unix socket, that is removed when the process has
    /// ended.
    pub(crate) fn listens(&mut self, socket: Option<&Path>) {
        self.registration.connected(socket);
        self.socket = socket.map(Path::to_path_buf);
    }

    pub(crate) fn sandboxed(&self) -> Option<&Sandboxed> {
        self.sandboxed.as_ref()
    }

    fn id(&self) -> Option<u32> {
        lock(&self.child).id()
    }

    /// Returns when the process has ended.
    pub(crate) async fn ended(&self) {
        let mut pause = Duration::from_millis(1);
        // An error counts as the end, because the process cannot be waited for.
        while let Ok(None) = self.try_wait() {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_POLL);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.try_wait().is_ok_and(|it| it.is_some())
    }

    /// Returns true if the process has exited successfully.
    fn has_succeeded(&self) -> bool {
        self.try_wait().is_ok_and(|it| it.is_some_and(|status| status.success()))
    }

    /// Kills the remaining descendants of the process.
    pub(crate) fn kill_leftovers(&self) {
        self.registration.kill_leftovers();
    }

    fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        lock(&self.child).try_wait()
    }

    fn remove_socket(&self) {
        if let Some(path) = &self.socket {
            remove_socket(path);
        }
    }

    /// Waits for the end until `deadline`, then kills the process; reaps it in both cases. Kills its descendants
    /// unless it exits successfully.
    pub(crate) async fn end(&self, deadline: Instant) -> io::Result<ExitStatus> {
        let status = self.end_itself(deadline).await;
        self.is_over.store(true, Ordering::Relaxed);
        if !status.as_ref().is_ok_and(ExitStatus::success) {
            self.kill_leftovers();
        }
        status
    }

    async fn end_itself(&self, deadline: Instant) -> io::Result<ExitStatus> {
        if let Some(status) = self.wait(deadline).await? {
            return Ok(status);
        }
        lock(&self.child).start_kill()?;
        let status = self.wait(Instant::now() + GRACE).await?;
        status.ok_or_else(|| io::Error::other("the process does not end although it was killed"))
    }

    async fn wait(&self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            sleep(pause.min(deadline - Instant::now())).await;
            pause = (pause * 2).min(LONGEST_POLL);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ended = lock(&self.child).start_kill();
        if !self.is_over.load(Ordering::Relaxed) && !self.has_succeeded() {
            self.kill_leftovers();
        }
        self.remove_socket();
    }
}

/// The tasks that read a plugin's streams. Dropping this aborts them.
pub(crate) struct Readers {
    pub(crate) stdout: JoinHandle<()>,
    pub(crate) stderr: JoinHandle<()>,
    pub(crate) stdio: JoinHandle<()>,
}

impl Readers {
    /// Waits a short time for the end of stderr. Returns true if it was reached.
    pub(crate) async fn last_words(&mut self) -> bool {
        timeout(LAST_WORDS, &mut self.stderr).await.is_ok()
    }

    /// Aborts the tasks and waits until none of them runs. After the shutdown of a plugin, the secrets for
    /// redacting its texts can therefore be forgotten.
    async fn end(mut self) {
        for task in [&mut self.stdout, &mut self.stderr, &mut self.stdio] {
            // A task that was already awaited must not be awaited again.
            if !task.is_finished() {
                task.abort();
                let _ended = task.await;
            }
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for task in [&self.stdout, &self.stderr, &self.stdio] {
            task.abort();
        }
    }
}

/// A plugin that was started and has completed the handshake.
///
/// Dropping it kills the process and lets the runtime reap it; [`PluginProcess::shutdown`] asks it to exit first.
/// The process stays in the process group of this process, as with go-plugin: plugins receive the SIGINT of
/// Ctrl-C, too, and ignore it, so that the operation in progress can finish. SIGHUP of a closed terminal and
/// SIGQUIT of Ctrl-\ are blocked in plugins for the same reason. Stopping the whole job with Ctrl-Z works.
pub struct PluginProcess {
    pub(crate) guard: Guard,
    pub(crate) readers: tokio::sync::Mutex<Option<Readers>>,
    pub(crate) channel: Channel,
    pub(crate) protocol: ProtocolVersion,
    pub(crate) listener: Listener,
    pub(crate) tail: Tail,
}

/// The end of a process.
pub(crate) struct Death {
    pub(crate) status: ExitStatus,
    /// The first lines of the panic report. Only the first call that asks receives them.
    pub(crate) panic: Vec<String>,
}

impl PluginProcess {
    /// The protocol version that the plugin chose.
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        self.protocol
    }

    /// The process id, or `None` once the process was reaped.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.guard.id()
    }

    /// The exit status, or `None` if the process is still running.
    #[must_use]
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.guard.try_wait().ok().flatten()
    }

    /// Returns how the process ended, if it has ended or does so within a short time. For a call without an
    /// answer.
    pub(crate) async fn death(&self) -> Option<Death> {
        timeout(LAST_WORDS, self.guard.ended()).await.ok()?;
        let status = self.exit_status()?;
        let readers = async {
            // The first caller waits for the rest of stderr while it holds the lock; other callers wait for the
            // lock.
            if let Some(readers) = &mut *self.readers.lock().await {
                while !readers.stderr.is_finished() {
                    sleep(Duration::from_millis(1)).await;
                }
            }
        };
        let _cut_off = timeout(LAST_WORDS, readers).await;
        Some(Death { status, panic: self.tail.take_panic() })
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Asks the plugin to exit, waits at most two seconds, then kills it. When this returns, the process is reaped
    /// and its socket removed. A second call does nothing.
    pub fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end_in_time())
    }

    async fn end_in_time(&self) {
        let Some(mut readers) = self.readers.lock().await.take() else { return };
        let deadline = Instant::now() + GRACE;
        if self.exit_status().is_none() {
            // The server usually stops before it answers, so an error is expected.
            let mut controller = GrpcControllerClient::new(self.channel.clone());
            let _answer = timeout_at(deadline, controller.shutdown(Empty {})).await;
        }
        let status = self.guard.end(deadline).await;
        if !readers.last_words().await {
            // A descendant still holds the stream of the plugin. A daemon would have closed it, so this one is
            // killed.
            self.guard.kill_leftovers();
        }
        readers.end().await;
        self.guard.remove_socket();
        if let Ok(status) = status {
            self.listener.event(PluginEvent::Exited { status });
        }
    }
}

/// Removes the socket of a plugin that ended. Go plugins that are killed leave their sockets behind.
///
/// The plugin chose the path, so only a socket is removed.
pub(crate) fn remove_socket(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket()) {
        let _gone = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::Duration,
    };

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn ended_readers_have_emitted_their_current_line() {
        let (begun, said) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let stdio = {
            let (begun, said) = (begun.clone(), said.clone());
            tokio::spawn(async move {
                begun.store(true, Ordering::SeqCst);
                // No await point inside of a line: a task is only aborted between lines.
                std::thread::sleep(Duration::from_millis(100));
                said.store(true, Ordering::SeqCst);
                std::future::pending::<()>().await;
            })
        };
        let stderr = tokio::spawn(async {});
        let mut readers = Readers { stdout: tokio::spawn(async {}), stderr, stdio };
        assert!(readers.last_words().await);
        while !begun.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        readers.end().await;
        assert!(said.load(Ordering::SeqCst));
    }
}
