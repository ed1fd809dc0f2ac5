//! Applies the plan that `watch` shows.

use std::sync::{Arc, atomic::Ordering};

use render::WatchView;

use super::{
    LastValidPlan, Watch,
    input::{Input, Key, Reason},
    report::{self, Report},
};
use operations::{apply::Approved, prepare::Prepared, session::Failure, store};

use crate::{
    args::{ApplyArgs, VarArgs},
    exit::Exit,
    operation,
};

impl Watch<'_> {
    /// Asks for approval. Shows a notice instead if there is nothing to apply.
    pub(super) fn ask_to_apply(&mut self) {
        let refused = match &self.good {
            _ if self.is_broken => Some(
                "The plan shown is out of date. Before applying it, correct the errors, or restore \
                 the configuration that it was made from.",
            ),
            None => Some("There is no plan so far."),
            Some(good) if !good.plan.is_applyable => Some("There is nothing to apply."),
            Some(_) => None,
        };
        if let Some(text) = refused {
            return self.report.notice(text);
        }
        if let Report::Screen(terminal) = &self.report {
            let mut terminal = report::lock(terminal);
            terminal.screen.view = WatchView::Confirm(String::new());
            terminal.screen.scroll = 0;
            terminal.draw();
        }
    }

    /// Applies the plan that was on the screen when the question was asked. Returns the reason for the next plan,
    /// if any.
    pub(super) fn apply(&mut self) -> Option<Reason> {
        // A file that was saved since the question makes the approved plan obsolete.
        if let Some(reason) = self.follow() {
            self.replan(reason);
            self.report.notice(
                "A file was saved before the approval, so nothing was applied. Review the new \
                 plan.",
            );
            return None;
        }
        let good = self.good.take()?;
        let problems = self.close();
        if let Report::Screen(terminal) = &self.report {
            report::lock(terminal).show_page_that_stays();
        }
        self.session.ui.diagnostics(&problems, &good.program.sources);
        self.is_applying.store(true, Ordering::Relaxed);
        if let Err(Failure::Diagnostics(found, sources)) = self.carry_out(good) {
            self.session.ui.diagnostics(&found, &sources);
        }
        self.is_applying.store(false, Ordering::Relaxed);
        self.wait_for_a_key();
        if let Report::Screen(terminal) = &self.report {
            report::lock(terminal).enter();
        }
        // The apply has changed the state, and may have changed other files.
        self.configuration.follow(self.session);
        Some(Reason::Refresh)
    }

    fn carry_out(&mut self, good: LastValidPlan) -> Result<Exit, Failure> {
        super::verified(self.session)?;
        let open = store::open(self.session, &self.args.state.options(), store::Purpose::Apply)?;
        let current = open.exists().then_some(&open.file);
        if let Err(stale) = engine::check_plan_is_current(&good.plan.prior_state, current) {
            open.close(self.session)?;
            return Err((*stale).into());
        }
        let LastValidPlan { plan, refreshed, program, values, warnings } = good;
        let prepared = Prepared {
            executables: self.configuration.executables(self.session),
            ephemeral_inputs: self.configuration.ephemeral_inputs(),
            program,
            values,
            shown: warnings,
            source_files: Vec::new(),
        };
        let args = ApplyArgs {
            view: self.args.view.clone(),
            vars: VarArgs::default(),
            state: self.args.state.clone(),
            operation: self.args.operation.clone(),
            auto_approve: true,
            suppress_forget_errors: false,
            plan_file: None,
            is_destroy: false,
            is_refresh: false,
        };
        let files = Arc::clone(&self.files);
        let approved = Approved { prepared, plan, refreshed, files };
        operation::carry_out(self.session, &args, approved, open)
    }

    fn wait_for_a_key(&mut self) {
        // Discard the keys pressed during the apply, so that only a key pressed after the question counts.
        while self.inputs.try_recv().is_ok() {}
        self.session.ui.print("\nPress Enter to continue watching. ");
        let (session, inputs) = (self.session, &mut self.inputs);
        session.runtime.block_on(async {
            loop {
                tokio::select! {
                    () = session.cancel.reached(engine::CancelLevel::Stopping) => return,
                    input = inputs.recv() => match input {
                        None | Some(Input::Key(Key::Enter | Key::Quit)) => return,
                        Some(_) => {}
                    }
                }
            }
        });
    }
}
