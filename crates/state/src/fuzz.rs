//! Properties that hold for all bytes that are read as a state or as a saved plan. The fuzz targets (`fuzz/`) and
//! `tests/hostile` run these functions.

use std::sync::Arc;

use crate::journal::{Journal, Record};
use crate::plan::{archive, decode, encode};
use crate::{PlanFile, StateFile};

/// The program name in the plans.
const PROGRAM: &str = "mayfly 0.1.0";
/// The separator in the input of [`check_plan_entries`]. The byte does not occur in UTF-8.
const BETWEEN: u8 = 0xff;

/// Checks that a state that was read is written without loss, deterministically, and within a bounded length.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_state(bytes: &[u8]) {
    let mut state = match StateFile::read(bytes) {
        Ok(state) => state,
        Err(error) => return assert!(!error.detail().is_empty() && !error.summary().is_empty()),
    };
    let written = state.write().expect("what was read can be written");
    let again = StateFile::read(&written).expect("what was written can be read");
    state.written_by = again.written_by.clone();
    assert_eq!(again, with_sorted_dependencies(state));
    assert_eq!(again.write().as_ref(), Ok(&written), "there is one way to write");
    // Indentation makes the text longer, but the depth is bounded.
    let most = 4096 + bytes.len() * 1024;
    assert!(written.len() <= most, "{} bytes became {}", bytes.len(), written.len());
}

/// Returns the state with sorted dependencies, because they are written in order.
fn with_sorted_dependencies(mut file: StateFile) -> StateFile {
    let resources = file.state.resources().map(|(addr, it)| (addr.clone(), it.clone()));
    for (addr, mut resource) in resources.collect::<Vec<_>>() {
        for instance in resource.instances.values_mut() {
            for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
                let object = Arc::make_mut(object);
                let mut dependencies = object.dependencies.to_vec();
                dependencies.sort_by_key(ToString::to_string);
                object.dependencies = dependencies.into();
            }
        }
        file.state.insert(addr, resource);
    }
    file
}

/// Checks that a journal entry is either refused as a whole or written again without loss and deterministically.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_journal(bytes: &[u8]) {
    let Ok(Some(journal)) = Journal::read(&[bytes.to_vec()]) else { return };
    let written = journal_entry(&journal);
    let again =
        Journal::read(std::slice::from_ref(&written)).expect("what was written can be read");
    let again = again.expect("it has a beginning");
    assert_eq!(again.begin, journal.begin);
    assert_eq!(again.records().len(), journal.records().len());
    assert!(journal_entry(&again) == written, "there is one way to write");
    assert_eq!(again.uncertain(), journal.uncertain());
    assert_eq!(again.left_open(), journal.left_open());
}

fn journal_entry(journal: &Journal) -> Vec<u8> {
    let mut entry = Vec::new();
    let begin = Record::Begin(journal.begin.clone());
    for record in [&begin].into_iter().chain(journal.records()) {
        record.write(&mut entry).expect("what was read can be written");
    }
    entry
}

/// Checks that the message of a plan is written again without loss and deterministically.
///
/// # Panics
///
/// If the property does not hold.
/// Where that does not hold.
pub fn check_plan_message(bytes: &[u8]) {
    let Ok(plan) = decode::decode(bytes, PROGRAM) else { return };
    let written = encode::encode(&plan).expect("what was read can be written");
    let again = decode::decode(&written, PROGRAM).expect("what was written can be read");
    assert_eq!(again, plan);
    assert_eq!(encode::encode(&again).as_ref(), Ok(&written), "there is one way to write");
}

/// Checks that bytes are either refused as a plan file or form a plan that is written again without loss.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_plan_file(bytes: &[u8]) {
    let Ok(mut file) = PlanFile::read(bytes, PROGRAM) else { return };
    let written = file.write().expect("what was read can be written");
    let again = PlanFile::read(&written, PROGRAM).expect("what was written can be read");
    // Writing replaces the version in `written_by`.
    file.prior_state.written_by = again.prior_state.written_by.clone();
    file.previous_state.written_by = again.previous_state.written_by.clone();
    file.prior_state = with_sorted_dependencies(file.prior_state);
    file.previous_state = with_sorted_dependencies(file.previous_state);
    assert_eq!(again, file);
    for entry in &file.temp {
        let is_inside = !entry.path.split('/').any(|it| matches!(it, "" | "." | ".."));
        assert!(is_inside, "{:?} leads elsewhere", entry.path);
    }
}

/// Runs [`check_plan_file`] for names and contents that are packed here, because a fuzzer cannot guess checksums.
/// A name that starts with `*` is an executable file, and one that starts with `@` is a link.
///
/// # Panics
///
/// If the property does not hold.
/// Where that does not hold.
pub fn check_plan_entries(bytes: &[u8]) {
    let mut parts = bytes.split(|it| *it == BETWEEN);
    let mut entries: Vec<archive::NewEntry<'_>> = Vec::new();
    while let (Some(name), Some(content)) = (parts.next(), parts.next()) {
        let Ok(name) = std::str::from_utf8(name) else { return };
        let kind = match name.chars().next() {
            Some('*') => archive::Kind::Executable,
            Some('@') => archive::Kind::Symlink,
            _ => archive::Kind::File,
        };
        let name = name.trim_start_matches(['*', '@']).to_owned();
        entries.push(archive::NewEntry { name, kind, content });
    }
    if let Ok(packed) = archive::pack(entries) {
        check_plan_file(&packed);
    }
}
