//! Authentication of requests: a user and password, a token, keys of the API, or tokens of an OAuth 2.0 server.

use http_client::header::AUTHORIZATION;
use http_client::{Credentials, Request};

use super::build::BuildError;
use super::client::{RequestError, Sender};
use super::oauth2::TokenSource;
use super::settings::{ApiKey, Security, Settings};
use mayfly_sdk::Stop;

/// The authentication of one configured provider.
pub struct Authentication {
    kind: Kind,
}

enum Kind {
    None,
    Credentials(Credentials),
    ApiKeys(Vec<ApiKey>),
    OAuth2(Box<TokenSource>),
}

impl Authentication {
    /// Prepares the authentication. The user information of the base URL counts if no security is configured.
    ///
    /// # Errors
    /// Returns [`BuildError::Credentials`] if a header cannot contain the credentials.
    pub fn new(settings: &Settings) -> Result<Authentication, BuildError> {
        let credentials = |it: Option<_>| it.map(Kind::Credentials).ok_or(BuildError::Credentials);
        let kind = match &settings.security {
            Security::None => match &settings.base_url.user {
                Some(user) => Kind::Credentials(user.clone()),
                None => Kind::None,
            },
            Security::Basic { username, password } => {
                credentials(Credentials::basic(username.as_bytes(), password.reveal().as_bytes()))?
            }
            Security::Token { token, scheme } => {
                credentials(Credentials::with_scheme(scheme, token.reveal()))?
            }
            Security::ApiKeys(keys) => Kind::ApiKeys(keys.clone()),
            Security::OAuth2(oauth2) => Kind::OAuth2(Box::new(TokenSource::new(oauth2.clone()))),
        };
        Ok(Authentication { kind })
    }

    /// The keys that are parts of the request itself.
    pub fn keys(&self) -> &[ApiKey] {
        match &self.kind {
            Kind::ApiKeys(keys) => keys,
            Kind::None | Kind::Credentials(_) | Kind::OAuth2(_) => &[],
        }
    }

    /// The source of tokens. `None` for other kinds of authentication.
    pub fn token_source(&self) -> Option<&TokenSource> {
        match &self.kind {
            Kind::OAuth2(source) => Some(source),
            Kind::None | Kind::Credentials(_) | Kind::ApiKeys(_) => None,
        }
    }

    /// Adds credentials to a request, unless the request has a header `Authorization`.
    ///
    /// # Errors
    /// Returns a [`RequestError`] if a token is needed and the server gives none.
    pub async fn authorize(
        &self,
        request: &mut Request,
        sender: &Sender,
        stop: &mut Stop,
    ) -> Result<(), RequestError> {
        if request.headers.contains_key(AUTHORIZATION) {
            return Ok(());
        }
        request.credentials = match &self.kind {
            Kind::None | Kind::ApiKeys(_) => None,
            Kind::Credentials(credentials) => Some(credentials.clone()),
            Kind::OAuth2(source) => Some(source.credentials(sender, stop).await?),
        };
        Ok(())
    }
}
