//! Provider registries: the versions of a provider and its packages (`providers.v1`).

use addr::{DEFAULT_HOST, OPENTOFU_VERSION, ProviderSource, Version};
use http_client::header::{HeaderName, HeaderValue};
use http_client::{Credentials, Request, Url};
use serde::Deserialize;
use sorted::{TreeMap, TreeSet};

use crate::hash::Hash;
use crate::hosts::HostName;
use crate::json_answer::{MAX_DOCUMENT, json, or_default};
use crate::network::Network;
use crate::platform::Platform;
use crate::release::{ListedPackage, Release};
use crate::remote_package::{Proof, RemotePackage};

/// The header with the version of OpenTofu that this program is compatible with. Some registries answer by it.
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("x-terraform-version");
pub(crate) const COMPATIBLE_VERSION: HeaderValue = HeaderValue::from_static(OPENTOFU_VERSION);

/// The most sentences of a registry that are shown.
const MOST_WARNINGS: usize = 20;

/// The versions that a source offers of a provider.
#[derive(Debug, Default)]
pub(crate) struct OfferedVersions {
    pub(crate) versions: TreeSet<Version>,
    /// Sentences for the user.
    pub(crate) warnings: Vec<String>,
}

#[derive(Deserialize)]
struct VersionList {
    #[serde(default)]
    versions: Option<Vec<ListedVersion>>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct PackageAnswer {
    #[serde(default)]
    protocols: Option<Vec<String>>,
    os: String,
    arch: String,
    filename: String,
    download_url: String,
    shasum: String,
    shasums_url: String,
    shasums_signature_url: String,
    #[serde(default, deserialize_with = "or_default")]
    signing_keys: SigningKeys,
    #[serde(default)]
    packages: Option<TreeMap<String, PackageEntry>>,
}

#[derive(Default, Deserialize)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Option<Vec<SigningKey>>,
}

#[derive(Deserialize)]
struct SigningKey {
    ascii_armor: String,
}

#[derive(Deserialize)]
struct PackageEntry {
    #[serde(default)]
    hashes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "or_default")]
    package_size: u64,
}

/// The registry of one provider.
pub(crate) struct Registry<'n> {
    network: &'n Network,
    source: &'n ProviderSource,
    /// The URL of the provider, which ends with a slash.
    base: Url,
    credentials: Option<Credentials>,
}

impl<'n> Registry<'n> {
    /// Finds the registry at the host of a provider.
    ///
    /// # Errors
    /// Returns a sentence fragment if the host cannot be asked, or has no registry of providers.
    pub(crate) async fn of(
        network: &'n Network,
        source: &'n ProviderSource,
    ) -> Result<Registry<'n>, String> {
        let host = HostName::parse(&source.host)
            .map_err(|error| format!("the host name {} cannot be used: {error}", source.host))?;
        let service = network.service(&host, "providers.v1").await?;
        let base = service.join(&format!("./{}/{}/", source.namespace, source.type_name));
        let base = base.map_err(|error| error.to_string())?;
        let credentials = network.bearer(&host).await?;
        Ok(Registry { network, source, base, credentials })
    }

    /// Returns the versions of the provider. `None` if the registry does not know the provider.
    pub(crate) async fn versions(&self) -> Result<Option<OfferedVersions>, String> {
        let Some(list) = self.list().await? else { return Ok(None) };
        let listed = list.versions.unwrap_or_default();
        // A version that is not understood cannot be selected.
        let versions = listed.iter().filter_map(|it| Version::parse(&it.version).ok()).collect();
        let warnings = list.warnings.unwrap_or_default().into_iter().take(MOST_WARNINGS);
        // A terminal would take control characters for commands.
        let plain = |it: String| it.chars().filter(|it| !it.is_control()).take(500).collect();
        Ok(Some(OfferedVersions { versions, warnings: warnings.map(plain).collect() }))
    }

    /// Returns the package of a version for a platform. `None` if the registry has none.
    pub(crate) async fn package(
        &self,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<RemotePackage>, String> {
        let path = format!("{version}/download/{}/{}", platform.os, platform.arch);
        let Some((answer, url)) = self.ask::<PackageAnswer>(&path).await? else { return Ok(None) };
        let protocols = answer.protocols.as_deref().unwrap_or_default();
        if !protocols.is_empty() && !protocols.iter().any(|it| is_supported(it)) {
            return Err(self.unsupported(version, protocols).await);
        }
        self.remote_package(answer, &url, platform).map(Some).map_err(|it| self.failed(&it))
    }

    fn remote_package(
        &self,
        answer: PackageAnswer,
        document: &Url,
        platform: &Platform,
    ) -> Result<RemotePackage, String> {
        if (answer.os.as_str(), answer.arch.as_str()) != (&*platform.os, &*platform.arch) {
            let (os, arch) = (answer.os, answer.arch);
            return Err(format!("the answer is for {os}_{arch}, not for {platform}"));
        }
        let url = |what: &str, text: &str| {
            document.join(text).map_err(|it| format!("the URL of {what} is invalid: {it}"))
        };
        let keys = answer.signing_keys.gpg_public_keys.unwrap_or_default();
        let is_hex = |it: u8| it.is_ascii_hexdigit();
        if answer.shasum.len() != 64 || !answer.shasum.bytes().all(is_hex) {
            return Err(format!("{:?} is no SHA-256 hash", answer.shasum));
        }
        let is_default_registry = *self.source.host == *DEFAULT_HOST;
        let policy = self.network.signatures;
        let release = Release {
            platform: platform.clone(),
            file_name: answer.filename,
            sha256: answer.shasum.to_ascii_lowercase(),
            sums: url("the checksums", &answer.shasums_url)?,
            signature: url("the signature", &answer.shasums_signature_url)?,
            keys: keys.into_iter().map(|it| it.ascii_armor).collect(),
            packages: packages(answer.packages.unwrap_or_default())?,
            requires_signature: !is_default_registry || policy.requires_keys,
            refuses_expired: policy.refuses_expired,
        };
        release.check_urls()?;
        let url = url("the package", &answer.download_url)?;
        Ok(RemotePackage::new(url, None, Proof::Release(Box::new(release))))
    }

    /// The error for a version with plugin protocols that this program does not speak. It names the newest version that
    /// can be used.
    async fn unsupported(&self, version: &Version, protocols: &[String]) -> String {
        let listed = self.list().await.ok().flatten().and_then(|it| it.versions);
        let usable = |it: &ListedVersion| {
            let protocols = it.protocols.as_deref().unwrap_or_default();
            protocols.iter().any(|it| is_supported(it)).then(|| Version::parse(&it.version).ok())?
        };
        let newest = listed.iter().flatten().filter_map(usable).max();
        let way_out = match newest {
            Some(version) => format!("version {version} is the newest one that can be used"),
            None => "no version of it can be used".to_owned(),
        };
        let (source, spoken) = (self.source, protocols.join(", "));
        format!(
            "provider {source} {version} speaks the plugin protocol {spoken}, and Mayfly speaks 5 and 6; {way_out}"
        )
    }

    async fn list(&self) -> Result<Option<VersionList>, String> {
        Ok(self.ask("versions").await?.map(|(list, _)| list))
    }

    /// Requests a document. `None` if there is none. Returns the place that relative URLs refer to, too.
    async fn ask<T: for<'a> Deserialize<'a>>(
        &self,
        path: &str,
    ) -> Result<Option<(T, Url)>, String> {
        let url = self.base.join(&format!("./{path}")).map_err(|it| self.failed(&it))?;
        let mut request = Request::get(url, MAX_DOCUMENT);
        request.headers.insert(VERSION_HEADER, COMPATIBLE_VERSION);
        request.credentials = self.credentials.clone();
        let answer = self.network.ask(&request).await.map_err(|it| self.failed(&it))?;
        let Some(response) = answer else { return Ok(None) };
        let url = response.url.clone();
        let document = json(response).await.map_err(|it| self.failed(&it))?;
        Ok(Some((document, url)))
    }

    fn failed(&self, cause: &dyn std::fmt::Display) -> String {
        format!("could not query provider registry for {}: {cause}", self.source)
    }
}

/// The packages of all platforms that an answer lists.
fn packages(
    entries: TreeMap<String, PackageEntry>,
) -> Result<TreeMap<Platform, ListedPackage>, String> {
    let listed = entries.into_iter().map(|(name, entry)| {
        let platform = Platform::parse(&name)
            .ok_or_else(|| format!("the answer lists the invalid platform {name:?}"))?;
        let hashes = entry.hashes.unwrap_or_default();
        let hashes = hashes.iter().map(|text| {
            Hash::parse(text).map_err(|error| format!("the hash {text:?} is invalid: {error}"))
        });
        let hashes = hashes.collect::<Result<_, _>>()?;
        Ok((platform, ListedPackage { hashes, size: entry.package_size }))
    });
    listed.collect()
}

/// Returns true if this program speaks a version of the plugin protocol, such as `5.0`.
fn is_supported(protocol: &str) -> bool {
    matches!(protocol.split('.').next(), Some("5" | "6"))
}
