//! The settings for OCI registries.

use sorted::TreeSet;

use std::fmt;
use std::path::{Path, PathBuf};

use super::expand::expand;
use super::{ConfigProblem, ProviderPattern};
use crate::literal::{Body, Item, Literal};

/// A secret for a repository. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub enum OciSecret {
    Password {
        user: String,
        password: String,
    },
    AccessToken(String),
    RefreshToken(String),
    /// The name of a program `docker-credential-NAME` that has it.
    Helper(String),
}

impl fmt::Debug for OciSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OciSecret::Helper(name) => write!(f, "Helper({name})"),
            _ => f.write_str("(secret)"),
        }
    }
}

/// An `oci_credentials` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryCredentials {
    /// The registry, or the beginning of the repositories' addresses.
    pub prefix: String,
    pub secret: OciSecret,
}

/// The `oci_default_credentials` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciDefaults {
    /// True if the files of Docker and Podman are read.
    pub discovers: bool,
    /// The files that are read in place of the usual ones. `None` for the usual ones.
    pub files: Option<Vec<PathBuf>>,
    /// The program for registries without other credentials.
    pub helper: Option<String>,
}

impl Default for OciDefaults {
    fn default() -> Self {
        OciDefaults { discovers: true, files: None, helper: None }
    }
}

/// Returns true if a text can be the end of a program's name.
pub(crate) fn is_helper_name(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(is_plain)
}

/// Decodes an `oci_credentials` block.
pub(super) fn credentials(item: &Item) -> Result<RepositoryCredentials, ConfigProblem> {
    let invalid = |cause: &str| {
        let detail = format!("The oci_credentials block at {} {cause}.", item.place);
        ConfigProblem::error("Invalid oci_credentials block", detail)
    };
    // In JSON, the address is the name of a nested object.
    let nested = match (item.labels.as_slice(), item.value.as_body().map(Vec::as_slice)) {
        ([], Some([only])) if only.labels.is_empty() => {
            only.value.as_body().map(|it| (&only.name, it))
        }
        ([prefix], _) => item.value.as_body().map(|it| (prefix, it)),
        _ => None,
    };
    let Some((prefix, body)) = nested else {
        return Err(invalid("must have one label, giving an OCI repository address prefix"));
    };
    let texts =
        ["username", "password", "access_token", "refresh_token", "docker_credentials_helper"]
            .map(|name| text(body, name));
    let [Ok(user), Ok(password), Ok(access), Ok(refresh), Ok(helper)] = texts else {
        return Err(invalid("must have strings as arguments"));
    };
    let secret = match (user, password, access, refresh, helper) {
        (Some(user), Some(password), None, None, None) => OciSecret::Password { user, password },
        (None, None, Some(token), None, None) => OciSecret::AccessToken(token),
        // With a refresh token, the token service issues an access token for each repository.
        (None, None, Some(_) | None, Some(token), None) => OciSecret::RefreshToken(token),
        (None, None, None, None, Some(helper)) if !is_helper_name(&helper) => {
            return Err(invalid(
                "has a docker_credentials_helper that cannot be part of a file name",
            ));
        }
        (None, None, None, None, Some(_)) if prefix.contains('/') => {
            return Err(invalid(
                "cannot set docker_credentials_helper with a repository path: credential helpers only \
                 support credentials for whole domains",
            ));
        }
        (None, None, None, None, Some(helper)) => OciSecret::Helper(helper),
        _ => {
            return Err(invalid(
                "must set either username+password, access_token+refresh_token, or \
                 docker_credentials_helper",
            ));
        }
    };
    Ok(RepositoryCredentials { prefix: prefix.clone(), secret })
}

/// Decodes the `oci_default_credentials` block of a file. Paths are relative to the file.
pub(super) fn defaults(
    item: &Item,
    file: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<OciDefaults, ConfigProblem> {
    let invalid = |cause: &str| {
        let detail = format!("The oci_default_credentials block at {} {cause}.", item.place);
        ConfigProblem::error("Invalid oci_default_credentials block", detail)
    };
    let Some(body) = item.value.as_body().filter(|_| item.labels.is_empty()) else {
        return Err(invalid("must not have any labels"));
    };
    let mut defaults = OciDefaults::default();
    let find = |name: &str| body.iter().find(|it| it.name == name).map(|it| &it.value);
    match find("discover_ambient_credentials") {
        None => {}
        Some(Literal::Bool(discovers)) => defaults.discovers = *discovers,
        Some(_) => return Err(invalid("must have true or false as discover_ambient_credentials")),
    }
    if let Some(files) = find("docker_style_config_files") {
        let files = files.as_strings();
        let files = files
            .ok_or_else(|| invalid("must have a list of paths as docker_style_config_files"))?;
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let path = |it: &str| -> PathBuf { folder.join(expand(it, variable)) };
        defaults.files = Some(files.into_iter().map(path).collect());
        if !defaults.discovers {
            return Err(invalid(
                "disables discovery of ambient credentials, but also sets docker_style_config_files",
            ));
        }
    }
    let helper = text(body, "docker_credentials_helper");
    let helper = helper.map_err(|()| invalid("must have a string as docker_credentials_helper"))?;
    if helper.as_deref().is_some_and(|it| !is_helper_name(it)) {
        return Err(invalid("has a docker_credentials_helper that cannot be part of a file name"));
    }
    Ok(OciDefaults { helper, ..defaults })
}

/// The string that an argument has. `Ok(None)` if there is no such argument.
fn text(body: &Body, name: &str) -> Result<Option<String>, ()> {
    match body.iter().find(|it| it.name == name) {
        None => Ok(None),
        Some(item) => item.value.as_str().map(|it| Some(it.to_owned())).ok_or(()),
    }
}

/// Checks the template of an OCI mirror: every part of a provider's address that the patterns leave open must occur.
/// The error is a sentence fragment.
pub(super) fn check_template(template: &str, include: &[ProviderPattern]) -> Result<(), String> {
    let mut used = TreeSet::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("a \"${\" has no end")?;
        match name.trim() {
            name @ ("hostname" | "namespace" | "type") => used.insert(name),
            other => {
                return Err(format!(
                    "the symbol {other:?} is not available for an OCI mirror repository address template. Only \
                     \"hostname\", \"namespace\", and \"type\" are available"
                ));
            }
        };
        rest = behind;
    }
    if template.contains("%{") || !template.contains('/') {
        return Err(
            "template must generate a valid OCI repository address, including a registry hostname \
                    followed by a slash and then a repository name"
                .to_owned(),
        );
    }
    let [host, namespace, name] = ProviderPattern::fixed_parts(include);
    for (is_fixed, symbol, what) in [
        (host, "hostname", "registry hostname"),
        (namespace, "namespace", "provider namespace"),
        (name, "type", "provider"),
    ] {
        if !is_fixed && !used.contains(symbol) {
            return Err(format!(
                "template must refer to the \"{symbol}\" symbol unless the \"include\" argument selects exactly \
                 one {what}"
            ));
        }
    }
    Ok(())
}
