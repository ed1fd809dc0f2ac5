//! Runs the commands of `local-exec` provisioners.
//!
//! A command runs in its own process group, so that a first interrupt does not reach it. A second interrupt, or
//! the death of this process, ends the group and every other process that the command started.

use std::{process::Stdio, sync::Arc, time::Duration};

use engine::{CancelLevel, CancelToken, Command, CommandRunner, CommandStatus};
use plugin::{Lines, Processes, Registration};
use provider::BoxFuture;
use tokio::{io::AsyncRead, sync::mpsc};

use crate::child_environment::ChildEnvironment;

/// Runs commands as child processes, each in its own process group.
pub(crate) struct Commands {
    pub(crate) environment: Arc<ChildEnvironment>,
    /// The list that the processes are added to.
    pub(crate) processes: Processes,
}

/// The time that the output pipes of a killed command may stay open, held by children outside of its process
/// group.
const DRAIN: Duration = Duration::from_secs(2);

impl CommandRunner for Commands {
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        Box::pin(self.run_command(command, output, cancel))
    }
}

impl Commands {
    async fn run_command(
        &self,
        command: Command,
        output: &(dyn Fn(&str) + Send + Sync),
        cancel: &CancelToken,
    ) -> Result<CommandStatus, String> {
        let Some((program, arguments)) = command.arguments.split_first() else {
            return Err("no command was given".to_owned());
        };
        let mut process = tokio::process::Command::new(program);
        // The environment comes first: the configuration may set variables with the same names below.
        self.environment.prepare_command(process.as_std_mut(), command.directory.as_deref());
        process
            .args(arguments)
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut running = Running::new(&self.processes);
        let (name, value) = running.registration.variable();
        process.env(name, value);
        let mut child = process.spawn().map_err(|error| error.to_string())?;
        running.registration.started(child.id());
        let (lines, mut received) = mpsc::channel(64);
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(relay(stdout, lines.clone()));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(relay(stderr, lines.clone()));
        }
        drop(lines);
        let mut status = None;
        while status.is_none() {
            tokio::select! {
                Some(line) = received.recv() => output(&line),
                ended = child.wait() => status = Some(ended.map_err(|error| error.to_string())?),
                () = cancel.reached(CancelLevel::Aborting) => {
                    running.registration.kill();
                    status = Some(child.wait().await.map_err(|error| error.to_string())?);
                }
            }
        }
        let drain = async {
            while let Some(line) = received.recv().await {
                output(&line);
            }
        };
        let _ = tokio::time::timeout(DRAIN, drain).await;
        running.has_ended = true;
        let status = status.ok_or_else(|| "the command was lost".to_owned())?;
        Ok(CommandStatus { success: status.success(), text: status_text(status) })
    }
}

async fn relay(stream: impl AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    let mut read = Lines::new(stream);
    while let Ok(Some(line)) = read.next().await {
        if lines.send(line.into_text()).await.is_err() {
            return;
        }
    }
}

/// A running command. If it is dropped before the command ends, all processes of the command are killed. Processes
/// that still run after a normal end are left alone, because the command intended that.
struct Running {
    registration: Registration,
    has_ended: bool,
}

impl Running {
    fn new(processes: &Processes) -> Running {
        let registration = Registration::new(processes, "local-exec", true);
        Running { registration, has_ended: false }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended {
            self.registration.kill();
        }
    }
}

fn status_text(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plugin::{LONGEST_READ as LONGEST, TORN};

    use super::*;

    async fn relayed(output: &[u8]) -> Vec<String> {
        let (sender, mut receiver) = mpsc::channel(8);
        relay(output, sender).await;
        let mut lines = Vec::new();
        while let Ok(line) = receiver.try_recv() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn command_output_is_relayed_by_line() {
        assert_eq!(relayed(b"a\r\n\nb").await, ["a", "", "b"]);
        assert!(relayed(b"").await.is_empty());
    }

    #[tokio::test]
    async fn overlong_output_line_is_cut_before_a_possibly_torn_secret() {
        let output = format!("{}hunter2{}\nnext", "x".repeat(LONGEST - 4), "y".repeat(100));
        let lines = relayed(output.as_bytes()).await;
        assert_eq!(lines[1], "next");
        let dropped = TORN + 103;
        assert!(lines[0].ends_with(&format!("x... ({dropped} bytes left out)")));
        assert!(!lines[0].contains('h'));
    }
}
