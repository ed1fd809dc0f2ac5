//! The measured scenarios: steps over a workload, which all tools run in turn. The result of each step is
//! asserted.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Place,
    budget::{self, Budget},
    options::Options,
    report::{Measured, Row},
    tool::{Run, Tool, Usage, shorten},
    workload::{Kind, Workload},
};

/// One command over a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Validate,
    /// A plan that creates all resources.
    Plan,
    Apply,
    /// A plan after the apply, without changes.
    PlanAgain,
    Destroy,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Validate => "validate",
            Step::Plan => "plan",
            Step::Apply => "apply",
            Step::PlanAgain => "plan, no changes",
            Step::Destroy => "destroy",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Step::Validate => &["validate", "-no-color"],
            Step::Plan | Step::PlanAgain => &["plan", "-no-color", "-input=false"],
            Step::Apply => &["apply", "-no-color", "-input=false", "-auto-approve"],
            Step::Destroy => &["destroy", "-no-color", "-input=false", "-auto-approve"],
        }
    }

    /// Checks the result of a run: its output, and the files that it left.
    fn assert(self, run: &Run, workload: &Workload) -> Result<()> {
        let n = workload.resources;
        let says = |text: &str| {
            ensure!(run.stdout.contains(text), "did not say {text:?}:\n{}", shorten(&run.stdout));
            Ok(())
        };
        match self {
            Step::Validate => says("Success! The configuration is valid."),
            Step::Plan => {
                says(&format!("Plan: {n} to add, 0 to change, 0 to destroy."))?;
                let head = format!("  # {}.item_", workload.kind.resource_type());
                let listed = run.stdout.lines().filter(|line| line.starts_with(&head)).count();
                ensure!(listed == n, "listed {listed} resources, not {n}");
                let known = run
                    .stdout
                    .lines()
                    .filter(|line| line.trim_start().starts_with("+ item_"))
                    .count();
                ensure!(known == n, "listed {known} outputs, not {n}");
                Ok(())
            }
            Step::Apply => {
                says(&format!("Apply complete! Resources: {n} added, 0 changed, 0 destroyed."))?;
                assert_state(&workload.state(), n)
            }
            Step::PlanAgain => says("No changes."),
            Step::Destroy => {
                says(&format!("Destroy complete! Resources: {n} destroyed."))?;
                assert_state(&workload.state(), 0)
            }
        }
    }
}

/// Checks that the state holds `n` resources, each with its own id, and as many outputs.
fn assert_state(path: &Path, n: usize) -> Result<()> {
    let text = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
    let state: serde_json::Value = serde_json::from_slice(&text)?;
    let resources = state["resources"].as_array().context("the state has no resources")?;
    let ids = resources.iter().filter_map(|it| it["instances"][0]["attributes"]["id"].as_str());
    let ids: std::collections::BTreeSet<_> = ids.collect();
    ensure!(
        resources.len() == n && ids.len() == n,
        "{} resources and {} ids in the state, not {n}",
        resources.len(),
        ids.len()
    );
    let outputs = state["outputs"].as_object().map_or(0, serde_json::Map::len);
    ensure!(outputs == n, "{outputs} outputs in the state, not {n}");
    Ok(())
}

/// Steps over workloads that differ only in size.
pub(crate) struct Scenario {
    kind: Kind,
    steps: Vec<Step>,
    sizes: Vec<usize>,
    /// True if the sizes are compared with each other, and not with a reference.
    is_growth: bool,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<_> = self.steps.iter().map(|step| step.name()).collect();
        let what = if self.is_growth { "growth of " } else { "" };
        write!(f, "{what}{} of {} at {:?}", steps.join(", "), self.kind.resource_type(), self.sizes)
    }
}

/// Returns the scenarios that the options select.
pub(crate) fn all(options: &Options) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for &size in &options.sizes {
        // Steps for which a reference needs quadratic time run only at small sizes.
        let steps = match size {
            ..=1_000 => {
                &[Step::Validate, Step::Plan, Step::Apply, Step::PlanAgain, Step::Destroy][..]
            }
            _ => &[Step::Validate, Step::Plan],
        };
        scenarios.push(scenario(Kind::Builtin, steps, vec![size], false));
        if size <= 1_000 {
            let steps = &[Step::Plan, Step::Apply, Step::Destroy];
            scenarios.push(scenario(Kind::Playground, steps, vec![size], false));
        }
    }
    let growth = if options.large {
        vec![1_000, 5_000, 20_000, 100_000]
    } else {
        vec![1_000, 5_000, 20_000]
    };
    scenarios.push(scenario(Kind::Builtin, &[Step::Validate, Step::Plan], growth, true));
    for scenario in &mut scenarios {
        let (kind, is_growth) = (scenario.kind, scenario.is_growth);
        let steps = std::mem::take(&mut scenario.steps);
        scenario.steps =
            with_what_they_need(steps, |step| options.wants(&title(kind, step, is_growth)));
    }
    scenarios.retain(|it| !it.steps.is_empty());
    scenarios
}

impl Scenario {
    /// Returns true if its sizes are compared with each other.
    pub(crate) fn is_growth(&self) -> bool {
        self.is_growth
    }
}

fn scenario(kind: Kind, steps: &[Step], sizes: Vec<usize>, is_growth: bool) -> Scenario {
    Scenario { kind, steps: steps.to_vec(), sizes, is_growth }
}

/// Removes the steps that are not selected. Keeps the apply that a later step needs, and the destroy that an apply
/// needs.
fn with_what_they_need(steps: Vec<Step>, wants: impl Fn(Step) -> bool) -> Vec<Step> {
    let applied = [Step::Apply, Step::PlanAgain, Step::Destroy];
    let needs_apply = steps.iter().any(|step| applied.contains(step) && wants(*step));
    let is_needed =
        |step: &Step| wants(*step) || needs_apply && matches!(step, Step::Apply | Step::Destroy);
    steps.into_iter().filter(is_needed).collect()
}

fn title(kind: Kind, step: Step, is_growth: bool) -> String {
    match (kind, is_growth) {
        (_, true) => format!("growth: {}", step.name()),
        (Kind::Builtin, false) => step.name().to_owned(),
        (Kind::Playground, false) => format!("{} over a plugin", step.name()),
    }
}

/// A tool with its own copy of the workload, so that no tool finds the files of another.
struct Contender<'a> {
    tool: &'a Tool,
    workload: Workload,
    configuration: PathBuf,
    /// The usages of each step.
    usages: Vec<Vec<Usage>>,
}

/// Runs a scenario and returns a row for each step and size.
///
/// # Errors
/// Returns an error if a tool fails or has a wrong result.
pub(crate) fn measure(
    scenario: &Scenario,
    place: &Place,
    references: &[Tool],
    runs: usize,
) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for &size in &scenario.sizes {
        let references = if scenario.is_growth { &[] } else { references };
        let mut contenders = Vec::new();
        for tool in std::iter::once(&place.mayfly).chain(references) {
            contenders.push(prepare(tool, scenario, size, place)?);
        }
        for _ in 0..runs {
            for contender in &mut contenders {
                take_turn(contender, &scenario.steps)?;
            }
        }
        for (index, &step) in scenario.steps.iter().enumerate() {
            rows.push(row(scenario, step, size, index, &contenders));
        }
    }
    Ok(rows)
}

fn prepare<'a>(
    tool: &'a Tool,
    scenario: &Scenario,
    size: usize,
    place: &Place,
) -> Result<Contender<'a>> {
    let name = format!("{}-{size}-{}", scenario.kind.resource_type(), tool.name);
    let workload = Workload::write(place.work.join(name), scenario.kind, size)?;
    let configuration = workload.folder.join("cli.tfrc");
    fs::write(&configuration, scenario.kind.overrides(&place.plugins))?;
    let usages = vec![Vec::new(); scenario.steps.len()];
    let contender = Contender { tool, workload, configuration, usages };
    // `init` would request overridden providers from the registry, so it runs only for built-in ones.
    if tool.needs_init && scenario.kind == Kind::Builtin {
        contender.run(0, &["init", "-no-color", "-input=false"])?;
    }
    if scenario.steps.contains(&Step::Validate) {
        refuses_what_is_wrong(&contender)?;
    }
    Ok(contender)
}

/// Checks that `validate` reports an error, since a `validate` that checks nothing would be fast.
fn refuses_what_is_wrong(contender: &Contender<'_>) -> Result<()> {
    contender.workload.set_broken(true)?;
    let run = contender.run(1, Step::Validate.arguments())?;
    ensure!(
        run.stderr.contains("local.missing"),
        "the diagnostic does not show the wrong reference:\n{}",
        run.stderr
    );
    contender.workload.set_broken(false)
}

impl Contender<'_> {
    fn run(&self, code: i32, arguments: &[&str]) -> Result<Run> {
        self.tool.run_to(code, &self.workload.folder, &self.configuration, arguments)
    }
}

fn take_turn(contender: &mut Contender<'_>, steps: &[Step]) -> Result<()> {
    contender.workload.forget_runs()?;
    for (index, step) in steps.iter().enumerate() {
        let run = contender.run(0, step.arguments())?;
        if let Err(error) = step.assert(&run, &contender.workload) {
            bail!("{} {}: {error:#}", contender.tool.name, step.name());
        }
        contender.usages[index].push(run.usage);
    }
    Ok(())
}

fn row(
    scenario: &Scenario,
    step: Step,
    size: usize,
    index: usize,
    contenders: &[Contender<'_>],
) -> Row {
    let budget: Budget = match scenario.is_growth {
        true => budget::of_growth(step, size),
        false => budget::of(scenario.kind, step, size),
    };
    let figures =
        contenders.iter().map(|it| Measured::median(&it.tool.name, &it.usages[index])).collect();
    Row {
        work: title(scenario.kind, step, scenario.is_growth),
        resources: size,
        figures,
        budget,
        earlier: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(arguments: &[&str]) -> Vec<String> {
        let options = Options::parse(arguments).expect("are right").expect("ask for no help");
        all(&options).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_step_brings_those_that_it_needs() {
        assert_eq!(
            steps_of(&["--n", "10", "--only", "no changes"]),
            ["apply, plan, no changes, destroy of terraform_data at [10]"]
        );
        assert_eq!(
            steps_of(&["--n", "2000", "--only", "validate"]),
            [
                "validate of terraform_data at [2000]",
                "growth of validate of terraform_data at [1000, 5000, 20000]"
            ]
        );
    }

    #[test]
    fn a_state_with_the_wrong_number_of_resources_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("terraform.tfstate");
        let one = r#"{"resources": [{"instances": [{"attributes": {"id": "a"}}]}], "outputs": {"o": {}}}"#;
        fs::write(&path, one).expect("is written");
        assert_state(&path, 1).expect("is right");
        assert_state(&path, 2).expect_err("is wrong");
    }
}
