//! `cargo xtask bench`: the executable's time and memory, side by side with the references that are on the machine.
//!
//! ```text
//!   scenario ──► workload (a folder of .tf files, one for each tool)
//!      └─ steps ──► command ──► usage, asserted ──► rows ──► table: ratio to the fastest reference, budget
//! ```
//!
//! Tools take turns, so that what else the machine does hits all of them; a figure is the median of its runs.

mod aws;
mod budget;
mod fmt;
mod lsp;
mod options;
mod report;
mod scenario;
mod tool;
mod typing;
mod watch;
mod workload;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use options::Options;
use report::Report;
use tool::Tool;

/// Runs the measurements that the options name and prints them.
///
/// # Errors
/// A build that fails, a tool that does not do what it was asked for, or, with `--strict`, a budget that is missed.
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let Some(options) = Options::parse(options)? else {
        println!("{}", options::USAGE);
        return Ok(());
    };
    let place = Place::find(root, &options)?;
    let references = references(&options)?;
    let mut report = Report::default();
    report.machine(&place.mayfly, &references);
    if options.wants("parse") {
        report.parse(parse_speed(root)?);
    }
    for scenario in scenario::all(&options) {
        println!("measuring {scenario} …");
        report.add(scenario::measure(&scenario, &place, &references, options.runs)?);
    }
    report.add(fmt::measure(&options, &place, &references)?);
    report.add(aws::measure(&options, &place, &references)?);
    report.add(watch::measure(&options, &place)?);
    report.add(lsp::measure(&options, &place)?);
    print!("{report}");
    match report.missed() {
        0 => Ok(()),
        missed if options.strict => bail!("{missed} budgets were missed"),
        _ => Ok(()),
    }
}

/// Where everything lies that a measurement needs.
pub(crate) struct Place {
    mayfly: Tool,
    /// The folder of the playground's executable, which every tool runs.
    plugins: PathBuf,
    /// Folders of configurations, made anew for each scenario.
    work: PathBuf,
}

impl Place {
    /// The executables in release, built if that is wanted.
    fn find(root: &Path, options: &Options) -> Result<Self> {
        let target = target_folder(root)?;
        if options.dist {
            return Ok(Self::of(&target.join("dist"), target.join("bench")));
        }
        if options.build {
            let what = ["--package", "cli", "--package", "providers", "--bins"];
            cargo(root, &[&["build", "--release"], &what[..]].concat())?;
        }
        Ok(Self::of(&target.join("release"), target.join("bench")))
    }

    /// The executables of a folder.
    fn of(executables: &Path, work: PathBuf) -> Self {
        let program = executables.join("mayfly");
        let mayfly = Tool { name: "mayfly".to_owned(), program, needs_init: false };
        Self { mayfly, plugins: executables.to_owned(), work }
    }
}

/// Runs what executables are for, and measures nothing: the workloads at their smaller size, and the examples.
///
/// # Errors
/// A command that fails or whose result is wrong.
pub(crate) fn train(root: &Path, executables: &Path, work: &Path) -> Result<()> {
    let place = Place::of(executables, work.to_owned());
    let arguments = ["--n", "1000", "--only", "validate,plan,apply,destroy"];
    let options = Options::parse(&arguments)?.context("these ask for no help")?;
    for scenario in scenario::all(&options).iter().filter(|it| !it.is_growth()) {
        scenario::measure(scenario, &place, &[], 1)?;
    }
    for example in std::fs::read_dir(root.join("examples"))? {
        let example = example?;
        if example.path().join("main.tf").is_file() {
            let copy = work.join(example.file_name());
            std::fs::create_dir_all(&copy)?;
            std::fs::copy(example.path().join("main.tf"), copy.join("main.tf"))?;
            std::fs::write(copy.join("cli.tfrc"), "")?;
            // Some need providers that are not here; what is said then is hot for those who wait for it.
            place.mayfly.run(&copy, &copy.join("cli.tfrc"), &["validate", "-no-color"])?;
        }
    }
    Ok(())
}

/// Tools to compare with: those that were named, or those of the two that are on the PATH.
fn references(options: &Options) -> Result<Vec<Tool>> {
    let named: Vec<&str> = match &options.compare {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => vec!["terraform", "tofu"],
    };
    let mut found = Vec::new();
    for name in named {
        match Tool::on_path(name) {
            Some(tool) => found.push(tool),
            None if options.compare.is_some() => bail!("{name} is not on the PATH"),
            None => println!("{name} is not on the PATH and is left out"),
        }
    }
    Ok(found)
}

/// Megabytes a second of the lossless parser alone, by its own measurement, which asserts that there are no errors.
fn parse_speed(root: &Path) -> Result<f64> {
    let output = cargo(
        root,
        &["run", "--release", "--package", "syntax", "--example", "throughput", "parse_file"],
    )?;
    let line = output.lines().find(|line| line.starts_with("parse_file"));
    let figure = line
        .and_then(|line| line.split_whitespace().nth(1))
        .context("the parser's figure is missing")?;
    Ok(figure.parse()?)
}

/// Runs cargo and gives its standard output.
fn cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("failed to start cargo")?;
    if !output.status.success() {
        bail!("cargo {} failed", arguments.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// What cargo says of the workspace.
///
/// # Errors
/// Cargo cannot be asked.
pub(crate) fn metadata(root: &Path) -> Result<serde_json::Value> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    Ok(serde_json::from_str(&cargo(root, &arguments)?)?)
}

/// The folder that cargo builds into.
///
/// # Errors
/// Cargo cannot be asked.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    let metadata = metadata(root)?;
    let folder =
        metadata["target_directory"].as_str().context("cargo metadata has no target directory")?;
    Ok(PathBuf::from(folder))
}
