//! OCI mirrors: repositories of an OCI registry, one for each provider, with a tag for each version.

use std::fmt;

use addr::{ProviderSource, Version};
use sorted::TreeSet;

use crate::hash::Hash;
use crate::network::Network;
use crate::oci::{Descriptor, OciManifest, Repository, sha256_digits};
use crate::platform::Platform;
use crate::remote_package::{Proof, RemotePackage};

/// The artifact types of a version and of its package for one platform.
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// The media type of a package.
const PACKAGE: &str = "archive/zip";

/// An OCI mirror, by the template for the addresses of its repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciMirror {
    template: String,
}

impl fmt::Display for OciMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.template)
    }
}

impl OciMirror {
    pub(crate) fn new(template: &str) -> OciMirror {
        OciMirror { template: template.to_owned() }
    }

    /// Returns the versions that the mirror has of a provider.
    pub(crate) async fn versions(
        &self,
        network: &Network,
        source: &ProviderSource,
    ) -> Result<TreeSet<Version>, String> {
        let tags = self.repository(network, source)?.tags().await?.unwrap_or_default();
        // A tag cannot have the plus of a version's build metadata. Other tags are no versions.
        let versions = tags.iter().filter_map(|it| Version::parse(&it.replace('_', "+")).ok());
        Ok(versions.collect())
    }

    /// Returns the package of a version for a platform. `None` if the mirror has none.
    pub(crate) async fn package(
        &self,
        network: &Network,
        source: &ProviderSource,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<RemotePackage>, String> {
        let repository = self.repository(network, source)?;
        let tag = version.to_string().replace('+', "_");
        let Some(index) = repository.manifest(&tag).await? else { return Ok(None) };
        let failed = |cause: &str| {
            format!("the OCI mirror {self} has no usable {source} {version}: {cause}")
        };
        if index.artifact_type != PROVIDER {
            return Err(failed("its artifact is not a provider"));
        }
        let is_target = |it: &&Descriptor| {
            let platform_of = it.platform.as_ref();
            it.artifact_type == TARGET
                && platform_of
                    .is_some_and(|it| (&it.os, &it.architecture) == (&platform.os, &platform.arch))
        };
        let mut targets = index.manifests.iter().filter(is_target);
        let Some(target) = targets.next() else { return Ok(None) };
        if targets.next().is_some() {
            return Err(failed("it has several packages for this platform"));
        }
        let manifest = repository.manifest(&target.digest).await?;
        let manifest = manifest.ok_or_else(|| failed("a manifest is missing"))?;
        let layer = package_of(&manifest).map_err(failed)?;
        let request = repository.blob(layer).await?;
        let digits = sha256_digits(&layer.digest).unwrap_or_default();
        let hashes = TreeSet::from([Hash::parse(&format!("zh:{digits}"))?]);
        let proof = Proof::Hashes { hashes, trusts_all_hashes: false };
        Ok(Some(RemotePackage::new(request.url, request.credentials, proof)))
    }

    /// The repository of a provider.
    fn repository<'n>(
        &self,
        network: &'n Network,
        source: &ProviderSource,
    ) -> Result<Repository<'n>, String> {
        Repository::new(network.oci(), &expanded(&self.template, source))
    }
}

/// The layer with the package.
fn package_of(manifest: &OciManifest) -> Result<&Descriptor, &'static str> {
    if manifest.artifact_type != TARGET {
        return Err("the artifact for this platform is not a package");
    }
    let mut layers = manifest.layers.iter().filter(|it| it.media_type == PACKAGE);
    match (layers.next(), layers.next()) {
        (Some(layer), None) => Ok(layer),
        (None, _) => Err("it has no package of the type archive/zip"),
        (Some(_), Some(_)) => Err("it has several packages of the type archive/zip"),
    }
}

/// Replaces the symbols in a template, which was checked when the CLI configuration was read.
fn expanded(template: &str, source: &ProviderSource) -> String {
    let mut address = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        address.push_str(before);
        address.push_str(match name.trim() {
            "hostname" => &source.host,
            "namespace" => &source.namespace,
            _ => &source.type_name,
        });
        rest = behind;
    }
    address.push_str(rest);
    address
}
