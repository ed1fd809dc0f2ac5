//! `mayfly/archive`: archives of files, as a data source and as a resource, after the provider `hashicorp/archive`.
//!
//! Start at [`provider`], then [`archive_file`]: it makes an [`order::Order`] of a configuration, [`collect`] finds what is
//! to be packed, [`pack`] packs it.
//!
//! **Invariant:** the bytes of an archive follow from names, contents and modes alone: no time, owner, order or place of
//! the disk is in them.
//! **Invariant:** an archive is never in itself, and never half written.

mod archive_file;
mod collect;
mod order;
mod pack;

use std::future::ready;

use archive_file::ArchiveFile;

use crate::sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, Object, Resource, Server,
    schema::{Block, Schema},
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/archive";

/// The provider, not configured.
#[must_use]
pub fn provider() -> Server<Archive> {
    Server::new(Archive)
}

/// The provider's parts.
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
