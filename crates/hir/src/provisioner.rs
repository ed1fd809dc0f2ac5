//! The provisioners that exist, and what their blocks and `connection {}` may say (`reference`: surface 8).

use std::{collections::BTreeMap, sync::LazyLock};

use provider::{Attribute, Block};
use values::{Str, Type};

/// The names of the provisioners.
pub const KINDS: [&str; 3] = ["local-exec", "remote-exec", "file"];

/// The arguments of a provisioner, if there is one of that name.
pub fn schema(kind: &str) -> Option<&'static Block> {
    match kind {
        "local-exec" => Some(&LOCAL_EXEC),
        "remote-exec" => Some(&REMOTE_EXEC),
        "file" => Some(&FILE),
        _ => None,
    }
}

/// The arguments of `local-exec`.
pub fn local_exec() -> &'static Block {
    &LOCAL_EXEC
}

/// The arguments of `connection {}`, those of SSH and those of WinRM: which of them count is known when it is used.
pub fn connection() -> &'static Block {
    &CONNECTION
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

/// Arguments of a connection that are texts.
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
