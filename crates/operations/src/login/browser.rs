//! Opens a page in the browser of the user.

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    time::Duration,
};

use crate::session::Session;

/// The time in which a program that cannot open a page ends.
const PATIENCE: Duration = Duration::from_secs(2);

const PROGRAMS: &[&str] = match cfg!(target_os = "macos") {
    true => &["open"],
    false => &["xdg-open", "x-www-browser", "www-browser", "wslview"],
};

/// Opens a page. Returns false if no program could do so.
pub(super) async fn open(session: &Session, url: &str) -> bool {
    let named = session.system.variable("BROWSER").unwrap_or_default();
    let named = named.split(':').filter(|it| !it.trim().is_empty());
    for command in named.chain(PROGRAMS.iter().copied()) {
        if run(session, command, url).await {
            return true;
        }
    }
    false
}

/// Runs a command, in whose words `%s` stands for the page. Without it, the page is the last word.
async fn run(session: &Session, command: &str, url: &str) -> bool {
    let mut words: Vec<String> =
        command.split_whitespace().map(|it| it.replace("%s", url)).collect();
    if !command.contains("%s") {
        words.push(url.to_owned());
    }
    let Some((program, arguments)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    session.child_environment.prepare_command(&mut command, None);
    // A browser outlives this command, also if that is interrupted.
    command.process_group(0);
    let Ok(mut child) = tokio::process::Command::from(command).spawn() else { return false };
    match tokio::time::timeout(PATIENCE, child.wait()).await {
        Ok(ended) => ended.is_ok_and(|it| it.success()),
        // It shows the page itself.
        Err(_) => true,
    }
}
