//! `mayfly/archive`: archives of files, as a data source and as a resource, modelled on the provider
//! `hashicorp/archive`.
//!
//! Start at [`provider`], then [`archive_file`]: it converts a configuration to an [`order::ArchiveRequest`],
//! [`collect`] finds the entries, and [`pack`] packs them.
//!
//! **Invariant:** the bytes of an archive depend only on names, contents and modes, not on times, owners, or the
//! order or location of the files on the disk.
//! **Invariant:** an archive never contains itself and is never half written.

mod archive_file;
mod collect;
mod order;
mod pack;

use mayfly_sdk::{ConfigureCall, Definition, Diagnostic, Server, Types};

use self::archive_file::ArchiveType;

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
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        SOURCE
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.resource(ArchiveType).data_source(ArchiveType);
    }
}
