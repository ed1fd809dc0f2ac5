//! `local-exec`: commands on this computer.
//!
//! **Invariant:** if the configuration contains a secret, the diagnostic of a failure contains only the exit status
//! and the output without the secrets.

use std::sync::{Arc, Mutex, PoisonError};

use values::Value;

use crate::{
    provisioner::{Output, ProvisionFailure, Secrecy},
    request::{Command, CommandStatus},
    walk::context::Walk,
};

/// The maximum size of the output that is kept for a diagnostic, in bytes.
const KEPT_OUTPUT: usize = 64 * 1024;

impl Walk<'_> {
    /// Runs the command. If `hides_all` is set, a failure does not show its output.
    pub(super) async fn local_exec(
        &self,
        output: Output,
        config: &Value,
        hides_all: bool,
    ) -> Result<(), ProvisionFailure> {
        let secrecy = Secrecy::of(config);
        let arguments = Arguments::read(&config.without_all_marks())?;
        if arguments.quiet {
            output.show("local-exec: Executing: Suppressed by quiet=true");
        } else {
            output.show(&format!("Executing: {}", go_list(&arguments.command.arguments)));
        }
        let printed: Arc<Mutex<String>> = Arc::default();
        let keeping = Arc::clone(&printed);
        let line = move |line: &str| {
            let mut kept = keeping.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < KEPT_OUTPUT {
                kept.push_str(line);
                kept.push('\n');
            }
            drop(kept);
            output.show(line);
        };
        let shell_command = arguments.text.clone();
        let status =
            self.environment.commands.run(arguments.command, &line, &self.environment.cancel).await;
        let printed = printed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match status {
            Ok(CommandStatus { success: true, .. }) => Ok(()),
            Ok(CommandStatus { text, .. }) => {
                Err(self.failure(secrecy, hides_all, &shell_command, &text, &printed).into())
            }
            Err(reason) => Err(format!("The command could not be started: {reason}.").into()),
        }
    }

    fn failure(
        &self,
        secrecy: Secrecy,
        hides_all: bool,
        command: &str,
        status: &str,
        printed: &str,
    ) -> String {
        let redactor = &self.environment.redactor;
        if secrecy == Secrecy::None {
            return redactor.redact(&format!(
                "Error running command '{command}': {status}. Output: {printed}"
            ));
        }
        if hides_all {
            return format!(
                "Error running a command whose configuration holds secrets: {status}. Its output \
                 is not shown, because one of the secrets is too short to be redacted."
            );
        }
        let printed = redactor.redact_all(printed);
        format!(
            "Error running a command whose configuration holds secrets: {status}. Its output, without them: {printed}"
        )
    }
}

/// The arguments of `local-exec`, without marks. No `Debug`, because they may contain secrets.
struct Arguments {
    command: Command,
    /// The `command` argument.
    text: String,
    quiet: bool,
}

impl Arguments {
    fn read(config: &Value) -> Result<Arguments, String> {
        if !config.is_wholly_known() {
            return Err(
                "The configuration of the provisioner has parts that are not known.".to_owned()
            );
        }
        let attribute = |name: &str| config.get_attr(name).filter(|it| !it.is_null());
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let command = attribute("command").as_ref().and_then(text).unwrap_or_default();
        if command.is_empty() {
            return Err("local-exec provisioner command must be a non-empty string".to_owned());
        }
        let interpreter = attribute("interpreter");
        let interpreter: Vec<String> = interpreter
            .iter()
            .flat_map(|it| it.as_slice().unwrap_or_default())
            .filter_map(text)
            .collect();
        let mut arguments =
            if interpreter.is_empty() { default_interpreter() } else { interpreter };
        arguments.push(command.clone());
        let environment = attribute("environment");
        let environment = environment.iter().flat_map(|it| it.as_map().into_iter().flatten());
        let environment = environment
            .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
            .collect();
        Ok(Arguments {
            command: Command {
                arguments,
                directory: attribute("working_dir").as_ref().and_then(text),
                environment,
            },
            text: command,
            quiet: attribute("quiet").and_then(|it| it.as_bool()).unwrap_or(false),
        })
    }
}

fn default_interpreter() -> Vec<String> {
    let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };
    shell.map(str::to_owned).to_vec()
}

/// Formats a list as OpenTofu does: `["/bin/sh" "-c" "echo"]`.
fn go_list(arguments: &[String]) -> String {
    let quoted: Vec<String> = arguments.iter().map(|it| format!("{it:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
