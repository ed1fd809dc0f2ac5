//! Objects of S3 and Google Cloud Storage: lists of them, and requests for them with the credentials of the user.
//!
//! Start reading at [`ObjectStorage`], then [`Bucket`], [`S3Address`] and [`StorageEnvironment`].
//!
//! ```text
//!   StorageEnvironment ─► ObjectStorage ──s3──────► keys ──► Bucket ──list, object──► signed Request ─► http_client
//!                                     └───google──► token ─┘
//!   keys:  address, environment, web identity, profile in a file, container, instance, or none
//!   token: environment, credentials file (of a service account or a user), instance, or none
//! ```
//!
//! **Invariant:** a secret key is never sent; a signature is good for one host, one object and some minutes.
//! **Invariant:** a token reaches the storage of Google over an encrypted connection, or the emulator that the user
//! names, and nothing else: [`http_client`] drops it when a server redirects to another origin.
//! **Invariant:** the number of listed objects, each answer and each wait are bounded.
//! **Invariant:** neither `Debug` output nor an error contains a key or a token.
//! **Absent on purpose:** what an object means, the names under which it is stored on this machine, printing.
//!
//! Its tests are in `tests` and beside the code, against servers on the loopback interface and known signatures.
#![expect(
    clippy::disallowed_methods,
    reason = "credentials are in files of the user, and a signature has the time of the clock"
)]

mod address;
mod bucket;
mod credentials;
mod environment;
mod error;
mod file;
pub mod fuzz;
mod google;
mod list;
mod s3;
mod service;
mod storage;
#[cfg(test)]
mod tests;

pub use bucket::Bucket;
pub use credentials::AwsKeys;
pub use environment::StorageEnvironment;
pub use error::StorageError;
pub use list::ListedObject;
pub use s3::{S3Address, S3Endpoint};
pub use storage::ObjectStorage;
