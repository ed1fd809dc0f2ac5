//! `cargo xtask modules`: plans and applies the examples of public modules with the reference and with Mayfly.
//!
//! ```text
//!   repositories ──library──► a tree of checkouts ──► each example: init, validate, plan, apply, plan, destroy
//!                                                      by both, from a clean tree, against an empty local API
//!                                                      └──► judge: what differs
//! ```
//!
//! Both executables run in the same folder, one after the other, so that no path differs. The local API is reset
//! in between and assigns the same identifiers again. The identifiers of an apply still depend on the order of
//! creation. So the plans before it are compared as a whole, and later results by addresses, actions and
//! diagnostics.
//!
//! **Invariant:** no content of the modules enters this repository; the repositories are named on the command
//! line.
//! **Absent on purpose:** fetching the repositories.

mod api;
mod chance;
mod figures;
mod judge;
mod library;
mod record;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use addr::{Version, VersionConstraint};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use self::{
    api::Api,
    figures::Figures,
    judge::Differences,
    library::Library,
    record::{CommandRecord, Record, TIMED_OUT},
};

const USAGE: &str = "\
usage: cargo xtask modules --checkouts FOLDER --reference TOFU [OPTIONS]

Plans and applies the examples of the modules in FOLDER (OWNER+terraform-aws-NAME/repo, git \
                     directories) with the reference and
with us, against a local AWS API (`moto_server` on the PATH), and says what differs.

  --program PATH     our executable (target/release/mayfly)
  --config PATH      the CLI configuration with a mirror of the providers (TF_CLI_CONFIG_FILE)
  --aws VERSION      the AWS provider in that mirror (5.100.0)
  --version NAME=CONSTRAINT
                     of the module NAME only versions that fit, as in vpc=<6; may be given again
  --folder PATH      where to work (target/modules)
  --only TEXT        only examples whose name contains TEXT; may be given again
  --plan-only        no apply
  --again NAME       use kept answers again: `reference`, or `all` to judge without running anything
  --seconds N        the most that one command may take (240)";

/// The records of an earlier run that are used again.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum ReusedRecords {
    None,
    Reference,
    All,
}

impl ReusedRecords {
    fn parse(name: Option<&str>) -> Result<ReusedRecords> {
        match name {
            None => Ok(ReusedRecords::None),
            Some("reference") => Ok(ReusedRecords::Reference),
            Some("all") => Ok(ReusedRecords::All),
            Some(_) => bail!("{USAGE}"),
        }
    }
}

struct Options {
    checkouts: PathBuf,
    reference: PathBuf,
    program: PathBuf,
    config: PathBuf,
    folder: PathBuf,
    aws: Version,
    versions: BTreeMap<String, VersionConstraint>,
    only: Vec<String>,
    plan_only: bool,
    again: ReusedRecords,
    seconds: u32,
}

impl Options {
    fn parse(root: &Path, arguments: &[&str]) -> Result<Options> {
        let mut given: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut arguments = arguments.iter();
        while let Some(name) = arguments.next() {
            let value =
                if *name == "--plan-only" { "" } else { arguments.next().context(USAGE)? };
            given.entry(name).or_default().push(value);
        }
        let mut take = |name: &str| given.remove(name).unwrap_or_default();
        let versions = take("--version").into_iter().map(constraint).collect::<Result<_>>()?;
        let mut one = |name: &str| take(name).last().map(|it| (*it).to_owned());
        let config = std::env::var("TF_CLI_CONFIG_FILE").ok();
        let folder = root.join("target");
        let options = Options {
            checkouts: absolute(&one("--checkouts").context(USAGE)?)?,
            reference: absolute(&one("--reference").context(USAGE)?)?,
            program: match one("--program") {
                Some(path) => absolute(&path)?,
                None => folder.join("release/mayfly"),
            },
            config: absolute(&one("--config").or(config).context(USAGE)?)?,
            folder: one("--folder").map_or(folder.join("modules"), PathBuf::from),
            aws: Version::parse(one("--aws").as_deref().unwrap_or("5.100.0"))?,
            seconds: one("--seconds").map_or(Ok(240), |it| it.parse())?,
            plan_only: one("--plan-only").is_some(),
            versions,
            again: ReusedRecords::parse(one("--again").as_deref())?,
            only: take("--only").into_iter().map(str::to_owned).collect(),
        };
        ensure!(given.is_empty(), "{USAGE}");
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| name.contains(it))
    }
}

/// Parses the constraint on the versions of one module, `NAME=CONSTRAINT`.
fn constraint(text: &str) -> Result<(String, VersionConstraint)> {
    let (name, constraint) = text.split_once('=').context(USAGE)?;
    let constraint = VersionConstraint::parse(constraint)
        .with_context(|| format!("--version {text} is no constraint"))?;
    Ok((name.to_owned(), constraint))
}

fn absolute(path: &str) -> Result<PathBuf> {
    Path::new(path).canonicalize().with_context(|| format!("{path} is not there"))
}

/// Runs every example and prints the differences, then the figures.
///
/// # Errors
/// Returns an error if an example differs, or if the comparison lacks something that it needs.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let options = Options::parse(root, arguments)?;
    let tree = options.folder.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree)?;
    }
    fs::create_dir_all(&tree)?;
    let tree = tree.canonicalize()?;
    let examples = lay_out(&options, &tree)?;
    let api = Api::start()?;
    let mut figures = Figures::default();
    for (name, folder) in &examples {
        let bench = Bench { options: &options, api: &api, tree: &tree, folder };
        let kept = options.folder.join("answers").join(name.replace(": ", "/"));
        let again = options.again;
        let path = kept.join("reference.json");
        let reference =
            bench.record(&options.reference, again >= ReusedRecords::Reference, &path)?;
        let path = kept.join("ours.json");
        let ours = bench.record(&options.program, again == ReusedRecords::All, &path)?;
        figures.add(name, &reference, &Differences::between(&reference, &ours));
    }
    println!("{figures}");
    ensure!(figures.different() == 0, "{} examples differ", figures.different());
    Ok(())
}

/// Lays out a tree that git can clean. Returns the examples of all modules, by name.
fn lay_out(options: &Options, tree: &Path) -> Result<Vec<(String, PathBuf)>> {
    let (aws, versions) = (options.aws.clone(), options.versions.clone());
    let mut library = Library::open(&options.checkouts, tree, aws, versions)?;
    let mut examples = Vec::new();
    for module in library.names() {
        let folder = match library.lay_out(&module, ">= 0.0.0") {
            Ok(folder) => folder,
            Err(error) => {
                println!("{module}: passed over: {error:#}");
                continue;
            }
        };
        let Ok(entries) = fs::read_dir(folder.join("examples")) else { continue };
        let mut folders: Vec<PathBuf> = entries.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
        folders.retain(|it| it.join("main.tf").exists());
        folders.sort();
        for folder in folders {
            let name = folder.strip_prefix(tree)?.display().to_string().replace("/examples/", ": ");
            if options.wants(&name) {
                examples.push((name, folder));
            }
        }
    }
    for arguments in [&["init", "-q"][..], &["add", "-Af"], &["commit", "-qm", "examples"]] {
        git(tree, arguments)?;
    }
    Ok(examples)
}

fn git(tree: &Path, arguments: &[&str]) -> Result<()> {
    let identity = ["-c", "user.name=modules", "-c", "user.email=modules@localhost"];
    let status = Command::new("git").arg("-C").arg(tree).args(identity).args(arguments).status()?;
    ensure!(status.success(), "git {} failed", arguments.join(" "));
    Ok(())
}

/// One example, ready to run with either executable.
struct Bench<'a> {
    options: &'a Options,
    api: &'a Api,
    tree: &'a Path,
    folder: &'a Path,
}

impl Bench<'_> {
    /// Returns the record of one executable: that of an earlier run if `again` permits it, otherwise a new one.
    fn record(&self, program: &Path, again: bool, path: &Path) -> Result<Record> {
        if again
            && let Some(record) = Record::load(path)?
            && record.reaches(self.options.plan_only)
        {
            return Ok(record);
        }
        let record = self.run_all(program)?;
        record.save(path)?;
        Ok(record)
    }

    /// Runs all commands with one executable. Stops at a failed command that the later ones depend on.
    fn run_all(&self, program: &Path) -> Result<Record> {
        git(self.tree, &["checkout", "-q", "."])?;
        git(self.tree, &["clean", "-ffdxq"])?;
        self.api.reset()?;
        let mut record = Record::default();
        let mut run = |command: &str, arguments: &[&str], plan_file: Option<&str>| {
            let mut ran = self.run(program, command, arguments)?;
            let planned = matches!(ran.exit, Some(0 | 2));
            if let Some(file) = plan_file.filter(|_| planned) {
                ran.plan = self.shown(program, file)?;
            }
            ran.state = self.state()?;
            let exit = ran.exit;
            record.commands.push(ran);
            anyhow::Ok(exit)
        };
        if run("init", &["init", "-input=false", "-no-color"], None)? != Some(0) {
            return Ok(record);
        }
        run("validate", &["validate", "-json"], None)?;
        let plan = ["plan", "-json", "-input=false", "-lock=false", "-out=tf.plan"];
        if run("plan", &plan, Some("tf.plan"))? != Some(0) || self.options.plan_only {
            return Ok(record);
        }
        let apply = ["apply", "-json", "-input=false", "tf.plan"];
        if run("apply", &apply, None)? == Some(TIMED_OUT) {
            // The provider waits for an event that the local API never produces; the point of interruption is
            // random.
            return Ok(record);
        }
        let second = ["plan", "-json", "-input=false", "-detailed-exitcode", "-out=second.plan"];
        run("second plan", &second, Some("second.plan"))?;
        run("destroy", &["destroy", "-json", "-input=false", "-auto-approve"], None)?;
        Ok(record)
    }

    fn shown(&self, program: &Path, file: &str) -> Result<Value> {
        let ran = self.run(program, "show", &["show", "-json", file])?;
        if ran.exit != Some(0) {
            bail!("{} show -json failed in {}", program.display(), self.folder.display());
        }
        Ok(serde_json::from_str(&ran.text)?)
    }

    fn state(&self) -> Result<Value> {
        match fs::read(self.folder.join("terraform.tfstate")) {
            // The reference creates an empty file when it locks a state that does not exist yet.
            Ok(text) if !text.is_empty() => Ok(serde_json::from_slice(&text)?),
            _ => Ok(Value::Null),
        }
    }

    /// Runs a command with a fixed environment.
    fn run(&self, program: &Path, name: &str, arguments: &[&str]) -> Result<CommandRecord> {
        let limit = self.options.seconds.to_string();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", &limit]).arg(program).args(arguments);
        command.current_dir(self.folder).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.options.folder).env("TF_CLI_CONFIG_FILE", &self.options.config);
        command.envs([("LANG", "C.UTF-8"), ("CHECKPOINT_DISABLE", "1")]);
        command.envs([("AWS_ENDPOINT_URL", self.api.endpoint().as_str())]);
        command.envs([("AWS_REGION", "eu-west-1"), ("AWS_EC2_METADATA_DISABLED", "true")]);
        command.envs([("AWS_ACCESS_KEY_ID", "nobody"), ("AWS_SECRET_ACCESS_KEY", "nothing")]);
        // The local API answers unsupported requests with a server error, which clients would otherwise retry for
        // minutes.
        command.env("AWS_MAX_ATTEMPTS", "2");
        let output = command.output().context("`timeout` does not start")?;
        Ok(CommandRecord {
            command: name.to_owned(),
            exit: output.status.code(),
            text: String::from_utf8_lossy(&output.stdout).into_owned(),
            plan: Value::Null,
            state: Value::Null,
        })
    }
}
