//! `cargo xtask torture`: kills the executable at random moments for as long as somebody likes.

use std::{path::Path, time::Instant};

use anyhow::{Context, Result, anyhow, bail};

const USAGE: &str = "\
usage: cargo xtask torture [--seed S] [--kills N] [--program PATH]

Kills an executable N times (1,000) while it applies, replaces and destroys, and looks after each kill whether anything was
lost or made twice. The executable is target/release/mayfly if nothing else is said.";

/// After how many kills it says how far it is.
const PROGRESS: usize = 100;

struct Options {
    seed: u64,
    kills: usize,
    program: std::path::PathBuf,
}

impl Options {
    fn parse(root: &Path, arguments: &[&str]) -> Result<Options> {
        let mut options =
            Options { seed: 1, kills: 1_000, program: root.join("target/release/mayfly") };
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let value = arguments.next().with_context(|| USAGE.to_owned())?;
            match *name {
                "--seed" => options.seed = value.parse()?,
                "--kills" => options.kills = value.parse()?,
                "--program" => options.program = value.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }
}

/// Runs it, and prints what happened.
///
/// # Errors
/// What was lost or made twice, with the folder in which that can be looked at.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let options = Options::parse(root, arguments)?;
    let program = options
        .program
        .canonicalize()
        .with_context(|| format!("{} is not there: build it first", options.program.display()))?;
    let folder = root.join(format!("target/torture-{}", options.seed));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let begun = Instant::now();
    let mut torture = torture::Torture::new(&program, &folder, options.seed);
    let mut kills = 0;
    while kills < options.kills {
        kills = options.kills.min(kills + PROGRESS);
        let report = torture.run(kills).map_err(|wrong| {
            anyhow!("seed {}, {wrong}\nlook at {}", options.seed, folder.display())
        })?;
        println!("seed {}: {report}; {} s", options.seed, begun.elapsed().as_secs());
    }
    Ok(())
}
