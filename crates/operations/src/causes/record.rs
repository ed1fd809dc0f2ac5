//! The record of the last plan's causes in the data directory, for hovers in editors.
//!
//! **Invariant:** the record holds no secret: its texts are those of [`causes::Finding`].
//! **Invariant:** a record that is damaged, too large or of another version counts as missing. A failure to write one
//! is ignored, because only hovers lack it then.

use std::{fs::File, io::Read, path::Path};

use causes::{Analysis, Finding};
use db::Sources;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::{
    private_file::{self, Durable},
    session::Session,
};

/// The name of the file in the data directory.
const FILE: &str = "mayfly-causes.json";

/// The version of the format.
const VERSION: u64 = 1;

/// The most bytes of a record.
const LARGEST: u64 = 1 << 20;

/// The most changes that a record has.
const MOST_CHANGES: usize = 500;

/// The most lines of one change.
const MOST_LINES: usize = 20;

/// Writes the record of a plan, if the data directory exists.
pub fn write(session: &Session, analysis: &Analysis<'_>, sources: &Sources) {
    if session.data_dir().is_dir() {
        save(session, &record_of(session, analysis, sources));
    }
}

/// Writes the record of one of many plans, if the data directory exists. Keeps a record that differs only in its time:
/// a plan after each save must not write a file each time.
pub fn renew(session: &Session, analysis: &Analysis<'_>, sources: &Sources) {
    if !session.data_dir().is_dir() {
        return;
    }
    let record = record_of(session, analysis, sources);
    let is_alike = |old: &Json| ["files", "changes"].iter().all(|it| old[it] == record[it]);
    if !read_record(&session.data_dir().join(FILE)).is_some_and(|old| is_alike(&old)) {
        save(session, &record);
    }
}

fn record_of(session: &Session, analysis: &Analysis<'_>, sources: &Sources) -> Json {
    let changes = analysis.explain_first_changes(MOST_CHANGES);
    let files = sources.files.iter().filter(|it| !it.may_hold_secrets);
    let files: serde_json::Map<String, Json> =
        files.map(|it| (it.path.to_string(), digest(&it.text()).into())).collect();
    json!({
        "version": VERSION,
        "made_at": session.timestamp(),
        "files": files,
        "changes": changes.iter().filter_map(entry).collect::<Vec<Json>>(),
    })
}

fn save(session: &Session, record: &Json) {
    let bytes = record.to_string().into_bytes();
    if bytes.len() as u64 > LARGEST {
        // The record of an earlier plan would be taken for this one's.
        return remove(session);
    }
    // Ignore a failure: the plan itself succeeded.
    let _ = private_file::write(&session.data_dir().join(FILE), &bytes, Durable::No);
}

/// Removes the record. An apply makes it outdated.
pub fn remove(session: &Session) {
    // Ignore a failure: there may be no record.
    let _ = std::fs::remove_file(session.data_dir().join(FILE));
}

/// The entry of a change. `None` if it has no place, because then no editor shows it.
fn entry(finding: &Finding) -> Option<Json> {
    let place = finding.place.as_ref()?;
    let causes = finding.because.iter().map(|cause| {
        let below = cause.subject.strip_prefix(&finding.subject);
        let argument = below.and_then(|it| it.strip_prefix('.'));
        let argument = argument.map(|it| it.split(['.', '[']).next().unwrap_or_default());
        let mut lines = Vec::new();
        add_lines(cause, &finding.subject, 0, &mut lines);
        json!({ "argument": argument, "lines": lines })
    });
    Some(json!({
        "file": *place.path,
        "block": finding.block(),
        "text": finding.text(),
        "causes": causes.collect::<Vec<Json>>(),
    }))
}

fn add_lines(finding: &Finding, outer: &str, depth: usize, lines: &mut Vec<String>) {
    if lines.len() >= MOST_LINES {
        return;
    }
    let place = finding.place.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    lines.push(format!("{}- {}{place}", "  ".repeat(depth), finding.text_below(outer)));
    for cause in &finding.because {
        add_lines(cause, &finding.subject, depth + 1, lines);
    }
}

fn digest(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

/// The question of an editor.
#[derive(Clone, Copy)]
pub struct Asked<'t> {
    /// The path of the file, relative to the root module.
    pub file: &'t str,
    /// The text of the file in the editor.
    pub text: &'t str,
    /// The address of the block in its module.
    pub block: &'t str,
    /// The argument; `None` for the block.
    pub argument: Option<&'t str>,
}

/// The causes of a planned change, from the record of the last plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The time of the plan, RFC 3339.
    pub made_at: String,
    /// True if the text of the file is the planned one.
    pub is_current: bool,
    /// One line for each instance, each followed by the lines of its causes.
    pub lines: Vec<String>,
}

/// The most instances of a block that are shown.
const MOST_INSTANCES: usize = 3;

/// Reads the causes of a block or argument from the record of the last plan. `None` if the plan did not change it.
pub fn read(session: &Session, asked: Asked<'_>) -> Option<Recorded> {
    let record = read_record(&session.data_dir().join(FILE))?;
    let made_at = record["made_at"].as_str().filter(|it| it.len() < 64)?.to_owned();
    let entries = record["changes"].as_array()?.iter();
    let is_it = |it: &&Json| it["file"] == asked.file && it["block"] == asked.block;
    let of_block = entries.filter(is_it).filter_map(|it| lines_of(it, asked.argument));
    let mut lines: Vec<String> = of_block.take(MOST_INSTANCES).flatten().collect();
    lines.truncate(MOST_LINES * MOST_INSTANCES);
    let is_current = record["files"][asked.file] == digest(asked.text);
    (!lines.is_empty()).then_some(Recorded { made_at, is_current, lines })
}

/// The lines of an entry, or of one argument of it.
fn lines_of(entry: &Json, argument: Option<&str>) -> Option<Vec<String>> {
    let causes = entry["causes"].as_array()?.iter();
    let asked = causes.filter(|it| argument.is_none_or(|argument| it["argument"] == argument));
    let of_cause = asked.filter_map(|it| it["lines"].as_array()).flatten();
    let of_cause: Vec<String> = of_cause.filter_map(|it| Some(it.as_str()?.to_owned())).collect();
    if argument.is_some() && of_cause.is_empty() {
        return None;
    }
    let heading = entry["text"].as_str()?.to_owned();
    let heading = if of_cause.is_empty() { heading } else { format!("{heading} because:") };
    Some([heading].into_iter().chain(of_cause).collect())
}

fn read_record(path: &Path) -> Option<Json> {
    let file = open_file(path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    let record: Json = match bytes.len() as u64 > LARGEST {
        true => return None,
        false => serde_json::from_slice(&bytes).ok()?,
    };
    (record["version"] == VERSION).then_some(record)
}

/// Opens a regular file. Anything else, such as a pipe, could block the editor.
fn open_file(path: &Path) -> Option<File> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    metadata.is_file().then(|| File::open(path).ok())?
}
