//! The reference program in a case. Its answers can be stored, so that a repeated campaign needs to run only
//! Mayfly.
//!
//! One file stores the answers for one case. Its name contains the seed, the number and a digest of the steps: a
//! change of the generator changes the case, and then the reference runs again. Answers of different reference
//! programs belong in different folders.

use std::{
    collections::BTreeMap,
    fmt, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value as Json};

use crate::{
    explained::Checked,
    generate,
    model::{Case, Step},
    observation::{Observation, PLAN},
    program::{Bench, Program},
};

/// A question to the reference about a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    /// Runs the command of the step.
    Run,
    /// See [`Bench::refused`].
    Refuse,
    Validate,
    Plan,
    Apply,
}

impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Question::Run => "run",
            Question::Refuse => "refuse",
            Question::Validate => "validate",
            Question::Plan => "plan",
            Question::Apply => "apply",
        })
    }
}

/// The reference program in a case.
pub(crate) struct Reference<'a> {
    program: &'a Program,
    /// The folder in which the reference runs.
    folder: PathBuf,
    case: &'a Case,
    /// The file of the stored answers. `None` if answers are not stored.
    file: Option<PathBuf>,
    /// The answers, by the index of the step and the question.
    answers: BTreeMap<String, Observation>,
    /// The bench of the reference. `None` until an answer is missing.
    bench: Option<Bench<'a>>,
    /// The number of steps that were run in [`Reference::bench`].
    steps: usize,
    has_new: bool,
}

impl<'a> Reference<'a> {
    /// Creates the reference of a case. `file` is the result of [`file_of`].
    pub(crate) fn new(
        program: &'a Program,
        folder: PathBuf,
        case: &'a Case,
        file: Option<PathBuf>,
    ) -> Reference<'a> {
        let answers = file.as_deref().and_then(read).unwrap_or_default();
        let (bench, steps, has_new) = (None, 0, false);
        Reference { program, folder, case, file, answers, bench, steps, has_new }
    }

    /// See [`Bench::step`].
    pub(crate) fn step(&mut self, index: usize) -> io::Result<Observation> {
        self.ask(index, Question::Run)
    }

    /// See [`Bench::refused`].
    pub(crate) fn refused(&mut self, index: usize) -> io::Result<Observation> {
        self.ask(index, Question::Refuse)
    }

    /// Validates and plans the configuration of a step. If `may_apply` is set, also applies a successful plan;
    /// then no further step may follow.
    pub(crate) fn checked(&mut self, index: usize, may_apply: bool) -> io::Result<Checked> {
        let validation = self.ask(index, Question::Validate)?;
        let mut run = self.ask(index, Question::Plan)?;
        if run.exit == 0 && may_apply {
            let plan = run.aspects.remove(PLAN);
            run = self.ask(index, Question::Apply)?;
            run.aspects.extend(plan.map(|it| (PLAN.to_owned(), it)));
        }
        Ok(Checked { validation, run })
    }

    fn ask(&mut self, index: usize, question: Question) -> io::Result<Observation> {
        let key = format!("{index} {question}");
        if let Some(known) = self.answers.get(&key) {
            return Ok(known.clone());
        }
        let (case, step) = (self.case, &self.case.steps[index]);
        let bench = match &mut self.bench {
            Some(bench) => bench,
            none => none.insert(Bench::new(self.program, self.folder.clone())?),
        };
        // Steps with a stored answer were not run in this directory yet.
        let before = if question == Question::Run { index } else { index + 1 };
        for step in case.steps.get(self.steps..before).unwrap_or_default() {
            bench.step(&step.files(), &step.command)?;
        }
        self.steps = self.steps.max(index + 1);
        let answer = match question {
            Question::Run => bench.step(&step.files(), &step.command)?,
            Question::Refuse => bench.refused(&step.files())?,
            Question::Validate => validation(bench, step)?,
            Question::Plan => bench.step(&step.files(), &plan(step))?,
            Question::Apply => bench.step(&step.files(), &generate::with_values("apply", step))?,
        };
        self.answers.insert(key, answer.clone());
        self.has_new = true;
        Ok(answer)
    }

    /// Stores the answers.
    pub(crate) fn keep(self) -> io::Result<()> {
        let Some(file) = self.file.filter(|_| self.has_new) else { return Ok(()) };
        let answers: Map<String, Json> =
            self.answers.iter().map(|(key, it)| (key.clone(), it.to_json())).collect();
        // An interrupted campaign must not leave a partial file.
        let beside = file.with_extension("new");
        fs::write(&beside, serde_json::to_string(&answers)?)?;
        fs::rename(beside, file)
    }
}

/// The command that plans the configuration of a step, and saves the plan apart from those of the sequence.
fn plan(step: &Step) -> Vec<String> {
    let mut command = generate::with_values("plan", step);
    command.push("-out=checked.tfplan".to_owned());
    command
}

/// Runs `validate` on the configuration of a step.
pub(crate) fn validation(bench: &mut Bench<'_>, step: &Step) -> io::Result<Observation> {
    bench.step(&step.files(), &["validate".to_owned(), "-json".to_owned()])
}

/// The file for the answers of a case.
pub(crate) fn file_of(folder: &Path, seed: u64, number: u64, case: &Case) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    for step in &case.steps {
        (step.files(), &step.command).hash(&mut hasher);
    }
    folder.join(format!("{seed}-{number}-{:016x}.json", hasher.finish()))
}

/// Reads stored answers. `None` if the file does not exist or is invalid.
fn read(file: &Path) -> Option<BTreeMap<String, Observation>> {
    let json: Map<String, Json> = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    Some(json.iter().map(|(key, it)| (key.clone(), Observation::from_json(it))).collect())
}
