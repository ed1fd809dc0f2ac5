//! When a value is ephemeral: never, always, or under a condition that can be named.
//!
//! [`TriMarks`](super::TriMarks) speak of every run at once: *maybe* there also stands for what is marked only while
//! something is unknown. Here it is said what holds of the runs in which everything that is read is known and the expression
//! succeeds, so that *always* is an error, a condition is a warning that names it, and *never* is silence.
//!
//! - **Exact:** a [`When`] other than [`Condition::Depends`] is true to its word: ephemeral exactly when it says.
//! - **Structured:** a condition is a small formula in disjunctive normal form over [`Atom`]s: an expression as the source
//!   has it, and a test of it. Its text is made when it is shown. Nothing in it is the value of an input.
//! - **Bounded:** a formula of more than [`MOST_ATOMS`] atoms becomes [`Condition::Depends`], which only names what is read.
//! - **Compact:** what is never ephemeral has no memory of its own.
//!
//! ```text
//! concat(var.l, [var.secret])              inside: Always
//! [for x in var.l : var.secret]            inside: ¬ var.l is empty
//! var.f ? { s = var.secret } : { s = "" }  inside: var.f is true;   .s: the same
//! [for x in var.l : x == "a" ? …]          inside: Depends(var.l)      (x has no meaning outside)
//! ```

use std::sync::Arc;

use values::Str;

use super::Tri;
use crate::{
    expr::{ExprId, SymbolId},
    item::ConstValue,
    names::ItemKey,
};

/// The most atoms of a formula: more than this no reader takes in.
const MOST_ATOMS: usize = 4;
/// The most references that a dependence names.
const MOST_NAMED: usize = 4;

/// When something is ephemeral, in runs in which everything is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// In no run.
    #[default]
    Never,
    /// In every run that evaluates it.
    Always,
    /// In some runs.
    If(Arc<Condition>),
}

/// What decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Exactly when all atoms of one of these clauses hold.
    Exactly(Vec<Vec<Atom>>),
    /// Perhaps. These references have to do with it.
    Depends(Vec<Str>),
}

/// A test of an expression that holds, or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// What is tested.
    pub subject: Arc<Subject>,
    /// How.
    pub test: Test,
    /// Whether it must hold.
    pub holds: bool,
}

/// An expression that a condition speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The item and the place in it.
    pub place: (ItemKey, ExprId),
    /// Its text in the source.
    pub text: Str,
    /// What it reads.
    pub reads: Vec<Str>,
    /// The names in it that are bound outside of it.
    pub names: Vec<SymbolId>,
    /// Whether it reads as a statement: `var.n > 2`.
    pub is_statement: bool,
}

/// What is asked of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// It is true.
    True,
    /// It is null.
    Null,
    /// It has no elements.
    Empty,
    /// It equals a constant of the source.
    Equals(ConstValue),
    /// As an index, it leads to this position.
    Position(usize),
    /// As an index of a sequence of a length, it leads to a position when it wraps around.
    Wraps {
        /// The length.
        length: usize,
        /// The position.
        position: usize,
    },
    /// As a key, it is this name.
    Key(Str),
    /// It has an element under a name.
    HasKey(Str),
    /// It has more elements than this.
    HasMoreThan(usize),
}

impl When {
    /// Perhaps: what decides is only named.
    pub fn depends(on: impl IntoIterator<Item = Str>) -> When {
        let mut reads: Vec<Str> = Vec::new();
        for read in on {
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        When::If(Arc::new(Condition::Depends(reads)))
    }

    /// What a mark says, of which nothing else is known.
    pub fn of_mark(mark: Tri) -> When {
        match mark {
            Tri::No => When::Never,
            Tri::Maybe => When::depends([]),
            Tri::Yes => When::Always,
        }
    }

    /// When one test holds.
    pub fn atom(subject: Arc<Subject>, test: Test) -> When {
        let atom = Atom { subject, test, holds: true };
        When::If(Arc::new(Condition::Exactly(vec![vec![atom]])))
    }

    /// Whether nothing is known of what decides.
    pub fn is_vague(&self) -> bool {
        matches!(self, When::If(condition) if **condition == Condition::Depends(Vec::new()))
    }

    /// Whether there is no such run.
    pub fn is_never(&self) -> bool {
        *self == When::Never
    }

    /// The same, of which only what it depends on is certain.
    pub fn weakened(&self) -> When {
        self.weakened_by([])
    }

    /// The same, where this has to do with it as well.
    pub fn weakened_by(&self, reads: impl IntoIterator<Item = Str>) -> When {
        match self {
            When::Never => When::Never,
            _ => When::depends(self.reads().into_iter().chain(reads)),
        }
    }

    /// The references that have to do with it.
    pub fn reads(&self) -> Vec<Str> {
        match self {
            When::Never | When::Always => Vec::new(),
            When::If(condition) => condition.reads(),
        }
    }

    /// When either holds.
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

    /// When both hold.
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

    /// When it does not hold.
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

    /// `then` where this holds, and `otherwise` where it does not.
    #[must_use]
    pub fn choose(&self, then: &When, otherwise: &When) -> When {
        if then == otherwise {
            return then.clone();
        }
        self.and(then).or(&self.not().and(otherwise))
    }

    /// The same outside of what binds these names: what is said of one of them has no meaning there. It is about the
    /// elements of what `reads` says.
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
    /// The references that have to do with it, as often as they do.
    pub fn reads(&self) -> Vec<Str> {
        match self {
            Condition::Depends(reads) => reads.clone(),
            Condition::Exactly(clauses) => {
                clauses.iter().flatten().flat_map(|it| it.subject.reads.clone()).collect()
            }
        }
    }

    /// The places of the expressions that decide.
    pub fn places(&self) -> Vec<(ItemKey, ExprId, Str)> {
        let Condition::Exactly(clauses) = self else { return Vec::new() };
        let mut places = Vec::new();
        for subject in clauses.iter().flatten().map(|it| &it.subject) {
            let place = (subject.place.0, subject.place.1, subject.text.clone());
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// `unless var.list is empty`, where it is certain.
    pub fn phrase(&self) -> Option<String> {
        match self {
            Condition::Exactly(clauses) => Some(of_clauses(clauses)),
            Condition::Depends(_) => None,
        }
    }

    /// A sentence about a value of which it decides whether it is ephemeral.
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

    /// Whether it tests the same of the same expression.
    fn is_like(&self, other: &Atom) -> bool {
        self.has_subject_of(other) && self.test == other.test
    }

    /// Names are told apart by what binds them: `x` of one loop is not `x` of another.
    fn has_subject_of(&self, other: &Atom) -> bool {
        self.subject.text == other.subject.text && self.subject.names == other.subject.names
    }

    fn is_same(&self, other: &Atom) -> bool {
        self.is_like(other) && self.holds == other.holds
    }

    /// Whether both can never hold.
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

    /// `var.list is not empty`
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

/// `unless var.list is empty`, `when var.flag is true and var.n is 0, or when var.n is 1`.
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
    let named: Vec<&str> = reads.iter().take(MOST_NAMED).map(|it| &**it).collect();
    match named.as_slice() {
        [] => "values that are not known here".to_owned(),
        [one] => (*one).to_owned(),
        named if reads.len() > named.len() => format!("{} and more", named.join(", ")),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The formula of these clauses in its simplest form.
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
    while let Some((position, other, merged)) = mergeable(&kept) {
        kept.remove(other);
        if merged.is_empty() {
            return When::Always;
        }
        kept[position] = merged;
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
        1..=MOST_ATOMS => When::If(Arc::new(Condition::Exactly(needed))),
        _ => When::depends(all),
    }
}

/// A clause without what is said twice; nothing if it can never hold.
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
    // What is one thing is not another.
    let is_said = |atom: &Atom| kept.iter().any(|it| it.holds && it.excludes(&atom.negated()));
    let needed = kept.iter().filter(|atom| atom.holds || !is_said(atom));
    Some(needed.cloned().collect())
}

/// Two clauses that differ in whether one atom holds, and what they come to.
fn mergeable(clauses: &[Vec<Atom>]) -> Option<(usize, usize, Vec<Atom>)> {
    for (position, a) in clauses.iter().enumerate() {
        for (other, b) in clauses.iter().enumerate().skip(position + 1) {
            let rest: Vec<&Atom> =
                a.iter().filter(|it| !b.iter().any(|atom| atom.is_same(it))).collect();
            let is_of_one_size = a.len() == b.len();
            if let [only] = rest.as_slice()
                && is_of_one_size
                && b.iter().any(|atom| atom.is_same(&only.negated()))
            {
                let merged = a.iter().filter(|it| !it.is_same(only)).cloned().collect();
                return Some((position, other, merged));
            }
        }
    }
    None
}

/// When a value is ephemeral itself, and when something inside of it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ephemerality(Option<Arc<(When, When)>>);

impl Ephemerality {
    /// Neither is it, nor is anything inside of it.
    pub const NEVER: Ephemerality = Ephemerality(None);

    /// When it is, and when something inside of it is.
    pub fn new(here: When, inside: When) -> Ephemerality {
        match (&here, &inside) {
            (When::Never, When::Never) => Ephemerality::NEVER,
            _ => Ephemerality(Some(Arc::new((here, inside)))),
        }
    }

    /// When the value itself is.
    pub fn here(&self) -> &When {
        self.0.as_ref().map_or(&When::Never, |it| &it.0)
    }

    /// When something inside of it is.
    pub fn inside(&self) -> &When {
        self.0.as_ref().map_or(&When::Never, |it| &it.1)
    }

    /// When it is, or something inside of it is.
    pub fn somewhere(&self) -> When {
        self.0.as_ref().map_or(When::Never, |it| it.0.or(&it.1))
    }

    /// Whether nothing is known of what decides.
    pub fn is_vague(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.0.is_vague() || it.1.is_vague())
    }

    /// Whether neither is in any run.
    pub fn is_never(&self) -> bool {
        self.0.is_none()
    }

    /// The same with more that makes the value itself ephemeral.
    #[must_use]
    pub fn or_here(&self, when: &When) -> Ephemerality {
        match when {
            When::Never => self.clone(),
            _ => Ephemerality::new(self.here().or(when), self.inside().clone()),
        }
    }

    /// The same of a value with other parts.
    #[must_use]
    pub fn with_inside(&self, inside: When) -> Ephemerality {
        Ephemerality::new(self.here().clone(), inside)
    }

    /// The same of a value that is not ephemeral itself.
    #[must_use]
    pub fn only_inside(&self) -> Ephemerality {
        Ephemerality::new(When::Never, self.inside().clone())
    }

    /// That of the first where the condition holds, of the other where it does not.
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

    /// The same with both changed.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(&When) -> When) -> Ephemerality {
        match &self.0 {
            None => Ephemerality::NEVER,
            Some(whens) => Ephemerality::new(change(&whens.0), change(&whens.1)),
        }
    }

    /// The same, of which only what it depends on is certain.
    #[must_use]
    pub fn weakened(&self) -> Ephemerality {
        self.map(When::weakened)
    }
}
