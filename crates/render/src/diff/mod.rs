//! The differences between two values, and their layout.
//!
//! ```text
//! Change (two sides, their place in the schema) ──compute──► Node (a tree of decisions) ──print──► lines
//! ```

pub(crate) mod change;
pub(crate) mod compute;
pub(crate) mod dynamic;
pub(crate) mod print;
pub(crate) mod sequence;

use std::borrow::Cow;

use db::Difference;
use provider::Block;
use state::{Action, OutputChange, OutputValue, ResourceChange};
use values::{MarkKind, Path, Step, Str, Text, Value};

use crate::{
    diff::{
        change::Change,
        print::{Name, Options, Printer},
    },
    plan::view::{ObjectView, PlanView},
    style::{Style, code, constant, in_color, visible_line},
};

/// The number of objects or outputs that a thread takes at a time. Fewer are not worth waking another one.
pub(crate) const PART: usize = 25;

/// The action on a part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    NoOp,
    Create,
    Update,
    Delete,
}

impl Act {
    /// The action on a whole after one more of its parts is known.
    fn and(self, part: Act) -> Act {
        match part {
            Act::NoOp => self,
            part if part == self => self,
            _ => Act::Update,
        }
    }
}

/// A compared part.
#[derive(Debug)]
pub(crate) struct Node {
    act: Act,
    /// True if the part forces replacement.
    replace: bool,
    shape: Shape,
}

/// A compared attribute of an object, or an element of a map.
#[derive(Debug)]
pub(crate) struct NamedNode {
    /// The name of the attribute, or the key of the element.
    name: Str,
    node: Node,
}

/// The content of a node.
#[derive(Debug)]
enum Shape {
    /// A bool, number or null.
    Plain {
        before: Scalar,
        after: Scalar,
    },
    Text {
        before: Option<Text>,
        after: Option<Text>,
    },
    /// A value that is known after apply, with the old value.
    Unknown(Option<Box<Node>>),
    Secret(Secret),
    WriteOnly,
    /// A change to a value of another type.
    TypeChange(Box<Node>, Box<Node>),
    /// An object with its attributes in alphabetical order.
    Object {
        attributes: Vec<NamedNode>,
        from_schema: bool,
    },
    Map {
        elements: Vec<NamedNode>,
        from_schema: bool,
    },
    List {
        elements: Vec<Node>,
        from_schema: bool,
    },
    Set {
        elements: Vec<Node>,
        from_schema: bool,
    },
    Block {
        attributes: Vec<NamedNode>,
        groups: Vec<Group>,
    },
    SecretBlock(Secret),
    /// Nested blocks whose number is unknown.
    UnknownBlocks,
}

/// A value as text, without quotes; `None` is null.
type Scalar = Option<String>;

/// The secrecy of a value that is not shown.
#[derive(Clone, Copy, Debug)]
struct Secret {
    /// The mark that selects `(sensitive value)` or `(ephemeral value)`.
    kind: MarkKind,
    before: bool,
    after: bool,
    /// True if the content is the same on both sides.
    is_same: bool,
}

/// The nested blocks of one type.
#[derive(Debug)]
struct Group {
    name: Str,
    replace: bool,
    /// The secrecy of the whole group.
    secret: Option<Secret>,
    /// The blocks, each with its label if it has one.
    blocks: Vec<(Option<Str>, Node)>,
}

/// The symbol in front of an object, three columns wide.
pub(crate) fn symbol(action: Action, style: &Style) -> &'static str {
    match action {
        Action::NoOp => "   ",
        Action::Create => constant!(style, "  ", "+" in Green),
        Action::Delete => constant!(style, "  ", "-" in Red),
        Action::Update => constant!(style, "  ", "~" in Yellow),
        Action::DeleteThenCreate => constant!(style, "-" in Red, "/", "+" in Green),
        Action::CreateThenDelete => constant!(style, "+" in Green, "/", "-" in Red),
        Action::Read => constant!(style, " ", "<=" in Cyan),
        Action::Forget => constant!(style, "  ", "." in Red),
        Action::ForgetThenCreate => constant!(style, "." in Red, "/", "+" in Green),
    }
}

/// The body of a changed object, from its opening brace. `None` if nothing in it changes.
///
/// For drift, `relevant` restricts the shown changes to the relevant attributes.
pub(crate) fn resource_body(
    view: &ObjectView<'_>,
    change: &ResourceChange,
    relevant: Option<&[&Path]>,
    style: &Style,
) -> Option<String> {
    let ObjectView { block, show_sensitive, data_dir } = *view;
    let action = change.change.action;
    let before = shown(&change.change.before, block, show_sensitive);
    let after = match action {
        // A forgotten object does not change.
        Action::Forget => before.clone(),
        _ => shown(&change.change.after, block, show_sensitive),
    };
    let after = match relevant {
        Some(paths) => Cow::Owned(only_relevant(&before, &after, paths)),
        None => after,
    };
    let replace: Vec<_> = change.required_replace.iter().map(|it| it.steps()).collect();
    let node = match block {
        Some(block) => compute::block(&Change::of_block(&before, &after, replace), block),
        None => dynamic::as_block(&Change::of_block(&before, &after, replace)),
    };
    if relevant.is_some() && node.act == Act::NoOp {
        return None;
    }
    let options = Options {
        unchanged: change.change.importing.is_some() || action == Action::Forget,
        no_symbols: matches!(action, Action::Forget),
        ..Options::default()
    };
    Some(Printer { style, data_dir }.node(&node, 0, options))
}

/// The new value, with the old value of every attribute that is not relevant.
fn only_relevant(before: &Value, after: &Value, paths: &[&Path]) -> Value {
    let matters =
        |step: &Step| paths.iter().any(|it| it.steps().first().is_none_or(|first| first == step));
    if after.is_null() {
        return before.map_parts(|step, part| match matters(step) {
            true => Value::null(part.ty()),
            false => part.clone(),
        });
    }
    after.map_parts(|step, part| match (matters(step), step.apply(before)) {
        (false, Some(old)) => old,
        _ => part.clone(),
    })
}

/// The body of an object that does not change.
pub(crate) fn object_body(
    value: &Value,
    block: Option<&Block>,
    show_sensitive: bool,
    style: &Style,
) -> String {
    let value = shown(value, block, show_sensitive);
    let change = Change::of_block(&value, &value, Vec::new());
    let node = match block {
        Some(block) => compute::block(&change, block),
        None => dynamic::as_block(&change),
    };
    let options = Options { unchanged: true, no_symbols: true, ..Options::default() };
    Printer { style, data_dir: "" }.node(&node, 0, options)
}

/// The lines of all changed outputs. Empty if there are none.
pub(crate) fn output_lines(view: &PlanView<'_>, style: &Style) -> String {
    let outputs = &view.plan.output_changes;
    let names: Vec<_> = outputs.keys().map(print::name_of).collect();
    let width = print::widest(&names);
    let printer = Printer { style, data_dir: &view.plan.data_dir };
    let show_sensitive = view.show_sensitive;
    let differs = |it: &OutputChange| {
        it.action != Action::NoOp && !(it.before.is_null() && it.after.is_null())
    };
    let changed = names.iter().zip(outputs.values()).filter(|(_, it)| differs(it));
    let changed: Vec<(&Cow<'_, str>, &OutputChange)> = changed.collect();
    let rendered = |(index, part): (usize, &[(&Cow<'_, str>, &OutputChange)])| {
        let mut text = String::new();
        for (name, change) in part {
            let node = output_node(change, show_sensitive);
            if node.act != Act::NoOp {
                let name = Name { text: name, width };
                printer.push_line(&mut text, name, &node, 0, Options::default());
            }
        }
        (index, text)
    };
    let parts = parallel::share_parts(&changed, PART, |parts| parts.map(rendered).collect());
    parts.concat()
}

/// The lines of a comparison of two values; `None` if a side is no JSON.
pub(crate) fn comparison(difference: &Difference, style: &Style) -> Option<String> {
    let side = |text: &str| values::json::decode_implied(text.as_bytes()).ok();
    let (left, right) = (side(&difference.left)?, side(&difference.right)?);
    let node = dynamic::value(&Change::of_output(&left, &right, Action::Update));
    let text = Printer { style, data_dir: "" }.node(&node, 0, Options::default());
    Some(format!("    {text}"))
}

fn output_node(change: &OutputChange, show_sensitive: bool) -> Node {
    let side = |value| shown_output(value, change.sensitive, show_sensitive);
    let (before, after) = (side(&change.before), side(&change.after));
    // An output that becomes null is shown like one that is removed.
    let becomes_null = change.action == Action::Update && after.is_null() && !before.is_null();
    let action = if becomes_null { Action::Delete } else { change.action };
    dynamic::value(&Change::of_output(&before, &after, action))
}

/// The line of an output of a state.
pub(crate) fn state_output_line(
    name: &str,
    output: &OutputValue,
    show_sensitive: bool,
    style: &Style,
) -> String {
    let value = shown_output(&output.value, output.sensitive, show_sensitive);
    let node = compute::typed(&Change::of_output(&value, &value, Action::NoOp), &value.ty());
    let options = Options { unchanged: true, no_symbols: true, ..Options::default() };
    format!(
        "{} = {}\n",
        visible_line(name),
        Printer { style, data_dir: "" }.node(&node, 0, options)
    )
}

/// The value of an output with the marks that decide which parts are hidden.
fn shown_output(value: &Value, is_sensitive: bool, show_sensitive: bool) -> Cow<'_, Value> {
    match is_sensitive && !show_sensitive {
        true => Cow::Owned(value.with_mark(values::Mark::Sensitive)),
        false => shown(value, None, show_sensitive),
    }
}

/// The value with the marks that decide which parts are hidden.
pub(crate) fn shown<'v>(
    value: &'v Value,
    block: Option<&Block>,
    show_sensitive: bool,
) -> Cow<'v, Value> {
    match (show_sensitive, block) {
        (true, _) => Cow::Owned(value.without_deep(MarkKind::Sensitive)),
        (false, Some(block)) if block.has_sensitive() => {
            Cow::Owned(provider::mark_by_schema(value, block))
        }
        (false, _) => Cow::Borrowed(value),
    }
}
