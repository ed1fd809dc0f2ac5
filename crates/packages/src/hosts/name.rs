//! Names of service hosts.

use std::fmt;

/// The name of a service host in lower case, with its port unless that is 443.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostName(String);

impl HostName {
    /// Parses `name` or `name:port`.
    ///
    /// # Errors
    /// Returns a sentence fragment that names the problem.
    pub fn parse(text: &str) -> Result<HostName, String> {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        let port = match port {
            None => None,
            Some(_) if matches!(name.to_ascii_lowercase().as_str(), "http" | "https") => {
                return Err("write only the host name and its port, not a full URL".to_owned());
            }
            Some(port) => Some(
                port.parse::<u16>()
                    .map_err(|_| "the port must be a number up to 65535".to_owned())?,
            ),
        };
        if name.is_empty() {
            return Err("the name is empty".to_owned());
        }
        for label in name.split('.') {
            check_label(label)?;
        }
        let name = name.to_ascii_lowercase();
        Ok(HostName(match port {
            None | Some(443) => name,
            Some(port) => format!("{name}:{port}"),
        }))
    }

    /// The name in its normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check_label(label: &str) -> Result<(), String> {
    if label.is_empty() {
        return Err("it has an empty part between two dots".to_owned());
    }
    if !label.is_ascii() {
        return Err(format!(
            "the part {label:?} has characters beyond ASCII, which this version does not support in host names"
        ));
    }
    if label.to_ascii_lowercase().starts_with("xn--") {
        return Err(format!("the part {label:?} is in Punycode, which is not accepted"));
    }
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
    match label.len() > 63
        || !label.bytes().all(is_plain)
        || label.starts_with('-')
        || label.ends_with('-')
    {
        true => Err(format!(
            "the part {label:?} must have up to 63 letters, digits and dashes, and no dash at its ends"
        )),
        false => Ok(()),
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_are_normalized() {
        for (text, expected) in [
            ("App.Example.COM", "app.example.com"),
            ("app.example.com:443", "app.example.com"),
            ("localhost:08443", "localhost:8443"),
        ] {
            assert_eq!(HostName::parse(text).expect("a name").as_str(), expected);
        }
    }

    #[test]
    fn invalid_host_names_are_refused() {
        for (text, expected) in [
            ("", "is empty"),
            ("https://app.example.com", "not a full URL"),
            ("app.example.com/a", "letters, digits and dashes"),
            ("app..com", "between two dots"),
            ("app_1.com", "letters, digits and dashes"),
            ("xn--caf-dma.fr", "Punycode"),
            ("caf\u{e9}.fr", "beyond ASCII"),
            ("app.com:x", "a number up to 65535"),
            ("app.com:70000", "a number up to 65535"),
            (":80", "is empty"),
        ] {
            let error = HostName::parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
