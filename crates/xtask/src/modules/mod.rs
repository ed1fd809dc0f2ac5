//! `cargo xtask modules`: the examples of public modules, planned and applied by the reference and by us.
//!
//! ```text
//!   repositories ──library──► a tree of checkouts ──► each example: init, validate, plan, apply, plan, destroy
//!                                                      by both, from a clean tree, against an empty local API
//!                                                      └──► judge: what differs
//! ```
//!
//! Both executables run in the same folder, one after the other, so that no path differs. The local API forgets everything in
//! between and gives the same identifiers again; the identifiers of an apply still depend on the order of creation, so the
//! plans before it are compared whole, and what comes after it by addresses, actions and diagnostics.
//!
//! **Invariant:** nothing of the modules enters this repository; the repositories are named on the command line.
//! **Absent on purpose:** fetching them.

mod api;
mod judge;
mod library;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use addr::Version;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use self::{
    api::Api,
    judge::{Answer, Answers, Differences},
    library::Library,
};

const USAGE: &str = "\
usage: cargo xtask modules --checkouts FOLDER --reference TOFU [OPTIONS]

Plans and applies the examples of the modules in FOLDER (OWNER+terraform-aws-NAME/repo, git directories) with the reference and
with us, against a local AWS API (`moto_server` on the PATH), and says what differs.

  --program PATH     our executable (target/release/mayfly)
  --config PATH      the CLI configuration with a mirror of the providers (TF_CLI_CONFIG_FILE)
  --aws VERSION      the AWS provider in that mirror (5.100.0)
  --folder PATH      where to work (target/modules)
  --only TEXT        only examples whose name contains TEXT; may be given again
  --plan-only        no apply
  --seconds N        the most that one command may take (240)";

/// The exit code of `timeout` for a command that it ended.
const TIMED_OUT: i32 = 124;

struct Options {
    checkouts: PathBuf,
    reference: PathBuf,
    program: PathBuf,
    config: PathBuf,
    folder: PathBuf,
    aws: Version,
    only: Vec<String>,
    plan_only: bool,
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
            only: take("--only").into_iter().map(str::to_owned).collect(),
        };
        ensure!(given.is_empty(), "{USAGE}");
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| name.contains(it))
    }
}

fn absolute(path: &str) -> Result<PathBuf> {
    Path::new(path).canonicalize().with_context(|| format!("{path} is not there"))
}

/// Runs every example and prints what differs, then the figures.
///
/// # Errors
/// An example differs, or something that the comparison needs is missing.
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
        let reference = bench.answers(&options.reference)?;
        let ours = bench.answers(&options.program)?;
        figures.add(name, &reference, &Differences::between(&reference, &ours));
    }
    println!("{figures}");
    ensure!(figures.different == 0, "{} examples differ", figures.different);
    Ok(())
}

/// The examples of all modules, by name, in a tree that git can clean.
fn lay_out(options: &Options, tree: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut library = Library::open(&options.checkouts, tree, options.aws.clone())?;
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

/// One example, ready to be run by either executable.
struct Bench<'a> {
    options: &'a Options,
    api: &'a Api,
    tree: &'a Path,
    folder: &'a Path,
}

impl Bench<'_> {
    /// Runs all commands with one executable, until one fails that the next ones need.
    fn answers(&self, program: &Path) -> Result<Answers> {
        git(self.tree, &["checkout", "-q", "."])?;
        git(self.tree, &["clean", "-ffdxq"])?;
        self.api.reset()?;
        let mut answers = Answers::new();
        let init = self.run(program, &["init", "-input=false", "-no-color"])?.0;
        let failed = init.exit != Some(0);
        // What init says about a source that cannot be reached is the installer's own.
        answers.push(("init", Answer { exit: init.exit, ..Answer::default() }));
        if failed {
            return Ok(answers);
        }
        answers.push(("validate", self.run(program, &["validate", "-json"])?.0));
        if !self.plan(program, &mut answers)? || self.options.plan_only {
            return Ok(answers);
        }
        self.apply(program, &mut answers)?;
        Ok(answers)
    }

    /// Returns true if there is a plan.
    fn plan(&self, program: &Path, answers: &mut Answers) -> Result<bool> {
        let arguments = ["plan", "-json", "-input=false", "-lock=false", "-out=tf.plan"];
        let mut plan = self.run(program, &arguments)?.0;
        let planned = plan.exit == Some(0);
        if planned {
            plan.data = judge::of_plan(&self.shown(program, &["tf.plan"])?);
        }
        answers.push(("plan", plan));
        Ok(planned)
    }

    fn apply(&self, program: &Path, answers: &mut Answers) -> Result<()> {
        let mut apply = self.run(program, &["apply", "-json", "-input=false", "tf.plan"])?.0;
        if apply.exit == Some(TIMED_OUT) {
            // The provider waits for something that the local API never does; where it was cut off is chance.
            answers.push(("apply", Answer { exit: apply.exit, ..Answer::default() }));
            return Ok(());
        }
        apply.data = judge::of_state(&self.shown(program, &[])?);
        answers.push(("apply", apply));
        let arguments = ["plan", "-json", "-input=false", "-detailed-exitcode", "-out=second.plan"];
        let mut second = self.run(program, &arguments)?.0;
        if matches!(second.exit, Some(0 | 2)) {
            second.data = judge::of_second_plan(&self.shown(program, &["second.plan"])?);
        }
        answers.push(("second plan", second));
        let mut destroy =
            self.run(program, &["destroy", "-json", "-input=false", "-auto-approve"])?.0;
        destroy.data = judge::of_state(&self.shown(program, &[])?);
        answers.push(("destroy", destroy));
        Ok(())
    }

    fn shown(&self, program: &Path, file: &[&str]) -> Result<Value> {
        let arguments = [&["show", "-json"], file].concat();
        let (answer, text) = self.run(program, &arguments)?;
        if answer.exit != Some(0) {
            bail!("{} show -json failed in {}: {text}", program.display(), self.folder.display());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Runs a command, with nothing of the caller's environment.
    fn run(&self, program: &Path, arguments: &[&str]) -> Result<(Answer, String)> {
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
        // What the local API lacks it answers as a fault of its own, which clients otherwise ask again for minutes.
        command.env("AWS_MAX_ATTEMPTS", "2");
        let output = command.output().context("`timeout` does not start")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = Answer {
            exit: output.status.code(),
            diagnostics: diagnostics(&text),
            data: BTreeMap::new(),
        };
        Ok((answer, text))
    }
}

/// Severity and summary of each diagnostic of `validate -json` or of a `-json` stream, sorted.
fn diagnostics(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |diagnostic: &Value| {
        if let (Some(severity), Some(summary)) =
            (diagnostic["severity"].as_str(), diagnostic["summary"].as_str())
        {
            found.push(format!("{severity}: {summary}"));
        }
    };
    match serde_json::from_str::<Value>(text) {
        Ok(whole) if whole["diagnostics"].is_array() => {
            whole["diagnostics"].as_array().into_iter().flatten().for_each(add);
        }
        _ => {
            let lines = text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
            lines.for_each(|it| add(&it["diagnostic"]));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What became of the examples.
#[derive(Default)]
struct Figures {
    equal: usize,
    different: usize,
    planned: usize,
    applied: usize,
    destroyed: usize,
}

impl Figures {
    fn add(&mut self, name: &str, reference: &Answers, differences: &Differences) {
        let succeeded = |command| {
            let answer = reference.iter().find(|(name, _)| *name == command);
            usize::from(answer.is_some_and(|(_, it)| it.exit == Some(0)))
        };
        self.planned += succeeded("plan");
        self.applied += succeeded("apply");
        self.destroyed += succeeded("destroy");
        let reached: Vec<String> = reference
            .iter()
            .map(|(command, it)| format!("{command} {}", it.exit.unwrap_or(-1)))
            .collect();
        let reached = reached.join(", ");
        if differences.is_empty() {
            self.equal += 1;
            println!("  equal: {name} ({reached})");
        } else {
            self.different += 1;
            print!("  DIFFERENT: {name} ({reached})\n{differences}");
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Figures { equal, different, planned, applied, destroyed } = self;
        write!(
            f,
            "{} examples: {equal} equal, {different} different; by the reference {planned} planned, {applied} applied, \
             {destroyed} destroyed",
            equal + different
        )
    }
}

#[cfg(test)]
mod tests {
    use super::diagnostics;

    #[test]
    fn diagnostics_are_read_from_both_kinds_of_output() {
        let whole = r#"{"valid":false,"diagnostics":[{"severity":"error","summary":"B"},{"severity":"warning","summary":"A"}]}"#;
        assert_eq!(diagnostics(whole), ["error: B", "warning: A"]);
        let stream = "{\"type\":\"version\"}\n{\"type\":\"diagnostic\",\"diagnostic\":{\"severity\":\"error\",\"summary\":\"B\"}}\n";
        assert_eq!(diagnostics(stream), ["error: B"]);
    }
}
