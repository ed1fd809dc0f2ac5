//! The settings of the provider. The constructors check the rules that the types cannot express.
//!
//! **Invariant:** settings have no `Debug`: they contain secrets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use http_client::{Credentials, Method, Url};

use mayfly_sdk::{Choice, Model, Secret};

use super::retry::RetryPolicy;

/// Parameters of a query: the values of each name, in their order.
pub type Query = BTreeMap<String, Vec<String>>;

/// Headers: one value for each name.
pub type Headers = BTreeMap<String, String>;

/// An invalid value in the configuration of the provider. It quotes no value that can be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid `{attribute}`: {problem}")]
pub struct SettingError {
    /// The path of the attribute, such as `client.retry.count`.
    pub attribute: String,
    /// The problem, as a sentence fragment.
    pub problem: String,
}

impl SettingError {
    pub(in crate::restful) fn new(attribute: &str, problem: impl Into<String>) -> SettingError {
        SettingError { attribute: attribute.to_owned(), problem: problem.into() }
    }
}

/// The settings of one provider.
#[derive(Clone)]
pub struct Settings {
    /// The URL below which all relative paths are.
    pub base_url: BaseUrl,
    /// The default methods of resources.
    pub methods: Methods,
    /// True if updates by `PATCH` send the whole body in place of a merge patch.
    pub merge_patch_disabled: bool,
    /// The default query of every request.
    pub query: Query,
    /// The default headers of every request.
    pub headers: Headers,
    /// The authentication.
    pub security: Security,
    /// The settings of connections.
    pub client: ClientSettings,
}

impl Settings {
    /// Creates the settings that only name a base URL.
    pub fn new(base_url: BaseUrl) -> Settings {
        Settings {
            base_url,
            methods: Methods::default(),
            merge_patch_disabled: false,
            query: Query::new(),
            headers: Headers::new(),
            security: Security::None,
            client: ClientSettings::default(),
        }
    }
}

/// The base URL without its trailing slashes. `Debug` does not show its user information.
#[derive(Clone, Debug)]
pub struct BaseUrl {
    pub(super) prefix: String,
    pub(super) url: Url,
    /// The user information of the URL, which is used unless the security settings name credentials.
    pub(super) user: Option<Credentials>,
}

impl BaseUrl {
    /// Parses an absolute URL of `http` or `https` without a query.
    ///
    /// # Errors
    /// Returns a [`SettingError`] for every other text.
    pub fn parse(text: &str) -> Result<BaseUrl, SettingError> {
        let (plain, user) = Credentials::split_from(text);
        let invalid = |problem: String| SettingError::new("base_url", problem);
        let url = Url::parse(&plain).map_err(|error| invalid(error.to_string()))?;
        if url.query().is_some() {
            let problem = "it has a query; use `query` for the parameters of every request";
            return Err(invalid(problem.to_owned()));
        }
        let prefix = url.expose().trim_end_matches('/').to_owned();
        Ok(BaseUrl { prefix, url, user })
    }
}

/// The methods by which resources are created, updated and deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Methods {
    /// `PUT` or `POST`.
    pub create: Method,
    /// `PUT` or `PATCH`.
    pub update: Method,
    /// `DELETE` or `POST`.
    pub delete: Method,
}

impl Default for Methods {
    fn default() -> Methods {
        Methods { create: Method::POST, update: Method::PUT, delete: Method::DELETE }
    }
}

/// The authentication of every request.
#[derive(Clone, Default)]
pub enum Security {
    /// None.
    #[default]
    None,
    /// A user and a password: `security.http.basic`.
    Basic { username: String, password: Secret },
    /// A token in the `Authorization` header: `security.http.token`.
    Token { token: Secret, scheme: String },
    /// Keys of the API: `security.apikey`.
    ApiKeys(Vec<ApiKey>),
    /// Tokens of an OAuth 2.0 server: `security.oauth2`.
    OAuth2(OAuth2),
}

impl Security {
    /// Chooses the only block of `security`, or of one of its blocks with alternatives.
    ///
    /// # Errors
    /// Returns a [`SettingError`] unless exactly one block is set.
    pub fn only<T>(
        attribute: &str,
        blocks: impl IntoIterator<Item = Alternative<T>>,
    ) -> Result<T, SettingError> {
        let mut names = Vec::new();
        let mut found = Vec::new();
        for Alternative { name, value } in blocks {
            names.push(format!("`{name}`"));
            found.extend(value);
        }
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => {
                let problem = format!("exactly one of {} must be set", names.join(", "));
                Err(SettingError::new(attribute, problem))
            }
        }
    }

    /// The configured secrets.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let (first, second) = match self {
            Security::None | Security::ApiKeys(_) => (None, None),
            Security::Basic { password, .. } => (Some(password), None),
            Security::Token { token, .. } => (Some(token), None),
            Security::OAuth2(oauth2) => {
                let of_grant = match &oauth2.grant {
                    Grant::Password { password, .. } => Some(password),
                    Grant::ClientCredentials { .. } => None,
                    Grant::RefreshToken { refresh_token, .. } => Some(refresh_token),
                };
                (of_grant, oauth2.registration.as_ref().map(|it| &it.secret))
            }
        };
        first.into_iter().chain(second)
    }

    /// Creates token authentication. The scheme is `Bearer` by default.
    pub fn token(token: Secret, scheme: Option<String>) -> Security {
        Security::Token { token, scheme: scheme.unwrap_or_else(|| "Bearer".to_owned()) }
    }
}

/// One of several blocks of which exactly one may be set.
#[derive(Clone)]
pub struct Alternative<T> {
    /// The name of the block.
    pub name: &'static str,
    /// Its content. `None` if it is not set.
    pub value: Option<T>,
}

/// A key of the API.
#[derive(Clone, Model)]
pub struct ApiKey {
    /// The name of the header, parameter or cookie.
    pub name: String,
    /// The part of the request: header, query or cookie.
    #[attribute(name = "in")]
    pub place: KeyPlace,
    /// The key.
    pub value: Secret,
}

/// The part of a request that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum KeyPlace {
    Header,
    Query,
    Cookie,
}

/// The way to tokens of an OAuth 2.0 server.
#[derive(Clone)]
pub struct OAuth2 {
    /// The token endpoint.
    pub token_url: Url,
    /// The registration of the client. `None` for a server that knows only users.
    pub registration: Option<Registration>,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// The grant.
    pub grant: Grant,
}

/// The registration of a client at an OAuth 2.0 server.
#[derive(Clone)]
pub struct Registration {
    /// The name of the client.
    pub id: String,
    /// Its secret, empty for a public client.
    pub secret: Secret,
    /// The part of the request for a token that carries both. `None` tries the header first, then the parameters.
    pub place: Option<RegistrationPlace>,
}

/// The part of a request for a token that carries the registration of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum RegistrationPlace {
    /// The parameters `client_id` and `client_secret` in the body.
    Params,
    /// Basic authentication.
    Header,
}

/// The grant by which an OAuth 2.0 server gives a token.
#[derive(Clone)]
pub enum Grant {
    /// The password of a user.
    Password { username: String, password: Secret },
    /// The registration of the client itself. The parameters are added to the request and must not replace others,
    /// except `grant_type`.
    ClientCredentials { endpoint_params: Query },
    /// A refresh token. The type is that of access tokens for which the server names none.
    RefreshToken { refresh_token: Secret, token_type: Option<String> },
}

/// The settings of connections.
#[derive(Clone, Default)]
pub struct ClientSettings {
    /// True if the cookies of servers are kept and sent back.
    pub has_cookies: bool,
    /// True if the certificates of servers are not checked.
    pub is_insecure: bool,
    /// The client's own certificates.
    pub certificates: Vec<CertificateSource>,
    /// The authorities that replace those of the machine, unless empty.
    pub root_authorities: Vec<PemSource>,
    /// The policy for retries. `None` repeats no request.
    pub retry: Option<RetryPolicy>,
}

/// The sources of a client certificate and its key.
#[derive(Clone)]
pub struct CertificateSource {
    /// The certificate and those of its issuers.
    pub certificate: PemSource,
    /// The private key.
    pub key: PemSource,
}

/// A source of PEM texts.
#[derive(Clone)]
pub enum PemSource {
    /// The text itself.
    Text(Secret),
    /// A file with the text.
    File(PathBuf),
}

impl PemSource {
    /// Chooses between a text and a file.
    ///
    /// # Errors
    /// Returns a [`SettingError`] unless exactly one is set.
    pub fn choose(
        attribute: &'static str,
        text: Option<Secret>,
        file: Option<String>,
    ) -> Result<PemSource, SettingError> {
        match (text, file) {
            (Some(text), None) => Ok(PemSource::Text(text)),
            (None, Some(file)) => Ok(PemSource::File(PathBuf::from(file))),
            _ => {
                let problem =
                    format!("exactly one of `{attribute}` and `{attribute}_file` is needed");
                Err(SettingError::new(&format!("client.certificates.{attribute}"), problem))
            }
        }
    }
}

impl ClientSettings {
    /// Sets the authorities, from texts or else from files.
    ///
    /// # Errors
    /// Returns a [`SettingError`] if both are set, or if there is no client certificate.
    pub fn set_root_authorities(
        &mut self,
        texts: Option<Vec<String>>,
        files: Option<Vec<String>>,
    ) -> Result<(), SettingError> {
        let attribute = match files {
            Some(_) => "client.root_ca_certificate_files",
            None => "client.root_ca_certificates",
        };
        self.root_authorities = match (texts, files) {
            (None, None) => return Ok(()),
            (Some(texts), None) => {
                texts.into_iter().map(|it| PemSource::Text(Secret::new(it))).collect()
            }
            (None, Some(files)) => {
                files.into_iter().map(|it| PemSource::File(PathBuf::from(it))).collect()
            }
            (Some(_), Some(_)) => {
                let problem = "it conflicts with `root_ca_certificates`";
                return Err(SettingError::new(attribute, problem));
            }
        };
        match self.certificates.is_empty() {
            true => Err(SettingError::new(attribute, "it requires `certificates`")),
            false => Ok(()),
        }
    }
}

/// The most seconds and retries that the configuration accepts: a 32-bit number.
const MOST: i64 = i32::MAX as i64;

/// The repetition of requests.
#[derive(Clone, Default, Model)]
pub struct RetryBlock {
    // Null elements are ignored.
    /// The statuses after which a request is repeated.
    pub status_codes: Vec<Option<i64>>,
    /// The number of retries; by default 3.
    #[attribute(between(0, MOST))]
    pub count: Option<i64>,
    /// The shortest pause; by default 1.
    #[attribute(between(0, MOST))]
    pub wait_in_sec: Option<i64>,
    /// The longest pause; by default 3600.
    #[attribute(between(0, MOST))]
    pub max_wait_in_sec: Option<i64>,
}

impl RetryBlock {
    /// Checks the block.
    ///
    /// # Errors
    /// Returns a [`SettingError`] for a number that is negative or too large, and for one that is no status.
    pub fn policy(&self) -> Result<RetryPolicy, SettingError> {
        let number = |name: &str, value: Option<i64>, default: u32| match value.map(u32::try_from) {
            None => Ok(default),
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) => {
                let problem = format!("it must be between 0 and {}", u32::MAX);
                Err(SettingError::new(&format!("client.retry.{name}"), problem))
            }
        };
        let status = |code: &i64| match u16::try_from(*code) {
            Ok(code @ 100..=599) => Ok(code),
            _ => {
                let problem = format!("{code} is not a status of HTTP");
                Err(SettingError::new("client.retry.status_codes", problem))
            }
        };
        let seconds = |number: u32| Duration::from_secs(number.into());
        Ok(RetryPolicy {
            status_codes: self
                .status_codes
                .iter()
                .flatten()
                .map(status)
                .collect::<Result<_, _>>()?,
            count: number("count", self.count, 3)?,
            wait: seconds(number("wait_in_sec", self.wait_in_sec, 1)?),
            max_wait: seconds(number("max_wait_in_sec", self.max_wait_in_sec, 3600)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_loses_its_slashes_and_its_user() {
        let base = BaseUrl::parse("https://us:s3cret@h.example/v1//").expect("a base URL");
        assert_eq!(base.prefix, "https://h.example/v1");
        assert!(base.user.is_some() && !format!("{base:?}").contains("s3cret"));
        assert_eq!(BaseUrl::parse("http://h").expect("a base URL").prefix, "http://h");
        for text in
            ["", "h/v1", "ftp://h", "https://u:s3cret@", "https://h?s3cret=1", "https://h/ "]
        {
            let error = BaseUrl::parse(text).expect_err(text).to_string();
            assert!(
                error.starts_with("invalid `base_url`: ") && !error.contains("s3cret"),
                "{error}"
            );
        }
    }

    #[test]
    fn exactly_one_alternative_is_chosen() {
        let choose = |basic, token| {
            Security::only(
                "security.http",
                [
                    Alternative { name: "basic", value: basic },
                    Alternative { name: "token", value: token },
                ],
            )
        };
        assert_eq!(choose(Some(1), None), Ok(1));
        assert_eq!(choose(None, Some(2)), Ok(2));
        for (basic, token) in [(None, None), (Some(1), Some(2))] {
            let error = choose(basic, token).expect_err("not one").to_string();
            let expected = "invalid `security.http`: exactly one of `basic`, `token` must be set";
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn retry_block_has_defaults_and_limits() {
        let block = RetryBlock { status_codes: vec![Some(503), None], ..RetryBlock::default() };
        let policy = block.policy().expect("a policy");
        assert_eq!((policy.count, policy.wait.as_secs(), policy.max_wait.as_secs()), (3, 1, 3600));
        assert_eq!(policy.status_codes, [503].into());
        for block in [
            RetryBlock { status_codes: vec![Some(99)], ..RetryBlock::default() },
            RetryBlock { count: Some(-1), ..RetryBlock::default() },
            RetryBlock { wait_in_sec: Some(i64::MAX), ..RetryBlock::default() },
        ] {
            block.policy().expect_err("invalid");
        }
    }

    #[test]
    fn root_authorities_need_a_client_certificate() {
        let texts = || Some(vec!["pem".to_owned()]);
        let mut client = ClientSettings::default();
        client.set_root_authorities(texts(), None).expect_err("no certificate");
        let pem = || Some(Secret::new("pem"));
        let source = |text, file| PemSource::choose("key", text, file);
        let [certificate, key] =
            [(); 2].map(|()| source(pem(), None).unwrap_or_else(|it| panic!("{it}")));
        client.certificates.push(CertificateSource { certificate, key });
        client.set_root_authorities(texts(), texts()).expect_err("both");
        client.set_root_authorities(texts(), None).expect("authorities");
        assert!(source(None, None).is_err() && source(pem(), Some(String::new())).is_err());
    }
}
