//! The end of a file: destroys what its runs created, the newest state first.

use std::{path::Path, sync::Arc};

use addr::ResourceMode;
use db::{Diagnostic, Summary};
use engine::PlanOutcome;
use state::{PlanMode, State, StateFile};

use crate::{
    goal::Goal,
    plan::end_temp,
    private_file::{self, Durable},
    temp::TempFiles,
    test::{
        Cleanup,
        execution::{FileRun, FileState, LastRun},
        interrupt::{addresses, interrupted},
    },
};

impl FileRun<'_> {
    /// Destroys the states of the file, and shows the end of each.
    pub(super) fn clean_up(&mut self, show: &mut dyn FnMut(&Cleanup)) {
        let states = std::mem::take(&mut self.states);
        let with_run = |it: FileState| it.last.map(|last| (it.state, last));
        let mut states: Vec<(State, LastRun)> = states.into_values().filter_map(with_run).collect();
        states.sort_by_key(|(_, last)| std::cmp::Reverse(last.index));
        for (state, last) in states {
            show(&self.destroy(state, &last));
        }
    }

    /// Destroys everything in a state. After a second interrupt, only saves it.
    fn destroy(&self, state: State, last: &LastRun) -> Cleanup {
        let mut cleanup = Cleanup {
            file: Arc::clone(&self.file.path),
            run: last.name.clone(),
            diagnostics: Vec::new(),
            sources: last.program.sources.clone(),
            left: Vec::new(),
            saved_in: None,
            problem: None,
        };
        let is_left = state.is_empty() || self.interrupts.is_aborting();
        let state = match is_left {
            true => state,
            false => self.destroy_objects(state, &mut cleanup.diagnostics, last),
        };
        if has_managed_objects(&state) {
            let name = self.free_name();
            cleanup.problem = self.save(&state, &name);
            cleanup.saved_in = Some(name);
        }
        cleanup.left = addresses(&state);
        cleanup
    }

    /// Destroys the objects of a state, and returns the state afterwards.
    fn destroy_objects(
        &self,
        state: State,
        diagnostics: &mut Vec<Diagnostic>,
        last: &LastRun,
    ) -> State {
        let files = TempFiles::new(self.session);
        let environment = self.environment(&last.tested, &last.program, Some(&files));
        let goal = Goal { mode: PlanMode::Destroy, ..Goal::default() };
        let request = self.plan_options(&files, goal);
        let runtime = &self.session.runtime;
        let mut left = state.clone();
        let values = last.values.clone();
        let plan = engine::plan(&last.program, state, values, &environment, request);
        let planned = runtime.block_on(plan);
        let has_errors = planned.has_errors();
        let PlanOutcome { plan, refreshed, diagnostics: found, .. } = planned;
        diagnostics.extend(found);
        if !has_errors {
            let options = self.apply_options();
            let values = last.values.clone();
            let apply =
                engine::apply(&last.program, &plan, refreshed, values, &environment, options);
            let applied = runtime.block_on(apply);
            diagnostics.extend(applied.diagnostics);
            left = applied.state;
        }
        if self.interrupts.is_aborting() {
            diagnostics.push(interrupted());
        }
        end_temp(self.session, &files, false);
        left
    }

    /// The name of a file for objects that are left. An existing file has those of another state, and is kept.
    fn free_name(&self) -> String {
        let numbered = (2..).map(|number| format!("errored_test.{number}.tfstate"));
        let mut names = std::iter::once("errored_test.tfstate".to_owned()).chain(numbered);
        let is_free = |name: &String| !self.session.system.is_file(Path::new(name));
        names.find(is_free).unwrap_or_default()
    }

    /// Writes the objects that are left to a file. Returns the reason if that fails.
    fn save(&self, state: &State, name: &str) -> Option<Diagnostic> {
        let failed = |reason: String| {
            let detail = format!(
                "The objects that the test could not destroy were not written to {name}: {reason}. \
                 Destroy them by hand."
            );
            Diagnostic::new(Summary::TEST_STATE_NOT_SAVED, detail)
        };
        let mut file = StateFile::new(uuid::Uuid::new_v4().to_string());
        (file.state, file.serial) = (state.clone(), 1);
        let written = file.write().map_err(|error| error.to_string()).and_then(|bytes| {
            private_file::write(&self.session.at(name), &bytes, Durable::Yes)
                .map_err(|error| error.to_string())
        });
        written.err().map(failed)
    }
}

/// Returns true if a state has an object of a managed resource.
fn has_managed_objects(state: &State) -> bool {
    state
        .instances()
        .any(|it| it.address.resource.mode == ResourceMode::Managed && !it.instance.is_empty())
}
