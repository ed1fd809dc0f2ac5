//! The end of a file: destroys what its runs created, the newest state first.

use std::sync::Arc;

use db::Diagnostic;
use durability::recovery;
use engine::{Environment, PlanOutcome};
use state::{PlanMode, State, StateFile};

use crate::{
    goal::Goal,
    plan::end_temp,
    private_file::{self, Durable},
    temp::TempFiles,
    test::{
        Cleanup,
        execution::{FileRun, FileState, LastRun},
        interrupt::interrupted,
        objects::{addresses, has_managed_objects},
        records::{self, StateRecord},
    },
};

/// A state at the end of a file.
struct Ended {
    state: State,
    last: LastRun,
    record: Option<StateRecord>,
}

impl FileRun<'_> {
    /// Destroys the states of the file, and shows the end of each.
    pub(super) fn clean_up(&mut self, show: &mut dyn FnMut(&Cleanup)) {
        let states = std::mem::take(&mut self.states);
        let mut records = std::mem::take(&mut self.records);
        let ended = states.into_iter().filter_map(|(source, it)| {
            let FileState { state, last } = it;
            Some(Ended { record: records.remove(&source), state, last: last? })
        });
        let mut ended: Vec<Ended> = ended.collect();
        sorted::sort_by_key(&mut ended, |it| std::cmp::Reverse(it.last.index));
        for it in ended {
            show(&self.destroy(it));
        }
    }

    /// Destroys everything in a state. After a second interrupt, only saves it.
    fn destroy(&self, ended: Ended) -> Cleanup {
        let Ended { state, last, record } = ended;
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
            false => self.destroy_objects(state, &mut cleanup.diagnostics, &last, record.as_ref()),
        };
        let uncertain = record.as_ref().map(StateRecord::uncertain).unwrap_or_default();
        cleanup.saved_in = (has_managed_objects(&state) || !uncertain.is_empty())
            .then(|| records::free_name(self.session));
        let uncertain = recovery::uncertain(&uncertain, cleanup.saved_in.as_deref());
        cleanup.diagnostics.extend(uncertain);
        cleanup.problem = self.end_record(record, &state, cleanup.saved_in.as_deref());
        cleanup.left = addresses(&state);
        cleanup
    }

    /// Destroys the objects of a state, and returns the state afterwards.
    fn destroy_objects(
        &self,
        state: State,
        diagnostics: &mut Vec<Diagnostic>,
        last: &LastRun,
        record: Option<&StateRecord>,
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
            let environment = match record {
                Some(record) => Environment { journal: record.journal(), ..environment },
                None => environment,
            };
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

    /// Ends the record of a state. With a name, the objects that are left go to the file of this name, also if there is
    /// no record. Returns the reason if that fails.
    fn end_record(
        &self,
        record: Option<StateRecord>,
        state: &State,
        name: Option<&str>,
    ) -> Option<Diagnostic> {
        let Some(record) = record else { return self.save(state, name?) };
        // The state in the record is complete: its journal has what a failed write lacks.
        let _ = name.and_then(|_| record.write(self.session, state));
        let ended = record.end(self.session, name);
        ended.err().map(|error| records::not_kept(name.unwrap_or_default(), &error))
    }

    /// Writes the objects that are left to a file. Returns the reason if that fails.
    fn save(&self, state: &State, name: &str) -> Option<Diagnostic> {
        let mut file = StateFile::new(uuid::Uuid::new_v4().to_string());
        (file.state, file.serial) = (state.clone(), 1);
        let written = file.write().map_err(|error| error.to_string()).and_then(|bytes| {
            private_file::write(&self.session.at(name), &bytes, Durable::Yes)
                .map_err(|error| error.to_string())
        });
        written.err().map(|reason| records::not_kept(name, &reason))
    }
}
