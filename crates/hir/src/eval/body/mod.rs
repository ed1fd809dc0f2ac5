//! Evaluates bodies: converts arguments and blocks to an object of the schema's type.

pub(crate) mod blocks;
pub(crate) mod dynamic;
pub(crate) mod legacy;

use db::Summary;
use provider::{Attribute, Block};
use smallvec::SmallVec;
use values::{Marks, Str, Value, ValueMap, convert::convert};

use crate::{
    eval::{
        body::legacy::attribute_as_blocks,
        evaluation::{Evaluation, Outcome},
        locate,
    },
    expr::{At, NodeId},
    item::{self, Attr, Body},
    scope::Interrupt,
    suggest,
};

/// The context of a body.
#[derive(Clone)]
struct Place<'a> {
    /// The location of diagnostics about the body as a whole.
    header: At,
    /// The schema of the outermost body.
    root: &'a Block,
    /// The marks of the enclosing `dynamic` blocks, which all values inside inherit.
    marks: Marks,
    /// Set if the number of instances of this block is unknown. Its values are then unknown, and failures in them
    /// are not reported.
    is_unknown: bool,
}

/// Evaluates the body of an item.
pub(super) fn decode(
    evaluation: &mut Evaluation<'_>,
    body: &Body,
    header: NodeId,
    schema: &Block,
) -> Outcome {
    let place =
        Place { header: At::Node(header), root: schema, marks: Marks::NONE, is_unknown: false };
    let value = evaluation.body(body, schema, &place)?;
    // The provider receives a copy in which no part is shared, so reserve memory for the unshared size.
    evaluation.reserve(header, value.unshared_size())?;
    Ok(value)
}

/// The attributes that a body sets, in its order. Most bodies set a few.
type Given<'b> = SmallVec<[(&'b Str, Value); 6]>;

impl Evaluation<'_> {
    fn body(&mut self, body: &Body, schema: &Block, place: &Place<'_>) -> Outcome {
        let body = &*body.fitted(schema);
        let mut given = Given::new();
        for attr in &body.attrs {
            match schema.attributes().get(&attr.name) {
                Some(attribute) => {
                    given.push((&attr.name, self.attribute(attr, attribute, place)?))
                }
                None => self.unsupported_argument(attr, body, schema),
            }
        }
        let legacy = self.legacy_blocks(body, schema, place, &mut given)?;
        let mut attributes = Vec::with_capacity(schema.attributes().len());
        for (name, attribute) in schema.attributes() {
            let value = match given.iter().position(|(it, _)| *it == name) {
                Some(position) => given.swap_remove(position).1,
                None => self.absent_attribute(name, attribute, place),
            };
            attributes.push((name.clone(), value));
        }
        let mut blocks = Vec::with_capacity(schema.blocks().len());
        for (kind, nested) in schema.blocks() {
            blocks.push((kind.clone(), self.blocks(kind, nested, body, place)?));
        }
        for block in &body.blocks {
            if !schema.blocks().contains_key(&block.kind) && !legacy.contains(&&block.kind) {
                self.unsupported_block(block, schema);
            }
        }
        let parts = [attributes, blocks].map(ValueMap::from_entries);
        Ok(Value::object(ValueMap::merged(parts)))
    }

    fn attribute(&mut self, attr: &Attr, attribute: &Attribute, place: &Place<'_>) -> Outcome {
        let ty = attribute.decode_type();
        if place.is_unknown {
            let value = self.unseen(|this| this.value(attr.value))?;
            let marks = value.deep_marks().union(&place.marks);
            return Ok(Value::unknown(ty).with_marks(&marks));
        }
        let value = self.value(attr.value)?;
        self.reserve(attr.value, value.unshared_size())?;
        match convert(&value, &ty) {
            Ok(converted) => Ok(converted.marked(&place.marks)),
            Err(error) => {
                let at = locate::locate_in_expr(self.exprs, attr.value, error.path.steps());
                let fault = super::evaluation::Fault {
                    at,
                    summary: Summary::INCORRECT_ATTRIBUTE_TYPE,
                    detail: format!(
                        "Inappropriate value for attribute {:?}: {}.",
                        attr.name, error.message
                    ),
                };
                let marks = value.deep_marks().union(&place.marks);
                self.fail(fault, &marks);
                Ok(Value::unknown(ty).with_marks(&marks))
            }
        }
    }

    /// Evaluates blocks that stand for attributes of objects in the schema. Returns the names of these blocks.
    ///
    /// If `dynamic` blocks generate no block, the attribute stays unset. An empty collection would ask the
    /// provider to remove all elements, which only an explicit `name = []` does.
    fn legacy_blocks<'b>(
        &mut self,
        body: &'b Body,
        schema: &Block,
        place: &Place<'_>,
        given: &mut Given<'b>,
    ) -> Result<Vec<&'b Str>, Interrupt> {
        let mut names: Vec<&Str> = Vec::new();
        for block in &body.blocks {
            let is_given = || given.iter().any(|(it, _)| **it == block.kind);
            if names.contains(&&block.kind) || is_given() {
                continue;
            }
            if let Some(nested) = attribute_as_blocks(&block.kind, schema, place.root) {
                let found = self.found_blocks(&block.kind, &nested, body, place)?;
                if !found.is_empty() {
                    let value = self.arranged(&block.kind, &nested, place, found);
                    given.push((&block.kind, value));
                }
                names.push(&block.kind);
            }
        }
        Ok(names)
    }

    /// The value of an attribute that the body does not set. Reports a required one.
    fn absent_attribute(&mut self, name: &Str, attribute: &Attribute, place: &Place<'_>) -> Value {
        let ty = attribute.implied_type();
        if !attribute.required {
            return Value::null(ty);
        }
        let detail = format!("The argument {name:?} is required, but no definition was found.");
        self.report(place.header, Summary::MISSING_ARGUMENT, detail);
        Value::unknown(ty)
    }

    fn unsupported_argument(&mut self, attr: &Attr, body: &Body, schema: &Block) {
        let name = &attr.name;
        let free = schema.attributes().iter().filter(|(known, attribute)| {
            !attribute.is_computed_only() && body.attrs.iter().all(|attr| attr.name != **known)
        });
        let hint = match suggest::closest(name, free.map(|(known, _)| &**known)) {
            Some(close) => format!(" Did you mean {close:?}?"),
            None if schema.blocks().contains_key(name) => {
                format!(" Did you mean to define a block of type {name:?}?")
            }
            None => String::new(),
        };
        let detail = format!("An argument named {name:?} is not expected here.{hint}");
        self.report(At::Node(attr.node), Summary::UNSUPPORTED_ARGUMENT, detail);
    }

    fn unsupported_block(&mut self, block: &item::Block, schema: &Block) {
        let kind = &block.kind;
        let known = schema.blocks().keys().map(|known| &**known);
        let hint = match suggest::closest(kind, known) {
            Some(close) => format!(" Did you mean {close:?}?"),
            None if schema.attributes().contains_key(kind) => {
                format!(
                    " Did you mean to define argument {kind:?}? If so, use the equals sign to assign it a value."
                )
            }
            None => String::new(),
        };
        let detail = format!("Blocks of type {kind:?} are not expected here.{hint}");
        self.report(At::Node(block.node), Summary::UNSUPPORTED_BLOCK, detail);
    }
}
