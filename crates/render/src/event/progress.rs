//! The lines that show how far a run is, and how far downloads are.

use std::time::Duration;

/// The counts of a run.
#[derive(Clone, Copy, Debug)]
pub struct ProgressLine {
    /// True for an apply, whose steps are changes. The steps of a plan are refreshed objects.
    pub is_apply: bool,
    /// The number of steps that have ended.
    pub done: usize,
    /// The number of all steps. `None` if it is not known.
    pub expected: Option<usize>,
    /// The number of steps that run now.
    pub running: usize,
    /// The time since the begin.
    pub elapsed: Duration,
}

/// The least number of steps, and the least time, from which the remaining time is estimated.
const ENOUGH_STEPS: usize = 3;
const ENOUGH_TIME: Duration = Duration::from_secs(3);

/// Returns the line. Empty if nothing is left to do.
pub fn progress_line(line: &ProgressLine) -> String {
    if line.running == 0 && line.expected.is_some_and(|all| line.done >= all) {
        return String::new();
    }
    let (verb, noun) =
        if line.is_apply { ("Applying", "change") } else { ("Refreshing", "object") };
    let mut text = match line.expected.filter(|all| line.done <= *all) {
        Some(1) => format!("{verb}: {} of 1 {noun}", line.done),
        Some(all) => {
            let percent = line.done * 100 / all.max(1);
            format!("{verb}: {} of {all} {noun}s ({percent}%)", line.done)
        }
        None => format!("{verb}: {} {noun}s done", line.done),
    };
    if line.running > 0 {
        text.push_str(&format!(", {} running", line.running));
    }
    if let Some(left) = remaining(line) {
        text.push_str(&format!(", about {} left", rounded(left)));
    }
    text
}

/// The time that the remaining steps take if they are as fast as those before. `None` if too little is known.
fn remaining(line: &ProgressLine) -> Option<Duration> {
    let left = line.expected?.checked_sub(line.done).filter(|it| *it > 0)?;
    let is_known = line.done >= ENOUGH_STEPS && line.elapsed >= ENOUGH_TIME;
    is_known.then(|| line.elapsed.mul_f64(left as f64 / line.done as f64))
}

/// A duration as people say it: seconds up to a minute and a half, then minutes, then hours.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64().round().max(1.0) as u64;
    match seconds {
        0..90 => format!("{seconds}s"),
        90..5400 => format!("{}m", (seconds + 30) / 60),
        _ => format!("{}h", (seconds + 1800) / 3600),
    }
}

/// The progress of one download.
#[derive(Clone, Copy, Debug)]
pub struct DownloadProgress<'a> {
    pub name: &'a str,
    /// The received bytes.
    pub received: u64,
    /// The size in bytes. `None` if it is not known.
    pub total: Option<u64>,
}

/// Returns the line for the running downloads. Empty if there are none.
pub fn download_line(downloads: &[DownloadProgress<'_>]) -> String {
    let each =
        downloads.iter().map(|it| format!("{} {}", plain(it.name), bytes(it.received, it.total)));
    let each: Vec<String> = each.collect();
    match downloads {
        [] => String::new(),
        [_] => format!("Downloading {}", each.join("")),
        several => {
            let received = several.iter().map(|it| it.received).sum();
            let total = several.iter().map(|it| it.total).sum();
            let (count, bytes) = (several.len(), bytes(received, total));
            format!("Downloading {count} packages, {bytes}: {}", each.join(", "))
        }
    }
}

/// A number of bytes, and the number of all if it is known.
fn bytes(received: u64, total: Option<u64>) -> String {
    let megabytes = |it: u64| format!("{:.1}", it as f64 / 1e6);
    match total.filter(|it| *it >= received) {
        Some(total) => format!("{} of {} MB", megabytes(received), megabytes(total)),
        None => format!("{} MB", megabytes(received)),
    }
}

/// A name without characters that a terminal would interpret.
fn plain(name: &str) -> String {
    name.chars().filter(|it| !it.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: ProgressLine, expected: &str) {
        assert_eq!(progress_line(&line), expected);
    }

    fn line(done: usize, expected: Option<usize>, running: usize, seconds: u64) -> ProgressLine {
        let elapsed = Duration::from_secs(seconds);
        ProgressLine { is_apply: true, done, expected, running, elapsed }
    }

    #[test]
    fn count_and_estimate_are_shown() {
        check(
            line(12, Some(80), 10, 6),
            "Applying: 12 of 80 changes (15%), 10 running, about 34s left",
        );
        check(line(12, Some(80), 0, 60), "Applying: 12 of 80 changes (15%), about 6m left");
        check(
            line(3, Some(3000), 1, 40),
            "Applying: 3 of 3000 changes (0%), 1 running, about 11h left",
        );
        let plan = ProgressLine { is_apply: false, ..line(5, Some(20), 10, 2) };
        check(plan, "Refreshing: 5 of 20 objects (25%), 10 running");
    }

    #[test]
    fn nothing_is_estimated_without_a_known_number() {
        check(line(0, Some(1), 1, 30), "Applying: 0 of 1 change, 1 running");
        check(line(2, Some(20), 10, 30), "Applying: 2 of 20 changes (10%), 10 running");
        check(line(7, None, 2, 30), "Applying: 7 changes done, 2 running");
        // More steps than expected, if an apply has to read something again.
        check(line(7, Some(5), 2, 30), "Applying: 7 changes done, 2 running");
    }

    #[test]
    fn line_of_downloads_has_their_sum_and_each() {
        let download = |name, received, total| DownloadProgress { name, received, total };
        let (aws, net) = (
            download("hashicorp/aws v5.2.0", 12_340_000, Some(95_000_000)),
            download("net\u{1b}.zip", 250_000, None),
        );
        assert_eq!(download_line(&[]), "");
        assert_eq!(download_line(&[aws]), "Downloading hashicorp/aws v5.2.0 12.3 of 95.0 MB");
        assert_eq!(download_line(&[net]), "Downloading net.zip 0.2 MB");
        assert_eq!(
            download_line(&[aws, aws]),
            "Downloading 2 packages, 24.7 of 190.0 MB: hashicorp/aws v5.2.0 12.3 of 95.0 MB, \
             hashicorp/aws v5.2.0 12.3 of 95.0 MB"
        );
        assert_eq!(
            download_line(&[aws, net]),
            "Downloading 2 packages, 12.6 MB: hashicorp/aws v5.2.0 12.3 of 95.0 MB, net.zip 0.2 MB"
        );
    }

    #[test]
    fn line_ends_with_the_last_step() {
        check(line(80, Some(80), 0, 60), "");
    }
}
