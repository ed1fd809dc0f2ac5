//! `cargo xtask parity`: writes `docs/parity.md`, the commands and flags of OpenTofu and of Mayfly side by side.
//!
//! ```text
//!   executables ──ask──► surfaces ──page──► docs/parity.md
//!                            ▲                  │
//!                            └── without a reference, its column is that of the page
//! ```
//!
//! **Invariant:** a command or a flag that only one of both has needs a remark in `remarks.rs`, and every remark
//! there belongs to a row.
//! **Absent on purpose:** what a flag does. Tests compare behaviour.

mod ask;
mod page;
mod remarks;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "\
usage: cargo xtask parity [OPTIONS]

Writes docs/parity.md: each command and each flag of OpenTofu and of Mayfly.

  --reference PATH   the executable of OpenTofu (MAYFLY_TOFU); without it, OpenTofu's column of the page stays
  --mayfly PATH      the executable of Mayfly (target/debug/mayfly)";

/// The page that the command writes.
const PAGE: &str = "docs/parity.md";

/// A command, or a flag of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// The words of the command. Empty for the flags before the command.
    command: String,
    /// The flag without dashes. Empty for the command itself.
    flag: String,
}

impl Entry {
    fn command(command: &str) -> Entry {
        Entry { command: command.to_owned(), flag: String::new() }
    }

    fn flag(command: &str, flag: &str) -> Entry {
        Entry { command: command.to_owned(), flag: flag.to_owned() }
    }
}

/// The commands and flags of one executable.
pub(crate) type Surface = BTreeSet<Entry>;

/// The surfaces of both executables.
#[derive(Debug, PartialEq, Eq)]
struct Surfaces {
    /// The version of OpenTofu.
    version: String,
    reference: Surface,
    mayfly: Surface,
}

/// Writes the page.
///
/// # Errors
/// Returns an error if an executable does not run, or if a row needs a remark and has none.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let mut reference = std::env::var_os("MAYFLY_TOFU").map(PathBuf::from);
    let mut mayfly = root.join("target/debug/mayfly");
    for pair in arguments.chunks(2) {
        match *pair {
            ["--reference", path] => reference = Some(path.into()),
            ["--mayfly", path] => mayfly = path.into(),
            _ => bail!("{USAGE}"),
        }
    }
    let mayfly = ask::surface_of_mayfly(&mayfly)?;
    let surfaces = match reference {
        Some(path) => {
            let (version, reference) = ask::surface_of_reference(&path, &mayfly)?;
            Surfaces { version, reference, mayfly }
        }
        None => Surfaces { mayfly, ..of_page(root)? },
    };
    fs::write(root.join(PAGE), page::text(&surfaces)?)?;
    println!("wrote {PAGE}");
    Ok(())
}

fn of_page(root: &Path) -> Result<Surfaces> {
    let text = fs::read_to_string(root.join(PAGE));
    page::parse(&text.context("name the executable of OpenTofu with --reference")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_has_the_remarks_of_the_table() {
        let root = crate::root();
        let surfaces = of_page(&root).expect("the page is sound");
        let text = page::text(&surfaces).expect("each difference has a remark");
        let written = fs::read_to_string(root.join(PAGE)).expect("the page is there");
        assert!(text == written, "{PAGE} is stale: run `cargo xtask parity`");
    }
}
