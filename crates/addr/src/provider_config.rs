use std::fmt;

use smol_str::SmolStr;

use crate::key::InstanceKey;
use crate::module::ModulePath;
use crate::parse::split_module;
use crate::provider_source::ProviderSource;
use crate::quote::quote;
use crate::scan::{AddrError, LocatedStep, Step, is_identifier, scan};

const SUMMARY: &str = "Invalid provider configuration address";

/// A provider configuration as a module refers to it: `aws` or `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalProviderConfig {
    /// The local name of the provider in the module's `required_providers`.
    pub local_name: SmolStr,
    /// The alias; `None` for the default configuration.
    pub alias: Option<SmolStr>,
}

impl LocalProviderConfig {
    /// Parses `aws` or `aws.west`.
    ///
    /// # Errors
    /// Fails if the text has neither form.
    pub fn parse(text: &str) -> Result<LocalProviderConfig, AddrError> {
        let (local_name, alias) = match text.split_once('.') {
            Some((local_name, alias)) => (local_name, Some(alias)),
            None => (text, None),
        };
        if !is_identifier(local_name) || !alias.is_none_or(is_identifier) {
            let detail = "The provider type name must either stand alone or be followed by an \
                          alias name separated with a dot.";
            return Err(AddrError::new(SUMMARY, detail, 0..text.len()));
        }
        Ok(LocalProviderConfig { local_name: local_name.into(), alias: alias.map(SmolStr::new) })
    }
}

impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.alias {
            None => f.write_str(&self.local_name),
            Some(alias) => write!(f, "{}.{alias}", self.local_name),
        }
    }
}

/// The absolute address of a provider configuration: a `provider` block of one module, and one of its instances.
///
/// State files hold this form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderConfigRef {
    /// The module that declares the block. It has no instance keys: a module with `provider` blocks has a single
    /// instance.
    pub module: ModulePath,
    /// The source address of the provider.
    pub source: ProviderSource,
    /// The alias; `None` for the default configuration.
    pub alias: Option<SmolStr>,
    /// The key of the instance, if the block has `for_each`.
    pub key: InstanceKey,
}

impl ProviderConfigRef {
    /// Returns the default configuration of a provider in a module.
    pub fn default_in(module: ModulePath, source: ProviderSource) -> ProviderConfigRef {
        ProviderConfigRef { module, source, alias: None, key: InstanceKey::None }
    }

    /// Returns this configuration without the instance key.
    pub fn without_key(&self) -> ProviderConfigRef {
        ProviderConfigRef { key: InstanceKey::None, ..self.clone() }
    }

    /// Returns the configuration that a module without a `provider` block of its own inherits: the default
    /// configuration of its caller. `None` for a configuration with an alias, and in the root module.
    pub fn inherited(&self) -> Option<ProviderConfigRef> {
        match self.alias {
            Some(_) => None,
            None => Some(ProviderConfigRef { module: self.module.parent()?, ..self.clone() }),
        }
    }

    /// Parses `module.a.provider["registry.opentofu.org/hashicorp/aws"].alias["k"]`.
    ///
    /// Also accepts `provider.aws.alias`, the form of state files that predate source addresses.
    ///
    /// # Errors
    /// Fails if the text has neither form, or if a module step has an instance key.
    pub fn parse(text: &str) -> Result<ProviderConfigRef, AddrError> {
        let steps = scan(text)?;
        let (module, rest) = split_module(&steps)?;
        if module.steps().iter().any(|step| !step.key.is_none()) {
            return Err(fault("Provider address cannot contain module indexes", 0..text.len()));
        }
        let [LocatedStep { step: Step::Name(keyword), .. }, provider, rest @ ..] = rest else {
            return Err(wrong_start(text));
        };
        if keyword != "provider" {
            return Err(wrong_start(text));
        }
        let source = source_of(provider)?;
        let (alias, rest) = match rest {
            [LocatedStep { step: Step::Name(alias), .. }, rest @ ..] => (Some(alias.clone()), rest),
            _ => (None, rest),
        };
        let (key, rest) = match rest {
            [LocatedStep { step: Step::Index(key), .. }, rest @ ..] => (key.clone(), rest),
            _ => (InstanceKey::None, rest),
        };
        match rest.first() {
            Some(extra) => Err(fault(
                "Extraneous operators after provider configuration alias.",
                extra.span.clone(),
            )),
            None => Ok(ProviderConfigRef { module: module.path(), source, alias, key }),
        }
    }
}

/// Prints the form that state files hold: `module.a.provider["registry.opentofu.org/hashicorp/aws"].alias["k"]`.
impl fmt::Display for ProviderConfigRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[{}]", quote(&self.source.to_string()))?;
        if let Some(alias) = &self.alias {
            write!(f, ".{alias}")?;
        }
        self.key.fmt(f)
    }
}

fn fault(detail: &str, span: std::ops::Range<usize>) -> AddrError {
    AddrError::new(SUMMARY, detail, span)
}

fn wrong_start(text: &str) -> AddrError {
    let detail =
        "Provider address must begin with \"provider.\", followed by a provider type name.";
    fault(detail, 0..text.len())
}

fn source_of(provider: &LocatedStep) -> Result<ProviderSource, AddrError> {
    match &provider.step {
        Step::Index(InstanceKey::String(source)) => ProviderSource::parse(source)
            .map_err(|error| AddrError { span: provider.span.clone(), ..error }),
        Step::Name(name) if name == "terraform" => Ok(ProviderSource::builtin(name.clone())),
        // Parsed as strictly as a source address, because the result is printed as a full address and must parse
        // again.
        Step::Name(name) => ProviderSource::parse(&format!("-/{name}"))
            .map_err(|error| AddrError { span: provider.span.clone(), ..error }),
        Step::Index(_) => Err(fault(
            "The prefix \"provider.\" must be followed by a provider type name.",
            provider.span.clone(),
        )),
    }
}
