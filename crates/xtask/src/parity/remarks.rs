//! The remarks on commands and flags.

/// A remark on rows of the page.
pub(super) struct Remark {
    /// The words of the commands. `*` for every command.
    commands: &'static [&'static str],
    /// The flags without dashes. Empty for the commands themselves, `*` for the commands and all their flags.
    flags: &'static [&'static str],
    /// The text in the column.
    pub(super) text: &'static str,
}

impl Remark {
    /// Returns true if the remark is about this command or flag.
    pub(super) fn is_about(&self, command: &str, flag: &str) -> bool {
        let has = |all: &[&str], it: &str| all.contains(&"*") || all.contains(&it);
        let is_about_flag = match self.flags {
            [] => flag.is_empty(),
            flags => has(flags, flag),
        };
        has(self.commands, command) && is_about_flag
    }
}

/// The remarks. The first one that is about a row is the remark of the row.
pub(super) const REMARKS: &[Remark] = &[
    on(&["explain"], &["*"], "explains the changes of a plan, an error or a warning"),
    on(&["lsp", "serve"], &["*"], "the language server"),
    on(&["provider", "provider new"], &["*"], "creates the crate of a provider"),
    on(&["completion"], &["*"], "prints the completion script for a shell"),
    on(&["watch"], &["*"], "plans again after every change of a file"),
    on(&["state adopt"], &["*"], "records the outcome of a creation that was never confirmed"),
    on(&["env show"], &["*"], "the same as `workspace show`"),
    on(&["push"], &["*"], "only says that the command is no longer supported"),
    on(&["env", "workspace"], &["*"], "without a further word, the command only shows its help"),
    on(&["*"], &["retry-uncertain"], "creates an object again whose creation was never confirmed"),
    on(&["*"], &["strict-secrets"], "makes a write-only value in an ordinary attribute an error"),
    on(&["test"], &["junit-xml"], "a report in the JUnit format, as Terraform writes it"),
    on(&["test"], &["parallelism"], "limits the calls of providers"),
    on(
        &["refresh"],
        &["destroy", "refresh", "refresh-only", "replace"],
        "checked and without effect, as in OpenTofu; a refresh has only one mode",
    ),
    on(
        &["*"],
        &["ignore-remote-version"],
        "no effect in Mayfly: only the backends `remote` and `cloud` compare versions",
    ),
    on(&["plan", "show"], &["html"], "the plan as a page for a pull request"),
    on(&["plan"], &["since"], "the changes since a revision of the repository"),
    on(&["console"], &["json"], "refused by both: use `-json-into`"),
    on(&["version"], &["json-into"], "writes the document of `-json`"),
    on(&["graph"], &["module-depth"], "ignored by both"),
];

const fn on(
    commands: &'static [&'static str],
    flags: &'static [&'static str],
    text: &'static str,
) -> Remark {
    Remark { commands, flags, text }
}
