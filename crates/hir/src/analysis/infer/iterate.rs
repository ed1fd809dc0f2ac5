//! `for` expressions.

use db::Summary;
use sorted::{Entry, TreeMap};
use values::{Str, Type, convert, rules::RuleId};

use crate::{
    analysis::{
        infer::{Certainty, Infer, constructor::key_text, flow::Flow},
        value::{Abstract, failing::Failing, inside::Presence, when::When},
    },
    expr::{ExprId, ForObject, ForTuple, SymbolId},
};

/// The largest collection whose known elements are walked one by one. For a larger one, a single element stands for
/// all.
pub(in crate::analysis) const UNROLL: usize = 64;

/// The largest number of rounds that nested loops unroll, multiplied together.
const MAX_ROUNDS: usize = 256;

/// The parts that both forms of `for` have in common.
#[derive(Clone, Copy)]
struct Loop {
    key: Option<SymbolId>,
    value: SymbolId,
    collection: ExprId,
    condition: Option<ExprId>,
}

/// The key of an item of the result, if the source determines it.
struct KeyText {
    text: Str,
    /// True if messages must not show the key.
    is_secret: bool,
}

/// The rounds of a `for`.
struct Rounds {
    /// The keys and values in order, or one pair that stands for all.
    elements: Vec<(Abstract, Abstract)>,
    /// True if these are all elements.
    are_all: bool,
}

/// The facts about the result as a whole that were gathered so far.
struct Progress {
    /// The marks of the collection, of conditions and of keys.
    shape: Flow,
    /// The marks of everything that the result may hold. While something is unknown, the whole has them.
    content: Flow,
    failing: Failing,
    /// True if the source determines the elements of the result.
    is_decided: bool,
    /// True if the loop may fail in a place that hides the failure.
    may_fail: bool,
    /// The collection.
    collection: Abstract,
    /// The condition that something inside of the result is ephemeral.
    inside: When,
}

impl Infer<'_> {
    pub(super) fn for_tuple(&mut self, parts: &ForTuple) -> Abstract {
        let ForTuple { key, value, collection, condition, body } = *parts;
        let round = Loop { key, value, collection, condition };
        let (rounds, mut progress) = self.begin(round);
        let mut items = Vec::with_capacity(rounds.elements.len());
        self.walk(round, rounds, &mut progress, |it, progress, is_kept| {
            let item = it.body_value(round, body);
            progress.holds(&item);
            if is_kept != Some(false) {
                it.keep(round, progress, &item);
                items.push(item);
            }
        });
        if progress.is_decided {
            return progress.finish(Abstract::tuple(items));
        }
        let tuple = Abstract { is_sequence: true, ..any_of(items) };
        progress.finish(tuple)
    }

    pub(super) fn for_object(&mut self, parts: &ForObject) -> Abstract {
        let ForObject { key, value, collection, condition, item_key, item_value, group } = *parts;
        let round = Loop { key, value, collection, condition };
        let (rounds, mut progress) = self.begin(round);
        let mut entries: TreeMap<Str, Vec<Abstract>> = TreeMap::new();
        let mut unnamed = Vec::new();
        self.walk(round, rounds, &mut progress, |it, progress, is_kept| {
            let key = it.for_key(round, item_key, progress, is_kept);
            let value = it.body_value(round, item_value);
            progress.holds(&value);
            if is_kept != Some(false) {
                it.keep(round, progress, &value);
            }
            match (is_kept, key) {
                (Some(false), _) => {}
                (Some(true), Some(key)) => {
                    progress.may_fail |= !it.enter(item_key, &mut entries, key, value, group);
                }
                _ => {
                    progress.is_decided = false;
                    unnamed.push(value);
                }
            }
        });
        if progress.is_decided {
            let attrs = entries.into_iter().filter_map(|(name, mut values)| {
                Some((name, if group { Abstract::tuple(values) } else { values.pop()? }))
            });
            return progress.finish(Abstract::object(attrs.collect()));
        }
        let values = any_of(entries.into_values().flatten().chain(unnamed).collect());
        progress.finish(if group { Abstract::each(Type::Dynamic, values) } else { values })
    }

    /// Adds an item under its key. Without grouping, a key that occurs twice is reported. Returns false in that
    /// case.
    fn enter(
        &mut self,
        at: ExprId,
        entries: &mut TreeMap<Str, Vec<Abstract>>,
        key: KeyText,
        value: Abstract,
        group: bool,
    ) -> bool {
        match entries.entry(key.text) {
            Entry::Vacant(entry) => {
                entry.insert(vec![value]);
                true
            }
            Entry::Occupied(mut entry) if group => {
                entry.get_mut().push(value);
                true
            }
            Entry::Occupied(entry) => {
                let named = match key.is_secret {
                    true => "the same key".to_owned(),
                    false => format!("the key {:?}", entry.key()),
                };
                let detail = format!(
                    "Two different items produced {named} in this 'for' expression. If duplicates \
                     are expected, use the ellipsis (...) after the value expression to enable grouping by key."
                );
                self.fails(at, Summary::DUPLICATE_OBJECT_KEY, detail);
                false
            }
        }
    }

    /// Infers the key of an item. `None` if the source does not determine it.
    fn for_key(
        &mut self,
        round: Loop,
        id: ExprId,
        progress: &mut Progress,
        is_kept: Option<bool>,
    ) -> Option<KeyText> {
        let key = self.body_value(round, id);
        let contribution = self.contribution(RuleId::ForKey, &key);
        let contribution = match is_kept {
            Some(true) => contribution,
            Some(false) => contribution.only(&When::Never),
            None if contribution.when.is_never() => contribution.weakened(),
            None => contribution.only(&self.is_kept(round, progress)),
        };
        progress.shape.add(contribution, &key);
        progress.holds(&key);
        if key.is_null() {
            let detail = "Key expression in 'for' expression must not produce a null value.";
            self.fails(id, Summary::INVALID_OBJECT_KEY, detail);
        } else if !convert::can_convert(&key.ty, &Type::String) {
            let reason = convert::mismatch(&key.ty, &Type::String);
            let detail = format!("The key expression produced an invalid result: {reason}.");
            self.fails(id, Summary::INVALID_OBJECT_KEY, detail);
        }
        let text = key_text(&key);
        progress.may_fail |= text.is_none();
        Some(KeyText { text: text?, is_secret: !self.is_showable(&key) })
    }

    /// Infers the collection and starts the loop.
    fn begin(&mut self, round: Loop) -> (Rounds, Progress) {
        let collection = self.expr(round.collection);
        let may_fail = !self.check_collection(round.collection, &collection);
        let mut progress = Progress {
            shape: Flow::default(),
            content: Flow::default(),
            failing: Failing::NEVER,
            is_decided: collection.presence == Presence::Known,
            may_fail,
            collection,
            inside: When::Never,
        };
        let collection = progress.collection.clone();
        progress.shape.add(self.contribution(RuleId::ForCollection, &collection), &collection);
        progress.holds(&collection);
        (self.rounds(&collection), progress)
    }

    /// Reports a value that is no collection. Returns false in that case.
    fn check_collection(&mut self, at: ExprId, collection: &Abstract) -> bool {
        if collection.is_null() {
            let detail = "A null value cannot be used as the collection in a 'for' expression.";
            self.fails(at, Summary::ITERATION_OVER_NULL, detail);
            return false;
        }
        if collection.ty.is_primitive() {
            let detail = format!(
                "A value of type {} cannot be used as the collection in a 'for' expression.",
                collection.ty.friendly_name()
            );
            self.fails(at, Summary::ITERATION_OVER_NON_ITERABLE, detail);
            return false;
        }
        true
    }

    fn rounds(&mut self, collection: &Abstract) -> Rounds {
        let most = UNROLL.min(MAX_ROUNDS / self.rounds);
        // A value that looks empty but may be unknown is walked once.
        let is_settled =
            |elements: &Vec<_>| !elements.is_empty() || collection.presence == Presence::Known;
        if let Some(elements) = collection.known_elements(most).filter(is_settled) {
            return Rounds { elements, are_all: true };
        }
        let key = match &collection.ty {
            Type::List(_) | Type::Tuple(_) => Type::Number,
            Type::Map(_) | Type::Object(_) => Type::String,
            Type::Set(element) => Type::clone(element),
            _ => Type::Dynamic,
        };
        let key = Abstract { presence: Presence::NotNull, ..Abstract::of_type(key) };
        Rounds { elements: vec![(key, collection.any_element())], are_all: false }
    }

    /// Walks the rounds. The last parameter of `item` is whether the condition keeps the element, `None` if that is
    /// not known.
    fn walk(
        &mut self,
        round: Loop,
        rounds: Rounds,
        progress: &mut Progress,
        mut item: impl FnMut(&mut Self, &mut Progress, Option<bool>),
    ) {
        progress.is_decided &= rounds.are_all;
        let outer = self.rounds;
        self.rounds = outer.saturating_mul(rounds.elements.len().max(1));
        let certainty = if rounds.are_all { Certainty::Sure } else { Certainty::Doubtful };
        let is_empty = rounds.elements.is_empty();
        let around = progress.shape.clone();
        let mut elements = rounds.elements;
        if is_empty {
            // The condition is checked even for an empty collection. If it fails, everything in the body was read.
            elements.push((Abstract::any(), Abstract::any()));
        }
        for (key, value) in elements {
            let body = |it: &mut Self| {
                let is_kept = match is_empty {
                    true => it.idle_condition(round.condition, progress),
                    false => it.condition(round, progress, rounds.are_all),
                };
                let certainty = match is_kept {
                    Some(true) => Certainty::Sure,
                    Some(false) => Certainty::Hidden,
                    None => Certainty::Doubtful,
                };
                it.with_certainty(certainty, |it| item(it, progress, is_kept));
            };
            self.with_certainty(certainty, |it| {
                it.within(&around, |it| match round.key {
                    Some(name) => {
                        it.with_symbol(name, key, |it| it.with_symbol(round.value, value, body));
                    }
                    None => it.with_symbol(round.value, value, body),
                });
            });
        }
        self.rounds = outer;
    }

    /// Infers a part of the body and returns its value as it is outside of the loop.
    fn body_value(&mut self, round: Loop, id: ExprId) -> Abstract {
        let value = self.expr(id);
        if value.ephemeral.is_never() {
            return value;
        }
        value.outside_of(&round.names(), &self.reads_of(round.collection))
    }

    /// Records an item that the result keeps.
    fn keep(&mut self, round: Loop, progress: &mut Progress, item: &Abstract) {
        if !item.ephemeral.is_never() {
            let when = self.is_kept(round, progress).and(&item.ephemeral.somewhere());
            progress.inside = progress.inside.or(&when);
        }
    }

    /// The condition that an element like the current one exists.
    fn is_walked(&mut self, round: Loop, progress: &Progress) -> When {
        self.has_elements(round.collection, &progress.collection)
    }

    /// The condition that an element like the current one exists and the `if` clause keeps it.
    fn is_kept(&mut self, round: Loop, progress: &Progress) -> When {
        let is_walked = self.is_walked(round, progress);
        let Some(condition) = round.condition else { return is_walked };
        let is_true = self.truth(condition);
        let reads = self.reads_of(round.collection);
        is_walked.and(&is_true.outside_of(&round.names(), &reads))
    }

    /// Infers the `if` clause for an empty collection.
    fn idle_condition(
        &mut self,
        condition: Option<ExprId>,
        progress: &mut Progress,
    ) -> Option<bool> {
        if let Some(id) = condition {
            let value = self.expr(id);
            progress.holds(&value);
            self.check_kept(id, &value, progress);
        }
        Some(false)
    }

    /// Infers the `if` clause for one element. Its marks go to the whole. Returns its value, or `None` if that is
    /// not known.
    fn condition(&mut self, round: Loop, progress: &mut Progress, is_sure: bool) -> Option<bool> {
        let Some(id) = round.condition else { return if is_sure { Some(true) } else { None } };
        let value = self.body_value(round, id);
        let contribution = self.contribution(RuleId::ForCondition, &value);
        let contribution = match is_sure {
            true => contribution,
            false if contribution.when.is_never() => contribution.weakened(),
            false => contribution.only(&self.is_walked(round, progress)),
        };
        progress.shape.add(contribution, &value);
        progress.holds(&value);
        self.check_kept(id, &value, progress);
        let constant = value.constant.as_ref();
        let decided = constant.and_then(|it| convert::convert(&it.0, &Type::Bool).ok()?.as_bool());
        if decided.is_none() {
            progress.is_decided = false;
        }
        decided.filter(|_| is_sure)
    }

    fn check_kept(&mut self, id: ExprId, value: &Abstract, progress: &mut Progress) {
        if value.is_null() {
            let detail = "The value of the 'if' clause must not be null.";
            self.fails(id, Summary::NULL_FOR_CONDITION, detail);
        } else if !convert::can_convert(&value.ty, &Type::Bool) {
            let reason = convert::mismatch(&value.ty, &Type::Bool);
            let detail = format!("The 'if' clause value is invalid: {reason}.");
            self.fails(id, Summary::INVALID_FOR_CONDITION, detail);
        }
        progress.may_fail |= match &value.constant {
            Some(constant) => {
                convert::convert(&constant.0, &Type::Bool).map_or(true, |it| it.is_null())
            }
            None => value.ty != Type::Bool || value.presence == Presence::Open,
        };
    }
}

impl Loop {
    fn names(self) -> Vec<SymbolId> {
        self.key.into_iter().chain([self.value]).collect()
    }
}

impl Progress {
    /// Records a value that the loop has read.
    fn holds(&mut self, value: &Abstract) {
        self.content.add_maybe(value);
        self.failing = std::mem::replace(&mut self.failing, Failing::NEVER).reading(value);
    }

    fn finish(self, result: Abstract) -> Abstract {
        let failing = self.failing.with(&result.failing);
        let failing = if self.may_fail { failing.of_any_type() } else { failing };
        if self.is_decided {
            return self.shape.onto(Abstract { failing, ..result });
        }
        let result = Abstract { ephemeral: result.ephemeral.with_inside(self.inside), ..result };
        // While something is unknown, so is the result.
        let mut flow = self.shape;
        flow.join(&self.content);
        flow.hidden(&failing);
        let failing = failing.of_any_type();
        flow.onto(Abstract { failing, ..result.undecided() })
    }
}

/// A collection of an unknown number of elements, each like one of these.
fn any_of(parts: Vec<Abstract>) -> Abstract {
    let element = parts.into_iter().reduce(|all, part| all.either(&part));
    let any = element.map_or_else(Abstract::any, |element| Abstract::each(Type::Dynamic, element));
    Abstract { presence: Presence::NotNull, ..any }
}
