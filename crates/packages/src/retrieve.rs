//! Takes a package from its source to this machine, and compares it with what the source proves.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use addr::{ProviderSource, Version};
use futures::future;
use http_client::{Client, Credentials, Request, Url};
use tempfile::{NamedTempFile, TempPath};

use crate::hash::{Hash, hash_of_zip, hash_of_zip_contents};
use crate::platform::Platform;
use crate::release::{DownloadedPackage, Release, ReleaseDocuments};
use crate::sources::{Available, PackageLocation, PackageSource, Registry, Sources};

/// The largest accepted package, in bytes.
const MAX_PACKAGE: u64 = 4 << 30;

/// The evidence for a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The source told no hash.
    Unauthenticated,
    /// The package has a hash that its source told.
    VerifiedChecksum,
    /// The registry told the hash, and has no key of the author.
    SigningSkipped,
    /// The author signed the hash.
    Signed {
        /// The ID of the author's key: 16 hexadecimal digits.
        key_id: String,
        /// True if the key or the signature has expired.
        is_expired: bool,
    },
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authentication::Unauthenticated => f.write_str("unauthenticated"),
            Authentication::VerifiedChecksum => f.write_str("verified checksum"),
            Authentication::SigningSkipped => f.write_str("signing skipped"),
            Authentication::Signed { key_id, is_expired: false } => {
                write!(f, "signed, key ID {key_id}")
            }
            Authentication::Signed { key_id, is_expired: true } => {
                write!(f, "signed, expired key ID {key_id}")
            }
        }
    }
}

/// A package that a source offers over the network.
#[derive(Clone, Debug)]
pub(crate) struct RemotePackage {
    pub(crate) url: Url,
    /// The credentials for the server of the package.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) proof: Proof,
}

/// The proof of a source for a package.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// The hashes that a mirror tells.
    Hashes {
        /// The hashes that a package may have. Empty if the mirror tells none.
        hashes: BTreeSet<Hash>,
        /// True if the user trusts the mirror's hashes of packages for other platforms.
        trusts_all_hashes: bool,
    },
    /// A release of a registry.
    Release(Box<Release>),
}

/// The result of a comparison of a package with its proof.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The hashes that the source told and that are worth locking.
    pub(crate) told: BTreeSet<Hash>,
    pub(crate) authentication: Authentication,
    /// True if the source told the hashes of packages for other platforms, too.
    pub(crate) covers_platforms: bool,
}

impl Evidence {
    fn none() -> Evidence {
        Evidence {
            told: BTreeSet::new(),
            authentication: Authentication::Unauthenticated,
            covers_platforms: false,
        }
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
        if let PackageSource::Local(location) = candidate {
            return Ok(Offered::Local(location.clone()));
        }
        let Some(network) = sources.network() else { continue };
        let found = match candidate {
            PackageSource::Local(_) => None,
            PackageSource::Mirror(mirror) => {
                mirror.package(network, source, version, platform).await?
            }
            PackageSource::Registry => {
                Registry::of(network, source).await?.package(version, platform).await?
            }
        };
        if let Some(remote) = found {
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

impl RemotePackage {
    /// Downloads the package to a temporary file.
    async fn download(&self, client: &Client) -> Result<NamedTempFile, String> {
        let file = NamedTempFile::new()
            .map_err(|error| format!("failed to create a temporary file: {error}"))?;
        let copy = file.reopen().map_err(|error| error.to_string())?;
        let mut copy = tokio::fs::File::from_std(copy);
        let mut request = Request::get(self.url.clone(), MAX_PACKAGE);
        request.credentials = self.credentials.clone();
        let downloaded = client.download(&request, &mut copy, &mut |_| {}).await;
        downloaded.map_err(|error| format!("failed to download {}: {error}", error.url))?;
        Ok(file)
    }
}

impl Proof {
    /// Downloads the documents of the proof. `None` if it has none.
    async fn documents(&self, client: &Client) -> Result<Option<ReleaseDocuments>, String> {
        match self {
            Proof::Hashes { .. } => Ok(None),
            Proof::Release(release) => release.documents(client).await.map(Some),
        }
    }

    /// Compares a downloaded file with the proof.
    async fn verify(
        &self,
        file: &Path,
        documents: Option<ReleaseDocuments>,
    ) -> Result<Evidence, String> {
        match (self, documents) {
            (Proof::Hashes { hashes, trusts_all_hashes }, _) => {
                verify_hashes(hashes, *trusts_all_hashes, file).await
            }
            (Proof::Release(release), Some(documents)) => {
                let zip_hash = hash_of_zip(file).await.map_err(|it| it.to_string())?;
                let metadata = tokio::fs::metadata(file).await.map_err(|it| it.to_string())?;
                let package = DownloadedPackage { size: metadata.len(), zip_hash };
                release.verify(documents, &package).await
            }
            (Proof::Release(_), None) => Err("the checksums of the release are missing".to_owned()),
        }
    }
}

/// Compares a downloaded file with the hashes that its source told. Returns those that are worth locking: the ones
/// that the file has, and all others if the user trusts the source.
async fn verify_hashes(
    hashes: &BTreeSet<Hash>,
    trusts_all_hashes: bool,
    file: &Path,
) -> Result<Evidence, String> {
    if hashes.is_empty() {
        return Ok(Evidence::none());
    }
    let is_known = |it: &&Hash| matches!(it.scheme(), "h1" | "zh");
    let known: BTreeSet<Hash> = hashes.iter().filter(is_known).cloned().collect();
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
    let told = match (matching.is_empty(), known.len()) {
        (true, 1) => {
            let expected = known.first().map_or("", |it| it.as_str());
            return Err(format!(
                "provider package doesn't match the expected checksum {expected:?}"
            ));
        }
        (true, _) => {
            let why = "provider package doesn't match any of the expected checksums";
            return Err(why.to_owned());
        }
        (false, _) if trusts_all_hashes => known,
        (false, _) => matching,
    };
    let authentication = Authentication::VerifiedChecksum;
    Ok(Evidence { told, authentication, covers_platforms: trusts_all_hashes })
}
