//! A plugin that runs: its channel, and how it ends.

use std::{
    io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
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
    logs::{Listener, Tail},
    protocol::ProtocolVersion,
    sink::PluginEvent,
    supervision::{self, Registration},
};

/// How long a plugin may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long the last lines of stderr may take after the process ended; a grandchild may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
const LONGEST_POLL: Duration = Duration::from_millis(20);

/// Processes that may be running, for [`kill_all`].
static RUNNING: Mutex<Vec<Weak<Mutex<Child>>>> = Mutex::new(Vec::new());

/// Kills every plugin and command that this process started and what they started, at once and without waiting, and
/// removes the record of them.
///
/// For an exit that runs no destructors: a second interrupt, or the end of a panic hook. Nothing may be started after it.
pub fn kill_all() {
    let running = std::mem::take(&mut *lock(&RUNNING));
    for child in running.iter().filter_map(Weak::upgrade) {
        // An error means that it has ended already.
        let _ended = lock(&child).start_kill();
    }
    supervision::kill_all();
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
    registration: Registration,
    /// Whether it was ended, and what was to be done then is done.
    is_over: AtomicBool,
    socket: Option<PathBuf>,
}

impl Guard {
    /// Watches over `child`, which must have been made with `kill_on_drop` and have the variable of the registration.
    pub(crate) fn new(child: Child, registration: Registration) -> Self {
        registration.started(child.id());
        let child = Arc::new(Mutex::new(child));
        let mut running = lock(&RUNNING);
        running.retain(|it| it.strong_count() > 0);
        running.push(Arc::downgrade(&child));
        Self { child, registration, is_over: AtomicBool::new(false), socket: None }
    }

    /// Takes over that the process listens. Its socket, if that is a file, is removed when it has ended.
    pub(crate) fn listens(&mut self, socket: Option<&Path>) {
        self.registration.connected(socket);
        self.socket = socket.map(Path::to_path_buf);
    }

    fn id(&self) -> Option<u32> {
        lock(&self.child).id()
    }

    /// Returns when the process has ended.
    pub(crate) async fn ended(&self) {
        let mut pause = Duration::from_millis(1);
        // What cannot be waited for is as good as ended.
        while let Ok(None) = self.try_wait() {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_POLL);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.try_wait().is_ok_and(|it| it.is_some())
    }

    /// Whether it has ended in good order.
    fn has_succeeded(&self) -> bool {
        self.try_wait().is_ok_and(|it| it.is_some_and(|status| status.success()))
    }

    /// Kills what the process has started and not ended.
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

    /// Waits for the end until `deadline`, then kills; reaps in both cases. What ends otherwise than in good order leaves
    /// no children.
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

/// The tasks that read a plugin's streams; they end with this.
pub(crate) struct Readers {
    pub(crate) stdout: JoinHandle<()>,
    pub(crate) stderr: JoinHandle<()>,
    pub(crate) stdio: JoinHandle<()>,
}

impl Readers {
    /// Lets stderr come to its end, for a moment; gives whether it did.
    pub(crate) async fn last_words(&mut self) -> bool {
        timeout(LAST_WORDS, &mut self.stderr).await.is_ok()
    }

    /// Ends them, and waits until none is at work: whoever knows the secrets that are taken out of a plugin's words may
    /// forget them as soon as it has been shut down.
    async fn end(mut self) {
        for task in [&mut self.stdout, &mut self.stderr, &mut self.stdio] {
            // One that was waited for already must not be asked again.
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

/// A plugin that was started and answered the handshake.
///
/// Dropping it kills the process and lets the runtime reap it; [`PluginProcess::shutdown`] is the polite way.
/// The process stays in our process group, as go-plugin leaves it: Ctrl-C reaches plugins too, and they ignore it, so that
/// the operation in flight can be ended in good order. SIGHUP of a closed terminal and SIGQUIT of Ctrl-\ are blocked in
/// plugins for the same reason. Stopping the whole job (Ctrl-Z) works.
pub struct PluginProcess {
    pub(crate) guard: Guard,
    pub(crate) readers: tokio::sync::Mutex<Option<Readers>>,
    pub(crate) channel: Channel,
    pub(crate) protocol: ProtocolVersion,
    pub(crate) listener: Listener,
    pub(crate) tail: Tail,
}

/// How a process came to its end.
pub(crate) struct Death {
    pub(crate) status: ExitStatus,
    /// The begin of its panic report, told to whoever asks first.
    pub(crate) panic: Vec<String>,
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

    /// Why a call had no answer, if that is because the process has ended, or does in a moment.
    pub(crate) async fn death(&self) -> Option<Death> {
        timeout(LAST_WORDS, self.guard.ended()).await.ok()?;
        let status = self.exit_status()?;
        let readers = async {
            // The first call that asks waits for the last words; others come after it.
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
        if !readers.last_words().await {
            // Who holds the stream of a plugin that is gone is no daemon, which would have let go of it.
            self.guard.kill_leftovers();
        }
        readers.end().await;
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
    async fn what_is_being_read_has_been_said_when_readers_have_ended() {
        let (begun, said) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let stdio = {
            let (begun, said) = (begun.clone(), said.clone());
            tokio::spawn(async move {
                begun.store(true, Ordering::SeqCst);
                // Nothing is awaited in the middle of a line.
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
