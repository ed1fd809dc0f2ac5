//! Runs the commands of `local-exec`.

use std::{process::Stdio, time::Duration};

use engine::{CancelLevel, CancelToken, Command, CommandRunner, CommandStatus};
use provider::BoxFuture;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    sync::mpsc,
};

/// Commands as child processes, each with its children in a process group of its own.
pub(crate) struct Processes;

/// How long a killed command's pipes may stay open, held by children that left its group.
const DRAIN: Duration = Duration::from_secs(2);

impl CommandRunner for Processes {
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        Box::pin(run(command, output, cancel))
    }
}

async fn run(
    command: Command,
    output: &(dyn Fn(&str) + Send + Sync),
    cancel: &CancelToken,
) -> Result<CommandStatus, String> {
    let Some((program, arguments)) = command.arguments.split_first() else {
        return Err("no command was given".to_owned());
    };
    let mut process = tokio::process::Command::new(program);
    process
        .args(arguments)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    let mut child = process.spawn().map_err(|error| error.to_string())?;
    let (lines, mut received) = mpsc::channel(64);
    if let Some(stdout) = child.stdout.take() {
        tokio::spawn(relay(stdout, lines.clone()));
    }
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(relay(stderr, lines.clone()));
    }
    drop(lines);
    let group = child.id();
    let mut status = None;
    while status.is_none() {
        tokio::select! {
            Some(line) = received.recv() => output(&line),
            ended = child.wait() => status = Some(ended.map_err(|error| error.to_string())?),
            () = cancel.reached(CancelLevel::Aborting) => {
                kill_group(group);
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
    let status = status.ok_or_else(|| "the command was lost".to_owned())?;
    Ok(CommandStatus { success: status.success(), text: status_text(status) })
}

async fn relay(stream: impl AsyncRead + Unpin, lines: mpsc::Sender<String>) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(read) = reader.read_until(b'\n', &mut line).await {
        if read == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        line.clear();
        if lines.send(text).await.is_err() {
            return;
        }
    }
}

fn kill_group(leader: Option<u32>) {
    let leader =
        leader.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(leader) = leader {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
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
