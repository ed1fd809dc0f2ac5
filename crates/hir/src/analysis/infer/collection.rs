//! Constructors, `for`, splats and indexes.

use std::{collections::BTreeMap, sync::Arc};

use values::{
    Kind, Str, Type,
    rules::RuleId,
};

use super::{Infer, perhaps};
use crate::{
    analysis::value::{Abstract, Inside, TriMarks},
    expr::{ExprId, ForObject, ForTuple, ObjectItem, SymbolId},
};

/// Collections with more known elements than this are walked once, with an element that stands for all.
const UNROLL: usize = 64;

/// What a `for` walks over.
enum Elements {
    /// These keys and values, in order.
    Known(Vec<(Abstract, Abstract)>),
    /// Any number of elements like this.
    Any(Abstract, Abstract),
}

impl Infer<'_> {
    pub(super) fn index(&mut self, id: ExprId, base: ExprId, key: ExprId) -> Abstract {
        let base_value = self.expr(base);
        let key_value = self.expr(key);
        let is_object = matches!(base_value.inside, Inside::Attrs(_)) || matches!(base_value.ty, Type::Object(_));
        let (rule, key_rule) = match is_object {
            true => (RuleId::IndexObject, RuleId::IndexObjectKey),
            false => (RuleId::IndexCollection, RuleId::IndexCollection),
        };
        let marks = self.rule_marks(rule, &base_value).union(&self.rule_marks(key_rule, &key_value));
        let origin = base_value.origin.clone().or_else(|| key_value.origin.clone());
        let part = match key_value.constant.as_ref() {
            Some(key) => self.constant_index(id, &base_value, &key.0),
            None => Some(base_value.any_element()),
        };
        let part = part.unwrap_or_else(|| Abstract::any().with_marks(&base_value.deep_marks()));
        part.with_marks(&marks).with_origin(origin)
    }

    fn constant_index(&mut self, id: ExprId, base: &Abstract, key: &values::Value) -> Option<Abstract> {
        let name: Option<Str> = match key.kind() {
            Kind::String(text) => Some(text.clone()),
            Kind::Number(number) => Some(number.to_string().into()),
            _ => None,
        };
        let position = key.as_number().and_then(values::Number::to_usize).or_else(|| key.as_str()?.parse().ok());
        match &base.inside {
            Inside::Items(items) => match position {
                Some(position) if position < items.len() => Some(items[position].clone()),
                Some(_) => {
                    let detail = format!(
                        "The given key does not identify an element in this collection value: the collection has {} elements, counted \
                         from 0.",
                        items.len()
                    );
                    self.fails(id, "invalid-index", "Invalid index", detail);
                    None
                }
                None => Some(base.any_element()),
            },
            Inside::Attrs(attrs) => match name.as_deref().and_then(|name| attrs.get(name)) {
                Some(attr) => Some(attr.clone()),
                None => {
                    if !matches!(base.ty, Type::Map(_)) {
                        let detail = "The given key does not identify an element in this collection value.";
                        self.fails(id, "invalid-index", "Invalid index", detail);
                    }
                    None
                }
            },
            Inside::Each(element) => Some((**element).clone()),
            Inside::Opaque(_) => match (&base.ty, name) {
                (Type::Object(_) | Type::Map(_), Some(name)) => base.attr(&name).or_else(|| {
                    let detail = "The given key does not identify an element in this collection value.";
                    self.fails(id, "invalid-index", "Invalid index", detail);
                    None
                }),
                _ => Some(base.any_element()),
            },
        }
    }

    pub(super) fn splat(&mut self, base: ExprId, item: SymbolId, each: ExprId) -> Abstract {
        let base = self.expr(base);
        let marks = self.rule_marks(RuleId::Splat, &base);
        let origin = base.origin.clone();
        let is_sequence = matches!(base.ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
            || matches!(base.inside, Inside::Items(_));
        let result = match base.known_elements().filter(|elements| is_sequence && elements.len() <= UNROLL) {
            Some(elements) => {
                let items = elements.into_iter().map(|(_, element)| self.with_symbol(item, element, |it| it.expr(each)));
                Abstract::tuple(items.collect())
            }
            None => {
                // What is no sequence counts as one element, and a null as none.
                let could_be_one = !is_sequence && base.ty != Type::Dynamic;
                let element = if could_be_one { unmarked_top(&base) } else { base.any_element() };
                let element = self.with_symbol(item, element, |it| it.expr(each));
                let ty = match &base.ty {
                    Type::List(_) | Type::Set(_) => Type::list(element.ty.clone()),
                    _ => Type::Dynamic,
                };
                Abstract::each(ty, element)
            }
        };
        result.with_marks(&marks).with_origin(origin)
    }

    pub(super) fn object(&mut self, items: &[ObjectItem]) -> Abstract {
        let mut attrs: BTreeMap<Str, Abstract> = BTreeMap::new();
        let mut unnamed: Vec<Abstract> = Vec::new();
        let mut marks = TriMarks::NONE;
        let mut origin = None;
        for item in items {
            let key = self.expr(item.key);
            let value = self.expr(item.value);
            marks = marks.union(&self.rule_marks(RuleId::ObjectKey, &key));
            origin = origin.or_else(|| key.origin.clone());
            match key.constant.as_ref().and_then(|it| key_text(&it.0)) {
                Some(name) => {
                    attrs.insert(name, value);
                }
                None => unnamed.push(value),
            }
        }
        if unnamed.is_empty() {
            return Abstract::object(attrs).with_marks(&marks).with_origin(origin);
        }
        // A value may stand under any name, or be overwritten by another.
        let mut inner = TriMarks::NONE;
        for value in attrs.values().chain(&unnamed) {
            inner = inner.union(&perhaps(&value.deep_marks()));
            origin = origin.or_else(|| value.origin.clone());
        }
        // While its key is unknown, the concrete domain marks the whole object with what is inside (DESIGN 2.9).
        let whole = Abstract { inside: Inside::Opaque(inner.clone()), ..Abstract::any() };
        whole.with_marks(&marks).with_marks(&inner).with_origin(origin)
    }

    fn elements(&mut self, collection: &Abstract) -> Elements {
        match collection.known_elements().filter(|elements| elements.len() <= UNROLL) {
            Some(elements) => Elements::Known(elements),
            None => {
                let key = match &collection.ty {
                    Type::List(_) | Type::Tuple(_) => Type::Number,
                    Type::Map(_) | Type::Object(_) => Type::String,
                    Type::Set(element) => (**element).clone(),
                    _ => Type::Dynamic,
                };
                Elements::Any(Abstract::of_type(key), collection.any_element())
            }
        }
    }

    fn iterate<T>(
        &mut self,
        key: Option<SymbolId>,
        value: SymbolId,
        element: (Abstract, Abstract),
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (key_value, element) = element;
        match key {
            Some(key) => self.with_symbol(key, key_value, |it| it.with_symbol(value, element, work)),
            None => self.with_symbol(value, element, work),
        }
    }

    /// The condition of one element: its marks go to the whole, and it may be decided.
    fn condition(&mut self, condition: Option<ExprId>, whole: &mut Whole) -> Option<bool> {
        let Some(condition) = condition else { return Some(true) };
        let value = self.expr(condition);
        whole.add(&self.rule_marks(RuleId::ForCondition, &value), value.origin.clone());
        value.constant.as_ref().and_then(|it| it.0.as_bool())
    }

    pub(super) fn for_tuple(&mut self, parts: &ForTuple) -> Abstract {
        let collection = self.expr(parts.collection);
        let mut whole = Whole::default();
        whole.add(&self.rule_marks(RuleId::ForCollection, &collection), collection.origin.clone());
        let result = match self.elements(&collection) {
            Elements::Known(elements) => {
                let mut items = Vec::new();
                let mut decided = true;
                for element in elements {
                    let item = self.iterate(parts.key, parts.value, element, |it| {
                        let kept = it.condition(parts.condition, &mut whole);
                        (kept, it.expr(parts.body))
                    });
                    match item {
                        (Some(false), _) => {}
                        (Some(true), item) => items.push(item),
                        (None, item) => {
                            decided = false;
                            items.push(item);
                        }
                    }
                }
                if decided { Abstract::tuple(items) } else { any_of(items) }
            }
            Elements::Any(key, element) => {
                let body = self.iterate(parts.key, parts.value, (key, element), |it| {
                    it.condition(parts.condition, &mut whole);
                    it.expr(parts.body)
                });
                Abstract::each(Type::Dynamic, body)
            }
        };
        whole.apply(result)
    }

    pub(super) fn for_object(&mut self, parts: &ForObject) -> Abstract {
        let collection = self.expr(parts.collection);
        let mut whole = Whole::default();
        whole.add(&self.rule_marks(RuleId::ForCollection, &collection), collection.origin.clone());
        let elements = match self.elements(&collection) {
            Elements::Known(elements) => elements,
            Elements::Any(key, element) => {
                let (_, _, value) = self.for_object_item(parts, (key, element), &mut whole);
                let value = if parts.group { Abstract::each(Type::Dynamic, value) } else { value };
                return whole.apply(Abstract::each(Type::Dynamic, value));
            }
        };
        let mut attrs: BTreeMap<Str, Abstract> = BTreeMap::new();
        let mut all = Vec::new();
        let mut known = !parts.group;
        for element in elements {
            let (kept, name, value) = self.for_object_item(parts, element, &mut whole);
            match (kept, name) {
                (Some(false), _) => {}
                (Some(true), Some(name)) => {
                    all.push(value.clone());
                    attrs.insert(name, value);
                }
                _ => {
                    known = false;
                    all.push(value);
                }
            }
        }
        whole.apply(if known { Abstract::object(attrs) } else { any_of(all) })
    }

    fn for_object_item(
        &mut self,
        parts: &ForObject,
        element: (Abstract, Abstract),
        whole: &mut Whole,
    ) -> (Option<bool>, Option<Str>, Abstract) {
        self.iterate(parts.key, parts.value, element, |it| {
            let kept = it.condition(parts.condition, whole);
            let key = it.expr(parts.item_key);
            whole.add(&it.rule_marks(RuleId::ForKey, &key), key.origin.clone());
            let value = it.expr(parts.item_value);
            (kept, key.constant.as_ref().and_then(|it| key_text(&it.0)), value)
        })
    }
}

/// Marks that the whole result of a `for` gets.
#[derive(Default)]
struct Whole {
    marks: TriMarks,
    origin: Option<Arc<crate::analysis::origin::Origin>>,
}

impl Whole {
    fn add(&mut self, marks: &TriMarks, origin: Option<Arc<crate::analysis::origin::Origin>>) {
        self.marks = self.marks.union(marks);
        if self.origin.is_none() {
            self.origin = origin;
        }
    }

    fn apply(self, result: Abstract) -> Abstract {
        result.with_marks(&self.marks).with_origin(self.origin)
    }
}

/// Any number of elements, each like one of these.
fn any_of(parts: Vec<Abstract>) -> Abstract {
    let element = parts.into_iter().reduce(|a, b| a.either(&b));
    match element {
        Some(element) => Abstract::each(Type::Dynamic, element),
        None => Abstract::any(),
    }
}

fn key_text(value: &values::Value) -> Option<Str> {
    let text = values::convert::convert(value, &Type::String).ok()?;
    text.as_str().map(Str::from)
}

/// The value without the marks on it, which go to the result as a whole.
fn unmarked_top(value: &Abstract) -> Abstract {
    Abstract { marks: TriMarks::NONE, ..value.clone() }
}
