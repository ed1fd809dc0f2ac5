//! Packages of modules: getting them, putting one directory in place for all calls that share it, and noticing when it is not
//! what was locked any more.
//!
//! ```text
//!   ModulePackage ──fetch──► .new/NAME ──Contents──► hash, compared with the lock ──settle──► .terraform/modules/NAME
//!                                                         └──────► NAME.h1, the list that was hashed
//! ```
//!
//! **Invariant:** a package in place is never written to, only replaced as a whole; what is put in place has the hash that
//! is locked, if one is.
//! **Invariant:** no entry of a package leads out of it, and nothing of a package is run.

mod archive;
mod contents;
mod fetch;
mod git;
mod install;
mod manifest;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use archive::Archive;
pub use contents::{Contents, Snapshot};
pub use fetch::FetchError;
pub use git::Git;
pub(crate) use install::is_name;
pub use install::{
    ModuleEvent, ModuleInstallError, ModuleInstaller, ModuleRequest, module_package_below,
};
pub use manifest::{ManifestError, ModuleManifest, ModuleRecord};
pub use verify::{Alteration, Verdict, is_configuration, verify_module_package};
