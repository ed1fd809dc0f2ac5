//! Recordings: cases with the answers of the reference, so that a test can compare Mayfly without the reference
//! program.

use std::{fs, io, path::Path};

use serde_json::{Map, Value as Json, json};

use crate::{
    campaign::Campaign,
    compare, generate,
    model::Files,
    observation::{Observation, REFUSED},
    program::{Bench, Program},
};

/// A sequence of steps with the answers of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The name of the recording, which is also the name of its file.
    pub name: String,
    /// The recorded steps, in order.
    pub steps: Vec<RecordedStep>,
}

/// A step with the answer of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedStep {
    /// All files of the step. The JSON form contains only the changed ones.
    pub files: Files,
    /// The arguments of the executable.
    pub command: Vec<String>,
    /// The answer of the reference.
    pub answer: Observation,
}

impl Recording {
    /// The recording as a JSON document.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut before = Files::new();
        let mut steps = Vec::new();
        for step in &self.steps {
            let mut files = Map::new();
            for path in before.keys().filter(|it| !step.files.contains_key(*it)) {
                files.insert(path.clone(), Json::Null);
            }
            for (path, text) in
                step.files.iter().filter(|(path, text)| before.get(*path) != Some(text))
            {
                files.insert(path.clone(), json!(text.lines().collect::<Vec<_>>()));
            }
            before.clone_from(&step.files);
            steps.push(
                json!({ "files": files, "command": step.command, "answer": step.answer.to_json() }),
            );
        }
        json!({ "name": self.name, "steps": steps })
    }

    /// Reads a recording from its JSON document. `None` if a member is missing.
    #[must_use]
    pub fn from_json(json: &Json) -> Option<Recording> {
        let mut files = Files::new();
        let mut steps = Vec::new();
        for step in json["steps"].as_array()? {
            for (path, lines) in step["files"].as_object()? {
                let Some(lines) = lines.as_array() else {
                    files.remove(path);
                    continue;
                };
                let text =
                    lines.iter().filter_map(Json::as_str).map(|it| format!("{it}\n")).collect();
                files.insert(path.clone(), text);
            }
            let command = step["command"].as_array()?;
            let command = command.iter().filter_map(Json::as_str).map(str::to_owned).collect();
            let answer = Observation::from_json(&step["answer"]);
            steps.push(RecordedStep { files: files.clone(), command, answer });
        }
        Some(Recording { name: json["name"].as_str()?.to_owned(), steps })
    }
}

/// Runs Mayfly through the recorded steps in a fresh directory.
///
/// # Errors
/// If an answer differs from that of the reference, or the program cannot be run.
pub fn replay(recording: &Recording, mayfly: &Program, folder: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", recording.name);
    let mut bench = Bench::new(mayfly, folder.join("work")).map_err(failed)?;
    for (index, step) in recording.steps.iter().enumerate() {
        let mut found = bench.step(&step.files, &step.command).map_err(failed)?;
        if step.answer.aspects.contains_key(REFUSED) && !found.aspects.contains_key(REFUSED) {
            found = bench.refused(&step.files).map_err(failed)?;
        }
        let differences = compare::differences(index, &step.command, &step.answer, &found);
        if let Some(it) = differences.first() {
            let command = step.command.join(" ");
            return Err(format!(
                "{}, step {index} ({command}): {}\n{}",
                recording.name, it.class, it.detail
            ));
        }
    }
    Ok(())
}

/// Records the cases of a campaign that have no difference and cover something new, one file each and at most
/// `count`. Returns the number of files.
///
/// # Errors
/// If a program cannot be started, or a file cannot be written.
pub fn record(campaign: &Campaign, count: usize, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        fs::remove_file(entry?.path())?;
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut written = 0;
    for &number in &campaign.numbers {
        let case = generate::case(campaign.seed, number, &campaign.vocabulary);
        let outcome = campaign.outcome(0, &case, None)?;
        if outcome.difference.is_some() || !outcome.explained.is_empty() {
            continue;
        }
        // A case is recorded if it shows an event, an outcome or a diagnostic that no earlier one shows.
        let marks: Vec<String> = outcome
            .reference
            .iter()
            .zip(&case.steps)
            .flat_map(|(it, step)| marks(&step.command, it))
            .collect();
        if marks.iter().all(|it| seen.contains(it)) {
            continue;
        }
        seen.extend(marks);
        let name = format!("seed-{}-case-{number}", campaign.seed);
        let steps = case.steps.iter().zip(outcome.reference).map(|(step, answer)| RecordedStep {
            files: step.files(),
            command: step.command.clone(),
            answer,
        });
        let recording = Recording { name, steps: steps.collect() };
        let text = serde_json::to_string_pretty(&recording.to_json())?;
        fs::write(folder.join(format!("{}.json", recording.name)), compact(&text))?;
        written += 1;
        if written == count {
            break;
        }
    }
    Ok(written)
}

/// The coverage of a step: its command with each diagnostic, kind of event, and exit code.
fn marks(command: &[String], observation: &Observation) -> Vec<String> {
    let name = &command[0];
    let mut marks = vec![format!("{name} {}", observation.exit)];
    marks.extend(observation.strings("diagnostics").into_iter().map(|it| format!("{name} {it}")));
    for event in observation.strings("events") {
        let event: Json = serde_json::from_str(event).unwrap_or_default();
        let action = [&event["hook"]["action"], &event["change"]["action"]];
        let action = action.into_iter().find_map(Json::as_str).unwrap_or_default();
        marks.push(format!("{name} {} {action} {}", event["type"], event["change"]["reason"]));
    }
    marks
}

/// Removes indentation: one value per line keeps differences small, but indentation would be a third of the bytes.
fn compact(text: &str) -> String {
    text.lines().map(|it| format!("{}\n", it.trim_start())).collect()
}
