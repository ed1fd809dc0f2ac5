use crate::module::ModulePath;
use crate::provider_config::{LocalProviderConfig, ProviderConfigRef};
use crate::provider_source::ProviderSource;

#[test]
fn provider_source_addresses_get_default_parts() {
    let cases = [
        ("aws", "registry.opentofu.org/hashicorp/aws", "hashicorp/aws"),
        ("AWS", "registry.opentofu.org/hashicorp/aws", "hashicorp/aws"),
        ("acme/aws", "registry.opentofu.org/acme/aws", "acme/aws"),
        ("-/aws", "registry.opentofu.org/-/aws", "aws"),
        ("example.com/acme/aws", "example.com/acme/aws", "example.com/acme/aws"),
        ("Example.com:443/acme/aws", "example.com/acme/aws", "example.com/acme/aws"),
        ("Host:443/acme/aws", "host:443/acme/aws", "host:443/acme/aws"),
        ("localhost:8080/acme/aws", "localhost:8080/acme/aws", "localhost:8080/acme/aws"),
        (
            "terraform.io/builtin/terraform",
            "terraform.io/builtin/terraform",
            "terraform.io/builtin/terraform",
        ),
    ];
    for (text, full, display) in cases {
        let source = ProviderSource::parse(text).expect(text);
        assert_eq!((source.to_string().as_str(), source.for_display().as_str()), (full, display));
        assert_eq!(ProviderSource::parse(full).as_ref(), Ok(&source));
    }
}

#[test]
fn unlisted_provider_names_imply_default_or_built_in_sources() {
    assert_eq!(ProviderSource::implied_for("aws"), ProviderSource::default_for("aws"));
    let builtin = ProviderSource::implied_for("terraform");
    assert!(builtin.is_builtin());
    assert_eq!(builtin.to_string(), "terraform.io/builtin/terraform");
}

#[test]
fn invalid_provider_source_is_an_error() {
    let cases = [
        ("", "Invalid provider source string"),
        ("a//b", "Invalid provider source string"),
        ("a/b/c/d", "Invalid provider source string"),
        ("acme/a_b", "Invalid provider type"),
        ("acme/a--b", "Invalid provider type"),
        ("acme/a.b", "Invalid provider type"),
        ("acme/-a", "Invalid provider type"),
        ("ac.me/aws", "Invalid provider namespace"),
        ("acme/x/aws", "Invalid provider source hostname"),
        ("ex ample.com/x/aws", "Invalid provider source hostname"),
        ("example.com:port/x/aws", "Invalid provider source hostname"),
        ("example.com/-/aws", "Invalid provider namespace"),
        ("acme/terraform-provider-aws", "Invalid provider type"),
    ];
    for (text, summary) in cases {
        assert_eq!(ProviderSource::parse(text).expect_err(text).summary, summary, "{text}");
    }
    let error = ProviderSource::parse("acme/terraform-provider-aws").expect_err("it has a prefix");
    assert!(error.detail.ends_with("Did you mean \"acme/aws\"?"), "{}", error.detail);
}

#[test]
fn provider_configurations_print_as_in_state_files() {
    let texts = [
        r#"provider["registry.opentofu.org/hashicorp/aws"]"#,
        r#"provider["registry.opentofu.org/hashicorp/aws"].west"#,
        r#"provider["registry.opentofu.org/hashicorp/aws"].west["k"]"#,
        r#"module.a.module.b.provider["example.com/acme/aws"].west[0]"#,
    ];
    for text in texts {
        let parsed = ProviderConfigRef::parse(text).expect(text);
        assert_eq!(parsed.to_string(), text);
        assert!(!parsed.without_key().to_string().ends_with(']') || parsed.alias.is_none());
    }
    let legacy = ProviderConfigRef::parse("provider.aws.west").expect("old state files hold it");
    assert!(legacy.source.is_legacy());
    assert_eq!(legacy.alias.as_deref(), Some("west"));
    let folded = ProviderConfigRef::parse("provider.AWS").expect("upper case is folded");
    assert_eq!(ProviderConfigRef::parse(&folded.to_string()), Ok(folded));
    assert!(ProviderConfigRef::parse("provider.a_b").is_err(), "no address has such a type");
    let builtin = ProviderConfigRef::parse("provider.terraform").expect("old state files hold it");
    assert!(builtin.source.is_builtin());
}

#[test]
fn invalid_provider_configuration_address_is_an_error() {
    let texts = [
        "provider",
        "aws",
        "provider[0]",
        "resource[\"aws\"]",
        r#"module.a[0].provider["aws"]"#,
        r#"provider["a//b"]"#,
        r#"provider["aws"].west.x"#,
        r#"provider["aws"].west["k"]["l"]"#,
    ];
    for text in texts {
        assert!(ProviderConfigRef::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_default_configuration_is_inherited_from_the_caller() {
    let module = ModulePath::root().child("a");
    let config = ProviderConfigRef::default_in(module, ProviderSource::default_for("aws"));
    let inherited = config.inherited().expect("there is a caller");
    assert_eq!(inherited.to_string(), r#"provider["registry.opentofu.org/hashicorp/aws"]"#);
    assert_eq!(inherited.inherited(), None);
    let aliased = ProviderConfigRef { alias: Some("west".into()), ..config };
    assert_eq!(aliased.inherited(), None);
}

#[test]
fn local_provider_name_has_at_most_an_alias() {
    for text in ["aws", "aws.west"] {
        assert_eq!(LocalProviderConfig::parse(text).expect(text).to_string(), text);
    }
    for text in ["", "aws.", "aws.west.x", "0", "aws[0]"] {
        assert!(LocalProviderConfig::parse(text).is_err(), "{text}");
    }
}
