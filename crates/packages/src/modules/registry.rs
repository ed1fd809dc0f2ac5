//! Module registries: the versions of a module, and where each has its package (`modules.v1`).

use addr::{Getter, ModulePackage, ModuleSource, Version, VersionConstraint};
use http_client::header::HeaderName;
use http_client::{Credentials, Request, StatusCode, Url};
use serde::Deserialize;
use sorted::{TreeMap, TreeSet};

use super::error::FetchError;
use super::s3;
use crate::hosts::HostName;
use crate::json_answer::{MAX_DOCUMENT, json, or_default};
use crate::network::Network;
use crate::sources::{COMPATIBLE_VERSION, VERSION_HEADER};

/// The header in which a registry or a page names the address of a package.
pub(super) const LOCATION_HEADER: HeaderName = HeaderName::from_static("x-terraform-get");

/// The place of the package of a version.
#[derive(Debug)]
pub(super) struct RegistryLocation {
    pub(super) package: ModulePackage,
    /// The directory of the module in the package, which may have wildcards. Empty for the root.
    pub(super) subdirectory: String,
    /// The archive of the package. `None` if only its address is known.
    pub(super) archive: Option<ArchiveAt>,
}

/// An archive on a web server.
#[derive(Debug)]
pub(super) struct ArchiveAt {
    pub(super) url: Url,
    pub(super) credentials: Option<Credentials>,
    /// The SHA-256 digest that it must have, in hexadecimal digits. `None` if it is not known.
    pub(super) digest: Option<String>,
}

#[derive(Deserialize)]
struct VersionList {
    #[serde(default, deserialize_with = "or_default")]
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<ListedVersion>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: String,
}

#[derive(Default, Deserialize)]
struct Location {
    #[serde(default, deserialize_with = "or_default")]
    location: String,
    #[serde(default)]
    use_registry_credentials: Option<bool>,
}

/// The registry of one module.
pub(super) struct ModuleRegistry<'n> {
    network: &'n Network,
    /// The address of the module without its version.
    module: String,
    /// The URL of the module, which ends with a slash.
    base: Url,
    credentials: Option<Credentials>,
}

impl<'n> ModuleRegistry<'n> {
    /// Finds the registry of a module.
    pub(super) async fn of(
        network: &'n Network,
        package: &ModulePackage,
    ) -> Result<ModuleRegistry<'n>, FetchError> {
        let module = package.place();
        let (host, path) = module.split_once('/').unwrap_or_default();
        let host = HostName::parse(host).map_err(FetchError::Refused)?;
        let service = network.service(&host, "modules.v1").await.map_err(FetchError::Refused)?;
        let base = service.join(&format!("./{path}/"));
        let base = base.map_err(|error| FetchError::Refused(error.to_string()))?;
        let credentials = network.bearer(&host).await.map_err(FetchError::Refused)?;
        Ok(ModuleRegistry { network, module, base, credentials })
    }

    /// Returns the versions of the module.
    pub(super) async fn versions(&self) -> Result<TreeSet<Version>, FetchError> {
        let request = self.request("versions")?;
        let answer = self.network.ask(&request).await.map_err(|it| self.failed(&it))?;
        let response = answer.ok_or_else(|| {
            FetchError::Refused(format!("the registry has no module {}", self.module))
        })?;
        let list: VersionList = json(response).await.map_err(|it| self.failed(&it))?;
        let versions = list.modules.iter().flat_map(|it| &it.versions);
        Ok(versions.filter_map(|it| Version::parse(&it.version).ok()).collect())
    }

    /// Returns the place of the package of a version.
    pub(super) async fn location(&self, version: &str) -> Result<RegistryLocation, FetchError> {
        let request = self.request(&format!("{version}/download"))?;
        let answer = self.network.ask(&request).await.map_err(|it| self.failed(&it))?;
        let response = answer.ok_or_else(|| {
            let module = &self.module;
            FetchError::Refused(format!(
                "the registry has no version {version} of {module}; \"mayfly init -upgrade\" selects another one"
            ))
        })?;
        let document = response.url.clone();
        let header = response.headers.get(LOCATION_HEADER).cloned();
        let told: Location = match response.status {
            StatusCode::NO_CONTENT => Location::default(),
            _ => json(response).await.map_err(|it| self.failed(&it))?,
        };
        let location = match (told.location.as_str(), &header) {
            ("", Some(header)) => header.to_str().unwrap_or_default(),
            (location, _) => location,
        };
        if location.is_empty() {
            return Err(self.failed("it did not return a location for this package"));
        }
        match told.use_registry_credentials {
            None => indirect(location, &document).map_err(|it| self.failed(&it)),
            Some(wanted) => {
                let url = document.join(location).map_err(|it| self.failed(&it.to_string()))?;
                // The registry itself decides, and not a server that it redirects to.
                let is_own = wanted && url.has_origin_of(&self.base);
                let credentials = self.credentials.clone().filter(|_| is_own);
                let archive = Some(ArchiveAt { url, credentials, digest: None });
                Ok(RegistryLocation {
                    package: self.package(),
                    subdirectory: String::new(),
                    archive,
                })
            }
        }
    }

    fn package(&self) -> ModulePackage {
        let location = self.module.clone();
        ModulePackage { getter: Getter::Registry, location, query: TreeMap::new() }
    }

    fn request(&self, path: &str) -> Result<Request, FetchError> {
        let url = self.base.join(&format!("./{path}"));
        let url = url.map_err(|error| self.failed(&error.to_string()))?;
        let mut request = Request::get(url, MAX_DOCUMENT);
        request.headers.insert(VERSION_HEADER, COMPATIBLE_VERSION);
        request.credentials = self.credentials.clone();
        Ok(request)
    }

    fn failed(&self, cause: &str) -> FetchError {
        FetchError::Refused(format!("the registry of {} cannot be used: {cause}", self.module))
    }
}

/// Parses an address of a package in an answer. A path is relative to the document with the answer.
pub(super) fn indirect(location: &str, document: &Url) -> Result<RegistryLocation, String> {
    let is_path = ["/", "./", "../"].iter().any(|it| location.starts_with(it));
    let absolute = match is_path {
        true => document.join(location).map_err(|error| error.to_string())?.expose(),
        false => location.to_owned(),
    };
    let (package, subdirectory) =
        ModuleSource::parse_redirect(&absolute).map_err(|error| error.detail)?;
    // The answer of a stranger must not choose among the files of this machine.
    let is_file = package.location.starts_with("file:");
    match package.getter {
        Getter::File | Getter::Registry => Err(format!("it refers to {package}")),
        Getter::Git | Getter::Mercurial if is_file => Err(format!("it refers to {package}")),
        // Nor may it choose the server to which a token of the user's AWS account goes.
        Getter::S3 if !s3::is_at_aws(&package) => Err(format!(
            "it refers to {package}, and only a configuration may name another server of S3 than that of AWS"
        )),
        _ => Ok(RegistryLocation { package, subdirectory, archive: None }),
    }
}

/// Returns the newest version that all constraints allow. A prerelease must be named exactly. `None` if there is none.
pub(super) fn newest<'v>(
    versions: impl IntoIterator<Item = &'v Version>,
    constraint: &VersionConstraint,
) -> Option<&'v Version> {
    let is_named = |version: &Version| constraint.names(version);
    let allowed = |version: &&Version| {
        constraint.allows(version) && (!version.is_prerelease() || is_named(version))
    };
    versions.into_iter().filter(allowed).max()
}
