//! Names, ids and ARNs of the remote system.

use crate::{playground::store::random, sdk::Diagnostic};

const PREFIX: &str = "arn:playground:";
const ACCOUNT: &str = "local:000000000000";
/// Characters that follow a secret's name in its ARN, with their hyphen.
const SUFFIX: usize = 7;

/// Twelve hexadecimal digits that nobody had before.
pub(super) fn unique() -> String {
    random::<6>().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ARN of a new secret. The end differs even where the name is used again.
pub(super) fn secret_arn(name: &str) -> String {
    format!("{PREFIX}secretsmanager:{ACCOUNT}:secret:{name}-{}", &unique()[..SUFFIX - 1])
}

/// The ARN of anything else.
pub(super) fn arn(service: &str, name: &str) -> String {
    format!("{PREFIX}{service}:{ACCOUNT}:{name}")
}

/// The name of the secret that a text names: its ARN or the name itself.
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

/// The parts of an ARN: service and resource.
pub(super) fn parse_arn(text: &str) -> Option<(&str, &str)> {
    let (service, rest) = text.strip_prefix(PREFIX)?.split_once(':')?;
    let resource = rest.strip_prefix(ACCOUNT)?.strip_prefix(':')?;
    Some((service, resource))
}

/// An error about an object that is not there.
pub(super) fn not_found(kind: &str, name: &str) -> Diagnostic {
    Diagnostic::error("Not found", format!("The playground has no {kind} named {name:?}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_named_by_its_name_or_its_arn() {
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
    fn an_arn_has_a_service_and_a_resource() {
        assert_eq!(parse_arn(&arn("ssm", "parameter/p")), Some(("ssm", "parameter/p")));
        assert_eq!(parse_arn("arn:aws:ssm:x:y:z"), None);
    }
}
