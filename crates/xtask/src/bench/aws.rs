//! Measures `validate` with the real AWS provider, if the machine has a mirror of it: once without changes since
//! the last run, and once after an edit of one block. The bench asserts that the provider is called, and that an
//! error which only the provider can find is reported.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};

use super::{
    Place,
    budget::{self, Budget},
    options::Options,
    report::{Measured, Row},
    tool::{Run, Tool, Usage},
};

/// The environment variable with the folder of a filesystem mirror,
/// `HOST/hashicorp/aws/VERSION/TARGET/terraform-provider-aws_*`.
const MIRROR: &str = "MAYFLY_AWS_MIRROR";

/// The titles of the rows.
const UNCHANGED: &str = "validate with the AWS provider, unchanged";
const CHANGED: &str = "validate with the AWS provider, one block changed";

/// The number of resources of each type.
const PER_TYPE: usize = 10;

/// Measures both rows, if the options select one and the provider is available.
///
/// # Errors
/// Returns an error if the mirror lacks the provider, or if a tool fails or has a wrong result.
pub(crate) fn measure(options: &Options, place: &Place, references: &[Tool]) -> Result<Vec<Row>> {
    let Some(mirror) = mirror(options, &[UNCHANGED, CHANGED], place)? else {
        return Ok(Vec::new());
    };
    println!("measuring {UNCHANGED} …");
    let start = mirror.start()?;
    println!("the provider starts in {} ms", start.as_millis());
    let tools = std::iter::once(&place.mayfly).chain(references);
    let mut contenders =
        tools.map(|tool| Contender::prepare(tool, place, &mirror)).collect::<Result<Vec<_>>>()?;
    for round in 0..options.runs {
        contenders.iter_mut().try_for_each(|it| it.take_turn(round))?;
    }
    Ok(vec![
        row(UNCHANGED, budget::of_unchanged_provider(), &contenders, |it| &it.unchanged),
        row(CHANGED, budget::of_changed_block(start), &contenders, |it| &it.changed),
    ])
}

/// Returns the mirror, if the options select one of the rows with these titles and the environment names one.
///
/// # Errors
/// Returns an error if the mirror lacks the provider.
pub(super) fn mirror(options: &Options, titles: &[&str], place: &Place) -> Result<Option<Mirror>> {
    if !titles.iter().any(|title| options.wants(title)) {
        return Ok(None);
    }
    let Some(mirror) = std::env::var_os(MIRROR) else {
        println!("{MIRROR} is not set, and the AWS provider is left out");
        return Ok(None);
    };
    Mirror::find(Path::new(&mirror), &place.work).map(Some)
}

fn row<'a>(
    work: &str,
    budget: Budget,
    contenders: &'a [Contender<'a>],
    usages: impl Fn(&'a Contender<'a>) -> &'a [Usage],
) -> Row {
    let figures = contenders.iter().map(|it| Measured::median(&it.tool.name, usages(it)));
    Row::new(work.to_owned(), TYPES.len() * PER_TYPE + 1, figures.collect(), budget)
}

/// The provider, mirrored under the hosts of both registries.
pub(super) struct Mirror {
    folder: PathBuf,
    pub(super) version: String,
    executable: PathBuf,
}

impl Mirror {
    fn find(given: &Path, work: &Path) -> Result<Self> {
        let found = entries(given)?
            .into_iter()
            .filter_map(|host| entries(&host.join("hashicorp/aws")).ok())
            .flatten()
            .next();
        let version = found.with_context(|| format!("no hashicorp/aws in {}", given.display()))?;
        let target = entries(&version)?.pop().context("the version has no target")?;
        let executable = entries(&target)?
            .into_iter()
            .find(|it| name_of(it).starts_with("terraform-provider-aws"))
            .context("the target has no executable")?;
        let folder = work.join("aws-mirror");
        let _ = fs::remove_dir_all(&folder);
        for host in ["registry.opentofu.org", "registry.terraform.io"] {
            let place = folder.join(host).join("hashicorp/aws").join(name_of(&version));
            fs::create_dir_all(&place)?;
            std::os::unix::fs::symlink(&target, place.join(name_of(&target)))?;
        }
        Ok(Self { folder, version: name_of(&version), executable })
    }

    pub(super) fn configuration(&self) -> String {
        format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            self.folder
        )
    }

    /// Returns the time from the start of the provider to its first line of output, the fastest of three.
    fn start(&self) -> Result<Duration> {
        let starts = (0..3).map(|_| self.start_once()).collect::<Result<Vec<_>>>()?;
        starts.into_iter().min().context("there are three")
    }

    fn start_once(&self) -> Result<Duration> {
        let start = Instant::now();
        let mut child = Command::new(&self.executable)
            .env(
                "TF_PLUGIN_MAGIC_COOKIE",
                "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
            )
            .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().context("stdout is piped")?;
        BufReader::new(out).read_line(&mut line)?;
        let took = start.elapsed();
        child.kill()?;
        child.wait()?;
        ensure!(line.starts_with("1|"), "the provider said {line:?}");
        Ok(took)
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut paths = read.map(|it| Ok(it?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A tool with its own copy of the configuration.
struct Contender<'a> {
    tool: &'a Tool,
    folder: PathBuf,
    version: String,
    unchanged: Vec<Usage>,
    changed: Vec<Usage>,
}

impl<'a> Contender<'a> {
    fn prepare(tool: &'a Tool, place: &Place, mirror: &Mirror) -> Result<Self> {
        let folder = place.work.join(format!("aws-{}", tool.name));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("cli.tfrc"), mirror.configuration())?;
        let version = mirror.version.clone();
        let contender = Self { tool, folder, version, unchanged: Vec::new(), changed: Vec::new() };
        contender.write("a bench", "String")?;
        contender.run(0, &["init", "-no-color", "-input=false"])?;
        contender.validate(0)?;
        // Only the provider can know that this type does not exist.
        contender.write("a bench", "Strung")?;
        let refused = contender.validate(1)?;
        ensure!(
            refused.stderr.contains("expected type to be one of"),
            "not the provider refused it:\n{}",
            refused.stderr
        );
        Ok(contender)
    }

    fn take_turn(&mut self, round: usize) -> Result<()> {
        // Mayfly caches successful validations, also those of a bench on another day, so the description must be
        // new.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let description = format!("round {round} at {}", now.as_nanos());
        self.write(&description, "String")?;
        let changed = self.validate(0)?;
        self.changed.push(changed.usage);
        let unchanged = self.validate(0)?;
        self.unchanged.push(unchanged.usage);
        Ok(())
    }

    /// Writes the configuration. `description` and `kind` are those of the edited parameter.
    fn write(&self, description: &str, kind: &str) -> Result<()> {
        let text = configuration(&self.version, description, kind);
        Ok(fs::write(self.folder.join("main.tf"), text)?)
    }

    fn validate(&self, code: i32) -> Result<Run> {
        let run = self.run(code, &["validate", "-no-color"])?;
        let says = run.stdout.contains("Success! The configuration is valid.");
        ensure!(says == (code == 0), "{} said {:?}", self.tool.name, run.stdout);
        Ok(run)
    }

    fn run(&self, code: i32, arguments: &[&str]) -> Result<Run> {
        self.tool.run_to(code, &self.folder, &self.folder.join("cli.tfrc"), arguments)
    }
}

/// Resource types of five services, each with its naming argument and its other arguments.
pub(super) const TYPES: [(&str, &str, &str); 5] = [
    ("aws_ssm_parameter", "name", "type  = \"String\"\n  value = \"1\""),
    ("aws_s3_bucket", "bucket", "force_destroy = true"),
    ("aws_sqs_queue", "name", "visibility_timeout_seconds = 60"),
    ("aws_secretsmanager_secret", "name", "recovery_window_in_days = 7"),
    (
        "aws_iam_role",
        "name",
        "assume_role_policy = jsonencode({ Version = \"2012-10-17\", Statement = [] })",
    ),
];

/// Returns the configuration. It has no provider block: the arguments of one depend on the environment, so the
/// provider would have to validate them in every run.
fn configuration(version: &str, description: &str, kind: &str) -> String {
    let mut text = required(version);
    let _ = write!(
        text,
        r#"
resource "aws_ssm_parameter" "edited" {{
  name        = "edited"
  type        = "{kind}"
  value       = "1"
  description = "{description}"
}}
"#
    );
    for index in 0..PER_TYPE {
        for (ty, name, arguments) in TYPES {
            let _ = write!(
                text,
                r#"
resource "{ty}" "item_{index}" {{
  {name} = "item-{index}"
  {arguments}
}}
"#
            );
        }
    }
    text
}

/// Returns the block that requires the provider.
pub(super) fn required(version: &str) -> String {
    format!(
        r#"terraform {{
  required_providers {{
    aws = {{
      source  = "hashicorp/aws"
      version = "{version}"
    }}
  }}
}}
"#
    )
}
