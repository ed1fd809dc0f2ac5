//! The handshake line in which a plugin reports its address: `CORE|APP|NET|ADDR|PROTO|CERT`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};

use crate::protocol::{CORE_VERSION, ProtocolVersion};

/// The least length of a certificate field. Shorter ones are no certificates; old plugins use the field for other
/// data.
const MIN_CERTIFICATE_CHARS: usize = 51;

/// The address on which a plugin listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl Address {
    /// Parses the network and address fields that go-plugin writes in handshakes and in `TF_REATTACH_PROVIDERS`.
    pub(crate) fn parse(network: &str, address: &str) -> Result<Self, HandshakeError> {
        match network {
            "unix" if !address.is_empty() => Ok(Self::Unix(PathBuf::from(address))),
            "tcp" => address
                .parse()
                .map(Self::Tcp)
                .map_err(|_| HandshakeError::Address(address.to_owned())),
            "unix" => Err(HandshakeError::Address(String::new())),
            _ => Err(HandshakeError::Network(network.to_owned())),
        }
    }

    pub(crate) fn socket(&self) -> Option<&Path> {
        match self {
            Self::Unix(path) => Some(path),
            Self::Tcp(_) => None,
        }
    }
}

/// A parsed handshake line.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Handshake {
    pub(crate) protocol: ProtocolVersion,
    pub(crate) address: Address,
    /// The DER of the certificate that the plugin presents, or `None` without TLS.
    pub(crate) certificate: Option<Vec<u8>>,
}

/// An error in a handshake line. The parts of the line in it are redacted before they are shown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error("Unrecognized remote plugin message: {0}")]
    Unrecognized(String),
    #[error("incompatible core API version with plugin. Plugin version: {0}, Core version: 1")]
    CoreVersion(String),
    #[error("incompatible API version with plugin. Plugin version: {0}, Client versions: [5 6]")]
    ApiVersion(String),
    #[error("unknown address type: {0:?}")]
    Network(String),
    #[error("the plugin's address {0:?} cannot be understood")]
    Address(String),
    #[error("unsupported plugin protocol {0:?}, expected \"grpc\"")]
    Protocol(String),
    #[error("the plugin's certificate is not base64 of DER")]
    Certificate,
    #[error("the plugin listens on TCP without a certificate")]
    PlainTcp,
}

impl HandshakeError {
    /// Returns the error with its quoted text replaced.
    pub(crate) fn map_text(self, replace: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Unrecognized(text) => Self::Unrecognized(replace(text)),
            Self::CoreVersion(text) => Self::CoreVersion(replace(text)),
            Self::ApiVersion(text) => Self::ApiVersion(replace(text)),
            Self::Network(text) => Self::Network(replace(text)),
            Self::Address(text) => Self::Address(replace(text)),
            Self::Protocol(text) => Self::Protocol(replace(text)),
            Self::Certificate | Self::PlainTcp => self,
        }
    }
}

/// Parses a handshake line.
pub(crate) fn parse(line: &str) -> Result<Handshake, HandshakeError> {
    let line = line.trim();
    let fields: Vec<&str> = line.split('|').collect();
    let [core, app, network, address, rest @ ..] = fields.as_slice() else {
        return Err(HandshakeError::Unrecognized(line.to_owned()));
    };
    if *core != CORE_VERSION {
        // The first field is not a number, so this is probably the output of a program that is not a plugin. Quote
        // the whole line instead of reporting a version mismatch.
        let number = core.parse::<u32>().is_ok();
        let text = if number { (*core).to_owned() } else { line.to_owned() };
        return Err(if number {
            HandshakeError::CoreVersion(text)
        } else {
            HandshakeError::Unrecognized(text)
        });
    }
    let protocol =
        ProtocolVersion::parse(app).ok_or_else(|| HandshakeError::ApiVersion((*app).to_owned()))?;
    let address = Address::parse(network, address)?;
    match rest.first().copied().unwrap_or("netrpc") {
        "grpc" => {}
        other => return Err(HandshakeError::Protocol(other.to_owned())),
    }
    let certificate = certificate(rest.get(1).copied().unwrap_or_default())?;
    if certificate.is_none() && matches!(address, Address::Tcp(_)) {
        return Err(HandshakeError::PlainTcp);
    }
    Ok(Handshake { protocol, address, certificate })
}

fn certificate(field: &str) -> Result<Option<Vec<u8>>, HandshakeError> {
    if field.len() < MIN_CERTIFICATE_CHARS {
        return Ok(None);
    }
    let text = field.trim_end_matches('=');
    if text.len() < MIN_CERTIFICATE_CHARS {
        return Err(HandshakeError::Certificate);
    }
    let der = STANDARD_NO_PAD.decode(text).map_err(|_| HandshakeError::Certificate)?;
    Ok(Some(der))
}

/// Writes the line that [`parse`] reads, without a newline.
pub(crate) fn print(
    protocol: ProtocolVersion,
    socket: &Path,
    certificate: Option<&[u8]>,
) -> String {
    let certificate = certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
    format!("{CORE_VERSION}|{protocol}|unix|{}|grpc|{certificate}", socket.display())
}

#[cfg(test)]
mod tests {
    use proptest::proptest;

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let text = match parse(line) {
            Ok(it) => format!(
                "{:?} {:?} {:?}",
                it.protocol,
                it.address,
                it.certificate.map(|der| der.len())
            ),
            Err(error) => error.to_string(),
        };
        assert_eq!(text, expected, "{line}");
    }

    #[test]
    fn handshake_line_names_protocol_and_address() {
        check("1|5|unix|/tmp/p|grpc|", "V5 Unix(\"/tmp/p\") None");
        check("1|6|unix|/tmp/p|grpc\r\n", "V6 Unix(\"/tmp/p\") None");
        check("1|6|unix|/tmp/p|grpc|junk|true|more", "V6 Unix(\"/tmp/p\") None");
        let certificate = "A".repeat(800);
        check(
            &format!("1|6|tcp|127.0.0.1:10001|grpc|{certificate}"),
            "V6 Tcp(127.0.0.1:10001) Some(600)",
        );
    }

    #[test]
    fn each_handshake_fault_has_its_own_error() {
        check("hello", "Unrecognized remote plugin message: hello");
        check("1|6|unix", "Unrecognized remote plugin message: 1|6|unix");
        check("a|b|c|d", "Unrecognized remote plugin message: a|b|c|d");
        check(
            "2|6|unix|/p|grpc|",
            "incompatible core API version with plugin. Plugin version: 2, Core version: 1",
        );
        check(
            "1|4|unix|/p|grpc|",
            "incompatible API version with plugin. Plugin version: 4, Client versions: [5 6]",
        );
        check("1|6|pipe|/p|grpc|", "unknown address type: \"pipe\"");
        check("1|6|unix||grpc|", "the plugin's address \"\" cannot be understood");
        check("1|6|tcp|localhost|grpc|", "the plugin's address \"localhost\" cannot be understood");
        check("1|6|unix|/p", "unsupported plugin protocol \"netrpc\", expected \"grpc\"");
        check("1|6|unix|/p|netrpc|", "unsupported plugin protocol \"netrpc\", expected \"grpc\"");
        check(
            &format!("1|6|unix|/p|grpc|{}", "?".repeat(60)),
            "the plugin's certificate is not base64 of DER",
        );
        check(
            &format!("1|6|unix|/p|grpc|ICMA{}", "=".repeat(60)),
            "the plugin's certificate is not base64 of DER",
        );
        check("1|6|tcp|127.0.0.1:1|grpc|", "the plugin listens on TCP without a certificate");
    }

    proptest! {
        #[test]
        fn handshake_parser_never_panics(line in "(1\\|)?([56]\\|)?(unix\\||tcp\\|)?.{0,40}(\\|grpc\\|)?.{0,90}") {
            let _either = parse(&line);
        }
    }

    #[test]
    fn printed_handshake_is_parsed_back() {
        let der = vec![7; 300];
        let line = print(ProtocolVersion::V6, Path::new("/tmp/p"), Some(&der));
        let expected = Handshake {
            protocol: ProtocolVersion::V6,
            address: Address::Unix("/tmp/p".into()),
            certificate: Some(der),
        };
        assert_eq!(parse(&line), Ok(expected));
    }
}
