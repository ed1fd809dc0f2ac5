//! Tests of secrets that a configuration gives in one of two ways.

use values::Number;

use crate::{
    Diagnostics, Model, Object, Secret, SecretArgument, SecretChange, Unknowns,
    validation::validate_block,
};

#[derive(Model)]
struct Database {
    name: String,
    #[flatten(prefix = "password")]
    password: SecretArgument,
}

/// A database with a password, a write-only password and its version.
fn database(plain: Option<&str>, write_only: Option<&str>, version: Option<i64>) -> Database {
    let number = |it: i64| Number::parse(&it.to_string()).expect("digits are a number");
    let password = SecretArgument {
        plain: plain.map(Secret::new),
        write_only: write_only.map(Secret::new),
        version: version.map(number),
    };
    Database { name: "db".to_owned(), password }
}

#[test]
fn names_of_the_attributes_begin_with_the_prefix() {
    let value = database(None, Some("hush"), Some(2)).encode();
    let text = |name: &str| value.get_attr(name).and_then(|it| it.as_str().map(str::to_owned));
    assert_eq!(text("password_wo").as_deref(), Some("hush"));
    assert!(value.get_attr("password").is_some_and(|it| it.is_null()));
    let read = Database::decode(&Object::new(value), Unknowns::Refused).expect("it fits");
    assert!(read.password == database(None, Some("hush"), Some(2)).password);

    let schema = Database::schema().to_provider();
    let attribute = |name: &str| schema.block().attributes().get(name).expect("is there").clone();
    assert!(attribute("password").sensitive && attribute("password").optional);
    assert!(attribute("password_wo").write_only && attribute("password_wo_version").optional);
}

#[test]
fn configuration_gives_one_secret_and_a_version_only_with_the_write_only_one() {
    let check = |config: &Database, expected: &[&str]| {
        let mut diagnostics = Diagnostics::default();
        validate_block(&Database::schema().block, &config.encode(), &mut diagnostics);
        let details: Vec<_> = diagnostics.into_vec().into_iter().map(|it| it.detail).collect();
        assert_eq!(details, expected);
    };
    check(&database(None, None, None), &[]);
    check(&database(Some("a"), None, None), &[]);
    check(&database(None, Some("a"), Some(1)), &[]);
    check(
        &database(Some("a"), Some("a"), None),
        &["Only one of password and password_wo can be set."],
    );
    check(
        &database(Some("a"), None, Some(1)),
        &["password_wo_version is set, so password_wo must be set too."],
    );
}

#[test]
fn write_only_secret_is_set_with_another_version_or_without_one() {
    let check = |prior: Option<&Database>, planned: &Database, expected: &str| {
        let change = planned.password.change(prior.map(|it| &it.password));
        let shown = match change {
            SecretChange::Keep => "keep".to_owned(),
            SecretChange::Clear => "clear".to_owned(),
            SecretChange::Set { secret, is_write_only: true } => {
                format!("send {}", secret.reveal())
            }
            SecretChange::Set { secret, .. } => format!("set {}", secret.reveal()),
        };
        assert_eq!(shown, expected);
    };
    let none = database(None, None, None);
    let plain = database(Some("a"), None, None);
    // A state has no write-only value.
    let stored = database(None, None, Some(1));
    check(None, &none, "keep");
    check(None, &plain, "set a");
    check(None, &database(None, Some("b"), Some(1)), "send b");
    check(Some(&plain), &plain, "keep");
    check(Some(&plain), &database(Some("b"), None, None), "set b");
    check(Some(&plain), &database(None, Some("a"), None), "send a");
    check(Some(&plain), &none, "clear");
    check(Some(&stored), &database(None, Some("b"), Some(1)), "keep");
    check(Some(&stored), &database(None, Some("b"), Some(2)), "send b");
    check(Some(&stored), &none, "clear");

    // A state has no trace of a write-only secret without a version.
    let without_version = database(None, Some("b"), None);
    check(None, &without_version, "send b");
    check(Some(&none), &without_version, "send b");
    check(Some(&stored), &without_version, "send b");
    check(Some(&none), &database(None, Some("b"), Some(1)), "send b");
    check(Some(&none), &none, "keep");
}
