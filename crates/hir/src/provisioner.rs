//! The provisioners, and the schemas of `provisioner` and `connection` blocks.

use std::sync::{Arc, LazyLock};

use provider::{Attribute, Block};
use sorted::{SortedMap, TreeMap};
use values::{Str, Type, Value, convert};

use crate::item::Body;

/// The schemas of provisioner plugins, by the name of the provisioner. `None` if the plugin is installed but its schema
/// has not been read: editors start no program.
pub type ProvisionerSchemas = TreeMap<Str, Option<Arc<Block>>>;

/// The schema of a provisioner: of the plugin with this name, or of the built-in provisioner. `None` if there is
/// neither, or if the schema of the plugin has not been read. As in OpenTofu, a plugin replaces a built-in provisioner.
pub fn schema_of<'s>(kind: &str, plugins: &'s ProvisionerSchemas) -> Option<&'s Block> {
    match plugins.get(kind) {
        Some(plugin) => plugin.as_deref(),
        None => schema(kind),
    }
}

/// The built-in provisioner types.
pub const KINDS: [&str; 3] = ["local-exec", "remote-exec", "file"];

/// The schema of a built-in provisioner type. `None` if the type does not exist.
pub fn schema(kind: &str) -> Option<&'static Block> {
    match kind {
        "local-exec" => Some(&LOCAL_EXEC),
        "remote-exec" => Some(&REMOTE_EXEC),
        "file" => Some(&FILE),
        _ => None,
    }
}

/// Returns true if a provisioner works on another machine, and so needs a connection.
pub fn connects(kind: &str) -> bool {
    ["remote-exec", "file"].contains(&kind)
}

/// The detail of the diagnostic for a provisioner that needs a connection and has none.
pub const MISSING_CONNECTION: &str = "The provisioner works on another machine, but neither it nor its resource has a \
                                      \"connection\" block. Add one with at least the argument \"host\".";

/// The schema of `connection` blocks. It has the arguments of both SSH and WinRM: a connection of type `winrm` gets
/// one error, which names the type.
pub fn connection() -> &'static Block {
    &CONNECTION
}

/// A problem with a constant argument of a connection.
pub struct InvalidConnectionText {
    /// The reason, without a quotation of the constant.
    pub why: String,
    /// The words that are acceptable. Empty if the argument is not one of a fixed set.
    pub words: &'static [&'static str],
    /// Set if OpenTofu ignores the problem and uses a default.
    pub is_ignored: bool,
}

/// Checks a string argument of a connection. `None` if the value is acceptable.
pub fn check_connection_text(argument: &str, text: &str) -> Option<InvalidConnectionText> {
    let invalid = |why: &str, words, is_ignored| {
        Some(InvalidConnectionText { why: why.to_owned(), words, is_ignored })
    };
    let is_one_of = |words: &[&str]| text.is_empty() || words.contains(&text);
    match argument {
        "type" if !is_one_of(TYPES) => invalid("it is ssh", TYPES, false),
        "timeout" if !text.is_empty() && values::functions::duration(text).is_none() => invalid(
            "it is a duration such as 30s or 5m. Instead, the default is used: 5m",
            &[],
            true,
        ),
        "host" if text.is_empty() => invalid("it cannot be empty", &[], false),
        "target_platform" if !is_one_of(PLATFORMS) => {
            invalid("it is unix or windows", PLATFORMS, false)
        }
        "proxy_scheme" if !is_one_of(SCHEMES) => {
            invalid("it is http, https or socks5", SCHEMES, false)
        }
        _ => None,
    }
}

const TYPES: &[&str] = &["ssh"];

const PLATFORMS: &[&str] = &["unix", "windows"];

const SCHEMES: &[&str] = &["http", "https", "socks5", "socks5h"];

/// The detail of the diagnostic for a connection of type `winrm`.
pub const WINRM: &str = "Connections of type \"winrm\" are not supported, also not by OpenTofu from \
                         version 1.13 on. Windows has an SSH server (OpenSSH): enable it on the \
                         machine, and set type = \"ssh\" and target_platform = \"windows\".";

/// Returns true if an argument of a connection is a port number.
pub fn is_port(argument: &str) -> bool {
    PORTS.contains(&argument)
}

/// Checks a port argument. `None` if the value is acceptable, or if it is no number at all: the schema reports that.
pub fn check_port(value: &Value) -> Option<InvalidConnectionText> {
    let number = convert::convert(value, &Type::Number).ok()?;
    number.as_number()?;
    port(value).is_none().then(|| InvalidConnectionText {
        why: "a port is a whole number from 0 to 65535".to_owned(),
        words: &[],
        is_ignored: false,
    })
}

/// Converts the value of a port argument. `None` if the value is not a port.
pub fn port(value: &Value) -> Option<u16> {
    let number = convert::convert(value, &Type::Number).ok()?;
    u16::try_from(number.as_number()?.to_i64()?).ok()
}

const PORTS: &[&str] = &["port", "bastion_port", "proxy_port"];

/// Merges the `connection` block of a resource with that of one of its provisioners: an argument of the provisioner
/// replaces the argument of the resource with the same name.
pub fn merged_connection(outer: &Body, own: &Body) -> Body {
    let is_replaced = |name: &str| own.attrs.iter().any(|it| *it.name == *name);
    let kept = outer.attrs.iter().filter(|it| !is_replaced(&it.name));
    Body {
        attrs: own.attrs.iter().chain(kept).cloned().collect(),
        blocks: own.blocks.iter().chain(&outer.blocks).cloned().collect(),
        is_json: own.is_json || outer.is_json,
    }
}

static LOCAL_EXEC: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("command", Attribute::required(Type::String)),
        ("interpreter", Attribute::optional(Type::list(Type::String))),
        ("working_dir", Attribute::optional(Type::String)),
        ("environment", Attribute::optional(Type::map(Type::String))),
        ("quiet", Attribute::optional(Type::Bool)),
    ])
});

static REMOTE_EXEC: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("inline", Attribute::optional(Type::list(Type::String))),
        ("script", Attribute::optional(Type::String)),
        ("scripts", Attribute::optional(Type::list(Type::String))),
    ])
});

static FILE: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("source", Attribute::optional(Type::String)),
        ("content", Attribute::optional(Type::String)),
        ("destination", Attribute::required(Type::String)),
    ])
});

/// The string arguments of a connection.
const TEXTS: &[&str] = &[
    "type",
    "user",
    "password",
    "timeout",
    "script_path",
    "private_key",
    "certificate",
    "agent_identity",
    "host_key",
    "target_platform",
    "bastion_host",
    "bastion_host_key",
    "bastion_user",
    "bastion_password",
    "bastion_private_key",
    "bastion_certificate",
    "proxy_scheme",
    "proxy_host",
    "proxy_user_name",
    "proxy_user_password",
    "cacert",
];

static CONNECTION: LazyLock<Block> = LazyLock::new(|| {
    let host = [("host", Attribute::required(Type::String))];
    let texts = TEXTS.iter().map(|name| (*name, Attribute::optional(Type::String)));
    let numbers = PORTS.iter().map(|name| (*name, Attribute::optional(Type::Number)));
    let switches = ["agent", "https", "insecure", "use_ntlm"];
    let switches = switches.map(|name| (name, Attribute::optional(Type::Bool)));
    block(host.into_iter().chain(texts).chain(numbers).chain(switches))
});

fn block(attributes: impl IntoIterator<Item = (&'static str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    Block::new(attributes, SortedMap::new())
}
