//! `mayfly/archive`: archives of files, as a data source and as a resource, modelled on the provider
//! `hashicorp/archive`.
//!
//! Start at [`provider`], then [`archive_file`]: it converts a configuration to an [`order::Order`], [`collect`]
//! finds the entries, and [`pack`] packs them.
//!
//! **Invariant:** the bytes of an archive depend only on names, contents and modes, not on times, owners, or the
//! order or location of the files on the disk.
//! **Invariant:** an archive never contains itself and is never half written.

mod archive_file;
mod collect;
mod order;
mod pack;

use std::future::ready;

use archive_file::ArchiveFile;

use mayfly_sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, Object, Resource, Server,
    schema::{Block, Schema},
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/archive";

/// Creates the provider, not yet configured.
#[must_use]
pub fn provider() -> Server<Archive> {
    Server::new(Archive)
}

/// The definition of the provider.
pub struct Archive;

impl Definition for Archive {
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
        vec![Box::new(ArchiveFile)]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource<()>>> {
        vec![Box::new(ArchiveFile)]
    }
}
