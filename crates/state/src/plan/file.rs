//! The saved plan file: the plan, its two states, and the sources and locks that it was made from.

use std::fmt;

use serde::{Deserialize, Serialize};
use sorted::{TreeMap, TreeSet};

use crate::error::{EncodeError, StateError};
use crate::plan::archive::{self, Entries, Entry, Kind, NewEntry, damaged};
use crate::plan::model::Plan;
use crate::plan::{decode, encode};
use crate::resources::StateFile;

const PLAN: &str = "tfplan";
const PRIOR_STATE: &str = "tfstate";
const PREVIOUS_STATE: &str = "tfstate-prev";
const LOCKS: &str = ".terraform.lock.hcl";
const MANIFEST: &str = "tfconfig/modules.json";
const MODULES: &str = "tfconfig/m-";
const TEMP: &str = "tmp/";

/// The content of a plan file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// The state after the refresh.
    pub prior_state: StateFile,
    /// The state before the refresh.
    pub previous_state: StateFile,
    /// The bytes of the dependency lock file.
    pub locks: Vec<u8>,
    /// The sources of the configuration.
    pub config: ConfigSnapshot,
    /// The files that planning left under `path.temp`. The reader sorts them by path.
    pub temp: Vec<TempEntry>,
}

/// The sources of all modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigSnapshot {
    /// The modules by key: the names of the module calls joined with dots, empty for the root module.
    pub modules: TreeMap<String, ModuleSource>,
}

/// The sources of one module.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ModuleSource {
    /// The `source` argument. Empty for the root module.
    pub source: String,
    /// The version of the module package, if it has one.
    pub version: Option<String>,
    /// The directory of the module, relative to the root module.
    pub dir: String,
    /// The file contents by file name.
    pub files: TreeMap<String, Vec<u8>>,
}

/// A file under `path.temp`.
#[derive(Clone, PartialEq, Eq)]
pub struct TempEntry {
    /// The path relative to the plan's own directory. It starts with the hash of a module instance.
    pub path: String,
    /// The kind and the content of the file.
    pub kind: TempKind,
}

/// The kind of a file under `path.temp`. Of its mode, only the executable bit is kept, as git does.
#[derive(Clone, PartialEq, Eq)]
pub enum TempKind {
    File {
        is_executable: bool,
        content: Vec<u8>,
    },
    /// A symbolic link. Its target is relative and stays inside of the module instance's directory.
    Symlink {
        target: String,
    },
}

/// An error that prevents reading a plan file. Nothing of an invalid file is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileError {
    /// The bytes are not a zip file.
    #[error("the given file is not a valid plan file")]
    NotAPlan,
    /// The structure is invalid. An empty `entry` means the file as a whole.
    #[error("the saved plan is damaged{}: {cause}; make a new plan", at(.entry))]
    Damaged { entry: String, cause: String },
    /// Another program or another version of this program created the file.
    #[error(
        "plan file was created by {made_by}, but this is {running}; plan files cannot be \
         transferred between different versions"
    )]
    OtherProgram { made_by: String, running: String },
}

/// The place in the file; empty for the file as a whole.
fn at(entry: &str) -> String {
    if entry.is_empty() { String::new() } else { format!(" at {entry:?}") }
}

/// A record of `tfconfig/modules.json`, in OpenTofu's layout.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct ManifestRecord {
    key: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    dir: String,
}

impl PlanFile {
    /// Returns the bytes of the file. Equal plans give equal bytes.
    ///
    /// # Errors
    /// Returns an [`EncodeError`] for ephemeral values, values that cannot be encoded, and invalid names.
    pub fn write(&self) -> Result<Vec<u8>, EncodeError> {
        check_temp(&self.temp).map_err(EncodeError::Archive)?;
        let plan = encode::encode(&self.plan)?;
        let (prior, previous) = (self.prior_state.write()?, self.previous_state.write()?);
        let manifest = self.config.manifest().map_err(|it| EncodeError::Archive(it.to_string()))?;
        let fixed = [
            (PLAN, plan.as_slice()),
            (PRIOR_STATE, &prior),
            (PREVIOUS_STATE, &previous),
            (LOCKS, &self.locks),
            (MANIFEST, &manifest),
        ];
        let fixed = fixed.into_iter().map(|(name, content)| NewEntry {
            name: name.to_owned(),
            kind: Kind::File,
            content,
        });
        let sources = self.config.modules.iter().flat_map(|(key, module)| {
            let files = module.files.iter();
            files.map(move |(name, content)| NewEntry {
                name: format!("{MODULES}{key}/{name}"),
                kind: Kind::File,
                content,
            })
        });
        let temp = self.temp.iter().map(|it| {
            let (kind, content) = match &it.kind {
                TempKind::File { is_executable: false, content } => {
                    (Kind::File, content.as_slice())
                }
                TempKind::File { is_executable: true, content } => {
                    (Kind::Executable, content.as_slice())
                }
                TempKind::Symlink { target } => (Kind::Symlink, target.as_bytes()),
            };
            NewEntry { name: format!("{TEMP}{}", it.path), kind, content }
        });
        archive::pack(fixed.chain(sources).chain(temp))
    }

    /// Reads a plan that `program` (its name and version) created.
    ///
    /// # Errors
    /// Returns a [`PlanFileError`]; a damaged file is refused as a whole.
    pub fn read(bytes: &[u8], program: &str) -> Result<Self, PlanFileError> {
        let mut entries = archive::unpack(bytes)?;
        // Another version of this program may compress in another way, so its error comes first.
        let encoded = take(&mut entries, PLAN)?;
        let plan = decode::decode(&encoded, program)?;
        entries.insert(PLAN.to_owned(), Entry { kind: Kind::File, content: encoded });
        archive::check_canonical(bytes, &entries)?;
        entries.remove(PLAN);
        let prior_state = state(&mut entries, PRIOR_STATE)?;
        let previous_state = state(&mut entries, PREVIOUS_STATE)?;
        let locks = take(&mut entries, LOCKS)?;
        let config = ConfigSnapshot::read(&mut entries)?;
        let temp = read_temp(&mut entries)?;
        match entries.into_keys().next() {
            None => Ok(Self { plan, prior_state, previous_state, locks, config, temp }),
            Some(name) => Err(damaged(&name, "a plan has no such entry")),
        }
    }
}

impl ConfigSnapshot {
    fn manifest(&self) -> serde_json::Result<Vec<u8>> {
        let record = |(key, module): (&String, &ModuleSource)| ManifestRecord {
            key: key.clone(),
            source: module.source.clone(),
            version: module.version.clone(),
            dir: module.dir.clone(),
        };
        serde_json::to_vec_pretty(&self.modules.iter().map(record).collect::<Vec<_>>())
    }

    fn read(entries: &mut Entries) -> Result<Self, PlanFileError> {
        let manifest = take(entries, MANIFEST)?;
        let records: Vec<ManifestRecord> =
            serde_json::from_slice(&manifest).map_err(|it| damaged(MANIFEST, it.to_string()))?;
        let mut modules = TreeMap::new();
        for record in records {
            let module = ModuleSource {
                source: record.source,
                version: record.version,
                dir: record.dir,
                files: TreeMap::new(),
            };
            if modules.insert(record.key.clone(), module).is_some() {
                return Err(damaged(
                    MANIFEST,
                    format!("the module {:?} is listed twice", record.key),
                ));
            }
        }
        for (name, entry) in take_all(entries, MODULES) {
            let (key, file) = name.split_once('/').unwrap_or((&name, ""));
            let module = modules.get_mut(key).filter(|_| !file.is_empty() && !file.contains('/'));
            let module = module
                .ok_or_else(|| damaged(&format!("{MODULES}{name}"), "it belongs to no module"))?;
            module.files.insert(file.to_owned(), plain(&name, entry)?);
        }
        Ok(Self { modules })
    }
}

fn take(entries: &mut Entries, name: &str) -> Result<Vec<u8>, PlanFileError> {
    let entry = entries.remove(name).ok_or_else(|| damaged(name, "the entry is missing"))?;
    plain(name, entry)
}

fn plain(name: &str, entry: Entry) -> Result<Vec<u8>, PlanFileError> {
    match entry.kind {
        Kind::File => Ok(entry.content),
        Kind::Executable | Kind::Symlink => Err(damaged(name, "the entry is not an ordinary file")),
    }
}

/// Removes all entries under a prefix and returns them without the prefix in their names.
fn take_all(entries: &mut Entries, prefix: &str) -> Vec<(String, Entry)> {
    let from_prefix = entries.range(prefix.to_owned()..).map(|(name, _)| name);
    let names: Vec<String> = from_prefix.take_while(|it| it.starts_with(prefix)).cloned().collect();
    let taken = names.into_iter().filter_map(|name| entries.remove_entry(&name));
    taken.map(|(name, entry)| (name[prefix.len()..].to_owned(), entry)).collect()
}

fn state(entries: &mut Entries, name: &str) -> Result<StateFile, PlanFileError> {
    let bytes = take(entries, name)?;
    StateFile::read(&bytes).map_err(|it: StateError| damaged(name, it.to_string()))
}

fn read_temp(entries: &mut Entries) -> Result<Vec<TempEntry>, PlanFileError> {
    let mut temp = Vec::new();
    for (path, Entry { kind, content }) in take_all(entries, TEMP) {
        let kind = match kind {
            Kind::File | Kind::Executable => {
                TempKind::File { is_executable: kind == Kind::Executable, content }
            }
            Kind::Symlink => TempKind::Symlink {
                target: String::from_utf8(content)
                    .map_err(|_| damaged(&path, "the link's target is not UTF-8"))?,
            },
        };
        temp.push(TempEntry { path, kind });
    }
    check_temp(&temp).map_err(|cause| damaged(TEMP, cause))?;
    Ok(temp)
}

/// Checks that unpacking in any order writes only inside of each module instance's directory: no entry is below a
/// link or a file, and a link goes upwards only in its first steps and never out of the directory.
fn check_temp(temp: &[TempEntry]) -> Result<(), String> {
    let paths: TreeSet<&str> = temp.iter().map(|it| it.path.as_str()).collect();
    if paths.len() != temp.len() {
        return Err("a path is listed twice".to_owned());
    }
    for entry in temp {
        let path = &entry.path;
        if let Some(cause) = entry.fault() {
            return Err(format!("{path:?}: {cause}"));
        }
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        if above.any(|it| paths.contains(it)) {
            return Err(format!("{path:?} lies under something that is not a directory"));
        }
    }
    Ok(())
}

impl TempEntry {
    /// Returns the reason why a plan cannot hold this entry, without regard to other entries.
    pub fn fault(&self) -> Option<String> {
        let depth = self.path.matches('/').count();
        if depth == 0 {
            return Some("it is in no module's directory".to_owned());
        }
        if !archive::is_safe(&self.path) {
            return Some("its name does not mean the same on every system".to_owned());
        }
        match &self.kind {
            TempKind::Symlink { target } if !stays_inside(target, depth - 1) => {
                Some("it is a link that points outside of its module's directory".to_owned())
            }
            _ => None,
        }
    }
}

fn stays_inside(target: &str, depth: usize) -> bool {
    let ups = target.split('/').take_while(|it| *it == "..").count();
    let mut rest = target.split('/').skip(ups).peekable();
    let is_nothing_left = rest.peek().is_none();
    let is_plain =
        |it: &str| !it.is_empty() && it != "." && it != ".." && !it.contains(['\\', '\0']);
    ups <= depth && (is_nothing_left || rest.all(is_plain))
}

/// Shows only the names of the files, because sources may hold secrets.
impl fmt::Debug for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleSource")
            .field("source", &self.source)
            .field("version", &self.version)
            .field("dir", &self.dir)
            .field("files", &self.files.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl fmt::Debug for TempEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TempKind::File { content, .. } => write!(f, "{} ({} bytes)", self.path, content.len()),
            TempKind::Symlink { target } => write!(f, "{} -> {target}", self.path),
        }
    }
}

impl fmt::Debug for TempKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File { .. } => "File",
            Self::Symlink { .. } => "Symlink",
        })
    }
}
