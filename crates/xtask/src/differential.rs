//! `cargo xtask differential`: runs random sequences of edits and commands with OpenTofu and with this executable,
//! and compares the results.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use differential::{Campaign, Program, generate};

const USAGE: &str = "\
usage: cargo xtask differential [OPTIONS]

Runs random sequences of edits and commands under OpenTofu and under Mayfly, each in a directory \
                     of its own, and compares plans,
states, events, outputs, diagnostics and exit codes. A difference that no rule explains is shrunk \
                     and written to a directory with a
script; one for each class.

  --seed S           of the cases (1)
  --from N           the number of the first case (0): a campaign goes on where another one ended
  --cases N          how many cases (200)
  --again            only the cases that differed in the last campaign in the same folder
  --jobs N           how many at a time (2)
  --attempts N       how many smaller cases are tried for a difference (150)
  --reference PATH   the executable of OpenTofu (MAYFLY_TOFU)
  --mayfly PATH      the executable that is compared with it (target/debug/mayfly)
  --cli-config PATH  the CLI configuration of the reference, for its providers (TF_CLI_CONFIG_FILE)
  --features A,B     parts of the vocabulary that are off unless named; `all` for every one
  --answers PATH     keep the reference's answers there, and ask it only for those that are missing
  --folder PATH      where cases run and reproducers are written (target/differential-S)
  --record N         write N sequences without a difference to tests/data/differential, with the reference's answers";

/// The folder of recorded sequences.
const RECORDINGS: &str = "tests/data/differential";

struct Options {
    campaign: Campaign,
    record: Option<usize>,
}

impl Options {
    fn parse(root: &Path, arguments: &[&str]) -> Result<Options> {
        let environment = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let mut reference = environment("MAYFLY_TOFU");
        let mut cli_config = environment("TF_CLI_CONFIG_FILE");
        let mut mayfly = root.join("target/debug/mayfly");
        let mut folder = None;
        let mut answers: Option<PathBuf> = None;
        let mut record = None;
        let [mut seed, mut from, mut cases, mut jobs, mut attempts] = [1, 0, 200, 2, 150];
        let mut vocabulary = generate::Vocabulary::default();
        let mut arguments = arguments.iter();
        let mut again = false;
        while let Some(name) = arguments.next() {
            if *name == "--again" {
                again = true;
                continue;
            }
            let value = arguments.next().with_context(|| USAGE.to_owned())?;
            match *name {
                "--seed" => seed = value.parse()?,
                "--from" => from = value.parse()?,
                "--cases" => cases = value.parse()?,
                "--jobs" => jobs = value.parse()?,
                "--attempts" => attempts = value.parse()?,
                "--reference" => reference = Some(value.into()),
                "--mayfly" => mayfly = value.into(),
                "--cli-config" => cli_config = Some(value.into()),
                "--answers" => answers = Some(value.into()),
                "--folder" => folder = Some(PathBuf::from(value)),
                "--record" => record = Some(value.parse()?),
                "--features" => vocabulary.features = features(value)?,
                _ => bail!("{USAGE}"),
            }
        }
        let reference =
            reference.context("name the executable of OpenTofu with --reference or MAYFLY_TOFU")?;
        let absolute = |path: &Path| {
            path.canonicalize().with_context(|| format!("{} is not there", path.display()))
        };
        let folder = folder.unwrap_or_else(|| root.join(format!("target/differential-{seed}")));
        for it in [Some(&folder), answers.as_ref()].into_iter().flatten() {
            std::fs::create_dir_all(it)?;
        }
        let numbers =
            if again { differential::differing(&folder)? } else { (from..from + cases).collect() };
        let campaign = Campaign {
            seed,
            numbers,
            jobs: usize::try_from(jobs)?,
            attempts: usize::try_from(attempts)?,
            vocabulary,
            reference: Program {
                executable: absolute(&reference)?,
                cli_config: cli_config.clone(),
            },
            mayfly: Program { executable: absolute(&mayfly)?, cli_config },
            answers: answers.map(|it| absolute(&it)).transpose()?,
            folder: absolute(&folder)?,
        };
        Ok(Options { campaign, record })
    }
}

fn features(names: &str) -> Result<std::collections::BTreeSet<String>> {
    if names == "all" {
        return Ok(generate::FEATURES.iter().map(|it| (*it).to_owned()).collect());
    }
    for name in names.split(',') {
        if !generate::FEATURES.contains(&name) {
            bail!("there is no feature {name:?}; there are {}", generate::FEATURES.join(", "));
        }
    }
    Ok(names.split(',').map(str::to_owned).collect())
}

/// Runs the campaign, and prints its figures.
///
/// # Errors
/// Returns an error if cases differ without an explanation, or if a program does not run.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let Options { campaign, record } = Options::parse(root, arguments)?;
    if let Some(count) = record {
        let written = differential::record(&campaign, count, &root.join(RECORDINGS))?;
        println!("wrote {written} sequences to {RECORDINGS}");
        return Ok(());
    }
    let (figures, differ) = campaign.run()?;
    println!("{figures}");
    if differ > 0 {
        bail!("{differ} cases differ: look at {}", campaign.folder.display());
    }
    Ok(())
}
