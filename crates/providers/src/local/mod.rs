//! `mayfly/local`: local files, as resources and data sources, modelled on the provider `hashicorp/local`.
//!
//! Start at [`provider`], then [`managed`] and [`reading`].
//!
//! **Invariant:** no error quotes the content of a file.
//! **Invariant:** a file is either complete or absent, and never has more permissions than configured.

mod managed;
mod reading;

use mayfly_sdk::{ConfigureCall, Definition, Diagnostic, Model, Server, Types};

use self::{managed::ManagedFile, reading::FileData};
use crate::files::Digests;

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/local";

/// Creates the provider, not yet configured.
#[must_use]
pub fn provider() -> Server<Local> {
    Server::new(Local)
}

/// The definition of the provider.
pub struct Local;

impl Definition for Local {
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        SOURCE
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.resource(ManagedFile::Plain).resource(ManagedFile::Sensitive);
        types.data_source(FileData::Plain).data_source(FileData::Sensitive);
    }
}

/// The computed attributes of all types.
#[derive(Model)]
struct Hashes {
    /// The SHA-1 of the content in hexadecimal digits.
    #[attribute(computed)]
    id: Option<String>,
    /// The MD5 of the content in hexadecimal digits.
    #[attribute(computed)]
    content_md5: Option<String>,
    /// The SHA-1 of the content in hexadecimal digits.
    #[attribute(computed)]
    content_sha1: Option<String>,
    /// The SHA-256 of the content in hexadecimal digits.
    #[attribute(computed)]
    content_sha256: Option<String>,
    /// The SHA-512 of the content in hexadecimal digits.
    #[attribute(computed)]
    content_sha512: Option<String>,
    /// The SHA-256 of the content in base64.
    #[attribute(computed)]
    content_base64sha256: Option<String>,
    /// The SHA-512 of the content in base64.
    #[attribute(computed)]
    content_base64sha512: Option<String>,
}

impl From<Digests> for Hashes {
    fn from(digests: Digests) -> Hashes {
        Hashes {
            id: Some(digests.sha1.clone()),
            content_md5: Some(digests.md5),
            content_sha1: Some(digests.sha1),
            content_sha256: Some(digests.sha256),
            content_sha512: Some(digests.sha512),
            content_base64sha256: Some(digests.base64sha256),
            content_base64sha512: Some(digests.base64sha512),
        }
    }
}
