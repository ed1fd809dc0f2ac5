//! The provisioners, and the schemas of `provisioner` and `connection` blocks.

use std::{collections::BTreeMap, sync::LazyLock};

use provider::{Attribute, Block};
use values::{Str, Type};

/// The provisioner types.
pub const KINDS: [&str; 3] = ["local-exec", "remote-exec", "file"];

/// The schema of a provisioner type. `None` if the type does not exist.
pub fn schema(kind: &str) -> Option<&'static Block> {
    match kind {
        "local-exec" => Some(&LOCAL_EXEC),
        "remote-exec" => Some(&REMOTE_EXEC),
        "file" => Some(&FILE),
        _ => None,
    }
}

/// The schema of `local-exec`.
pub fn local_exec() -> &'static Block {
    &LOCAL_EXEC
}

/// The schema of `connection` blocks. It has the arguments of both SSH and WinRM, because the type is known only
/// when the connection is used.
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

/// Checks a string argument of a connection of type `kind`. `None` if the value is acceptable.
pub fn check_connection_text(
    kind: &str,
    argument: &str,
    text: &str,
) -> Option<InvalidConnectionText> {
    let invalid = |why: &str, words, is_ignored| {
        Some(InvalidConnectionText { why: why.to_owned(), words, is_ignored })
    };
    let is_ssh = kind == "ssh";
    let is_one_of = |words: &[&str]| text.is_empty() || words.contains(&text);
    match argument {
        "type" if !is_one_of(TYPES) => invalid("it is ssh or winrm", TYPES, false),
        "timeout" if !text.is_empty() && !values::functions::is_duration(text) => invalid(
            "it is a duration such as 30s or 5m. Instead, the default is used: 5m",
            &[],
            true,
        ),
        "host" if is_ssh && text.is_empty() => invalid("it cannot be empty", &[], false),
        "target_platform" if is_ssh && !is_one_of(PLATFORMS) => {
            invalid("it is unix or windows", PLATFORMS, false)
        }
        "proxy_scheme" if is_ssh && !is_one_of(SCHEMES) => {
            invalid("it is http, https or socks5", SCHEMES, false)
        }
        "script_path" if kind == "winrm" && is_in_windows_temp(text) => {
            invalid("a script in C:\\Windows\\Temp may be deleted before it runs", &[], false)
        }
        _ => None,
    }
}

const TYPES: &[&str] = &["ssh", "winrm"];

const PLATFORMS: &[&str] = &["unix", "windows"];

const SCHEMES: &[&str] = &["http", "https", "socks5", "socks5h"];

fn is_in_windows_temp(path: &str) -> bool {
    path.replace('\\', "/").starts_with("C:/Windows/Temp")
}

/// Returns true if an argument of a connection is a port number. The ports of bastion host and proxy exist only
/// for `ssh`.
pub fn is_port(kind: &str, argument: &str) -> bool {
    argument == "port" || kind == "ssh" && ["bastion_port", "proxy_port"].contains(&argument)
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
    let numbers = ["port", "bastion_port", "proxy_port"];
    let numbers = numbers.map(|name| (name, Attribute::optional(Type::Number)));
    let switches = ["agent", "https", "insecure", "use_ntlm"];
    let switches = switches.map(|name| (name, Attribute::optional(Type::Bool)));
    block(host.into_iter().chain(texts).chain(numbers).chain(switches))
});

fn block(attributes: impl IntoIterator<Item = (&'static str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    Block::new(attributes, BTreeMap::new())
}
