//! The access to buckets: the client, the environment, and the credentials that were found.

use std::collections::BTreeMap;
use std::fmt;

use http_client::Client;
use tokio::sync::{Mutex, OnceCell};

use crate::credentials::{FoundKeys, FoundToken};
use crate::environment::StorageEnvironment;

/// The access to buckets. Credentials are searched once for each profile.
pub struct ObjectStorage {
    pub(crate) client: Client,
    pub(crate) environment: StorageEnvironment,
    /// The keys of the profiles that were asked for. The empty name stands for the usual credentials.
    pub(crate) keys: Mutex<BTreeMap<String, Option<FoundKeys>>>,
    /// The token for the storage of Google.
    pub(crate) token: OnceCell<Option<FoundToken>>,
}

impl ObjectStorage {
    /// Creates the access. Nothing is read or asked before the first bucket.
    pub fn new(client: Client, environment: StorageEnvironment) -> ObjectStorage {
        ObjectStorage { client, environment, keys: Mutex::default(), token: OnceCell::new() }
    }
}

impl fmt::Debug for ObjectStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectStorage")
    }
}
