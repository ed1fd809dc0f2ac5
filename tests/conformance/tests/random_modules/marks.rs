//! Compares the marks of static analysis with those of a value.

use hir::analysis::{
    Abstract, Tri, TriMarks,
    value::{Inside, Presence},
};
use values::{Kind, MarkKind, Marks, Value};

/// The first disagreement between analysis and an evaluated value: a mark of `marked` that analysis excluded, or a
/// mark that analysis was sure of and `value` lacks.
pub(crate) fn disagreement(
    known: &Abstract,
    (marked, value): (&Value, &Value),
    kinds: &[MarkKind],
) -> Option<String> {
    for kind in kinds.iter().copied() {
        let wrong = foreseen(Some(known), marked, TriMarks::NONE, kind, "")
            .or_else(|| kept(known, value, (&Marks::NONE, true), kind, ""));
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

/// Checks that analysis foresaw every mark of a value, as possible or sure, at the value itself or above it.
fn foreseen(
    known: Option<&Abstract>,
    value: &Value,
    above: TriMarks,
    kind: MarkKind,
    path: &str,
) -> Option<String> {
    let here = known.map_or(above, |known| above.union(&known.marks));
    if value.marks().has(kind) && here.get(kind) == Tri::No {
        return Some(format!("{path:?} is {kind:?}, which was said to be impossible"));
    }
    let below = match known.map(|known| &known.inside) {
        Some(Inside::Opaque(marks)) => here.union(marks),
        _ => here,
    };
    value.elements().find_map(|(key, part)| {
        let step = step(&key);
        let known = known.and_then(|known| part_of(known, &step));
        foreseen(known, part, below, kind, &format!("{path}/{step}"))
    })
}

/// Checks that a value has every mark that analysis was sure of. `above` holds the marks of the containers around
/// the value, and true if all of them are surely known.
fn kept(
    known: &Abstract,
    value: &Value,
    (above, is_settled): (&Marks, bool),
    kind: MarkKind,
    path: &str,
) -> Option<String> {
    let here = above.union(value.marks());
    if known.marks.get(kind) == Tri::Yes && !here.has(kind) {
        return Some(format!("{path:?} is not {kind:?}, which was said to be sure"));
    }
    let is_settled = is_settled && known.presence == Presence::Known;
    if matches!(value.kind(), Kind::Null | Kind::Unknown(_) | Kind::Set(_)) || !is_settled {
        return None;
    }
    value.elements().find_map(|(key, part)| {
        let step = step(&key);
        let known = part_of(known, &step)?;
        kept(known, part, (&here, is_settled), kind, &format!("{path}/{step}"))
    })
}

fn part_of<'a>(known: &'a Abstract, step: &str) -> Option<&'a Abstract> {
    match &known.inside {
        Inside::Attrs(attrs) => attrs.get(step),
        Inside::Items(items) => items.get(step.parse::<usize>().ok()?),
        Inside::Each(element) => Some(element),
        Inside::Opaque(_) => None,
    }
}

fn step(key: &Value) -> String {
    match key.kind() {
        Kind::String(text) => text.to_string(),
        Kind::Number(number) => number.to_string(),
        _ => "*".to_owned(),
    }
}
