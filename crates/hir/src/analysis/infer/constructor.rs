//! The expressions `[a, b]` and `{ k = v }`.

use db::Summary;
use values::{
    Str, Type, Value, convert,
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    analysis::{
        infer::{Infer, flow::Flow},
        origin::DroppedMark,
        value::{
            Abstract,
            failing::Failing,
            inside::{Inside, Presence},
            marks::TriMarks,
            when::{Test, When},
        },
    },
    expr::{ExprId, ObjectItem},
};

/// The largest number of entries whose names are compared one by one.
const MAX_ENTRIES: usize = 32;

impl Infer<'_> {
    pub(super) fn tuple(&mut self, elements: &[ExprId]) -> Abstract {
        let items = elements.iter().map(|element| carried(RuleId::Tuple, self.expr(*element)));
        Abstract::tuple(items.collect())
    }

    pub(super) fn object(&mut self, items: &[ObjectItem]) -> Abstract {
        let mut flow = Flow::default();
        let mut keys = Failing::NEVER;
        let mut entries: Vec<(Option<Str>, Abstract)> = Vec::with_capacity(items.len());
        let mut are_showable = true;
        for item in items {
            let key = self.expr(item.key);
            self.check_key(item.key, &key);
            let value = carried(RuleId::ObjectValue, self.expr(item.value));
            let mut named = Flow::default();
            named.add(self.contribution(RuleId::ObjectKey, &key), &key);
            flow.join(&named.dropping(DroppedMark::ObjectKey));
            keys = keys.reading(&key);
            are_showable &= key.constant.is_none() || self.is_showable(&key);
            entries.push((key_text(&key), value));
        }
        if entries.iter().all(|(name, _)| name.is_some()) {
            let attrs = entries.into_iter().filter_map(|(name, value)| Some((name?, value)));
            let object = Abstract::object(attrs.collect());
            let failing = object.failing.clone().with(&keys);
            return flow.onto(Abstract { failing, ..object });
        }
        // While a key is unknown, the concrete domain marks the whole object with the marks of every value.
        for (_, value) in &entries {
            flow.add_maybe(value);
        }
        let failing = entries.iter().fold(keys, |failing, (_, value)| failing.reading(value));
        let object = of_unknown_names(&entries);
        let ephemeral =
            object.ephemeral.with_inside(self.of_entries(items, &entries, are_showable));
        flow.onto(Abstract { failing, ephemeral, ..object })
    }

    /// The condition that something in an object is ephemeral: a value that no later entry of the same name
    /// replaces.
    fn of_entries(
        &self,
        items: &[ObjectItem],
        entries: &[(Option<Str>, Abstract)],
        are_showable: bool,
    ) -> When {
        let mut all = When::Never;
        for (position, (name, value)) in entries.iter().enumerate() {
            let mut when = value.ephemeral.somewhere();
            if when.is_never() {
                continue;
            }
            if entries.len() > MAX_ENTRIES {
                all = all.or(&self.weakened_by(&when, items.iter().map(|it| it.key)));
                continue;
            }
            for (later, item) in entries.iter().zip(items).skip(position + 1) {
                let is_other = match (name, &later.0) {
                    (Some(name), Some(later)) if name == later => When::Never,
                    (Some(_), Some(_)) => When::Always,
                    (Some(name), None) => {
                        self.tested_if(are_showable, item.key, Test::Key(name.clone())).not()
                    }
                    (None, Some(later)) => {
                        let (key, test) = (items[position].key, Test::Key(later.clone()));
                        self.tested_if(are_showable, key, test).not()
                    }
                    (None, None) => self.depends(item.key),
                };
                when = when.and(&is_other);
            }
            all = all.or(&when);
        }
        all
    }

    fn check_key(&mut self, at: ExprId, key: &Abstract) {
        if key.is_null() {
            let detail = "Can't use a null value as a key.";
            self.fails(at, Summary::NULL_VALUE_AS_KEY, detail);
        } else if !convert::can_convert(&key.ty, &Type::String) {
            let reason = convert::mismatch(&key.ty, &Type::String);
            let detail = format!("Can't use this value as a key: {reason}.");
            self.fails(at, Summary::INCORRECT_KEY_TYPE, detail);
        }
    }
}

/// A part of a constructed value, which keeps its marks.
fn carried(rule: RuleId, part: Abstract) -> Abstract {
    match rules::rule(rule, Domain::Abstract) {
        MarkRule::Elementwise => part,
        _ => part.unmarked(),
    }
}

/// An object some of whose names are not known. A later value may replace an earlier one of the same name.
fn of_unknown_names(entries: &[(Option<Str>, Abstract)]) -> Abstract {
    let mut marks = TriMarks::NONE;
    let mut origin = None;
    for (position, (_, value)) in entries.iter().enumerate() {
        let is_last = position + 1 == entries.len();
        let here = value.deep_marks();
        marks = marks.union(&if is_last { here } else { here.weakened() });
        origin = origin.or_else(|| value.origin.clone());
    }
    let inside = Inside::Opaque(marks);
    Abstract { inside, presence: Presence::NotNull, ..Abstract::any() }.with_origin(origin)
}

/// The name that a key evaluates to, or `None` if the source does not determine it.
pub(in crate::analysis) fn key_text(key: &Abstract) -> Option<Str> {
    text_of(&key.constant.as_ref()?.0)
}

fn text_of(value: &Value) -> Option<Str> {
    convert::convert(value, &Type::String).ok()?.as_str().map(Str::from)
}
