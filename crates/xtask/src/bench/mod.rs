//! `cargo xtask bench`: measures the executable's time and memory, side by side with the references on the
//! machine.
//!
//! ```text
//!   scenario ──► workload (a folder of .tf files, one for each tool)
//!      └─ steps ──► command ──► usage, asserted ──► rows ──► table: ratio to the fastest reference, budget
//! ```
//!
//! The tools take turns, so that other work on the machine affects all of them. Each figure is the median of its
//! runs.

mod aliases;
mod aws;
mod budget;
mod fmt;
pub(crate) mod init;
mod lsp;
mod options;
mod parse;
mod report;
mod scenario;
mod shape;
mod tool;
mod typing;
mod watch;
mod workload;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use options::Options;
use report::Report;
use tool::Tool;

/// Runs the measurements that the options select and prints them.
///
/// # Errors
/// Returns an error if a build fails, if a tool does not do its work, or, with `--strict`, if a budget is missed.
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
        report.parse(parse::measure(root, &place, &references)?);
    }
    for scenario in scenario::all(&options) {
        println!("measuring {scenario} …");
        report.add(scenario::measure(&scenario, &place, &references, options.runs)?);
    }
    report.add(fmt::measure(&options, &place, &references)?);
    report.add(init::measure(&options, &place, &references)?);
    report.add(aws::measure(&options, &place, &references)?);
    report.add(aliases::measure(&options, &place, &references)?);
    report.add(watch::measure(&options, &place)?);
    report.add(lsp::measure(&options, &place)?);
    print!("{report}");
    match report.missed() {
        0 => Ok(()),
        missed if options.strict => bail!("{missed} budgets were missed"),
        _ => Ok(()),
    }
}

/// The example that is the bench's own plugin.
const FLEET: &str = "terraform-provider-fleet";

/// The paths that a measurement needs.
pub(crate) struct Place {
    mayfly: Tool,
    /// The executable of `cargo xtask dist`, if the options ask for its column.
    dist: Option<Tool>,
    /// The folder of the plugins' executables, which every tool runs.
    plugins: PathBuf,
    /// The folder for configurations, which each scenario writes anew.
    work: PathBuf,
}

impl Place {
    /// Returns the release executables, and builds them if the options ask for that.
    fn find(root: &Path, options: &Options) -> Result<Self> {
        let target = target_folder(root)?;
        if options.build {
            let executables =
                ["build", "--release", "--package", "cli", "--package", "providers", "--bins"];
            cargo(root, &executables)?;
            // A call of its own: with an example, cargo unites the features of the test dependencies too, and the
            // executables would not be those of a plain build.
            cargo(root, &["build", "--release", "--package", "providers", "--example", FLEET])?;
        }
        let (release, work) = (target.join("release"), target.join("bench"));
        let plugins = work.join("plugins");
        fs::create_dir_all(&plugins)?;
        for plugin in
            [release.join("terraform-provider-playground"), release.join("examples").join(FLEET)]
        {
            let name = plugin.file_name().context("the plugin has a name")?;
            // A running executable cannot be overwritten.
            let _missing = fs::remove_file(plugins.join(name));
            fs::copy(&plugin, plugins.join(name))
                .with_context(|| format!("{} is not built", plugin.display()))?;
        }
        let mayfly = Tool::mayfly("mayfly", release.join("mayfly"));
        let dist = options.dist.then(|| Tool::mayfly("dist", target.join("dist/mayfly")));
        if let Some(dist) = dist.as_ref().filter(|it| !it.program.is_file()) {
            bail!("{} is missing: run `cargo xtask dist`", dist.program.display());
        }
        Ok(Self { mayfly, dist, plugins, work })
    }
}

/// Returns the tools to compare with: those that the options name, or else those of the two on the PATH.
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

/// Runs cargo and returns its standard output.
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

/// Returns cargo's metadata of the workspace.
///
/// # Errors
/// Returns an error if cargo fails.
pub(crate) fn metadata(root: &Path) -> Result<serde_json::Value> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    Ok(serde_json::from_str(&cargo(root, &arguments)?)?)
}

/// Returns the folder that cargo builds into.
///
/// # Errors
/// Returns an error if cargo fails.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    let metadata = metadata(root)?;
    let folder =
        metadata["target_directory"].as_str().context("cargo metadata has no target directory")?;
    Ok(PathBuf::from(folder))
}
