//! Decodes the text of one file to [`CliConfig`].

use std::path::PathBuf;

use addr::ProviderSource;
use sorted::TreeMap;

use super::{
    CliConfig, ConfigProblem, CredentialsHelper, InstallationMethod, MethodKind, ProviderPattern,
    RegistryProtocols, Token, expand::expand, oci, sandbox,
};
use crate::literal::{self, Body, Item, Literal};
use crate::shown_url::without_secrets;

pub(super) const ONE_INSTALLATION: &str =
    "No more than one provider_installation block may be specified";
pub(super) const ONE_HELPER: &str = "No more than one credentials_helper block may be specified";
const STRICT_SECRETS: &str = "The setting strict_secrets must be true or false";
const METHOD: &str = "Invalid provider_installation method block";

/// Decodes all known settings. Unknown settings at the top level are ignored, as OpenTofu does; every other
/// invalid part becomes a problem.
pub(super) fn decode(
    text: &str,
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    problems: &mut Vec<ConfigProblem>,
) -> CliConfig {
    let mut config = CliConfig::default();
    let body = match literal::parse_with_json(text) {
        Ok(body) => body,
        Err(error) => {
            problems.push(ConfigProblem::error(&format!("Error parsing {name}: {error}"), ""));
            return config;
        }
    };
    for item in &body {
        match item.name.as_str() {
            "plugin_cache_dir" => {
                config.plugin_cache_dir = item.value.as_str().map(|it| expand(it, variable).into());
            }
            "plugin_cache_may_break_dependency_lock_file" => {
                config.cache_may_break_locks = item.value == Literal::Bool(true);
            }
            "strict_secrets" => match item.value {
                Literal::Bool(is_strict) => config.strict_secrets = is_strict,
                _ => problems.push(ConfigProblem::error(STRICT_SECRETS, "")),
            },
            "provider_sandbox" => match sandbox::rule(item, name, variable) {
                Ok(rule) => config.sandbox.push(rule),
                Err(problem) => problems.push(problem),
            },
            "credentials" => credentials(item, &mut config.credentials, problems),
            "credentials_helper" if config.credentials_helper.is_some() => {
                problems.push(ConfigProblem::error(ONE_HELPER, ""));
            }
            "credentials_helper" => match credentials_helper(item) {
                Ok(helper) => config.credentials_helper = Some(helper),
                Err(problem) => problems.push(problem),
            },
            "host" => match host(item) {
                Ok((host, services)) => drop(config.services.insert(host, services)),
                Err(problem) => problems.push(problem),
            },
            "registry_protocols" => match registry_protocols(item) {
                Ok(protocols) => config.registry_protocols = protocols,
                Err(problem) => problems.push(problem),
            },
            "oci_credentials" => match oci::credentials(item) {
                Ok(credentials) => config.oci_credentials.push(credentials),
                Err(problem) => problems.push(problem),
            },
            "oci_default_credentials" => match oci::defaults(item, name, variable) {
                Ok(defaults) => config.oci_defaults = Some(defaults),
                Err(problem) => problems.push(problem),
            },
            "provider_installation" if config.installation.is_some() => {
                problems.push(ConfigProblem::error(ONE_INSTALLATION, ""));
            }
            "provider_installation" => installation(item, &mut config, problems),
            _ => {}
        }
    }
    config
}

fn credentials(
    item: &Item,
    tokens: &mut TreeMap<String, Token>,
    problems: &mut Vec<ConfigProblem>,
) {
    // In JSON, the host is the name of a nested object.
    if let ([], Some(hosts)) = (item.labels.as_slice(), item.value.as_body())
        && !hosts.is_empty()
        && hosts.iter().all(|it| it.labels.is_empty() && it.value.as_body().is_some())
    {
        for host in hosts {
            let labelled = Item { labels: vec![host.name.clone()], ..host.clone() };
            credentials(&labelled, tokens, problems);
        }
        return;
    }
    let ([host], Some(body)) = (item.labels.as_slice(), item.value.as_body()) else {
        let detail =
            format!("The credentials block at {} must have one label, a host name.", item.place);
        problems.push(ConfigProblem::error("Invalid credentials block", detail));
        return;
    };
    let token = body.iter().find(|it| it.name == "token").and_then(|it| it.value.as_str());
    if let Some(token) = token {
        tokens.insert(host.to_lowercase(), Token(token.to_owned()));
    }
}

fn registry_protocols(item: &Item) -> Result<RegistryProtocols, ConfigProblem> {
    let invalid = |cause: &str| {
        let detail = format!("The registry_protocols block at {} {cause}.", item.place);
        ConfigProblem::error("Invalid registry_protocols block", detail)
    };
    let Some(body) = item.value.as_body().filter(|_| item.labels.is_empty()) else {
        return Err(invalid("must be a block without labels"));
    };
    let number = |name: &str| {
        count(body, name).map_err(|()| invalid(&format!("must have a whole number as {name}")))
    };
    Ok(RegistryProtocols {
        retries: number("retry_count")?,
        timeout_seconds: number("request_timeout_seconds")?,
    })
}

/// The number that an argument has. `Ok(None)` if there is no such argument.
fn count(body: &Body, name: &str) -> Result<Option<u32>, ()> {
    let Some(item) = body.iter().find(|it| it.name == name) else { return Ok(None) };
    match item.value.to_json() {
        serde_json::Value::Number(number) => {
            let number = number.as_u64().and_then(|it| u32::try_from(it).ok());
            number.map(Some).ok_or(())
        }
        _ => Err(()),
    }
}

fn credentials_helper(item: &Item) -> Result<CredentialsHelper, ConfigProblem> {
    let invalid = |cause: &str| {
        let detail = format!("The credentials_helper block at {} {cause}.", item.place);
        ConfigProblem::error("Invalid credentials_helper block", detail)
    };
    let ([name], Some(body)) = (item.labels.as_slice(), item.value.as_body()) else {
        return Err(invalid("must have one label, the name of the helper"));
    };
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(invalid("has a name with other characters than letters, digits and dashes"));
    }
    let arguments = match body.iter().find(|it| it.name == "args") {
        Some(args) => args
            .value
            .as_strings()
            .ok_or_else(|| invalid("must have a list of strings as \"args\""))?,
        None => Vec::new(),
    };
    let arguments = arguments.into_iter().map(str::to_owned).collect();
    Ok(CredentialsHelper { name: name.clone(), arguments })
}

type Services = serde_json::Map<String, serde_json::Value>;

fn host(item: &Item) -> Result<(String, Services), ConfigProblem> {
    let invalid = |cause: &str| {
        let detail = format!("The host block at {} {cause}.", item.place);
        ConfigProblem::error("Invalid host block", detail)
    };
    let ([host], Some(body)) = (item.labels.as_slice(), item.value.as_body()) else {
        return Err(invalid("must have one label, a host name"));
    };
    let services = match body.iter().find(|it| it.name == "services") {
        Some(services) => services.value.to_json(),
        None => serde_json::Map::new().into(),
    };
    match services {
        serde_json::Value::Object(services) => Ok((host.to_lowercase(), services)),
        _ => Err(invalid("must have an object as \"services\"")),
    }
}

fn installation(item: &Item, config: &mut CliConfig, problems: &mut Vec<ConfigProblem>) {
    let Some(body) = item.value.as_body().filter(|_| item.labels.is_empty()) else {
        let detail =
            format!("The provider_installation block at {} must not have any labels.", item.place);
        problems.push(ConfigProblem::error("Invalid provider_installation block", detail));
        return;
    };
    let mut methods = Vec::new();
    for (position, block) in body.iter().enumerate() {
        let place = block.place;
        let Some(content) = block.value.as_body().filter(|_| block.labels.is_empty()) else {
            let detail = format!(
                "The items inside the provider_installation block at {place} must all be blocks."
            );
            problems.push(ConfigProblem::error(METHOD, detail));
            continue;
        };
        if block.name == "dev_overrides" {
            if position > 0 {
                let detail = format!(
                    "The dev_overrides block at {place} must appear before all other installation \
                     methods, because development overrides always have the highest priority."
                );
                problems.push(ConfigProblem::error(METHOD, detail));
                continue;
            }
            config.dev_overrides = dev_overrides(content, problems);
            continue;
        }
        match method(block, content) {
            Ok(method) => methods.push(method),
            Err(problem) => problems.push(problem),
        }
    }
    config.installation = Some(methods);
}

fn dev_overrides(
    body: &Body,
    problems: &mut Vec<ConfigProblem>,
) -> TreeMap<ProviderSource, PathBuf> {
    let mut overrides = TreeMap::new();
    for item in body {
        let source = ProviderSource::parse(&item.name);
        match (source, item.value.as_str()) {
            (Ok(source), Some(path)) => drop(overrides.insert(source, PathBuf::from(path))),
            (Err(error), _) => {
                let detail = format!(
                    "The entry {:?} in the dev_overrides block at {} is not a valid provider source string.\n\n{}",
                    item.name, item.place, error.detail
                );
                problems.push(ConfigProblem::error(
                    "Invalid provider source address in provider development overrides",
                    detail,
                ));
            }
            (Ok(_), None) => {
                let detail = format!(
                    "Invalid dev_overrides block at {}: {:?} must be a path.",
                    item.place, item.name
                );
                problems.push(ConfigProblem::error(METHOD, detail));
            }
        }
    }
    overrides
}

fn method(block: &Item, body: &Body) -> Result<InstallationMethod, ConfigProblem> {
    let (name, place) = (block.name.as_str(), block.place);
    let invalid = |cause: String| {
        ConfigProblem::error(METHOD, format!("Invalid {name} block at {place}: {cause}."))
    };
    let location = match name {
        "direct" => None,
        "filesystem_mirror" => Some("path"),
        "network_mirror" => Some("url"),
        "oci_mirror" => Some("repository_template"),
        _ => {
            let detail = format!("Unknown provider installation method {name:?} at {place}.");
            return Err(ConfigProblem::error(METHOD, detail));
        }
    };
    let find = |wanted: &str| body.iter().find(|it| it.name == wanted);
    let location = match location.map(|it| (it, find(it))) {
        None => String::new(),
        Some((argument, None)) => {
            return Err(invalid(format!("{argument:?} argument is required")));
        }
        Some((argument, Some(item))) => {
            let text = item
                .value
                .as_str()
                .ok_or_else(|| invalid(format!("{argument:?} must be a string")))?;
            text.to_owned()
        }
    };
    let kind = match name {
        "filesystem_mirror" => MethodKind::FilesystemMirror { path: location.into() },
        "network_mirror" => MethodKind::NetworkMirror {
            url: network_mirror(location)?,
            trusts_all_hashes: find("trust_all_hashes")
                .is_some_and(|it| it.value == Literal::Bool(true)),
        },
        "oci_mirror" => MethodKind::OciMirror { repository_template: location },
        _ => MethodKind::Direct,
    };
    let include = patterns(find("include"), "inclusion").map_err(|it| {
        it.unwrap_or_else(|| invalid("\"include\" must be a list of strings".to_owned()))
    })?;
    let exclude = patterns(find("exclude"), "exclusion").map_err(|it| {
        it.unwrap_or_else(|| invalid("\"exclude\" must be a list of strings".to_owned()))
    })?;
    if let MethodKind::OciMirror { repository_template } = &kind {
        oci::check_template(repository_template, &include).map_err(|cause| {
            let detail = format!("Invalid oci_mirror block at {place}: {cause}.");
            ConfigProblem::error("Invalid oci_mirror repository template", detail)
        })?;
    }
    let download_retries = count(body, "download_retry_count")
        .map_err(|()| invalid("\"download_retry_count\" must be a whole number".to_owned()))?;
    Ok(InstallationMethod { kind, include, exclude, download_retries })
}

/// Checks the URL of a network mirror, which the problem shows without secrets.
fn network_mirror(url: String) -> Result<String, ConfigProblem> {
    let (plain, _) = http_client::Credentials::split_from(&url);
    if http_client::Url::parse(&plain).is_ok_and(|it| it.is_https()) {
        return Ok(url);
    }
    let detail = format!(
        "Cannot use {:?} as a URL for a network provider mirror: the mirror must be at an https: URL.",
        without_secrets(&url)
    );
    Err(ConfigProblem::error("Invalid URL for provider installation source", detail))
}

/// Parses a list of patterns. The error is `None` if the argument is not a list of strings.
fn patterns(
    item: Option<&Item>,
    noun: &str,
) -> Result<Vec<ProviderPattern>, Option<ConfigProblem>> {
    let Some(item) = item else { return Ok(Vec::new()) };
    let texts = item.value.as_strings().ok_or(None)?;
    let parse = |text: &str| {
        ProviderPattern::parse(text).map_err(|cause| {
            let detail = format!("CLI config specifies invalid provider {noun} patterns: {cause}.");
            Some(ConfigProblem::error(&format!("Invalid provider source {noun} patterns"), detail))
        })
    };
    texts.into_iter().map(parse).collect()
}
