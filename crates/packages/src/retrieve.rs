//! Takes a package from its source to this machine, and compares it with the hashes that the source tells.

use std::collections::BTreeSet;
use std::fmt;

use addr::{ProviderSource, Version};
use http_client::Client;
use tempfile::TempPath;

use crate::hash::{Hash, hash_of_zip, hash_of_zip_contents};
use crate::platform::Platform;
use crate::sources::{Available, PackageLocation, PackageSource, RemotePackage, Sources};

/// The evidence for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The source told no hash.
    Unauthenticated,
    /// The package has a hash that its source told.
    VerifiedChecksum,
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Authentication::Unauthenticated => "unauthenticated",
            Authentication::VerifiedChecksum => "verified checksum",
        })
    }
}

/// A package that its source offers.
pub(crate) enum Offered {
    Local(PackageLocation),
    Remote(RemotePackage, Box<Client>),
}

/// A package on this machine.
pub(crate) struct Retrieved {
    /// Its location.
    pub(crate) location: PackageLocation,
    /// The hashes that its source told and that are worth locking.
    pub(crate) told: BTreeSet<Hash>,
    /// The evidence for it.
    pub(crate) authentication: Authentication,
    /// Removes a downloaded file.
    _file: Option<TempPath>,
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
        match (candidate, sources.network()) {
            (PackageSource::Local(location), _) => return Ok(Offered::Local(location.clone())),
            (PackageSource::Mirror(mirror), Some(network)) => {
                let found = mirror.package(network, source, version, platform).await?;
                if let Some(remote) = found {
                    let client = Box::new(network.client.clone());
                    return Ok(Offered::Remote(remote, client));
                }
            }
            (PackageSource::Mirror(_), None) => {}
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
        "no mirror that this machine can reach has {source}, and this build of Mayfly does not download from \
         {remote}; put the package into a mirror that the CLI configuration names"
    )
}

impl Offered {
    /// Downloads a remote package and verifies it. The error is a sentence fragment.
    pub(crate) async fn retrieve(self) -> Result<Retrieved, String> {
        let (remote, client) = match self {
            Offered::Local(location) => {
                return Ok(Retrieved {
                    location,
                    told: BTreeSet::new(),
                    authentication: Authentication::Unauthenticated,
                    _file: None,
                });
            }
            Offered::Remote(remote, client) => (remote, client),
        };
        let file = remote.download(&client).await?.into_temp_path();
        let told = verified(&remote, &file).await?;
        let authentication = match told.is_empty() {
            true => Authentication::Unauthenticated,
            false => Authentication::VerifiedChecksum,
        };
        let location = PackageLocation::Archive(file.to_path_buf());
        Ok(Retrieved { location, told, authentication, _file: Some(file) })
    }
}

/// Compares a downloaded file with the hashes that its source told. Returns those that are worth locking: the ones
/// that the file has, and all others if the user trusts the source.
async fn verified(remote: &RemotePackage, file: &TempPath) -> Result<BTreeSet<Hash>, String> {
    if remote.hashes.is_empty() {
        return Ok(BTreeSet::new());
    }
    let is_known = |it: &&Hash| matches!(it.scheme(), "h1" | "zh");
    let known: BTreeSet<Hash> = remote.hashes.iter().filter(is_known).cloned().collect();
    if known.is_empty() {
        return Err(
            "the mirror tells hashes only in schemes that this version does not support".to_owned()
        );
    }
    let own = [
        hash_of_zip_contents(file).await.map_err(|it| it.to_string())?,
        hash_of_zip(file).await.map_err(|it| it.to_string())?,
    ];
    let matching: BTreeSet<Hash> = own.into_iter().filter(|it| known.contains(it)).collect();
    match (matching.is_empty(), known.len()) {
        (true, 1) => {
            let expected = known.first().map_or("", |it| it.as_str());
            Err(format!("provider package doesn't match the expected checksum {expected:?}"))
        }
        (true, _) => Err("provider package doesn't match any of the expected checksums".to_owned()),
        (false, _) if remote.trusts_all_hashes => Ok(known),
        (false, _) => Ok(matching),
    }
}
