//! Evaluates nested blocks of one type: counts them and combines them to one value.

use db::Summary;
use provider::{NestedBlock, Nesting};
use smallvec::SmallVec;
use sorted::TreeMap;
use values::{Marks, Str, Value};

use crate::{
    eval::{
        body::Place,
        evaluation::{Evaluation, Outcome},
    },
    expr::{At, NodeId},
    item::{Block, Body},
    scope::Interrupt,
};

/// The blocks of one type in a body, in order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) blocks: SmallVec<[FoundBlock; 3]>,
    /// Set if the number of blocks is unknown.
    pub(super) is_unknown: bool,
    /// The marks of blocks that may or may not exist.
    pub(super) marks: Marks,
}

/// An evaluated block.
pub(super) struct FoundBlock {
    pub(super) value: Value,
    /// The key, for blocks with a label.
    pub(super) label: Option<Str>,
    pub(super) node: NodeId,
}

impl Found {
    /// Returns true if there is surely no block.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_unknown && self.blocks.is_empty()
    }

    /// The marks of all values that are stored. Write-only attributes are not, at any depth.
    fn kept_marks(&self, schema: &provider::Block) -> Marks {
        let kept = |it: &FoundBlock| provider::null_write_only(&it.value, schema).deep_marks();
        self.blocks.iter().fold(self.marks.clone(), |all, block| all.union(&kept(block)))
    }

    fn into_values(self) -> Vec<Value> {
        self.blocks.into_iter().map(|block| block.value).collect()
    }
}

impl Evaluation<'_> {
    /// Evaluates all blocks of a type in a body to one value.
    pub(super) fn blocks(
        &mut self,
        kind: &str,
        nested: &NestedBlock,
        body: &Body,
        place: &Place<'_>,
    ) -> Outcome {
        let found = self.found_blocks(kind, nested, body, place)?;
        Ok(self.arranged(kind, nested, place, found))
    }

    /// Evaluates the blocks of a type in a body, with `dynamic` blocks expanded.
    pub(super) fn found_blocks(
        &mut self,
        kind: &str,
        nested: &NestedBlock,
        body: &Body,
        place: &Place<'_>,
    ) -> Result<Found, Interrupt> {
        let mut found = Found::default();
        for block in body.blocks.iter().filter(|block| *block.kind == *kind) {
            match &block.dynamic {
                Some(dynamic) => self.dynamic(block, dynamic, nested, place, &mut found)?,
                None => self.static_block(block, nested, place, &mut found)?,
            }
        }
        Ok(found)
    }

    /// Combines the blocks of a type to one value, as the nesting mode of the schema says.
    pub(super) fn arranged(
        &mut self,
        kind: &str,
        nested: &NestedBlock,
        place: &Place<'_>,
        found: Found,
    ) -> Value {
        if found.is_unknown {
            let marks = found.kept_marks(&nested.block);
            return Value::unknown(nested.implied_type()).with_marks(&marks);
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.one_block(kind, nested, place, found),
            Nesting::List | Nesting::Set => self.sequence(kind, nested, place, found),
            Nesting::Map => self.keyed(kind, nested, found),
        }
    }

    fn static_block(
        &mut self,
        block: &Block,
        nested: &NestedBlock,
        place: &Place<'_>,
        found: &mut Found,
    ) -> Result<(), Interrupt> {
        if !self.has_right_labels(block, nested, block.labels.len()) {
            return Ok(());
        }
        let inner = Place { header: At::Node(block.node), ..place.clone() };
        let value = self.body(&block.body, &nested.block, &inner)?;
        found.blocks.push(FoundBlock {
            value,
            label: block.labels.first().cloned(),
            node: block.node,
        });
        Ok(())
    }

    /// Returns true if the block has a label exactly if its nesting is a map. Reports a problem otherwise.
    pub(super) fn has_right_labels(
        &mut self,
        block: &Block,
        nested: &NestedBlock,
        given: usize,
    ) -> bool {
        let wanted = usize::from(nested.nesting == Nesting::Map);
        if let Some((summary, detail)) = wrong_labels(block, wanted, given) {
            self.report(At::Node(block.node), summary, detail);
        }
        given == wanted
    }

    fn one_block(
        &mut self,
        kind: &str,
        nested: &NestedBlock,
        place: &Place<'_>,
        found: Found,
    ) -> Value {
        if let Some(second) = found.blocks.get(1) {
            let detail = format!("Only one block of type {kind:?} is allowed.");
            self.report(At::Node(second.node), Summary::duplicate_block(kind), detail);
        }
        if let Some(first) = found.blocks.into_iter().next() {
            return first.value;
        }
        if nested.min_items > 0 {
            let detail = format!("A block of type {kind:?} is required here.");
            self.report(place.header, Summary::missing_block(kind), detail);
        }
        nested.empty_value()
    }

    fn sequence(
        &mut self,
        kind: &str,
        nested: &NestedBlock,
        place: &Place<'_>,
        found: Found,
    ) -> Value {
        self.check_count(kind, nested, place, &found);
        if found.blocks.is_empty() {
            return nested.empty_value();
        }
        let object = nested.block.implied_type().clone();
        match nested.nesting {
            Nesting::Set => Value::set(object, found.into_values()),
            _ if object.has_dynamic() => Value::tuple(found.into_values()),
            _ => Value::list(object, found.into_values()),
        }
    }

    fn check_count(&mut self, kind: &str, nested: &NestedBlock, place: &Place<'_>, found: &Found) {
        let count = found.blocks.len();
        let (min, max) = (bound(nested.min_items), bound(nested.max_items));
        if count < min {
            let detail = format!("At least {min} {kind:?} blocks are required.");
            self.report(place.header, Summary::insufficient_blocks(kind), detail);
        }
        if max > 0
            && let Some(surplus) = found.blocks.get(max)
        {
            let detail = format!("No more than {max} {kind:?} blocks are allowed");
            self.report(At::Node(surplus.node), Summary::too_many_blocks(kind), detail);
        }
    }

    fn keyed(&mut self, kind: &str, nested: &NestedBlock, found: Found) -> Value {
        let mut entries: TreeMap<Str, Value> = TreeMap::new();
        for block in found.blocks {
            let label = block.label.unwrap_or_default();
            if entries.contains_key(&label) {
                // The label is not secret: computed labels with secret marks are refused.
                let detail =
                    format!("A block of type {kind:?} with the label {label:?} is already there.");
                self.report(At::Node(block.node), Summary::duplicate_block(kind), detail);
                continue;
            }
            entries.insert(label, block.value);
        }
        if entries.is_empty() {
            return nested.empty_value();
        }
        let object = nested.block.implied_type().clone();
        let entries = entries.into_iter().collect();
        if object.has_dynamic() { Value::object(entries) } else { Value::map(object, entries) }
    }
}

fn bound(items: i64) -> usize {
    usize::try_from(items).unwrap_or(0)
}

/// The summary and detail of the problem with a block's labels. `wanted` is zero or one, as the schema says.
/// `None` if the number of labels is right.
pub(crate) fn wrong_labels(
    block: &Block,
    wanted: usize,
    given: usize,
) -> Option<(Summary, String)> {
    let kind = &block.kind;
    let is_dynamic = block.dynamic.is_some();
    let (summary, detail) = match (given, wanted) {
        (given, wanted) if given == wanted => return None,
        (0, _) if is_dynamic => (
            Summary::MISSING_ARGUMENT,
            format!("The argument \"labels\" is required, since {kind} blocks have a label."),
        ),
        (0, _) => (
            Summary::missing_label("key", kind),
            format!("All {kind} blocks must have 1 labels (key)."),
        ),
        (_, 0) if is_dynamic => (
            Summary::UNSUPPORTED_ARGUMENT,
            format!("An argument named \"labels\" is not expected here: {kind} blocks have none."),
        ),
        (_, 0) => {
            (Summary::extraneous_label(kind), format!("No labels are expected for {kind} blocks."))
        }
        (_, _) => (
            match is_dynamic {
                true => Summary::EXTRANEOUS_DYNAMIC_LABEL,
                false => Summary::extraneous_label(kind),
            },
            format!("Only 1 labels (key) are expected for {kind} blocks."),
        ),
    };
    Some((summary, detail))
}
