//! Service hosts: their names, their credentials, and the services that they offer.

mod credentials;
mod discovery;
mod name;
mod oauth;
#[cfg(test)]
mod tests;
mod token_program;

pub use credentials::{CredentialsPlace, HostCredentials};
pub(crate) use discovery::require_json;
pub use discovery::{ServiceError, Services, discover};
pub use name::HostName;
pub use oauth::{Authorization, Callback, OAuthClient, request_token_by_password};
pub(crate) use token_program::run_program;
