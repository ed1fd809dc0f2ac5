//! The budgets of all measurements.

use std::time::Duration;

use super::{scenario::Step, shape::Shape, workload::Kind};

/// The bounds of one row. `None` means no bound.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Budget {
    /// The minimum speed as a multiple of the fastest reference.
    pub(crate) faster: Option<f64>,
    /// The maximum memory in megabytes.
    pub(crate) megabytes: Option<f64>,
    /// The maximum time in milliseconds.
    pub(crate) milliseconds: Option<f64>,
    /// The maximum time per resource, relative to that at the smallest size.
    pub(crate) growth: Option<f64>,
    /// The maximum memory, relative to that at an earlier time of the same run.
    pub(crate) swelling: Option<f64>,
    /// The maximum time, relative to the row that [`super::report::Row::base`] names.
    pub(crate) slower: Option<f64>,
    /// The maximum memory, relative to that of the reference which needs the least.
    pub(crate) share: Option<f64>,
}

/// The minimum speed of the parser on one core, in megabytes per second.
pub(crate) const PARSE: f64 = 50.0;

/// The minimum speed of the parser on one core, as a multiple of the parser in Go, which parsed 8.7 MB per second on
/// the machine on which [`PARSE`] was set.
pub(crate) const PARSE_FASTER: f64 = PARSE / 8.7;

/// Returns the budget of a step at a size; without bounds if there is none.
pub(crate) fn of(shape: Shape, step: Step, resources: usize) -> Budget {
    let bound = |faster: f64, megabytes: Option<f64>| Budget {
        faster: Some(faster),
        megabytes,
        slower: shape.is_variant().then_some(1.5),
        ..Budget::default()
    };
    let is_builtin = shape.kind() == Kind::Builtin;
    match (step, resources) {
        // Without cached results, a provider validates every resource, and its own time counts too.
        (Step::Validate, 1_000 | 5_000) if !is_builtin => bound(5.0, Some(150.0)),
        (Step::Validate | Step::ValidateAgain, 1_000) => bound(30.0, Some(150.0)),
        (Step::Validate | Step::ValidateAgain, 5_000) => bound(50.0, Some(150.0)),
        (Step::Plan | Step::PlanTargets | Step::PlanMoved, 1_000) if is_builtin => {
            bound(40.0, Some(200.0))
        }
        (Step::Plan | Step::PlanTargets | Step::PlanMoved, 5_000) if is_builtin => {
            bound(80.0, Some(200.0))
        }
        (Step::Apply, 1_000) if is_builtin => bound(10.0, None),
        (Step::Destroy, 1_000) if is_builtin => bound(15.0, None),
        (Step::Plan | Step::Apply, 1_000 | 5_000) => bound(5.0, Some(200.0)),
        _ => Budget::default(),
    }
}

/// Returns the budget of growth: the time per resource relative to the smallest size, and the memory at the
/// largest.
pub(crate) fn of_growth(step: Step, resources: usize) -> Budget {
    let megabytes = match (step, resources) {
        (Step::Validate, 100_000) => Some(1_500.0),
        (Step::Plan, 100_000) => Some(3_000.0),
        _ => None,
    };
    Budget { megabytes, growth: Some(1.3), ..Budget::default() }
}

/// Returns the budget of `fmt`, whether or not it has to write files.
pub(crate) fn of_fmt(resources: usize) -> Budget {
    match resources {
        5_000 => Budget { faster: Some(30.0), megabytes: Some(60.0), ..Budget::default() },
        _ => Budget::default(),
    }
}

/// Returns the budget of an edit while `watch` runs. It bounds only the work of Mayfly itself, so there is none
/// with a plugin.
pub(crate) fn of_watch(kind: Kind, resources: usize) -> Budget {
    let milliseconds = (kind == Kind::Builtin && resources <= 5_000).then_some(50.0);
    Budget { milliseconds, ..Budget::default() }
}

/// Returns the budget of `validate` if all results of the provider are cached.
pub(crate) fn of_unchanged_provider() -> Budget {
    Budget { milliseconds: Some(150.0), megabytes: Some(120.0), ..Budget::default() }
}

/// Returns the budget of `validate` if the provider has to validate one block: the start time of the provider, and
/// a little more.
pub(crate) fn of_changed_block(start: Duration) -> Budget {
    let milliseconds = start.as_secs_f64() * 1000.0 + 200.0;
    Budget { milliseconds: Some(milliseconds), ..Budget::default() }
}

/// Returns the budget of a plan with several configurations of the AWS provider.
pub(crate) fn of_aliases() -> Budget {
    Budget { faster: Some(2.0), share: Some(1.0), ..Budget::default() }
}

/// Returns the budget of `init` of many providers.
pub(crate) fn of_init() -> Budget {
    Budget { faster: Some(1.0), share: Some(1.0 / 3.0), ..Budget::default() }
}

/// The measurements of the language server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lsp {
    /// From the start of the process to the first diagnostics.
    Cold,
    /// From a keystroke to the diagnostics of the file.
    Key,
    /// From a keystroke to the diagnostics of the file, if all resources are in one file.
    KeyInOneFile,
    /// From a keystroke to the diagnostics of a file that is not open.
    Module,
    /// The memory after many keystrokes.
    Memory,
}

impl Lsp {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Lsp::Cold => "lsp: start to first diagnostics",
            Lsp::Key => "lsp: key to diagnostics",
            Lsp::KeyInOneFile => "lsp: key to diagnostics, one file",
            Lsp::Module => "lsp: key to the whole module",
            Lsp::Memory => "lsp: memory after 100,000 keys",
        }
    }
}

/// Returns the budget of the language server; `name` selects the percentile.
pub(crate) fn of_lsp(what: Lsp, name: &str, resources: usize) -> Budget {
    let is_large = resources > 5_000;
    let milliseconds = match (what, name) {
        (Lsp::Cold, _) if !is_large => Some(500.0),
        (Lsp::Key, ", p50") if !is_large => Some(5.0),
        (Lsp::Key | Lsp::KeyInOneFile, ", p99") => Some(20.0),
        (Lsp::Module, _) if is_large => Some(1_000.0),
        (Lsp::Module, _) => Some(60.0),
        _ => None,
    };
    let swelling = (what == Lsp::Memory).then_some(1.1);
    Budget { milliseconds, swelling, ..Budget::default() }
}
