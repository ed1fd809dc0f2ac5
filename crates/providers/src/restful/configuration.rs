//! The configuration of the provider (`docs/restful.md`, "Provider"), and its conversion to [`Settings`].

use http_client::Url;
use values::Path;

use super::{
    request::settings::{
        Alternative, ApiKey, BaseUrl, CertificateSource, ClientSettings, Grant, Methods, OAuth2,
        PemSource, Registration, RegistrationPlace, RetryBlock, Security, SettingError, Settings,
    },
    schema::{
        HeaderArgument, QueryArgument, Texts, Verb, header_values, query_values, text_values,
    },
};
use mayfly_sdk::{Diagnostic, Diagnostics, MaybeUnknown, Model, Object, Secret, Set, Unknowns};

/// Resources of any HTTP API that speaks JSON.
#[derive(Model)]
pub struct Configuration {
    /// The URL below which all relative paths are.
    base_url: String,
    /// The method of creations; by default POST.
    #[attribute(one_of("PUT", "POST"))]
    create_method: Option<Verb>,
    /// The method of updates; by default PUT.
    #[attribute(one_of("PUT", "PATCH"))]
    update_method: Option<Verb>,
    /// The method of deletions; by default DELETE.
    #[attribute(one_of("DELETE", "POST"))]
    delete_method: Option<Verb>,
    /// Send the whole body in updates by PATCH, in place of a merge patch.
    merge_patch_disabled: Option<bool>,
    /// The query of every request.
    query: Option<QueryArgument>,
    /// The headers of every request.
    header: Option<HeaderArgument>,
    security: Option<Authentication>,
    client: Option<Connections>,
}

/// The authentication: http, apikey or oauth2.
#[derive(Model)]
#[model(conflicting(http, apikey, oauth2))]
struct Authentication {
    http: Option<Http>,
    /// Keys of the API.
    apikey: Option<Set<ApiKey>>,
    oauth2: Option<Grants>,
}

/// A user or a token.
#[derive(Model)]
#[model(exactly_one_of(basic, token))]
struct Http {
    basic: Option<Basic>,
    token: Option<Token>,
}

/// A user and a password.
#[derive(Model)]
struct Basic {
    /// The name of the user.
    username: String,
    /// The password of the user.
    password: Secret,
}

/// A token in the `Authorization` header.
#[derive(Model)]
struct Token {
    /// The token of the `Authorization` header.
    token: Secret,
    /// By default Bearer.
    scheme: Option<String>,
}

/// Tokens of an OAuth 2.0 server, by one of the grants.
#[derive(Model)]
#[model(exactly_one_of(password, client_credentials, refresh_token))]
struct Grants {
    password: Option<PasswordGrant>,
    client_credentials: Option<ClientGrant>,
    refresh_token: Option<RefreshGrant>,
}

/// The grant of the password of a user.
#[derive(Model)]
struct PasswordGrant {
    /// The name of the user.
    username: String,
    /// The password of the user.
    password: Secret,
    #[flatten]
    client: OptionalClient,
    #[flatten]
    request: TokenRequest,
}

/// The grant of the registration of the client itself.
#[derive(Model)]
struct ClientGrant {
    /// The name of the client.
    client_id: String,
    /// The secret of the client.
    client_secret: Secret,
    /// Further parameters of the request for a token.
    endpoint_params: Option<QueryArgument>,
    #[flatten]
    request: TokenRequest,
}

/// The grant of a refresh token.
#[derive(Model)]
struct RefreshGrant {
    /// The refresh token.
    refresh_token: Secret,
    /// By default Bearer.
    token_type: Option<String>,
    #[flatten]
    client: OptionalClient,
    #[flatten]
    request: TokenRequest,
}

/// The registration of a client, if there is one.
#[derive(Model)]
struct OptionalClient {
    /// The name of the client.
    client_id: Option<String>,
    /// The secret of the client.
    client_secret: Option<Secret>,
}

/// The attributes that all grants have.
#[derive(Model)]
struct TokenRequest {
    /// The URL of the token endpoint.
    token_url: String,
    /// The part of the request for a token with the client: params or header.
    r#in: Option<RegistrationPlace>,
    /// The scopes.
    scopes: Option<Texts>,
}

/// The settings of connections.
#[derive(Model)]
struct Connections {
    /// Keep cookies and send them back.
    cookie_enabled: Option<bool>,
    /// Do not check the certificates of servers.
    tls_insecure_skip_verify: Option<bool>,
    /// The client's.
    certificates: Option<Vec<Certificate>>,
    /// The authorities as PEM, in place of the machine's; with `certificates` only.
    root_ca_certificates: Option<Texts>,
    /// Their files.
    root_ca_certificate_files: Option<Texts>,
    retry: Option<RetryBlock>,
}

/// A certificate and its key.
#[derive(Model)]
struct Certificate {
    /// The certificate as PEM.
    certificate: Option<String>,
    /// The file of the certificate.
    certificate_file: Option<String>,
    /// The private key as PEM.
    key: Option<Secret>,
    /// The file of the private key.
    key_file: Option<String>,
}

/// Checks everything that the schema does not, if the configuration is known.
pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    // The conversion reports one error, which may be one that the schema has reported.
    if diagnostics.has_errors() {
        return;
    }
    let settings = match MaybeUnknown::<Configuration>::decode(config, Unknowns::Refused) {
        Ok(MaybeUnknown::Unknown) => return,
        Ok(MaybeUnknown::Known(config)) => config.settings(),
        Err(error) => Err(error),
    };
    if let Err(error) = settings {
        diagnostics.push(error);
    }
}

impl Configuration {
    /// Converts the configuration.
    ///
    /// # Errors
    /// Returns an error for the first value that breaks a rule.
    pub(super) fn settings(self) -> Result<Settings, Diagnostic> {
        self.converted().map_err(|error| {
            let path = error.attribute.split('.').fold(Path::root(), Path::attr);
            Diagnostic::error("Invalid Provider Configuration", error.to_string()).at(path)
        })
    }

    fn converted(self) -> Result<Settings, SettingError> {
        let default = Methods::default();
        let method = |own: Option<Verb>, default| own.map_or(default, |it| it.0);
        Ok(Settings {
            methods: Methods {
                create: method(self.create_method, default.create),
                update: method(self.update_method, default.update),
                delete: method(self.delete_method, default.delete),
            },
            merge_patch_disabled: self.merge_patch_disabled.unwrap_or_default(),
            query: query_values(self.query.as_ref()),
            headers: header_values(self.header.as_ref()),
            security: self.security.map_or(Ok(Security::None), Authentication::converted)?,
            client: self.client.map_or(Ok(ClientSettings::default()), Connections::converted)?,
            ..Settings::new(BaseUrl::parse(&self.base_url)?)
        })
    }
}

impl Authentication {
    fn converted(self) -> Result<Security, SettingError> {
        let keys = self.apikey.map(|keys| Ok(Security::ApiKeys(keys.0)));
        let blocks = [
            Alternative { name: "http", value: self.http.map(Http::converted) },
            Alternative { name: "apikey", value: keys },
            Alternative { name: "oauth2", value: self.oauth2.map(Grants::converted) },
        ];
        match blocks.iter().all(|it| it.value.is_none()) {
            true => Ok(Security::None),
            false => Security::only("security", blocks)?,
        }
    }
}

impl Http {
    fn converted(self) -> Result<Security, SettingError> {
        let basic = |it: Basic| Security::Basic { username: it.username, password: it.password };
        let token = |it: Token| Security::token(it.token, it.scheme);
        Security::only(
            "security.http",
            [
                Alternative { name: "basic", value: self.basic.map(basic) },
                Alternative { name: "token", value: self.token.map(token) },
            ],
        )
    }
}

impl Grants {
    fn converted(self) -> Result<Security, SettingError> {
        let grants = [
            Alternative { name: "password", value: self.password.map(PasswordGrant::converted) },
            Alternative {
                name: "client_credentials",
                value: self.client_credentials.map(ClientGrant::converted),
            },
            Alternative {
                name: "refresh_token",
                value: self.refresh_token.map(RefreshGrant::converted),
            },
        ];
        Security::only("security.oauth2", grants)?.map(Security::OAuth2)
    }
}

impl PasswordGrant {
    fn converted(self) -> Result<OAuth2, SettingError> {
        let grant = Grant::Password { username: self.username, password: self.password };
        self.request.with("password", grant, self.client)
    }
}

impl ClientGrant {
    fn converted(self) -> Result<OAuth2, SettingError> {
        let endpoint_params = query_values(self.endpoint_params.as_ref());
        let client = OptionalClient {
            client_id: Some(self.client_id),
            client_secret: Some(self.client_secret),
        };
        self.request.with(
            "client_credentials",
            Grant::ClientCredentials { endpoint_params },
            client,
        )
    }
}

impl RefreshGrant {
    fn converted(self) -> Result<OAuth2, SettingError> {
        let (refresh_token, token_type) = (self.refresh_token, self.token_type);
        self.request.with(
            "refresh_token",
            Grant::RefreshToken { refresh_token, token_type },
            self.client,
        )
    }
}

impl TokenRequest {
    /// The way to the tokens of a grant, whose block has this name.
    fn with(
        self,
        name: &str,
        grant: Grant,
        client: OptionalClient,
    ) -> Result<OAuth2, SettingError> {
        let token_url = Url::parse(&self.token_url).map_err(|error| {
            SettingError::new(&format!("security.oauth2.{name}.token_url"), error.to_string())
        })?;
        let registration = client.client_id.map(|id| Registration {
            id,
            secret: client.client_secret.unwrap_or_else(|| Secret::new("")),
            place: self.r#in,
        });
        Ok(OAuth2 { token_url, registration, scopes: text_values(self.scopes.as_ref()), grant })
    }
}

impl Connections {
    fn converted(self) -> Result<ClientSettings, SettingError> {
        let certificates = self.certificates.unwrap_or_default();
        let mut settings = ClientSettings {
            has_cookies: self.cookie_enabled.unwrap_or_default(),
            is_insecure: self.tls_insecure_skip_verify.unwrap_or_default(),
            certificates: certificates
                .into_iter()
                .map(Certificate::converted)
                .collect::<Result<_, _>>()?,
            retry: self.retry.map(|it| it.policy()).transpose()?,
            ..ClientSettings::default()
        };
        let texts = |it: Option<Texts>| it.map(|texts| text_values(Some(&texts)));
        settings.set_root_authorities(
            texts(self.root_ca_certificates),
            texts(self.root_ca_certificate_files),
        )?;
        Ok(settings)
    }
}

impl Certificate {
    fn converted(self) -> Result<CertificateSource, SettingError> {
        let certificate = self.certificate.map(Secret::new);
        Ok(CertificateSource {
            certificate: PemSource::choose("certificate", certificate, self.certificate_file)?,
            key: PemSource::choose("key", self.key, self.key_file)?,
        })
    }
}
