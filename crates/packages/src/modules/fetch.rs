//! Fetches a module package from its source.

use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use addr::{Getter, ModulePackage};
use http_client::{Credentials, Request, Url};

use super::archive::{Archive, MAX_BYTES};
use super::contents::LEFT_OUT;
use super::error::FetchError;
use super::git::Git;
use super::mercurial::Mercurial;
use super::registry::{ArchiveAt, ModuleRegistry, RegistryLocation};
use super::{buckets, gcs, oci, page, s3};
use crate::blocking::blocking;
use crate::hash::sha256_hex;
use crate::network::Network;

/// The places from which packages come, and the tools that fetch them.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) git: &'a Git,
    pub(super) network: &'a Network,
    /// The data directory of this run, which is never part of a package.
    pub(super) data_dir: &'a Path,
}

/// Returns an error if the getter of a package is not supported.
pub(super) fn check_getter(package: &ModulePackage) -> Result<(), FetchError> {
    let what = match &package.getter {
        Getter::Git | Getter::File | Getter::Mercurial | Getter::Oci | Getter::Registry => {
            return Ok(());
        }
        // An archive of an unknown kind is an error here; other addresses are those of pages and directories.
        Getter::Gcs | Getter::Http | Getter::S3 => {
            return archive_of(package).map(drop);
        }
        Getter::Other(getter) => match OTHER_FORMS.iter().find(|it| it.0 == getter) {
            Some((_, form)) => {
                let why = format!("it is no address of a module package; write \"{form}\"");
                return Err(FetchError::Refused(why));
            }
            None => format!("by {getter:?}"),
        },
    };
    Err(FetchError::Unsupported(what))
}

/// The schemes of other tools for buckets and repositories, and the addresses of modules in these.
const OTHER_FORMS: [(&str, &str); 4] = [
    ("gcs", gcs::EXAMPLE),
    ("gs", gcs::EXAMPLE),
    ("hg", "hg::https://HOST/REPOSITORY"),
    ("s3", "s3::https://s3.REGION.amazonaws.com/BUCKET/KEY"),
];

/// A fetched package.
pub(super) struct Fetched {
    /// The revision of its repository. `None` if it has none.
    pub(super) revision: Option<String>,
    /// The directory in the package that its registry or a page names as the module. Empty for the root.
    pub(super) subdirectory: String,
}

/// The longest chain of registries and pages that lead to a package.
const MOST_REDIRECTS: usize = 10;

/// Writes the files of a package to an empty directory.
pub(super) async fn fetch(
    package: &ModulePackage,
    revision: Option<&str>,
    tools: Tools<'_>,
    target: &Path,
) -> Result<Fetched, FetchError> {
    let location = located(package, tools).await?;
    let revision = match &location.archive {
        Some(archive) => {
            let named = match location.package.getter {
                Getter::Http => archive_of(&location.package)?,
                _ => None,
            };
            from_web(archive, named, tools.network, target).await.map(|()| None)?
        }
        None => fetch_from(&location.package, revision, tools, target).await?,
    };
    let (directory, pattern) = (target.to_owned(), location.subdirectory);
    let subdirectory = blocking(move || resolve(&directory, &pattern)).await?;
    Ok(Fetched { revision, subdirectory })
}

/// Follows registries and pages to the place of a package.
async fn located(
    package: &ModulePackage,
    tools: Tools<'_>,
) -> Result<RegistryLocation, FetchError> {
    let (package, subdirectory) = (package.clone(), String::new());
    let mut location = RegistryLocation { package, subdirectory, archive: None };
    for _ in 0..MOST_REDIRECTS {
        let Some(mut next) = next_location(&location.package, tools).await? else {
            return Ok(location);
        };
        // The directory that led here is one in the directory that the registry or the page names.
        let parts = [next.subdirectory, location.subdirectory];
        let parts = parts.into_iter().filter(|it| !it.is_empty());
        next.subdirectory = parts.collect::<Vec<_>>().join("/");
        if next.archive.is_some() {
            return Ok(next);
        }
        location = next;
    }
    Err(FetchError::Refused(format!("it leads through more than {MOST_REDIRECTS} places")))
}

/// The place that an address leads to. `None` if the package is at the address itself.
async fn next_location(
    package: &ModulePackage,
    tools: Tools<'_>,
) -> Result<Option<RegistryLocation>, FetchError> {
    check_getter(package)?;
    check_parameters(package)?;
    let next = match &package.getter {
        Getter::Registry => {
            let version = package.query.get("version").map(String::as_str).unwrap_or_default();
            ModuleRegistry::of(tools.network, package).await?.location(version).await?
        }
        Getter::Http if archive_of(package)?.is_some() => archive_at(package)?,
        Getter::Http => page::location(package, tools.network).await?,
        Getter::Oci => oci::location(package, tools.network).await?,
        _ => return Ok(None),
    };
    Ok(Some(next))
}

/// The place of an archive whose name tells that it is one.
fn archive_at(package: &ModulePackage) -> Result<RegistryLocation, FetchError> {
    let (url, credentials) = Credentials::split_from(&package.url_without(&["archive"]));
    let url = Url::parse(&url).map_err(|error| FetchError::Refused(error.to_string()))?;
    let archive = Some(ArchiveAt { url, credentials, digest: None });
    Ok(RegistryLocation { package: package.clone(), subdirectory: String::new(), archive })
}

/// Replaces the wildcards in the directory of a module by the only names that match.
fn resolve(package: &Path, pattern: &str) -> Result<String, FetchError> {
    let mut found: Vec<String> = Vec::new();
    for part in pattern.split('/').filter(|it| !matches!(*it, "" | ".")) {
        let refused = |why: String| FetchError::Refused(format!("its directory {pattern:?} {why}"));
        if part == ".." {
            return Err(refused("leads out of the package".to_owned()));
        }
        if !part.contains('*') {
            found.push(part.to_owned());
            continue;
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(package.join(found.join("/")))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() && matches_wildcards(part, &name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [name] => found.push(name.clone()),
            [] => return Err(refused("matches nothing in the package".to_owned())),
            _ => return Err(refused(format!("matches {} directories", names.len()))),
        }
    }
    match found.iter().find(|it| !is_directory_name(it)) {
        Some(name) => {
            Err(FetchError::Refused(format!("its directory {name:?} has no usable name")))
        }
        None => Ok(found.join("/")),
    }
}

/// Returns true if a lock file can have the name of a directory in a package, which a stranger chose.
pub(crate) fn is_directory_name(name: &str) -> bool {
    let is_plain = |it: char| !it.is_control() && !"\\\"$%*?".contains(it);
    let is_left_out = LEFT_OUT.contains(&name);
    !matches!(name, "" | "." | "..") && !is_left_out && name.chars().all(is_plain)
}

fn matches_wildcards(pattern: &str, name: &str) -> bool {
    let (first, rest) = pattern.split_once('*').unwrap_or((pattern, ""));
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// Fetches a package whose place is known.
async fn fetch_from(
    package: &ModulePackage,
    revision: Option<&str>,
    tools: Tools<'_>,
    target: &Path,
) -> Result<Option<String>, FetchError> {
    match &package.getter {
        Getter::Git => {
            let reference = package.query.get("ref").map(String::as_str);
            let reference = reference.filter(|it| !it.is_empty());
            let checkout = tools.git.checkout(&package.location, reference, revision, target);
            checkout.await.map(Some).map_err(|error| without_secrets(error, package))
        }
        Getter::Mercurial => {
            let rev = package.query.get("rev").map(String::as_str).filter(|it| !it.is_empty());
            let mercurial = Mercurial { withheld: &tools.git.withheld };
            let checkout = mercurial.checkout(&package.location, rev, revision, target);
            checkout.await.map(Some).map_err(|error| without_secrets(error, package))
        }
        Getter::Gcs | Getter::S3 => {
            buckets::fetch(package, tools.network, target).await.map(|()| None)
        }
        _ => {
            let (package, data_dir) = (package.clone(), tools.data_dir.to_owned());
            let target = target.to_owned();
            blocking(move || from_files(&package, &data_dir, &target)).await.map(|()| None)
        }
    }
}

/// Refuses parameters of a source that would have no effect, or that contain a key.
fn check_parameters(package: &ModulePackage) -> Result<(), FetchError> {
    // The other parameters of a web address belong to its server.
    let is_unknown = |name: &str| match package.getter {
        Getter::Git => !["ref", "depth", "sshkey"].contains(&name),
        Getter::Http => ["checksum", "filename"].contains(&name),
        Getter::Registry => name != "version",
        Getter::Oci => !["tag", "digest"].contains(&name),
        Getter::S3 => !s3::PARAMETERS.contains(&name),
        Getter::Mercurial => name != "rev",
        _ => name != "archive",
    };
    if let Some(name) = package.query.keys().find(|name| is_unknown(name)) {
        return Err(FetchError::Refused(format!("the parameter {name:?} is not understood")));
    }
    if package.getter == Getter::Git && package.query.contains_key("sshkey") {
        let why = "a key in the source would be in every copy of the configuration; let an \
                   agent of SSH hold it";
        return Err(FetchError::Refused(why.to_owned()));
    }
    Ok(())
}

/// Downloads an archive and unpacks it. Its first bytes tell the kind of an archive whose name does not.
async fn from_web(
    archive: &ArchiveAt,
    named: Option<Archive>,
    network: &Network,
    target: &Path,
) -> Result<(), FetchError> {
    let mut request = Request::get(archive.url.clone(), MAX_BYTES);
    request.credentials = archive.credentials.clone();
    let digest = archive.digest.clone();
    // Beside the package, which is on a file system with room for it.
    let parent = target.parent().unwrap_or(target).to_owned();
    let file = blocking(move || tempfile::tempfile_in(parent)).await?;
    let mut file = tokio::fs::File::from_std(file);
    let name = archive.url.path().rsplit('/').find(|it| !it.is_empty()).unwrap_or("module");
    network.downloads.run(&network.client, name, &request, &mut file).await?;
    let (file, target) = (file.into_std().await, target.to_owned());
    blocking(move || unpack(file, digest.as_deref(), named, &target)).await
}

/// Unpacks a downloaded archive, which must have the digest. Its first bytes tell its kind if no name does.
pub(super) fn unpack(
    mut file: File,
    digest: Option<&str>,
    named: Option<Archive>,
    target: &Path,
) -> Result<(), FetchError> {
    if let Some(digest) = digest {
        file.rewind()?;
        let found = sha256_hex(&file)?;
        if found != digest {
            let why = format!("its content has the digest sha256:{found}, not sha256:{digest}");
            return Err(FetchError::Refused(why));
        }
    }
    file.rewind()?;
    let kind = match named {
        Some(kind) => kind,
        None => Archive::by_content(&mut file)?
            .ok_or_else(|| FetchError::Refused(NO_ARCHIVE.to_owned()))?,
    };
    Ok(kind.unpack(file, target)?)
}

/// The kind of an archive by its name. `None` if the name does not tell it.
pub(super) fn archive_of(package: &ModulePackage) -> Result<Option<Archive>, FetchError> {
    Archive::of(&file_name(package)).map_err(FetchError::Refused)
}

const NO_ARCHIVE: &str = "it is a file, but neither a .zip nor a .tar.gz";

/// The name of the file at the location, or one with the ending that `archive=` names.
fn file_name(package: &ModulePackage) -> String {
    match package.query.get("archive") {
        Some(kind) => format!("package.{kind}"),
        // The number of a version may follow the name of an object of Google.
        None if package.getter == Getter::Gcs => {
            package.location.split('#').next().unwrap_or_default().to_owned()
        }
        None => package.location.clone(),
    }
}

/// Removes secrets of the source address from an error, because git and hg quote their arguments.
fn without_secrets(error: FetchError, package: &ModulePackage) -> FetchError {
    match error {
        FetchError::Program(mut words) => {
            let shown = package.place();
            let shown = shown.split_once("::").map_or(&*shown, |(_, location)| location);
            words = words.replace(&package.location, shown);
            if let Some(user) = package.user() {
                words = words.replace(&format!("{user}@"), "");
            }
            FetchError::Program(words)
        }
        other => other,
    }
}

fn from_files(package: &ModulePackage, data_dir: &Path, target: &Path) -> Result<(), FetchError> {
    let path = Path::new(&package.location);
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        let data_dir = std::fs::canonicalize(data_dir)?;
        return Ok(copy(path, target, &data_dir, 0)?);
    }
    match archive_of(package)? {
        Some(archive) => Ok(archive.unpack(File::open(path)?, target)?),
        None => Err(FetchError::Refused(NO_ARCHIVE.to_owned())),
    }
}

/// Copies a directory without [`LEFT_OUT`] and `data_dir`. Links are copied as links.
fn copy(from: &Path, to: &Path, data_dir: &Path, depth: usize) -> io::Result<()> {
    if depth > 64 {
        return Err(io::Error::other("its directories are nested too deeply"));
    }
    let mut entries: Vec<(PathBuf, PathBuf, Metadata)> = Vec::new();
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if LEFT_OUT.iter().all(|it| entry.file_name() != *it) {
            let metadata = std::fs::symlink_metadata(entry.path())?;
            entries.push((entry.path(), to.join(entry.file_name()), metadata));
        }
    }
    for (path, copied, metadata) in entries {
        if metadata.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&path)?, &copied)?;
        } else if metadata.is_dir() {
            if std::fs::canonicalize(&path)? != data_dir {
                std::fs::create_dir(&copied)?;
                copy(&path, &copied, data_dir, depth + 1)?;
            }
        } else if metadata.is_file() {
            std::fs::copy(&path, &copied)?;
        } else {
            let what = format!("{} is neither a file, a directory nor a link", path.display());
            return Err(io::Error::other(what));
        }
    }
    Ok(())
}
