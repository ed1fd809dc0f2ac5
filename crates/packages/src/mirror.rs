//! The command `providers mirror`: copies packages to a directory that is a mirror, for this machine and for the
//! network.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version, VersionConstraint};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use sorted::{TreeMap, TreeSet};
use tempfile::NamedTempFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::blocking::blocking;
use crate::evidence::{Authentication, Evidence};
use crate::go_json;
use crate::hash::{Hash, files_in};
use crate::install::newest;
use crate::locks::Locks;
use crate::package::provider_folder;
use crate::packed::hash_of_zip_contents;
use crate::platform::Platform;
use crate::retrieve::{LocalPackage, Retrieved, find};
use crate::sources::{Sources, archives_in};

/// The inputs of `providers mirror`.
#[derive(Clone, Copy)]
pub struct MirrorRequest<'a> {
    /// The providers to copy, with the constraints of all modules combined.
    pub requirements: &'a TreeMap<ProviderSource, VersionConstraint>,
    /// The selected versions. If there are none, the newest ones are copied.
    pub locks: &'a Locks,
    /// The sources of packages.
    pub sources: &'a Sources,
    /// The platforms of the packages.
    pub platforms: &'a [Platform],
    /// The directory of the mirror.
    pub directory: &'a Path,
}

/// A step of `providers mirror`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorEvent {
    Builtin(ProviderSource),
    Bundled(ProviderSource),
    Mirroring(ProviderSource),
    Selected(ProviderSource, Version, SelectedBy),
    Downloading(ProviderSource, Version, Platform),
    Authenticated(ProviderSource, Version, Platform, Authentication),
}

/// The reason for a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectedBy {
    LockFile,
    Constraints(String),
    Nothing,
}

/// An error that concerns one provider, or the index. Other providers are copied all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorError {
    /// The step that failed.
    pub step: MirrorStep,
    /// The detail of the diagnostic.
    pub detail: String,
}

/// The steps that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorStep {
    /// No version could be selected.
    Select,
    /// There is no package for a platform.
    Find,
    /// The package could not be retrieved or verified.
    Retrieve,
    /// The package could not be copied to the directory.
    Place,
    /// The index could not be written.
    Index,
}

/// The name of one package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackageName {
    source: ProviderSource,
    version: Version,
    platform: Platform,
}

type Hashes = TreeMap<PackageName, TreeSet<Hash>>;

/// Copies the packages and writes the index. Returns the errors of single packages.
pub fn mirror<'r>(
    request: &'r MirrorRequest<'_>,
    on_event: &'r mut (dyn FnMut(MirrorEvent) + Send),
) -> BoxFuture<'r, Vec<MirrorError>> {
    Box::pin(copy_all(request, on_event))
}

async fn copy_all(
    request: &MirrorRequest<'_>,
    on_event: &mut (dyn FnMut(MirrorEvent) + Send),
) -> Vec<MirrorError> {
    let (mut errors, mut told) = (Vec::new(), Hashes::new());
    for (source, constraint) in request.requirements {
        let is_bundled = request.sources.bundled(source).is_some()
            && !request.locks.providers.contains_key(source);
        match (source.is_builtin(), is_bundled) {
            (true, _) => on_event(MirrorEvent::Builtin(source.clone())),
            (_, true) => on_event(MirrorEvent::Bundled(source.clone())),
            _ => {
                let mut copy = Copying { request, source, told: &mut told, errors: &mut errors };
                copy.run(constraint, on_event).await;
            }
        }
    }
    let directory = request.directory.to_owned();
    errors.extend(write_indexes(&directory, &told).await);
    errors
}

/// The copy of one provider's packages.
struct Copying<'a> {
    request: &'a MirrorRequest<'a>,
    source: &'a ProviderSource,
    /// The verified hashes.
    told: &'a mut Hashes,
    errors: &'a mut Vec<MirrorError>,
}

impl Copying<'_> {
    async fn run(
        &mut self,
        constraint: &VersionConstraint,
        on_event: &mut (dyn FnMut(MirrorEvent) + Send),
    ) {
        on_event(MirrorEvent::Mirroring(self.source.clone()));
        let (version, by) = match self.select(constraint).await {
            Ok(selected) => selected,
            Err(cause) => {
                let detail = format!("Failed to find a package of {}: {cause}.", self.source);
                return self.errors.push(MirrorError { step: MirrorStep::Select, detail });
            }
        };
        on_event(MirrorEvent::Selected(self.source.clone(), version.clone(), by));
        for platform in self.request.platforms {
            let source = self.source;
            let name = PackageName {
                source: source.clone(),
                version: version.clone(),
                platform: platform.clone(),
            };
            if let Err((step, cause)) = self.copy(name, on_event).await {
                let detail = format!("Failed to copy {source} v{version} for {platform}: {cause}.");
                self.errors.push(MirrorError { step, detail });
            }
        }
    }

    /// Selects the locked version, or the newest one for the first platform.
    async fn select(
        &self,
        constraint: &VersionConstraint,
    ) -> Result<(Version, SelectedBy), String> {
        if let Some(lock) = self.request.locks.providers.get(self.source) {
            return Ok((lock.version.clone(), SelectedBy::LockFile));
        }
        let Some(platform) = self.request.platforms.first() else {
            return Err("no platform is wanted".to_owned());
        };
        let available = self.request.sources.available(self.source, platform, None).await?;
        let version = newest(self.source, constraint, &available, platform)?;
        let by = match constraint.canonical() {
            none if none.is_empty() => SelectedBy::Nothing,
            constraints => SelectedBy::Constraints(constraints),
        };
        Ok((version, by))
    }

    async fn copy(
        &mut self,
        name: PackageName,
        on_event: &mut (dyn FnMut(MirrorEvent) + Send),
    ) -> Result<(), (MirrorStep, String)> {
        let PackageName { source, version, platform } = &name;
        on_event(MirrorEvent::Downloading(source.clone(), version.clone(), platform.clone()));
        let sources = self.request.sources;
        let available = sources.available(source, platform, Some(version)).await;
        let available = available.map_err(|it| (MirrorStep::Find, it))?;
        let offered = find(sources, source, version, platform, &available).await;
        let offered = offered.map_err(|it| (MirrorStep::Find, it))?;
        let retrieved = offered.retrieve(None).await.map_err(|it| (MirrorStep::Retrieve, it))?;
        self.place(name, retrieved, on_event).await
    }

    async fn place(
        &mut self,
        name: PackageName,
        retrieved: Retrieved,
        on_event: &mut (dyn FnMut(MirrorEvent) + Send),
    ) -> Result<(), (MirrorStep, String)> {
        let PackageName { source, version, platform } = &name;
        let file = format!("terraform-provider-{}_{version}_{platform}.zip", source.type_name);
        let target = provider_folder(self.request.directory, source).join(file);
        let package = retrieved.package;
        let place = move || copy_packed(&package, &target).map_err(|it| (target, it));
        blocking(place).await.map_err(|(target, error)| {
            (MirrorStep::Place, format!("{} cannot be written: {error}", target.display()))
        })?;
        let Evidence { told, authentication, .. } = retrieved.evidence;
        if authentication != Authentication::Unauthenticated {
            let PackageName { source, version, platform } = name.clone();
            on_event(MirrorEvent::Authenticated(source, version, platform, authentication));
            self.told.insert(name, told);
        }
        Ok(())
    }
}

/// Copies a package as an archive, which appears by a rename.
fn copy_packed(package: &LocalPackage, target: &Path) -> io::Result<()> {
    let mut file = beside(target)?;
    match package {
        LocalPackage::Archive(it) => drop(io::copy(&mut File::open(it.path())?, &mut file)?),
        LocalPackage::Directory(path) => pack(path, file.as_file_mut())?,
    }
    settle(file, target)
}

/// Packs a directory. The archive depends only on the names, contents and permissions of the files.
fn pack(directory: &Path, file: &mut File) -> io::Result<()> {
    let files = files_in(directory).map_err(|it| io::Error::other(it.to_string()))?;
    let mut zip = ZipWriter::new(file);
    for (name, path) in files {
        let mut content = File::open(&path)?;
        let metadata = content.metadata()?;
        let mode = if metadata.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
        let is_large = metadata.len() >= u64::from(u32::MAX);
        let options = SimpleFileOptions::default().unix_permissions(mode).large_file(is_large);
        zip.start_file(name, options).map_err(io::Error::other)?;
        io::copy(&mut content, &mut zip)?;
    }
    zip.finish().map(drop).map_err(io::Error::other)
}

/// Creates a temporary file beside the target, and the directories above it.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let directory = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    tempfile::Builder::new().prefix(".new-").tempfile_in(directory)
}

/// Renames a temporary file to its target. A web server of the mirror, which may run as another user, can read it.
fn settle(file: NamedTempFile, target: &Path) -> io::Result<()> {
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.persist(target).map(drop).map_err(|it| it.error)
}

/// Writes the index of all archives in the directory, including those that were there before.
async fn write_indexes(directory: &Path, told: &Hashes) -> Vec<MirrorError> {
    let mirror = directory.to_owned();
    let archives = blocking(move || archives_in(&mirror)).await;
    let mut errors = Vec::new();
    for (source, archives) in archives.into_iter().filter(|it| !it.1.is_empty()) {
        let mut indexed: TreeMap<Version, Map<String, Value>> = TreeMap::new();
        for ((version, platform), path) in archives {
            let name = PackageName {
                source: source.clone(),
                version: version.clone(),
                platform: platform.clone(),
            };
            let hashes = match told.get(&name).filter(|it| !it.is_empty()) {
                Some(hashes) => Ok(hashes.iter().map(Hash::to_string).collect()),
                None => hash_of_zip_contents(&path).await.map(|it| vec![it.to_string()]),
            };
            match hashes {
                Ok(hashes) => {
                    let url = path.file_name().unwrap_or_default().to_string_lossy();
                    let entry = json!({ "url": url, "hashes": hashes });
                    indexed.entry(version).or_default().insert(platform.to_string(), entry);
                }
                Err(error) => errors.push(unindexed(&format!(
                    "the hash of {source} v{version} for {platform} cannot be computed: {error}"
                ))),
            }
        }
        let folder = provider_folder(directory, &source);
        let written = blocking(move || write_index(&folder, indexed)).await;
        errors.extend(written.err().map(|(path, error)| {
            unindexed(&format!("{} cannot be written: {error}", path.display()))
        }));
    }
    errors
}

fn unindexed(cause: &str) -> MirrorError {
    let detail = format!("The index of the mirror is not complete: {cause}.");
    MirrorError { step: MirrorStep::Index, detail }
}

/// Writes the index of one provider.
fn write_index(
    folder: &Path,
    indexed: TreeMap<Version, Map<String, Value>>,
) -> Result<(), (PathBuf, io::Error)> {
    let versions: Map<String, Value> =
        indexed.keys().map(|it| (it.to_string(), json!({}))).collect();
    let mut files = vec![("index".to_owned(), json!({ "versions": versions }))];
    let archives = indexed.into_iter();
    files.extend(archives.map(|(version, it)| (version.to_string(), json!({ "archives": it }))));
    for (name, index) in files {
        let target = folder.join(format!("{name}.json"));
        let write = || {
            let mut file = beside(&target)?;
            file.write_all(go_json::pretty(&index).as_bytes())?;
            settle(file, &target)
        };
        write().map_err(|error| (target.clone(), error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
