//! Buckets of both services: lists of objects, and requests for single ones.

use http_client::{Client, Error, Request};

use crate::error::StorageError;
use crate::google::{self, GoogleBucket};
use crate::list::{ListedObject, Page};
use crate::s3::{self, S3Address, S3Bucket};
use crate::storage::ObjectStorage;

/// The most objects that a list may have. No package has so many.
const MOST_OBJECTS: usize = 200_000;

/// The most pages of a list: a page may be nearly empty.
const MOST_PAGES: usize = 400;

/// The longest name of an object, in bytes, which both services have as their limit.
const MAX_NAME: usize = 1 << 10;

/// The largest accepted page of a list, in bytes.
const MAX_PAGE: u64 = 8 << 20;

/// A bucket, with the credentials for it.
pub struct Bucket<'s> {
    client: &'s Client,
    service: Service,
}

enum Service {
    S3(S3Bucket),
    Google(GoogleBucket),
}

impl ObjectStorage {
    /// Finds the credentials for a bucket of S3. Without any, its requests are not signed, as for a public bucket.
    ///
    /// # Errors
    /// Returns a [`StorageError`] for an address that names no bucket, and for credentials that cannot be used.
    pub async fn s3(&self, address: &S3Address) -> Result<Bucket<'_>, StorageError> {
        let service = Service::S3(S3Bucket::open(self, address).await?);
        Ok(Bucket { client: &self.client, service })
    }

    /// Finds the credentials for a bucket of Google Cloud Storage. Without any, its requests have none, as for a public
    /// bucket.
    ///
    /// # Errors
    /// Returns a [`StorageError`] for a name that no bucket has, and for credentials that cannot be used.
    pub async fn google(&self, bucket: &str) -> Result<Bucket<'_>, StorageError> {
        let service = Service::Google(GoogleBucket::open(self, bucket).await?);
        Ok(Bucket { client: &self.client, service })
    }
}

impl Bucket<'_> {
    /// Lists the objects whose names begin with a prefix.
    ///
    /// # Errors
    /// Returns a [`StorageError`] if the service does not answer with a list, or with one that is too long.
    pub async fn list(&self, prefix: &str) -> Result<Vec<ListedObject>, StorageError> {
        let mut objects: Vec<ListedObject> = Vec::new();
        let mut next = None;
        for _ in 0..MOST_PAGES {
            let page = self.page(prefix, next.as_deref()).await?;
            page.objects.iter().try_for_each(|it| check_name(&it.name, prefix))?;
            objects.extend(page.objects);
            if objects.len() > MOST_OBJECTS {
                break;
            }
            let is_same = page.next == next;
            next = page.next;
            match next {
                None => return Ok(objects),
                Some(_) if is_same => break,
                Some(_) => {}
            }
        }
        let why = format!("its list does not end, or has more than {MOST_OBJECTS} objects");
        Err(StorageError::Refused(why))
    }

    async fn page(&self, prefix: &str, token: Option<&str>) -> Result<Page, StorageError> {
        let mut request = match &self.service {
            Service::S3(bucket) => bucket.page(prefix, token)?,
            Service::Google(bucket) => bucket.page(prefix, token)?,
        };
        request.max_bytes = MAX_PAGE;
        let response = self.client.send(&request).await.and_then(|it| it.success());
        let response = response.map_err(|it| self.failed(it))?;
        let body = response.body.bytes().await.map_err(|it| self.failed(it))?;
        let page = match &self.service {
            Service::S3(_) => s3::page(&body),
            Service::Google(_) => google::page(&body),
        };
        page.ok_or_else(|| StorageError::refused("the list of its objects is not understood"))
    }

    /// The request for the content of an object, or of a version of it. It is to be sent soon.
    ///
    /// # Errors
    /// Returns a [`StorageError`] if no request can name the object.
    pub fn object(&self, name: &str, version: Option<&str>) -> Result<Request, StorageError> {
        match &self.service {
            Service::S3(bucket) => bucket.object(name, version),
            Service::Google(bucket) => bucket.object(name, version),
        }
    }

    /// Adds advice to the error of a request of this bucket.
    pub fn failed(&self, cause: Error) -> StorageError {
        let advice = match &self.service {
            Service::S3(bucket) => bucket.advice(&cause),
            Service::Google(bucket) => bucket.advice(&cause),
        };
        StorageError::Http { cause, advice }
    }
}

fn check_name(name: &str, prefix: &str) -> Result<(), StorageError> {
    if name.len() > MAX_NAME {
        let why = format!("its list has a name with more than {MAX_NAME} bytes");
        return Err(StorageError::Refused(why));
    }
    match name.starts_with(prefix) {
        true => Ok(()),
        false => {
            Err(StorageError::Refused(format!("its list has {name:?}, which was not asked for")))
        }
    }
}
