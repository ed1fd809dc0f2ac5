//! The place of a working directory's state, as configured and as recorded by the last `init`.
//!
//! `init` records the place in `.terraform/terraform.tfstate`, as other tools do. A later command refuses to run
//! if the configuration names another place, because a state that is not found would count as an empty one.
//!
//! Arguments of `-backend-config` are recorded only there, together with a hash of the backend configuration. The
//! record is valid as long as the hash matches.

pub(crate) mod migration;

use std::{io, path::Path};

use backend::LocalWorkspaces;
use db::{Diagnostic, Summary};
use hir::statics::LocalBackend;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::{
    private_file::{self, Durable},
    session::{Failure, Session},
};

/// The name of the record in the data directory.
const RECORD: &str = "terraform.tfstate";

/// The workspaces of a place.
pub(crate) fn workspaces(session: &Session, place: &LocalBackend) -> LocalWorkspaces {
    workspaces_below(&session.at(""), place)
}

fn workspaces_below(root: &Path, place: &LocalBackend) -> LocalWorkspaces {
    LocalWorkspaces::new(root, place.path.as_deref(), place.workspace_dir.as_deref())
}

/// The record of the last `init`.
enum Recorded {
    /// The local backend. Also used if there is no record.
    Local(Place),
    /// Another backend type, which another tool recorded.
    Other(String),
}

/// A recorded place of the local backend.
#[derive(Default)]
struct Place {
    backend: LocalBackend,
    /// The fingerprint of the configured backend, if the command line added arguments; otherwise 0.
    hash: u64,
}

impl Place {
    /// Returns true if the place was made from this configuration and arguments of the command line.
    fn is_made_of(&self, configured: &LocalBackend) -> bool {
        self.hash != 0 && self.hash == fingerprint(configured)
    }
}

/// A fingerprint of a configured backend. It fits into the integers that every JSON reader can represent, because
/// other tools read it.
fn fingerprint(configured: &LocalBackend) -> u64 {
    let text = json!([configured.path.as_deref(), configured.workspace_dir.as_deref()]);
    let digest = Sha256::digest(text.to_string());
    let bytes = digest.iter().take(6);
    bytes.fold(0, |hash, byte| hash << 8 | u64::from(*byte)).max(1)
}

fn recorded(session: &Session) -> Result<Recorded, Failure> {
    Ok(read_record(session)?.unwrap_or(Recorded::Local(Place::default())))
}

/// Reads the record. `None` if there is none.
fn read_record(session: &Session) -> Result<Option<Recorded>, Failure> {
    let path = session.data_dir().join(RECORD);
    let bytes = match session.system.read_file(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error.to_string()).into()),
    };
    let record: Json =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&path, &error.to_string()))?;
    let backend = &record["backend"];
    let argument = |name: &str| backend["config"][name].as_str().map(Into::into);
    Ok(Some(match backend["type"].as_str() {
        None | Some("") => Recorded::Local(Place::default()),
        Some("local") => Recorded::Local(Place {
            backend: LocalBackend {
                path: argument("path"),
                workspace_dir: argument("workspace_dir"),
            },
            hash: backend["hash"].as_u64().unwrap_or(0),
        }),
        Some(other) => Recorded::Other(other.to_owned()),
    }))
}

fn unreadable(path: &Path, error: &str) -> Diagnostic {
    let detail = format!(
        "{} records where the state is kept, and cannot be read: {error}. Remove the file and run \
         \"mayfly init\" to write it again.",
        path.display()
    );
    Diagnostic::new(Summary::BACKEND_NOT_INITIALIZED, detail)
}

/// Returns true if two places have the same state files.
fn is_same(one: &LocalBackend, other: &LocalBackend) -> bool {
    let below = |place| workspaces_below(Path::new(""), place);
    below(one) == below(other)
}

/// The text for a place in messages. Default paths are included, a default workspace directory is not.
fn shown(place: &LocalBackend) -> String {
    let path = place.path.as_deref().unwrap_or("terraform.tfstate");
    match place.workspace_dir.as_deref() {
        None => format!("\"{path}\""),
        Some(directory) => format!("\"{path}\" (workspaces in \"{directory}\")"),
    }
}

/// The place of the state, if the record matches the configuration.
///
/// # Errors
/// A diagnostic if they differ.
pub(crate) fn check(session: &Session, configured: LocalBackend) -> Result<LocalBackend, Failure> {
    let reason = match recorded(session)? {
        Recorded::Local(recorded) if is_same(&recorded.backend, &configured) => {
            return Ok(configured);
        }
        Recorded::Local(recorded) if recorded.is_made_of(&configured) => {
            return Ok(recorded.backend);
        }
        Recorded::Local(recorded) => format!(
            "According to the configuration, the state is in {}, but this directory was \
             initialized with {}.",
            shown(&configured),
            shown(&recorded.backend)
        ),
        Recorded::Other(kind) => format!(
            "This directory was initialized with the backend \"{kind}\", but according to the \
             configuration, the state is in {}.",
            shown(&configured)
        ),
    };
    let detail = format!(
        "{reason} Continuing would start a second state. If a variable determines where the state \
         is, set it to the value that it had for \"mayfly init\". Otherwise run \"mayfly init\", \
         with -migrate-state to copy the state, or with -reconfigure to leave it where it is."
    );
    Err(Diagnostic::new(Summary::BACKEND_NOT_INITIALIZED, detail).into())
}

/// Refuses a saved plan if `init` recorded another place since, because the planned state may have been abandoned.
/// A directory without a record is accepted, such as that of a CI job that only has the plan file.
///
/// # Errors
/// A diagnostic if the places differ.
pub(crate) fn check_planned(session: &Session, planned: &LocalBackend) -> Result<(), Failure> {
    let found = match read_record(session)? {
        None => return Ok(()),
        Some(Recorded::Local(recorded)) if is_same(&recorded.backend, planned) => return Ok(()),
        Some(Recorded::Local(recorded)) => format!("in {}", shown(&recorded.backend)),
        Some(Recorded::Other(kind)) => format!("in the backend \"{kind}\""),
    };
    let detail = format!(
        "The plan was made for the state in {}, but this directory was initialized with the state \
         {found}. Nothing was done. Make a new plan.",
        shown(planned)
    );
    Err(Diagnostic::new(Summary::PLAN_OF_STATE, detail).into())
}

/// Writes the record.
fn record(session: &Session, place: &LocalBackend, hash: u64) -> Result<(), Failure> {
    let path = session.data_dir().join(RECORD);
    let config = json!({
        "path": place.path.as_deref(),
        "workspace_dir": place.workspace_dir.as_deref(),
    });
    let record = json!({
        "version": 3,
        "terraform_version": state::WRITTEN_VERSION,
        "backend": { "type": "local", "config": config, "hash": hash },
    });
    let text = format!("{record:#}\n");
    let written = std::fs::create_dir_all(session.data_dir())
        .and_then(|()| private_file::write(&path, text.as_bytes(), Durable::No));
    written.map_err(|error| {
        let detail = format!(
            "{} cannot be written: {error}. Check its permissions, or let TF_DATA_DIR name another \
             directory for what \"mayfly init\" keeps.",
            path.display()
        );
        Diagnostic::new(Summary::BACKEND_RECORD, detail).into()
    })
}
