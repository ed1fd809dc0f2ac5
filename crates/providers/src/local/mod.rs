//! `mayfly/local`: files of this machine, as resources and data sources, after the provider `hashicorp/local`.
//!
//! Start at [`provider`], then [`managed`] and [`reading`].
//!
//! **Invariant:** no error quotes what is in a file, or is to be written into one.
//! **Invariant:** a file is whole or not there, and never readable by more than its permissions say.

mod managed;
mod reading;

use std::future::ready;

use managed::ManagedFile;
use reading::FileData;

use crate::sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, Object, Resource, Server,
    schema::{Block, Schema, string},
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/local";

/// The attributes of the hashes, in the order of [`crate::files::Digests`].
const CONTENT_HASHES: [&str; 6] = [
    "content_md5",
    "content_sha1",
    "content_sha256",
    "content_sha512",
    "content_base64sha256",
    "content_base64sha512",
];

/// The provider, not configured.
#[must_use]
pub fn provider() -> Server<Local> {
    Server::new(Local)
}

/// The provider's parts.
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

/// Adds what every type tells of its file.
fn with_hashes(block: Block) -> Block {
    let names = CONTENT_HASHES.into_iter().chain(["id"]);
    names.fold(block, |block, name| block.attribute(name, string().computed()))
}
