//! Evaluates `dynamic` blocks.

use db::Summary;
use provider::NestedBlock;
use values::{
    Marks, Str, Type, Value,
    convert::convert,
    rules::{self, RuleId},
};

use crate::{
    eval::{
        body::{
            Place,
            blocks::{Found, FoundBlock},
        },
        evaluation::{Evaluation, Fault},
        iterate::primitive_type,
    },
    expr::{At, ExprId},
    item::{Block, Dynamic},
    scope::Interrupt,
};

impl Evaluation<'_> {
    /// Adds the blocks that a `dynamic` block generates.
    pub(super) fn dynamic(
        &mut self,
        block: &Block,
        dynamic: &Dynamic,
        nested: &NestedBlock,
        place: &Place<'_>,
        found: &mut Found,
    ) -> Result<(), Interrupt> {
        if !self.has_right_labels(block, nested, dynamic.labels.len()) {
            return Ok(());
        }
        let for_each = self.for_each(dynamic.for_each, place)?;
        let is_unknown = place.is_unknown || !for_each.is_known();
        // The combined blocks get the collection's marks only at the end. Labels and messages use the iterator
        // before that, so the iterator must carry the marks too.
        let own = rules::result_marks(RuleId::DynamicBlock, [&for_each]);
        let marks = place.marks.union(&own);
        let inner = Place { header: At::Node(block.node), root: place.root, marks, is_unknown };
        if is_unknown {
            let marks = self.possible(block, dynamic, nested, &inner, &for_each)?;
            found.is_unknown = true;
            found.marks.add(&marks.union(&own).union(&inner.marks));
        }
        // If the block is inside of one that may not exist, the number of blocks is unknown and none are added.
        for (key, element) in for_each.elements().filter(|_| !is_unknown) {
            self.bind(dynamic.iterator, iterator(key, element.clone(), &own));
            let label = match dynamic.labels.first() {
                Some(label) => Some(self.label(*label)?),
                None => None,
            };
            let value = self.body(&block.body, &nested.block, &inner)?.marked(&inner.marks);
            self.charge(dynamic.for_each, value.shallow_size())?;
            // Drop a block whose label was refused: there is no key to store it under.
            if label != Some(None) {
                found.blocks.push(FoundBlock { value, label: label.flatten(), node: block.node });
            }
        }
        self.unbind(dynamic.iterator);
        Ok(())
    }

    /// The marks of the blocks if their number is unknown. An unknown value keeps only its marks. Write-only
    /// attributes do not contribute, because they would not be stored either.
    fn possible(
        &mut self,
        block: &Block,
        dynamic: &Dynamic,
        nested: &NestedBlock,
        inner: &Place<'_>,
        for_each: &Value,
    ) -> Result<Marks, Interrupt> {
        let own = rules::result_marks(RuleId::DynamicBlock, [for_each]);
        let elements: Vec<(Value, Value)> = match for_each.is_known() {
            // An unknown parent block does not make this block's collection unknown.
            true => for_each.elements().map(|(key, it)| (key, it.clone())).collect(),
            false => vec![(Value::dynamic(), Value::dynamic())],
        };
        let mut marks = Marks::NONE;
        for (key, element) in elements {
            self.bind(dynamic.iterator, iterator(key, element, &own));
            let value = self.body(&block.body, &nested.block, inner)?;
            marks.add(&provider::null_write_only(&value, &nested.block).deep_marks());
        }
        Ok(marks)
    }

    /// The collection. Unknown if it cannot be used, which is reported.
    fn for_each(&mut self, id: ExprId, place: &Place<'_>) -> Result<Value, Interrupt> {
        if place.is_unknown {
            let value = self.unseen(|this| this.value(id))?;
            let is_usable = !value.is_null() && primitive_type(&value).is_none();
            let unusable = || Value::dynamic().with_marks(&value.deep_marks());
            return Ok(if is_usable { value } else { unusable() });
        }
        let value = self.value(id)?;
        let detail = if value.is_null() {
            "Cannot use a null value in for_each.".to_owned()
        } else if let Some(ty) = primitive_type(&value) {
            format!(
                "Cannot use a {} value in for_each. An iterable collection is required.",
                ty.friendly_name()
            )
        } else {
            return Ok(value);
        };
        let summary = Summary::INVALID_DYNAMIC_FOR_EACH;
        let fault = Fault { at: id, summary, detail };
        Ok(self.fail(fault, &value.deep_marks()))
    }

    /// A label. `None` if it cannot be used, which is reported.
    fn label(&mut self, id: ExprId) -> Result<Option<Str>, Interrupt> {
        let before = self.failures();
        let value = self.value(id)?;
        if self.failures() > before {
            return Ok(None);
        }
        let detail = match convert(&value, &Type::String) {
            _ if value.is_null() => "Cannot use a null value as a dynamic block label.".to_owned(),
            Err(error) => {
                format!("Cannot use this value as a dynamic block label: {}.", error.message)
            }
            Ok(_) if value.has_deep_secret() => {
                "Cannot use a sensitive or ephemeral value as a dynamic block label: labels are \
                 shown and kept."
                    .to_owned()
            }
            Ok(text) => match text.as_str() {
                Some(text) => return Ok(Some(Str::from(text))),
                None => "This value is not yet known. Dynamic block labels must be \
                         immediately-known values."
                    .to_owned(),
            },
        };
        let fault = Fault { at: id, summary: Summary::INVALID_DYNAMIC_BLOCK_LABEL, detail };
        self.fail(fault, &Marks::NONE);
        Ok(None)
    }
}

/// The value of the iterator for one element, with the marks of the collection.
fn iterator(key: Value, value: Value, marks: &Marks) -> Value {
    Value::object_from([("key", key.marked(marks)), ("value", value.marked(marks))])
}
