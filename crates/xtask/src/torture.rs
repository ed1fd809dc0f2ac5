//! `cargo xtask torture`: kills the executable and its providers at random times, any number of times.
//!
//! Kills come in batches, each with its own folder and seed. The figures of a finished batch are stored, so that
//! the same command continues after an interruption.

use std::{fs, path::Path, time::Instant};

use anyhow::{Context, Result, anyhow, bail};
use torture::Report;

const USAGE: &str = "\
usage: cargo xtask torture [--seed S] [--kills N] [--program PATH]

Kills an executable, its providers or both N times (1,000) while it applies, replaces and \
                     destroys, and looks after each kill
whether anything was lost or made twice, and whether a process is left. The executable is \
                     target/release/mayfly if nothing
else is said. With the seed of an earlier run it goes on with the first batch that did not come to its end; remove
target/torture-S to begin anew.";

/// The number of kills in a batch.
const BATCH: usize = 100;

/// The file with the figures of a batch.
const FIGURES: &str = "figures.json";

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

/// Runs the batches, and prints the figures.
///
/// # Errors
/// Returns the description of a resource that was lost, created twice or left running, with the folder to inspect.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let options = Options::parse(root, arguments)?;
    let program = options
        .program
        .canonicalize()
        .with_context(|| format!("{} is not there: build it first", options.program.display()))?;
    let all = root.join(format!("target/torture-{}", options.seed));
    let (begun, mut sum) = (Instant::now(), Report::default());
    for batch in 0.. {
        let kills = BATCH.min(options.kills.saturating_sub(sum.kills));
        if kills == 0 {
            break;
        }
        let folder = all.join(format!("batch-{batch}"));
        sum.add(&match finished(&folder) {
            Some(report) => report,
            None => run_batch(&program, &folder, options.seed, batch, kills)?,
        });
        println!("seed {}: {sum}; {} s", options.seed, begun.elapsed().as_secs());
    }
    Ok(())
}

/// Returns the figures of a finished batch. `None` if the batch is not finished.
fn finished(folder: &Path) -> Option<Report> {
    let figures = fs::read(folder.join(FIGURES)).ok()?;
    serde_json::from_slice(&figures).ok().map(|it| Report::from_json(&it))
}

fn run_batch(program: &Path, folder: &Path, seed: u64, batch: u64, kills: usize) -> Result<Report> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    // Batches of one run, and of runs with adjacent seeds, get different seeds.
    let of_batch = seed.wrapping_mul(1_000_003).wrapping_add(batch);
    let mut torture = torture::Torture::new(program, &folder, of_batch);
    let report = torture.run(kills).map_err(|wrong| {
        anyhow!("seed {seed}, batch {batch}, {wrong}\nlook at {}", folder.display())
    })?;
    fs::write(folder.join(FIGURES), report.to_json().to_string())?;
    Ok(report)
}
