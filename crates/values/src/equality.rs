//! The three kinds of equality: exact equality, certain equality, and cty's `Equals` with unknown values.

use crate::{
    Kind, Type, Value, ValueMap,
    rules::{self, RuleId},
};

impl Value {
    /// Returns true if both values have the same type, content, refinements and marks at every depth.
    #[must_use]
    pub fn raw_equals(&self, other: &Value) -> bool {
        if self.marks() != other.marks() {
            return false;
        }
        if self.shares_node(other) {
            return true;
        }
        match (self.kind(), other.kind()) {
            (Kind::Null, Kind::Null) => self.ty() == other.ty(),
            (Kind::Unknown(a), Kind::Unknown(b)) => a == b && self.ty() == other.ty(),
            (Kind::Bool(a), Kind::Bool(b)) => a == b,
            (Kind::Number(a), Kind::Number(b)) => a == b,
            (Kind::String(a), Kind::String(b)) => a == b,
            (Kind::List(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) => {
                a.len() == b.len()
                    && self.ty() == other.ty()
                    && a.iter().zip(b).all(|(a, b)| a.raw_equals(b))
            }
            (Kind::Tuple(a), Kind::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.raw_equals(b))
            }
            (Kind::Map(a), Kind::Map(b)) => self.ty() == other.ty() && same_entries(a, b),
            (Kind::Object(a), Kind::Object(b)) => same_entries(a, b),
            _ => false,
        }
    }

    /// Compares as `==` in a configuration: the result is a bool, or an unknown bool if it depends on unknown
    /// values. The result has the marks of both operands at every depth; in a comparison with a plain null, only
    /// their outermost marks.
    #[must_use]
    pub fn equals(&self, other: &Value) -> Value {
        let against_null = self.is_null() || other.is_null();
        let rule = if against_null { RuleId::EqualityNull } else { RuleId::Equality };
        let marks = rules::result_marks(rule, [self, other]);
        self.equals_unmarked(other).with_marks(&marks)
    }

    pub(crate) fn equals_unmarked(&self, other: &Value) -> Value {
        match compare(self, other) {
            Some(equal) => Value::bool(equal),
            None => Value::unknown(Type::Bool).refined_not_null(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.raw_equals(other)
    }
}

impl Eq for Value {}

fn same_entries(a: &ValueMap, b: &ValueMap) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((ka, a), (kb, b))| ka == kb && a.raw_equals(b))
}

/// Returns true if both values are equal whatever their unknown parts turn out to be. Marks are ignored.
pub(crate) fn certainly_equal(a: &Value, b: &Value) -> bool {
    compare(a, b) == Some(true)
}

/// Compares two values, ignoring marks. `None` if the result depends on unknown values.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<bool> {
    match (a.kind(), b.kind()) {
        (Kind::Null, Kind::Null) => return Some(true),
        (Kind::Null, _) => return if b.is_definitely_not_null() { Some(false) } else { None },
        (_, Kind::Null) => return if a.is_definitely_not_null() { Some(false) } else { None },
        (Kind::Unknown(_), _) | (_, Kind::Unknown(_)) => return compare_unknown(a, b),
        _ => {}
    }
    match (a.kind(), b.kind()) {
        (Kind::Bool(a), Kind::Bool(b)) => Some(a == b),
        (Kind::Number(a), Kind::Number(b)) => Some(a == b),
        (Kind::String(a), Kind::String(b)) => Some(a == b),
        (Kind::List(_), Kind::List(_))
        | (Kind::Map(_), Kind::Map(_))
        | (Kind::Set(_), Kind::Set(_))
        | (Kind::Tuple(_), Kind::Tuple(_))
        | (Kind::Object(_), Kind::Object(_))
            if types_differ(a, b) =>
        {
            Some(false)
        }
        (Kind::List(x), Kind::List(y)) | (Kind::Tuple(x), Kind::Tuple(y)) => {
            compare_sequences(x, y)
        }
        (Kind::Map(x), Kind::Map(y)) | (Kind::Object(x), Kind::Object(y)) => {
            if x.len() != y.len() || !x.keys().eq(y.keys()) {
                return Some(false);
            }
            all_equal(x.values().zip(y.values()))
        }
        (Kind::Set(x), Kind::Set(y)) => compare_sets(a, x, b, y),
        _ => Some(false),
    }
}

/// Compares from left to right: the first unknown or unequal pair decides.
fn compare_sequences(a: &[Value], b: &[Value]) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    for (a, b) in a.iter().zip(b) {
        match compare(a, b) {
            Some(true) => {}
            decided => return decided,
        }
    }
    Some(true)
}

/// Compares in any order: one unequal pair decides, even after unknown ones.
fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Option<bool> {
    let mut result = Some(true);
    for (a, b) in pairs {
        match compare(a, b) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => result = None,
        }
    }
    result
}

fn compare_sets(a: &Value, x: &[Value], b: &Value, y: &[Value]) -> Option<bool> {
    if !a.is_wholly_known() || !b.is_wholly_known() {
        return None;
    }
    if x.len() != y.len() {
        return Some(false);
    }
    // Equal sets have the same order, apart from elements with the same hash text.
    if x.iter().zip(y).all(|(a, b)| certainly_equal(a, b)) {
        return Some(true);
    }
    Some(x.iter().all(|a| y.iter().any(|b| certainly_equal(a, b))))
}

/// Compares two values that are not null, of which at least one is unknown.
fn compare_unknown(a: &Value, b: &Value) -> Option<bool> {
    if types_differ(a, b) && (a.is_definitely_not_null() || b.is_definitely_not_null()) {
        return Some(false);
    }
    let (ra, rb) = (a.range(), b.range());
    let excluded = ra.is_not_null() && rb.is_not_null() && a.ty() == b.ty() && {
        let both = ra.and(&rb);
        both.is_contradictory() || !prefixes_agree(a, ra.prefix(), b, rb.prefix())
    };
    if excluded { Some(false) } else { None }
}

/// Returns true if one text may start with both prefixes. For a known value, the prefix is its whole text.
fn prefixes_agree(a: &Value, pa: &str, b: &Value, pb: &str) -> bool {
    match (a.is_known(), b.is_known()) {
        (true, false) => pa.starts_with(pb),
        (false, true) => pb.starts_with(pa),
        _ => pa.starts_with(pb) || pb.starts_with(pa),
    }
}

/// Returns true if the types differ, and will still differ when all parts are known. A null without a type keeps
/// the open type.
fn types_differ(a: &Value, b: &Value) -> bool {
    let (of_a, of_b) = (a.ty(), b.ty());
    if of_a == of_b {
        return false;
    }
    let is_settled = |value: &Value, ty: &Type| !ty.has_dynamic() || !has_untyped_part(value);
    is_settled(a, &of_a) && is_settled(b, &of_b) || types_exclude(&of_a, &of_b)
}

/// Returns true if a part is unknown and may be of any type.
fn has_untyped_part(value: &Value) -> bool {
    let mut found = false;
    value.walk(&mut |_, part| {
        found |= !part.is_known() && part.ty().has_dynamic();
        !found
    });
    found
}

/// Returns true if no value can have both types, whatever their open parts turn out to be.
pub(crate) fn types_exclude(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dynamic, _) | (_, Type::Dynamic) => false,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => types_exclude(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| types_exclude(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            a.len() != b.len()
                || a.iter().zip(b.iter()).any(|((na, a), (nb, b))| na != nb || types_exclude(a, b))
        }
        _ => a != b,
    }
}
