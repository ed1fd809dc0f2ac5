//! Takes a package from its source to this machine, and compares it with what the source proves.

use addr::{ProviderSource, Version};
use futures::future;
use http_client::Client;
use tempfile::TempPath;

use crate::evidence::Evidence;
use crate::platform::Platform;
use crate::remote_package::RemotePackage;
use crate::sources::{Available, PackageLocation, PackageSource, Sources};

/// A package that its source offers.
pub(crate) enum Offered {
    Local(PackageLocation),
    Remote(RemotePackage, Box<Client>),
}

/// A package on this machine.
pub(crate) struct Retrieved {
    /// Its location.
    pub(crate) location: PackageLocation,
    pub(crate) evidence: Evidence,
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
        if let PackageSource::Local(location) = &candidate.source {
            return Ok(Offered::Local(location.clone()));
        }
        let Some(network) = sources.network() else { continue };
        let found = candidate.source.package(network, source, version, platform).await?;
        if let Some(mut remote) = found {
            remote.retries = candidate.download_retries;
            return Ok(Offered::Remote(remote, Box::new(network.client.clone())));
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
    /// Downloads a remote package and verifies it. The error is a sentence fragment.
    pub(crate) async fn retrieve(self) -> Result<Retrieved, String> {
        let (remote, client) = match self {
            Offered::Local(location) => {
                return Ok(Retrieved { location, evidence: Evidence::none(), _file: None });
            }
            Offered::Remote(remote, client) => (remote, client),
        };
        let (file, documents) =
            future::try_join(remote.download(&client), remote.proof.documents(&client)).await?;
        let file = file.into_temp_path();
        let evidence = remote.proof.verify(&file, documents).await?;
        let location = PackageLocation::Archive(file.to_path_buf());
        Ok(Retrieved { location, evidence, _file: Some(file) })
    }
}
