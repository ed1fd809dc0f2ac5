//! Repeated planning of one configuration: after each edit, only the affected nodes run.
//!
//! ```text
//!   plan ─► wait ─► plan ─► wait ─► … ─► close
//!     │       └─ renews what is open; after idle minutes ends and closes everything
//!     └─ leaves processes running, and open what their configurations were made from
//! ```
//!
//! **Invariant:** an ephemeral resource outlives a plan only while a process that was configured with it is
//! running.
//! **Invariant:** as long as a process is running that received a secret, the redactor knows that secret.

use std::{path::PathBuf, pin::pin, rc::Rc, sync::Arc, time::Duration};

use db::Diagnostic;
use futures::{
    FutureExt,
    future::{FusedFuture, LocalBoxFuture},
};
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
    walk::context::{Settings, Walk, WalkInput},
};

/// The time without a plan after which all processes are ended and all ephemeral resources closed.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// Plans one configuration after each of its changes. Unchanged parts are neither computed nor sent to a provider
/// again.
///
/// Objects are read when they are first planned, and again after [`Planner::read_again`].
pub struct Planner {
    memo: Memo,
    kept: Kept,
    leftovers: Leftovers,
    /// The program of the last plan, in which diagnostics about open ephemeral resources are located.
    program: Option<Arc<Program>>,
    /// Reads files for functions and records them; `None` before the first plan.
    files: Option<Arc<Observed>>,
    /// The time at which the last plan ended.
    planned: Instant,
    /// True if the redactor forgets its secrets only when the caller says so.
    keeps_secrets: bool,
}

impl Default for Planner {
    fn default() -> Planner {
        Planner::new()
    }
}

impl Planner {
    /// Creates a planner with an empty memo: its first plan runs everything.
    pub fn new() -> Planner {
        Planner {
            memo: Memo::new(),
            kept: Kept::default(),
            leftovers: Leftovers::default(),
            program: None,
            files: None,
            planned: Instant::now(),
            keeps_secrets: false,
        }
    }

    /// Creates a planner for the plans of one command. The redactor keeps the secrets until the command makes it
    /// forget them, because they are searched for after the plan.
    pub fn of_one_command() -> Planner {
        Planner { keeps_secrets: true, ..Planner::new() }
    }

    /// Makes the next plan read files from the system of its environment, which is not that of the last plan. Functions
    /// compute their results again. The answers of providers stay.
    pub fn change_files(&mut self) {
        self.files = None;
        self.memo.compute_again();
    }

    /// Plans, as [`plan`](crate::plan()) does. The future must run to its end: if it is dropped, open ephemeral
    /// resources are not closed.
    pub fn plan<'r>(
        &'r mut self,
        program: &'r Arc<Program>,
        prior: State,
        variables: VariableValues,
        environment: &'r Environment,
        options: PlanOptions,
    ) -> LocalBoxFuture<'r, PlanOutcome> {
        Box::pin(self.plan_again(program, prior, variables, environment, options))
    }

    async fn plan_again(
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
        let observed = self.files.clone().filter(|_| options.writes.is_saved);
        let request = Request { program, prior, variables, environment, options, observed };
        let mut outcome = plan_with(request, &mut self.memo, &mut self.leftovers).await;
        self.kept = self.leftovers.kept.take().unwrap_or_default();
        self.program = Some(Arc::clone(program));
        self.planned = Instant::now();
        // The redactor cannot search for further secrets, so no process may go on receiving them.
        if environment.redactor.is_full() {
            outcome.diagnostics.extend(self.close(environment).await);
        }
        self.forget_secrets(environment);
        outcome
    }

    /// Returns the environment with its files under observation. If a file that a function read has changed, the
    /// next plan computes everything again.
    fn observing(&mut self, environment: &Environment) -> Environment {
        let new = || Arc::new(Observed::new(Arc::clone(&environment.system)));
        let files = Arc::clone(self.files.get_or_insert_with(new));
        if !files.is_as_before() {
            files.forget();
            self.memo.compute_again();
        }
        Environment { system: files, ..environment.clone() }
    }

    /// Returns true if a file that a function read has changed.
    pub fn files_differ(&self) -> bool {
        self.files.as_ref().is_some_and(|files| !files.is_as_before())
    }

    /// The files and directories that functions have read. If their content changes, the plan may change.
    pub fn files_read(&self) -> Vec<PathBuf> {
        self.files.as_ref().map(|files| files.paths()).unwrap_or_default()
    }

    /// The number of turns that nodes had in the last plan: a measure of how much of the configuration ran.
    pub fn turns(&self) -> usize {
        self.leftovers.turns
    }

    /// Makes the next plan read every object and every data source again, and ask providers for every change
    /// again.
    pub fn read_again(&mut self) {
        self.memo.forget_objects();
    }

    /// Returns true if provider processes or ephemeral resources are kept.
    pub fn is_live(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Waits for `until`, and meanwhile renews open ephemeral resources. Returns the output of `until` and the
    /// diagnostics of the renewals.
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

    /// Renews open ephemeral resources until `until` is done, or until the planner was idle for too long and the
    /// output is `None`. Waits for a renewal that is running then.
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

    /// Ends all processes and closes all ephemeral resources. The next plan starts them again. Returns the
    /// diagnostics.
    pub fn close<'r>(
        &'r mut self,
        environment: &'r Environment,
    ) -> LocalBoxFuture<'r, Vec<Diagnostic>> {
        Box::pin(self.close_all(environment))
    }

    async fn close_all(&mut self, environment: &Environment) -> Vec<Diagnostic> {
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

    /// Forgets all secrets if no process is left that knows one.
    fn forget_secrets(&mut self, environment: &Environment) {
        if self.kept.is_empty() && !self.keeps_secrets {
            environment.redactor.forget();
            self.memo.forget_secrets();
        }
    }
}

/// A run without nodes that holds only what is kept between plans.
fn idle_walk<'a>(
    program: &'a Arc<Program>,
    environment: &'a Environment,
    memo: &'a mut Memo,
    kept: Kept,
) -> Walk<'a> {
    let settings = Settings {
        parallelism: 1,
        applying: false,
        workspace: "".into(),
        temp: TempRoot::without_plan(),
        is_refresh_only: false,
        plan_time: "".into(),
    };
    let input = WalkInput {
        settings,
        variables: VariableValues::new(),
        acts: false,
        observed: None,
        previous: Arc::new(State::default()),
        kept: Some(kept),
        templates: Vec::new(),
        state_index: Rc::default(),
    };
    Walk::new(program, environment, memo, input)
}
