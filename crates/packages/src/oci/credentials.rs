//! The credentials for repositories: `oci_credentials` and `oci_default_credentials` in the CLI configuration, and
//! the files and helper programs of Docker and Podman.

use std::ffi::OsString;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use sorted::TreeMap;

use crate::blocking::blocking;
use crate::cli_config::{
    ConfigEnvironment, OciDefaults, OciSecret, RepositoryCredentials, is_helper_name,
};
use crate::hosts::run_program;
use crate::json_answer::or_default;

/// All sources of credentials for repositories.
#[derive(Debug, Default)]
pub(crate) struct OciCredentials {
    blocks: Vec<RepositoryCredentials>,
    defaults: OciDefaults,
    /// The files of Docker and Podman.
    files: Vec<PathBuf>,
    /// The environment variables that helper programs do not inherit.
    withheld: Vec<OsString>,
}

/// A file of Docker or Podman.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DockerFile {
    #[serde(default, deserialize_with = "or_default")]
    auths: TreeMap<String, Option<DockerAuth>>,
    #[serde(default, deserialize_with = "or_default")]
    cred_helpers: TreeMap<String, String>,
    #[serde(default, deserialize_with = "or_default")]
    creds_store: String,
}

#[derive(Deserialize)]
struct DockerAuth {
    #[serde(default, deserialize_with = "or_default")]
    auth: String,
    #[serde(default, deserialize_with = "or_default")]
    identitytoken: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    #[serde(default, deserialize_with = "or_default")]
    username: String,
    #[serde(default, deserialize_with = "or_default")]
    secret: String,
}

impl OciCredentials {
    pub(crate) fn new(
        blocks: Vec<RepositoryCredentials>,
        defaults: OciDefaults,
        environment: &ConfigEnvironment<'_>,
        withheld: Vec<OsString>,
    ) -> OciCredentials {
        let files = match (&defaults.files, defaults.discovers) {
            (_, false) => Vec::new(),
            (Some(files), true) => files.clone(),
            (None, true) => usual_files(environment),
        };
        OciCredentials { blocks, defaults, files, withheld }
    }

    /// Returns the secret with the most specific prefix of a repository: of the whole registry, or of more parts of its
    /// name. Of equal ones, the CLI configuration comes first. `None` if there is none.
    ///
    /// # Errors
    /// Returns a sentence fragment if a helper program fails, or if a named file cannot be read.
    pub(crate) async fn secret(&self, host: &str, name: &str) -> Result<Option<OciSecret>, String> {
        let mut best: Option<(usize, OciSecret)> = None;
        let mut offer = |weight: Option<usize>, secret: OciSecret| {
            if let Some(weight) = weight
                && best.as_ref().is_none_or(|(known, _)| weight > *known)
            {
                best = Some((weight, secret));
            }
        };
        for block in &self.blocks {
            offer(specificity(&block.prefix, host, name), block.secret.clone());
        }
        if let Some(helper) = &self.defaults.helper {
            offer(Some(0), OciSecret::Helper(helper.clone()));
        }
        for file in self.read_files().await? {
            for (prefix, auth) in file.auths {
                let Some(secret) = auth.and_then(DockerAuth::secret) else { continue };
                offer(specificity(&prefix, host, name), secret);
            }
            if let Some(helper) = file.cred_helpers.get(host) {
                offer(Some(1), OciSecret::Helper(helper.clone()));
            }
            if !file.creds_store.is_empty() {
                offer(Some(0), OciSecret::Helper(file.creds_store));
            }
        }
        match best.map(|(_, secret)| secret) {
            Some(OciSecret::Helper(helper)) => self.ask(&helper, host).await,
            secret => Ok(secret),
        }
    }

    /// Reads the files. One that is not named in the CLI configuration may be missing or have another form.
    async fn read_files(&self) -> Result<Vec<DockerFile>, String> {
        let (files, are_named) = (self.files.clone(), self.defaults.files.is_some());
        blocking(move || {
            let mut read = Vec::new();
            for file in files {
                let text = std::fs::read(&file).map_err(|error| error.to_string());
                let parsed = text.and_then(|it| {
                    serde_json::from_slice(&it).map_err(|_| "it is not a file of Docker".to_owned())
                });
                match parsed {
                    Ok(parsed) => read.push(parsed),
                    Err(error) if are_named => {
                        return Err(format!("{} cannot be read: {error}", file.display()));
                    }
                    Err(_) => {}
                }
            }
            Ok(read)
        })
        .await
    }

    /// Asks a helper program. `None` if it has no credentials for the registry.
    async fn ask(&self, helper: &str, host: &str) -> Result<Option<OciSecret>, String> {
        if !is_helper_name(helper) {
            return Err(format!("{helper:?} cannot be the name of a credential helper"));
        }
        let mut command = tokio::process::Command::new(format!("docker-credential-{helper}"));
        command.arg("get");
        for name in &self.withheld {
            command.env_remove(name);
        }
        let output = match run_program(command, &format!("https://{host}\n"), None).await {
            Ok(output) => output,
            Err(error) if error.contains("credentials not found") => return Ok(None),
            Err(error) => return Err(error),
        };
        let answer: HelperAnswer = serde_json::from_slice(&output).map_err(|_| {
            format!("malformed output from docker-credential-{helper}: it is not a JSON object")
        })?;
        Ok(Some(match answer.username.as_str() {
            "<token>" => OciSecret::RefreshToken(answer.secret),
            user => OciSecret::Password { user: user.to_owned(), password: answer.secret },
        }))
    }
}

impl DockerAuth {
    /// `None` if it has no secret.
    fn secret(self) -> Option<OciSecret> {
        if !self.identitytoken.is_empty() {
            return Some(OciSecret::RefreshToken(self.identitytoken));
        }
        let decoded = String::from_utf8(STANDARD.decode(self.auth).ok()?).ok()?;
        let (user, password) = decoded.split_once(':')?;
        Some(OciSecret::Password { user: user.to_owned(), password: password.to_owned() })
    }
}

/// Returns one more than the number of parts of a repository's name that a prefix has. `None` if the prefix is of other
/// repositories.
fn specificity(prefix: &str, host: &str, name: &str) -> Option<usize> {
    let mut parts = prefix.split('/');
    if parts.next() != Some(host) {
        return None;
    }
    let mut names = name.split('/');
    let mut count = 1;
    for part in parts {
        if names.next() != Some(part) {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// The files in which Podman and Docker keep credentials.
fn usual_files(environment: &ConfigEnvironment<'_>) -> Vec<PathBuf> {
    let set = |name: &str| (environment.variable)(name).filter(|it| !it.is_empty());
    let home = environment.home.clone();
    let config = environment.xdg_config_home.clone();
    let config = config.or_else(|| Some(home.as_ref()?.join(".config")));
    let runtime = set("XDG_RUNTIME_DIR").map(PathBuf::from);
    let mut files: Vec<PathBuf> =
        [runtime, config].into_iter().flatten().map(|it| it.join("containers/auth.json")).collect();
    let docker = set("DOCKER_CONFIG").map(PathBuf::from);
    let docker = docker.or_else(|| Some(home.as_ref()?.join(".docker")));
    files.extend(docker.map(|it| it.join("config.json")));
    files.extend(home.map(|it| it.join(".dockercfg")));
    files
}
