//! The tokens of hosts: their sources in the order of their precedence, and their storage.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use sorted::{TreeMap, TreeSet};

use crate::cli_config::{CliConfig, ConfigEnvironment, Token};
use crate::hosts::HostName;
use crate::hosts::token_program::TokenProgram;
use crate::plugin_directories;

/// The prefix of environment variables with tokens.
const VARIABLE: &str = "TF_TOKEN_";

/// The name of the file that the program itself writes tokens to.
const FILE: &str = "credentials.tfrc.json";

/// The place of the token of one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CredentialsPlace {
    /// There is none, so a new one goes to the file.
    Nowhere,
    /// The file `credentials.tfrc.json`.
    File,
    /// Another file of the CLI configuration, which only the user edits.
    OtherFile,
    /// A credentials helper may have one.
    Helper,
}

/// The tokens of all hosts.
#[derive(Clone, Debug, Default)]
pub struct HostCredentials {
    /// From environment variables.
    environment: TreeMap<HostName, Token>,
    /// From the CLI configuration.
    configured: TreeMap<HostName, Token>,
    /// The hosts of which the file `credentials.tfrc.json` has the token.
    in_file: TreeSet<HostName>,
    /// The file `credentials.tfrc.json`. `None` if the user has no home directory.
    file: Option<PathBuf>,
    helper: Option<TokenProgram>,
}

impl HostCredentials {
    /// Collects the tokens. `variables` are the environment variables, of which those with tokens are used; a
    /// credentials helper does not inherit the variables in `withheld`.
    pub fn new(
        config: &CliConfig,
        environment: &ConfigEnvironment<'_>,
        variables: &[(String, String)],
        withheld: Vec<OsString>,
    ) -> HostCredentials {
        let data_home = (environment.variable)("XDG_DATA_HOME").filter(|it| !it.is_empty());
        let directories =
            plugin_directories(environment.home.as_deref(), data_home.as_deref().map(Path::new));
        let file = environment.directory().map(|it| it.join(FILE));
        let stored = file.as_ref().and_then(|it| std::fs::read(it).ok()).unwrap_or_default();
        let helper = config.credentials_helper.as_ref().and_then(|it| {
            let program = TokenProgram::find(&it.name, &directories)?;
            let (name, arguments) = (it.name.clone(), it.arguments.clone());
            Some(TokenProgram { name, program, arguments, withheld })
        });
        let configured = config.credentials.iter();
        HostCredentials {
            environment: variables.iter().filter_map(|it| of_variable(&it.0, &it.1)).collect(),
            configured: configured
                .filter_map(|(host, token)| Some((HostName::parse(host).ok()?, token.clone())))
                .collect(),
            in_file: hosts_in(&stored),
            file,
            helper,
        }
    }

    /// Returns the token for a host. `None` if there is none.
    ///
    /// # Errors
    /// Returns a sentence fragment if the credentials helper fails.
    pub fn token<'r>(&'r self, host: &'r HostName) -> BoxFuture<'r, Result<Option<Token>, String>> {
        Box::pin(async move {
            if let Some(token) = self.environment.get(host).or_else(|| self.configured.get(host)) {
                return Ok(Some(token.clone()));
            }
            match &self.helper {
                Some(helper) => helper.get(host).await,
                None => Ok(None),
            }
        })
    }

    /// Returns the place where the token of a host is stored. Environment variables are no such place.
    pub fn place(&self, host: &HostName) -> CredentialsPlace {
        match (self.configured.contains_key(host), self.in_file.contains(host)) {
            (true, false) => CredentialsPlace::OtherFile,
            (true, true) => CredentialsPlace::File,
            (false, _) if self.helper.is_some() => CredentialsPlace::Helper,
            (false, _) => CredentialsPlace::Nowhere,
        }
    }

    /// The file that the program itself writes tokens to. `None` if the user has no home directory.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The name of the credentials helper. Empty if there is none.
    pub fn helper_name(&self) -> &str {
        self.helper.as_ref().map_or("", |it| &it.name)
    }

    /// Gives the credentials helper the token of a host; `None` removes the token.
    ///
    /// # Errors
    /// Returns a sentence fragment, without the token.
    pub fn tell_helper<'r>(
        &'r self,
        host: &'r HostName,
        token: Option<&'r Token>,
    ) -> BoxFuture<'r, Result<(), String>> {
        Box::pin(async move {
            match (&self.helper, token) {
                (Some(helper), Some(token)) => helper.store(host, token).await,
                (Some(helper), None) => helper.forget(host).await,
                (None, _) => Err("no credentials helper is configured".to_owned()),
            }
        })
    }

    /// Returns the new content of the file for tokens, with the token of a host replaced; `None` removes the token.
    /// All other content stays.
    ///
    /// # Errors
    /// Returns a sentence fragment if the old content is not understood. It quotes nothing.
    pub fn updated_file(
        old: &[u8],
        host: &HostName,
        token: Option<&Token>,
    ) -> Result<String, String> {
        let mut all = match old.is_empty() {
            true => Map::new(),
            false => match serde_json::from_slice(old) {
                Ok(Value::Object(all)) => all,
                _ => return Err("it is not a JSON object".to_owned()),
            },
        };
        let credentials = all.entry("credentials").or_insert_with(|| Map::new().into());
        let Value::Object(credentials) = credentials else {
            return Err("its property \"credentials\" is not a JSON object".to_owned());
        };
        credentials.retain(|it, _| HostName::parse(it).as_ref() != Ok(host));
        if let Some(token) = token {
            let entry = Map::from_iter([("token".to_owned(), token.expose().into())]);
            credentials.insert(host.as_str().to_owned(), entry.into());
        }
        Ok(crate::go_json::pretty(&all.into()))
    }
}

/// The host and the token of an environment variable. `None` if the name is not one of a host.
fn of_variable(name: &str, value: &str) -> Option<(HostName, Token)> {
    let host = name.strip_prefix(VARIABLE)?.replace("__", "-").replace('_', ".");
    Some((HostName::parse(&host).ok()?, Token::new(value)))
}

/// The hosts with credentials in the content of the file. Empty if it is not understood.
fn hosts_in(stored: &[u8]) -> TreeSet<HostName> {
    let stored: Value = serde_json::from_slice(stored).unwrap_or_default();
    let credentials = stored.get("credentials").and_then(Value::as_object);
    credentials.into_iter().flatten().filter_map(|(host, _)| HostName::parse(host).ok()).collect()
}
