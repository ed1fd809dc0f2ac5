//! Comparison of values by schemas and types.

use provider::{Attribute, AttributeType, Block, NestedObject, Nesting, ObjectNesting};
use sorted::{SortedMap, TreeSet};
use values::{Kind, Str, Text, Type, Value};

use crate::diff::{
    Act, Group, NamedNode, Node, Shape,
    change::{Change, Side},
    dynamic, sequence,
};

/// The node of a block.
pub(super) fn block(change: &Change<'_>, schema: &Block) -> Node {
    if let Some((secret, act)) = change.secret() {
        return Node {
            act,
            replace: change.forces_replacement(),
            shape: Shape::SecretBlock(secret),
        };
    }
    if let Some(node) = unknown(change, |before| {
        block(&Change { has_unknown_parts: true, ..before.clone() }, schema)
    }) {
        return node;
    }
    let mut act = change.act_of_container();
    let mut attributes = Vec::new();
    for (name, attribute) in schema.attributes().iter().filter(|(_, it)| !it.write_only) {
        let part = change.entry(name).without_empty_text().implicit();
        let node = self::attribute(&part, attribute);
        if node.act == Act::NoOp && part.before.is_nil() && part.after.is_nil() {
            continue;
        }
        act = act.and(node.act);
        attributes.push(NamedNode { name: name.clone(), node });
    }
    push_write_only(change, schema.attributes(), act, &mut attributes);
    let groups = groups(change, schema, &mut act);
    Node { act, replace: change.forces_replacement(), shape: Shape::Block { attributes, groups } }
}

/// Adds the write-only attributes. They have no value on either side and only remind the user that they are sent.
/// Their action is that of the surrounding block, or an update if they force replacement.
fn push_write_only(
    change: &Change<'_>,
    attributes: &SortedMap<Str, Attribute>,
    act: Act,
    shown: &mut Vec<NamedNode>,
) {
    let before = shown.len();
    for (name, _) in attributes.iter().filter(|(_, it)| it.write_only) {
        let replace = change.entry(name).forces_replacement();
        let act = if act == Act::NoOp && replace { Act::Update } else { act };
        let node = Node { act, replace, shape: Shape::WriteOnly };
        shown.push(NamedNode { name: name.clone(), node });
    }
    if shown.len() > before {
        sorted::sort_by(shown, |a, b| a.name.cmp(&b.name));
    }
}

fn groups(change: &Change<'_>, schema: &Block, act: &mut Act) -> Vec<Group> {
    let mut groups = Vec::new();
    for (name, nested) in schema.blocks() {
        let part = change.known_entry(name);
        let secret = match nested.nesting {
            // A single block shows its secrecy itself.
            Nesting::Single | Nesting::Group => None,
            _ => part.secret().map(|(secret, _)| secret),
        };
        let inner = Change { is_revealed: part.is_revealed || secret.is_some(), ..part.clone() };
        let (group_act, blocks) = blocks(&inner, nested.nesting, &nested.block);
        if group_act == Act::NoOp && part.before.is_nil() && part.after.is_nil() {
            continue;
        }
        *act = act.and(group_act);
        groups.push(Group {
            name: name.clone(),
            replace: part.forces_replacement(),
            secret,
            blocks,
        });
    }
    groups
}

fn blocks(
    change: &Change<'_>,
    nesting: Nesting,
    schema: &Block,
) -> (Act, Vec<(Option<Str>, Node)>) {
    let unlabelled = |nodes: Vec<Node>| nodes.into_iter().map(|it| (None, it)).collect();
    if !matches!(nesting, Nesting::Single | Nesting::Group) && change.after.is_unknown() {
        let unknown = unknown(change, |_| Node {
            act: Act::NoOp,
            replace: false,
            shape: Shape::UnknownBlocks,
        });
        let (_, gone) = blocks(&change.as_delete(), nesting, schema);
        let shown =
            unknown.into_iter().map(|it| (None, Node { shape: Shape::UnknownBlocks, ..it }));
        return (change.act_of_unknown(), shown.chain(gone).collect());
    }
    match nesting {
        Nesting::Single | Nesting::Group => {
            let node = block(&change.clone().implicit(), schema);
            (node.act, unlabelled(vec![node]))
        }
        Nesting::List => {
            let nodes = pairwise(change, &|it| block(it, schema));
            (combined(change, &nodes), unlabelled(nodes))
        }
        Nesting::Set => {
            let nodes = sequence::set(change, &|it| block(it, schema));
            (combined(change, &nodes), unlabelled(nodes))
        }
        Nesting::Map => {
            let nodes = by_key(change, &|it| block(it, schema));
            let act = combined_by_key(change, &nodes);
            (act, nodes.into_iter().map(|it| (Some(it.name), it.node)).collect())
        }
    }
}

fn combined(change: &Change<'_>, nodes: &[Node]) -> Act {
    nodes.iter().fold(change.act_of_container(), |act, it| act.and(it.act))
}

pub(super) fn combined_by_key(change: &Change<'_>, nodes: &[NamedNode]) -> Act {
    nodes.iter().fold(change.act_of_container(), |act, it| act.and(it.node.act))
}

/// The node of an attribute.
fn attribute(change: &Change<'_>, schema: &Attribute) -> Node {
    match &schema.ty {
        AttributeType::Type(ty) => typed(change, ty),
        AttributeType::Nested(object) => nested(change, object, object.nesting()),
    }
}

/// The node of a nested attribute with the given nesting mode.
fn nested(change: &Change<'_>, schema: &NestedObject, nesting: ObjectNesting) -> Node {
    if let Some(node) = secret(change) {
        return node;
    }
    if let Some(node) = unknown(change, |before| {
        let has_unknown_parts = nesting == ObjectNesting::Single;
        nested(&Change { has_unknown_parts, ..before.clone() }, schema, nesting)
    }) {
        return node;
    }
    let replace = change.forces_replacement();
    let single = |it: &Change<'_>| nested(it, schema, ObjectNesting::Single);
    let (act, shape) = match nesting {
        ObjectNesting::Single => nested_object(change, schema),
        ObjectNesting::List => {
            let elements = pairwise(change, &single);
            (combined(change, &elements), Shape::List { elements, from_schema: true })
        }
        ObjectNesting::Set => {
            let elements = sequence::set(change, &single);
            (combined(change, &elements), Shape::Set { elements, from_schema: true })
        }
        ObjectNesting::Map => {
            let elements = by_key(change, &single);
            (combined_by_key(change, &elements), Shape::Map { elements, from_schema: true })
        }
    };
    Node { act, replace, shape }
}

fn nested_object(change: &Change<'_>, schema: &NestedObject) -> (Act, Shape) {
    let mut act = change.act_of_container();
    let mut attributes = Vec::new();
    for (name, attribute) in schema.attributes().iter().filter(|(_, it)| !it.write_only) {
        push_attribute(
            change,
            name,
            |it| self::attribute(it, attribute),
            &mut act,
            &mut attributes,
        );
    }
    push_write_only(change, schema.attributes(), act, &mut attributes);
    (act, Shape::Object { attributes, from_schema: true })
}

/// Adds an attribute of an object, unless it is null on both sides.
fn push_attribute(
    change: &Change<'_>,
    name: &Str,
    compute: impl Fn(&Change<'_>) -> Node,
    act: &mut Act,
    attributes: &mut Vec<NamedNode>,
) {
    let part = change.entry(name).implicit();
    let node = compute(&part);
    if node.act == Act::NoOp && part.before.is_nil() && part.after.is_nil() {
        return;
    }
    *act = act.and(node.act);
    attributes.push(NamedNode { name: name.clone(), node });
}

/// The node of a value with a type.
pub(super) fn typed(change: &Change<'_>, ty: &Type) -> Node {
    if let Some(node) = secret(change) {
        return node;
    }
    if let Some(node) = unknown(change, |before| typed(before, ty)) {
        return node;
    }
    let (act, shape) = match ty {
        Type::Bool | Type::Number | Type::String => return primitive(change),
        // OpenTofu does not show "forces replacement" inside of dynamic values.
        Type::Dynamic => return dynamic::value(&Change { replace: Vec::new(), ..change.clone() }),
        Type::Object(object) => {
            let mut act = change.act_of_container();
            let mut attributes = Vec::new();
            for (name, ty) in object.iter() {
                push_attribute(change, name, |it| typed(it, ty), &mut act, &mut attributes);
            }
            (act, Shape::Object { attributes, from_schema: false })
        }
        Type::Map(element) => {
            let elements = by_key(change, &|it| typed(it, element));
            (combined_by_key(change, &elements), Shape::Map { elements, from_schema: false })
        }
        Type::List(element) => {
            let elements = sequence::list(change, &|it| typed(it, element));
            (combined(change, &elements), Shape::List { elements, from_schema: false })
        }
        Type::Set(element) => {
            let elements = sequence::set(change, &|it| typed(it, element));
            (combined(change, &elements), Shape::Set { elements, from_schema: false })
        }
        Type::Tuple(types) => {
            let part = |(index, ty): (usize, &Type)| {
                typed(&change.item(Some(index), Some(index)).implicit(), ty)
            };
            let elements: Vec<Node> = types.iter().enumerate().map(part).collect();
            (combined(change, &elements), Shape::List { elements, from_schema: false })
        }
    };
    Node { act, replace: change.forces_replacement(), shape }
}

/// The node of a string, number, bool or null.
pub(super) fn primitive(change: &Change<'_>) -> Node {
    let (before, after) = (change.before.get(), change.after.get());
    let shape = match before.or(after).map(Value::kind) {
        Some(Kind::String(_)) => Shape::Text { before: text(before), after: text(after) },
        _ => Shape::Plain { before: before.map(scalar), after: after.map(scalar) },
    };
    Node { act: change.act(), replace: change.forces_replacement(), shape }
}

fn text(value: Option<&Value>) -> Option<Text> {
    match value?.kind() {
        Kind::String(text) => Some(text.clone()),
        // Happens only for a plan file whose values do not match the schema.
        _ => Some(scalar(value?).into()),
    }
}

fn scalar(value: &Value) -> String {
    match value.kind() {
        Kind::Bool(it) => it.to_string(),
        Kind::Number(it) => it.to_string(),
        Kind::String(it) => values::go_quoted(it),
        _ => format!("({})", value.ty().friendly_name()),
    }
}

/// The node of a secret part. `None` if the part is not secret.
pub(super) fn secret(change: &Change<'_>) -> Option<Node> {
    let (secret, act) = change.secret()?;
    Some(Node { act, replace: change.forces_replacement(), shape: Shape::Secret(secret) })
}

/// The node of a part that is known after apply; `compute` renders the old value. `None` if the part is known.
pub(super) fn unknown(change: &Change<'_>, compute: impl Fn(&Change<'_>) -> Node) -> Option<Node> {
    if !change.after.is_unknown() {
        return None;
    }
    let mut change = change.clone();
    change.after.explicit = true;
    let before = (!change.before.is_nil()).then(|| Box::new(compute(&change.as_delete())));
    Some(Node {
        act: change.act(),
        replace: change.forces_replacement(),
        shape: Shape::Unknown(before),
    })
}

/// Compares the elements with the same index.
fn pairwise(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Node) -> Vec<Node> {
    let (before, after) = (change.before.items().len(), change.after.items().len());
    let present = |index: usize, length: usize| (index < length).then_some(index);
    let part = |index| compute(&change.item(present(index, before), present(index, after)));
    (0..before.max(after)).map(part).collect()
}

/// Compares the elements with the same key.
pub(super) fn by_key(change: &Change<'_>, compute: &dyn Fn(&Change<'_>) -> Node) -> Vec<NamedNode> {
    let keys = |side: &Side<'_>| {
        side.entries().into_iter().flat_map(|it| it.keys().cloned()).collect::<TreeSet<Str>>()
    };
    let mut all = keys(&change.before);
    all.extend(keys(&change.after));
    let named = |name: Str| NamedNode { node: compute(&change.entry(&name)), name };
    all.into_iter().map(named).collect()
}
