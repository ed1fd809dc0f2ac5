//! Buckets of S3, and of services with the same interface.

mod bucket;
mod keys;
mod list;
mod profile;
mod services;
mod signature;

pub(crate) use bucket::S3Bucket;
pub use bucket::{S3Address, S3Endpoint};
pub(crate) use list::page;
pub(crate) use profile::sections;
