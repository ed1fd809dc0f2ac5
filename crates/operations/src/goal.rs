//! The goal of a plan: its mode, the addresses that limit it, and the objects to replace.

use std::path::{Path, PathBuf};

use addr::{ResourceInstance, ResourceMode, Target, parse_resource_instance, parse_target};
use db::{ByteRange, Diagnostic, Location, SourceText, Sources, Summary};
use state::PlanMode;

use crate::{
    session::{Failure, Session},
    variables::masked_text,
};

/// The flags that determine the goal of a plan, as the user gives them.
#[derive(Clone, Debug)]
pub struct GoalFlags {
    /// True if the command has a goal that the flags do not change, such as that of a saved plan. The flags are only
    /// checked, and `replace` without regard to the mode.
    pub has_own_goal: bool,
    /// True if all objects are planned for destruction (`-destroy`).
    pub destroy: bool,
    /// True if only the state is updated (`-refresh-only`).
    pub refresh_only: bool,
    /// True if objects are read from their providers first (`-refresh`).
    pub refresh: bool,
    /// The addresses of instances to replace (`-replace`).
    pub replace: Vec<String>,
    /// The addresses to which the plan is limited (`-target`).
    pub targets: Vec<String>,
    /// Files with such addresses (`-target-file`).
    pub target_files: Vec<PathBuf>,
    /// The addresses that the plan leaves out (`-exclude`).
    pub excludes: Vec<String>,
    /// Files with such addresses (`-exclude-file`).
    pub exclude_files: Vec<PathBuf>,
}

impl Default for GoalFlags {
    fn default() -> GoalFlags {
        GoalFlags {
            has_own_goal: false,
            destroy: false,
            refresh_only: false,
            refresh: true,
            replace: Vec::new(),
            targets: Vec::new(),
            target_files: Vec::new(),
            excludes: Vec::new(),
            exclude_files: Vec::new(),
        }
    }
}

/// The goal of a plan.
#[derive(Clone, Debug, Default)]
pub struct Goal {
    /// The mode of the plan.
    pub mode: PlanMode,
    /// The addresses to which the plan is limited; empty for no limit.
    pub targets: Vec<Target>,
    /// The addresses that the plan leaves out. Empty if there are targets.
    pub excludes: Vec<Target>,
    /// The instances to replace. Empty in any other mode than the normal one.
    pub replace: Vec<ResourceInstance>,
}

impl Goal {
    /// Checks the flags and parses their addresses.
    ///
    /// # Errors
    /// A diagnostic for each wrong address, for each unreadable file and for flags that exclude each other.
    pub fn new(session: &Session, flags: &GoalFlags) -> Result<Goal, Failure> {
        let mut problems = Problems::default();
        let has_targets = !flags.targets.is_empty() || !flags.target_files.is_empty();
        let has_excludes = !flags.excludes.is_empty() || !flags.exclude_files.is_empty();
        let mut goal = Goal { mode: problems.mode(flags), ..Goal::default() };
        if has_targets && has_excludes {
            let detail = "The target and exclude planning options are mutually-exclusive. Each plan must use either \
                          only the target options or only the exclude options.";
            problems.add(Diagnostic::new(Summary::TARGET_AND_EXCLUDE, detail));
        } else {
            goal.targets = problems.addresses(&flags.targets, "target");
            goal.targets.extend(problems.files(session, &flags.target_files));
            goal.excludes = problems.addresses(&flags.excludes, "exclude");
            goal.excludes.extend(problems.files(session, &flags.exclude_files));
        }
        let replace_mode = if flags.has_own_goal { PlanMode::Normal } else { goal.mode };
        goal.replace = problems.replaced(&flags.replace, replace_mode);
        problems.end(goal)
    }
}

/// The errors in flags, with the files that they refer to.
#[derive(Default)]
struct Problems {
    found: Vec<Diagnostic>,
    files: Vec<SourceText>,
}

impl Problems {
    fn add(&mut self, problem: Diagnostic) {
        self.found.push(problem);
    }

    fn end(self, goal: Goal) -> Result<Goal, Failure> {
        match self.found.is_empty() {
            true => Ok(goal),
            false => Err(Failure::Diagnostics(self.found, Sources { files: self.files.into() })),
        }
    }

    fn mode(&mut self, flags: &GoalFlags) -> PlanMode {
        match (flags.destroy, flags.refresh_only) {
            (false, false) => PlanMode::Normal,
            (true, false) => PlanMode::Destroy,
            (true, true) => {
                let detail = "The -destroy and -refresh-only options are mutually-exclusive.";
                self.add(Diagnostic::new(Summary::CONTRADICTING_MODES, detail));
                PlanMode::Destroy
            }
            (false, true) => {
                if !flags.refresh {
                    let detail = "It doesn't make sense to use -refresh-only at the same time as -refresh=false, \
                                  because Mayfly would have nothing to do.";
                    self.add(Diagnostic::new(Summary::CONTRADICTING_REFRESH, detail));
                }
                PlanMode::RefreshOnly
            }
        }
    }

    fn addresses(&mut self, texts: &[String], flag: &str) -> Vec<Target> {
        let mut addresses = Vec::new();
        for text in texts {
            match parse_target(text) {
                Ok(target) => addresses.push(target),
                Err(error) => {
                    let summary = Summary::target_address(flag, format!("{text:?}"));
                    self.add(Diagnostic::new(summary, error.detail));
                }
            }
        }
        addresses
    }

    fn files(&mut self, session: &Session, paths: &[PathBuf]) -> Vec<Target> {
        paths.iter().flat_map(|path| self.file(session, path)).collect()
    }

    /// Reads a file with one address per line. Empty lines and lines that begin with `#` are ignored.
    fn file(&mut self, session: &Session, path: &Path) -> Vec<Target> {
        let name = path.display().to_string();
        let bytes = match session.system.read_file_or_pipe(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let detail = format!(
                    "{name} cannot be read: {error}. It must have one resource address per line."
                );
                self.add(Diagnostic::new(Summary::UNREADABLE_FILE, detail));
                return Vec::new();
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let detail =
                format!("{name} is not text in UTF-8. It must have one resource address per line.");
            self.add(Diagnostic::new(Summary::UNREADABLE_FILE, detail));
            return Vec::new();
        };
        let before = self.found.len();
        let addresses = self.lines(&text, &name);
        if self.found.len() > before {
            self.files.push(masked_text(path, &text));
        }
        addresses
    }

    fn lines(&mut self, text: &str, path: &str) -> Vec<Target> {
        let mut addresses = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let address = line.trim();
            let at = start + (line.len() - line.trim_start().len());
            start += line.len();
            if address.is_empty() || address.starts_with('#') {
                continue;
            }
            match parse_target(address) {
                Ok(target) => addresses.push(target),
                Err(error) => {
                    let offset = |it: usize| u32::try_from(at + it).unwrap_or(u32::MAX);
                    let range =
                        ByteRange { start: offset(error.span.start), end: offset(error.span.end) };
                    let problem =
                        Diagnostic::new(Summary::address_fault(error.summary), error.detail);
                    self.add(problem.at(Some(Location { path: path.into(), range })));
                }
            }
        }
        addresses
    }

    /// Parses the addresses of instances to replace.
    fn replaced(&mut self, texts: &[String], mode: PlanMode) -> Vec<ResourceInstance> {
        if !texts.is_empty() && mode != PlanMode::Normal {
            let detail = "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning \
                          mode.";
            self.add(Diagnostic::new(Summary::REPLACE_IN_MODE, detail));
            return Vec::new();
        }
        let mut instances = Vec::new();
        for text in texts {
            let summary = || Summary::force_replace_address(format!("{text:?}"));
            match parse_resource_instance(text) {
                Ok(instance) if instance.resource.mode == ResourceMode::Managed => {
                    instances.push(instance);
                }
                Ok(_) => {
                    let detail = "Only managed resources can be used with the -replace=... option.";
                    self.add(Diagnostic::new(summary(), detail));
                }
                Err(error) => self.add(Diagnostic::new(summary(), error.detail)),
            }
        }
        instances
    }
}
