//! A change: the two sides of a value, traversed in parallel.

use std::sync::LazyLock;

use state::Action;
use values::{Kind, MarkKind, Step, Value};

use crate::diff::{Act, Secret};

/// The value of every part of an unknown object.
static UNKNOWN: LazyLock<Value> = LazyLock::new(Value::dynamic);

/// A part of an object with its old and its new value.
#[derive(Clone)]
pub(super) struct Change<'a> {
    pub(super) before: Side<'a>,
    pub(super) after: Side<'a>,
    /// The rest of the paths that force replacement.
    pub(super) replace: Vec<&'a [Step]>,
    /// True inside of a secret part that is shown as a whole: its own parts are compared without regard to marks.
    pub(super) is_revealed: bool,
    /// True if every attribute is known after apply. It distinguishes an unknown object from a deleted one.
    pub(super) has_unknown_parts: bool,
}

/// One side of a change.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    value: Option<&'a Value>,
    /// True if a null value is explicit rather than missing.
    pub(super) explicit: bool,
}

impl<'a> Side<'a> {
    pub(super) const ABSENT: Side<'static> = Side { value: None, explicit: false };

    fn of(value: Option<&'a Value>, explicit: bool) -> Side<'a> {
        Side { value, explicit }
    }

    /// The value if it is known and not null.
    #[inline]
    pub(super) fn get(&self) -> Option<&'a Value> {
        self.value.filter(|it| it.is_known() && !it.is_null())
    }

    #[inline]
    pub(super) fn is_nil(&self) -> bool {
        self.get().is_none()
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.value.is_some_and(|it| !it.is_known())
    }

    fn secret(&self) -> Option<MarkKind> {
        let marks = self.value?.marks();
        [MarkKind::Ephemeral, MarkKind::Sensitive].into_iter().find(|it| marks.has(*it))
    }

    /// The elements of a list, set or tuple.
    pub(super) fn items(&self) -> &'a [Value] {
        self.get().and_then(Value::as_slice).unwrap_or_default()
    }

    #[inline]
    pub(super) fn entries(&self) -> Option<&'a values::ValueMap> {
        self.get().and_then(Value::as_map)
    }

    #[inline]
    fn entry(&self, name: &str) -> Side<'a> {
        let value = self.entries().and_then(|it| it.get(name));
        Side::of(value, value.is_some())
    }

    fn item(&self, index: Option<usize>) -> Side<'a> {
        let value = index.and_then(|it| self.items().get(it));
        Side::of(value, value.is_some())
    }
}

impl<'a> Change<'a> {
    /// The change of a whole object.
    pub(super) fn of_block(
        before: &'a Value,
        after: &'a Value,
        replace: Vec<&'a [Step]>,
    ) -> Change<'a> {
        let side = |value| Side::of(Some(value), false);
        Change {
            before: side(before),
            after: side(after),
            replace,
            is_revealed: false,
            has_unknown_parts: false,
        }
    }

    /// The change of an output. A side that exists is explicit, even if it is null.
    pub(super) fn of_output(before: &'a Value, after: &'a Value, action: Action) -> Change<'a> {
        let before =
            if action == Action::Create { Side::ABSENT } else { Side::of(Some(before), true) };
        let after =
            if action == Action::Delete { Side::ABSENT } else { Side::of(Some(after), true) };
        Change { before, after, replace: Vec::new(), is_revealed: false, has_unknown_parts: false }
    }

    /// The change between two documents that strings contain as JSON.
    pub(super) fn of_documents(before: Option<&'a Value>, after: Option<&'a Value>) -> Change<'a> {
        let side = |value: Option<&'a Value>| Side::of(value, value.is_some());
        Change {
            before: side(before),
            after: side(after),
            replace: Vec::new(),
            is_revealed: false,
            has_unknown_parts: false,
        }
    }

    /// The change without explicit nulls; blocks and typed objects do not distinguish null from missing.
    pub(super) fn implicit(mut self) -> Change<'a> {
        self.before.explicit = false;
        self.after.explicit = false;
        self
    }

    /// The change with empty strings as null, because old provider SDKs cannot represent a null string.
    pub(super) fn without_empty_text(mut self) -> Change<'a> {
        for side in [&mut self.before, &mut self.after] {
            if side.get().and_then(Value::as_str) == Some("") {
                side.value = None;
            }
        }
        self
    }

    /// The change of an entry that is not unknown together with its parent.
    pub(super) fn known_entry(&self, name: &str) -> Change<'a> {
        Change { has_unknown_parts: false, ..self.clone() }.entry(name)
    }

    pub(super) fn entry(&self, name: &str) -> Change<'a> {
        let leads = |step: &Step| match step {
            Step::Attr(it) => **it == *name,
            Step::Index(key) => key.as_str() == Some(name),
        };
        let after = match self.has_unknown_parts {
            true => Side::of(Some(&UNKNOWN), false),
            false => self.after.entry(name),
        };
        self.child(self.before.entry(name), after, leads)
    }

    /// The change between an element of each side; `None` means that the side lacks it.
    pub(super) fn item(&self, before: Option<usize>, after: Option<usize>) -> Change<'a> {
        let leads = |step: &Step| match step {
            Step::Index(key) => {
                let index = key.as_number().and_then(values::Number::to_usize);
                index.is_some() && (index == before || index == after)
            }
            Step::Attr(_) => false,
        };
        self.child(self.before.item(before), self.after.item(after), leads)
    }

    fn child(
        &self,
        before: Side<'a>,
        after: Side<'a>,
        leads: impl Fn(&Step) -> bool,
    ) -> Change<'a> {
        let replace = self
            .replace
            .iter()
            .filter_map(|path| path.split_first().filter(|(step, _)| leads(step)));
        let replace = replace.map(|(_, rest)| rest).collect();
        Change { before, after, replace, is_revealed: self.is_revealed, has_unknown_parts: false }
    }

    /// The change as a deletion.
    pub(super) fn as_delete(&self) -> Change<'a> {
        Change { after: Side::ABSENT, replace: Vec::new(), ..self.clone() }
    }

    /// The change as a creation.
    pub(super) fn as_create(&self) -> Change<'a> {
        Change { before: Side::ABSENT, replace: Vec::new(), ..self.clone() }
    }

    /// Returns true if this part itself forces replacement.
    #[inline]
    pub(super) fn forces_replacement(&self) -> bool {
        self.replace.iter().any(|it| it.is_empty())
    }

    /// The action, derived from the two values.
    pub(super) fn act(&self) -> Act {
        let (no_before, no_after) = (self.before.is_nil(), self.after.is_nil());
        if no_before && !self.before.explicit && (!no_after || self.after.explicit) {
            return Act::Create;
        }
        if no_after && !self.after.explicit && (!no_before || self.before.explicit) {
            return Act::Delete;
        }
        match self.is_same() && self.before.explicit == self.after.explicit {
            true => Act::NoOp,
            false => Act::Update,
        }
    }

    /// The action if the new value is unknown.
    pub(super) fn act_of_unknown(&self) -> Act {
        if self.before.is_nil() { Act::Create } else { Act::Update }
    }

    /// The action of a container before its parts are compared.
    pub(super) fn act_of_container(&self) -> Act {
        match (self.before.is_nil(), self.after.is_nil()) {
            (true, false) => Act::Create,
            (false, true) => Act::Delete,
            _ => Act::NoOp,
        }
    }

    fn is_same(&self) -> bool {
        match (self.before.get(), self.after.get()) {
            (Some(before), Some(after)) => same(before, after),
            (None, None) => !self.after.is_unknown(),
            _ => false,
        }
    }

    /// The secrecy of this part and its action. `None` if it is not secret, or if the caller reveals it.
    pub(super) fn secret(&self) -> Option<(Secret, Act)> {
        if self.is_revealed {
            return None;
        }
        let (before, after) = (self.before.secret(), self.after.secret());
        let kind =
            [before, after].into_iter().flatten().max_by_key(|it| *it == MarkKind::Ephemeral)?;
        let mut inner = self.clone();
        inner.after.explicit |= self.after.is_unknown();
        let mut act = inner.act();
        let is_same = act == Act::NoOp;
        let is_nothing = self.before.is_nil()
            && !self.before.explicit
            && self.after.is_nil()
            && !self.after.explicit;
        if is_same && before.is_some() != after.is_some() && !is_nothing {
            act = Act::Update;
        }
        Some((Secret { kind, before: before.is_some(), after: after.is_some(), is_same }, act))
    }
}

/// Returns true if two values have the same JSON. Ignores types and marks; null and unknown are the same.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    let is_nil = |it: &Value| it.is_null() || !it.is_known();
    match (a.kind(), b.kind()) {
        _ if is_nil(a) || is_nil(b) => is_nil(a) && is_nil(b),
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Number(a), Kind::Number(b)) => a == b,
        (Kind::String(a), Kind::String(b)) => a == b,
        _ => match (a.as_slice(), b.as_slice(), a.as_map(), b.as_map()) {
            (Some(a), Some(b), _, _) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (_, _, Some(a), Some(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((key, a), (other, b))| key == other && same(a, b))
            }
            _ => false,
        },
    }
}
