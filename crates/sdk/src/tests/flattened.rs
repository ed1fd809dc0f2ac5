//! Tests of structs that are flattened with a prefix.

use values::{Str, Type, Value};

use super::{said_of, shown};
use crate::{Diagnostics, Model, Object, Unknowns, validation::validate_block};

#[derive(Model)]
struct Machine {
    name: String,
    #[flatten(prefix = "cpu_")]
    cpu: Limits,
    #[flatten(prefix = "disk_")]
    disk: Disk,
}

#[derive(Model)]
struct Disk {
    #[flatten(prefix = "read_")]
    read: Limits,
    #[attribute(required)]
    kind: Option<Kind>,
}

#[derive(Model)]
struct Kind {
    name: String,
}

#[derive(Model)]
#[model(conflicting(most, unlimited, same_as), requires(least, most))]
struct Limits {
    least: Option<i64>,
    most: Option<i64>,
    unlimited: Option<bool>,
    same_as: Option<String>,
}

/// A machine with these values, and null for the other attributes.
fn machine(parts: &[(&str, Value)]) -> Value {
    let ty = Machine::ty();
    let Type::Object(types) = &ty else { panic!("a struct is an object") };
    let given = |name: &Str| parts.iter().find(|(it, _)| **it == **name).map(|(_, it)| it.clone());
    let part = |(name, ty): (&Str, &Type)| {
        (name.clone(), given(name).unwrap_or_else(|| Value::null(ty.clone())))
    };
    Value::object(types.iter().map(part).collect())
}

fn kind(name: Value) -> Value {
    Value::object_from([("name", name)])
}

#[test]
fn names_have_the_prefixes_in_the_schema_and_in_both_directions() {
    let value = machine(&[
        ("name", Value::string("m")),
        ("cpu_most", Value::int(2)),
        ("disk_kind", kind(Value::string("ssd"))),
        ("disk_read_least", Value::int(3)),
        ("disk_read_most", Value::int(4)),
    ]);
    let read = Machine::decode(&Object::new(value.clone()), Unknowns::Refused);
    let read = read.unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!((read.cpu.least, read.cpu.most), (None, Some(2)));
    assert_eq!((read.disk.read.least, read.disk.read.most), (Some(3), Some(4)));
    assert_eq!(read.encode(), value);
    assert_eq!(Limits::MOST.name(), "most");
}

#[test]
fn errors_name_whole_attributes() {
    let check = |parts: &[(&str, Value)], expected: &[&str]| {
        let mut diagnostics = Diagnostics::default();
        validate_block(&Machine::schema().block, &machine(parts), &mut diagnostics);
        let details = diagnostics.into_vec();
        let details = details
            .iter()
            .map(|it| format!("{}: {}", it.path.as_ref().expect("a path"), it.detail));
        assert_eq!(details.collect::<Vec<_>>(), expected);
    };
    let (name, ssd) = (Value::string("m"), kind(Value::string("ssd")));
    check(
        &[
            ("name", name.clone()),
            ("disk_kind", ssd),
            ("cpu_most", Value::int(1)),
            ("cpu_unlimited", Value::bool(true)),
            ("cpu_same_as", Value::string("n")),
            ("disk_read_least", Value::int(1)),
        ],
        &[
            ".cpu_unlimited: Only one of cpu_most and cpu_unlimited can be set.",
            ".cpu_same_as: Only one of cpu_most and cpu_same_as can be set.",
            ".cpu_same_as: Only one of cpu_unlimited and cpu_same_as can be set.",
            ".disk_read_least: disk_read_least is set, so disk_read_most must be set too.",
        ],
    );
    let broken = machine(&[("name", name), ("disk_kind", kind(Value::null(Type::String)))]);
    let error = Machine::decode(&Object::new(broken), Unknowns::Refused).err();
    assert_eq!(said_of(error.as_slice()), ".disk_kind.name: Missing Value");
}

#[test]
fn object_with_a_prefix_is_changed_in_place() {
    let mut object = Object::new(machine(&[])).with_prefix("disk_").with_prefix("read_");
    object.put(Limits::MOST, &7);
    assert_eq!(shown(object.value()), "{disk_read_most=7}");
    assert_eq!(object.int(Limits::MOST).ok().flatten(), Some(7));
}
