//! `remote-exec` and `file`: scripts and files for another machine.
//!
//! **Invariant:** no diagnostic contains a part of a script, of a file or of a credential.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use db::System;
use values::Value;

use crate::{
    cancel::CancelLevel,
    machine::{Machine, Permissions, Platform, Source},
    provisioner::{Output, ProvisionFailure, settings::Settings},
    request::CommandStatus,
    shell::quoted_for_shell,
    walk::context::Walk,
};

/// The first pause between two attempts to connect. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

const SHEBANG: &[u8] = b"#!/bin/sh\n";

impl Walk<'_> {
    /// Runs the scripts of a `remote-exec`, one after the other.
    pub(super) async fn remote_exec(
        &self,
        output: Output,
        config: &Value,
        connection: Option<&Value>,
    ) -> Result<(), ProvisionFailure> {
        let settings = self.connection_settings(connection)?;
        let scripts = self.scripts(&known(config)?)?;
        let machine = self.connect(&settings, Some(&output)).await?;
        let mut ran = Ok(());
        for script in scripts {
            let running = run_script(&*machine, &settings, script, &output);
            ran = self.unless_interrupted(running, "while a script ran").await;
            if ran.is_err() {
                break;
            }
        }
        self.disconnect(machine, ran).await
    }

    /// Copies the file, directory or text of a `file` provisioner.
    pub(super) async fn copy_file(
        &self,
        config: &Value,
        connection: Option<&Value>,
    ) -> Result<(), ProvisionFailure> {
        let settings = self.connection_settings(connection)?;
        let config = known(config)?;
        let Some(destination) = text(&config, "destination").filter(|it| !it.is_empty()) else {
            return Err("The destination must be a non-empty string.".to_owned().into());
        };
        let system = &*self.environment.system;
        let content = text(&config, "content");
        let written = text(&config, "source").unwrap_or_default();
        let path = absolute(system, &written);
        let source = match &content {
            Some(text) => {
                Source::Text { text: text.as_bytes(), permissions: Permissions::Readable }
            }
            None if system.is_directory(&path) => {
                Source::Directory { path: &path, contents_only: written.ends_with('/') }
            }
            None => Source::File(&path),
        };
        let machine = self.connect(&settings, None).await?;
        let upload = async {
            let uploaded = machine.upload(source, &destination).await;
            uploaded.map_err(|reason| format!("Upload failed: {reason}"))
        };
        let uploaded = self.unless_interrupted(upload, "during the upload").await;
        self.disconnect(machine, uploaded).await
    }

    fn connection_settings(
        &self,
        connection: Option<&Value>,
    ) -> Result<Settings, ProvisionFailure> {
        let Some(connection) = connection else {
            return Err(hir::provisioner::MISSING_CONNECTION.to_owned().into());
        };
        Ok(Settings::read(connection, &*self.environment.system)?)
    }

    /// Connects, and tries again until the timeout. Each attempt is announced if there is an output.
    async fn connect(
        &self,
        settings: &Settings,
        output: Option<&Output>,
    ) -> Result<Box<dyn Machine>, ProvisionFailure> {
        let mut last = None;
        let attempts = self.attempts(settings, output, &mut last);
        let connected = tokio::select! {
            connected = tokio::time::timeout(settings.timeout, attempts) => connected,
            () = self.environment.cancel.reached(CancelLevel::Stopping) => {
                let last = self.last_error(last);
                let detail = format!("interrupted - last error: {last}");
                return Err(ProvisionFailure { detail, is_interrupted: true });
            }
        };
        match connected {
            Ok(Ok(machine)) => {
                output.iter().for_each(|it| it.show("Connected!"));
                Ok(machine)
            }
            Ok(Err(reason)) => Err(self.environment.redactor.redact_all(&reason).into()),
            Err(_) => Err(format!("timeout - last error: {}", self.last_error(last)).into()),
        }
    }

    /// Connects, and tries again without end. Keeps the reason of the last failed attempt in `last`. Fails if no
    /// further attempt can succeed.
    async fn attempts(
        &self,
        settings: &Settings,
        output: Option<&Output>,
        last: &mut Option<String>,
    ) -> Result<Box<dyn Machine>, String> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(output) = output {
                settings.description.iter().for_each(|it| output.show_together(it));
            }
            match self.environment.machines.connect(&settings.connection).await {
                Ok(machine) => return Ok(machine),
                Err(error) if error.is_final => return Err(error.reason),
                Err(error) => *last = Some(error.reason),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn last_error(&self, last: Option<String>) -> String {
        let last = last.unwrap_or_else(|| "the first attempt to connect did not end".to_owned());
        self.environment.redactor.redact_all(&last)
    }

    /// Does work on a machine. The first interrupt ends it.
    async fn unless_interrupted(
        &self,
        work: impl Future<Output = Result<(), String>>,
        when: &str,
    ) -> Result<(), ProvisionFailure> {
        tokio::select! {
            done = work => {
                done.map_err(|detail| self.environment.redactor.redact_all(&detail).into())
            }
            () = self.environment.cancel.reached(CancelLevel::Stopping) => {
                let detail = format!("The run was interrupted {when}; the connection was closed.");
                Err(ProvisionFailure { detail, is_interrupted: true })
            }
        }
    }

    /// Closes the connection: at once after an interrupt.
    async fn disconnect(
        &self,
        machine: Box<dyn Machine>,
        done: Result<(), ProvisionFailure>,
    ) -> Result<(), ProvisionFailure> {
        if !matches!(&done, Err(failure) if failure.is_interrupted) {
            machine.close().await;
        }
        done
    }

    /// The scripts of a `remote-exec`, as texts.
    fn scripts(&self, config: &Value) -> Result<Vec<Vec<u8>>, String> {
        if let Some(lines) = texts(config, "inline")? {
            let script = lines.iter().fold(String::new(), |script, line| script + line + "\n");
            return Ok(vec![script.into_bytes()]);
        }
        let mut paths: Vec<String> = text(config, "script").into_iter().collect();
        paths.extend(texts(config, "scripts")?.into_iter().flatten());
        let system = &*self.environment.system;
        let read = |path: &String| {
            if path.is_empty() {
                return Err("invalid empty string in 'script'".to_owned());
            }
            let script = system.read_file(&system.base_directory().join(path));
            script.map_err(|error| {
                let path = self.environment.redactor.redact_all(path);
                format!("Failed to open script '{path}': {error}")
            })
        };
        paths.iter().map(read).collect()
    }
}

/// Uploads a script, runs it, and empties its file.
async fn run_script(
    machine: &dyn Machine,
    settings: &Settings,
    script: Vec<u8>,
    output: &Output,
) -> Result<(), String> {
    let is_unix = settings.connection.platform == Platform::Unix;
    let path = settings.script_path();
    let shebang = if is_unix && !script.starts_with(b"#!") { SHEBANG } else { b"" };
    let text = [shebang, &script].concat();
    let permissions = Permissions::OwnExecutable;
    let uploaded = machine.upload(Source::Text { text: &text, permissions }, &path).await;
    uploaded.map_err(|reason| format!("Failed to upload script: {reason}"))?;
    if is_unix {
        make_executable(machine, &path).await?;
    }
    let command = if is_unix { quoted_for_shell(&path) } else { path.clone() };
    let ran = machine.run(&command, &|line| output.show(line)).await;
    // The script may contain secrets. If the connection is lost, there is nothing more to do about them.
    let _ = machine.upload(Source::Text { text: b"", permissions }, &path).await;
    let error = match ran {
        Ok(CommandStatus { success: true, .. }) => return Ok(()),
        Ok(CommandStatus { text, .. }) => text,
        Err(reason) => reason,
    };
    Err(format!("error executing {command:?}: {error}"))
}

/// Makes a script executable. A file that was there before the upload has kept its permissions.
async fn make_executable(machine: &dyn Machine, path: &str) -> Result<(), String> {
    let said = std::sync::Mutex::new(String::new());
    let keep = |line: &str| {
        let mut said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        said.push(' ');
        said.push_str(line);
    };
    let ran = machine.run(&format!("chmod 0700 {}", quoted_for_shell(path)), &keep).await;
    let error = match ran {
        Ok(CommandStatus { success: true, .. }) => return Ok(()),
        Ok(CommandStatus { text, .. }) => text,
        Err(reason) => reason,
    };
    let said = said.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Err(format!("Failed to make the uploaded script {path} executable: {error}{said}"))
}

/// Returns a configuration without its marks.
fn known(config: &Value) -> Result<Value, String> {
    match config.is_wholly_known() {
        true => Ok(config.without_all_marks()),
        false => {
            Err("The configuration of the provisioner has parts that are not known.".to_owned())
        }
    }
}

fn text(config: &Value, name: &str) -> Option<String> {
    config.get_attr(name)?.as_str().map(str::to_owned)
}

/// A list of texts; `None` if it is null.
fn texts(config: &Value, name: &str) -> Result<Option<Vec<String>>, String> {
    let Some(list) = config.get_attr(name).filter(|it| !it.is_null()) else { return Ok(None) };
    let items = list.as_slice().unwrap_or_default();
    let item = |it: &Value| match it.as_str() {
        None => Err(format!("invalid null string in '{name}'")),
        Some("") => Err(format!("invalid empty string in '{name}'")),
        Some(text) => Ok(text.to_owned()),
    };
    items.iter().map(item).collect::<Result<_, _>>().map(Some)
}

/// The place of a source on this computer. A leading `~/` means the home directory.
fn absolute(system: &dyn System, path: &str) -> PathBuf {
    let home = || system.variable("HOME").filter(|it| !it.is_empty());
    match path.strip_prefix("~/").and_then(|rest| Some((rest, home()?))) {
        Some((rest, home)) => Path::new(&home).join(rest),
        None => system.base_directory().join(path),
    }
}
