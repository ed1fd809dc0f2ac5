//! Takes a package from its source to this machine, and compares it with what the source proves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr::{ProviderSource, Version};
use futures::future;

use crate::blocking::blocking;
use crate::evidence::Evidence;
use crate::hash::{Hash, hash_of_directory};
use crate::network::Network;
use crate::package::{self, PackageError, executable_in};
use crate::packed::{PackedPackage, UnpackedPackage};
use crate::platform::Platform;
use crate::remote_package::RemotePackage;
use crate::sources::{Available, PackageLocation, PackageSource, Sources};

/// A package that its source offers.
pub(crate) enum Offered {
    Local(PackageLocation),
    Remote(Box<RemotePackage>, Arc<Network>),
}

/// A package on this machine, which has been compared with its proof.
pub(crate) struct Retrieved {
    pub(crate) package: LocalPackage,
    pub(crate) evidence: Evidence,
}

/// A package on this machine.
pub(crate) enum LocalPackage {
    Directory(PathBuf),
    Archive(PackedPackage),
}

/// Finds the first source that offers a package for the platform. The error is a sentence fragment.
pub(crate) async fn find(
    sources: &Sources,
    source: &ProviderSource,
    version: &Version,
    platform: &Platform,
    available: &Available,
) -> Result<Offered, String> {
    let candidates = available.packages.get(version).map(Vec::as_slice).unwrap_or_default();
    for candidate in candidates {
        if let PackageSource::Local(location) = &candidate.source {
            return Ok(Offered::Local(location.clone()));
        }
        let Some(network) = sources.network() else { continue };
        let found = candidate.source.package(network, source, version, platform).await?;
        if let Some(mut remote) = found {
            remote.retries = candidate.download_retries;
            remote.name = format!("{} v{version}", source.for_display());
            return Ok(Offered::Remote(Box::new(remote), Arc::clone(network)));
        }
    }
    if !candidates.is_empty() || available.elsewhere.contains(version) {
        return Err(format!("provider {source} {version} is not available for {platform}"));
    }
    match available.remotes.first() {
        Some(remote) => Err(unreachable_remote(source, remote)),
        None => Err(format!(
            "provider {source} {version} is not available in any of the search locations"
        )),
    }
}

pub(crate) fn unreachable_remote(source: &ProviderSource, remote: &str) -> String {
    format!(
        "no mirror on this machine has {source}, and this command does not download from {remote}; run \
         \"mayfly init\""
    )
}

impl Offered {
    /// Downloads a remote package and verifies it. `target` is the directory to which it will be installed, if it
    /// will. The error is a sentence fragment.
    pub(crate) async fn retrieve(self, target: Option<&Path>) -> Result<Retrieved, String> {
        let (remote, network) = match self {
            Offered::Local(location) => {
                let package = match location {
                    PackageLocation::Directory(path) => LocalPackage::Directory(path),
                    PackageLocation::Archive(path) => {
                        LocalPackage::Archive(PackedPackage::local(path, target))
                    }
                };
                return Ok(Retrieved { package, evidence: Evidence::none() });
            }
            Offered::Remote(remote, network) => (remote, network),
        };
        let documents = remote.proof.documents(&network.client);
        let (file, documents) = future::try_join(remote.download(&network), documents).await?;
        let mut package = PackedPackage::downloaded(file.into_temp_path(), target);
        let evidence = remote.proof.verify(&mut package, documents).await?;
        Ok(Retrieved { package: LocalPackage::Archive(package), evidence })
    }
}

impl LocalPackage {
    /// The `h1:` hash of the files. The error is a sentence fragment.
    pub(crate) async fn hash(&mut self) -> Result<Hash, String> {
        match self {
            LocalPackage::Directory(path) => {
                hash_of_directory(path).await.map_err(|it| it.to_string())
            }
            LocalPackage::Archive(packed) => Ok(packed.content().await?.h1.clone()),
        }
    }

    /// Refuses a package without a plugin. The error is a sentence fragment.
    pub(crate) async fn require_plugin(&mut self, source: &ProviderSource) -> Result<(), String> {
        let found: Result<(), PackageError> = match self {
            LocalPackage::Directory(path) => {
                let (path, source) = (path.clone(), source.clone());
                blocking(move || executable_in(&path, &source).map(drop)).await
            }
            LocalPackage::Archive(packed) => packed.content().await?.plugin(source).map(drop),
        };
        found.map_err(|it| it.to_string())
    }

    /// Puts the package to its target: a directory is linked, and an archive has been unpacked beside it. The error is
    /// a sentence fragment.
    pub(crate) async fn install(
        self,
        source: &ProviderSource,
        target: &Path,
    ) -> Result<Option<UnpackedPackage>, String> {
        match self {
            LocalPackage::Directory(from) => {
                let target = target.to_owned();
                let linked = blocking(move || package::link(&from, &target)).await;
                linked.map(|()| None).map_err(|it| it.to_string())
            }
            LocalPackage::Archive(packed) => packed.install(source).await.map(Some),
        }
    }
}
