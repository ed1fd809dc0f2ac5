//! The proofs that a registry has for a release: the list of its checksums, and the signature of that list.

use std::time::SystemTime;

use futures::future;
use http_client::{Client, Request, Url};
use sorted::{TreeMap, TreeSet};

use crate::blocking::blocking;
use crate::evidence::{Authentication, Evidence};
use crate::hash::Hash;
use crate::platform::Platform;
use crate::signatures::{SignatureError, Signer, signer};

/// The largest accepted list of checksums, and signature, in bytes.
const MAX_SUMS: u64 = 4 << 20;

/// The facts that a registry tells about the package for one platform, with the author's proof of them.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) platform: Platform,
    /// The name of the package in the list of checksums.
    pub(crate) file_name: String,
    /// The checksum of the package: 64 hexadecimal digits.
    pub(crate) sha256: String,
    /// The URL of the list of checksums of the release.
    pub(crate) sums: Url,
    /// The URL of the signature of that list.
    pub(crate) signature: Url,
    /// Public keys of the author. Empty if the registry knows none.
    pub(crate) keys: Vec<String>,
    /// The packages of the release by platform. Empty if the registry lists none.
    pub(crate) packages: TreeMap<Platform, ListedPackage>,
    /// True if a package without keys is refused, and if only signed hashes are locked.
    pub(crate) requires_signature: bool,
    /// True if an expired signature is refused.
    pub(crate) refuses_expired: bool,
}

/// A package that a registry lists.
#[derive(Clone, Debug)]
pub(crate) struct ListedPackage {
    pub(crate) hashes: TreeSet<Hash>,
    /// In bytes.
    pub(crate) size: u64,
}

/// The downloaded documents of a release.
pub(crate) struct ReleaseDocuments {
    sums: Vec<u8>,
    signature: Vec<u8>,
}

impl Release {
    /// Refuses checksums that neither a signature nor an encrypted connection protects.
    pub(crate) fn check_urls(&self) -> Result<(), String> {
        match self.keys.is_empty() && !self.sums.is_https() {
            true => Err(format!("{} is neither encrypted nor signed", self.sums)),
            false => Ok(()),
        }
    }

    /// Downloads the list of checksums and its signature.
    ///
    /// # Errors
    /// Returns a sentence fragment if one of them cannot be downloaded.
    pub(crate) async fn documents(&self, client: &Client) -> Result<ReleaseDocuments, String> {
        let get = async |url: &Url, what: &str| {
            let failed = |error| format!("failed to retrieve {what} for provider: {error}");
            let answer = client.send(&Request::get(url.clone(), MAX_SUMS)).await;
            let response = answer.and_then(http_client::Response::success).map_err(failed)?;
            response.body.bytes().await.map_err(failed)
        };
        let sums = get(&self.sums, "authentication checksums");
        let signature = get(&self.signature, "cryptographic signature");
        let (sums, signature) = future::try_join(sums, signature).await?;
        Ok(ReleaseDocuments { sums: sums.to_vec(), signature: signature.to_vec() })
    }

    /// Compares a downloaded package with all that the registry and the author tell.
    ///
    /// # Errors
    /// Returns a sentence fragment for the first difference.
    pub(crate) async fn verify(
        &self,
        documents: ReleaseDocuments,
        package: &DownloadedPackage,
    ) -> Result<Evidence, String> {
        self.check_listed(package.size)?;
        check_list(&documents.sums, &self.file_name, &self.sha256)?;
        let expected = zip_hash(&self.sha256)?;
        if package.zip_hash != expected {
            let found = &package.zip_hash;
            return Err(format!("archive has incorrect checksum {found} (expected {expected})"));
        }
        let reported = checksums(&documents.sums);
        let signer = self.signer(documents).await?;
        let mut told = TreeSet::from([expected]);
        if signer.is_some() || !self.requires_signature {
            told.extend(reported);
        }
        if !self.requires_signature {
            let listed = self.packages.values().flat_map(|it| &it.hashes);
            told.extend(listed.filter(|it| it.is_usable()).cloned());
        }
        let authentication = match signer {
            Some(Signer { key_id, is_expired }) => Authentication::Signed { key_id, is_expired },
            None => Authentication::SigningSkipped,
        };
        let covers_platforms = told.len() > 1;
        Ok(Evidence { told, authentication, covers_platforms })
    }

    /// Compares the size and the checksum with those in the list of packages, if there is one.
    fn check_listed(&self, size: u64) -> Result<(), String> {
        if self.packages.is_empty() {
            return Ok(());
        }
        let platform = &self.platform;
        let listed = self.packages.get(platform).ok_or_else(|| {
            format!("registry response missing package with platform \"{platform}\"")
        })?;
        if listed.size != size {
            return Err(format!(
                "registry response indicates a package of size {}, but received a package of size {size}",
                listed.size
            ));
        }
        let zip: Vec<&Hash> = listed.hashes.iter().filter(|it| it.scheme() == "zh").collect();
        let expected = zip_hash(&self.sha256)?;
        match zip.is_empty() || zip.iter().any(|it| **it != expected) {
            true => Err(format!("the registry lists no package with the checksum {expected}")),
            false => Ok(()),
        }
    }

    /// The author of the signature. `None` if the registry knows no key and none is required.
    async fn signer(&self, documents: ReleaseDocuments) -> Result<Option<Signer>, String> {
        if self.keys.is_empty() && !self.requires_signature {
            return Ok(None);
        }
        let ReleaseDocuments { sums, signature } = documents;
        let keys = self.keys.clone();
        let check = move || signer(&sums, &signature, &keys, SystemTime::now());
        let refused = |error: SignatureError| {
            format!(
                "the provider is not signed with a valid signing key; please contact the provider author ({error})"
            )
        };
        let signer = blocking(check).await.map_err(refused)?;
        match signer.is_expired && self.refuses_expired {
            true => Err(refused(SignatureError::Expired(signer.key_id))),
            false => Ok(Some(signer)),
        }
    }
}

/// The facts about a downloaded package.
pub(crate) struct DownloadedPackage {
    /// In bytes.
    pub(crate) size: u64,
    /// The `zh:` hash.
    pub(crate) zip_hash: Hash,
}

fn zip_hash(sha256: &str) -> Result<Hash, String> {
    Hash::parse(&format!("zh:{sha256}"))
}

/// Checks that the list of checksums has the checksum of a file.
fn check_list(sums: &[u8], file_name: &str, sha256: &str) -> Result<(), String> {
    let text = String::from_utf8_lossy(sums);
    let mut lines = text.lines().map(str::split_whitespace);
    let found = lines.find_map(|mut it| {
        let (sum, name) = (it.next()?, it.next()?);
        (name == file_name).then(|| sum.to_owned())
    });
    match found {
        None => Err(format!("checksum list has no SHA-256 hash for {file_name:?}")),
        Some(found) if !found.eq_ignore_ascii_case(sha256) => {
            Err(format!("checksum list has unexpected SHA-256 hash {found} (expected {sha256})"))
        }
        Some(_) => Ok(()),
    }
}

/// The hashes in a list of checksums. Empty if it is another document.
fn checksums(sums: &[u8]) -> TreeSet<Hash> {
    let Ok(text) = std::str::from_utf8(sums) else { return TreeSet::new() };
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    let hashes = lines.map(|line| {
        let mut parts = line.split_whitespace();
        let (sum, _) = (parts.next()?, parts.next()?);
        let is_sum = sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
        is_sum.then(|| zip_hash(&sum.to_ascii_lowercase()).ok())?
    });
    hashes.collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests;
