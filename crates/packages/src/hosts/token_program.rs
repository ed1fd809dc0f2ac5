//! Programs that store tokens: `terraform-credentials-NAME`, called with an action and the name of a host.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::cli_config::Token;
use crate::hosts::HostName;

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
    /// Finds the program of a helper in directories of plugins. The newest one is taken, if the names of several
    /// have a version. `None` if there is none.
    pub(crate) fn find(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
        let wanted = format!("terraform-credentials-{name}");
        let programs = directories.iter().flat_map(std::fs::read_dir).flatten().flatten();
        let programs = programs.filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let rest = file.strip_prefix(&wanted)?;
            let version = match rest {
                "" => addr::Version::default(),
                _ => {
                    let version = rest.strip_prefix("_v")?;
                    let version = version.split("_x").next().unwrap_or(version);
                    addr::Version::parse(version).ok()?
                }
            };
            entry.path().is_file().then(|| (version, entry.path()))
        });
        // The first one of equal versions, because earlier directories have precedence.
        let newest = programs.reduce(|best, next| if next.0 > best.0 { next } else { best });
        std::path::absolute(newest?.1).ok()
    }

    /// Asks for the token of a host. `None` if the program has none.
    pub(crate) async fn get(&self, host: &HostName) -> Result<Option<Token>, String> {
        let output = self.run("get", host, b"").await?;
        let answer: serde_json::Value = serde_json::from_slice(&output).map_err(|_| {
            format!("malformed output from {}: it is not a JSON object", self.program.display())
        })?;
        Ok(answer.get("token").and_then(|it| it.as_str()).map(Token::new))
    }

    /// Stores the token of a host.
    pub(crate) async fn store(&self, host: &HostName, token: &Token) -> Result<(), String> {
        let input = serde_json::json!({ "token": token.expose() }).to_string();
        let stored = self.run("store", host, input.as_bytes()).await;
        // The program knows the token, and may quote it.
        stored.map(drop).map_err(|error| error.replace(token.expose(), "(token)"))
    }

    /// Removes the token of a host.
    pub(crate) async fn forget(&self, host: &HostName) -> Result<(), String> {
        self.run("forget", host, b"").await.map(drop)
    }

    /// Runs the program and returns its output.
    async fn run(&self, action: &str, host: &HostName, input: &[u8]) -> Result<Vec<u8>, String> {
        let shown = self.program.display();
        let failed = |error: std::io::Error| format!("failed to run {shown}: {error}");
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(action).arg(host.as_str());
        for name in &self.withheld {
            command.env_remove(name);
        }
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let (output, errors) = converse(&mut child, input).await;
        let status = child.wait().await.map_err(failed)?;
        if status.success() {
            return Ok(output);
        }
        let text = String::from_utf8_lossy(&errors);
        let shown_text = |it: &char| !it.is_control() || *it == '\n';
        let text: String = text.trim().chars().filter(shown_text).take(MAX_SHOWN).collect();
        Err(match text.is_empty() {
            true => format!("error in {shown}, but it produced no error message"),
            false => format!("error in {shown}: {text}"),
        })
    }
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

/// The directories in which credentials helpers are searched for.
pub(crate) fn plugin_directories(home: Option<&Path>, data_home: Option<&Path>) -> Vec<PathBuf> {
    let roots = [home.map(|it| it.join(".terraform.d")), data_home.map(|it| it.join("opentofu"))];
    let platform = crate::Platform::current().to_string();
    let plugins = roots.into_iter().flatten().map(|it| it.join("plugins"));
    plugins.flat_map(|it| [it.clone(), it.join(&platform)]).collect()
}
