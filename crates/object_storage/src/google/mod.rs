//! Buckets of Google Cloud Storage, by its JSON interface.

mod account;
mod bucket;
mod token;

pub(crate) use bucket::{GoogleBucket, page};
