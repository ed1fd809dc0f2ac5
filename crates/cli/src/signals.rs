//! Interrupts: the first one lets running operations finish, the second one ends the program.
//!
//! Ctrl-C (SIGINT), SIGTERM, a closed terminal (SIGHUP) and Ctrl-\ (SIGQUIT) are interrupts. SIGHUP and SIGQUIT
//! stay ignored if they were ignored when the program started, as under `nohup`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::CancelToken;
use plugin::Processes;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{session::CommandSession, terminal, ui::Ui};

/// The signals that count as interrupts.
struct Interrupts {
    signals: Vec<Signal>,
}

impl Interrupts {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// A handler cannot be installed.
    fn new() -> std::io::Result<Interrupts> {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        let others = [SignalKind::hangup(), SignalKind::quit()];
        kinds.extend(others.into_iter().filter(|it| !is_ignored(*it)));
        let signals = kinds.into_iter().map(signal).collect::<Result<_, _>>()?;
        Ok(Interrupts { signals })
    }

    /// Waits for the next interrupt.
    async fn next(&mut self) {
        std::future::poll_fn(|context| {
            // Poll all of them, so that each one wakes this future.
            let came = self.signals.iter_mut().filter_map(|it| match it.poll_recv(context) {
                std::task::Poll::Ready(came) => came,
                std::task::Poll::Pending => None,
            });
            match came.count() {
                0 => std::task::Poll::Pending,
                _ => std::task::Poll::Ready(()),
            }
        })
        .await;
    }
}

/// Returns true if a signal was ignored when the program started. Returns false if `/proc` is not available.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or_default();
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}

/// Handles interrupts for the rest of the process.
pub(crate) fn listen(session: &CommandSession) {
    listen_while(session, Arc::new(AtomicBool::new(true)));
}

/// Handles interrupts. The first one is announced only while `is_working` is true, because otherwise it is the
/// normal way to end the command.
pub(crate) fn listen_while(session: &CommandSession, is_working: Arc<AtomicBool>) {
    let command = RunningCommand::of(session);
    session.runtime.spawn(async move {
        let Ok(mut interrupts) = Interrupts::new() else { return };
        let mut count = 0;
        loop {
            interrupts.next().await;
            count += 1;
            command.interrupt(count, is_working.load(Ordering::Relaxed)).await;
        }
    });
}

/// Ends the process and its plugins at the first interrupt, for commands that change nothing. Plugins ignore
/// Ctrl-C, so they would otherwise outlive the process.
pub(crate) fn end_at_once(session: &CommandSession) {
    end_at_once_after(session, async {});
}

/// Like [`end_at_once`], but runs `restore` first.
pub(crate) fn end_at_once_after(
    session: &CommandSession,
    restore: impl Future<Output = ()> + Send + 'static,
) {
    let command = RunningCommand::of(session);
    session.runtime.spawn(async move {
        let Ok(mut interrupts) = Interrupts::new() else { return };
        interrupts.next().await;
        restore.await;
        command.end();
    });
}

/// The maximum time for an abort to close open resources before the process ends.
const ABORT: Duration = Duration::from_secs(15);

/// The maximum time for the operation to notice the abort. If it does not notice, it closes nothing, so waiting
/// longer is useless.
const NOTICE: Duration = Duration::from_secs(1);

/// The time that a message has to appear before the next interrupt is handled.
const PRINTED: Duration = Duration::from_millis(200);

const FIRST: &str = "\nInterrupt received.\nPlease wait for Mayfly to exit or data loss may \
                     occur.\nGracefully shutting down...\n\n";

const SECOND: &str =
    "\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n";

/// The parts of a running command that an interrupt reaches.
struct RunningCommand {
    ui: Arc<Ui>,
    cancel: CancelToken,
    processes: Processes,
}

impl RunningCommand {
    fn of(session: &CommandSession) -> RunningCommand {
        RunningCommand {
            ui: Arc::clone(&session.ui),
            cancel: session.cancel.clone(),
            processes: session.processes.clone(),
        }
    }

    /// Handles an interrupt. `count` is the number of interrupts so far, including this one.
    async fn interrupt(&self, count: u32, is_working: bool) {
        self.cancel.cancel();
        match count {
            1 if !is_working => {}
            1 => self.tell(|ui| ui.announce(FIRST)).await,
            2 => {
                self.tell(|ui| ui.print_error(SECOND)).await;
                tokio::time::sleep(NOTICE).await;
                if self.cancel.is_heard() {
                    tokio::time::sleep(ABORT - NOTICE).await;
                }
                self.end();
            }
            _ => self.end(),
        }
    }

    /// Prints a message on another thread, and waits for it only briefly: a stopped terminal blocks each thread that
    /// prints, and the next interrupt must still end the process.
    async fn tell(&self, print: fn(&Ui)) {
        let ui = Arc::clone(&self.ui);
        let printed = tokio::task::spawn_blocking(move || print(&ui));
        let _ = tokio::time::timeout(PRINTED, printed).await;
    }

    /// Ends the process without destructors, which may be what hangs. Kills the plugins first, because they must not
    /// outlive it.
    fn end(&self) -> ! {
        self.ui.fall_silent();
        terminal::restore();
        self.processes.kill_all();
        std::process::exit(1)
    }
}
