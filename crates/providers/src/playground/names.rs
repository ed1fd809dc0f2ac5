//! The names, ids and ARNs of the remote system.

use crate::playground::store::random;
use mayfly_sdk::Diagnostic;

const PREFIX: &str = "arn:playground:";
const ACCOUNT: &str = "local:000000000000";
/// The number of characters that follow a secret's name in its ARN, including the hyphen.
const SUFFIX: usize = 7;

/// Returns twelve random hexadecimal digits as a unique id.
pub(super) fn unique() -> String {
    base16ct::lower::encode_string(&random::<6>())
}

/// The ARN of a new secret. Its suffix differs even if the name is used again.
pub(super) fn secret_arn(name: &str) -> String {
    format!("{PREFIX}secretsmanager:{ACCOUNT}:secret:{name}-{}", &unique()[..SUFFIX - 1])
}

/// The ARN of any other object.
pub(super) fn arn(service: &str, name: &str) -> String {
    format!("{PREFIX}{service}:{ACCOUNT}:{name}")
}

/// Returns the name of a secret from its ARN or its name.
pub(super) fn secret_name(text: &str) -> &str {
    let resource = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once(":secret:"))
        .map(|(_, name)| name);
    match resource {
        Some(name) => name.get(..name.len().saturating_sub(SUFFIX)).unwrap_or(name),
        None => text,
    }
}

/// Splits an ARN into service and resource.
pub(super) fn parse_arn(text: &str) -> Option<(&str, &str)> {
    let (service, rest) = text.strip_prefix(PREFIX)?.split_once(':')?;
    let resource = rest.strip_prefix(ACCOUNT)?.strip_prefix(':')?;
    Some((service, resource))
}

/// An error about an object that does not exist.
pub(super) fn not_found(kind: &str, name: &str) -> Diagnostic {
    Diagnostic::error("Not found", format!("The playground has no {kind} named {name:?}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_identified_by_name_or_arn() {
        for name in ["a", "path/to-it", "with-hyphens-1234567"] {
            assert_eq!(secret_name(name), name);
            assert_eq!(secret_name(&secret_arn(name)), name);
        }
        for strange in ["é", "ééééé"] {
            assert!(
                strange.starts_with(secret_name(&format!("arn:playground:x:y:z:secret:{strange}")))
            );
        }
        assert_ne!(secret_arn("a"), secret_arn("a"));
    }

    #[test]
    fn arn_is_parsed_into_service_and_resource() {
        assert_eq!(parse_arn(&arn("ssm", "parameter/p")), Some(("ssm", "parameter/p")));
        assert_eq!(parse_arn("arn:aws:ssm:x:y:z"), None);
    }
}
