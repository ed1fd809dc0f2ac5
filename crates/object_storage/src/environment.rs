//! The environment variables that name credentials and endpoints.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// All variables that are read.
const VARIABLES: [&str; 30] = [
    "AWS_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_PROFILE",
    "AWS_DEFAULT_REGION",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_METADATA_URL",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SECRET_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "CLOUDSDK_CONFIG",
    "GCE_METADATA_HOST",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
    "STORAGE_EMULATOR_HOST",
];

/// The environment variables that name credentials and endpoints, and the user's directory. `Debug` shows none.
#[derive(Clone, Default)]
pub struct StorageEnvironment {
    variables: BTreeMap<&'static str, String>,
    home: Option<PathBuf>,
}

impl StorageEnvironment {
    /// Reads the variables. `home` is the directory of the user.
    pub fn read(
        variable: &dyn Fn(&str) -> Option<String>,
        home: Option<PathBuf>,
    ) -> StorageEnvironment {
        let values = VARIABLES.into_iter().filter_map(|it| Some((it, variable(it)?)));
        let variables = values.filter(|(_, value)| !value.is_empty()).collect();
        StorageEnvironment { variables, home }
    }

    /// The value of a variable. `None` if it is unset or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(VARIABLES.contains(&name), "{name} is not read");
        self.variables.get(name).map(String::as_str)
    }

    /// The first variable that is set.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|it| self.get(it))
    }

    /// The path in a variable, or a path below the directory of the user.
    pub(crate) fn path(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        match self.get(name) {
            Some(path) => Some(self.expanded(path)),
            None => Some(self.home.as_ref()?.join(below_home)),
        }
    }

    /// A path in which `~` stands for the directory of the user.
    pub(crate) fn expanded(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => Path::new(path).to_owned(),
        }
    }
}

impl fmt::Debug for StorageEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StorageEnvironment")
    }
}
