//! Properties that hold for every text that is parsed as an address, a version or a constraint. The fuzz targets
//! (`fuzz/`) and `tests/hostile` run the same functions.

use std::fmt::{Debug, Display};

use crate::{
    LocalProviderConfig, ModuleSource, ProviderConfigRef, ProviderSource, Version,
    VersionConstraint, parse_config_resource, parse_module_instance, parse_module_path,
    parse_resource, parse_resource_instance, parse_target,
};

/// Checks that the printed form of an address parses to the same address.
///
/// # Panics
///
/// Panics if the property does not hold.
pub fn check_address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    check(text, parse_resource_instance);
    check(text, parse_resource);
    check(text, parse_config_resource);
    check(text, parse_module_instance);
    check(text, parse_module_path);
    check(text, ProviderSource::parse);
    check(text, ProviderConfigRef::parse);
    check(text, LocalProviderConfig::parse);
    check_module_source(text);
    if let Ok(instance) = parse_resource_instance(text) {
        assert!(parse_target(text).is_ok_and(|it| it.covers(&instance)), "{text:?}");
    }
}

/// Checks that the printed form of a module source parses, and prints the same. The source itself may differ:
/// passwords are not printed.
fn check_module_source(text: &str) {
    let Ok(source) = ModuleSource::parse(text) else { return };
    let written = source.to_string();
    let again = ModuleSource::parse(&written);
    let again = again.unwrap_or_else(|it| panic!("{written:?} of {text:?}: {it}"));
    assert_eq!(again.to_string(), written, "{text:?}");
    assert_eq!((&again.subdir, &again.package.getter), (&source.subdir, &source.package.getter));
}

/// Checks that the printed form of a version or a constraint parses to the same, and that canonical constraints
/// allow the same versions.
///
/// # Panics
///
/// Panics if the property does not hold.
pub fn check_version(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (constraint, version) = text.split_once('@').unwrap_or((text, text));
    check(version, Version::parse);
    check(version, Version::parse_lenient);
    check(constraint, VersionConstraint::parse);
    for parse in [VersionConstraint::parse, VersionConstraint::parse_provider] {
        let (Ok(constraint), Ok(version)) = (parse(constraint), Version::parse(version)) else {
            continue;
        };
        let both = constraint.and(&VersionConstraint::any());
        assert_eq!(both.allows(&version), constraint.allows(&version), "{text:?}");
        let canonical = constraint.canonical();
        let again = VersionConstraint::parse_provider(&canonical);
        let again = again.unwrap_or_else(|error| panic!("{canonical:?} of {text:?}: {error}"));
        assert_eq!(again.canonical(), canonical, "{text:?}");
        assert_eq!(
            again.allows_provider(&version),
            constraint.allows_provider(&version),
            "{text:?}"
        );
    }
}

#[track_caller]
fn check<T: Display + PartialEq + Debug, E: Display>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) {
    match parse(text) {
        Ok(read) => {
            let written = read.to_string();
            let again =
                parse(&written).unwrap_or_else(|it| panic!("{written:?} of {text:?}: {it}"));
            assert_eq!(again, read, "{text:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty(), "{text:?} is refused without a word"),
    }
}
