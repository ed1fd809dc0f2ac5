//! The configuration of the provider: its schema, and the conversion to [`Settings`].

use http_client::Url;
use values::{Path, Type};

use super::{
    request::{
        secret::Secret,
        settings::{
            Alternative, ApiKey, BaseUrl, CertificateSource, ClientSettings, Grant, KeyPlace,
            Methods, OAuth2, PemSource, Registration, RegistrationPlace, RetryBlock, Security,
            SettingError, Settings,
        },
    },
    schema::{headers, headers_of, method, nested_one, query, query_of},
};
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object,
    schema::{Attribute, Block, ObjectNesting, Schema, boolean, nested, number, string, typed},
    validate::{OneOf, WholeBetween, conflicting, exactly_one_of},
};

const KEY_PLACES: &[&str] = &["header", "query", "cookie"];
const REGISTRATION_PLACES: &[&str] = &["params", "header"];
/// The most seconds and retries that the settings accept: a 32-bit number.
const MOST: i64 = i32::MAX as i64;

/// The schema of the provider's configuration (`docs/restful.md`, "Provider").
pub(super) fn schema() -> Schema {
    let base_url = "The URL below which all relative paths are.";
    let merge_patch = "Send the whole body in updates by PATCH, in place of a merge patch.";
    Schema::new(
        Block::new()
            .description("Resources of any HTTP API that speaks JSON.")
            .attribute("base_url", string().required().description(base_url))
            .attribute(
                "create_method",
                method(&["PUT", "POST"]).description("The method of creations; by default POST."),
            )
            .attribute(
                "update_method",
                method(&["PUT", "PATCH"]).description("The method of updates; by default PUT."),
            )
            .attribute(
                "delete_method",
                method(&["DELETE", "POST"])
                    .description("The method of deletions; by default DELETE."),
            )
            .attribute("merge_patch_disabled", boolean().optional().description(merge_patch))
            .attribute("query", query().description("The query of every request."))
            .attribute("header", headers().description("The headers of every request."))
            .attribute("security", security())
            .attribute("client", client()),
    )
}

fn security() -> Attribute {
    let basic = nested_one([
        ("username", string().required().description("The name of the user.")),
        ("password", string().required().sensitive().description("The password of the user.")),
    ]);
    let token = nested_one([
        (
            "token",
            string().required().sensitive().description("The token of the `Authorization` header."),
        ),
        ("scheme", string().optional().description("By default Bearer.")),
    ]);
    let keys = [
        ("name", string().required().description("The name of the header, parameter or cookie.")),
        (
            "in",
            string()
                .required()
                .validator(OneOf(KEY_PLACES))
                .description("The part of the request: header, query or cookie."),
        ),
        ("value", string().required().sensitive().description("The key.")),
    ];
    nested_one([
        (
            "http",
            nested_one([("basic", basic), ("token", token)]).description("A user or a token."),
        ),
        ("apikey", nested(ObjectNesting::Set, keys).optional().description("Keys of the API.")),
        ("oauth2", oauth2()),
    ])
    .description("The authentication: http, apikey or oauth2.")
}

fn oauth2() -> Attribute {
    let text = "The part of the request for a token with the client: params or header.";
    let place = || string().optional().validator(OneOf(REGISTRATION_PLACES)).description(text);
    let strings = || typed(Type::list(Type::String)).optional().description("The scopes.");
    let password = nested_one([
        ("token_url", string().required().description("The URL of the token endpoint.")),
        ("username", string().required().description("The name of the user.")),
        ("password", string().required().sensitive().description("The password of the user.")),
        ("client_id", string().optional().description("The name of the client.")),
        ("client_secret", string().optional().sensitive().description("The secret of the client.")),
        ("in", place()),
        ("scopes", strings()),
    ]);
    let client_credentials = nested_one([
        ("token_url", string().required().description("The URL of the token endpoint.")),
        ("client_id", string().required().description("The name of the client.")),
        ("client_secret", string().required().sensitive().description("The secret of the client.")),
        ("in", place()),
        ("scopes", strings()),
        ("endpoint_params", query().description("Further parameters of the request for a token.")),
    ]);
    let refresh_token = nested_one([
        ("token_url", string().required().description("The URL of the token endpoint.")),
        ("refresh_token", string().required().sensitive().description("The refresh token.")),
        ("client_id", string().optional().description("The name of the client.")),
        ("client_secret", string().optional().sensitive().description("The secret of the client.")),
        ("in", place()),
        ("scopes", strings()),
        ("token_type", string().optional().description("By default Bearer.")),
    ]);
    nested_one([
        ("password", password),
        ("client_credentials", client_credentials),
        ("refresh_token", refresh_token),
    ])
}

fn client() -> Attribute {
    let certificates = [
        ("certificate", string().optional().description("The certificate as PEM.")),
        ("certificate_file", string().optional().description("The file of the certificate.")),
        ("key", string().optional().sensitive().description("The private key as PEM.")),
        ("key_file", string().optional().description("The file of the private key.")),
    ];
    let whole = |least| number().optional().validator(WholeBetween(least, MOST));
    let retry = nested_one([
        (
            "status_codes",
            typed(Type::list(Type::Number))
                .required()
                .description("The statuses after which a request is repeated."),
        ),
        ("count", whole(0).description("The number of retries; by default 3.")),
        ("wait_in_sec", whole(0).description("The shortest pause; by default 1.")),
        ("max_wait_in_sec", whole(0).description("The longest pause; by default 3600.")),
    ]);
    let strings = || typed(Type::list(Type::String)).optional();
    let authorities =
        "The authorities as PEM, in place of the machine's; with `certificates` only.";
    nested_one([
        ("cookie_enabled", boolean().optional().description("Keep cookies and send them back.")),
        (
            "tls_insecure_skip_verify",
            boolean().optional().description("Do not check the certificates of servers."),
        ),
        (
            "certificates",
            nested(ObjectNesting::List, certificates).optional().description("The client's."),
        ),
        ("root_ca_certificates", strings().description(authorities)),
        ("root_ca_certificate_files", strings().description("Their files.")),
        ("retry", retry.description("The repetition of requests.")),
    ])
    .description("The settings of connections.")
}

/// Checks the rules between attributes, and everything else if the configuration is known.
pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    if let Some(security) = config.object("security") {
        for (first, second) in [("http", "apikey"), ("http", "oauth2"), ("apikey", "oauth2")] {
            conflicting(&security, first, second, diagnostics);
        }
        if let Some(http) = security.object("http") {
            exactly_one_of(&http, &["basic", "token"], diagnostics);
        }
        if let Some(oauth2) = security.object("oauth2") {
            let grants = ["password", "client_credentials", "refresh_token"];
            exactly_one_of(&oauth2, &grants, diagnostics);
        }
    }
    // The conversion reports one error, which may be one of those above.
    if config.value().is_wholly_known()
        && !diagnostics.has_errors()
        && let Err(error) = settings(config)
    {
        diagnostics.push(error);
    }
}

/// Converts a configuration that is wholly known.
///
/// # Errors
/// Returns an error for the first value that breaks a rule.
pub(super) fn settings(config: &Object) -> Result<Settings, Diagnostic> {
    let text = |name| config.string(name).map(|it| it.to_string());
    let base_url = BaseUrl::parse(&text("base_url").unwrap_or_default()).map_err(invalid)?;
    let [create, update, delete] = ["create_method", "update_method", "delete_method"].map(text);
    let methods = Methods::new(create.as_deref(), update.as_deref(), delete.as_deref());
    Ok(Settings {
        methods: methods.map_err(invalid)?,
        merge_patch_disabled: config.bool("merge_patch_disabled").unwrap_or_default(),
        query: query_of(&config.attr("query")),
        headers: headers_of(&config.attr("header")),
        security: match config.object("security") {
            Some(security) => authentication(&security)?,
            None => Security::None,
        },
        client: match config.object("client") {
            Some(client) => connections(&client)?,
            None => ClientSettings::default(),
        },
        ..Settings::new(base_url)
    })
}

fn invalid(error: SettingError) -> Diagnostic {
    let path = error.attribute.split('.').fold(Path::root(), Path::attr);
    Diagnostic::error("Invalid Provider Configuration", error.to_string()).at(path)
}

fn required(object: &Object, name: &str) -> String {
    object.string(name).map(|it| it.to_string()).unwrap_or_default()
}

fn optional(object: &Object, name: &str) -> Option<String> {
    object.string(name).map(|it| it.to_string())
}

fn secret(object: &Object, name: &str) -> Secret {
    Secret::new(required(object, name))
}

fn authentication(security: &Object) -> Result<Security, Diagnostic> {
    let keys = match security.is_absent("apikey") {
        true => None,
        false => Some(keys(security).map_err(invalid)?),
    };
    let blocks = [
        Alternative { name: "http", value: security.object("http").map(|it| http(&it)) },
        Alternative { name: "apikey", value: keys.map(|it| Ok(Security::ApiKeys(it))) },
        Alternative {
            name: "oauth2",
            value: security.object("oauth2").map(|it| grant(&it).map(Security::OAuth2)),
        },
    ];
    if blocks.iter().all(|it| it.value.is_none()) {
        return Ok(Security::None);
    }
    Security::only("security", blocks).and_then(|it| it).map_err(invalid)
}

fn keys(security: &Object) -> Result<Vec<ApiKey>, SettingError> {
    let key = |(_, key): (_, Object)| {
        let place = KeyPlace::parse(&required(&key, "in"))?;
        Ok(ApiKey { name: required(&key, "name"), place, value: secret(&key, "value") })
    };
    security.objects("apikey").into_iter().map(key).collect()
}

fn http(http: &Object) -> Result<Security, SettingError> {
    let basic = http.object("basic").map(|it| Security::Basic {
        username: required(&it, "username"),
        password: secret(&it, "password"),
    });
    let token = http
        .object("token")
        .map(|it| Security::token(secret(&it, "token"), optional(&it, "scheme")));
    Security::only(
        "security.http",
        [Alternative { name: "basic", value: basic }, Alternative { name: "token", value: token }],
    )
}

/// A grant with the object that configures it.
struct ConfiguredGrant {
    of: Object,
    grant: Grant,
}

fn grant(oauth2: &Object) -> Result<OAuth2, SettingError> {
    let block = |name, grant: &dyn Fn(&Object) -> Grant| Alternative {
        name,
        value: oauth2.object(name).map(|of| ConfiguredGrant { grant: grant(&of), of }),
    };
    let ConfiguredGrant { of, grant } = Security::only(
        "security.oauth2",
        [
            block("password", &|it| Grant::Password {
                username: required(it, "username"),
                password: secret(it, "password"),
            }),
            block("client_credentials", &|it| Grant::ClientCredentials {
                endpoint_params: query_of(&it.attr("endpoint_params")),
            }),
            block("refresh_token", &|it| Grant::RefreshToken {
                refresh_token: secret(it, "refresh_token"),
                token_type: optional(it, "token_type"),
            }),
        ],
    )?;
    let token_url = Url::parse(&required(&of, "token_url")).map_err(|error| {
        SettingError::new(&format!("security.oauth2{}", of.path_of("token_url")), error.to_string())
    })?;
    let place = optional(&of, "in").map(|it| RegistrationPlace::parse(&it)).transpose()?;
    let registration = optional(&of, "client_id").map(|id| Registration {
        id,
        secret: secret(&of, "client_secret"),
        place,
    });
    let scopes = of.strings("scopes").iter().map(ToString::to_string).collect();
    Ok(OAuth2 { token_url, registration, scopes, grant })
}

fn connections(client: &Object) -> Result<ClientSettings, Diagnostic> {
    let mut settings = ClientSettings {
        has_cookies: client.bool("cookie_enabled").unwrap_or_default(),
        is_insecure: client.bool("tls_insecure_skip_verify").unwrap_or_default(),
        ..ClientSettings::default()
    };
    for (_, pair) in client.objects("certificates") {
        let source = |name, file| {
            PemSource::choose(name, optional(&pair, name), optional(&pair, file)).map_err(invalid)
        };
        settings.certificates.push(CertificateSource {
            certificate: source("certificate", "certificate_file")?,
            key: source("key", "key_file")?,
        });
    }
    let texts = |name| {
        let strings = || client.strings(name).iter().map(ToString::to_string).collect();
        (!client.is_absent(name)).then(strings)
    };
    settings
        .set_root_authorities(texts("root_ca_certificates"), texts("root_ca_certificate_files"))
        .map_err(invalid)?;
    if let Some(retry) = client.object("retry") {
        let whole =
            |(_, code): (_, &values::Value)| code.as_number().and_then(values::Number::to_i64);
        let block = RetryBlock {
            status_codes: retry.attr("status_codes").elements().map(whole).collect(),
            count: retry.int("count")?,
            wait_in_sec: retry.int("wait_in_sec")?,
            max_wait_in_sec: retry.int("max_wait_in_sec")?,
        };
        settings.retry = Some(block.policy().map_err(invalid)?);
    }
    Ok(settings)
}
