//! The conditions under which a value is ephemeral: never, always, or under a condition that a message can state.
//!
//! [`TriMarks`](super::TriMarks) describe all runs at once: there, *maybe* also covers values that are marked only
//! while something is unknown. A [`When`] describes only the runs in which every value that is read is known and
//! the expression succeeds. So *always* is an error, a condition is a warning that states it, and *never* is not
//! reported.
//!
//! - **Exact:** a [`When`] other than [`Condition::Depends`] is precise: the value is ephemeral exactly when it
//!   holds.
//! - **Structured:** a condition is a small formula in disjunctive normal form over [`Atom`]s, each an expression
//!   of the source and a test of it. Its text is built when it is shown. It contains no value of an input.
//! - **Bounded:** a formula of more than [`MAX_ATOMS`] atoms becomes [`Condition::Depends`], which only names the
//!   references that it reads.
//! - **Compact:** the ephemerality of a value that is never ephemeral takes no memory of its own.
//!
//! ```text
//! concat(var.l, [var.secret])              inside: Always
//! [for x in var.l : var.secret]            inside: ¬ var.l is empty
//! var.f ? { s = var.secret } : { s = "" }  inside: var.f is true;   .s: the same
//! [for x in var.l : x == "a" ? …]          inside: Depends(var.l)      (x has no meaning outside)
//! ```

use std::sync::Arc;

use values::Str;

use crate::{
    analysis::value::marks::Tri,
    expr::{ExprId, SymbolId},
    item::ConstValue,
    item_name::ItemKey,
};

/// The largest number of atoms in a formula. A reader cannot take in more.
const MAX_ATOMS: usize = 4;

/// The largest number of references that a message about a dependence names.
const MAX_NAMED: usize = 4;

/// The runs, among those in which everything is known, in which a value is ephemeral.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// In no run.
    #[default]
    Never,
    /// In every run that evaluates the value.
    Always,
    /// In the runs that the condition selects.
    If(Arc<Condition>),
}

/// The condition that decides whether a value is ephemeral.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Exactly the runs in which all atoms of at least one of these clauses hold.
    Exactly(Vec<Vec<Atom>>),
    /// Some runs. These references influence which.
    Depends(Vec<Str>),
}

/// A test of an expression, and the result that it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// The expression that is tested.
    pub subject: Arc<Subject>,
    /// The test.
    pub test: Test,
    /// True if the test must hold, false if it must not.
    pub holds: bool,
}

/// An expression that a condition mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The item of the expression.
    pub item: ItemKey,
    /// The expression in the item.
    pub expr: ExprId,
    /// The text of the expression in the source.
    pub text: Str,
    /// The references that the expression reads.
    pub reads: Vec<Str>,
    /// The names in the expression that an enclosing construct binds.
    pub names: Vec<SymbolId>,
    /// True if the text reads as a statement, as `var.n > 2` does.
    pub is_statement: bool,
}

/// A test of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The subject is true.
    True,
    /// The subject is null.
    Null,
    /// The subject has no elements.
    Empty,
    /// The subject equals a constant of the source.
    Equals(ConstValue),
    /// The subject, as an index, selects this position.
    Position(usize),
    /// The subject, as an index into a sequence that wraps around, selects a position.
    Wraps {
        /// The length of the sequence.
        length: usize,
        /// The position.
        position: usize,
    },
    /// The subject, as a key, is this name.
    Key(Str),
    /// The subject has an element with this key.
    HasKey(Str),
    /// The subject has more elements than this.
    HasMoreThan(usize),
}

impl When {
    /// A condition that is not known, except that these references influence it.
    pub fn depends(on: impl IntoIterator<Item = Str>) -> When {
        let mut reads: Vec<Str> = Vec::new();
        for read in on {
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        When::If(Arc::new(Condition::Depends(reads)))
    }

    /// The condition that follows from a mark if nothing else is known.
    pub fn of_mark(mark: Tri) -> When {
        match mark {
            Tri::No => When::Never,
            Tri::Maybe => When::depends([]),
            Tri::Yes => When::Always,
        }
    }

    /// The condition that a test of the subject holds.
    pub fn atom(subject: Arc<Subject>, test: Test) -> When {
        let atom = Atom { subject, test, holds: true };
        When::If(Arc::new(Condition::Exactly(vec![vec![atom]])))
    }

    /// Returns true if not even a reference that influences the condition is known.
    pub fn is_vague(&self) -> bool {
        matches!(self, When::If(condition) if **condition == Condition::Depends(Vec::new()))
    }

    /// Returns true if the condition holds in no run.
    pub fn is_never(&self) -> bool {
        *self == When::Never
    }

    /// Returns the condition with its formula forgotten; only the references that influence it stay.
    pub fn weakened(&self) -> When {
        self.weakened_by([])
    }

    /// Returns the condition with its formula forgotten and with further references that influence it.
    pub fn weakened_by(&self, reads: impl IntoIterator<Item = Str>) -> When {
        match self {
            When::Never => When::Never,
            _ => When::depends(self.reads().into_iter().chain(reads)),
        }
    }

    /// The references that influence the condition.
    pub fn reads(&self) -> Vec<Str> {
        match self {
            When::Never | When::Always => Vec::new(),
            When::If(condition) => condition.reads(),
        }
    }

    /// The condition that either holds.
    #[must_use]
    pub fn or(&self, other: &When) -> When {
        match (self, other) {
            (When::Always, _) | (_, When::Always) => When::Always,
            (When::Never, when) | (when, When::Never) => when.clone(),
            (When::If(a), When::If(b)) if a == b => self.clone(),
            (When::If(a), When::If(b)) => match (&**a, &**b) {
                (Condition::Exactly(a), Condition::Exactly(b)) => {
                    exactly(a.iter().chain(b).cloned().collect())
                }
                (a, b) => When::depends(a.reads().into_iter().chain(b.reads())),
            },
        }
    }

    /// The condition that both hold.
    #[must_use]
    pub fn and(&self, other: &When) -> When {
        match (self, other) {
            (When::Never, _) | (_, When::Never) => When::Never,
            (When::Always, when) | (when, When::Always) => when.clone(),
            (When::If(a), When::If(b)) if a == b => self.clone(),
            (When::If(a), When::If(b)) => match (&**a, &**b) {
                (Condition::Exactly(a), Condition::Exactly(b)) => {
                    let joined = |a: &Vec<Atom>| {
                        let a = a.clone();
                        b.iter().map(move |b| a.iter().chain(b).cloned().collect())
                    };
                    exactly(a.iter().flat_map(joined).collect())
                }
                (a, b) => When::depends(a.reads().into_iter().chain(b.reads())),
            },
        }
    }

    /// The condition that this one does not hold.
    #[must_use]
    pub fn not(&self) -> When {
        match self {
            When::Never => When::Always,
            When::Always => When::Never,
            When::If(condition) => match &**condition {
                Condition::Depends(_) => self.clone(),
                Condition::Exactly(clauses) => {
                    let negated = clauses.iter().map(|clause| {
                        let atoms = clause.iter().map(|it| vec![it.negated()]);
                        exactly(atoms.collect())
                    });
                    negated.fold(When::Always, |all, it| all.and(&it))
                }
            },
        }
    }

    /// The condition that equals `then` where this one holds, and `otherwise` where it does not.
    #[must_use]
    pub fn choose(&self, then: &When, otherwise: &When) -> When {
        if then == otherwise {
            return then.clone();
        }
        self.and(then).or(&self.not().and(otherwise))
    }

    /// Returns the condition as it is outside of the construct that binds `names`. A formula that mentions one of
    /// them has no meaning there, so it becomes a dependence on `reads`, the references of the collection that the
    /// names are bound to.
    pub fn outside_of(&self, names: &[SymbolId], reads: &[Str]) -> When {
        let When::If(condition) = self else { return self.clone() };
        let speaks_of_them = match &**condition {
            Condition::Depends(_) => false,
            Condition::Exactly(clauses) => {
                let mut all = clauses.iter().flatten().flat_map(|it| &it.subject.names);
                all.any(|name| names.contains(name))
            }
        };
        if speaks_of_them { self.weakened_by(reads.iter().cloned()) } else { self.clone() }
    }
}

impl Condition {
    /// The references that influence the condition, with repetitions.
    pub fn reads(&self) -> Vec<Str> {
        match self {
            Condition::Depends(reads) => reads.clone(),
            Condition::Exactly(clauses) => {
                clauses.iter().flatten().flat_map(|it| it.subject.reads.clone()).collect()
            }
        }
    }

    /// The expressions that decide, without duplicates.
    pub fn subjects(&self) -> Vec<&Subject> {
        let Condition::Exactly(clauses) = self else { return Vec::new() };
        let mut subjects: Vec<&Subject> = Vec::new();
        for subject in clauses.iter().flatten().map(|it| &*it.subject) {
            let id = (subject.item, subject.expr, &subject.text);
            if subjects.iter().all(|it| (it.item, it.expr, &it.text) != id) {
                subjects.push(subject);
            }
        }
        subjects
    }

    /// The condition as a phrase, such as `unless var.list is empty`. `None` if it is not exact.
    pub fn phrase(&self) -> Option<String> {
        match self {
            Condition::Exactly(clauses) => Some(of_clauses(clauses)),
            Condition::Depends(_) => None,
        }
    }

    /// A sentence about a value that is ephemeral under this condition.
    pub fn sentence(&self) -> String {
        match self {
            Condition::Exactly(clauses) => {
                format!("The value is ephemeral {}.", of_clauses(clauses))
            }
            Condition::Depends(reads) => {
                format!("The value may be ephemeral, depending on {}.", of_reads(reads))
            }
        }
    }
}

impl Atom {
    fn negated(&self) -> Atom {
        Atom { holds: !self.holds, ..self.clone() }
    }

    /// Returns true if both test the same expression in the same way, whatever result they require.
    fn is_like(&self, other: &Atom) -> bool {
        self.has_subject_of(other) && self.test == other.test
    }

    /// Returns true if both test the same expression. Names count by the construct that binds them: `x` of one loop
    /// is not `x` of another.
    fn has_subject_of(&self, other: &Atom) -> bool {
        self.subject.text == other.subject.text && self.subject.names == other.subject.names
    }

    fn is_same(&self, other: &Atom) -> bool {
        self.is_like(other) && self.holds == other.holds
    }

    /// Returns true if the two atoms can never hold together.
    fn excludes(&self, other: &Atom) -> bool {
        if self.is_like(other) {
            return self.holds != other.holds;
        }
        let is_of_one_value =
            |test: &Test| matches!(test, Test::Position(_) | Test::Key(_) | Test::Equals(_));
        self.holds
            && other.holds
            && self.has_subject_of(other)
            && is_of_one_value(&self.test)
            && std::mem::discriminant(&self.test) == std::mem::discriminant(&other.test)
    }

    /// The atom as text, such as `var.list is not empty`.
    fn text(&self) -> String {
        let (subject, holds) = (&self.subject.text, self.holds);
        let is = if holds { "is" } else { "is not" };
        match &self.test {
            Test::True if self.subject.is_statement && holds => subject.to_string(),
            Test::True => format!("{subject} is {holds}"),
            Test::Null => format!("{subject} {is} null"),
            Test::Empty => format!("{subject} {is} empty"),
            Test::Equals(value) => {
                let text = crate::native_text::expression(&value.0);
                format!("{subject} {is} {}", text.unwrap_or_else(|_| "that".to_owned()))
            }
            Test::Position(position) => format!("{subject} {is} {position}"),
            Test::Wraps { length, position } => {
                format!("{subject} modulo {length} {is} {position}")
            }
            Test::Key(key) => format!("{subject} {is} {}", addr::quote(key)),
            Test::HasKey(key) => {
                let has = if holds { "has" } else { "does not have" };
                format!("{subject} {has} the key {}", addr::quote(key))
            }
            Test::HasMoreThan(count) => {
                let has = if holds { "has" } else { "does not have" };
                let elements = if *count == 0 { "element" } else { "elements" };
                format!("{subject} {has} at least {} {elements}", count + 1)
            }
        }
    }
}

/// The clauses as text: `unless var.list is empty`, or `when var.flag is true and var.n is 0, or when var.n is 1`.
fn of_clauses(clauses: &[Vec<Atom>]) -> String {
    if let [clause] = clauses
        && clause.iter().all(|it| !it.holds && (it.test != Test::True || it.subject.is_statement))
    {
        let texts: Vec<String> = clause.iter().map(|it| it.negated().text()).collect();
        return format!("unless {}", texts.join(" or "));
    }
    let clause = |clause: &Vec<Atom>| {
        let texts: Vec<String> = clause.iter().map(Atom::text).collect();
        format!("when {}", texts.join(" and "))
    };
    clauses.iter().map(clause).collect::<Vec<_>>().join(", or ")
}

fn of_reads(reads: &[Str]) -> String {
    let named: Vec<&str> = reads.iter().take(MAX_NAMED).map(|it| &**it).collect();
    match named.as_slice() {
        [] => "values that are not known here".to_owned(),
        [one] => (*one).to_owned(),
        named if reads.len() > named.len() => format!("{} and more", named.join(", ")),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The condition that one of the clauses holds, in its simplest form.
fn exactly(clauses: Vec<Vec<Atom>>) -> When {
    let all: Vec<Str> =
        clauses.iter().flatten().flat_map(|it| it.subject.reads.iter().cloned()).collect();
    let mut kept: Vec<Vec<Atom>> = Vec::new();
    for clause in clauses {
        let Some(clause) = simplified(clause) else { continue };
        if clause.is_empty() {
            return When::Always;
        }
        kept.push(clause);
    }
    while let Some(MergedClauses { first, second, merged }) = mergeable(&kept) {
        kept.remove(second);
        if merged.is_empty() {
            return When::Always;
        }
        kept[first] = merged;
    }
    let implied = |at: usize, clause: &Vec<Atom>| {
        kept.iter().enumerate().any(|(other, it)| {
            let is_weaker = it.iter().all(|it| clause.iter().any(|atom| atom.is_same(it)));
            is_weaker && other != at && (it.len() < clause.len() || other < at)
        })
    };
    let needed: Vec<Vec<Atom>> = kept
        .iter()
        .enumerate()
        .filter(|(at, clause)| !implied(*at, clause))
        .map(|(_, clause)| clause.clone())
        .collect();
    match needed.iter().map(Vec::len).sum::<usize>() {
        0 => When::Never,
        1..=MAX_ATOMS => When::If(Arc::new(Condition::Exactly(needed))),
        _ => When::depends(all),
    }
}

/// Removes redundant atoms from a clause. `None` if the clause can never hold.
fn simplified(clause: Vec<Atom>) -> Option<Vec<Atom>> {
    let mut kept: Vec<Atom> = Vec::new();
    for atom in clause {
        if kept.iter().any(|it| it.excludes(&atom)) {
            return None;
        }
        if !kept.iter().any(|it| it.is_same(&atom)) {
            kept.push(atom);
        }
    }
    // An atom that requires one value makes the atoms that exclude other values redundant.
    let is_implied = |atom: &Atom| kept.iter().any(|it| it.holds && it.excludes(&atom.negated()));
    let needed = kept.iter().filter(|atom| atom.holds || !is_implied(atom));
    Some(needed.cloned().collect())
}

/// Two clauses that one clause can replace.
struct MergedClauses {
    /// The position of the first clause.
    first: usize,
    /// The position of the second clause.
    second: usize,
    merged: Vec<Atom>,
}

/// Finds two clauses that differ only in the result that one atom requires.
fn mergeable(clauses: &[Vec<Atom>]) -> Option<MergedClauses> {
    for (first, a) in clauses.iter().enumerate() {
        for (second, b) in clauses.iter().enumerate().skip(first + 1) {
            let rest: Vec<&Atom> =
                a.iter().filter(|it| !b.iter().any(|atom| atom.is_same(it))).collect();
            let is_of_one_size = a.len() == b.len();
            if let [only] = rest.as_slice()
                && is_of_one_size
                && b.iter().any(|atom| atom.is_same(&only.negated()))
            {
                let merged = a.iter().filter(|it| !it.is_same(only)).cloned().collect();
                return Some(MergedClauses { first, second, merged });
            }
        }
    }
    None
}

/// When a value itself is ephemeral, and when something inside of it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ephemerality(Option<Arc<(When, When)>>);

impl Ephemerality {
    /// Neither the value nor anything inside of it is ephemeral in any run.
    pub const NEVER: Ephemerality = Ephemerality(None);

    /// Combines the conditions for the value itself and for its inside.
    pub fn new(here: When, inside: When) -> Ephemerality {
        match (&here, &inside) {
            (When::Never, When::Never) => Ephemerality::NEVER,
            _ => Ephemerality(Some(Arc::new((here, inside)))),
        }
    }

    /// When the value itself is ephemeral.
    pub fn here(&self) -> &When {
        self.0.as_ref().map_or(&When::Never, |it| &it.0)
    }

    /// When something inside of the value is ephemeral.
    pub fn inside(&self) -> &When {
        self.0.as_ref().map_or(&When::Never, |it| &it.1)
    }

    /// When the value or something inside of it is ephemeral.
    pub fn somewhere(&self) -> When {
        self.0.as_ref().map_or(When::Never, |it| it.0.or(&it.1))
    }

    /// Returns true if one of the conditions is vague, see [`When::is_vague`].
    pub fn is_vague(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.0.is_vague() || it.1.is_vague())
    }

    /// Returns true if neither the value nor anything inside of it is ephemeral in any run.
    pub fn is_never(&self) -> bool {
        self.0.is_none()
    }

    /// Returns this with a further condition under which the value itself is ephemeral.
    #[must_use]
    pub fn or_here(&self, when: &When) -> Ephemerality {
        match when {
            When::Never => self.clone(),
            _ => Ephemerality::new(self.here().or(when), self.inside().clone()),
        }
    }

    /// Returns this with the condition for the inside replaced.
    #[must_use]
    pub fn with_inside(&self, inside: When) -> Ephemerality {
        Ephemerality::new(self.here().clone(), inside)
    }

    /// Returns this for a value that is not ephemeral itself: only the condition for the inside stays.
    #[must_use]
    pub fn only_inside(&self) -> Ephemerality {
        Ephemerality::new(When::Never, self.inside().clone())
    }

    /// Returns `then` where the condition `first` holds, and `otherwise` where it does not.
    #[must_use]
    pub fn choose(first: &When, then: &Ephemerality, otherwise: &Ephemerality) -> Ephemerality {
        if then == otherwise {
            return then.clone();
        }
        Ephemerality::new(
            first.choose(then.here(), otherwise.here()),
            first.choose(then.inside(), otherwise.inside()),
        )
    }

    /// Returns this with both conditions changed.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(&When) -> When) -> Ephemerality {
        match &self.0 {
            None => Ephemerality::NEVER,
            Some(whens) => Ephemerality::new(change(&whens.0), change(&whens.1)),
        }
    }

    /// Returns this with both formulas forgotten; only the references that influence them stay.
    #[must_use]
    pub fn weakened(&self) -> Ephemerality {
        self.map(When::weakened)
    }
}
