//! Packages that a source offers over the network, and the comparison of each with its proof.

use http_client::{Client, Credentials, Request, Url};
use sorted::TreeSet;
use tempfile::NamedTempFile;

use crate::evidence::{Authentication, Evidence};
use crate::hash::Hash;
use crate::network::Network;
use crate::packed::PackedPackage;
use crate::release::{DownloadedPackage, Release, ReleaseDocuments};

/// The largest accepted package, in bytes.
const MAX_PACKAGE: u64 = 4 << 30;

/// A package that a source offers over the network.
#[derive(Clone, Debug)]
pub(crate) struct RemotePackage {
    pub(crate) url: Url,
    /// The credentials for the server of the package.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) proof: Proof,
    /// The number of retries of its download. `None` for the usual number.
    pub(crate) retries: Option<u32>,
    /// The name that the progress of its download shows.
    pub(crate) name: String,
}

impl RemotePackage {
    pub(crate) fn new(url: Url, credentials: Option<Credentials>, proof: Proof) -> RemotePackage {
        RemotePackage { url, credentials, proof, retries: None, name: String::new() }
    }
}

/// The proof of a source for a package.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// The hashes that a mirror tells.
    Hashes {
        /// The hashes that a package may have. Empty if the mirror tells none.
        hashes: TreeSet<Hash>,
        /// True if the user trusts the mirror's hashes of packages for other platforms.
        trusts_all_hashes: bool,
    },
    /// A release of a registry.
    Release(Box<Release>),
}

impl RemotePackage {
    /// Downloads the package to a temporary file.
    pub(crate) async fn download(&self, network: &Network) -> Result<NamedTempFile, String> {
        let file = NamedTempFile::new()
            .map_err(|error| format!("failed to create a temporary file: {error}"))?;
        let copy = file.reopen().map_err(|error| error.to_string())?;
        let mut copy = tokio::fs::File::from_std(copy);
        let mut request = Request::get(self.url.clone(), MAX_PACKAGE);
        request.credentials = self.credentials.clone();
        request.retries = self.retries;
        let downloads = &network.downloads;
        let downloaded = downloads.run(&network.client, &self.name, &request, &mut copy).await;
        downloaded.map_err(|error| format!("failed to download {}: {error}", error.url))?;
        Ok(file)
    }
}

impl Proof {
    /// Downloads the documents of the proof. `None` if it has none.
    pub(crate) async fn documents(
        &self,
        client: &Client,
    ) -> Result<Option<ReleaseDocuments>, String> {
        match self {
            Proof::Hashes { .. } => Ok(None),
            Proof::Release(release) => release.documents(client).await.map(Some),
        }
    }

    /// Compares a downloaded package with the proof.
    pub(crate) async fn verify(
        &self,
        package: &mut PackedPackage,
        documents: Option<ReleaseDocuments>,
    ) -> Result<Evidence, String> {
        match (self, documents) {
            (Proof::Hashes { hashes, trusts_all_hashes }, _) => {
                verify_hashes(hashes, *trusts_all_hashes, package).await
            }
            (Proof::Release(release), Some(documents)) => {
                let zip_hash = package.zip_hash().await?;
                let metadata = tokio::fs::metadata(package.path()).await;
                let size = metadata.map_err(|it| it.to_string())?.len();
                release.verify(documents, &DownloadedPackage { size, zip_hash }).await
            }
            (Proof::Release(_), None) => Err("the checksums of the release are missing".to_owned()),
        }
    }
}

/// Compares a downloaded package with the hashes that its source told. Returns those that are worth locking: the ones
/// that the package has, and all others if the user trusts the source.
async fn verify_hashes(
    hashes: &TreeSet<Hash>,
    trusts_all_hashes: bool,
    package: &mut PackedPackage,
) -> Result<Evidence, String> {
    if hashes.is_empty() {
        return Ok(Evidence::none());
    }
    let is_known = |it: &&Hash| it.is_usable();
    let known: TreeSet<Hash> = hashes.iter().filter(is_known).cloned().collect();
    if known.is_empty() {
        return Err(
            "the mirror tells hashes only in schemes that this version does not support".to_owned()
        );
    }
    let mut own = vec![package.zip_hash().await?];
    // The content of a file that nothing proves is not unpacked without need.
    if known.iter().any(|it| it.scheme() == "h1") {
        let content = package.content().await?;
        own.extend([content.h1.clone(), content.h1_of_entries.clone()]);
    }
    let matching: TreeSet<Hash> = own.into_iter().filter(|it| known.contains(it)).collect();
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
