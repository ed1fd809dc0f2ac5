//! The records of the states of a test. Each state is kept on disk while the test runs, so that no object is lost if
//! the test is killed.
//!
//! ```text
//!   first apply ─► .terraform/tests/ID.tfstate and its journal ─► each change ─► clean-up ─► removed
//!                                                                                   └─► errored_test.tfstate
//!   next test ──► a record that no process holds any more ─► errored_test.tfstate, and a warning
//! ```
//!
//! **Invariant:** a record is locked as long as its test runs, so a test never takes the record of another one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use backend::LocalJournal;
use db::{Diagnostic, Summary};
use durability::Keeper;
use state::{State, journal::Intent};

use crate::{
    apply::write,
    session::{Failure, Session},
    store::{self, OpenState, Purpose, StateOptions},
    test::objects::{addresses, has_managed_objects},
};

/// The directory of the records, in the data directory.
const DIRECTORY: &str = "tests";

/// The ending of the file of a state.
const STATE: &str = ".tfstate";

/// The record of one state of a test file.
pub(super) struct StateRecord {
    keeper: Arc<Keeper>,
    path: PathBuf,
}

impl StateRecord {
    /// Begins the record of an empty state.
    ///
    /// # Errors
    /// The warning that objects would be lost if the test were killed.
    pub(super) fn begin(session: &Session) -> Result<StateRecord, Box<Diagnostic>> {
        let directory = session.data_dir().join(DIRECTORY);
        let path = directory.join(format!("{}{STATE}", uuid::Uuid::new_v4()));
        let not_recorded = |reason: &str| {
            let detail = format!(
                "The objects of this test cannot be recorded in {}: {reason} If the test is killed, nothing says what \
                 it leaves behind.",
                directory.display()
            );
            Box::new(Diagnostic::new(Summary::TEST_NOT_RECORDED, detail))
        };
        fs::create_dir_all(&directory).map_err(|error| not_recorded(&format!("{error}.")))?;
        let opened = open(session, &path).map_err(|Failure::Diagnostics(found, _)| {
            not_recorded(found.first().map_or("", |it| &*it.detail))
        })?;
        Ok(StateRecord { keeper: Arc::new(opened.keeper(session, Purpose::Test)), path })
    }

    /// The journal of an apply.
    pub(super) fn journal(&self) -> Arc<dyn engine::Journal> {
        Arc::<Keeper>::clone(&self.keeper)
    }

    /// Writes the state that an apply left.
    pub(super) fn write(&self, session: &Session, state: &State) -> Option<Diagnostic> {
        write(session, &self.keeper, state)
    }

    /// The creations whose outcome is unknown.
    pub(super) fn uncertain(&self) -> Vec<Intent> {
        self.keeper.uncertain()
    }

    /// Ends the record. It is removed, or becomes the file of objects that are left: `left` is the name.
    ///
    /// # Errors
    /// The reason why the file has not got the name.
    pub(super) fn end(self, session: &Session, left: Option<&str>) -> io::Result<()> {
        // The lock belongs to a file that is removed or moved next, so a failure to release it says nothing.
        let _ = store::close(session, &self.keeper);
        match left {
            Some(name) => keep(&self.path, &session.at(name)),
            None => {
                discard(&self.path);
                Ok(())
            }
        }
    }
}

/// Takes the records of tests that were killed: their objects go to files, which the warnings name.
pub(super) fn recover(session: &Session) -> Vec<Diagnostic> {
    let found = fs::read_dir(session.data_dir().join(DIRECTORY)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = found.filter_map(|it| state_of(&it.path())).collect();
    sorted::sort(&mut paths);
    paths.dedup();
    paths.iter().filter_map(|path| take(session, path)).collect()
}

/// The path of the state that a file of the directory belongs to; `None` for other files, such as those of locks.
fn state_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".journal").unwrap_or(name);
    (name.ends_with(STATE) && !name.starts_with('.')).then(|| path.with_file_name(name))
}

/// Takes the record of a killed test. `None` if its test is still running, or if it has no objects.
fn take(session: &Session, path: &Path) -> Option<Diagnostic> {
    let failed = |Failure::Diagnostics(found, _): Failure| {
        let reason = found.first().map_or("", |it| &*it.detail);
        let detail = format!(
            "A test was killed, and its record {} cannot be taken. {reason}\n\nThe file has the objects that the \
             test left behind.",
            path.display()
        );
        Diagnostic::new(Summary::TEST_LEFT_OBJECTS, detail)
    };
    let opened = match open(session, path) {
        Ok(opened) => opened,
        Err(failure) if is_held(&failure) => return None,
        Err(failure) => return Some(failed(failure)),
    };
    let (state, uncertain) = (opened.file.state.clone(), opened.uncertain.clone());
    if let Err(failure) = opened.close(session) {
        return Some(failed(failure));
    }
    if !has_managed_objects(&state) && uncertain.is_empty() {
        discard(path);
        return None;
    }
    let name = free_name(session);
    match keep(path, &session.at(&name)) {
        Ok(()) => Some(left_objects(&name, &state, &uncertain)),
        Err(error) => {
            let reason = format!("It cannot be moved to {name}: {error}.");
            Some(failed(Diagnostic::new(Summary::TEST_LEFT_OBJECTS, reason).into()))
        }
    }
}

fn is_held(failure: &Failure) -> bool {
    let Failure::Diagnostics(found, _) = failure;
    found.iter().any(|it| it.summary == Summary::STATE_LOCK)
}

fn open(session: &Session, path: &Path) -> Result<OpenState, Failure> {
    let options = StateOptions {
        lock: true,
        lock_timeout: "0s".to_owned(),
        state: Some(path.to_owned()),
        state_out: None,
        backup: Some("-".to_owned()),
    };
    store::open(session, &options, Purpose::Test)
}

/// The warning about the objects of a killed test.
fn left_objects(name: &str, state: &State, uncertain: &[Intent]) -> Diagnostic {
    let mut list: String = addresses(state).iter().map(|it| format!("\n  - {it}")).collect();
    list.extend(uncertain.iter().map(|it| format!("\n  - {}, if it was created", it.object)));
    let detail = format!(
        "A test was killed before it destroyed what it had created. These objects are left, and {name} has \
         them:\n{list}\n\nDestroy them with \"mayfly destroy -state={name}\" and the variables of the test, or by \
         hand. Then delete the file."
    );
    Diagnostic::new(Summary::TEST_LEFT_OBJECTS, detail)
}

/// The error if objects that are left cannot be written to a file.
pub(super) fn not_kept(name: &str, reason: &dyn std::fmt::Display) -> Diagnostic {
    let detail = format!(
        "The objects that the test could not destroy were not written to {name}: {reason}. Destroy them by hand."
    );
    Diagnostic::new(Summary::TEST_STATE_NOT_SAVED, detail)
}

/// The name of a file for objects that are left. An existing file has those of another state, and is kept.
pub(super) fn free_name(session: &Session) -> String {
    let numbered = (2..).map(|number| format!("errored_test.{number}{STATE}"));
    let mut names = std::iter::once(format!("errored_test{STATE}")).chain(numbered);
    let is_free = |name: &String| {
        let is_there = |path: &Path| session.system.is_file(path);
        !is_there(Path::new(name)) && !is_there(&LocalJournal::path_beside(Path::new(name)))
    };
    names.find(is_free).unwrap_or_default()
}

/// Moves a state and its journal. The state goes last: with a state, the journal is never searched elsewhere.
fn keep(from: &Path, to: &Path) -> io::Result<()> {
    let journal = LocalJournal::path_beside(from);
    if journal.exists() {
        relocate(&journal, &LocalJournal::path_beside(to))?;
    }
    relocate(from, to)
}

/// Moves a file, also to another file system.
fn relocate(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let bytes = fs::read(from)?;
            crate::private_file::write(to, &bytes, crate::private_file::Durable::Yes)?;
            fs::remove_file(from)
        }
        other => other,
    }
}

/// Removes a record without objects. A file that stays is removed by the next test.
fn discard(path: &Path) {
    let _ = fs::remove_file(LocalJournal::path_beside(path));
    let _ = fs::remove_file(path);
}
