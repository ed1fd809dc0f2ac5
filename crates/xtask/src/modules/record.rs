//! The results of one executable for one example, stored as a file, so that a new comparison needs no new run.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The exit code of `timeout` for a command that it ended.
pub(crate) const TIMED_OUT: i32 = 124;

/// The commands of one example with one executable, in the order in which they ran.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) commands: Vec<CommandRecord>,
}

/// One command and its result.
#[derive(Serialize, Deserialize)]
pub(crate) struct CommandRecord {
    pub(crate) command: String,
    pub(crate) exit: Option<i32>,
    /// The command's standard output.
    pub(crate) text: String,
    /// `show -json` of the plan file that the command created; null if it created none.
    pub(crate) plan: Value,
    /// The state file after the command; null if there is none.
    pub(crate) state: Value,
}

impl Record {
    /// Reads a stored record. `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is damaged.
    pub(crate) fn load(path: &Path) -> Result<Option<Record>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read(path)?;
        let record = serde_json::from_slice(&text);
        Ok(Some(record.with_context(|| format!("{} is damaged", path.display()))?))
    }

    /// Stores the record for later comparisons.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        Ok(fs::write(path, serde_json::to_vec(self)?)?)
    }

    /// Returns the exit code of a command; `None` if the command did not run.
    pub(crate) fn exit(&self, command: &str) -> Option<i32> {
        self.commands.iter().find(|it| it.command == command)?.exit
    }

    /// Returns true if the record is complete for this mode: it includes an apply, or it needs none.
    pub(crate) fn reaches(&self, plan_only: bool) -> bool {
        plan_only || self.exit("plan") != Some(0) || self.exit("apply").is_some()
    }
}
