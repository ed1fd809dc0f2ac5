//! Module packages: fetches them, installs one directory for all calls that share a package, and verifies installed
//! packages against the lock file.
//!
//! ```text
//!   ModulePackage ──fetch──► .new/NAME ──Contents──► hash, compared with the lock ──settle──► .terraform/modules/NAME
//!                                                         └──────► NAME.h1, the list that was hashed
//! ```
//!
//! **Invariant:** an installed package is never modified, only replaced as a whole; a locked package has a locked hash.
//! **Invariant:** no entry of a package leads out of it, and no code of a package is run.

mod archive;
mod bucket_place;
mod buckets;
mod contents;
mod error;
mod fetch;
mod gcs;
mod git;
mod install;
mod manifest;
mod mercurial;
mod oci;
mod page;
mod registry;
mod s3;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use archive::Archive;
pub use contents::{Contents, Snapshot};
pub use error::FetchError;
pub(crate) use fetch::is_directory_name;
pub use git::Git;
pub(crate) use install::is_name;
pub use install::{
    ModuleEvent, ModuleInstallError, ModuleInstaller, ModuleRequest, ModuleSelection, WantedModule,
    module_package_below,
};
pub use manifest::{ManifestError, ModuleManifest, ModuleRecord};
pub use verify::{Alteration, LockedPackage, Verdict, is_configuration, verify_module_packages};
