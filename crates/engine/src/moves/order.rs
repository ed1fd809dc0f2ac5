//! The order of statements: chains from their beginning, and nested moves before or after those around them.

use std::collections::VecDeque;

use sorted::TreeSet;

use crate::moves::{
    ends::Ends,
    statement::{Statement, StepPattern, Subject},
};

/// The positions of statements in the order in which they are executed.
///
/// # Errors
/// The positions of statements that form cycles, or that stand between two cycles.
pub(super) fn order(statements: &[Statement<'_>], ends: &Ends) -> Result<Vec<usize>, Vec<usize>> {
    let graph = Graph::of(statements, ends);
    let order = graph.topological();
    if order.len() == statements.len() {
        return Ok(order);
    }
    Err(graph.cyclic(&order))
}

/// The dependencies between statements.
struct Graph {
    /// For each statement those that must be executed before it.
    before: Vec<TreeSet<usize>>,
    /// For each statement those that must be executed after it.
    after: Vec<TreeSet<usize>>,
}

impl Graph {
    fn of(statements: &[Statement<'_>], ends: &Ends) -> Graph {
        let ordered: Vec<Ordered<'_>> = statements.iter().map(Ordered::new).collect();
        let none = || vec![TreeSet::new(); statements.len()];
        let mut graph = Graph { before: none(), after: none() };
        for (position, it) in ordered.iter().enumerate() {
            let from = ends.around(&it.from, &it.statement.from);
            let to = ends.around(&it.to, &it.statement.to);
            for other in from.into_iter().chain(to).filter(|other| *other != position) {
                graph.relate(&ordered, position, other);
                graph.relate(&ordered, other, position);
            }
        }
        graph
    }

    fn relate(&mut self, ordered: &[Ordered<'_>], later: usize, earlier: usize) {
        if ordered[later].depends_on(&ordered[earlier]) {
            self.before[later].insert(earlier);
            self.after[earlier].insert(later);
        }
    }

    /// The statements without those in cycles and those after cycles. Among statements without an order, the one
    /// that is written first comes first.
    fn topological(&self) -> Vec<usize> {
        self.peel(&self.before, &self.after, |_| true)
    }

    /// Removes nodes as long as one has nothing left in `needs`. Returns them in this order.
    fn peel(
        &self,
        needs: &[TreeSet<usize>],
        feeds: &[TreeSet<usize>],
        counts: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let open = |node: usize| needs[node].iter().filter(|it| counts(**it)).count();
        let all = (0..needs.len()).filter(|it| counts(*it));
        let mut missing: Vec<usize> = (0..needs.len()).map(open).collect();
        let mut ready: VecDeque<usize> = all.filter(|it| missing[*it] == 0).collect();
        let mut order = Vec::new();
        while let Some(node) = ready.pop_front() {
            order.push(node);
            for next in feeds[node].iter().copied().filter(|it| counts(*it)) {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push_back(next);
                }
            }
        }
        order
    }

    /// The statements in cycles and those between two cycles. `ordered` are the statements before any cycle.
    fn cyclic(&self, ordered: &[usize]) -> Vec<usize> {
        let ordered: TreeSet<usize> = ordered.iter().copied().collect();
        let rest = |node: usize| !ordered.contains(&node);
        let behind: TreeSet<usize> =
            self.peel(&self.after, &self.before, rest).into_iter().collect();
        (0..self.before.len()).filter(|it| rest(*it) && !behind.contains(it)).collect()
    }
}

/// A statement with the patterns of its ends.
struct Ordered<'s> {
    statement: &'s Statement<'s>,
    from: Vec<StepPattern>,
    to: Vec<StepPattern>,
}

/// One end of a statement.
struct End<'s> {
    pattern: &'s [StepPattern],
    subject: Subject,
}

impl<'s> Ordered<'s> {
    fn new(statement: &'s Statement<'s>) -> Ordered<'s> {
        let (from, to) = (statement.pattern(&statement.from), statement.pattern(&statement.to));
        Ordered { statement, from, to }
    }

    fn from(&self) -> End<'_> {
        End { pattern: &self.from, subject: self.statement.from.subject() }
    }

    fn to(&self) -> End<'_> {
        End { pattern: &self.to, subject: self.statement.to.subject() }
    }

    /// Returns true if `other` must be executed before this statement: because this one moves on what the other
    /// has moved, or because one of them moves something inside of what the other moves.
    fn depends_on(&self, other: &Ordered<'_>) -> bool {
        let (from, to, other_from, other_to) = (self.from(), self.to(), other.from(), other.to());
        if from.is_same(&other_to) {
            return true;
        }
        let is_nested = from.is_within(&other_to)
            || to.is_within(&other_to)
            || other_from.is_within(&from)
            || other_to.is_within(&from);
        if !is_nested {
            return false;
        }
        // A move inside of a module whose call only changes its keys matches before and after the outer move. It
        // comes after the outer one.
        let is_outer = self.statement.module.names().len() < other.statement.module.names().len();
        !(is_outer && self.statement.from.is_reindex(&self.statement.to))
    }
}

impl End<'_> {
    fn is_module(&self) -> bool {
        matches!(self.subject, Subject::Module | Subject::Call)
    }

    /// Returns true if both can name the same object.
    fn is_same(&self, other: &End<'_>) -> bool {
        let are_modules = self.is_module() && other.is_module();
        (are_modules || self.subject == other.subject)
            && self.pattern.len() == other.pattern.len()
            && can_match(self.pattern, other.pattern)
    }

    /// Returns true if this end can lie inside of the other one.
    fn is_within(&self, other: &End<'_>) -> bool {
        let (own, outer) = (self.pattern.len(), other.pattern.len());
        if outer > own || !can_match(other.pattern, self.pattern) {
            return false;
        }
        match (&other.subject, &self.subject) {
            // One instance of a call lies inside of the call.
            (Subject::Call, Subject::Module) => true,
            _ if self.is_module() && other.is_module() => own > outer,
            (Subject::Module | Subject::Call, _) => true,
            (Subject::Resource(outer_resource), Subject::Instance(resource, _)) => {
                own == outer && resource == outer_resource
            }
            _ => false,
        }
    }
}

/// Returns true if the steps of `shorter` can name the same modules as the first steps of `longer`.
fn can_match(shorter: &[StepPattern], longer: &[StepPattern]) -> bool {
    shorter
        .iter()
        .zip(longer)
        .all(|(a, b)| a.name == b.name && (a.key.is_none() || b.key.is_none() || a.key == b.key))
}
