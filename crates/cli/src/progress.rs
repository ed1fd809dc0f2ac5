//! The progress of a run, counted from its events.

use std::time::{Duration, Instant};

use engine::Event;
use operations::view::Run;
use render::ProgressLine;

/// A run that takes less time shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The counts of a run.
#[derive(Default)]
pub(crate) struct Progress {
    /// The begin of the run. `None` if no run is shown.
    begun: Option<Instant>,
    /// The number of all steps. `None` if it is not known.
    expected: Option<usize>,
    done: usize,
    running: usize,
}

impl Progress {
    /// Begins to count the steps of a run.
    pub(crate) fn begin(&mut self, expected: Option<usize>) {
        *self = Progress { begun: Some(Instant::now()), expected, ..Progress::default() };
    }

    /// Counts an event. Returns the line to show; `None` if it stays as it is.
    pub(crate) fn observe(&mut self, run: Run, event: &Event) -> Option<String> {
        let begun = self.begun?;
        let is_apply = run == Run::Apply;
        match event {
            Event::RefreshStart { .. } if !is_apply => self.running += 1,
            Event::RefreshComplete { .. } if !is_apply => self.end_step(),
            Event::ApplyStart { .. } if is_apply => self.running += 1,
            Event::ApplyComplete { .. } | Event::ApplyErrored { .. } if is_apply => self.end_step(),
            Event::ApplyProgress { .. } if is_apply => {}
            _ => return None,
        }
        let elapsed = begun.elapsed();
        let (done, expected, running) = (self.done, self.expected, self.running);
        let line = ProgressLine { is_apply, done, expected, running, elapsed };
        (elapsed >= PATIENCE).then(|| render::progress_line(&line))
    }

    fn end_step(&mut self) {
        self.running = self.running.saturating_sub(1);
        self.done += 1;
    }
}
