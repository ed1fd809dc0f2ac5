//! The progress of a run, counted from its events, and that of downloads.

use std::time::{Duration, Instant};

use engine::Event;
use operations::view::Run;
use packages::Download;
use render::{DownloadProgress, ProgressLine};

/// A run that takes less time shows no progress. Neither do downloads.
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

/// The shortest time between two lines of downloads.
const PAUSE: Duration = Duration::from_millis(100);

/// The line of the downloads.
#[derive(Default)]
pub(crate) struct DownloadLine {
    /// The time from which at least one download has been running.
    begun: Option<Instant>,
    /// The time of the last line. `None` if there is no line.
    drawn: Option<Instant>,
}

impl DownloadLine {
    /// Returns the line to show for the running downloads; `None` if it stays as it is.
    pub(crate) fn observe(&mut self, running: &[Download], now: Instant) -> Option<String> {
        if running.is_empty() {
            self.begun = None;
            return self.drawn.take().map(|_| String::new());
        }
        let begun = *self.begun.get_or_insert(now);
        let is_late = |it: Instant| now.duration_since(it) >= PAUSE;
        if now.duration_since(begun) < PATIENCE || !self.drawn.is_none_or(is_late) {
            return None;
        }
        self.drawn = Some(now);
        let running: Vec<DownloadProgress<'_>> = running.iter().map(progress_of).collect();
        Some(render::download_line(&running))
    }
}

fn progress_of(download: &Download) -> DownloadProgress<'_> {
    let Download { name, received, total, .. } = download;
    DownloadProgress { name, received: *received, total: *total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_are_shown_after_a_while_and_not_too_often() {
        let (mut line, begin) = (DownloadLine::default(), Instant::now());
        let mut at = |milliseconds, running: &[Download]| {
            line.observe(running, begin + Duration::from_millis(milliseconds))
        };
        let running = [Download::new("a/b v1.0.0")];
        let shown = Some("Downloading a/b v1.0.0 0.0 MB".to_owned());
        assert_eq!(at(0, &running), None);
        assert_eq!(at(999, &running), None);
        assert_eq!(at(1000, &running), shown);
        assert_eq!(at(1050, &running), None);
        assert_eq!(at(1100, &running), shown);
        assert_eq!(at(1110, &[]), Some(String::new()));
        assert_eq!(at(1120, &[]), None);
        // A short download is not shown.
        assert_eq!(at(5000, &running), None);
        assert_eq!(at(5900, &[]), None);
    }
}
