//! Module packages in OCI repositories: `oci://HOST/REPOSITORY`, with `?tag=` or `?digest=`.

use addr::ModulePackage;

use super::error::FetchError;
use super::registry::{ArchiveAt, RegistryLocation};
use crate::network::Network;
use crate::oci::{Descriptor, OciManifest, Repository, is_tag, sha256_digits};

/// The artifact type of a module package.
const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// The media type of the archive.
const ARCHIVE: &str = "archive/zip";

/// Returns the place of the archive of a package.
pub(super) async fn location(
    package: &ModulePackage,
    network: &Network,
) -> Result<RegistryLocation, FetchError> {
    let refused = FetchError::Refused;
    let address = package.location.strip_prefix("oci://").unwrap_or(&package.location);
    let repository = Repository::new(network.oci(), address).map_err(refused)?;
    let value = |name: &str| package.query.get(name).filter(|it| !it.is_empty());
    let reference = match (value("tag"), value("digest")) {
        (Some(_), Some(_)) => {
            return Err(refused("\"tag\" and \"digest\" cannot both be given".to_owned()));
        }
        (None, Some(digest)) if sha256_digits(digest).is_none() => {
            return Err(refused(format!("{digest:?} is not a digest of SHA-256")));
        }
        (Some(tag), None) if !is_tag(tag) => {
            return Err(refused(format!("{tag:?} cannot be the name of a tag")));
        }
        (tag, digest) => tag.or(digest).map_or("latest", String::as_str),
    };
    let manifest = repository.manifest(reference).await.map_err(refused)?;
    let manifest = manifest.ok_or_else(|| refused(format!("it has no {reference:?}")))?;
    let layer = archive_in(&manifest).map_err(|it| refused(it.to_owned()))?;
    let request = repository.blob(layer).await.map_err(refused)?;
    Ok(RegistryLocation {
        package: package.clone(),
        subdirectory: String::new(),
        archive: Some(ArchiveAt {
            url: request.url,
            credentials: request.credentials,
            digest: sha256_digits(&layer.digest).map(str::to_owned),
        }),
    })
}

/// The layer with the archive.
fn archive_in(manifest: &OciManifest) -> Result<&Descriptor, &'static str> {
    if manifest.artifact_type != MODULE {
        return Err("it is not a module package: its artifact has another type");
    }
    let mut layers = manifest.layers.iter().filter(|it| it.media_type == ARCHIVE);
    match (layers.next(), layers.next()) {
        (Some(layer), None) => Ok(layer),
        (None, _) => Err("it has no archive of the type archive/zip"),
        (Some(_), Some(_)) => Err("it has several archives of the type archive/zip"),
    }
}
