//! The measured scenarios: steps over a workload, which all tools run in turn. The result of each step is
//! asserted.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Place,
    budget::{self, Budget},
    options::Options,
    report::{Measured, Row},
    shape::Shape,
    tool::{self, Run, Tool, Usage, shorten},
    workload::{Kind, Workload},
};

/// The time of a turn after which a reference takes no further one: its rows have one run, because many minutes of
/// waiting would not change whether a budget of tens of times is met.
const LONG: Duration = Duration::from_secs(30);

/// The variable that turns off Mayfly's cache of validations.
const VERDICTS: (&str, &str) = ("MAYFLY_VERDICT_CACHE", "off");

/// One command over a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Over a plugin: without cached results of earlier validations.
    Validate,
    /// With the cached results of a provider's validations.
    ValidateAgain,
    /// A plan that creates all resources.
    Plan,
    Apply,
    /// A plan with two targets.
    PlanTargets,
    /// A plan that moves all resources.
    PlanMoved,
    /// A plan after the apply, without changes.
    PlanAgain,
    Destroy,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Validate => "validate",
            Step::ValidateAgain => "validate, unchanged",
            Step::Plan => "plan",
            Step::Apply => "apply",
            Step::PlanTargets => "plan, two targets",
            Step::PlanMoved => "plan, all moved",
            Step::PlanAgain => "plan, no changes",
            Step::Destroy => "destroy",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Step::Validate | Step::ValidateAgain => &["validate", "-no-color"],
            Step::Plan | Step::PlanAgain | Step::PlanMoved => {
                &["plan", "-no-color", "-input=false"]
            }
            Step::PlanTargets => &[
                "plan",
                "-no-color",
                "-input=false",
                "-target=terraform_data.item_0",
                "-target=terraform_data.item_7",
            ],
            Step::Apply => &["apply", "-no-color", "-input=false", "-auto-approve"],
            Step::Destroy => &["destroy", "-no-color", "-input=false", "-auto-approve"],
        }
    }

    /// Checks the result of a run: its output, and the files that it left.
    fn assert(self, run: &Run, shape: Shape, workload: &Workload) -> Result<()> {
        let (n, outputs) = (workload.resources, shape.outputs(workload.resources));
        let says = |text: &str| {
            ensure!(run.stdout.contains(text), "did not say {text:?}:\n{}", shorten(&run.stdout));
            Ok(())
        };
        match self {
            _ if shape == Shape::OneError => Shape::assert_error(&run.stderr),
            // The references warn of a plugin that the CLI configuration overrides, and say so in this line.
            Step::Validate | Step::ValidateAgain if shape.kind() != Kind::Builtin => {
                says("Success! The configuration is valid")
            }
            Step::Validate | Step::ValidateAgain => says("Success! The configuration is valid."),
            Step::Plan => {
                says(&format!("Plan: {n} to add, 0 to change, 0 to destroy."))?;
                let count =
                    |is: &dyn Fn(&str) -> bool| run.stdout.lines().filter(|it| is(it)).count();
                let listed =
                    count(&|it| it.starts_with("  # ") && it.ends_with(" will be created"));
                ensure!(listed == n, "listed {listed} resources, not {n}");
                let known = count(&|it| it.trim_start().starts_with("+ item_"));
                ensure!(known == outputs, "listed {known} outputs, not {outputs}");
                shape.assert_plan(&run.stdout)
            }
            Step::Apply => {
                says(&format!("Apply complete! Resources: {n} added, 0 changed, 0 destroyed."))?;
                assert_state(&workload.state(), n, outputs)
            }
            Step::PlanTargets => says("Plan: 2 to add, 0 to change, 0 to destroy."),
            Step::PlanMoved => {
                let moved = run.stdout.lines().filter(|it| it.contains(" has moved to ")).count();
                ensure!(moved == n, "{moved} resources are moved, not {n}");
                says("Plan: 0 to add, 0 to change, 0 to destroy.")
            }
            Step::PlanAgain => says("No changes."),
            Step::Destroy => {
                says(&format!("Destroy complete! Resources: {n} destroyed."))?;
                assert_state(&workload.state(), 0, 0)
            }
        }
    }
}

/// Checks that the state holds `n` resource instances, each with its own id, and the outputs.
fn assert_state(path: &Path, n: usize, outputs: usize) -> Result<()> {
    let text = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
    let state: serde_json::Value = serde_json::from_slice(&text)?;
    let resources = state["resources"].as_array().context("the state has no resources")?;
    let instances =
        resources.iter().filter_map(|it| it["instances"].as_array()).flatten().collect::<Vec<_>>();
    let ids = instances.iter().filter_map(|it| it["attributes"]["id"].as_str());
    let ids: std::collections::BTreeSet<_> = ids.collect();
    ensure!(
        instances.len() == n && ids.len() == n,
        "{} instances and {} ids in the state, not {n}",
        instances.len(),
        ids.len()
    );
    let found = state["outputs"].as_object().map_or(0, serde_json::Map::len);
    ensure!(found == outputs, "{found} outputs in the state, not {outputs}");
    Ok(())
}

/// Shapes of one size that are measured in turns, so that their rows can be compared.
pub(crate) struct Scenario {
    parts: Vec<Part>,
    size: usize,
    /// True if the sizes are compared with each other, and not with a reference.
    is_growth: bool,
}

/// A shape with the steps over it.
struct Part {
    shape: Shape,
    steps: Vec<Step>,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = self.parts.iter().flat_map(|part| {
            part.steps.iter().map(|step| title(part.shape, *step, self.is_growth))
        });
        write!(f, "{} at {}", titles.collect::<Vec<_>>().join("; "), self.size)
    }
}

/// Returns the scenarios that the options select.
pub(crate) fn all(options: &Options) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for &size in &options.sizes {
        let (variants, others): (Vec<_>, Vec<_>) =
            Shape::ALL.into_iter().partition(|it| it.is_variant() || *it == Shape::Flat);
        scenarios.push(scenario(variants, size, false, options));
        let others = others.into_iter().filter(|it| *it != Shape::Plugin || size <= 1_000);
        scenarios.extend(others.map(|shape| scenario(vec![shape], size, false, options)));
    }
    let growth: &[usize] = match options.large {
        true => &[1_000, 5_000, 20_000, 100_000],
        false => &[1_000, 5_000, 20_000],
    };
    for shape in [Shape::Flat, Shape::Modules, Shape::ForEach] {
        scenarios.extend(growth.iter().map(|size| scenario(vec![shape], *size, true, options)));
    }
    scenarios.retain(|it| !it.parts.is_empty());
    scenarios
}

fn scenario(shapes: Vec<Shape>, size: usize, is_growth: bool, options: &Options) -> Scenario {
    let wanted = |shape: Shape| {
        let wants = |step: Step| options.wants(&title(shape, step, is_growth));
        with_what_they_need(steps_of(shape, size, is_growth), wants)
    };
    let mut parts: Vec<Part> =
        shapes.into_iter().map(|shape| Part { shape, steps: wanted(shape) }).collect();
    // A variant is compared with the flat shape, so that one runs the same steps.
    let needed: Vec<Step> = steps_of(Shape::OneError, size, is_growth)
        .into_iter()
        .filter(|step| parts.iter().any(|it| it.shape.is_variant() && it.steps.contains(step)))
        .collect();
    for part in parts.iter_mut().filter(|it| it.shape == Shape::Flat) {
        let missing = needed.iter().filter(|step| !part.steps.contains(step));
        let missing: Vec<_> = missing.copied().collect();
        part.steps.splice(0..0, missing);
    }
    parts.retain(|it| !it.steps.is_empty());
    Scenario { parts, size, is_growth }
}

/// Returns the steps of a shape. Steps for which a reference needs quadratic time run only at small sizes.
fn steps_of(shape: Shape, size: usize, is_growth: bool) -> Vec<Step> {
    let steps: &[Step] = match (shape, size) {
        _ if is_growth || shape.is_variant() => &[Step::Validate, Step::Plan],
        (Shape::Flat, ..=1_000) => &[
            Step::Validate,
            Step::Plan,
            Step::PlanTargets,
            Step::Apply,
            Step::PlanAgain,
            Step::Destroy,
        ],
        (Shape::Flat, _) => &[Step::Validate, Step::Plan, Step::PlanTargets],
        (Shape::Moves, _) => &[Step::Plan, Step::PlanMoved],
        (Shape::Plugin, _) => &[Step::Plan, Step::Apply, Step::Destroy],
        (Shape::Modules | Shape::ForEach, ..=1_000) => {
            &[Step::Validate, Step::Plan, Step::Apply, Step::Destroy]
        }
        (Shape::Types | Shape::Blocks, ..=1_000) => {
            &[Step::Validate, Step::ValidateAgain, Step::Plan, Step::Apply, Step::Destroy]
        }
        (Shape::Types | Shape::Blocks, _) => &[Step::Validate, Step::ValidateAgain, Step::Plan],
        _ => &[Step::Validate, Step::Plan],
    };
    steps.to_vec()
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

fn title(shape: Shape, step: Step, is_growth: bool) -> String {
    let growth = if is_growth { "growth: " } else { "" };
    format!("{growth}{}{}", step.name(), shape.suffix())
}

/// A tool with its own copy of a workload, so that no tool finds the files of another.
struct Contender<'a> {
    tool: &'a Tool,
    part: &'a Part,
    workload: Workload,
    configuration: PathBuf,
    /// The usages of each step.
    usages: Vec<Vec<Usage>>,
}

/// Runs a scenario and returns a row for each shape and step.
///
/// # Errors
/// Returns an error if a tool fails or has a wrong result.
pub(crate) fn measure(
    scenario: &Scenario,
    place: &Place,
    references: &[Tool],
    runs: usize,
) -> Result<Vec<Row>> {
    let references = if scenario.is_growth { &[] } else { references };
    let mut contenders = Vec::new();
    for tool in std::iter::once(&place.mayfly).chain(&place.dist).chain(references) {
        for part in &scenario.parts {
            contenders.push(prepare(tool, part, scenario.size, place)?);
        }
    }
    for _ in 0..runs {
        for contender in contenders.iter_mut().filter(|it| !it.is_done()) {
            take_turn(contender)?;
        }
    }
    let rows = scenario.parts.iter().flat_map(|part| {
        let of_part: Vec<_> = contenders.iter().filter(|it| std::ptr::eq(it.part, part)).collect();
        let steps = part.steps.iter().enumerate();
        let rows = steps.map(|(index, step)| row(scenario, part.shape, *step, index, &of_part));
        rows.collect::<Vec<_>>()
    });
    Ok(rows.collect())
}

fn prepare<'a>(
    tool: &'a Tool,
    part: &'a Part,
    size: usize,
    place: &Place,
) -> Result<Contender<'a>> {
    let shape = part.shape;
    let name = format!("{shape:?}-{size}-{}", tool.name).to_lowercase();
    let workload = shape.write(&place.work.join(name), size)?;
    let configuration = workload.folder.join("cli.tfrc");
    fs::write(&configuration, shape.kind().overrides(&place.plugins))?;
    let usages = vec![Vec::new(); part.steps.len()];
    let contender = Contender { tool, part, workload, configuration, usages };
    // `init` would request overridden providers from the registry, so it runs only for built-in ones.
    let needs_init = tool.is_reference || shape == Shape::Modules;
    if needs_init && shape.kind() == Kind::Builtin {
        contender.run(0, &["init", "-no-color", "-input=false"])?;
    }
    if part.steps.contains(&Step::Validate) && shape != Shape::OneError {
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

    fn step(&self, step: Step) -> Result<Run> {
        let folder = &self.workload.folder;
        let mut command = self.tool.command(folder, &self.configuration, step.arguments());
        if step == Step::Validate {
            command.env(VERDICTS.0, VERDICTS.1);
        }
        let code = i32::from(self.part.shape == Shape::OneError);
        let what = format!("{} {}", self.tool.name, step.name());
        tool::run(command, folder, |_| ())?.expect(code, &what)
    }

    /// Returns true if the tool needs so long that one turn is enough.
    fn is_done(&self) -> bool {
        let turn = self.usages.iter().filter_map(|it| it.first()).map(|it| it.wall);
        turn.sum::<Duration>() > LONG
    }
}

fn take_turn(contender: &mut Contender<'_>) -> Result<()> {
    contender.workload.forget_runs()?;
    let part = contender.part;
    for (index, step) in part.steps.iter().enumerate() {
        if *step == Step::ValidateAgain {
            // Fills the cache.
            contender.run(0, step.arguments())?;
        }
        if *step == Step::PlanMoved {
            contender.workload.write_earlier_state()?;
        }
        let run = contender.step(*step)?;
        if let Err(error) = step.assert(&run, part.shape, &contender.workload) {
            bail!("{} {}: {error:#}", contender.tool.name, title(part.shape, *step, false));
        }
        contender.usages[index].push(run.usage);
    }
    Ok(())
}

fn row(
    scenario: &Scenario,
    shape: Shape,
    step: Step,
    index: usize,
    contenders: &[&Contender<'_>],
) -> Row {
    let budget: Budget = match scenario.is_growth {
        true => budget::of_growth(step, scenario.size),
        false => budget::of(shape, step, scenario.size),
    };
    let (dist, others): (Vec<&Contender<'_>>, Vec<_>) =
        contenders.iter().partition(|it| it.tool.name == "dist");
    let median = |it: &&Contender<'_>| Measured::median(&it.tool.name, &it.usages[index]);
    let figures = others.iter().map(median).collect();
    Row {
        dist: dist.first().map(median),
        base: shape.is_variant().then(|| title(Shape::Flat, step, scenario.is_growth)),
        ..Row::new(title(shape, step, scenario.is_growth), scenario.size, figures, budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenarios_of(arguments: &[&str]) -> Vec<String> {
        let options = Options::parse(arguments).expect("are right").expect("ask for no help");
        all(&options).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn selected_step_includes_the_steps_that_it_needs() {
        assert_eq!(
            scenarios_of(&["--n", "10", "--only", "no changes"]),
            ["apply; plan, no changes; destroy at 10"]
        );
        assert_eq!(
            scenarios_of(&["--n", "2000", "--only", "growth.validate.for_each"]),
            [1_000, 5_000, 20_000].map(|size| format!("growth: validate, for_each at {size}"))
        );
    }

    #[test]
    fn selected_variant_includes_its_base() {
        assert_eq!(
            scenarios_of(&["--n", "2000", "--only", "plan. one hint,validate. one error"]),
            ["validate; plan; validate, one error; plan, one hint at 2000"]
        );
    }

    #[test]
    fn every_shape_is_measured() {
        let scenarios = scenarios_of(&["--n", "1000"]).join("\n");
        for shape in Shape::ALL {
            assert!(scenarios.contains(&title(shape, Step::Plan, false)), "{shape:?}: {scenarios}");
        }
    }

    #[test]
    fn a_state_with_the_wrong_number_of_resources_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("terraform.tfstate");
        let one = r#"{"resources": [{"instances": [{"attributes": {"id": "a"}}]}], "outputs": {"o": {}}}"#;
        fs::write(&path, one).expect("is written");
        assert_state(&path, 1, 1).expect("is right");
        assert_state(&path, 2, 1).expect_err("is wrong");
        assert_state(&path, 1, 2).expect_err("is wrong");
    }
}
