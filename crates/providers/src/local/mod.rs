//! `mayfly/local`: local files, as resources and data sources, modelled on the provider `hashicorp/local`.
//!
//! Start at [`provider`], then [`managed`] and [`reading`].
//!
//! **Invariant:** no error quotes the content of a file.
//! **Invariant:** a file is either complete or absent, and never has more permissions than configured.

mod managed;
mod reading;

use managed::ManagedFile;
use reading::FileData;

use mayfly_sdk::{
    ConfigureCall, Definition, Diagnostic, Server, Types,
    schema::{Block, string},
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/local";

/// The attributes for the digests, in the order of [`crate::files::Digests`].
const CONTENT_HASHES: [&str; 6] = [
    "content_md5",
    "content_sha1",
    "content_sha256",
    "content_sha512",
    "content_base64sha256",
    "content_base64sha512",
];

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
        types
            .erased_resource(Box::new(ManagedFile::PLAIN))
            .erased_resource(Box::new(ManagedFile::SENSITIVE))
            .erased_data_source(Box::new(FileData::PLAIN))
            .erased_data_source(Box::new(FileData::SENSITIVE));
    }
}

/// Adds the computed attributes that all types have for their file.
fn with_hashes(block: Block) -> Block {
    let names = CONTENT_HASHES.into_iter().chain(["id"]);
    names.fold(block, |block, name| block.attribute(name, string().computed()))
}
