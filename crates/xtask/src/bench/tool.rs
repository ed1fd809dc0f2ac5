//! A measured executable, and the resources that a run of it used.

use std::{
    ffi::OsStr,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use wait4::Wait4 as _;

/// Mayfly, or a reference.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    /// False for Mayfly itself.
    pub(crate) is_reference: bool,
}

/// The resources that a run used. The memory is that of the largest process, among the tool and the children that
/// it waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) bytes: u64,
}

/// The result of a finished run.
pub(crate) struct Run {
    pub(crate) usage: Usage,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Tool {
    pub(crate) fn on_path(name: &str) -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let program =
            std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.is_file())?;
        Some(Self { name: name.to_owned(), program, is_reference: true })
    }

    pub(crate) fn mayfly(name: &str, program: PathBuf) -> Self {
        Self { name: name.to_owned(), program, is_reference: false }
    }

    /// Returns the first line of the output of `version`.
    pub(crate) fn version(&self) -> String {
        let output =
            Command::new(&self.program).arg("version").env("CHECKPOINT_DISABLE", "1").output();
        let text =
            output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or("unknown version").to_owned()
    }

    /// Returns a command of the tool in `folder`, in an environment that does not configure the tool further.
    pub(crate) fn command(
        &self,
        folder: &Path,
        configuration: &Path,
        arguments: &[&str],
    ) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder);
        for (name, _) in std::env::vars_os().filter(|(name, _)| configures(name)) {
            command.env_remove(name);
        }
        command
            .env("TF_CLI_CONFIG_FILE", configuration)
            .env("TF_IN_AUTOMATION", "1")
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the tool in `folder` until it ends.
    ///
    /// # Errors
    /// Returns an error if the tool does not start.
    pub(crate) fn run(
        &self,
        folder: &Path,
        configuration: &Path,
        arguments: &[&str],
    ) -> Result<Run> {
        run(self.command(folder, configuration, arguments), folder, |_| ())
    }

    /// Runs the tool and checks its exit code.
    ///
    /// # Errors
    /// Returns an error if the tool does not start, or ends with another code.
    pub(crate) fn run_to(
        &self,
        code: i32,
        folder: &Path,
        configuration: &Path,
        arguments: &[&str],
    ) -> Result<Run> {
        let run = self.run(folder, configuration, arguments)?;
        run.expect(code, &format!("{} {}", self.name, arguments.join(" ")))
    }
}

impl Run {
    /// Checks the exit code.
    ///
    /// # Errors
    /// Returns an error with the end of the output if the code is another one.
    pub(crate) fn expect(self, code: i32, what: &str) -> Result<Run> {
        if self.code != Some(code) {
            bail!(
                "{what} ended with {:?}, not {code}:\n{}\n{}",
                self.code,
                shorten(&self.stdout),
                shorten(&self.stderr)
            );
        }
        Ok(self)
    }
}

/// Runs a command until it ends. Its output goes to files in `folder`, because a pipe that is not read in time would
/// slow it down. `started` receives the process identifier.
///
/// # Errors
/// Returns an error if the command does not start.
pub(crate) fn run(mut command: Command, folder: &Path, started: impl FnOnce(u32)) -> Result<Run> {
    let (out, err) = (folder.join("run.stdout"), folder.join("run.stderr"));
    command.stdout(File::create(&out)?).stderr(File::create(&err)?);
    forget_own_peak();
    let start = Instant::now();
    let mut child =
        command.spawn().with_context(|| format!("failed to start {:?}", command.get_program()))?;
    started(child.id());
    let ended = child.wait4()?;
    let wall = start.elapsed();
    let cpu = ended.rusage.utime + ended.rusage.stime;
    let usage = Usage { wall, cpu, bytes: ended.rusage.maxrss };
    let (stdout, stderr) = (read(&out)?, read(&err)?);
    Ok(Run { usage, code: ended.status.code(), stdout, stderr })
}

/// Resets the peak memory of this process to its present memory. Linux counts the peak of the process that starts
/// another one as memory of the new one, so after a large output, small commands would seem to need as much.
pub(crate) fn forget_own_peak() {
    // A system without this file counts no such peak, or shows too much, but never too little.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Returns true if an environment variable changes the behaviour of a tool.
fn configures(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with("TF_") || name.starts_with("PLAYGROUND_"))
}

fn read(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

/// Returns the last lines of an output, which contain the error.
pub(crate) fn shorten(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
