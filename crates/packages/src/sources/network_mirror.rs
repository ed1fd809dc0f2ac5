//! Network mirrors: web servers with the packages of providers, and an index of them in JSON.

use std::fmt;

use addr::{ProviderSource, Version};
use http_client::header::CONTENT_TYPE;
use http_client::{Credentials, Request, Url};
use serde::Deserialize;
use sorted::{TreeMap, TreeSet};

use crate::hash::Hash;
use crate::hosts::{HostName, require_json};
use crate::json_answer::{MAX_DOCUMENT, json};
use crate::network::Network;
use crate::platform::Platform;
use crate::remote_package::{Proof, RemotePackage};
use crate::shown_url::without_secrets;

/// A network mirror. `Display` and `Debug` show neither user nor query of its URL.
#[derive(Clone)]
pub(crate) struct NetworkMirror {
    base: Url,
    /// The user and the password in the URL. They have precedence over a token.
    user: Option<Credentials>,
    /// True if the hashes of packages for other platforms are locked, too.
    trusts_all_hashes: bool,
}

impl PartialEq for NetworkMirror {
    fn eq(&self, other: &NetworkMirror) -> bool {
        self.base == other.base
    }
}

impl Eq for NetworkMirror {}

impl fmt::Display for NetworkMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt(f)
    }
}

impl fmt::Debug for NetworkMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NetworkMirror({})", self.base)
    }
}

#[derive(Deserialize)]
struct VersionIndex {
    #[serde(default)]
    versions: TreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct PackageIndex {
    #[serde(default)]
    archives: TreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: String,
    #[serde(default)]
    hashes: Option<Vec<String>>,
}

impl NetworkMirror {
    /// Creates a mirror. Packages are found relative to its URL, as a link on a page is.
    ///
    /// # Errors
    /// Returns a sentence fragment if the URL is not one of `https`, which protects the token of the host.
    pub(crate) fn new(url: &str, trusts_all_hashes: bool) -> Result<NetworkMirror, String> {
        let (plain, user) = Credentials::split_from(url);
        let base = Url::parse(&plain).map_err(|error| error.to_string())?;
        match base.is_https() {
            true => Ok(NetworkMirror { base, user, trusts_all_hashes }),
            false => Err(format!("{:?} is no https: URL", without_secrets(url))),
        }
    }

    /// Returns the versions that the mirror has of a provider.
    pub(crate) async fn versions(
        &self,
        network: &Network,
        source: &ProviderSource,
    ) -> Result<TreeSet<Version>, String> {
        let index = self.index::<VersionIndex>(network, source, "index").await?;
        let versions = index.map(|(index, _)| index.versions).unwrap_or_default();
        // A version that is not understood cannot be selected.
        Ok(versions.keys().filter_map(|it| Version::parse(it).ok()).collect())
    }

    /// Returns the package of a version for a platform. `None` if the mirror has none.
    pub(crate) async fn package(
        &self,
        network: &Network,
        source: &ProviderSource,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<RemotePackage>, String> {
        let name = version.to_string();
        let Some((index, base)) = self.index::<PackageIndex>(network, source, &name).await? else {
            return Ok(None);
        };
        let Some(archive) = index.archives.get(&platform.to_string()) else { return Ok(None) };
        let url = base.join(&archive.url).map_err(|error| {
            self.failed(
                source,
                &format!("the URL of the package for {platform} is invalid: {error}"),
            )
        })?;
        if !url.is_https() {
            return Err(self.failed(source, &format!("it refers to {url}, which is not encrypted")));
        }
        let platforms = index.archives.iter();
        let told = platforms
            .filter(|it| self.trusts_all_hashes || it.0 == &platform.to_string())
            .flat_map(|it| it.1.hashes.iter().flatten());
        let mut hashes = TreeSet::new();
        for text in told {
            let hash = Hash::parse(text).map_err(|error| {
                self.failed(source, &format!("the hash {text:?} is invalid: {error}"))
            })?;
            hashes.insert(hash);
        }
        let proof = Proof::Hashes { hashes, trusts_all_hashes: self.trusts_all_hashes };
        Ok(Some(RemotePackage::new(url, None, proof)))
    }

    /// Requests a file of the index. `None` if there is none. Returns the place that relative URLs refer to, too.
    async fn index<T: for<'a> Deserialize<'a>>(
        &self,
        network: &Network,
        source: &ProviderSource,
        name: &str,
    ) -> Result<Option<(T, Url)>, String> {
        let failed = |cause: &dyn fmt::Display| self.failed(source, cause);
        let path = format!("{}/{}/{}/{name}.json", source.host, source.namespace, source.type_name);
        // A colon in the first part of a relative reference would end a scheme.
        let url = self.base.join(&format!("./{path}")).map_err(|it| failed(&it))?;
        let mut request = Request::get(url, MAX_DOCUMENT);
        request.credentials = self.credentials(network).await.map_err(|it| failed(&it))?;
        let answer = network.ask(&request).await.map_err(|it| failed(&it))?;
        let Some(response) = answer else { return Ok(None) };
        let base = response.url.clone();
        require_json(response.headers.get(CONTENT_TYPE))
            .map_err(|it| failed(&format!("its answer {it}")))?;
        match json(response).await {
            Ok(index) => Ok(Some((index, base))),
            Err(_) => Err(failed(&format!("{path} is not an index of packages"))),
        }
    }

    /// The credentials for the host of the mirror. The client sends them to no other host.
    async fn credentials(&self, network: &Network) -> Result<Option<Credentials>, String> {
        if let Some(user) = &self.user {
            return Ok(Some(user.clone()));
        }
        let Ok(host) = HostName::parse(&self.base.host_and_port()) else { return Ok(None) };
        network.bearer(&host).await
    }

    fn failed(&self, source: &ProviderSource, cause: &dyn fmt::Display) -> String {
        format!("failed to query provider mirror {self} for {source}: {cause}")
    }
}
