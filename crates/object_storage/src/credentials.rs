//! Credentials that were found.

use std::fmt;

use http_client::Credentials;

/// The keys of an account. `Debug` does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The ID, which is sent.
    pub id: String,
    /// The secret, which is never sent.
    pub secret: String,
    /// The token that temporary keys need.
    pub token: Option<String>,
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwsKeys")
    }
}

/// Keys, and the place in which they were found.
#[derive(Clone, Debug)]
pub(crate) struct FoundKeys {
    pub(crate) keys: AwsKeys,
    /// Follows the words "the AWS credentials".
    pub(crate) place: String,
}

/// A token, and the place in which it was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundToken {
    pub(crate) token: Credentials,
    /// Follows the words "the token".
    pub(crate) place: String,
}
