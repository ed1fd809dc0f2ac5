//! The environment of functions in a run: files, time, templates and budgets.

use std::{cell::Cell, path::Path, rc::Rc, sync::Arc};

use db::System;
use hir::SecretParts;
use values::{
    Budget, Str, Value, budget,
    functions::{FunctionEnv, RenderError},
};

use crate::{
    cancel::{CancelLevel, CancelToken},
    temp::TempRoot,
};

/// The environment of functions. They read files through [`System`]. The current time and new identifiers are
/// available only to a run that applies, so that a plan makes no promise that the apply could not keep.
#[derive(Clone)]
pub(crate) struct Functions {
    system: Arc<dyn System>,
    /// True if the run applies.
    acts: bool,
    /// The prefix of the paths of files that only a run creates; `None` in such a run.
    undecided: Option<Str>,
    /// The timestamp of the plan that this run makes or applies.
    plan_time: Option<Str>,
    /// The budget that all evaluations of the run share.
    budget: Rc<Budget>,
    /// True if the console evaluates the expressions.
    pub(crate) is_console: bool,
    /// The current depth of nested templates.
    depth: Rc<Cell<usize>>,
    /// Collects the secrets that expressions use, including those in template files.
    pub(crate) parts: Rc<SecretParts>,
}

impl Functions {
    /// The environment of a run. `acts` is true if the run applies.
    pub(crate) fn new(system: &Arc<dyn System>, acts: bool) -> Functions {
        Functions {
            system: Arc::clone(system),
            acts,
            undecided: None,
            plan_time: None,
            budget: Rc::new(Budget::new(memory_limit(&**system))),
            is_console: false,
            depth: Rc::default(),
            parts: Rc::default(),
        }
    }

    /// Sets that the console evaluates the expressions.
    pub(crate) fn of_console(self) -> Functions {
        Functions { is_console: true, ..self }
    }

    /// Sets the timestamp of the plan. An empty `time` means that it is unknown.
    pub(crate) fn of_plan(self, time: &Str) -> Functions {
        Functions { plan_time: Some(time.clone()).filter(|it| !it.is_empty()), ..self }
    }

    /// Ends evaluations when the user interrupts the run.
    pub(crate) fn until(self, cancel: &CancelToken) -> Functions {
        let cancel = cancel.clone();
        let budget = Budget::new(memory_limit(&*self.system))
            .until(move || cancel.level() >= CancelLevel::Stopping);
        Functions { budget: Rc::new(budget), ..self }
    }

    /// Limits evaluations to a number of steps, for values that were not requested: a slow expression is then
    /// given up.
    pub(crate) fn at_most(self, steps: u64) -> Functions {
        let budget = Budget::new(memory_limit(&*self.system)).with_steps(steps);
        Functions { budget: Rc::new(budget), ..self }
    }

    /// Treats the content of temporary directories as unknown, because there is no plan.
    pub(crate) fn without_plan(self) -> Functions {
        Functions { undecided: Some(TempRoot::without_plan().path().into()), ..self }
    }
}

/// The memory limit for the values of a run: the setting of the environment, or the default.
fn memory_limit(system: &dyn System) -> u64 {
    let set = system.variable(Budget::VARIABLE);
    set.and_then(|text| budget::parse_size(&text)).unwrap_or(Budget::DEFAULT_LIMIT)
}

const TOO_DEEP: &str = "maximum recursion depth";

impl FunctionEnv for Functions {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        self.system.read_file(Path::new(path)).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("no file exists at {path:?}"),
            _ => format!("failed to read {path:?}: {error}"),
        })
    }

    fn file_exists(&self, path: &str) -> Result<bool, String> {
        let path = Path::new(path);
        if self.system.is_directory(path) {
            return Err(format!("{} is a directory, not a file", path.display()));
        }
        if self.system.is_file(path) {
            return Ok(true);
        }
        match self.system.read_file(path) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                Err(format!("{}: {error}", path.display()))
            }
            _ => Ok(false),
        }
    }

    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let entries = self.system.list_directory(Path::new(path));
        let entries = entries.map_err(|error| format!("failed to list {path:?}: {error}"))?;
        Ok(entries.into_iter().map(|entry| (entry.name, entry.is_directory)).collect())
    }

    fn base_directory(&self) -> Option<String> {
        self.system.base_directory().to_str().map(str::to_owned)
    }

    fn home_directory(&self) -> Option<String> {
        self.system.variable("HOME").filter(|home| !home.is_empty())
    }

    fn is_undecided(&self, path: &str) -> bool {
        self.undecided.as_ref().is_some_and(|prefix| path.starts_with(&**prefix))
    }

    fn render_template(
        &self,
        name: &str,
        text: &str,
        variables: &Value,
    ) -> Result<Value, RenderError> {
        /// The deepest nesting of templates, as in OpenTofu.
        const DEEPEST: usize = 1024;
        let depth = self.depth.get();
        if depth > DEEPEST {
            return Err(format!("{TOO_DEEP} {DEEPEST} reached in {name}").into());
        }
        self.depth.set(depth + 1);
        let rendered = crate::template_file::render(self, name, text, variables);
        self.depth.set(depth);
        // Keep only the innermost message: a thousand nested copies of the text around it would hide it.
        rendered.map_err(|error| match error {
            RenderError::Failed(message) => match message.rfind(TOO_DEEP) {
                Some(start) => message[start..].trim_end_matches('.').to_owned().into(),
                None => message.into(),
            },
            exceeded => exceeded,
        })
    }

    fn now(&self) -> Option<String> {
        time_text(&*self.system).filter(|_| self.acts)
    }

    fn plan_time(&self) -> Option<String> {
        self.plan_time.as_deref().map(str::to_owned)
    }

    fn salt(&self) -> Option<[u8; 16]> {
        // All but six bits of a UUID are random, which is enough for a salt.
        self.acts.then(|| uuid::Uuid::new_v4().into_bytes())
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }

    fn uuid(&self) -> Option<String> {
        self.acts.then(|| uuid::Uuid::new_v4().to_string())
    }
}

/// The current time in RFC 3339 format, in whole seconds; `None` if it is out of range.
pub(crate) fn time_text(system: &dyn System) -> Option<String> {
    let now = jiff::Timestamp::try_from(system.now()).ok()?;
    Some(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
