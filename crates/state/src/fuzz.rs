//! What holds for all bytes that are read as a state or as a saved plan. The fuzz targets (`fuzz/`) and `tests/hostile` run
//! the same functions.

use std::sync::Arc;

use crate::journal::{Journal, Record};
use crate::plan::{archive, decode, encode};
use crate::{PlanFile, StateFile};

/// Who is said to have made the plans.
const PROGRAM: &str = "mayfly 0.1.0";
/// Between the parts of what [`check_plan_entries`] takes: a byte that is in no UTF-8.
const BETWEEN: u8 = 0xff;

/// A state that is read survives being written, in one way, and is not written at much greater length.
///
/// # Panics
///
/// Where that does not hold.
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
    // Layout indents, by a depth that is bounded.
    let most = 4096 + bytes.len() * 1024;
    assert!(written.len() <= most, "{} bytes became {}", bytes.len(), written.len());
}

/// They are written in order.
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

/// An entry of a journal is refused as a whole, or its records survive being written, in one way.
///
/// # Panics
///
/// Where that does not hold.
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

/// The message inside of a plan survives being written.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_plan_message(bytes: &[u8]) {
    let Ok(plan) = decode::decode(bytes, PROGRAM) else { return };
    let written = encode::encode(&plan).expect("what was read can be written");
    let again = decode::decode(&written, PROGRAM).expect("what was written can be read");
    assert_eq!(again, plan);
    assert_eq!(encode::encode(&again).as_ref(), Ok(&written), "there is one way to write");
}

/// Bytes that a stranger calls a plan are refused, or are a plan that survives being written.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_plan_file(bytes: &[u8]) {
    let Ok(mut file) = PlanFile::read(bytes, PROGRAM) else { return };
    let written = file.write().expect("what was read can be written");
    let again = PlanFile::read(&written, PROGRAM).expect("what was written can be read");
    // A state says who wrote it last.
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

/// The same for names and contents that are packed here, because no fuzzer guesses a checksum. A name that begins with `*` is
/// of an executable file, one with `@` of a link.
///
/// # Panics
///
/// Where that does not hold.
pub fn check_plan_entries(bytes: &[u8]) {
    let mut parts = bytes.split(|it| *it == BETWEEN);
    let mut entries: Vec<(String, archive::Kind, &[u8])> = Vec::new();
    while let (Some(name), Some(content)) = (parts.next(), parts.next()) {
        let Ok(name) = std::str::from_utf8(name) else { return };
        let kind = match name.chars().next() {
            Some('*') => archive::Kind::Executable,
            Some('@') => archive::Kind::Symlink,
            _ => archive::Kind::File,
        };
        entries.push((name.trim_start_matches(['*', '@']).to_owned(), kind, content));
    }
    if let Ok(packed) = archive::pack(entries) {
        check_plan_file(&packed);
    }
}
