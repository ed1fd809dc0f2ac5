//! What is known of an unknown value.

use std::cmp::Ordering;

use crate::{Number, Str, Type, text};

/// What is known of an unknown value. Entries that do not fit the value's type are dropped when it is made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Refinements {
    not_null: bool,
    prefix: Option<Str>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    min_length: u64,
    max_length: Option<u64>,
}

/// One end of the range of a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The end.
    pub value: Number,
    /// Whether the end itself is in the range.
    pub inclusive: bool,
}

impl Refinements {
    /// Nothing is known.
    pub const NONE: Refinements = Refinements {
        not_null: false,
        prefix: None,
        lower: None,
        upper: None,
        min_length: 0,
        max_length: None,
    };

    /// Known not to be null, and nothing else.
    #[must_use]
    pub fn non_null() -> Refinements {
        Refinements::NONE.not_null()
    }

    /// Adds: not null.
    #[must_use]
    pub fn not_null(mut self) -> Refinements {
        self.not_null = true;
        self
    }

    /// Adds: the string starts with `prefix`. The longer of two prefixes stays.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl AsRef<str>) -> Refinements {
        let prefix = text::normalized(prefix.as_ref());
        if prefix.len() > self.prefix().len() {
            self.prefix = Some(prefix);
        }
        self
    }

    /// Adds: the string starts with what of `prefix` no following text can change.
    #[must_use]
    pub fn with_safe_prefix(self, prefix: &str) -> Refinements {
        self.with_prefix(text::safe_prefix(prefix))
    }

    /// Adds: the number is not below `value`, nor equal to it unless `inclusive`. The tighter of two bounds stays.
    #[must_use]
    pub fn with_lower(mut self, value: Number, inclusive: bool) -> Refinements {
        let bound = Bound { value, inclusive };
        if self.lower.as_ref().is_none_or(|old| bound.is_tighter(old, Ordering::Greater)) {
            self.lower = Some(bound);
        }
        self
    }

    /// Adds: the number is not above `value`, nor equal to it unless `inclusive`. The tighter of two bounds stays.
    #[must_use]
    pub fn with_upper(mut self, value: Number, inclusive: bool) -> Refinements {
        let bound = Bound { value, inclusive };
        if self.upper.as_ref().is_none_or(|old| bound.is_tighter(old, Ordering::Less)) {
            self.upper = Some(bound);
        }
        self
    }

    /// Adds: the collection has at least `length` elements.
    #[must_use]
    pub fn with_min_length(mut self, length: u64) -> Refinements {
        self.min_length = self.min_length.max(length);
        self
    }

    /// Adds: the collection has at most `length` elements.
    #[must_use]
    pub fn with_max_length(mut self, length: u64) -> Refinements {
        self.max_length = Some(self.max_length.map_or(length, |old| old.min(length)));
        self
    }

    /// Whether the value is known not to be null.
    #[must_use]
    pub fn is_not_null(&self) -> bool {
        self.not_null
    }

    /// What the string is known to start with; empty if nothing is known.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or("")
    }

    /// The lower bound of the number.
    #[must_use]
    pub fn lower(&self) -> Option<&Bound> {
        self.lower.as_ref()
    }

    /// The upper bound of the number.
    #[must_use]
    pub fn upper(&self) -> Option<&Bound> {
        self.upper.as_ref()
    }

    /// The least number of elements.
    #[must_use]
    pub fn min_length(&self) -> u64 {
        self.min_length
    }

    /// The greatest number of elements, if there is a bound.
    #[must_use]
    pub fn max_length(&self) -> Option<u64> {
        self.max_length
    }

    /// What is known by both; the tighter entry of each kind.
    #[must_use]
    pub fn and(&self, other: &Refinements) -> Refinements {
        let mut both = self.clone();
        both.not_null |= other.not_null;
        both = both.with_prefix(other.prefix()).with_min_length(other.min_length);
        if let Some(lower) = &other.lower {
            both = both.with_lower(lower.value.clone(), lower.inclusive);
        }
        if let Some(upper) = &other.upper {
            both = both.with_upper(upper.value.clone(), upper.inclusive);
        }
        match other.max_length {
            Some(length) => both.with_max_length(length),
            None => both,
        }
    }

    /// What still holds if the value is one or the other, as for the arms of a conditional.
    #[must_use]
    pub fn or(&self, other: &Refinements) -> Refinements {
        let common = common_prefix(self.prefix(), other.prefix());
        Refinements {
            not_null: self.not_null && other.not_null,
            prefix: (!common.is_empty()).then(|| Str::from(common)),
            lower: Bound::looser(self.lower.as_ref(), other.lower.as_ref(), Ordering::Less),
            upper: Bound::looser(self.upper.as_ref(), other.upper.as_ref(), Ordering::Greater),
            min_length: self.min_length.min(other.min_length),
            max_length: self.max_length.zip(other.max_length).map(|(a, b)| a.max(b)),
        }
    }

    /// Only the entries that say something of a value of type `ty`.
    #[must_use]
    pub fn fitting(self, ty: &Type) -> Refinements {
        let kept = Refinements { not_null: self.not_null, ..Refinements::NONE };
        match ty {
            Type::Dynamic => Refinements::NONE,
            Type::String => Refinements { prefix: self.prefix, ..kept },
            Type::Number => Refinements { lower: self.lower, upper: self.upper, ..kept },
            Type::List(_) | Type::Set(_) | Type::Map(_) => {
                Refinements { min_length: self.min_length, max_length: self.max_length, ..kept }
            }
            _ => kept,
        }
    }

    /// Whether every entry says something of a value of type `ty`.
    #[must_use]
    pub fn fits(&self, ty: &Type) -> bool {
        self.clone().fitting(ty) == *self
    }

    /// Whether no value can meet these refinements.
    #[must_use]
    pub fn is_contradictory(&self) -> bool {
        if self.max_length.is_some_and(|max| max < self.min_length) {
            return true;
        }
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else {
            return false;
        };
        match lower.value.compare(&upper.value) {
            Ordering::Less => false,
            Ordering::Equal => !(lower.inclusive && upper.inclusive),
            Ordering::Greater => true,
        }
    }

    /// Whether the number lies within the bounds.
    #[must_use]
    pub fn includes_number(&self, number: &Number) -> bool {
        let above = self.lower.as_ref().is_none_or(|lower| match number.compare(&lower.value) {
            Ordering::Greater => true,
            Ordering::Equal => lower.inclusive,
            Ordering::Less => false,
        });
        let below = self.upper.as_ref().is_none_or(|upper| match number.compare(&upper.value) {
            Ordering::Less => true,
            Ordering::Equal => upper.inclusive,
            Ordering::Greater => false,
        });
        above && below
    }

    /// Whether a collection may have `length` elements.
    #[must_use]
    pub fn includes_length(&self, length: u64) -> bool {
        length >= self.min_length && self.max_length.is_none_or(|max| length <= max)
    }

    /// The number that the bounds leave as the only one.
    pub(crate) fn only_number(&self) -> Option<&Number> {
        let (lower, upper) = (self.lower.as_ref()?, self.upper.as_ref()?);
        let single = lower.inclusive
            && upper.inclusive
            && lower.value.compare(&upper.value) == Ordering::Equal;
        single.then_some(&lower.value)
    }

    /// The length that the bounds leave as the only one.
    pub(crate) fn only_length(&self) -> Option<u64> {
        self.max_length.filter(|max| *max == self.min_length)
    }
}

impl Bound {
    /// Whether this bound says more than `old`, where `direction` is how a tighter value compares.
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
