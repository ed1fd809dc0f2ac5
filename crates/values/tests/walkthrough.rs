//! A walk through the crate: a secret comes in, takes part in computations, and never shows.

use values::{
    Mark, MarkKind, Path, Refinements, Type, Value, convert, functions, json, msgpack,
    ops::{self, BinaryOp},
};

struct NoWorld;

impl functions::FunctionEnv for NoWorld {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("no file exists at {path:?}"))
    }
    fn file_exists(&self, _path: &str) -> Result<bool, String> {
        Ok(false)
    }
    fn render_template(
        &self,
        _name: &str,
        _text: &str,
        _variables: &Value,
    ) -> Result<Value, functions::RenderError> {
        Err("no templates here".to_owned().into())
    }
    fn now(&self) -> Option<String> {
        None
    }
    fn uuid(&self) -> Option<String> {
        None
    }
}

#[test]
fn walkthrough() {
    // Decode a provider's response from MessagePack by the type of its schema.
    let ty = Type::object([
        ("id", Type::String),
        ("password", Type::String),
        ("ports", Type::set(Type::Number)),
    ]);
    let sent = Value::object_from([
        ("id", "db-1".into()),
        ("password", "hunter2".into()),
        ("ports", Value::set(Type::Number, vec![Value::int(5432), Value::int(80), Value::int(80)])),
    ]);
    let bytes = msgpack::encode(&sent, &ty).expect("an unmarked value of that type");
    let received = msgpack::decode(&bytes, &ty).expect("the same value");
    assert_eq!(received, sent);

    // The schema's attributes become marks at paths. The marks can be read back by path, and no output shows the
    // secret.
    let value =
        received.with_path_marks(&[(Path::root().attr("password"), Mark::Ephemeral.into())]);
    assert_eq!(
        format!("{value:?}"),
        r#"{"id" = "db-1", "password" = (ephemeral value), "ports" = toset([80, 5432])}"#
    );
    assert!(value.has_deep(MarkKind::Ephemeral) && value.marks().is_empty());
    assert!(json::encode(&value, &ty).is_err(), "a marked value is never written");

    // Operators and functions propagate marks.
    let password = ops::attribute(&value, "password").expect("an attribute");
    let same = ops::binary(BinaryOp::Equal, &password, &"x".into()).expect("a bool");
    assert!(same.marks().has(MarkKind::Ephemeral));
    let call = |name: &str, args: &[Value]| {
        functions::lookup(name).expect("a function").call(args, &NoWorld)
    };
    let url = call("format", &["https://%s@db".into(), password]).expect("text");
    assert_eq!(format!("{url:?}"), "(ephemeral value)");

    // Only one function removes the ephemeral mark, and it removes the secret too.
    let plain = call("ephemeralasnull", &[value]).expect("a value");
    assert_eq!(
        json::encode(&plain, &ty).expect("nothing is marked any more"),
        r#"{"id":"db-1","password":null,"ports":[80,5432]}"#
    );

    // An unknown value still answers what its refinements decide.
    let name = Value::unknown_with(Type::String, Refinements::non_null().with_prefix("db-"));
    assert_eq!(ops::binary(BinaryOp::Equal, &name, &"web-1".into()), Ok(Value::bool(false)));
    assert_eq!(call("startswith", &[name, "db".into()]), Ok(Value::bool(true)));

    // Unify types that have a common type.
    let unified = convert::unify(&[Type::Number, Type::String]).expect("text holds numbers");
    assert_eq!(convert::convert(&Value::int(1), &unified), Ok("1".into()));
    let error = convert::convert(&"one".into(), &Type::Number).expect_err("no number");
    assert_eq!(error.message, "a number is required");
}
