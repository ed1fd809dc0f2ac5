//! How marks pass through each operator, expression form and function: data, read by two evaluators.
//!
//! The concrete evaluator (this crate and `hir`) applies a rule to values, the abstract one (`hir`) applies the same rule
//! to what is known statically. Both ask [`rule`]. Where a rule is stricter than the reference products, its comment
//! says so: nothing but `ephemeralasnull` removes ephemerality.

use crate::{Mark, MarkKind, Marks, Value};

/// Where the marks of operands go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkRule {
    /// All marks of all operands, at every depth, go on the result itself. Its parts have none.
    UnionDeep,
    /// The own marks of all operands go on the result itself. Parts that are carried over keep theirs; marks of
    /// containers that dissolve on the way go on the result.
    UnionTop,
    /// The own marks of the first operand go on the result. What else the operands hold does not show in it.
    FirstTop,
    /// Parts keep their marks, the result itself gets none.
    Elementwise,
    /// Of the marks of all operands, at every depth, only [`MarkKind::Ephemeral`] goes on the result itself: where the
    /// reference products let both kinds go and configurations rely on it for sensitive values.
    EphemeralDeep,
    /// The operand keeps its marks and gets one more.
    Adds(MarkKind),
    /// The operand keeps its marks but those of one kind at its top.
    Removes(MarkKind),
    /// The operand keeps its marks but those of one kind, at every depth; parts that had one become null.
    NullsOut(MarkKind),
    /// The result has no marks.
    Nothing,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident => $rule:expr,)*) => {
        /// An operator, expression form or group of functions that has a mark rule of its own.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum RuleId {
            $($(#[$doc])* $name,)*
        }

        impl RuleId {
            /// Every rule.
            pub const ALL: &[RuleId] = &[$(RuleId::$name,)*];

            const fn entry(self) -> MarkRule {
                match self {
                    $(RuleId::$name => $rule,)*
                }
            }
        }
    };
}

rules! {
    /// `c ? a : b`: the marks of all three, whichever arm is chosen.
    Conditional => MarkRule::UnionTop,
    /// `"a${b}"`: operands are the parts. A template of one interpolation is that value, with no rule of its own.
    Template => MarkRule::UnionTop,
    /// `[a, b]`.
    Tuple => MarkRule::Elementwise,
    /// `{k = a}`: the operands are the values.
    ObjectValue => MarkRule::Elementwise,
    /// `{(k) = a}`: the operands are the keys. Also if the key is unknown, where the reference loses its marks.
    ObjectKey => MarkRule::UnionTop,
    /// `for … in c`: the collection's own marks.
    ForCollection => MarkRule::UnionTop,
    /// `for … if p`: what decides whether an element is there.
    ForCondition => MarkRule::UnionTop,
    /// `{for … : k => v}`: the keys.
    ForKey => MarkRule::UnionTop,
    /// `c[*].a`: the source's own marks.
    Splat => MarkRule::UnionTop,
    /// `c[k]` of a list, tuple or map: operands are collection, key and element.
    IndexCollection => MarkRule::UnionTop,
    /// `o[k]` of an object: operands are object and attribute.
    IndexObject => MarkRule::UnionTop,
    /// `o[k]` of an object: the operand is the key. The reference drops its marks, which tells an ephemeral key.
    IndexObjectKey => MarkRule::EphemeralDeep,
    /// `o.a`: operands are object and attribute.
    Attribute => MarkRule::UnionTop,
    /// `a == b` and `a != b`.
    Equality => MarkRule::UnionDeep,
    /// `a == null`: only whether `a` itself is null shows.
    EqualityNull => MarkRule::UnionTop,
    /// Arithmetic, ordering and logic.
    Operator => MarkRule::UnionTop,
    /// A set cannot hold marked elements: their marks go on the set.
    SetConstruction => MarkRule::UnionDeep,
    /// `try(a, b)`: operands are all that was read by the expressions that failed. The one that is chosen keeps its own
    /// marks and gives none to the whole, so that `for_each = try(var.x, {})` stays possible. The reference forgets those
    /// that failed.
    Try => MarkRule::EphemeralDeep,
    /// `can(a)`: operands are all that the expression read. The reference gives a plain bool.
    Can => MarkRule::EphemeralDeep,
    /// `f(a, b...)` where `b` has no elements that could have its marks. The reference forgets them, and the result tells
    /// that `b` is empty.
    EmptyExpansion => MarkRule::EphemeralDeep,
    /// `dynamic "b" { for_each = c }`: the collection's own marks go on every block it makes and on what is set inside.
    DynamicBlock => MarkRule::UnionTop,
    /// A function that says nothing else, and every function of a provider.
    Function => MarkRule::UnionDeep,
    /// Functions that carry elements over: `concat`, `element`, `flatten`, `lookup`, `merge`, `reverse`, `slice`,
    /// `values`, …
    CarryingFunction => MarkRule::UnionTop,
    /// `tostring`, `tolist`, … and every implied conversion.
    Conversion => MarkRule::UnionTop,
    /// The default of an optional attribute where a null stands: the operand is the null. The reference forgets it.
    OptionalDefault => MarkRule::EphemeralDeep,
    /// `length`: the number of elements is no secret of the elements.
    Length => MarkRule::FirstTop,
    /// `keys`: the names are no secret of the elements.
    Keys => MarkRule::FirstTop,
    /// `zipmap`: the keys, deep; the values' own.
    ZipmapKeys => MarkRule::UnionDeep,
    /// `sensitive`.
    Sensitive => MarkRule::Adds(MarkKind::Sensitive),
    /// `nonsensitive`.
    Nonsensitive => MarkRule::Removes(MarkKind::Sensitive),
    /// `issensitive`.
    IsSensitive => MarkRule::Nothing,
    /// `ephemeralasnull`.
    EphemeralAsNull => MarkRule::NullsOut(MarkKind::Ephemeral),
}

/// Which of the two evaluators asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Values.
    Concrete,
    /// What is known of values without having them.
    Abstract,
}

/// The rule of an operation. Under the feature `mutation`, a rule that a test has disabled is [`MarkRule::Nothing`]; one
/// that is just that is what it was an exception from, [`MarkRule::UnionDeep`].
#[must_use]
pub fn rule(id: RuleId, domain: Domain) -> MarkRule {
    match (is_disabled(id, domain), id.entry()) {
        (false, rule) => rule,
        (true, MarkRule::Nothing) => MarkRule::UnionDeep,
        (true, _) => MarkRule::Nothing,
    }
}

/// The marks that an operation on values puts on its result itself.
pub fn result_marks<'a>(id: RuleId, operands: impl IntoIterator<Item = &'a Value>) -> Marks {
    let mut marks = Marks::NONE;
    let mut operands = operands.into_iter();
    match rule(id, Domain::Concrete) {
        MarkRule::UnionDeep => operands.for_each(|operand| marks.add(&operand.deep_marks())),
        MarkRule::UnionTop => operands.for_each(|operand| marks.add(operand.marks())),
        MarkRule::EphemeralDeep => {
            operands.for_each(|operand| marks.add(&operand.deep_marks().only(MarkKind::Ephemeral)))
        }
        MarkRule::FirstTop => {
            marks = operands.next().map_or(Marks::NONE, |first| first.marks().clone())
        }
        MarkRule::Adds(kind) => {
            marks = operands.next().map_or(Marks::NONE, |first| first.marks().clone());
            marks.add(&plain_mark(kind));
        }
        MarkRule::Removes(kind) | MarkRule::NullsOut(kind) => {
            marks =
                operands.next().map_or(Marks::NONE, |first| first.marks().clone().without(kind));
        }
        MarkRule::Elementwise | MarkRule::Nothing => {}
    }
    marks
}

fn plain_mark(kind: MarkKind) -> Marks {
    match kind {
        MarkKind::Sensitive => Mark::Sensitive.into(),
        MarkKind::Ephemeral => Mark::Ephemeral.into(),
        MarkKind::Deprecated => Marks::NONE,
    }
}

#[cfg(not(feature = "mutation"))]
const fn is_disabled(_id: RuleId, _domain: Domain) -> bool {
    false
}

#[cfg(feature = "mutation")]
use mutation::is_disabled;
#[cfg(feature = "mutation")]
pub use mutation::{Disabled, disable};

#[cfg(feature = "mutation")]
mod mutation {
    use std::cell::Cell;

    use super::{Domain, RuleId};

    thread_local! {
        static DISABLED: Cell<Option<(RuleId, Domain)>> = const { Cell::new(None) };
    }

    /// Keeps one rule of one domain out of force on this thread until it is dropped.
    #[must_use]
    pub struct Disabled(());

    /// Puts one rule of one domain out of force on this thread, so that a test can see its properties fail.
    pub fn disable(id: RuleId, domain: Domain) -> Disabled {
        DISABLED.set(Some((id, domain)));
        Disabled(())
    }

    impl Drop for Disabled {
        fn drop(&mut self) {
            DISABLED.set(None);
        }
    }

    pub(super) fn is_disabled(id: RuleId, domain: Domain) -> bool {
        DISABLED.get() == Some((id, domain))
    }
}
