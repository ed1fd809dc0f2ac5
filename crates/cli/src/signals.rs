//! Interrupts: the first lets running operations finish, the second ends the program.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use engine::CancelToken;
use tokio::signal::unix::{SignalKind, signal};

use crate::{commands::watch::terminal, session::Session, ui::Ui};

/// Listens to SIGINT and SIGTERM for the rest of the process.
pub(crate) fn listen(session: &Session) {
    listen_while(session, Arc::new(AtomicBool::new(true)));
}

/// The same where the first signal is what ends the command, and no surprise: it is announced only while `is_working`.
pub(crate) fn listen_while(session: &Session, is_working: Arc<AtomicBool>) {
    let (ui, cancel) = (session.ui.clone(), session.cancel.clone());
    session.runtime.spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        let mut count = 0;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            count += 1;
            asked(count, &ui, &cancel, is_working.load(Ordering::Relaxed)).await;
        }
    });
}

/// Ends the process at the first signal, with the plugins that it started: for commands that change nothing. Without this
/// a plugin, which leaves Ctrl-C to us, would live on.
pub(crate) fn end_at_once(session: &Session) {
    end_at_once_after(session, async {});
}

/// The same with something that is to be put right first.
pub(crate) fn end_at_once_after(
    session: &Session,
    mend: impl Future<Output = ()> + Send + 'static,
) {
    let ui = session.ui.clone();
    session.runtime.spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        mend.await;
        end(&ui);
    });
}

/// How long an abort may take to close what is open before the process ends anyway.
const ABORT: std::time::Duration = std::time::Duration::from_secs(15);

async fn asked(count: u32, ui: &Arc<Ui>, cancel: &CancelToken, is_working: bool) {
    cancel.cancel();
    match count {
        1 if !is_working => {}
        1 => ui.announce(
            "\nInterrupt received.\nPlease wait for Mayfly to exit or data loss may occur.\nGracefully shutting down...\n\n",
        ),
        2 => {
            ui.print_error(
                "\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n",
            );
            tokio::time::sleep(ABORT).await;
            end(ui);
        }
        _ => end(ui),
    }
}

/// Ends the process; plugins must not outlive it.
#[expect(clippy::exit, reason = "the user wants the end, and destructors may be what hangs")]
fn end(ui: &Ui) -> ! {
    ui.fall_silent();
    terminal::restore();
    plugin::kill_all();
    std::process::exit(1)
}
