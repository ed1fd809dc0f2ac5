//! `mayfly/local`: local files, as resources and data sources, modelled on the provider `hashicorp/local`.
//!
//! Start at [`provider`], then [`managed`] and [`reading`].
//!
//! **Invariant:** no error quotes the content of a file.
//! **Invariant:** a file is either complete or absent, and never has more permissions than configured.

mod managed;
mod reading;

use std::future::ready;

use managed::ManagedFile;
use reading::FileData;

use mayfly_sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, Object, Resource, Server,
    schema::{Block, Schema, string},
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
    type Client = ();

    fn name(&self) -> &'static str {
        SOURCE
    }

    fn schema(&self) -> Schema {
        Schema::new(Block::new())
    }

    fn configure<'a>(
        &'a self,
        _config: &'a Object,
        _core_version: &'a str,
        _diagnostics: &'a mut Diagnostics,
    ) -> provider::BoxFuture<'a, Result<(), Diagnostic>> {
        Box::pin(ready(Ok(())))
    }

    fn resources(&self) -> Vec<Box<dyn Resource<()>>> {
        vec![Box::new(ManagedFile::PLAIN), Box::new(ManagedFile::SENSITIVE)]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource<()>>> {
        vec![Box::new(FileData::PLAIN), Box::new(FileData::SENSITIVE)]
    }
}

/// Adds the computed attributes that all types have for their file.
fn with_hashes(block: Block) -> Block {
    let names = CONTENT_HASHES.into_iter().chain(["id"]);
    names.fold(block, |block, name| block.attribute(name, string().computed()))
}
