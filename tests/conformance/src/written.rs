//! The files that a run writes, and the search for a secret in them.

use std::io::{Cursor, Read};

use engine::PlanOutcome;
use state::{ConfigSnapshot, Plan, PlanFile, State, StateFile};

/// The version of the program that saved plans name.
pub const MADE_BY: &str = "conformance";

const LINEAGE: &str = "11111111-2222-3333-4444-555555555555";

/// The bytes of the state file.
///
/// # Panics
/// If the state cannot be written, for example because it contains an ephemeral value.
pub fn state_file(state: &State) -> Vec<u8> {
    let file = StateFile { state: state.clone(), ..StateFile::new(LINEAGE.to_owned()) };
    file.write().expect("a state without ephemeral values can be written")
}

/// The bytes of a saved plan.
///
/// # Errors
/// If the plan cannot be encoded.
pub fn plan_file(outcome: &PlanOutcome) -> Result<Vec<u8>, state::EncodeError> {
    let file = PlanFile {
        plan: Plan { made_by: MADE_BY.to_owned(), ..outcome.plan.clone() },
        prior_state: StateFile {
            state: outcome.refreshed.clone(),
            ..StateFile::new(LINEAGE.to_owned())
        },
        previous_state: StateFile::new(LINEAGE.to_owned()),
        locks: Vec::new(),
        config: ConfigSnapshot::default(),
        temp: Vec::new(),
    };
    file.write()
}

/// Returns true if the bytes contain a secret, or are a zip archive with an entry that contains it.
///
/// # Panics
/// If an entry of the archive cannot be read.
pub fn finds(bytes: &[u8], secret: &str) -> bool {
    let is_in = |bytes: &[u8]| bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
    if is_in(bytes) {
        return true;
    }
    let Ok(mut zip) = zip::ZipArchive::new(Cursor::new(bytes)) else { return false };
    (0..zip.len()).any(|index| {
        let mut content = Vec::new();
        zip.by_index(index)
            .expect("an entry")
            .read_to_end(&mut content)
            .expect("an entry can be read");
        is_in(&content)
    })
}
