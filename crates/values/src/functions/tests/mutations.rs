//! Checks that each mark rule of a function matters: without the rule, a secret appears unmarked.

use super::call;
use crate::{
    Mark, MarkKind, Type, Value,
    rules::{Domain, RuleId, disable},
};

fn ephemeral(value: impl Into<Value>) -> Value {
    value.into().with_mark(Mark::Ephemeral)
}

/// Returns a call whose result must be ephemeral; for `ephemeralasnull` it must not be.
fn example(rule: RuleId) -> Option<(&'static str, Vec<Value>)> {
    let secret = || ephemeral("a");
    Some(match rule {
        RuleId::Function => ("upper", vec![secret()]),
        RuleId::CarryingFunction => ("reverse", vec![ephemeral(Value::tuple(vec!["a".into()]))]),
        RuleId::Conversion => ("tostring", vec![ephemeral(1)]),
        RuleId::Length => ("length", vec![secret()]),
        RuleId::Keys => ("keys", vec![ephemeral(Value::object_from([("a", Value::int(1))]))]),
        RuleId::ZipmapKeys => {
            ("zipmap", vec![Value::tuple(vec![secret()]), Value::tuple(vec![Value::int(1)])])
        }
        RuleId::Sensitive => ("sensitive", vec![secret()]),
        RuleId::Nonsensitive => ("nonsensitive", vec![secret()]),
        RuleId::EphemeralAsNull => ("ephemeralasnull", vec![Value::tuple(vec![secret()])]),
        RuleId::SetConstruction => ("toset", vec![Value::tuple(vec![secret()])]),
        _ => return None,
    })
}

fn is_right(rule: RuleId) -> bool {
    let (name, args) = example(rule).expect("an example");
    let result = call(name, &args).expect("a result");
    result.has_deep(MarkKind::Ephemeral) != (rule == RuleId::EphemeralAsNull)
}

#[test]
fn disabling_any_function_rule_changes_a_result() {
    for rule in RuleId::ALL.iter().copied().filter(|rule| example(*rule).is_some()) {
        assert!(is_right(rule), "{rule:?}");
        let disabled = disable(rule, Domain::Concrete);
        assert!(!is_right(rule), "{rule:?} has no effect");
        drop(disabled);
    }
}

#[test]
fn disabling_any_operator_rule_changes_a_result() {
    use crate::ops::{BinaryOp, attribute, binary, index};
    let one = || ephemeral(1);
    let list = Value::list(Type::Number, vec![Value::int(1), Value::int(2)]);
    let object = Value::object_from([("a", Value::int(1))]);
    let null = Value::null(Type::Dynamic);
    let is_marked = |rule: RuleId| {
        let result = match rule {
            RuleId::Operator => binary(BinaryOp::Add, &one(), &Value::int(1)),
            RuleId::Equality => binary(
                BinaryOp::Equal,
                &Value::tuple(vec![one()]),
                &Value::tuple(vec![Value::int(1)]),
            ),
            RuleId::EqualityNull => binary(BinaryOp::Equal, &one(), &null),
            RuleId::IndexCollection => index(&list, &one()),
            RuleId::IndexObject => index(&ephemeral(object.clone()), &"a".into()),
            RuleId::IndexObjectKey => index(&object, &ephemeral("a")),
            _ => attribute(&ephemeral(object.clone()), "a"),
        };
        result.expect("a result").has_deep(MarkKind::Ephemeral)
    };
    let rules = [
        RuleId::Operator,
        RuleId::Equality,
        RuleId::EqualityNull,
        RuleId::IndexCollection,
        RuleId::IndexObject,
        RuleId::IndexObjectKey,
        RuleId::Attribute,
    ];
    for rule in rules {
        assert!(is_marked(rule), "{rule:?}");
        let _disabled = disable(rule, Domain::Concrete);
        assert!(!is_marked(rule), "{rule:?} has no effect");
    }
}
