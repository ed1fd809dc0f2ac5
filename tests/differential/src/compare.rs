//! Comparison of two observations of one step.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{explained, observation::Observation};

/// The order in which aspects are compared: those that explain others come first.
const ASPECTS: &[&str] =
    &["init", "diagnostics", "order", "events", "effects", "text", "plan", "state", "answer"];

/// A difference between the two programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The index of the step.
    pub step: usize,
    /// The class, which differences with the same cause usually share: the command, the aspect, and the place in
    /// it without names.
    pub class: String,
    /// The differing parts of both observations.
    pub detail: String,
}

/// The differences between two observations, at most one per aspect.
pub(crate) fn differences(
    step: usize,
    command: &[String],
    reference: &Observation,
    mayfly: &Observation,
) -> Vec<Difference> {
    let name = command.first().map_or("", String::as_str);
    let mut found = Vec::new();
    let mut push = |class: &str, detail: String| {
        found.push(Difference { step, class: format!("{name}: {class}"), detail });
    };
    let nothing = Json::Null;
    for aspect in ASPECTS {
        let [a, b] = [reference, mayfly].map(|it| it.aspects.get(*aspect).unwrap_or(&nothing));
        if a != b
            && let Some((class, detail)) = of_aspect(aspect, a, b)
        {
            push(&format!("{aspect}: {class}"), detail);
        }
    }
    if reference.exit != mayfly.exit {
        let class = format!("exit code {} instead of {}", mayfly.exit, reference.exit);
        push(&class, class.clone());
    }
    found
}

fn of_aspect(aspect: &str, reference: &Json, mayfly: &Json) -> Option<(String, String)> {
    match aspect {
        "init" | "diagnostics" | "events" | "effects" | "order" => lines(aspect, reference, mayfly),
        _ => {
            let mut path = Vec::new();
            tree(&mut path, reference, mayfly)
        }
    }
}

/// Compares sorted lines as multisets.
fn lines(aspect: &str, reference: &Json, mayfly: &Json) -> Option<(String, String)> {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (side, lines) in [reference, mayfly].into_iter().enumerate() {
        for line in lines.as_array().into_iter().flatten().filter_map(Json::as_str) {
            let words = explained::WORDS.iter().find(|(theirs, _)| *theirs == line);
            counts.entry(words.map_or(line, |it| it.1)).or_default()[side] += 1;
        }
    }
    // An order violation of the reference says nothing about Mayfly; only violations of Mayfly alone count.
    let is_compared = |it: &&(&str, [usize; 2])| {
        (aspect != "order" || it.1[0] == 0) && !explained::ADVICE.contains(&it.0)
    };
    let all: Vec<_> = counts.into_iter().filter(|(_, [a, b])| a != b).collect();
    let all: Vec<_> = all.iter().filter(is_compared).collect();
    if all.is_empty() {
        return None;
    }
    let mut classes: Vec<String> = Vec::new();
    let mut detail = String::new();
    for (line, [a, b]) in all {
        let side = if a > b { "only reference" } else { "only mayfly" };
        let class = format!("{side} {}", line_class(aspect, line));
        if !classes.contains(&class) {
            classes.push(class);
        }
        detail += &format!("{side} ({a} and {b} times): {line}\n");
    }
    Some((classes.join(" | "), detail))
}

/// The class of a line, without its names.
fn line_class(aspect: &str, line: &str) -> String {
    match aspect {
        "events" => {
            let event: Json = serde_json::from_str(line).unwrap_or_default();
            let action = [&event["hook"]["action"], &event["change"]["action"]];
            let action = action.into_iter().find_map(Json::as_str).unwrap_or_default();
            format!("{} {action}", event["type"].as_str().unwrap_or_default()).trim_end().to_owned()
        }
        "effects" => line.split(' ').next().unwrap_or_default().to_owned(),
        "order" => {
            let words = line.split(' ').filter(|it| !it.contains('.'));
            words.collect::<Vec<_>>().join(" ")
        }
        _ => line.to_owned(),
    }
}

/// The first place at which two trees differ.
fn tree(path: &mut Vec<String>, reference: &Json, mayfly: &Json) -> Option<(String, String)> {
    let differ = |path: &[String], what: &str| {
        let class =
            if what.is_empty() { path.join(".") } else { format!("{} {what}", path.join(".")) };
        Some((
            class,
            format!("at {}\n  reference: {reference}\n  mayfly:    {mayfly}\n", path.join(".")),
        ))
    };
    match (reference, mayfly) {
        (Json::Object(a), Json::Object(b)) => {
            for (name, member) in a {
                path.push(name_class(path, name));
                let Some(other) = b.get(name) else {
                    return Some((
                        format!("{} only reference", path.join(".")),
                        format!(
                            "{name:?} is missing:\n  reference: {member}\n  mayfly:    {mayfly}\n"
                        ),
                    ));
                };
                if let Some(found) = tree(path, member, other) {
                    return Some(found);
                }
                path.pop();
            }
            let (name, member) = b.iter().find(|(name, _)| !a.contains_key(*name))?;
            path.push(name_class(path, name));
            Some((
                format!("{} only mayfly", path.join(".")),
                format!("{name:?} is there only in mayfly: {member}\n"),
            ))
        }
        (Json::Array(a), Json::Array(b)) => {
            if a.len() != b.len() {
                return differ(path, "length");
            }
            path.push("[]".to_owned());
            for (a, b) in a.iter().zip(b) {
                if let Some(found) = tree(path, a, b) {
                    return Some(found);
                }
            }
            path.pop();
            None
        }
        _ if reference == mayfly => None,
        _ => differ(path, ""),
    }
}

/// The name of a member, or `*` if it comes from the configuration.
fn name_class(path: &[String], name: &str) -> String {
    const NAMED: &[&str] = &[
        "outputs",
        "output_changes",
        "variables",
        "module_calls",
        "input",
        "output",
        "expressions",
    ];
    let is_named = path.last().is_some_and(|it| NAMED.contains(&&**it));
    if is_named { "*".to_owned() } else { name.to_owned() }
}
