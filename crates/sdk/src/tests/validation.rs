//! Tests of configuration validation.

use expect_test::{Expect, expect};
use provider::{Provider, Severity};
use values::Value;

use crate::{ConfigureCall, Definition, Diagnostic, Function, Types, schema};

use super::{Server, said_of, thing::Things, validate_request, value};

async fn check(config: &str, expected: Expect) {
    let schema = super::schema().await;
    let said = Server::new(Things)
        .validate_resource_config(validate_request(value(&schema, config)))
        .await;
    expected.assert_eq(&said_of(&said));
}

#[tokio::test]
async fn valid_configuration_gives_no_diagnostics() {
    check(r#"{"name": "n", "rule": [{"name": "r", "pass_wo": "s"}], "pass_wo": "s"}"#, expect![""])
        .await;
    check(r#"{"name": "?", "note": "?", "rule": []}"#, expect![""]).await;
}

#[tokio::test]
async fn schema_requirements_are_checked_at_every_depth() {
    let required = expect![[r#"
        .name: Missing Configuration for Required Attribute
        .rule[0].name: Missing Configuration for Required Attribute"#]];
    check(r#"{"rule": [{}]}"#, required).await;
    let read_only = expect![[r#"
        .id: Invalid Configuration for Read-Only Attribute
        .settings.code: Invalid Configuration for Read-Only Attribute"#]];
    check(r#"{"name": "n", "id": "x", "settings": {"code": "y"}, "rule": []}"#, read_only).await;
    let values = expect![[r#"
        .note: Invalid Attribute Value Match
        .size: Invalid Attribute Value"#]];
    check(r#"{"name": "n", "note": "c", "size": 1.5, "rule": []}"#, values).await;
}

#[tokio::test]
async fn resource_validation_is_called() {
    let deprecated = expect!["warning: .old: Attribute Deprecated"];
    check(r#"{"name": "n", "old": "x", "rule": []}"#, deprecated).await;
    let loud = expect![".label: Loud needs a label"];
    check(r#"{"name": "n", "note": "loud", "rule": []}"#, loud).await;
}

#[tokio::test]
async fn unknown_resource_type_is_an_error() {
    let server = Server::new(Things);
    let mut request = validate_request(Value::empty_object());
    request.type_name = "test_other".into();
    for said in [
        server.validate_resource_config(request.clone()).await,
        server.validate_data_config(request.clone()).await,
        server.validate_ephemeral_config(request).await,
    ] {
        assert!(matches!(said.as_slice(), [it] if it.severity == Severity::Error));
    }
}

#[tokio::test]
async fn provider_configuration_is_validated() {
    let said = Server::new(Things)
        .validate_provider_config(Value::object_from([(
            "prefix",
            Value::null(values::Type::String),
        )]))
        .await;
    expect![".prefix: Missing Configuration for Required Attribute"].assert_eq(&said_of(&said));
}

#[tokio::test]
async fn served_schemas_are_valid() {
    let schemas = Server::new(Things).schemas().await.expect("schemas are there");
    assert!(schemas.managed("test_thing").expect("is there").problems().is_empty());
    assert_eq!(schemas.managed("test_thing").expect("is there").version(), 2);
    assert_eq!(schemas.functions.len(), 1);
    assert!(schemas.capabilities.plan_destroy && schemas.capabilities.get_provider_schema_optional);
}

/// A provider with an attribute that is neither required, optional nor computed, and with two functions of one name,
/// whose parameters have no names.
struct Careless;

impl Definition for Careless {
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        "careless"
    }

    fn schema(&self) -> schema::Schema {
        schema::Schema::new(schema::Block::new().attribute("x", schema::string()))
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        let echo = || Function::new("echo", |text: String| Ok(text));
        types.function(echo()).function(echo());
    }
}

#[tokio::test]
async fn invalid_schema_is_an_error_for_its_author() {
    let said = Server::new(Careless).schemas().await.expect_err("is refused");
    assert_eq!(said_of(&said), "Invalid Schema\nInvalid Function\nRepeated Name");
}
