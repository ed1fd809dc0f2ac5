//! The operations `login` and `logout`: obtain a token from a host and store it, and remove it.

mod browser;
mod callback;
mod storage;

use db::{Diagnostic, Sources, Summary};
use http_client::{Client, Credentials, Request, StatusCode, Url};
use packages::{
    Token,
    hosts::{
        CredentialsPlace, HostCredentials, HostName, OAuthClient, ServiceError, Services, discover,
        request_token_by_password,
    },
};

use crate::{
    session::{Failure, Session},
    view::{LoginQuestion, LoginStep, Mechanism, Notice, Question, TokenStore},
};

/// The host of HashiCorp's service, which has its own page after a login and is the only one that may ask for a
/// password.
const HCP_TERRAFORM: &str = "app.terraform.io";

/// The largest accepted description of a user, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Obtains a token for a host from its login service, and stores it. `may_ask` is false if questions are forbidden.
pub fn login(session: &Session, host: &str, may_ask: bool) -> Result<(), Failure> {
    if !may_ask {
        let detail = "\"mayfly login\" asks for confirmation and lets you log in with a browser, so it needs \
                      input.\n\nTo configure a token without questions, set the environment variable TF_TOKEN_HOST, \
                      or write a credentials block in the CLI configuration.";
        return Err(Diagnostic::new(Summary::LOGIN_INPUT, detail).into());
    }
    let host = host_name(host)?;
    let config = session.cli_config()?;
    let credentials = session.host_credentials(config);
    let client = session.http_client();
    let services = session.runtime.block_on(async {
        // A host that needs no token for its services can be asked without one.
        let token = credentials.token(&host).await.ok().flatten();
        discover(&client, &config.services, &host, token.as_ref()).await
    });
    let services = services.map_err(|cause| {
        Diagnostic::new(Summary::service_discovery(host.to_string()), sentence(&cause))
    })?;
    if credentials.place(&host) == CredentialsPlace::OtherFile {
        return Err(configured_by_hand(&host, "log in"));
    }
    let run = Login { session, host: &host, client: &client, credentials: &credentials };
    let (token, success) = run.request(&services)?;
    storage::store(session, &credentials, &host, &token)?;
    run.step(LoginStep::Separator);
    run.step(success);
    Ok(())
}

/// Removes the stored token of a host.
pub fn logout(session: &Session, host: &str) -> Result<(), Failure> {
    let host = host_name(host)?;
    let credentials = session.host_credentials(session.cli_config()?);
    let step = |step: LoginStep<'_>| session.view.notice(&Notice::Login(step));
    match credentials.place(&host) {
        CredentialsPlace::OtherFile => return Err(configured_by_hand(&host, "log out")),
        CredentialsPlace::Nowhere => {
            step(LoginStep::NothingStored { host: &host });
            return Ok(());
        }
        CredentialsPlace::Helper | CredentialsPlace::File => {
            let store = token_store(&credentials, &host);
            step(LoginStep::Removing { host: &host, store });
        }
    }
    storage::forget(session, &credentials, &host)?;
    step(LoginStep::LoggedOut { host: &host });
    Ok(())
}

fn host_name(text: &str) -> Result<HostName, Failure> {
    HostName::parse(text).map_err(|cause| {
        let detail = format!("The given hostname {text:?} is not valid: {cause}.");
        Diagnostic::new(Summary::INVALID_HOST, detail).into()
    })
}

fn configured_by_hand(host: &HostName, action: &str) -> Failure {
    let detail = format!(
        "This command cannot {action}, because the CLI configuration has a credentials block for this host.\n\nRevoke \
         the token at the host, and remove the block from the file. After that, \"mayfly login\" can manage a token."
    );
    Diagnostic::new(Summary::configured_credentials(host.to_string()), detail).into()
}

/// The place that a token of the host is stored in.
fn token_store<'a>(credentials: &'a HostCredentials, host: &HostName) -> TokenStore<'a> {
    match credentials.place(host) {
        CredentialsPlace::Helper => TokenStore::Helper(credentials.helper_name()),
        _ => TokenStore::File(credentials.file().unwrap_or(std::path::Path::new(""))),
    }
}

fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// A login at one host.
struct Login<'a> {
    session: &'a Session,
    host: &'a HostName,
    client: &'a Client,
    credentials: &'a HostCredentials,
}

impl<'a> Login<'a> {
    fn step(&self, step: LoginStep<'_>) {
        self.session.view.notice(&Notice::Login(step));
    }

    /// Requests a token with the service that the host offers. Returns the message after its storage, too.
    fn request(&self, services: &Services) -> Result<(Token, LoginStep<'a>), Failure> {
        let host = self.host;
        let registration = match OAuthClient::of(services) {
            Ok(registration) => Some(registration),
            Err(ServiceError::NotProvided { .. }) => None,
            Err(error) => {
                let detail = format!("The host {host} cannot support \"mayfly login\": {error}.");
                let warning = Diagnostic::new(Summary::LOGIN_NOT_UNDERSTOOD, detail);
                self.session.view.diagnostics(&[warning], &Sources::default());
                None
            }
        };
        let is_hcp = host.as_str() == HCP_TERRAFORM;
        let done = match is_hcp {
            true => LoginStep::LoggedInToCloud,
            false => LoginStep::LoggedIn { host },
        };
        match registration {
            Some(it) if it.has_code_grant() => Ok((self.by_code(&it)?, done)),
            Some(it) if it.has_password_grant() && is_hcp => Ok((self.by_password(&it)?, done)),
            Some(_) => {
                let detail = format!(
                    "The host {host} allows no way of logging in that this version of Mayfly supports."
                );
                Err(Diagnostic::new(Summary::LOGIN_UNSUPPORTED, detail).into())
            }
            None => {
                let service = services.url("tfe.v2").map_err(|error| {
                    let detail = match error {
                        ServiceError::NotProvided { .. } => format!(
                            "The host {host} does not support creating authorization tokens."
                        ),
                        error => {
                            format!("The host {host} cannot support \"mayfly login\": {error}.")
                        }
                    };
                    Diagnostic::new(Summary::NO_TOKENS_API, detail)
                })?;
                Ok((self.by_page(&service)?, LoginStep::LoggedInToEnterprise { host }))
            }
        }
    }

    /// Explains the login and asks for confirmation.
    fn confirm(&self, mechanism: Mechanism, has_browser: bool) -> Result<(), Failure> {
        self.step(LoginStep::Requesting { host: self.host, mechanism });
        if has_browser {
            self.step(LoginStep::NeedsBrowser);
        }
        let store = token_store(self.credentials, self.host);
        self.step(LoginStep::WillStore { store });
        let answer = self.ask(LoginQuestion::Proceed)?;
        if answer.eq_ignore_ascii_case("yes") {
            return Ok(());
        }
        let detail = "The login was not confirmed, so nothing was changed.";
        Err(Diagnostic::new(Summary::LOGIN_CANCELLED, detail).into())
    }

    fn ask(&self, question: LoginQuestion<'_>) -> Result<String, Failure> {
        let answer = self.session.view.ask(&Question::Login(question)).map_err(|_| {
            let detail = "The answer could not be read, so nothing was changed.";
            Diagnostic::new(Summary::LOGIN_NO_ANSWER, detail)
        })?;
        self.session.view.notice(&Notice::AnswerAccepted);
        Ok(answer)
    }

    /// Logs in with a browser, which brings an authorization code back.
    fn by_code(&self, registration: &OAuthClient) -> Result<Token, Failure> {
        self.confirm(Mechanism::OAuth, true)?;
        self.session.runtime.block_on(async {
            let ports = registration.ports.clone();
            let Some((listener, port)) = callback::listen(ports.clone()).await else {
                let detail = format!(
                    "The login needs a temporary server on this machine, to which the browser brings the answer of \
                     the host. No port from {} to {} is free for it.",
                    ports.start(),
                    ports.end()
                );
                return Err(Diagnostic::new(Summary::LOGIN_SERVER, detail).into());
            };
            let failed = |cause: String| {
                let detail = format!("The remote server did not assign an auth token: {cause}.");
                Failure::from(Diagnostic::new(Summary::LOGIN_FAILED, detail))
            };
            let pending = registration.authorize(port).map_err(failed)?;
            let url = pending.url.clone();
            let is_open = browser::open(self.session, &url).await;
            self.step(match is_open {
                true => LoginStep::OpeningLoginPage { host: self.host, url: &url },
                false => LoginStep::LoginPage { host: self.host, url: &url },
            });
            self.step(LoginStep::Waiting);
            let code = callback::receive(listener, &pending).await.map_err(failed)?;
            pending.request_token(self.client, registration, &code).await.map_err(failed)
        })
    }

    /// Logs in with the name and the password of the user.
    fn by_password(&self, registration: &OAuthClient) -> Result<Token, Failure> {
        self.confirm(Mechanism::OAuth, false)?;
        self.step(LoginStep::Separator);
        self.step(LoginStep::UsesPassword);
        let user = self.ask(LoginQuestion::User { host: self.host })?;
        let password = self.ask(LoginQuestion::Password { host: self.host })?;
        let request = request_token_by_password(self.client, registration, &user, &password);
        self.session.runtime.block_on(request).map_err(|cause| {
            let detail = format!("The remote host did not issue an API token: {cause}.");
            Diagnostic::new(Summary::PASSWORD_REFUSED, detail).into()
        })
    }

    /// Asks for a token that the user creates on a page of the host.
    fn by_page(&self, service: &Url) -> Result<Token, Failure> {
        self.confirm(Mechanism::Browser, false)?;
        self.step(LoginStep::Separator);
        let url = format!("https://{}/app/settings/tokens?source=terraform-login", service.host());
        let is_open = self.session.runtime.block_on(browser::open(self.session, &url));
        self.step(match is_open {
            true => LoginStep::OpeningTokensPage { host: self.host, url: &url },
            false => LoginStep::TokensPage { host: self.host, url: &url },
        });
        self.step(LoginStep::Separator);
        self.step(LoginStep::CreateToken);
        let store = token_store(self.credentials, self.host);
        self.step(LoginStep::Stores { store });
        let answer = self.ask(LoginQuestion::Token { host: self.host })?;
        let token = Token::new(answer.trim());
        let user = self.session.runtime.block_on(user_of(self.client, service, &token))?;
        self.step(LoginStep::TokenOfUser { user: &user });
        Ok(token)
    }
}

/// Asks the host for the user of a token, which shows that the token is valid.
async fn user_of(client: &Client, service: &Url, token: &Token) -> Result<String, Failure> {
    let failed = |cause: &dyn std::fmt::Display| {
        let detail = format!("The host did not tell the user of the token: {cause}.");
        Failure::from(Diagnostic::new(Summary::TOKEN_USER, detail))
    };
    if !service.is_https() && !service.is_loopback() {
        return Err(failed(&format!("{service} is not encrypted")));
    }
    let url = service.join("account/details").map_err(|error| failed(&error))?;
    let mut request = Request::get(url, MAX_BYTES);
    request.credentials = Credentials::bearer(token.expose());
    let response = client.send(&request).await.map_err(|error| failed(&error))?;
    if response.status == StatusCode::UNAUTHORIZED || request.credentials.is_none() {
        let detail = "The host does not accept the token.";
        return Err(Diagnostic::new(Summary::INVALID_TOKEN, detail).into());
    }
    let response = response.success().map_err(|error| failed(&error))?;
    let body = response.body.bytes().await.map_err(|error| failed(&error))?;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let user = body.pointer("/data/attributes/username").and_then(|it| it.as_str());
    let user = user.ok_or_else(|| failed(&"its answer is not understood"))?;
    Ok(user.chars().filter(|it| !it.is_control()).collect())
}
