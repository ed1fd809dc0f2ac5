//! Evaluates `for` expressions.

use std::iter;

use db::Summary;
use sorted::{Entry, TreeMap};
use values::{
    Kind, Marks, Str, Type, Value,
    convert::convert,
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{ELEMENT, ENTRY, Evaluation, Fault, Outcome},
    expr::{ExprId, ForObject, ForTuple, SymbolId},
    scope::Interrupt,
};

/// The parts that both forms of `for` share.
#[derive(Clone, Copy)]
struct Loop {
    id: ExprId,
    key: Option<SymbolId>,
    value: SymbolId,
    collection: ExprId,
    condition: Option<ExprId>,
}

/// The evaluated collection of a loop.
enum Source {
    /// A known collection.
    Known(Value),
    /// The collection is unknown, or failed and was reported. Holds its marks.
    Unknown(Marks),
}

/// The result of the `if` clause for an element.
enum Inclusion {
    Yes,
    No,
    Unknown,
}

/// The state of the result as a whole during a loop.
struct Progress {
    /// The marks of the collection, the conditions and the keys. They go on the result, because they determine its
    /// shape.
    shape: Marks,
    is_known: bool,
}

impl Progress {
    fn over(collection: &Value) -> Progress {
        Progress { shape: rules::result_marks(RuleId::ForCollection, [collection]), is_known: true }
    }
}

/// The values of the items of a loop that have the same key. Most loops have one for each key.
struct Grouped {
    first: Value,
    others: Vec<Value>,
}

impl Grouped {
    fn values(&self) -> impl Iterator<Item = &Value> {
        iter::once(&self.first).chain(&self.others)
    }

    fn into_values(self) -> Vec<Value> {
        iter::once(self.first).chain(self.others).collect()
    }
}

impl Evaluation<'_> {
    pub(super) fn for_tuple(&mut self, id: ExprId, parts: &ForTuple) -> Outcome {
        let round = Loop {
            id,
            key: parts.key,
            value: parts.value,
            collection: parts.collection,
            condition: parts.condition,
        };
        let collection = match self.source(round)? {
            Source::Known(collection) => collection,
            Source::Unknown(marks) => return self.unknown_loop(round, &[parts.body], marks),
        };
        // The elements do not carry the collection's marks here; the result does.
        self.without_quoting(collection.marks(), |this, secret| {
            this.tuple_over(parts, round, &collection, secret)
        })
    }

    fn tuple_over(
        &mut self,
        parts: &ForTuple,
        round: Loop,
        collection: &Value,
        secret: &Marks,
    ) -> Outcome {
        let mut progress = Progress::over(collection);
        let mut results = Vec::new();
        self.charge(round.id, ELEMENT)?;
        for (key, element) in collection.elements() {
            self.enter(round, key.with_marks(secret), element.clone().with_marks(secret));
            match self.inclusion(round, &mut progress)? {
                Inclusion::No => continue,
                Inclusion::Yes => results.push(self.value(parts.body)?),
                Inclusion::Unknown => results.push(self.unseen(|this| this.value(parts.body))?),
            }
            self.charge(round.id, ELEMENT)?;
        }
        self.leave(round);
        if progress.is_known {
            return Ok(Value::tuple(results).with_marks(&progress.shape));
        }
        Ok(undecided(progress.shape, results.iter()))
    }

    pub(super) fn for_object(&mut self, id: ExprId, parts: &ForObject) -> Outcome {
        let round = Loop {
            id,
            key: parts.key,
            value: parts.value,
            collection: parts.collection,
            condition: parts.condition,
        };
        let collection = match self.source(round)? {
            Source::Known(collection) => collection,
            Source::Unknown(marks) => {
                return self.unknown_loop(round, &[parts.item_key, parts.item_value], marks);
            }
        };
        self.without_quoting(collection.marks(), |this, secret| {
            this.object_over(parts, round, &collection, secret)
        })
    }

    fn object_over(
        &mut self,
        parts: &ForObject,
        round: Loop,
        collection: &Value,
        secret: &Marks,
    ) -> Outcome {
        let mut progress = Progress::over(collection);
        let mut results: TreeMap<Str, Grouped> = TreeMap::new();
        self.charge(round.id, ENTRY)?;
        for (key, element) in collection.elements() {
            self.enter(round, key.with_marks(secret), element.clone().with_marks(secret));
            self.charge(round.id, ENTRY)?;
            match self.inclusion(round, &mut progress)? {
                Inclusion::No => {}
                Inclusion::Yes => self.for_object_item(parts, &mut progress, &mut results)?,
                Inclusion::Unknown => {
                    let key = self.unseen(|this| this.value(parts.item_key))?;
                    progress.shape.add(&rules::result_marks(RuleId::ForKey, [&key]));
                    let value = self.unseen(|this| this.value(parts.item_value))?;
                    progress.shape.add(&value.deep_marks());
                }
            }
        }
        self.leave(round);
        if !progress.is_known {
            return Ok(undecided(progress.shape, results.values().flat_map(Grouped::values)));
        }
        let attributes = results.into_iter().map(|(name, it)| {
            let value = if parts.group { Value::tuple(it.into_values()) } else { it.first };
            (name, value)
        });
        Ok(Value::object(attributes.collect()).with_marks(&progress.shape))
    }

    fn for_object_item(
        &mut self,
        parts: &ForObject,
        progress: &mut Progress,
        results: &mut TreeMap<Str, Grouped>,
    ) -> Result<(), Interrupt> {
        let key = self.for_key(parts.item_key, progress)?;
        let value = self.value(parts.item_value)?;
        let Some((key, is_secret)) = key else {
            progress.is_known = false;
            progress.shape.add(&value.deep_marks());
            return Ok(());
        };
        let key = match results.entry(key) {
            Entry::Vacant(free) => {
                free.insert(Grouped { first: value, others: Vec::new() });
                return Ok(());
            }
            Entry::Occupied(mut taken) if parts.group => {
                taken.get_mut().others.push(value);
                return Ok(());
            }
            Entry::Occupied(taken) => taken.key().clone(),
        };
        let named = if is_secret { "the same key".to_owned() } else { format!("the key {key:?}") };
        let detail = format!(
            "Two different items produced {named} in this 'for' expression. If duplicates are expected, use the \
             ellipsis (...) after the value expression to enable grouping by key."
        );
        let fault = Fault { at: parts.item_key, summary: Summary::DUPLICATE_OBJECT_KEY, detail };
        self.fail(fault, &Marks::NONE);
        progress.is_known = false;
        Ok(())
    }

    /// The key of an item, and true if the key is secret. `None` if the key is unknown or failed, which is
    /// reported.
    fn for_key(
        &mut self,
        id: ExprId,
        progress: &mut Progress,
    ) -> Result<Option<(Str, bool)>, Interrupt> {
        let key = self.value(id)?;
        progress.shape.add(&rules::result_marks(RuleId::ForKey, [&key]));
        if key.is_null() {
            let detail =
                "Key expression in 'for' expression must not produce a null value.".to_owned();
            self.fail(invalid_key(id, detail), key.marks());
            return Ok(None);
        }
        match convert(&key, &Type::String) {
            Ok(text) => {
                let is_secret = text.has_deep_secret();
                Ok(text.as_str().map(|text| (Str::on_heap(text), is_secret)))
            }
            Err(error) => {
                progress.shape.add(&key.deep_marks());
                let detail =
                    format!("The key expression produced an invalid result: {}.", error.message);
                self.fail(invalid_key(id, detail), &key.deep_marks());
                Ok(None)
            }
        }
    }

    fn source(&mut self, round: Loop) -> Result<Source, Interrupt> {
        let at = round.collection;
        let collection = self.value(at)?;
        if collection.is_null() {
            let fault = Fault {
                at,
                summary: Summary::ITERATION_OVER_NULL,
                detail: "A null value cannot be used as the collection in a 'for' expression."
                    .to_owned(),
            };
            self.fail(fault, collection.marks());
        } else if let Some(ty) = primitive_type(&collection) {
            let fault = Fault {
                at,
                summary: Summary::ITERATION_OVER_NON_ITERABLE,
                detail: format!(
                    "A value of type {} cannot be used as the collection in a 'for' expression.",
                    ty.friendly_name()
                ),
            };
            self.fail(fault, collection.marks());
        } else if collection.is_known() && self.condition_is_sound(round)? {
            return Ok(Source::Known(collection));
        }
        Ok(Source::Unknown(collection.deep_marks()))
    }

    /// Evaluates the `if` clause once with unknown symbols. A type error is then reported once instead of once per
    /// element. Returns false if the clause failed.
    fn condition_is_sound(&mut self, round: Loop) -> Result<bool, Interrupt> {
        let Some(id) = round.condition else { return Ok(true) };
        let before = self.failures();
        self.enter(round, Value::dynamic(), Value::dynamic());
        let result = self.value(id)?;
        self.leave(round);
        if self.failures() > before {
            return Ok(false);
        }
        if result.is_null() {
            let detail = "The value of the 'if' clause must not be null.".to_owned();
            self.fail(
                Fault { at: id, summary: Summary::NULL_FOR_CONDITION, detail },
                result.marks(),
            );
            return Ok(false);
        }
        if let Err(error) = convert(&result, &Type::Bool) {
            let detail = format!("The 'if' clause value is invalid: {}.", error.message);
            self.fail(invalid_condition(id, detail), &result.deep_marks());
            return Ok(false);
        }
        Ok(true)
    }

    fn inclusion(&mut self, round: Loop, progress: &mut Progress) -> Result<Inclusion, Interrupt> {
        let Some(id) = round.condition else { return Ok(Inclusion::Yes) };
        let result = self.value(id)?;
        progress.shape.add(&rules::result_marks(RuleId::ForCondition, [&result]));
        let detail = if result.is_null() {
            "The value of the 'if' clause must not be null.".to_owned()
        } else {
            match convert(&result, &Type::Bool) {
                Ok(decided) => match decided.as_bool() {
                    Some(true) => return Ok(Inclusion::Yes),
                    Some(false) => return Ok(Inclusion::No),
                    None => {
                        progress.is_known = false;
                        return Ok(Inclusion::Unknown);
                    }
                },
                Err(error) => format!("The 'if' clause value is invalid: {}.", error.message),
            }
        };
        progress.is_known = false;
        progress.shape.add(&result.deep_marks());
        self.fail(invalid_condition(id, detail), &result.deep_marks());
        Ok(Inclusion::Unknown)
    }

    /// The result for an unknown collection: unknown, with all marks that the result could carry.
    fn unknown_loop(&mut self, round: Loop, parts: &[ExprId], collection: Marks) -> Outcome {
        let mut marks = collection;
        self.enter(round, Value::dynamic(), Value::dynamic());
        for part in round.condition.iter().chain(parts) {
            let value = self.unseen(|this| this.value(*part))?;
            marks.add(&value.deep_marks());
        }
        self.leave(round);
        Ok(Value::dynamic().with_marks(&marks))
    }

    fn enter(&mut self, round: Loop, key: Value, value: Value) {
        if let Some(symbol) = round.key {
            self.bind(symbol, key);
        }
        self.bind(round.value, value);
    }

    fn leave(&mut self, round: Loop) {
        round.key.into_iter().chain([round.value]).for_each(|symbol| self.unbind(symbol));
    }
}

fn undecided<'v>(shape: Marks, parts: impl Iterator<Item = &'v Value>) -> Value {
    let marks = parts.fold(shape, |all, part| all.union(&part.deep_marks()));
    Value::dynamic().with_marks(&marks)
}

fn invalid_key(at: ExprId, detail: String) -> Fault {
    Fault { at, summary: Summary::INVALID_OBJECT_KEY, detail }
}

fn invalid_condition(at: ExprId, detail: String) -> Fault {
    Fault { at, summary: Summary::INVALID_FOR_CONDITION, detail }
}

/// The type of a value that is no collection; `None` for a collection and for a value that may be one. Does not compute
/// the type of a collection, which grows with its elements.
pub(super) fn primitive_type(value: &Value) -> Option<Type> {
    match value.kind() {
        Kind::List(_) | Kind::Set(_) | Kind::Tuple(_) | Kind::Map(_) | Kind::Object(_) => None,
        _ => Some(value.ty()).filter(Type::is_primitive),
    }
}
