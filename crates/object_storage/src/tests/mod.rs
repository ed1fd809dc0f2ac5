//! Tests against servers on the loopback interface.

mod credentials;
mod google;
mod lists;
mod server;

use std::path::Path;

use http_client::{Client, ClientConfig, Trust, header};

use crate::{ObjectStorage, StorageEnvironment};

/// The access with these variables. `HOME` in a value is the directory.
fn storage(home: &Path, variables: &[(&str, &str)]) -> ObjectStorage {
    let shown = home.display().to_string();
    let variable = |name: &str| {
        let found = variables.iter().find(|it| it.0 == name);
        found.map(|(_, value)| value.replace("HOME", &shown))
    };
    let environment = StorageEnvironment::read(&variable, Some(home.to_owned()));
    let user_agent = header::HeaderValue::from_static("Test/1");
    let mut config = ClientConfig::from_environment(user_agent, &|_| None);
    config.trust = Trust::default();
    config.retries.most = 0;
    ObjectStorage::new(Client::new(config), environment)
}
