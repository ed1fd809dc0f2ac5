//! Marks of values: queries, additions and removals, for the value itself and for its parts.

use std::sync::Arc;

use super::{Node, Value};
use crate::{Mark, MarkKind, Marks, Path, Step};

impl Value {
    /// Returns the marks of the value itself.
    #[must_use]
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the marks of the value and of all its parts. O(1) apart from deprecations.
    #[must_use]
    pub fn deep_marks(&self) -> Marks {
        match self.node.summary() {
            Some(summary) => self.marks.union(&summary.marks_inside),
            None => self.marks.clone(),
        }
    }

    /// Returns true if the value or a part of it has a mark of the kind. O(1).
    #[must_use]
    pub fn has_deep(&self, kind: MarkKind) -> bool {
        self.marks.has(kind)
            || self.node.summary().is_some_and(|summary| summary.marks_inside.has(kind))
    }

    /// Returns true if the value or a part of it is sensitive or ephemeral. O(1).
    #[must_use]
    #[inline]
    pub fn has_deep_secret(&self) -> bool {
        self.has_deep(MarkKind::Sensitive) || self.has_deep(MarkKind::Ephemeral)
    }

    /// Returns true if the value or a part of it has any mark. O(1).
    #[must_use]
    #[inline]
    pub fn is_marked_deep(&self) -> bool {
        !self.marks.is_empty()
            || self.node.summary().is_some_and(|summary| !summary.marks_inside.is_empty())
    }

    /// Returns the value with one more mark.
    #[must_use]
    pub fn with_mark(&self, mark: Mark) -> Value {
        Value { node: self.node.clone(), marks: self.marks.clone().with(mark) }
    }

    /// Returns the value with more marks.
    #[must_use]
    pub fn with_marks(&self, marks: &Marks) -> Value {
        let mut marked = self.clone();
        marked.marks.add(marks);
        marked
    }

    /// Adds marks to the value.
    #[must_use]
    #[inline]
    pub fn marked(mut self, marks: &Marks) -> Value {
        if !marks.is_empty() {
            self.marks.add(marks);
        }
        self
    }

    /// Returns the value without its own marks of one kind; the marks of its parts stay.
    #[must_use]
    pub fn without(&self, kind: MarkKind) -> Value {
        Value { node: self.node.clone(), marks: self.marks.clone().without(kind) }
    }

    /// Returns the value without its own marks, and those marks.
    #[must_use]
    pub fn unmark(&self) -> (Value, Marks) {
        (Value { node: self.node.clone(), marks: Marks::NONE }, self.marks.clone())
    }

    /// Returns the value without any marks, and the paths of the removed marks.
    #[must_use]
    pub fn unmark_deep(&self) -> (Value, Vec<(Path, Marks)>) {
        let mut found = Vec::new();
        self.collect_marks(&mut Path::root(), &mut found);
        (self.without_all_marks(), found)
    }

    /// Returns the marks of the value and its parts with their paths, outermost first.
    #[must_use]
    pub fn path_marks(&self) -> Vec<(Path, Marks)> {
        let mut found = Vec::new();
        self.collect_marks(&mut Path::root(), &mut found);
        found
    }

    fn collect_marks(&self, path: &mut Path, found: &mut Vec<(Path, Marks)>) {
        if !self.is_marked_deep() {
            return;
        }
        if !self.marks.is_empty() {
            found.push((path.clone(), self.marks.clone()));
        }
        for (step, part) in self.parts() {
            if part.is_marked_deep() {
                path.push(step);
                part.collect_marks(path, found);
                path.pop();
            }
        }
    }

    /// Returns the value without any marks at any depth.
    #[must_use]
    pub fn without_all_marks(&self) -> Value {
        if !self.is_marked_deep() {
            return self.clone();
        }
        let (mut bare, _) = self.unmark();
        if bare.node.summary().is_some_and(|summary| !summary.marks_inside.is_empty()) {
            bare = bare.map_parts(|_, part| part.without_all_marks());
        }
        bare
    }

    /// Returns the value without marks of one kind at any depth.
    #[must_use]
    pub fn without_deep(&self, kind: MarkKind) -> Value {
        if !self.has_deep(kind) {
            return self.clone();
        }
        let mut bare = self.without(kind);
        if bare.has_deep(kind) {
            bare = bare.map_parts(|_, part| part.without_deep(kind));
        }
        bare
    }

    /// Returns the value with marks added at the given paths. If a path leads to no part, the last existing part
    /// on it gets the marks, so that no mark is lost.
    #[must_use]
    pub fn with_path_marks(&self, path_marks: &[(Path, Marks)]) -> Value {
        path_marks
            .iter()
            .fold(self.clone(), |value, (path, marks)| value.with_marks_at(path.steps(), marks))
    }

    fn with_marks_at(&self, steps: &[Step], marks: &Marks) -> Value {
        let Some((step, rest)) = steps.split_first() else {
            return self.with_marks(marks);
        };
        // A set cannot hold marked elements, so the set gets the marks.
        if matches!(self.node, Node::Set(_)) || step.apply(self).is_none() {
            return self.with_marks(marks);
        }
        self.with_part(step, |part| part.with_marks_at(rest, marks))
    }

    /// Returns true if both values share the same node, and are therefore equal without a comparison.
    pub(crate) fn shares_node(&self, other: &Value) -> bool {
        match (&self.node, &other.node) {
            (Node::Unknown(a), Node::Unknown(b)) => Arc::ptr_eq(a, b),
            (Node::List(a), Node::List(b))
            | (Node::Set(a), Node::Set(b))
            | (Node::Tuple(a), Node::Tuple(b)) => Arc::ptr_eq(a, b),
            (Node::Map(a), Node::Map(b)) | (Node::Object(a), Node::Object(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}
