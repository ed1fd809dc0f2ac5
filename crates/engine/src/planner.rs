//! Planning again and again: after each edit only what it touched runs.
//!
//! ```text
//!   plan ─► wait ─► plan ─► wait ─► … ─► close
//!     │       └─ renews what is open; after idle minutes ends and closes everything
//!     └─ leaves processes running, and open what their configurations were made from
//! ```
//!
//! **Invariant:** an ephemeral resource outlives a plan only while a process lives that was configured with it.
//! **Invariant:** as long as a process lives that was told a secret, the redactor knows that secret.

use std::{path::PathBuf, pin::pin, rc::Rc, sync::Arc, time::Duration};

use db::Diagnostic;
use futures::{FutureExt, future::FusedFuture};
use hir::Program;
use state::State;
use tokio::time::Instant;

use crate::{
    files::Observed,
    memo::Memo,
    plan::{Leftovers, Request, plan_with},
    pool::Kept,
    request::{Environment, PlanOptions, PlanOutcome},
    temp::TempRoot,
    variables::VariableValues,
    walk::{Phase, Settings, Walk, WalkInput},
};

/// Without a plan for so long, nothing is kept running or open.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// Plans one configuration after each change of it. What did not change is neither computed nor sent to a provider
/// again.
///
/// Objects are read when they are first planned, and again after [`Planner::read_again`].
pub struct Planner {
    memo: Memo,
    kept: Kept,
    leftovers: Leftovers,
    /// The program of the last plan, where problems of what is open are shown.
    program: Option<Arc<Program>>,
    /// Through which functions read files.
    files: Option<Arc<Observed>>,
    /// When the last plan ended.
    planned: Instant,
}

impl Default for Planner {
    fn default() -> Planner {
        Planner::new()
    }
}

impl Planner {
    /// Remembers nothing: the first plan is like any other.
    pub fn new() -> Planner {
        Planner {
            memo: Memo::new(),
            kept: Kept::default(),
            leftovers: Leftovers::default(),
            program: None,
            files: None,
            planned: Instant::now(),
        }
    }

    /// Plans, as [`plan`](crate::plan()) does. Run it to its end: what is dropped in between cannot be closed.
    pub async fn plan(
        &mut self,
        program: &Arc<Program>,
        prior: State,
        variables: VariableValues,
        environment: &Environment,
        options: PlanOptions,
    ) -> PlanOutcome {
        let environment = &self.observing(environment);
        self.leftovers.remains.clear();
        self.leftovers.kept = Some(std::mem::take(&mut self.kept));
        let observed = None;
        let request = Request { program, prior, variables, environment, options, observed };
        let mut outcome = plan_with(request, &mut self.memo, &mut self.leftovers).await;
        self.kept = self.leftovers.kept.take().unwrap_or_default();
        self.program = Some(Arc::clone(program));
        self.planned = Instant::now();
        // Secrets that nobody can look for any more must not go on being told.
        if environment.redactor.is_full() {
            outcome.diagnostics.extend(self.close(environment).await);
        }
        self.forget_secrets(environment);
        outcome
    }

    /// The environment with the files under observation. If one that a function read is another now, everything is computed
    /// again.
    fn observing(&mut self, environment: &Environment) -> Environment {
        let new = || Arc::new(Observed::new(Arc::clone(&environment.system)));
        let files = Arc::clone(self.files.get_or_insert_with(new));
        if !files.is_as_before() {
            files.forget();
            self.memo.compute_again();
        }
        Environment { system: files, ..environment.clone() }
    }

    /// Whether a file that a function read is another now.
    pub fn files_differ(&self) -> bool {
        self.files.as_ref().is_some_and(|files| !files.is_as_before())
    }

    /// The files and directories that functions have read: another text in them is another plan.
    pub fn files_read(&self) -> Vec<PathBuf> {
        self.files.as_ref().map(|files| files.paths()).unwrap_or_default()
    }

    /// How many turns the nodes of the graph had in the last plan: how much of the configuration was walked.
    pub fn turns(&self) -> usize {
        self.leftovers.turns
    }

    /// Lets the next plan read every object and every data source again, and ask for every change.
    pub fn read_again(&mut self) {
        self.memo.forget_instances();
    }

    /// Whether processes or ephemeral resources live on.
    pub fn is_live(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Waits for `until`, and renews meanwhile what is open. Gives also the problems with that.
    pub async fn wait<T>(
        &mut self,
        environment: &Environment,
        until: impl Future<Output = T>,
    ) -> (T, Vec<Diagnostic>) {
        self.leftovers.remains.clear();
        let mut until = pin!(until);
        if !self.is_live() {
            return (until.await, Vec::new());
        }
        let (answer, mut problems) = self.attend(environment, until.as_mut()).await;
        match answer {
            Some(answer) => (answer, problems),
            None => {
                problems.extend(self.close(environment).await);
                (until.await, problems)
            }
        }
    }

    /// Renews until `until` or until it was idle for too long; a renewal that runs then is waited for.
    async fn attend<T>(
        &mut self,
        environment: &Environment,
        mut until: impl Future<Output = T> + Unpin,
    ) -> (Option<T>, Vec<Diagnostic>) {
        let Some(program) = self.program.clone() else { return (Some(until.await), Vec::new()) };
        let walk = idle_walk(&program, environment, &mut self.memo, std::mem::take(&mut self.kept));
        let answer = {
            let mut renewals = pin!(walk.keep_all_open().fuse());
            let mut idle = pin!(tokio::time::sleep_until(self.planned + IDLE));
            let answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut until => break Some(answer),
                    () = &mut idle => break None,
                    () = &mut renewals, if !renewals.is_terminated() => {}
                }
            };
            walk.store.rest();
            if !renewals.is_terminated() {
                renewals.await;
            }
            answer
        };
        self.kept = walk.pool.take_kept();
        (answer, walk.report.take())
    }

    /// Ends all processes and closes everything that is open. The next plan starts them again.
    pub async fn close(&mut self, environment: &Environment) -> Vec<Diagnostic> {
        let Some(program) = self.program.clone().filter(|_| self.is_live()) else {
            return Vec::new();
        };
        let walk = idle_walk(&program, environment, &mut self.memo, std::mem::take(&mut self.kept));
        walk.end_kept().await;
        let problems = walk.report.take();
        drop(walk);
        self.forget_secrets(environment);
        problems
    }

    /// Where nobody lives who knows a secret, nobody looks for one.
    fn forget_secrets(&mut self, environment: &Environment) {
        if self.kept.is_empty() {
            environment.redactor.forget();
            self.memo.forget_secrets();
        }
    }
}

/// A run in which no node runs: it only has what lives on.
fn idle_walk<'a>(
    program: &'a Arc<Program>,
    environment: &'a Environment,
    memo: &'a mut Memo,
    kept: Kept,
) -> Walk<'a> {
    let settings = Settings {
        phase: Phase::Plan,
        refresh: false,
        parallelism: 1,
        applying: false,
        workspace: "".into(),
        replace: Default::default(),
        uncertain: Default::default(),
        temp: TempRoot::without_plan(),
        plan_time: "".into(),
    };
    let input = WalkInput {
        settings,
        variables: VariableValues::new(),
        orders: None,
        import: None,
        previous: Arc::new(State::default()),
        kept: Some(kept),
        templates: Vec::new(),
        state_index: Rc::default(),
    };
    Walk::new(program, environment, memo, input)
}
