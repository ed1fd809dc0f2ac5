//! Tests of `ephemeralasnull`, with the cases of OpenTofu's own test under the same names.

use super::World;
use crate::{Mark, MarkKind, Marks, Type, Value, functions::lookup};

/// The marks that a case uses.
#[derive(Clone, Copy)]
enum With {
    Neither,
    Sensitive,
    Ephemeral,
    Both,
}

use With::{Both, Ephemeral, Neither, Sensitive};

impl With {
    fn on(self, value: Value) -> Value {
        let marks: &[Mark] = match self {
            Neither => &[],
            Sensitive => &[Mark::Sensitive],
            Ephemeral => &[Mark::Ephemeral],
            Both => &[Mark::Ephemeral, Mark::Sensitive],
        };
        value.with_marks(&marks.iter().cloned().collect::<Marks>())
    }

    /// Returns the expected result for a value: null if the value is ephemeral, with only the other mark.
    fn left_of(self, value: Value) -> Value {
        match self {
            Neither | Sensitive => self.on(value),
            Ephemeral => Value::null(value.ty()),
            Both => Sensitive.on(Value::null(value.ty())),
        }
    }
}

fn text() -> Value {
    Value::string("val")
}

fn list(elements: Vec<Value>) -> Value {
    Value::list(Type::String, elements)
}

fn map(element: Value) -> Value {
    Value::map(Type::String, [("key".into(), element)].into_iter().collect())
}

/// The values that are marked as a whole.
fn wholes() -> Vec<(&'static str, Value)> {
    vec![
        ("null", Value::null(Type::String)),
        ("primitive", text()),
        ("list", list(vec![text()])),
        ("listempty", list(vec![])),
        ("map", map(text())),
    ]
}

#[test]
fn ephemeralasnull_matches_the_cases_of_opentofu() {
    let marked =
        [("", Neither), ("_sensitive", Sensitive), ("_ephemeral", Ephemeral), ("_complex", Both)];
    let mut cases: Vec<(String, Value, Value)> = Vec::new();
    for (with, mark) in marked {
        for (name, value) in wholes() {
            cases.push((format!("{name}{with}"), mark.on(value.clone()), mark.left_of(value)));
        }
        let inside = (mark.on(text()), mark.left_of(text()));
        let lists = (list(vec![inside.0.clone()]), list(vec![inside.1.clone()]));
        cases.push((format!("listcontents{with}"), lists.0, lists.1));
        cases.push((format!("mapcontents{with}"), map(inside.0), map(inside.1)));
        // An unknown value does not become a known null; only its marks change.
        let unknown = Value::unknown(Type::String);
        let left = if matches!(mark, Both | Sensitive) { Sensitive } else { Neither };
        cases.push((format!("unknown{with}"), mark.on(unknown.clone()), left.on(unknown)));
    }
    let several = |secret| list(vec![secret, Value::string("other")]);
    let (given, left) = (several(Both.on(text())), several(Both.left_of(text())));
    cases.push(("listcontents_multiple".to_owned(), given, left));
    assert_eq!(
        cases.len(),
        33,
        "26 of the reference's first version, those of today, and what both leave out"
    );
    let function = lookup("ephemeralasnull").expect("the function");
    for (name, value, expected) in cases {
        let result = function.call(&[value], &World).expect("a result");
        assert!(result.raw_equals(&expected), "{name}: {result:?} is not {expected:?}");
        assert!(!result.has_deep(MarkKind::Ephemeral), "{name}");
    }
}
