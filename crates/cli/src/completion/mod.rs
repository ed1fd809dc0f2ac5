//! Completion of command lines in shells.
//!
//! ```text
//!   Tab ─► shell ─COMP_LINE─► this program ─► words ─► candidates ─► one per line, quoted for the shell
//! ```
//!
//! A shell asks by running the program with the line up to the cursor in `COMP_LINE`, as the `complete -C` of bash
//! does and as OpenTofu expects it. `line.rs` finds the words, `candidates.rs` what may come next, and `names.rs` reads
//! names from the state and the configuration. `install.rs` edits the start files of shells.
//!
//! **Invariant:** an error gives no candidates and no message, because a message would appear in the command line.
//! **Invariant:** no value is a candidate, only names and addresses.

mod candidates;
pub(crate) mod install;
mod line;
mod names;
pub(crate) mod scripts;

use std::io::Write as _;

use plugin::Processes;

use self::{line::Line, names::Names};
use crate::exit::Exit;

/// The variable with the line to complete.
pub(crate) const LINE: &str = "COMP_LINE";

/// The variable with the name of the shell, for its quoting. Bash if it is not set.
const SHELL: &str = "MAYFLY_SHELL";

/// Prints the candidates for the line in the environment. `arguments` are those of `complete -C`: the name of the
/// command, and the part of the last word that the shell replaces.
pub(crate) fn answer(line: &str, arguments: &[String], processes: Processes) -> Exit {
    let line = Line::parse(line);
    let is_raw = std::env::var(SHELL).is_ok_and(|it| it != "bash");
    // Bash completes paths itself if there are no candidates.
    let names = Names::new(processes, is_raw);
    let found = candidates::find(&line, names);
    let replaced = arguments.get(2).map(String::as_str);
    let mut text = String::new();
    for candidate in found {
        // Bash replaces only what follows the last "=", ":" or quote.
        let kept = match replaced.and_then(|it| line.current.strip_suffix(it)) {
            Some(before) => candidate.strip_prefix(before).unwrap_or(&candidate),
            None => &candidate,
        };
        match is_raw {
            true => text.push_str(kept),
            false => text.push_str(&escaped(kept)),
        }
        text.push('\n');
    }
    let _ = std::io::stdout().write_all(text.as_bytes());
    Exit::Success
}

/// A candidate as bash inserts it into the line.
fn escaped(candidate: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "_-=./:,@%+~".contains(it);
    let mut escaped = String::new();
    for c in candidate.chars() {
        if !is_plain(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
