//! Measures `fmt` on formatted files, and on files in which every line has to be rewritten.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Place, budget,
    options::Options,
    report::{Measured, Row},
    tool::{Tool, Usage},
    workload::{self, Kind, Workload},
};

/// The operation on the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pass {
    /// `fmt -check` on formatted files.
    Check,
    /// `fmt` on files that all have to be written.
    Write,
}

impl Pass {
    fn title(self) -> &'static str {
        match self {
            Pass::Check => "fmt -check, formatted",
            Pass::Write => "fmt, unformatted",
        }
    }
}

/// Measures the passes that the options select, at every size.
///
/// # Errors
/// Returns an error if a tool fails, leaves a file that is not formatted, or does not list the files that it
/// wrote.
pub(crate) fn measure(options: &Options, place: &Place, references: &[Tool]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &size in &options.sizes {
        for pass in [Pass::Check, Pass::Write] {
            if options.wants(pass.title()) {
                println!("measuring {} at {size} …", pass.title());
                rows.push(row(pass, size, place, references, options.runs)?);
            }
        }
    }
    Ok(rows)
}

fn row(pass: Pass, size: usize, place: &Place, references: &[Tool], runs: usize) -> Result<Row> {
    let mut contenders = Vec::new();
    for tool in std::iter::once(&place.mayfly).chain(references) {
        let folder = place.work.join(format!("fmt-{size}-{}", tool.name));
        Workload::write(folder.clone(), Kind::Builtin, size)?;
        fs::write(folder.join("cli.tfrc"), "")?;
        contenders.push((tool, Files::read(folder)?, Vec::<Usage>::new()));
    }
    for _ in 0..runs {
        for (tool, files, usages) in &mut contenders {
            let usage = take_turn(pass, tool, files);
            usages.push(usage.with_context(|| format!("{} {}", tool.name, pass.title()))?);
        }
    }
    let figures = contenders.iter().map(|(tool, _, usages)| Measured::median(&tool.name, usages));
    Ok(Row::new(pass.title().to_owned(), size, figures.collect(), budget::of_fmt(size)))
}

fn take_turn(pass: Pass, tool: &Tool, files: &Files) -> Result<Usage> {
    let configuration = files.folder.join("cli.tfrc");
    let run =
        |code, arguments: &[&str]| tool.run_to(code, &files.folder, &configuration, arguments);
    match pass {
        Pass::Check => {
            let run = run(0, &["fmt", "-no-color", "-check"])?;
            ensure!(run.stdout.is_empty(), "found something to do:\n{}", run.stdout);
            Ok(run.usage)
        }
        Pass::Write => {
            files.spoil()?;
            // First check that `-check` finds the unformatted files, since a check that reads nothing would be
            // fast.
            run(3, &["fmt", "-no-color", "-check"])?;
            let run = run(0, &["fmt", "-no-color"])?;
            files.assert_formatted(&run.stdout)?;
            Ok(run.usage)
        }
    }
}

/// The files of a configuration with their formatted texts.
struct Files {
    folder: PathBuf,
    texts: Vec<(PathBuf, String)>,
}

impl Files {
    fn read(folder: PathBuf) -> Result<Self> {
        let texts = workload::texts(&folder)?;
        Ok(Self { folder, texts })
    }

    /// Removes all blanks that formatting restores.
    fn spoil(&self) -> Result<()> {
        for (path, text) in &self.texts {
            fs::write(path, spoiled(text))?;
        }
        Ok(())
    }

    /// Checks that each file has its formatted text and was listed.
    fn assert_formatted(&self, listed: &str) -> Result<()> {
        let names: Vec<_> = self.texts.iter().filter_map(|(path, _)| name(path)).collect();
        ensure!(listed.lines().eq(names.iter().copied()), "listed other files:\n{listed}");
        for (path, text) in &self.texts {
            if fs::read_to_string(path)? != *text {
                bail!("{} is not as it should be", path.display());
            }
        }
        Ok(())
    }
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn spoiled(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().replacen(" = ", "=", 1) + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_workload_changes_every_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("configuration");
        Workload::write(path.clone(), Kind::Builtin, 250).expect("is written");
        let files = Files::read(path).expect("reads");
        assert_eq!(files.texts.len(), 4);
        files.spoil().expect("is written");
        assert!(
            files
                .texts
                .iter()
                .all(|(path, text)| fs::read_to_string(path).expect("reads") != *text)
        );
        files.assert_formatted("").expect_err("is not formatted");
    }
}
