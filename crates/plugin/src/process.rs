//! A plugin that runs: its channel, and how it ends.

use std::{
    io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    process::Child,
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};
use tonic::transport::Channel;

use crate::{
    generated::plugin::{Empty, grpc_controller_client::GrpcControllerClient},
    logs::Listener,
    protocol::ProtocolVersion,
    sink::PluginEvent,
};

/// How long a plugin may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long the last lines of stderr may take after the process ended; a grandchild may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
const LONGEST_POLL: Duration = Duration::from_millis(20);

/// Processes that may be running, for [`kill_all`].
static RUNNING: Mutex<Vec<Weak<Mutex<Child>>>> = Mutex::new(Vec::new());

/// Kills every plugin that this process started, at once and without waiting.
///
/// For an exit that runs no destructors: a second interrupt, or the end of a panic hook.
pub fn kill_all() {
    let running = std::mem::take(&mut *lock(&RUNNING));
    for child in running.iter().filter_map(Weak::upgrade) {
        // An error means that it has ended already.
        let _ended = lock(&child).start_kill();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child process that is killed, and its socket removed, when this is dropped.
///
/// It stays in the shared slot until it is reaped, so that [`kill_all`] reaches it at any moment; that is why its end is
/// polled for instead of awaited, which would need the slot for itself.
pub(crate) struct Guard {
    child: Arc<Mutex<Child>>,
    socket: Option<PathBuf>,
}

impl Guard {
    /// Watches over `child`, which must have been made with `kill_on_drop`.
    pub(crate) fn new(child: Child) -> Self {
        let child = Arc::new(Mutex::new(child));
        let mut running = lock(&RUNNING);
        running.retain(|it| it.strong_count() > 0);
        running.push(Arc::downgrade(&child));
        Self { child, socket: None }
    }

    /// Removes this file, if it is a socket, when the process has ended.
    pub(crate) fn owns_socket(&mut self, path: &Path) {
        self.socket = Some(path.to_path_buf());
    }

    fn id(&self) -> Option<u32> {
        lock(&self.child).id()
    }

    fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        lock(&self.child).try_wait()
    }

    fn remove_socket(&self) {
        if let Some(path) = &self.socket {
            remove_socket(path);
        }
    }

    /// Waits for the end until `deadline`, then kills; reaps in both cases.
    pub(crate) async fn end(&self, deadline: Instant) -> io::Result<ExitStatus> {
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
        self.remove_socket();
    }
}

/// The tasks that read a plugin's streams; they end with this.
pub(crate) struct Readers {
    pub(crate) stdout: JoinHandle<()>,
    pub(crate) stderr: JoinHandle<()>,
    pub(crate) stdio: JoinHandle<()>,
}

impl Readers {
    /// Lets stderr come to its end, for a moment.
    pub(crate) async fn last_words(&mut self) {
        let _cut_off = timeout(LAST_WORDS, &mut self.stderr).await;
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for task in [&self.stdout, &self.stderr, &self.stdio] {
            task.abort();
        }
    }
}

/// A plugin that was started and answered the handshake.
///
/// Dropping it kills the process and lets the runtime reap it; [`PluginProcess::shutdown`] is the polite way.
/// The process stays in our process group, as go-plugin leaves it: Ctrl-C reaches plugins too, and they ignore it, so that
/// the operation in flight can be ended in good order; stopping the whole job (Ctrl-Z, a closed terminal) works as well.
pub struct PluginProcess {
    pub(crate) guard: Guard,
    pub(crate) readers: tokio::sync::Mutex<Option<Readers>>,
    pub(crate) channel: Channel,
    pub(crate) protocol: ProtocolVersion,
    pub(crate) listener: Listener,
}

impl PluginProcess {
    /// The protocol version that the plugin chose.
    #[must_use]
    pub fn protocol(&self) -> ProtocolVersion {
        self.protocol
    }

    /// The process id, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.guard.id()
    }

    /// Whether the process has ended, and how.
    #[must_use]
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.guard.try_wait().ok().flatten()
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Asks the plugin to end, waits at most two seconds, then kills it; the process is reaped and its socket removed
    /// before this returns. A second call does nothing.
    pub async fn shutdown(&self) {
        let Some(mut readers) = self.readers.lock().await.take() else { return };
        let deadline = Instant::now() + GRACE;
        if self.exit_status().is_none() {
            // The server usually stops before it answers; both are fine.
            let mut controller = GrpcControllerClient::new(self.channel.clone());
            let _answer = timeout_at(deadline, controller.shutdown(Empty {})).await;
        }
        let status = self.guard.end(deadline).await;
        readers.last_words().await;
        self.guard.remove_socket();
        if let Ok(status) = status {
            self.listener.event(PluginEvent::Exited { status });
        }
    }
}

/// Removes the socket of a plugin that ended; killed Go plugins leave theirs behind.
///
/// The path is the plugin's own word, so anything but a socket stays.
pub(crate) fn remove_socket(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket()) {
        let _gone = std::fs::remove_file(path);
    }
}
