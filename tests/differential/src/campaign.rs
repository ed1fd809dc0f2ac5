//! A campaign: many cases, several in parallel.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use crate::{
    answers::{self, Reference},
    compare::{self, Difference},
    explained::{self, Around, Checked},
    figures::Figures,
    generate::{self, Vocabulary},
    model::{Case, Step},
    observation::{Observation, REFUSED},
    program::{Bench, Program, SAVED},
    reproducer, shrink,
};

/// The number of cases after which the progress is printed.
const PROGRESS: usize = 100;

/// The file in a campaign's folder with a line for each differing case: its number and the class of the
/// difference.
const DIFFERING: &str = "differing.txt";

/// The numbers of the cases that differed in the last campaign in a folder.
///
/// # Errors
/// If there was no campaign, or its file cannot be read.
pub fn differing(folder: &Path) -> io::Result<Vec<u64>> {
    let lines = fs::read_to_string(folder.join(DIFFERING))?;
    let number = |line: &str| line.split(' ').next()?.parse().ok();
    let mut numbers: Vec<u64> = lines.lines().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The parameters of a campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The seed of the cases.
    pub seed: u64,
    /// The numbers of the cases.
    pub numbers: Vec<u64>,
    /// The number of parallel jobs.
    pub jobs: usize,
    /// The maximal number of smaller cases that are tried for a difference.
    pub attempts: usize,
    /// The features of the generated cases.
    pub vocabulary: Vocabulary,
    /// The reference program.
    pub reference: Program,
    /// The executable of Mayfly.
    pub mayfly: Program,
    /// The folder of the reference's stored answers. `None` if answers are not stored.
    pub answers: Option<PathBuf>,
    /// The folder in which the cases run and their reproducers are written.
    pub folder: PathBuf,
}

/// The outcome of a case.
pub(crate) struct Outcome {
    /// The number of steps that were run.
    pub(crate) steps: usize,
    /// The observations of the reference, one per step.
    pub(crate) reference: Vec<Observation>,
    /// The first difference that no rule explains. Nothing is run after it.
    pub(crate) difference: Option<Difference>,
    /// The names of the rules that explain a difference, and the warnings that only Mayfly reports.
    pub(crate) explained: BTreeSet<&'static str>,
}

struct Shared {
    /// The index of the next number.
    next: AtomicUsize,
    figures: Mutex<Figures>,
    /// The classes with a reproducer.
    classes: Mutex<BTreeSet<String>>,
    /// The open file [`DIFFERING`].
    differing: Mutex<fs::File>,
    begun: Instant,
}

impl Campaign {
    /// Runs all cases. Returns the figures, and the number of cases with an unexplained difference.
    ///
    /// # Errors
    /// If a program cannot be started, or a file cannot be written.
    pub fn run(&self) -> io::Result<(String, usize)> {
        fs::create_dir_all(&self.folder)?;
        let shared = Shared {
            next: AtomicUsize::new(0),
            figures: Mutex::default(),
            classes: Mutex::default(),
            differing: Mutex::new(fs::File::create(self.folder.join(DIFFERING))?),
            begun: Instant::now(),
        };
        let jobs: Vec<usize> = (0..self.jobs.max(1)).collect();
        let ended = parallel::map_on(jobs.len(), &jobs, |&job| self.work(job, &shared));
        ended.into_iter().collect::<io::Result<()>>()?;
        let figures = shared.figures.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((figures.report(shared.begun.elapsed()), figures.differences.values().sum()))
    }

    fn work(&self, job: usize, shared: &Shared) -> io::Result<()> {
        loop {
            let index = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = self.numbers.get(index) else { return Ok(()) };
            let case = generate::case(self.seed, number, &self.vocabulary);
            let answers = self.answers.as_deref();
            let kept = answers.map(|it| answers::file_of(it, self.seed, number, &case));
            let outcome = self.outcome(job, &case, kept)?;
            if let Some(difference) = &outcome.difference {
                writeln!(lock(&shared.differing), "{number} {}", difference.class)?;
            }
            let new = self.count(shared, &case, &outcome);
            if let Some(difference) = new {
                println!("case {number}: {}", difference.class);
                self.reproduce(job, number, case, &difference)?;
            }
            let done = index + 1;
            if done.is_multiple_of(PROGRESS) {
                let figures = lock(&shared.figures);
                let differ: usize = figures.differences.values().sum();
                println!(
                    "{done} of {} cases, {differ} differ, {} s",
                    self.numbers.len(),
                    shared.begun.elapsed().as_secs()
                );
            }
        }
    }

    /// Adds a case to the figures. Returns its difference if it is the first one of its class.
    fn count(&self, shared: &Shared, case: &Case, outcome: &Outcome) -> Option<Difference> {
        let mut figures = lock(&shared.figures);
        figures.add(case, outcome.steps);
        for observation in &outcome.reference {
            *figures.exits.entry(observation.exit.to_string()).or_default() += 1;
            let aspects = ["diagnostics", REFUSED].into_iter();
            for line in aspects.flat_map(|it| observation.strings(it)) {
                *figures.diagnostics.entry(line.to_owned()).or_default() += 1;
            }
        }
        for rule in &outcome.explained {
            *figures.explained.entry((*rule).to_owned()).or_default() += 1;
        }
        let difference = outcome.difference.as_ref()?;
        *figures.differences.entry(difference.class.clone()).or_default() += 1;
        lock(&shared.classes).insert(difference.class.clone()).then(|| difference.clone())
    }

    fn reproduce(&self, job: usize, number: u64, case: Case, found: &Difference) -> io::Result<()> {
        let mut is_same = |case: &Case| {
            let outcome = self.outcome(job, case, None).ok().and_then(|it| it.difference);
            outcome.is_some_and(|it| it.class == found.class)
        };
        let case = shrink::shrunk(case, self.attempts, &mut is_same);
        reproducer::write(&self.folder.join(format!("case-{number}")), &case, found)
    }

    /// Runs a case under both programs until an unexplained difference, or until they leave different states for
    /// the next step. `kept` is the file for the answers of the reference.
    pub(crate) fn outcome(
        &self,
        job: usize,
        case: &Case,
        kept: Option<PathBuf>,
    ) -> io::Result<Outcome> {
        // Both directories have the same name, because a configuration may read it.
        let folder = |side: &str| self.folder.join(format!("job-{job}")).join(side).join("work");
        let mut reference = Reference::new(&self.reference, folder("reference"), case, kept);
        let mut mayfly = Bench::new(&self.mayfly, folder("mayfly"))?;
        let mut outcome = Outcome {
            steps: 0,
            reference: Vec::new(),
            difference: None,
            explained: BTreeSet::new(),
        };
        for (index, step) in case.steps.iter().enumerate() {
            let files = step.files();
            outcome.steps = index + 1;
            let mut a = reference.step(index)?;
            let mut b = mayfly.step(&files, &step.command)?;
            match [&a, &b].map(|it| it.aspects.contains_key(REFUSED)) {
                [true, false] => b = mayfly.refused(&files)?,
                [false, true] => a = reference.refused(index)?,
                _ => {}
            }
            let lines = b.strings("diagnostics");
            outcome.explained.extend(explained::ADVICE.iter().filter(|it| lines.contains(it)));
            let differences = compare::differences(index, &step.command, &a, &b);
            if !differences.is_empty() {
                let checks =
                    [reference.checked(index, a.exit < b.exit)?, checked(&mut mayfly, step)?];
                let around = Around {
                    command: &step.command,
                    planned_by: planned_by(&case.steps[..=index]),
                    files: &files,
                    reference: &a,
                    mayfly: &b,
                    checks,
                };
                for difference in differences {
                    match around.rules(&difference) {
                        Some(rules) => outcome.explained.extend(rules),
                        None => outcome.difference = outcome.difference.or(Some(difference)),
                    }
                }
                let has_saved = step.command.iter().any(|it| it.starts_with("-out="));
                let is_apart = a.aspects.get("state") != b.aspects.get("state")
                    || a.exit != b.exit
                    || has_saved;
                if outcome.difference.is_some() || is_apart {
                    outcome.reference.push(a);
                    break;
                }
            }
            outcome.reference.push(a);
        }
        reference.keep()?;
        Ok(outcome)
    }
}

/// The command that made the plan of the last of these steps: that of the step itself, or the one that saved the plan.
fn planned_by(steps: &[Step]) -> &[String] {
    let Some((step, before)) = steps.split_last() else { return &[] };
    let applies_saved = step.command.iter().any(|it| it == SAVED);
    let saves = |it: &&Step| it.command.iter().any(|it| it.starts_with("-out="));
    let saved = before.iter().rfind(saves).filter(|_| applies_saved);
    &saved.unwrap_or(step).command
}

/// Validates and plans the configuration of a step.
fn checked(bench: &mut Bench<'_>, step: &Step) -> io::Result<Checked> {
    let validation = answers::validation(bench, step)?;
    let run = bench.step(&step.files(), &generate::with_values("plan", step))?;
    Ok(Checked { validation, run })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
