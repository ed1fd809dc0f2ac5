//! Evaluates tuple and object constructors, `[a, b]` and `{ k = v }`.

use db::Summary;
use values::{
    Kind, Marks, Str, Type, Value,
    convert::convert,
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    eval::evaluation::{ELEMENT, ENTRY, Evaluation, Fault, Outcome},
    expr::{ExprId, ObjectItem},
    scope::Interrupt,
};

/// The value of a key expression.
pub(super) enum Key {
    /// A name, and the marks of the key.
    Name(Str, Marks),
    /// The key is unknown, or failed and was reported.
    Unknown(Marks),
}

/// An element of a constructed value. It keeps its marks if the mark rule is elementwise.
fn carried(rule: RuleId, part: Value) -> Value {
    match rules::rule(rule, Domain::Concrete) {
        MarkRule::Elementwise => part,
        _ => part.without_all_marks(),
    }
}

impl Evaluation<'_> {
    pub(super) fn tuple(&mut self, id: ExprId, elements: &[ExprId]) -> Outcome {
        self.charge(id, (elements.len() as u64 + 1) * ELEMENT)?;
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            values.push(carried(RuleId::Tuple, self.value(*element)?));
        }
        Ok(Value::tuple(values))
    }

    pub(super) fn object(&mut self, id: ExprId, items: &[ObjectItem]) -> Outcome {
        self.charge(id, (items.len() as u64 + 1) * ENTRY)?;
        let mut attributes = Vec::with_capacity(items.len());
        let mut marks = Marks::NONE;
        let mut is_known = true;
        for item in items {
            let key = self.object_key(item.key)?;
            let value = carried(RuleId::ObjectValue, self.value(item.value)?);
            match key {
                Key::Name(name, key_marks) => {
                    marks.add(&key_marks);
                    attributes.push((name, value));
                }
                // The value may belong to any name, so its marks go to the whole object.
                Key::Unknown(key_marks) => {
                    marks.add(&key_marks);
                    marks.add(&value.deep_marks());
                    is_known = false;
                }
            }
        }
        if is_known {
            let attributes = attributes.into_iter().collect();
            return Ok(Value::object(attributes).marked(&marks));
        }
        for (_, value) in &attributes {
            marks.add(&value.deep_marks());
        }
        Ok(Value::dynamic().with_marks(&marks))
    }

    fn object_key(&mut self, id: ExprId) -> Result<Key, Interrupt> {
        let before = self.failures();
        let key = self.value(id)?;
        if self.failures() > before {
            return Ok(Key::Unknown(key.deep_marks()));
        }
        if key.is_null() {
            let detail = "Can't use a null value as a key.".to_owned();
            self.fail(Fault { at: id, summary: Summary::NULL_VALUE_AS_KEY, detail }, key.marks());
            return Ok(Key::Unknown(key.deep_marks()));
        }
        match convert(&key, &Type::String) {
            Ok(text) => Ok(match text.kind() {
                Kind::String(name) => Key::Name(
                    Str::from(name.clone()),
                    rules::result_marks(RuleId::ObjectKey, [&key]),
                ),
                _ => Key::Unknown(rules::result_marks(RuleId::ObjectKey, [&key])),
            }),
            Err(error) => {
                let detail = format!("Can't use this value as a key: {}.", error.message);
                let fault = Fault { at: id, summary: Summary::INCORRECT_KEY_TYPE, detail };
                self.fail(fault, &key.deep_marks());
                Ok(Key::Unknown(key.deep_marks()))
            }
        }
    }
}
