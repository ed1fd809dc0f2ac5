//! The steps and the questions of `login` and `logout`.

use std::path::Path;

use packages::hosts::HostName;

/// The way in which a host issues tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mechanism {
    /// OAuth 2.0.
    OAuth,
    /// A page of the host on which the user creates a token.
    Browser,
}

/// The place that tokens are stored in.
#[derive(Clone, Copy, Debug)]
pub enum TokenStore<'a> {
    /// The credentials helper of this name.
    Helper(&'a str),
    /// A file.
    File(&'a Path),
}

/// A question of `login`.
#[derive(Clone, Copy)]
pub enum LoginQuestion<'a> {
    /// Confirmation of the login.
    Proceed,
    /// The name of the user at a host.
    User { host: &'a HostName },
    /// The password of the user. The answer must not be shown.
    Password { host: &'a HostName },
    /// A token. The answer must not be shown.
    Token { host: &'a HostName },
}

impl LoginQuestion<'_> {
    /// Returns true if the answer must not be shown.
    pub fn is_secret(&self) -> bool {
        matches!(self, LoginQuestion::Password { .. } | LoginQuestion::Token { .. })
    }
}

/// A step of `login` or `logout`.
#[derive(Clone, Copy)]
pub enum LoginStep<'a> {
    /// A token will be requested.
    Requesting { host: &'a HostName, mechanism: Mechanism },
    /// The user needs a browser on this machine.
    NeedsBrowser,
    /// The token will be stored after a successful login.
    WillStore { store: TokenStore<'a> },
    /// A new part of the login begins.
    Separator,
    /// A browser opens the page for the login.
    OpeningLoginPage { host: &'a HostName, url: &'a str },
    /// The user has to open the page for the login.
    LoginPage { host: &'a HostName, url: &'a str },
    /// The browser has to bring the answer of the host.
    Waiting,
    /// The password of the user is needed.
    UsesPassword,
    /// A browser opens the page with the tokens of the user.
    OpeningTokensPage { host: &'a HostName, url: &'a str },
    /// The user has to open the page with the tokens.
    TokensPage { host: &'a HostName, url: &'a str },
    /// The user has to create a token on that page.
    CreateToken,
    /// The token will be stored.
    Stores { store: TokenStore<'a> },
    /// The host confirmed that the token is valid.
    TokenOfUser { user: &'a str },
    /// The token is stored.
    LoggedIn { host: &'a HostName },
    /// The token is stored, for HashiCorp's service.
    LoggedInToCloud,
    /// The token is stored, for an installation of HashiCorp's product.
    LoggedInToEnterprise { host: &'a HostName },
    /// `logout` found no token.
    NothingStored { host: &'a HostName },
    /// The token is being removed.
    Removing { host: &'a HostName, store: TokenStore<'a> },
    /// The token is removed.
    LoggedOut { host: &'a HostName },
}
