use crate::constraint::VersionConstraint;
use crate::version::Version;

fn version(text: &str) -> Version {
    Version::parse(text).expect(text)
}

#[test]
fn versions_are_ordered_by_precedence() {
    let ordered = [
        "0.9.0",
        "1.0.0-1",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.0+a",
        "1.0.0+b",
        "1.0.1",
        "1.2.0",
        "1.10.0",
        "10.0.0",
    ];
    let mut versions: Vec<Version> = ordered.iter().rev().map(|text| version(text)).collect();
    versions.sort();
    let sorted: Vec<String> = versions.iter().map(ToString::to_string).collect();
    assert_eq!(sorted, ordered);
    assert!(version("1.0.0+a").precedence(&version("1.0.0+b")).is_eq());
    assert!(version("1.0.0-99999999999999999998") < version("1.0.0-99999999999999999999"));
}

#[test]
fn invalid_exact_version_is_an_error() {
    let cases = [
        ("", "empty specification"),
        (">= 1.0.0", "can't use constraint operator \">=\"; an exact version is required"),
        ("= 1.0.0", "invalid sequence \"=\" at start of specification"),
        (" 1.0.0", "extraneous spaces at start of specification"),
        ("1.0.0 ", "extraneous spaces at end of specification"),
        ("v1.0.0", "a \"v\" prefix should not be used"),
        ("1.0.0.0", "too many numbered portions; only three are allowed (major, minor, patch)"),
        ("1.*.0", "can't use wildcard for minor number; an exact version is required"),
        ("1.0.0 x", "invalid characters \" x\""),
        ("99999999999999999999.0.0", "major number 99999999999999999999 is too large"),
    ];
    for (text, message) in cases {
        assert_eq!(Version::parse(text).expect_err(text).to_string(), message);
    }
    assert_eq!(version("1").to_string(), "1.0.0");
    assert_eq!(Version::parse_lenient("v1.2").expect("v is accepted"), version("1.2.0"));
    assert_eq!(Version::parse_lenient("1.2.3beta1").expect("as is").to_string(), "1.2.3-beta1");
    assert!(Version::parse_lenient("x").is_err());
}

#[track_caller]
fn check(constraint: &str, allowed: &[&str], refused: &[&str]) {
    let provider = VersionConstraint::parse_provider(constraint).expect(constraint);
    let module = VersionConstraint::parse(constraint).expect(constraint);
    for (texts, expected) in [(allowed, true), (refused, false)] {
        for text in texts {
            assert_eq!(provider.allows_provider(&version(text)), expected, "{constraint}: {text}");
            assert_eq!(module.allows(&version(text)), expected, "{constraint}: {text}");
        }
    }
}

#[test]
fn version_constraints_allow_matching_versions() {
    check("1.2.3", &["1.2.3"], &["1.2.4", "1.2.3-beta"]);
    check("= 1.2", &["1.2.0"], &["1.2.1"]);
    check("!= 1.2.3", &["1.2.4", "0.1.0"], &["1.2.3"]);
    check("> 1.2", &["1.2.1", "2.0.0"], &["1.2.0", "1.1.9"]);
    check(">= 1.2", &["1.2.0", "9.0.0"], &["1.1.9"]);
    check("< 1.2", &["1.1.9"], &["1.2.0", "1.2.0-beta"]);
    check("<= 1.2", &["1.2.0"], &["1.2.1"]);
    check("~> 1.2", &["1.2.0", "1.9.9"], &["1.1.0", "2.0.0"]);
    check("~> 1.2.3", &["1.2.3", "1.2.9"], &["1.2.2", "1.3.0"]);
    check(">= 1.0, != 1.5.0, < 2.0", &["1.0.0", "1.9.0"], &["1.5.0", "2.0.0", "0.9.0"]);
    check("1.0.0-beta1", &["1.0.0-beta1"], &["1.0.0", "1.0.0-beta2"]);
    check(">= 1.0", &["1.0.0"], &["1.1.0-beta1", "2.0.0-rc1"]);
}

#[test]
fn provider_and_module_constraints_differ_on_prereleases() {
    let provider = |text: &str| VersionConstraint::parse_provider(text).expect(text);
    let module = |text: &str| VersionConstraint::parse(text).expect(text);
    // A provider's prerelease must be named exactly. For a module, an inequality with a boundary of the same
    // numbers is enough.
    let beta = version("1.0.0-beta2");
    assert!(!provider(">= 1.0.0-beta1").allows_provider(&beta));
    assert!(module(">= 1.0.0-beta1").allows(&beta));
    assert!(!module(">= 0.9.0-beta1").allows(&beta));
    assert!(!module("~> 1.0.0-beta1").allows(&version("1.0.0")));
    assert!(provider("~> 1.0.0-beta1").allows_provider(&version("1.0.0")));
    // `~> 1` fixes no number for modules, and the major number for providers.
    assert!(module("~> 1").allows(&version("2.0.0")));
    assert!(!provider("~> 1").allows_provider(&version("2.0.0")));
    assert!(VersionConstraint::any().allows_provider(&version("1.0.0")));
}

#[test]
fn invalid_version_constraint_is_an_error() {
    let v = "a \"v\" prefix should not be used when specifying versions";
    let cases = [
        (
            "=> 1.0",
            "invalid specification \"=> 1.0\": invalid constraint operator \"=>\"; did you \
                    mean \">=\"?"
                .to_owned(),
        ),
        (
            "=< 1.0",
            "invalid specification \"=< 1.0\": invalid constraint operator \"=<\"; did you \
                    mean \"<=\"?"
                .to_owned(),
        ),
        ("^1.0", "invalid specification \"^1.0\": invalid constraint operator \"^\"".to_owned()),
        (
            ">  1.0",
            "invalid specification \">  1.0\": only one space is expected after the operator \">\""
                .to_owned(),
        ),
        ("v1.0", format!("invalid specification \"v1.0\": {v}")),
        ("> v1.0", format!("invalid specification \"> v1.0\": {v}")),
        (
            "1.0.0.0",
            "invalid specification \"1.0.0.0\": too many numbered portions; only three are \
                     allowed (major, minor, patch)"
                .to_owned(),
        ),
        (
            "1.*",
            "invalid specification \"1.*\": can't use wildcard for minor number; omit segments \
                 that should be unconstrained"
                .to_owned(),
        ),
        (">= 1.0 < 2.0", "missing comma after \">= 1.0\"".to_owned()),
    ];
    for (text, message) in cases {
        let error = VersionConstraint::parse_provider(text).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
    let error = VersionConstraint::parse(">= 1.0, banana").expect_err("it is none");
    assert_eq!(error.to_string(), "Malformed constraint:  banana");
    assert!(VersionConstraint::parse(" >=v1.0 ,  <2 ").is_ok());
}

#[test]
fn constraints_print_as_in_the_lock_file() {
    let cases = [
        ("~>1.2", "~> 1.2"),
        ("~> 1", "~> 1.0"),
        ("~> 1.2.3", "~> 1.2.3"),
        ("1.2", "1.2.0"),
        (">= 1, < 2.0.0", ">= 1.0.0, < 2.0.0"),
        ("< 2.0, >= 1.0, >= 1", ">= 1.0.0, < 2.0.0"),
        ("!= 1.5.0, ~> 1.0", "~> 1.0, != 1.5.0"),
        (
            "!= 1.0.0, <= 1.0.0, ~> 1.0, ~> 1.0.0, 1.0.0, >= 1.0",
            ">= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, != 1.0.0",
        ),
        ("~> 1.0-beta", "~> 1.0-beta"),
    ];
    for (text, canonical) in cases {
        let constraint = VersionConstraint::parse_provider(text).expect(text);
        assert_eq!(constraint.canonical(), canonical);
        let again = VersionConstraint::parse_provider(&constraint.to_string()).expect(text);
        assert_eq!(again.canonical(), canonical);
    }
}
