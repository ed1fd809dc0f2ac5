//! The CLI configuration: its files, and its settings for the installation of providers.

mod decode;
mod expand;
mod oci;
mod pattern;
mod sandbox;

use std::fmt;
use std::path::{Path, PathBuf};

use addr::ProviderSource;
use sorted::TreeMap;

pub(crate) use oci::is_helper_name;
pub use oci::{OciDefaults, OciSecret, RepositoryCredentials};
pub use pattern::ProviderPattern;
pub use sandbox::SandboxRule;

/// The settings of all files of the CLI configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// The shared cache of provider packages.
    pub plugin_cache_dir: Option<PathBuf>,
    /// True if a cached package may be locked without a comparison with its source.
    pub cache_may_break_locks: bool,
    /// True if it is an error that a provider repeats a write-only value (`strict_secrets`).
    pub strict_secrets: bool,
    /// The `provider_sandbox` blocks of all files in order.
    pub sandbox: Vec<SandboxRule>,
    /// Providers that are used from a directory without version and lock.
    pub dev_overrides: TreeMap<ProviderSource, PathBuf>,
    /// The methods of the `provider_installation` block in order. `None` if there is no such block.
    pub installation: Option<Vec<InstallationMethod>>,
    /// Tokens by host.
    pub credentials: TreeMap<String, Token>,
    /// The program that stores the tokens of all other hosts.
    pub credentials_helper: Option<CredentialsHelper>,
    /// The services of hosts that are not asked for them, by host.
    pub services: ConfiguredServices,
    /// The requests for documents of registries.
    pub registry_protocols: RegistryProtocols,
    /// The number of retries of a download without `download_retry_count` (`TF_PROVIDER_DOWNLOAD_RETRY`). `None` for
    /// the usual number.
    pub download_retries: Option<u32>,
    /// The credentials for OCI repositories.
    pub oci_credentials: Vec<RepositoryCredentials>,
    /// The settings for other OCI repositories. `None` for the usual ones.
    pub oci_defaults: Option<OciDefaults>,
}

/// The services of hosts that are not asked for them, by host.
pub type ConfiguredServices = TreeMap<String, serde_json::Map<String, serde_json::Value>>;

/// The setting `credentials_helper`: a program `terraform-credentials-NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialsHelper {
    /// The name.
    pub name: String,
    /// The arguments before the name of the action.
    pub arguments: Vec<String>,
}

/// An installation method, and the providers that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationMethod {
    /// The kind of the method.
    pub kind: MethodKind,
    /// The providers that the method applies to. Empty for all.
    pub include: Vec<ProviderPattern>,
    /// The providers that the method does not apply to.
    pub exclude: Vec<ProviderPattern>,
    /// The number of retries of a download (`download_retry_count`). `None` for the usual number.
    pub download_retries: Option<u32>,
}

/// The `registry_protocols` block: the requests for documents of registries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// The number of retries. `None` for the usual number.
    pub retries: Option<u32>,
    /// The longest wait for an answer, in seconds. `None` for the usual one.
    pub timeout_seconds: Option<u32>,
}

/// The source of an installation method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// The registry in the provider's address.
    Direct,
    FilesystemMirror {
        path: PathBuf,
    },
    NetworkMirror {
        url: String,
        /// True if the hashes of packages for other platforms are locked, too.
        trusts_all_hashes: bool,
    },
    OciMirror {
        repository_template: String,
    },
}

/// The token for a host. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// A problem in the CLI configuration, to be shown as a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// True for an error, false for a warning.
    pub is_error: bool,
    /// The summary of the diagnostic.
    pub summary: String,
    /// The detail of the diagnostic, possibly empty.
    pub detail: String,
}

/// The environment that the CLI configuration depends on.
pub struct ConfigEnvironment<'a> {
    /// `TF_CLI_CONFIG_FILE`, or its old name `TERRAFORM_CONFIG`.
    pub config_file: Option<PathBuf>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// Reads an environment variable, for settings from variables and for paths with `$NAME`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl CliConfig {
    /// Loads all files of the CLI configuration. Problems do not stop the loading: a command continues with the
    /// valid settings, unless a problem is an error.
    pub fn load(environment: &ConfigEnvironment<'_>) -> (Self, Vec<ConfigProblem>) {
        let mut config = Self::default();
        let mut problems = Vec::new();
        for file in files(environment, &mut problems) {
            match std::fs::read_to_string(&file) {
                Ok(text) => {
                    let name = file.display().to_string();
                    config.merge(
                        decode::decode(&text, &name, environment.variable, &mut problems),
                        &mut problems,
                    );
                }
                Err(error) => {
                    let detail = format!(
                        "The CLI configuration file {} cannot be read: {error}.",
                        file.display()
                    );
                    problems.push(ConfigProblem::error(
                        "Unable to open CLI configuration file",
                        detail,
                    ));
                }
            }
        }
        config.take_environment(environment.variable);
        if let Some(directory) = &config.plugin_cache_dir
            && let Err(error) = std::fs::metadata(directory)
        {
            let summary = format!(
                "The specified plugin cache dir {} cannot be opened: {error}",
                directory.display()
            );
            // Only a warning, because the directory is created with the first package.
            problems.push(ConfigProblem { is_error: false, summary, detail: String::new() });
        }
        (config, problems)
    }

    /// Parses one text. `name` is the name of the file in messages.
    pub fn parse(
        text: &str,
        name: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> (Self, Vec<ConfigProblem>) {
        let mut problems = Vec::new();
        (decode::decode(text, name, variable, &mut problems), problems)
    }

    /// Applies the settings from environment variables, which take precedence.
    fn take_environment(&mut self, variable: &dyn Fn(&str) -> Option<String>) {
        let set = |name: &str| variable(name).filter(|it| !it.is_empty());
        if let Some(directory) = set("TF_PLUGIN_CACHE_DIR") {
            self.plugin_cache_dir = Some(directory.into());
        }
        let may_break = set("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
        self.cache_may_break_locks |= may_break.is_some_and(|it| it != "0");
        // OpenTofu ignores what is no number, too.
        let number = |name: &str| set(name)?.parse::<u32>().ok();
        let positive = |name: &str| number(name).filter(|it| *it > 0);
        self.download_retries = number("TF_PROVIDER_DOWNLOAD_RETRY");
        let protocols = &mut self.registry_protocols;
        protocols.retries = positive("TF_REGISTRY_DISCOVERY_RETRY").or(protocols.retries);
        protocols.timeout_seconds =
            positive("TF_REGISTRY_CLIENT_TIMEOUT").or(protocols.timeout_seconds);
    }

    /// Merges the settings of a later file. The first file with a cache wins, and the last one with a token for a
    /// host.
    fn merge(&mut self, other: Self, problems: &mut Vec<ConfigProblem>) {
        self.plugin_cache_dir = self.plugin_cache_dir.take().or(other.plugin_cache_dir);
        self.cache_may_break_locks |= other.cache_may_break_locks;
        self.strict_secrets |= other.strict_secrets;
        self.sandbox.extend(other.sandbox);
        self.credentials.extend(other.credentials);
        self.services.extend(other.services);
        let RegistryProtocols { retries, timeout_seconds } = other.registry_protocols;
        let protocols = &mut self.registry_protocols;
        protocols.retries = retries.or(protocols.retries);
        protocols.timeout_seconds = timeout_seconds.or(protocols.timeout_seconds);
        self.oci_credentials.extend(other.oci_credentials);
        self.oci_defaults = other.oci_defaults.or(self.oci_defaults.take());
        if other.credentials_helper.is_some() {
            if self.credentials_helper.is_some() {
                problems.push(ConfigProblem::error(decode::ONE_HELPER, ""));
            }
            self.credentials_helper = other.credentials_helper;
        }
        if other.installation.is_none() {
            return;
        }
        if self.installation.is_some() {
            problems.push(ConfigProblem::error(decode::ONE_INSTALLATION, ""));
            return;
        }
        self.installation = other.installation;
        self.dev_overrides = other.dev_overrides;
    }
}

impl ConfigEnvironment<'_> {
    /// The directory for settings that the program itself writes: `~/.terraform.d`, or `opentofu` below
    /// `XDG_CONFIG_HOME` if the former does not exist. `None` if neither variable is set.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let of_home = self.home.as_ref().map(|it| it.join(".terraform.d"));
        match of_home {
            Some(directory) if directory.exists() => Some(directory),
            of_home => self.xdg_directory().or(of_home),
        }
    }

    fn xdg_directory(&self) -> Option<PathBuf> {
        Some(self.xdg_config_home.as_ref()?.join("opentofu"))
    }
}

impl InstallationMethod {
    /// Returns true if the method applies to a provider.
    pub fn serves(&self, source: &ProviderSource) -> bool {
        let matches = |patterns: &[ProviderPattern]| patterns.iter().any(|it| it.matches(source));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

impl Token {
    /// Takes a token that a host issued.
    pub fn new(text: impl Into<String>) -> Token {
        Token(text.into())
    }

    /// Returns the token, for the header of a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(token)")
    }
}

impl ConfigProblem {
    pub(crate) fn error(summary: &str, detail: impl Into<String>) -> Self {
        Self { is_error: true, summary: summary.to_owned(), detail: detail.into() }
    }
}

/// Returns the main file, then `*.tfrc` and `*.tfrc.json` of the configuration directory. If a variable names the
/// main file, returns only that.
fn files(environment: &ConfigEnvironment<'_>, problems: &mut Vec<ConfigProblem>) -> Vec<PathBuf> {
    if let Some(named) = &environment.config_file {
        if named.exists() {
            return vec![named.clone()];
        }
        problems.push(ConfigProblem {
            is_error: false,
            summary: "Unable to open CLI configuration file".to_owned(),
            detail: format!(
                "The CLI configuration file at {:?} does not exist.",
                named.display().to_string()
            ),
        });
        return Vec::new();
    }
    let home = environment.home.as_deref();
    let xdg = environment.xdg_directory();
    let mains = [
        home.map(|it| it.join(".tofurc")),
        home.map(|it| it.join(".terraformrc")),
        xdg.as_ref().map(|it| it.join("tofurc")),
    ];
    let mut files: Vec<PathBuf> =
        mains.into_iter().flatten().find(|it| it.is_file()).into_iter().collect();
    let directories = [home.map(|it| it.join(".terraform.d")), xdg];
    if let Some(directory) = directories.into_iter().flatten().find(|it| it.is_dir()) {
        files.extend(files_with_endings(&directory, &[".tfrc", ".tfrc.json"]));
    }
    files
}

fn files_with_endings(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.flatten().map(|it| it.path());
    let has_ending = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        endings.iter().any(|it| name.ends_with(it))
    };
    let mut files: Vec<_> = paths.filter(|it| has_ending(it) && it.is_file()).collect();
    sorted::sort(&mut files);
    files
}

#[cfg(test)]
mod tests;
