//! Tests of defaults of optional attributes.

use std::sync::Arc;

use values::{ObjectType, Type, Value};

use super::{show, value_of};
use crate::{
    eval::apply_type,
    item::{ConstValue, DefaultStep, Defaults, TypeConstraint},
};

/// The type and defaults of `object({ d = optional(bool, true) })`.
fn inner() -> (Type, Defaults) {
    let object = ObjectType::new([("d", Type::Bool)]).with_optional(["d"]);
    let defaults = Defaults {
        attributes: vec![("d".into(), ConstValue(Value::bool(true)))],
        children: vec![],
    };
    (Type::Object(object.into()), defaults)
}

/// The type and defaults of `object({ name = string, size = optional(number, 3), inner = optional(INNER, {}) })`.
fn outer() -> (Type, Defaults) {
    let (inner_type, inner_defaults) = inner();
    let object =
        ObjectType::new([("name", Type::String), ("size", Type::Number), ("inner", inner_type)])
            .with_optional(["size", "inner"]);
    let defaults = Defaults {
        attributes: vec![
            ("size".into(), ConstValue(Value::int(3))),
            ("inner".into(), ConstValue(Value::object_from([("d", Value::null(Type::Bool))]))),
        ],
        children: vec![(DefaultStep::Attr("inner".into()), Arc::new(inner_defaults))],
    };
    (Type::Object(object.into()), defaults)
}

#[track_caller]
fn check((ty, defaults): (Type, Defaults), given: &str, expected: &str) {
    let constraint = TypeConstraint { ty, defaults: Some(Arc::new(defaults)), written: true };
    let shown = match apply_type(&constraint, value_of(given)) {
        Ok(value) => show(&value),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{given}");
}

#[test]
fn missing_and_null_attributes_get_their_defaults() {
    check(outer(), "{name = \"a\"}", "{inner = {d = true}, name = \"a\", size = 3}");
    check(
        outer(),
        "{name = \"a\", size = null, inner = {d = false}}",
        "{inner = {d = false}, name = \"a\", size = 3}",
    );
    check(outer(), "{name = \"a\", inner = {}}", "{inner = {d = true}, name = \"a\", size = 3}");
    check(
        outer(),
        "{name = \"a\", size = \"7\", extra = 1}",
        "{inner = {d = true}, name = \"a\", size = 7}",
    );
    check(outer(), "{}", "attribute \"name\" is required");
    check(
        outer(),
        "{name = \"a\", size = var.un}",
        "{inner = {d = true}, name = \"a\", size = unknown number!}",
    );
}

#[test]
fn null_and_unknown_objects_stay_as_they_are() {
    check(inner(), "null", "null /* object */");
    check(inner(), "var.u", "unknown object");
}

#[test]
fn defaults_reach_into_collections() {
    let (element, defaults) = inner();
    let child =
        |step| Defaults { attributes: vec![], children: vec![(step, Arc::new(defaults.clone()))] };
    let list = (Type::list(element.clone()), child(DefaultStep::Element));
    check(list, "[{}, {d = false}]", "list[{d = true}, {d = false}]");
    let list = (Type::list(element.clone()), child(DefaultStep::Element));
    check(list, "tolist([{d = null}])", "list[{d = true}]");
    let map = (Type::map(element.clone()), child(DefaultStep::Element));
    check(map, "{a = {}, b = {d = null}}", "map{a = {d = true}, b = {d = true}}");
    let set = (Type::set(element.clone()), child(DefaultStep::Element));
    check(set, "[{}, {d = true}]", "set[{d = true}]");
    let tuple = (Type::tuple([element]), child(DefaultStep::Position(0)));
    check(tuple, "[{}]", "[{d = true}]");
}

#[test]
fn defaults_keep_the_marks_of_given_attributes() {
    check(outer(), "{name = var.e}", "{inner = {d = true}, name = ephemeral(\"hush\"), size = 3}");
}
