//! Constants and versions of go-plugin's handshake that both sides share.

use std::fmt;

/// The variable and the value that show a plugin that a core started it, not a person.
pub(crate) const MAGIC_COOKIE_KEY: &str = "TF_PLUGIN_MAGIC_COOKIE";
pub(crate) const MAGIC_COOKIE_VALUE: &str =
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// The version of go-plugin's own handshake.
pub(crate) const CORE_VERSION: &str = "1";

pub(crate) const VERSIONS_KEY: &str = "PLUGIN_PROTOCOL_VERSIONS";
pub(crate) const CLIENT_CERT_KEY: &str = "PLUGIN_CLIENT_CERT";
pub(crate) const MIN_PORT_KEY: &str = "PLUGIN_MIN_PORT";
pub(crate) const MAX_PORT_KEY: &str = "PLUGIN_MAX_PORT";
pub(crate) const SOCKET_DIR_KEY: &str = "PLUGIN_UNIX_SOCKET_DIR";
pub(crate) const SOCKET_GROUP_KEY: &str = "PLUGIN_UNIX_SOCKET_GROUP";
pub(crate) const MULTIPLEX_KEY: &str = "PLUGIN_MULTIPLEX_GRPC";

/// A major version of the provider protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProtocolVersion {
    /// `tfplugin5`, without nested attributes.
    V5,
    /// `tfplugin6`.
    V6,
}

impl ProtocolVersion {
    /// All supported versions, in ascending order.
    pub const ALL: [Self; 2] = [Self::V5, Self::V6];

    /// Parses the version field of a handshake. `None` if the version is not supported.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "5" => Some(Self::V5),
            "6" => Some(Self::V6),
            _ => None,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V5 => "5",
            Self::V6 => "6",
        })
    }
}
