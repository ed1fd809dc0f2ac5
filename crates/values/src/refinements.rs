//! Refinements: facts about an unknown value.

use std::cmp::Ordering;

use crate::{Number, Text, Type, text};

/// The facts that are known about an unknown value. [`Value::unknown_with`](crate::Value::unknown_with) drops
/// facts that do not apply to the value's type.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refinements {
    not_null: bool,
    /// The other facts. `None` if there are none, as for most unknown values, of which a plan has many.
    limits: Option<Box<Limits>>,
}

/// The facts that depend on the type. In [`Refinements`] at least one is known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Limits {
    prefix: Option<Text>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    min_length: u64,
    max_length: Option<u64>,
}

impl Limits {
    const NONE: Limits =
        Limits { prefix: None, lower: None, upper: None, min_length: 0, max_length: None };
}

/// One bound of a number's range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The bound itself.
    pub value: Number,
    /// True if the range includes the bound.
    pub inclusive: bool,
}

impl Refinements {
    /// No known facts.
    pub const NONE: Refinements = Refinements { not_null: false, limits: None };

    fn of(not_null: bool, limits: Limits) -> Refinements {
        let limits = (limits != Limits::NONE).then(|| Box::new(limits));
        Refinements { not_null, limits }
    }

    fn limits(&self) -> &Limits {
        self.limits.as_deref().unwrap_or(&Limits::NONE)
    }

    fn limits_mut(&mut self) -> &mut Limits {
        self.limits.get_or_insert_default()
    }

    /// Returns the refinements that state only that the value is not null.
    #[must_use]
    pub fn non_null() -> Refinements {
        Refinements::NONE.not_null()
    }

    /// Adds that the value is not null.
    #[must_use]
    pub fn not_null(mut self) -> Refinements {
        self.not_null = true;
        self
    }

    /// Adds that the string starts with `prefix`. The longer of two prefixes is kept.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl AsRef<str>) -> Refinements {
        let prefix = text::normalized_text(Text::from(prefix.as_ref()));
        if prefix.len() > self.prefix().len() {
            self.limits_mut().prefix = Some(prefix);
        }
        self
    }

    /// Adds the part of `prefix` that no following text can change as a prefix.
    #[must_use]
    pub fn with_safe_prefix(self, prefix: &str) -> Refinements {
        self.with_prefix(text::safe_prefix(prefix))
    }

    /// Adds that the number is not below `value`, nor equal to it unless `inclusive`. The tighter of two bounds is
    /// kept.
    #[must_use]
    pub fn with_lower(mut self, value: Number, inclusive: bool) -> Refinements {
        let bound = Bound { value, inclusive };
        if self.lower().is_none_or(|old| bound.is_tighter(old, Ordering::Greater)) {
            self.limits_mut().lower = Some(bound);
        }
        self
    }

    /// Adds that the number is not above `value`, nor equal to it unless `inclusive`. The tighter of two bounds is
    /// kept.
    #[must_use]
    pub fn with_upper(mut self, value: Number, inclusive: bool) -> Refinements {
        let bound = Bound { value, inclusive };
        if self.upper().is_none_or(|old| bound.is_tighter(old, Ordering::Less)) {
            self.limits_mut().upper = Some(bound);
        }
        self
    }

    /// Adds that the collection has at least `length` elements.
    #[must_use]
    pub fn with_min_length(mut self, length: u64) -> Refinements {
        if length > self.min_length() {
            self.limits_mut().min_length = length;
        }
        self
    }

    /// Adds that the collection has at most `length` elements.
    #[must_use]
    pub fn with_max_length(mut self, length: u64) -> Refinements {
        if self.max_length().is_none_or(|old| length < old) {
            self.limits_mut().max_length = Some(length);
        }
        self
    }

    /// Returns true if the value is known not to be null.
    #[must_use]
    pub fn is_not_null(&self) -> bool {
        self.not_null
    }

    /// Returns the known prefix of the string; empty if there is none.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.limits().prefix.as_deref().unwrap_or("")
    }

    /// Returns the lower bound of the number.
    #[must_use]
    pub fn lower(&self) -> Option<&Bound> {
        self.limits().lower.as_ref()
    }

    /// Returns the upper bound of the number.
    #[must_use]
    pub fn upper(&self) -> Option<&Bound> {
        self.limits().upper.as_ref()
    }

    /// Returns the minimum number of elements.
    #[must_use]
    pub fn min_length(&self) -> u64 {
        self.limits().min_length
    }

    /// Returns the maximum number of elements, or `None` if there is no bound.
    #[must_use]
    pub fn max_length(&self) -> Option<u64> {
        self.limits().max_length
    }

    /// Returns the facts of both, with the tighter one of each kind.
    #[must_use]
    pub fn and(&self, other: &Refinements) -> Refinements {
        let mut both = self.clone();
        both.not_null |= other.not_null;
        both = both.with_prefix(other.prefix()).with_min_length(other.min_length());
        if let Some(lower) = other.lower() {
            both = both.with_lower(lower.value.clone(), lower.inclusive);
        }
        if let Some(upper) = other.upper() {
            both = both.with_upper(upper.value.clone(), upper.inclusive);
        }
        match other.max_length() {
            Some(length) => both.with_max_length(length),
            None => both,
        }
    }

    /// Returns the facts that hold for a value that is one or the other, as for the results of a conditional.
    #[must_use]
    pub fn or(&self, other: &Refinements) -> Refinements {
        let common = common_prefix(self.prefix(), other.prefix());
        let limits = Limits {
            prefix: (!common.is_empty()).then(|| Text::from(common)),
            lower: Bound::looser(self.lower(), other.lower(), Ordering::Less),
            upper: Bound::looser(self.upper(), other.upper(), Ordering::Greater),
            min_length: self.min_length().min(other.min_length()),
            max_length: self.max_length().zip(other.max_length()).map(|(a, b)| a.max(b)),
        };
        Refinements::of(self.not_null && other.not_null, limits)
    }

    /// Returns only the facts that apply to a value of type `ty`.
    #[must_use]
    pub fn fitting(self, ty: &Type) -> Refinements {
        if *ty == Type::Dynamic {
            return Refinements::NONE;
        }
        let Some(limits) = self.limits else {
            return Refinements { not_null: self.not_null, limits: None };
        };
        let Limits { prefix, lower, upper, min_length, max_length } = *limits;
        let limits = match ty {
            Type::String => Limits { prefix, ..Limits::NONE },
            Type::Number => Limits { lower, upper, ..Limits::NONE },
            Type::List(_) | Type::Set(_) | Type::Map(_) => {
                Limits { min_length, max_length, ..Limits::NONE }
            }
            _ => Limits::NONE,
        };
        Refinements::of(self.not_null, limits)
    }

    /// Returns true if every fact applies to a value of type `ty`.
    #[must_use]
    pub fn fits(&self, ty: &Type) -> bool {
        self.clone().fitting(ty) == *self
    }

    /// Returns true if no value can satisfy these refinements.
    #[must_use]
    pub fn is_contradictory(&self) -> bool {
        if self.max_length().is_some_and(|max| max < self.min_length()) {
            return true;
        }
        let (Some(lower), Some(upper)) = (self.lower(), self.upper()) else {
            return false;
        };
        match lower.value.compare(&upper.value) {
            Ordering::Less => false,
            Ordering::Equal => !(lower.inclusive && upper.inclusive),
            Ordering::Greater => true,
        }
    }

    /// Returns true if the number lies within the bounds.
    #[must_use]
    pub fn includes_number(&self, number: &Number) -> bool {
        let above = self.lower().is_none_or(|lower| match number.compare(&lower.value) {
            Ordering::Greater => true,
            Ordering::Equal => lower.inclusive,
            Ordering::Less => false,
        });
        let below = self.upper().is_none_or(|upper| match number.compare(&upper.value) {
            Ordering::Less => true,
            Ordering::Equal => upper.inclusive,
            Ordering::Greater => false,
        });
        above && below
    }

    /// Returns true if a collection may have `length` elements.
    #[must_use]
    pub fn includes_length(&self, length: u64) -> bool {
        length >= self.min_length() && self.max_length().is_none_or(|max| length <= max)
    }

    /// Returns the only number that the bounds permit, or `None` if they permit several.
    pub(crate) fn only_number(&self) -> Option<&Number> {
        let (lower, upper) = (self.lower()?, self.upper()?);
        let single = lower.inclusive
            && upper.inclusive
            && lower.value.compare(&upper.value) == Ordering::Equal;
        single.then_some(&lower.value)
    }

    /// Returns the only length that the bounds permit, or `None` if they permit several.
    pub(crate) fn only_length(&self) -> Option<u64> {
        self.max_length().filter(|max| *max == self.min_length())
    }
}

impl Bound {
    /// Returns true if this bound is tighter than `old`. `direction` is the order of a tighter value relative to a
    /// looser one.
    fn is_tighter(&self, old: &Bound, direction: Ordering) -> bool {
        match self.value.compare(&old.value) {
            Ordering::Equal => old.inclusive && !self.inclusive,
            order => order == direction,
        }
    }

    fn looser(a: Option<&Bound>, b: Option<&Bound>, direction: Ordering) -> Option<Bound> {
        let (a, b) = (a?, b?);
        let first = match a.value.compare(&b.value) {
            Ordering::Equal => a.inclusive,
            order => order == direction,
        };
        Some(if first { a.clone() } else { b.clone() })
    }
}

fn common_prefix<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.char_indices().zip(b.chars()).take_while(|((_, x), y)| x == y);
    &a[..same.last().map_or(0, |((start, c), _)| start + c.len_utf8())]
}
