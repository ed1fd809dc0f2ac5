//! The rules by which marks pass through each operator, expression form and function: data for two evaluators.
//!
//! The concrete evaluator (this crate and `hir`) applies a rule to values; the abstract one (`hir`) applies the
//! same rule to statically known facts. Both call [`rule`]. If a rule is stricter than OpenTofu, its comment
//! states that: only `ephemeralasnull` removes the ephemeral mark.

use crate::{Mark, MarkKind, Marks, Value};

/// The destination of the operands' marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkRule {
    /// All marks of all operands, at every depth, go to the result itself. Its parts have none.
    UnionDeep,
    /// The outermost marks of all operands go to the result itself. Parts that are carried over keep theirs; the
    /// marks of containers that are dissolved go to the result.
    UnionTop,
    /// The outermost marks of the first operand go to the result. The rest of the operands does not affect the
    /// result.
    FirstTop,
    /// Parts keep their marks; the result itself gets none.
    Elementwise,
    /// Of the marks of all operands, at every depth, only [`MarkKind::Ephemeral`] goes to the result itself.
    /// OpenTofu drops both kinds here, and configurations rely on that for sensitive values.
    EphemeralDeep,
    /// The operand keeps its marks and gets one more.
    Adds(MarkKind),
    /// The operand keeps its marks except the outermost ones of one kind.
    Removes(MarkKind),
    /// The operand keeps its marks except those of one kind, at every depth; parts that had such a mark become
    /// null.
    NullsOut(MarkKind),
    /// The result has no marks.
    Nothing,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident => $rule:expr,)*) => {
        /// An operator, expression form or group of functions with its own mark rule.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum RuleId {
            $($(#[$doc])* $name,)*
        }

        impl RuleId {
            /// Every rule.
            pub const ALL: &[RuleId] = &[$(RuleId::$name,)*];

            #[inline]
            const fn entry(self) -> MarkRule {
                match self {
                    $(RuleId::$name => $rule,)*
                }
            }
        }
    };
}

rules! {
    /// `c ? a : b`: the marks of all three, whichever result is chosen.
    Conditional => MarkRule::UnionTop,
    /// `"a${b}"`: the operands are the parts. A template that is a single interpolation is that value, without a
    /// rule.
    Template => MarkRule::UnionTop,
    /// `[a, b]`.
    Tuple => MarkRule::Elementwise,
    /// `{k = a}`: the operands are the values.
    ObjectValue => MarkRule::Elementwise,
    /// `{(k) = a}`: the operands are the keys. This also holds for an unknown key, for which OpenTofu loses the
    /// marks.
    ObjectKey => MarkRule::UnionTop,
    /// `for … in c`: the collection's outermost marks.
    ForCollection => MarkRule::UnionTop,
    /// `for … if p`: the operands are the conditions, which determine the elements of the result.
    ForCondition => MarkRule::UnionTop,
    /// `{for … : k => v}`: the operands are the keys.
    ForKey => MarkRule::UnionTop,
    /// `c[*].a`: the source's outermost marks.
    Splat => MarkRule::UnionTop,
    /// `c[k]` of a list, tuple or map: the operands are collection, key and element.
    IndexCollection => MarkRule::UnionTop,
    /// `o[k]` of an object: the operands are object and attribute.
    IndexObject => MarkRule::UnionTop,
    /// `o[k]` of an object: the operand is the key. OpenTofu drops its marks, which reveals an ephemeral key.
    IndexObjectKey => MarkRule::EphemeralDeep,
    /// `o.a`: the operands are object and attribute.
    Attribute => MarkRule::UnionTop,
    /// `a == b` and `a != b`.
    Equality => MarkRule::UnionDeep,
    /// `a == null`: the result only reveals whether `a` itself is null.
    EqualityNull => MarkRule::UnionTop,
    /// Arithmetic, ordering and logic.
    Operator => MarkRule::UnionTop,
    /// A set cannot hold marked elements, so their marks go to the set.
    SetConstruction => MarkRule::UnionDeep,
    /// `try(a, b)`: the operands are all values that the failed expressions read. The chosen value keeps its own
    /// marks and gives none to the whole, so that `for_each = try(var.x, {})` stays possible. OpenTofu ignores the
    /// failed expressions.
    Try => MarkRule::EphemeralDeep,
    /// `can(a)`: the operands are all values that the expression read. OpenTofu returns an unmarked bool.
    Can => MarkRule::EphemeralDeep,
    /// `f(a, b...)` if `b` has no elements that could have its marks. OpenTofu loses the marks of `b`, although
    /// the result reveals that `b` is empty.
    EmptyExpansion => MarkRule::EphemeralDeep,
    /// `dynamic "b" { for_each = c }`: the collection's outermost marks go to every block and to all values in it.
    DynamicBlock => MarkRule::UnionTop,
    /// A function without another rule, and every function of a provider.
    Function => MarkRule::UnionDeep,
    /// Functions that carry elements over: `concat`, `element`, `flatten`, `lookup`, `merge`, `reverse`, `slice`,
    /// `values`, …
    CarryingFunction => MarkRule::UnionTop,
    /// `tostring`, `tolist`, … and every implicit conversion.
    Conversion => MarkRule::UnionTop,
    /// The default of an optional attribute that replaces a null: the operand is the null. OpenTofu loses its
    /// marks.
    OptionalDefault => MarkRule::EphemeralDeep,
    /// `length`: the number of elements does not reveal the elements.
    Length => MarkRule::FirstTop,
    /// `keys`: the names do not reveal the elements.
    Keys => MarkRule::FirstTop,
    /// `zipmap`: the marks of the keys at every depth. The values keep their own marks.
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

/// The evaluator that applies a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// The evaluator of values.
    Concrete,
    /// The evaluator of facts about values that are not available.
    Abstract,
}

/// Returns the rule of an operation. Under the feature `mutation`, a rule that a test has disabled is
/// [`MarkRule::Nothing`]. If the rule is `Nothing` already, the disabled rule is [`MarkRule::UnionDeep`], from
/// which it is an exception.
#[must_use]
#[inline]
pub fn rule(id: RuleId, domain: Domain) -> MarkRule {
    match (is_disabled(id, domain), id.entry()) {
        (false, rule) => rule,
        (true, MarkRule::Nothing) => MarkRule::UnionDeep,
        (true, _) => MarkRule::Nothing,
    }
}

/// Returns the marks that an operation on values puts on its result itself.
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

    /// A guard that disables one rule of one domain on this thread until it is dropped.
    #[must_use]
    pub struct Disabled(());

    /// Disables one rule of one domain on this thread, so that a test can verify that its properties fail.
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
