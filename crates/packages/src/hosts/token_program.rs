//! Programs that store tokens: `terraform-credentials-NAME`, called with an action and the name of a host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::cli_config::Token;
use crate::hosts::HostName;
use crate::plugin_files::plugin_files;

/// The largest output that is read from a program, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// The longest error text that is shown, in characters.
const MAX_SHOWN: usize = 2000;

/// A credentials helper.
#[derive(Clone, Debug)]
pub(crate) struct TokenProgram {
    /// The name of the setting.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: PathBuf,
    /// The arguments before the name of the action.
    pub(crate) arguments: Vec<String>,
    /// The environment variables that the program does not inherit.
    pub(crate) withheld: Vec<OsString>,
}

impl TokenProgram {
    /// Finds the program of a helper in directories of plugins. `None` if there is none.
    pub(crate) fn find(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
        let mut programs = plugin_files("terraform-credentials-", directories);
        std::path::absolute(programs.remove(&name.to_lowercase())?).ok()
    }

    /// Asks for the token of a host. `None` if the program has none.
    pub(crate) async fn get(&self, host: &HostName) -> Result<Option<Token>, String> {
        let output = self.run("get", host, None).await?;
        let answer: serde_json::Value = serde_json::from_slice(&output).map_err(|_| {
            format!("malformed output from {}: it is not a JSON object", self.program.display())
        })?;
        Ok(answer.get("token").and_then(|it| it.as_str()).map(Token::new))
    }

    /// Stores the token of a host.
    pub(crate) async fn store(&self, host: &HostName, token: &Token) -> Result<(), String> {
        self.run("store", host, Some(token)).await.map(drop)
    }

    /// Removes the token of a host.
    pub(crate) async fn forget(&self, host: &HostName) -> Result<(), String> {
        self.run("forget", host, None).await.map(drop)
    }

    /// Runs the program with a token as its input, and returns its output.
    async fn run(
        &self,
        action: &str,
        host: &HostName,
        token: Option<&Token>,
    ) -> Result<Vec<u8>, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(action).arg(host.as_str());
        for name in &self.withheld {
            command.env_remove(name);
        }
        let input = token.map(|it| serde_json::json!({ "token": it.expose() }).to_string());
        run_program(command, input.as_deref().unwrap_or_default(), token).await
    }
}

/// Runs a program that has secrets, with an input, and returns its output.
///
/// # Errors
/// Returns a sentence fragment with the program's own words, without the token.
pub(crate) async fn run_program(
    mut command: Command,
    input: &str,
    token: Option<&Token>,
) -> Result<Vec<u8>, String> {
    let shown = command.as_std().get_program().display().to_string();
    let failed = |error: std::io::Error| format!("failed to run {shown}: {error}");
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(failed)?;
    let (output, errors) = converse(&mut child, input.as_bytes()).await;
    let status = child.wait().await.map_err(failed)?;
    if status.success() {
        return Ok(output);
    }
    // Helpers of Docker write their errors to the output, where otherwise the secret is.
    let is_secret = output.contains(&b'{');
    let words = if errors.is_empty() && !is_secret { &output } else { &errors };
    let text = String::from_utf8_lossy(words);
    // The program knows the token, and may quote it. It is removed before the text is cut.
    let text = match token.map(Token::expose).filter(|it| !it.is_empty()) {
        Some(secret) => text.replace(secret, "(token)"),
        None => text.into_owned(),
    };
    let shown_text = |it: &char| !it.is_control() || *it == '\n';
    let text: String = text.trim().chars().filter(shown_text).take(MAX_SHOWN).collect();
    Err(match text.is_empty() {
        true => format!("error in {shown}, but it produced no error message"),
        false => format!("error in {shown}: {text}"),
    })
}

/// Writes the input and reads both outputs at once, so that no pipe blocks the program.
async fn converse(child: &mut Child, input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input fails for its own reason.
            drop(stdin.write_all(input).await);
        }
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let read_output = async {
        if let Some(stdout) = stdout {
            drop(stdout.take(MAX_OUTPUT).read_to_end(&mut output).await);
        }
    };
    let read_errors = async {
        if let Some(stderr) = stderr {
            drop(stderr.take(MAX_OUTPUT).read_to_end(&mut errors).await);
        }
    };
    futures::join!(write, read_output, read_errors);
    (output, errors)
}
