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
    /// True if the tool needs `init` even for a configuration with only built-in providers.
    pub(crate) needs_init: bool,
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
        Some(Self { name: name.to_owned(), program, needs_init: true })
    }

    /// Returns the first line of the output of `version`.
    pub(crate) fn version(&self) -> String {
        let output =
            Command::new(&self.program).arg("version").env("CHECKPOINT_DISABLE", "1").output();
        let text =
            output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or("unknown version").to_owned()
    }

    /// Runs the tool in `folder` until it ends. Its output goes to files, because a pipe that is not read in time
    /// would slow it down.
    ///
    /// # Errors
    /// Returns an error if the tool does not start.
    pub(crate) fn run(
        &self,
        folder: &Path,
        configuration: &Path,
        arguments: &[&str],
    ) -> Result<Run> {
        let (out, err) = (folder.join("run.stdout"), folder.join("run.stderr"));
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder);
        for (name, _) in std::env::vars_os().filter(|(name, _)| configures(name)) {
            command.env_remove(name);
        }
        command
            .env("TF_CLI_CONFIG_FILE", configuration)
            .env("TF_IN_AUTOMATION", "1")
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        let start = Instant::now();
        let mut child = command
            .spawn()
            .with_context(|| format!("failed to start {}", self.program.display()))?;
        let ended = child.wait4()?;
        let wall = start.elapsed();
        let usage = Usage {
            wall,
            cpu: ended.rusage.utime + ended.rusage.stime,
            bytes: ended.rusage.maxrss,
        };
        let (stdout, stderr) = (read(&out)?, read(&err)?);
        Ok(Run { usage, code: ended.status.code(), stdout, stderr })
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
        if run.code != Some(code) {
            bail!(
                "{} {} ended with {:?}, not {code}:\n{}\n{}",
                self.name,
                arguments.join(" "),
                run.code,
                shorten(&run.stdout),
                shorten(&run.stderr)
            );
        }
        Ok(run)
    }
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
