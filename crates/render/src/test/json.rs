//! The results of a test as lines of JSON.

use db::{Diagnostic, Severity, Sources};
use serde_json::{Map, Value as Json, json};

use crate::{
    event::json::{Line, diagnostic_line_of},
    plan::json::{PlanJson, plan_document},
    state::json::{StateJson, document as state_document},
    test::{
        InterruptedTest, LeftObjects, TestCounts, TestPlace, TestStatus, conclusion, identifier,
        left_words,
    },
};

impl Line {
    /// Adds the place of a test.
    fn of_test(self, place: TestPlace<'_>) -> Line {
        let line = self.with("@testfile", place.file.into());
        match place.run {
            Some(run) => line.with("@testrun", run.into()),
            None => line,
        }
    }
}

/// The files of a test with the names of their runs.
pub fn test_abstract_json(files: &[(&str, Vec<&str>)], timestamp: &str) -> String {
    let runs: usize = files.iter().map(|(_, runs)| runs.len()).sum();
    let noun = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let message = format!("Found {} and {}", noun(files.len(), "file"), noun(runs, "run block"));
    let names = |runs: &[&str]| match runs.is_empty() {
        true => Json::Null,
        false => runs.iter().map(|it| Json::from(*it)).collect(),
    };
    let mut listed: Map<String, Json> =
        files.iter().map(|(file, runs)| ((*file).to_owned(), names(runs))).collect();
    listed.sort_keys();
    Line::new("test_abstract", message, timestamp)
        .with("test_abstract", Json::Object(listed))
        .finish()
}

/// The result of a file.
pub fn test_file_json(path: &str, status: TestStatus, timestamp: &str) -> String {
    let place = TestPlace { file: path, run: None };
    Line::new("test_file", format!("{path}... {}", status.shown()), timestamp)
        .of_test(place)
        .with("test_file", json!({"path": path, "status": status.word()}))
        .finish()
}

/// The result of a run.
pub fn test_run_json(file: &str, run: &str, status: TestStatus, timestamp: &str) -> String {
    let message = format!("  {}... {}", values::go_quoted(run), status.shown());
    let result = json!({"path": file, "run": run, "status": status.word()});
    Line::new("test_run", message, timestamp)
        .of_test(TestPlace { file, run: Some(run) })
        .with("test_run", result)
        .finish()
}

/// The plan of a run. Sensitive values are in clear text, as in `show -json`.
pub fn test_plan_json(place: TestPlace<'_>, plan: &PlanJson<'_>, timestamp: &str) -> String {
    Line::new("test_plan", "-verbose flag enabled, printing plan", timestamp)
        .of_test(place)
        .with("test_plan", plan_document(plan))
        .finish()
}

/// The state after a run. Sensitive values are in clear text, as in `show -json`.
pub fn test_state_json(place: TestPlace<'_>, state: &StateJson<'_>, timestamp: &str) -> String {
    Line::new("test_state", "-verbose flag enabled, printing state", timestamp)
        .of_test(place)
        .with("test_state", state_document(state))
        .finish()
}

/// The objects that a clean-up left.
pub fn test_cleanup_json(left: &LeftObjects<'_>, timestamp: &str) -> String {
    let message = format!(
        "Mayfly left some resources in state after executing {}, {}",
        identifier(left.place),
        left_words(left)
    );
    let objects = json!({"failed_resources": objects(left.addresses)});
    Line::at_level("error", "test_cleanup", message, timestamp)
        .of_test(left.place)
        .with("test_cleanup", objects)
        .finish()
}

/// Splits the addresses of deposed objects from their keys.
fn objects(addresses: &[String]) -> Json {
    let object =
        |address: &String| match address.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
            Some((instance, key)) => json!({"instance": instance, "deposed_key": key}),
            None => json!({"instance": address}),
        };
    addresses.iter().map(object).collect()
}

/// The numbers of a test.
pub fn test_summary_json(status: TestStatus, counts: TestCounts, timestamp: &str) -> String {
    let (word, rest) = conclusion(status, counts);
    let TestCounts { passed, failed, errored, skipped } = counts;
    let summary = json!({
        "status": status.word(),
        "passed": passed,
        "failed": failed,
        "errored": errored,
        "skipped": skipped,
    });
    Line::new("test_summary", format!("{word}{rest}"), timestamp)
        .with("test_summary", summary)
        .finish()
}

/// The objects that an interrupted test leaves. `None` if there are none.
pub fn test_interrupted_json(test: &InterruptedTest<'_>, timestamp: &str) -> Option<String> {
    let others = test.others.iter().filter(|it| !it.addresses.is_empty());
    let others: Map<String, Json> =
        others.map(|it| (it.run.to_owned(), objects(it.addresses))).collect();
    let mut fields = Map::new();
    if !test.main.is_empty() {
        fields.insert("state".to_owned(), objects(test.main));
    }
    if !others.is_empty() {
        fields.insert("states".to_owned(), Json::Object(others));
    }
    if !test.creating.is_empty() {
        fields.insert("planned".to_owned(), test.creating.iter().cloned().collect());
    }
    if fields.is_empty() {
        return None;
    }
    let message = "Mayfly was interrupted during test execution, and may not have performed the \
                   expected cleanup operations.";
    let line = Line::at_level("error", "test_interrupt", message, timestamp)
        .of_test(TestPlace { run: None, ..test.place })
        .with("test_interrupt", Json::Object(fields));
    Some(line.finish())
}

/// The lines of diagnostics about a file or a run. Omits hints.
pub fn test_diagnostics_json(
    place: TestPlace<'_>,
    diagnostics: &[Diagnostic],
    sources: &Sources,
    timestamp: &str,
) -> Vec<String> {
    let shown = diagnostics.iter().filter(|it| it.severity() != Severity::Hint);
    shown.map(|it| diagnostic_line_of(it, timestamp, sources).of_test(place).finish()).collect()
}
