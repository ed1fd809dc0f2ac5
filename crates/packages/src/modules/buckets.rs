//! Module packages in buckets: an archive, or a directory whose files are the objects below a prefix.

use std::path::{Path, PathBuf};

use addr::{Getter, ModulePackage};
use futures::{StreamExt, TryStreamExt, stream};
use http_client::Client;
use object_storage::{Bucket, ListedObject};

use super::archive::{Archive, MAX_BYTES};
use super::bucket_place::Place;
use super::contents::{LEFT_OUT, MAX_FILES};
use super::error::FetchError;
use super::fetch::{archive_of, unpack};
use super::{gcs, s3};
use crate::blocking::{AT_ONCE, blocking};
use crate::network::Network;
use crate::package::{create, inner_path};

/// An object that becomes a file of a package.
struct ObjectFile {
    object: ListedObject,
    path: PathBuf,
}

/// Writes the files of a package to an empty directory.
pub(super) async fn fetch(
    package: &ModulePackage,
    network: &Network,
    target: &Path,
) -> Result<(), FetchError> {
    let refused = FetchError::Refused;
    let storage = network.storage();
    let (bucket, place) = match package.getter {
        Getter::S3 => {
            let (address, place) = s3::place(package).map_err(refused)?;
            (storage.s3(&address).await?, place)
        }
        _ => {
            let (bucket, place) = gcs::place(package).map_err(refused)?;
            (storage.google(&bucket).await?, place)
        }
    };
    match archive_of(package)? {
        Some(kind) => archive(&bucket, &place, kind, network, target).await,
        None => directory(&bucket, &place, network, target).await,
    }
}

async fn archive(
    bucket: &Bucket<'_>,
    place: &Place,
    kind: Archive,
    network: &Network,
    target: &Path,
) -> Result<(), FetchError> {
    let mut request = bucket.object(&place.name, place.version.as_deref())?;
    request.max_bytes = MAX_BYTES;
    // Beside the package, which is on a file system with room for it.
    let parent = target.parent().unwrap_or(target).to_owned();
    let file = blocking(move || tempfile::tempfile_in(parent)).await?;
    let mut file = tokio::fs::File::from_std(file);
    let downloaded = network.client.download(&request, &mut file, &mut |_| {}).await;
    downloaded.map_err(|error| bucket.failed(error))?;
    let (file, target) = (file.into_std().await, target.to_owned());
    blocking(move || unpack(file, None, Some(kind), &target)).await
}

/// Downloads the objects below a prefix, several at once.
async fn directory(
    bucket: &Bucket<'_>,
    place: &Place,
    network: &Network,
    target: &Path,
) -> Result<(), FetchError> {
    if place.version.is_some() {
        let why = "a version selects an archive, and the address names none";
        return Err(FetchError::Refused(why.to_owned()));
    }
    // Without the slash, the list would also have the neighbours whose names go on.
    let prefix = match place.name.is_empty() || place.name.ends_with('/') {
        true => place.name.clone(),
        false => format!("{}/", place.name),
    };
    let files = files(bucket.list(&prefix).await?, &prefix, target).map_err(FetchError::Refused)?;
    if files.is_empty() {
        return Err(FetchError::Refused(format!(
            "it has no objects below {prefix:?}; add \"?archive=zip\" or \"?archive=tar.gz\" if the address is that \
             of an archive"
        )));
    }
    let download = |file| download(bucket, file, &network.client);
    stream::iter(files).map(download).buffer_unordered(AT_ONCE).try_collect().await
}

/// The files of listed objects, whose names the owner of the bucket chose. The error is a sentence fragment.
fn files(
    objects: Vec<ListedObject>,
    prefix: &str,
    target: &Path,
) -> Result<Vec<ObjectFile>, String> {
    let mut files = Vec::new();
    let mut left = MAX_BYTES;
    for object in objects {
        let name = object.name.strip_prefix(prefix).unwrap_or(&object.name);
        // An object whose name ends with a slash stands for a directory.
        if name.is_empty() || name.ends_with('/') {
            continue;
        }
        let path = inner_path(name).filter(|_| !name.contains(char::is_control));
        let path = path.ok_or_else(|| format!("its object {:?} cannot be a file", object.name))?;
        if path.iter().any(|part| LEFT_OUT.iter().any(|it| part == *it)) {
            continue;
        }
        left = left.checked_sub(object.size).ok_or_else(|| {
            format!("its objects have more than {MAX_BYTES} bytes, which no package has")
        })?;
        files.push(ObjectFile { object, path: target.join(path) });
    }
    match files.len() > MAX_FILES {
        true => Err(format!("it has more than {MAX_FILES} objects")),
        false => Ok(files),
    }
}

async fn download(
    bucket: &Bucket<'_>,
    file: ObjectFile,
    client: &Client,
) -> Result<(), FetchError> {
    let ObjectFile { object, path } = file;
    let mut request = bucket.object(&object.name, None)?;
    request.max_bytes = object.size;
    let created = blocking(move || create(&path, 0o644)).await;
    let created = created.map_err(|error| {
        FetchError::Refused(format!("its object {:?} cannot be a file: {error}", object.name))
    })?;
    let mut created = tokio::fs::File::from_std(created);
    let downloaded = client.download(&request, &mut created, &mut |_| {}).await;
    downloaded.map_err(|error| bucket.failed(error))?;
    Ok(())
}
