//! Measures the lossless parser alone, beside the parser of the references.
//!
//! The `throughput` example of `syntax` is one side, on one core; `tests/peers/go-parser` is the other, whose garbage
//! collector uses all cores. Both parse the same files and fail if these have errors.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{
    Place, cargo,
    tool::Tool,
    workload::{self, Kind, Workload},
};

/// The number of resources in the text of the first shape, which makes 1.25 MB.
const RESOURCES: usize = 5_000;

/// The speeds of the parsers on one text, in megabytes per second.
pub(crate) struct ParseSpeed {
    /// The words that name the text in the report.
    pub(crate) text: &'static str,
    pub(crate) mayfly: f64,
    /// The speed of the references' parser. `None` without references or Go.
    pub(crate) go: Option<f64>,
}

/// Measures the parser on the first shape of the configuration, and on a mix of most constructs of the language; beside
/// the one in Go if there are references to compare with, and Go is on the PATH.
///
/// # Errors
/// Returns an error if a parser cannot be built or fails.
pub(crate) fn measure(root: &Path, place: &Place, references: &[Tool]) -> Result<Vec<ParseSpeed>> {
    println!("measuring parse …");
    let folder = place.work.join("parse");
    Workload::write(folder.join("flat"), Kind::Builtin, RESOURCES)?;
    let files = workload::texts(&folder.join("flat"))?;
    let flat: String = files.into_iter().map(|(_, text)| text).collect();
    let beside_go = !references.is_empty() && is_go_on_path();
    let mut speeds = Vec::new();
    for (name, text) in [("flat", flat), ("mixed", example(root, &["text"])?)] {
        let file = folder.join(name).with_extension("hcl");
        fs::write(&file, text)?;
        let go = beside_go.then(|| go_speed(root, &file)).transpose()?;
        speeds.push(ParseSpeed { text: name, mayfly: speed(root, &file)?, go });
    }
    Ok(speeds)
}

fn is_go_on_path() -> bool {
    let found = Command::new("go").arg("version").output().is_ok();
    if !found {
        println!("go is not on the PATH, and its parser is left out");
    }
    found
}

fn speed(root: &Path, file: &Path) -> Result<f64> {
    let file = file.to_str().context("the folder's path is UTF-8")?;
    let output = example(root, &["parse_file", file])?;
    let line = output.lines().find(|line| line.starts_with("parse_file"));
    let figure = line
        .and_then(|line| line.split_whitespace().nth(1))
        .context("the parser's figure is missing")?;
    Ok(figure.parse()?)
}

fn example(root: &Path, arguments: &[&str]) -> Result<String> {
    let run = ["run", "--release", "--package", "syntax", "--example", "throughput"];
    cargo(root, &[&run, arguments].concat())
}

fn go_speed(root: &Path, file: &Path) -> Result<f64> {
    let output = Command::new("go")
        .args(["run", "."])
        .arg(file)
        .current_dir(root.join("tests/peers/go-parser"))
        .stderr(Stdio::inherit())
        .output()
        .context("failed to start go")?;
    if !output.status.success() {
        bail!("the parser in Go failed");
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
