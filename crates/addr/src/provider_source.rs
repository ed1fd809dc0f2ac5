use std::fmt;

use smol_str::SmolStr;

use crate::scan::AddrError;

/// The registry host of a source address without a host.
pub const DEFAULT_HOST: &str = "registry.opentofu.org";
/// The namespace of a source address without a namespace.
pub const DEFAULT_NAMESPACE: &str = "hashicorp";
/// The host of the built-in providers.
pub const BUILTIN_HOST: &str = "terraform.io";
/// The namespace of the built-in providers.
pub const BUILTIN_NAMESPACE: &str = "builtin";
/// The namespace of legacy addresses, which predate namespaces.
const LEGACY_NAMESPACE: &str = "-";

/// The source address of a provider: `registry.opentofu.org/hashicorp/aws`.
///
/// Addresses sort by host, namespace and type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderSource {
    /// The registry host in lower case, with its port if the address has one.
    pub host: SmolStr,
    /// The namespace in that registry.
    pub namespace: SmolStr,
    /// The type: the last part of the address.
    pub type_name: SmolStr,
}

impl ProviderSource {
    /// Creates an address from three parts, which must be valid and in lower case.
    pub fn new(
        host: impl Into<SmolStr>,
        namespace: impl Into<SmolStr>,
        type_name: impl Into<SmolStr>,
    ) -> ProviderSource {
        ProviderSource {
            host: host.into(),
            namespace: namespace.into(),
            type_name: type_name.into(),
        }
    }

    /// Returns the address of a built-in provider: `terraform.io/builtin/NAME`.
    pub fn builtin(type_name: impl Into<SmolStr>) -> ProviderSource {
        let (host, namespace) = (BUILTIN_HOST, BUILTIN_NAMESPACE);
        ProviderSource::new(SmolStr::new_static(host), SmolStr::new_static(namespace), type_name)
    }

    /// Returns the default address of a type: `registry.opentofu.org/hashicorp/NAME`.
    pub fn default_for(type_name: impl Into<SmolStr>) -> ProviderSource {
        let (host, namespace) = (DEFAULT_HOST, DEFAULT_NAMESPACE);
        ProviderSource::new(SmolStr::new_static(host), SmolStr::new_static(namespace), type_name)
    }

    /// Returns the address that a local name stands for in a module that does not list it in `required_providers`.
    ///
    /// `terraform` is the built-in provider; any other name gets the default host and namespace.
    pub fn implied_for(local_name: &str) -> ProviderSource {
        match local_name {
            "terraform" => ProviderSource::builtin(local_name),
            _ => ProviderSource::default_for(local_name),
        }
    }

    /// Returns true if this provider is built in.
    pub fn is_builtin(&self) -> bool {
        self.host == BUILTIN_HOST && self.namespace == BUILTIN_NAMESPACE
    }

    /// Returns true if this is a legacy address (`-/aws`).
    pub fn is_legacy(&self) -> bool {
        self.host == DEFAULT_HOST && self.namespace == LEGACY_NAMESPACE
    }

    /// Returns the short form for messages, without the default host.
    pub fn for_display(&self) -> String {
        if self.host != DEFAULT_HOST {
            return self.to_string();
        }
        match self.namespace.as_str() {
            LEGACY_NAMESPACE => self.type_name.to_string(),
            namespace => format!("{namespace}/{}", self.type_name),
        }
    }

    /// Parses `[host/][namespace/]type`; upper case becomes lower case.
    ///
    /// # Errors
    /// Fails on a wrong number of parts, on characters other than letters, digits and dashes, and on a type with
    /// the prefix `terraform-provider-`.
    pub fn parse(text: &str) -> Result<ProviderSource, AddrError> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|part| part.is_empty()) {
            let detail =
                "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\".";
            return Err(fault("Invalid provider source string", detail, text));
        }
        let type_name = part(parts[parts.len() - 1])
            .map_err(|why| named_fault("Invalid provider type", "provider type", text, why))?;
        let namespace = match parts.len() {
            1 => DEFAULT_NAMESPACE.into(),
            // A legacy address, which old versions wrote to state files.
            len if parts[len - 2] == LEGACY_NAMESPACE => LEGACY_NAMESPACE.into(),
            len => part(parts[len - 2]).map_err(|why| {
                named_fault("Invalid provider namespace", "provider namespace", text, why)
            })?,
        };
        let host = match parts.len() {
            3 => host(parts[0]).map_err(|why| {
                named_fault("Invalid provider source hostname", "hostname", text, why)
            })?,
            _ => DEFAULT_HOST.into(),
        };
        let source = ProviderSource { host, namespace, type_name };
        source.check_conventions(text)?;
        Ok(source)
    }

    fn check_conventions(&self, text: &str) -> Result<(), AddrError> {
        if self.namespace == LEGACY_NAMESPACE && self.host != DEFAULT_HOST {
            let detail = format!(
                "The legacy provider namespace \"-\" can be used only with hostname {DEFAULT_HOST}."
            );
            return Err(fault("Invalid provider namespace", &detail, text));
        }
        let Some(short) = self.type_name.strip_prefix("terraform-provider-") else { return Ok(()) };
        let suggested = ProviderSource { type_name: short.into(), ..self.clone() };
        let detail = format!(
            "Provider source {text:?} has a type with the prefix \"terraform-provider-\". That \
             prefix belongs to the name of a repository or of an executable, not to a source \
             address.\n\nDid you mean {:?}?",
            suggested.for_display(),
        );
        Err(fault("Invalid provider type", &detail, text))
    }
}

/// Prints the full form, with host and namespace.
impl fmt::Display for ProviderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.type_name)
    }
}

fn fault(summary: &'static str, detail: &str, text: &str) -> AddrError {
    AddrError::new(summary, detail, 0..text.len())
}

fn named_fault(summary: &'static str, what: &str, text: &str, why: &str) -> AddrError {
    fault(summary, &format!("Invalid {what} in source {text:?}: {why}."), text)
}

fn part(text: &str) -> Result<SmolStr, &'static str> {
    if text.contains('.') {
        return Err("dots are not allowed");
    }
    if text.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    let allowed = text.chars().all(|it| it.is_alphanumeric() || it == '-');
    if !allowed || text.starts_with('-') || text.ends_with('-') {
        return Err(
            "must contain only letters, digits, and dashes, and may not use leading or trailing dashes",
        );
    }
    Ok(text.to_lowercase().into())
}

pub(crate) fn host(text: &str) -> Result<SmolStr, &'static str> {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let label_ok = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|it| it.is_alphanumeric() || it == '-')
    };
    if !name.split('.').all(label_ok) {
        return Err("not a valid hostname");
    }
    // A host without a dot is most likely a namespace after which a part is missing. `localhost` and hosts with a
    // port are accepted.
    let is_word = !name.contains('.') && name != "localhost";
    if port.is_none() && is_word {
        return Err("a hostname must contain at least one dot");
    }
    match port {
        None => Ok(name.to_lowercase().into()),
        Some(port) => match port.parse::<u16>() {
            // The default port is dropped, except after a host without a dot, which is only valid with a port.
            Ok(443) if !is_word => Ok(name.to_lowercase().into()),
            Ok(port) => Ok(format!("{}:{port}", name.to_lowercase()).into()),
            Err(_) => Err("the port must be a number from 0 to 65535"),
        },
    }
}
