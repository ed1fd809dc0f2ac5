//! Defines agreement: the runtime values that an abstract value describes.

use hir::analysis::{
    Abstract, Tri, TriMarks,
    value::{Inside, Presence},
};
use values::{Kind, MarkKind, Marks, Type, Value};

use crate::names::DECLARED;

const KINDS: [MarkKind; 2] = [MarkKind::Sensitive, MarkKind::Ephemeral];

/// The contradiction between an abstract value and a runtime value. `None` if they agree.
pub(crate) fn disagreement(known: &Abstract, value: &Value) -> Option<String> {
    let mut wrong = Vec::new();
    possible(Some(known), value, TriMarks::NONE, "", &mut wrong);
    sure(known, value, (&Marks::NONE, true), "", &mut wrong);
    if !fits(&value.ty(), &known.ty) {
        wrong.push(format!("type: {} was said to be {}", value.ty(), known.ty));
    }
    wrong.into_iter().next()
}

/// A mark of the applied value that the planned value lacks, both at the same place and above. `None` if there is
/// none.
pub(crate) fn unforeseen(planned: &Value, applied: &Value) -> Option<String> {
    let mut wrong = Vec::new();
    foreseen(Some(planned), applied, &Marks::NONE, "", &mut wrong);
    wrong.into_iter().next()
}

fn foreseen(
    planned: Option<&Value>,
    applied: &Value,
    above: &Marks,
    path: &str,
    wrong: &mut Vec<String>,
) {
    let here = planned.map_or(above.clone(), |planned| above.union(planned.marks()));
    for kind in KINDS {
        if applied.marks().has(kind) && !here.has(kind) {
            wrong.push(format!("unforeseen: {kind:?} at {path:?} was not there while planning"));
        }
    }
    for (key, part) in applied.elements() {
        let step = step(&key);
        let planned = planned.and_then(|planned| {
            let mut parts = planned.elements();
            parts.find(|(key, _)| self::step(key) == step).map(|(_, part)| part)
        });
        foreseen(planned, part, &here, &format!("{path}/{step}"), wrong);
    }
}

/// Returns the problem if a value that may be ephemeral has no chain to a declaration.
pub(crate) fn unexplained(known: &Abstract) -> Option<String> {
    if known.deep_marks().ephemeral == Tri::No {
        return None;
    }
    match known.origin.as_ref().and_then(|origin| origin.chain().last()) {
        Some(last) if &*last.message == DECLARED => None,
        Some(last) => Some(format!("chain: ends with {:?}", last.message)),
        None => Some("chain: ephemeral without an origin".to_owned()),
    }
}

/// Property "possible": every mark of the value was predicted as possible or certain, at the same place or above.
/// `above` has the predicted marks of the enclosing values.
fn possible(
    known: Option<&Abstract>,
    value: &Value,
    above: TriMarks,
    path: &str,
    wrong: &mut Vec<String>,
) {
    let here = known.map_or(above, |known| above.union(&known.marks));
    for kind in KINDS {
        if value.marks().has(kind) && here.get(kind) == Tri::No {
            wrong.push(format!("possible: {kind:?} at {path:?} was said to be impossible"));
        }
    }
    let below = match known.map(|known| &known.inside) {
        Some(Inside::Opaque(marks)) => here.union(marks),
        _ => here,
    };
    for (key, part) in value.elements() {
        let step = step(&key);
        let known_part = known.and_then(|known| part_of(known, &step));
        possible(known_part, part, below, &format!("{path}/{step}"), wrong);
    }
}

/// Property "sure": every mark that was predicted as certain is present. `above` has the marks of the enclosing
/// values. The flag is set if these are certainly known; otherwise a part may be unknown.
fn sure(
    known: &Abstract,
    value: &Value,
    (above, is_settled): (&Marks, bool),
    path: &str,
    wrong: &mut Vec<String>,
) {
    let here = above.union(value.marks());
    let deep = above.union(&value.deep_marks());
    for kind in KINDS {
        if known.marks.get(kind) == Tri::Yes && !here.has(kind) {
            wrong.push(format!("sure: {kind:?} at {path:?} is not there"));
        }
        if known.deep_marks().get(kind) == Tri::Yes && !deep.has(kind) {
            wrong.push(format!("sure: {kind:?} inside of {path:?} is not there"));
        }
    }
    if is_settled {
        presence(known, value, path, wrong);
    }
    let is_settled = is_settled && known.presence == Presence::Known;
    match value.kind() {
        Kind::Null => {}
        // A mark inside of an unknown value or a set goes on the whole. A value that may be null has no certain
        // parts.
        Kind::Unknown(_) | Kind::Set(_) => {
            for kind in KINDS {
                if known.inner_marks().get(kind) == Tri::Yes && !here.has(kind) {
                    wrong.push(format!("sure: {kind:?} inside of the unknown {path:?} is lost"));
                }
            }
        }
        _ => {
            for (key, part) in value.elements() {
                let step = step(&key);
                if let Some(known) = part_of(known, &step) {
                    sure(known, part, (&here, is_settled), &format!("{path}/{step}"), wrong);
                }
            }
        }
    }
}

/// Checks constants, and predictions about null and unknown values.
fn presence(known: &Abstract, value: &Value, path: &str, wrong: &mut Vec<String>) {
    if let Some(constant) = &known.constant
        && !value.without_all_marks().raw_equals(&constant.0)
    {
        wrong.push(format!("constant: {path:?} was said to be {:?}", constant.0));
    }
    let is_right = match known.presence {
        Presence::Open => true,
        Presence::NotNull => !value.is_null(),
        Presence::Known => value.is_known() && !value.is_null(),
    };
    if !is_right {
        wrong.push(format!("presence: {path:?} was said to be {:?}", known.presence));
    }
    if let (Inside::Attrs(attrs), Kind::Object(parts)) = (&known.inside, value.kind())
        && !attrs.keys().eq(parts.keys())
    {
        wrong.push(format!("structure: {path:?} was said to have other attributes"));
    }
    if let (Inside::Items(items), Kind::Tuple(parts)) = (&known.inside, value.kind())
        && items.len() != parts.len()
    {
        wrong.push(format!("structure: {path:?} was said to have another length"));
    }
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

/// Returns true if a runtime type conforms to the predicted one. A runtime value of dynamic type is unknown or
/// null.
fn fits(given: &Type, said: &Type) -> bool {
    match (given, said) {
        (_, Type::Dynamic) | (Type::Dynamic, _) => true,
        (Type::List(given), Type::List(said))
        | (Type::Set(given), Type::Set(said))
        | (Type::Map(given), Type::Map(said)) => fits(given, said),
        (Type::Tuple(given), Type::Tuple(said)) => {
            given.len() == said.len() && given.iter().zip(said.iter()).all(|(a, b)| fits(a, b))
        }
        (Type::Object(given), Type::Object(said)) => {
            given.len() == said.len()
                && given.iter().zip(said.iter()).all(|((na, a), (nb, b))| na == nb && fits(a, b))
        }
        (given, said) => given == said,
    }
}

/// Formats a value with its marks: `!` for ephemeral, `*` for sensitive.
pub(crate) fn show(value: &Value) -> String {
    let ephemeral = if value.marks().has(MarkKind::Ephemeral) { "!" } else { "" };
    let sensitive = if value.marks().has(MarkKind::Sensitive) { "*" } else { "" };
    let parts = |open: &str, close: &str, named: bool| {
        let parts = value.elements().map(|(key, part)| match named {
            true => format!("{} = {}", step(&key), show(part)),
            false => show(part),
        });
        format!("{open}{}{close}", parts.collect::<Vec<_>>().join(", "))
    };
    let bare = match value.kind() {
        Kind::Unknown(_) => format!("unknown {}", value.ty()),
        Kind::Tuple(_) => parts("[", "]", false),
        Kind::List(_) => parts("list[", "]", false),
        Kind::Set(_) => parts("set[", "]", false),
        Kind::Object(_) => parts("{", "}", true),
        Kind::Map(_) => parts("map{", "}", true),
        _ => format!("{:?}", value.without_all_marks()),
    };
    format!("{ephemeral}{sensitive}{bare}")
}

/// Formats the marks of an abstract value: `!` and `*` as in [`show`], with `?` if the mark is not certain.
pub(crate) fn show_known(known: &Abstract) -> String {
    let marks = show_marks(&known.marks);
    let inside = match &known.inside {
        Inside::Opaque(inner) if *inner == TriMarks::NONE => "_".to_owned(),
        Inside::Opaque(inner) => format!("({}..)", show_marks(inner)),
        Inside::Attrs(attrs) => {
            let parts = attrs.iter().map(|(name, it)| format!("{name} = {}", show_known(it)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        Inside::Items(items) => {
            format!("[{}]", items.iter().map(show_known).collect::<Vec<_>>().join(", "))
        }
        Inside::Each(element) => format!("each {}", show_known(element)),
    };
    format!("{marks}{inside}")
}

fn show_marks(marks: &TriMarks) -> String {
    let mark = |sign: &str, tri: Tri| match tri {
        Tri::No => String::new(),
        Tri::Maybe => format!("{sign}?"),
        Tri::Yes => sign.to_owned(),
    };
    mark("!", marks.ephemeral) + &mark("*", marks.sensitive)
}
