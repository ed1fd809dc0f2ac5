//! Comparison of values without a schema, by their own types.

use values::{Kind, Value};

use crate::diff::{
    Act, NamedNode, Node, Shape,
    change::Change,
    compute::{by_key, combined_by_key, primitive, secret, unknown},
    sequence,
};

/// The JSON type of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
}

impl Family {
    fn of(value: Option<&Value>) -> Family {
        match value.map(Value::kind) {
            None | Some(Kind::Null | Kind::Unknown(_)) => Family::Null,
            Some(Kind::Bool(_)) => Family::Bool,
            Some(Kind::Number(_)) => Family::Number,
            Some(Kind::String(_)) => Family::Text,
            Some(Kind::List(_) | Kind::Set(_) | Kind::Tuple(_)) => Family::List,
            Some(Kind::Map(_) | Kind::Object(_)) => Family::Object,
        }
    }
}

/// The node of any value.
pub(super) fn value(change: &Change<'_>) -> Node {
    if let Some(node) = secret(change).or_else(|| unknown(change, value)) {
        return node;
    }
    let (before, after) = (Family::of(change.before.get()), Family::of(change.after.get()));
    let is_deleted = after == Family::Null && !change.after.explicit;
    let is_created = before == Family::Null && !change.before.explicit;
    if before != after && !is_deleted && !is_created {
        let nodes = (of_family(&change.as_delete(), before), of_family(&change.as_create(), after));
        let shape = Shape::TypeChange(Box::new(nodes.0), Box::new(nodes.1));
        return Node { act: Act::Update, replace: change.forces_replacement(), shape };
    }
    of_family(change, if before == Family::Null { after } else { before })
}

fn of_family(change: &Change<'_>, family: Family) -> Node {
    let (act, shape) = match family {
        Family::Null | Family::Bool | Family::Number | Family::Text => return primitive(change),
        Family::Object => {
            let attributes = by_key(change, &value);
            (combined_by_key(change, &attributes), Shape::Object { attributes, from_schema: false })
        }
        Family::List => {
            let elements = sequence::list(change, &value);
            let act = elements.iter().fold(change.act_of_container(), |act, it| act.and(it.act));
            (act, Shape::List { elements, from_schema: false })
        }
    };
    Node { act, replace: change.forces_replacement(), shape }
}

/// The node of an object without a known schema.
pub(super) fn as_block(change: &Change<'_>) -> Node {
    if let Some(node) = secret(change).or_else(|| unknown(change, as_block)) {
        return node;
    }
    let parts = by_key(change, &|it| value(&it.clone().implicit()));
    let mut act = change.act_of_container();
    let mut attributes = Vec::new();
    for NamedNode { name, node } in parts {
        let part = change.entry(&name);
        if node.act == Act::NoOp && part.before.is_nil() && part.after.is_nil() {
            continue;
        }
        act = act.and(node.act);
        attributes.push(NamedNode { name, node });
    }
    Node {
        act,
        replace: change.forces_replacement(),
        shape: Shape::Block { attributes, groups: Vec::new() },
    }
}
