//! Observations of a command: exit code, diagnostics, events, plan, state, effects and their order, each in a form
//! that is the same in every run.
//!
//! Legitimate variation is removed here and nowhere else: times, durations, versions, lineage and serial,
//! generated values ([`crate::names`]), the order of independent events, and the members in [`DROPPED`].

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::{
    names::{Names, array},
    order,
};

/// The members of JSON answers that are not compared.
const DROPPED: &[&str] = &[
    "@level",
    "@message",
    "@module",
    "@timestamp",
    "elapsed_seconds",
    "lineage",
    "serial",
    "terraform_version",
    "timestamp",
    "format_version",
    // Terraform writes these; Mayfly does too, for tools that expect them.
    "applyable",
    "complete",
    // Diagnostics are compared separately.
    "warning_count",
    "error_count",
    // Private data of the provider, such as a version of its schema.
    "private",
    // The creation time of the playground's objects.
    "created",
];

/// The output of a process.
pub(crate) struct Raw {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The observation of a command, by aspect.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Observation {
    /// The exit code.
    pub exit: i32,
    /// The observed aspects; absent aspects are empty.
    pub aspects: BTreeMap<String, Json>,
}

impl Observation {
    pub(crate) fn strings(&self, aspect: &str) -> Vec<&str> {
        let all = self.aspects.get(aspect).and_then(Json::as_array);
        all.into_iter().flatten().filter_map(Json::as_str).collect()
    }

    /// The observation as a JSON object, for a recording.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({ "exit": self.exit, "aspects": self.aspects })
    }

    /// Reads an observation from the JSON of [`Observation::to_json`].
    #[must_use]
    pub fn from_json(json: &Json) -> Observation {
        let aspects = json["aspects"].as_object().cloned().unwrap_or_default();
        Observation {
            exit: json["exit"].as_i64().and_then(|it| i32::try_from(it).ok()).unwrap_or(-1),
            aspects: aspects.into_iter().collect(),
        }
    }
}

/// The aspect of a saved plan, as JSON.
pub(crate) const PLAN: &str = "plan";

/// The aspect of an `init` that refused the configuration.
pub(crate) const REFUSED: &str = "init";

/// The observation of an `init` that refused the configuration: its errors, without duplicates. The phase that
/// finds the errors decides how many appear, and how often.
pub(crate) fn of_init(raw: &Raw) -> Observation {
    let mut diagnostics = Vec::new();
    printed_diagnostics(&mut diagnostics, raw);
    diagnostics.retain(|it| it.starts_with("error"));
    diagnostics.sort();
    diagnostics.dedup();
    let aspects = [(REFUSED.to_owned(), json!(diagnostics))].into();
    Observation { exit: raw.exit, aspects }
}

pub(crate) fn of_command(
    command: &[String],
    raw: &Raw,
    states: [&Json; 2],
    log: &str,
    plan: Option<Raw>,
    names: &Names,
) -> Observation {
    let mut aspects = BTreeMap::new();
    let mut diagnostics = Vec::new();
    printed_diagnostics(&mut diagnostics, raw);
    let events = events(raw);
    for event in &events {
        let diagnostic = &event["diagnostic"];
        if diagnostic.is_object() {
            diagnostics.push(diagnostic_line(diagnostic));
        }
    }
    let answer = answer(command, raw);
    for diagnostic in array(&answer["diagnostics"]) {
        diagnostics.push(diagnostic_line(diagnostic));
    }
    diagnostics.sort();
    aspects.insert("diagnostics".to_owned(), json!(diagnostics));
    aspects.insert("text".to_owned(), json!(headlines(raw, names)));
    aspects.insert("events".to_owned(), json!(unordered(&events, names)));
    aspects.insert("answer".to_owned(), plain(&answer, names));
    aspects.insert("state".to_owned(), plain(states[1], names));
    let mut effects: Vec<_> = log.lines().map(|it| names.text(it)).collect();
    let violations = order::violations(&events, &effects, states);
    effects.sort();
    aspects.insert("effects".to_owned(), json!(effects));
    aspects.insert("order".to_owned(), json!(violations));
    if let Some(plan) = plan {
        let shown = serde_json::from_str(&plan.out).unwrap_or_else(|_| json!(plan.err));
        aspects.insert(PLAN.to_owned(), plain(&shown, names));
    }
    aspects.retain(|_, it| !is_empty(it));
    Observation { exit: raw.exit, aspects }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Array(elements) => elements.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn diagnostic_line(diagnostic: &Json) -> String {
    let text = |name: &str| diagnostic[name].as_str().unwrap_or_default();
    format!("{}: {}", text("severity"), text("summary"))
}

/// The diagnostics that were printed as text.
fn printed_diagnostics(acc: &mut Vec<String>, raw: &Raw) {
    for line in raw.out.lines().chain(raw.err.lines()) {
        let line = line.trim_start_matches(['│', ' ']);
        for (label, severity) in [("Error: ", "error"), ("Warning: ", "warning")] {
            if let Some(summary) = line.strip_prefix(label) {
                acc.push(format!("{severity}: {summary}"));
            }
        }
    }
}

/// The objects of a stream of JSON lines.
fn events(raw: &Raw) -> Vec<Json> {
    let lines = raw.out.lines().filter(|it| it.starts_with("{\"@level\""));
    lines.filter_map(|it| serde_json::from_str(it).ok()).collect()
}

/// Every event except diagnostics, sorted, because most of them have no fixed order.
fn unordered(events: &[Json], names: &Names) -> Vec<String> {
    let is_compared = |it: &&Json| !matches!(it["type"].as_str(), Some("version" | "diagnostic"));
    let mut lines: Vec<String> =
        events.iter().filter(is_compared).map(|it| sorted(&plain(it, names)).to_string()).collect();
    lines.sort();
    lines
}

/// The printed answer of a command that answers a question.
fn answer(command: &[String], raw: &Raw) -> Json {
    let is_json = command.iter().any(|it| it == "-json");
    match command.first().map(String::as_str) {
        Some("validate" | "show" | "output") if is_json => {
            let answer: Result<Json, _> = serde_json::from_str(&raw.out);
            let mut answer = answer.unwrap_or_else(|_| json!(raw.out));
            // The programs have their own ranges and details of diagnostics; the summaries are compared
            // separately.
            if command[0] == "validate"
                && let Some(members) = answer.as_object_mut()
            {
                members.retain(|name, _| name != "format_version");
            }
            answer
        }
        Some("state" | "output") => json!(raw.out.lines().collect::<Vec<_>>()),
        _ => Json::Null,
    }
}

/// The lines that scripts look for, and the headings of planned changes.
fn headlines(raw: &Raw, names: &Names) -> Vec<String> {
    const HEADS: &[&str] = &[
        "Plan: ",
        "No changes.",
        "Apply complete!",
        "Destroy complete!",
        "Changes to Outputs:",
        "Success!",
        "  # ",
    ];
    let lines = raw.out.lines().filter(|line| HEADS.iter().any(|it| line.starts_with(it)));
    lines.map(|it| without_deposed_key(&names.text(it))).collect()
}

/// The line without the key of a deposed object, which is random.
fn without_deposed_key(line: &str) -> String {
    const BEFORE: &str = "(deposed object ";
    match line.split_once(BEFORE).and_then(|(start, rest)| Some((start, rest.split_once(')')?.1))) {
        Some((start, rest)) => format!("{start}{BEFORE}<deposed>){rest}"),
        None => line.to_owned(),
    }
}

/// The JSON without legitimate variation.
fn plain(json: &Json, names: &Names) -> Json {
    reordered(names.json(&kept(json)))
}

/// The JSON with the elements of unordered lists sorted.
fn reordered(json: Json) -> Json {
    match json {
        Json::Array(elements) => elements.into_iter().map(reordered).collect(),
        Json::Object(members) => {
            let members = members.into_iter().map(|(name, it)| match reordered(it) {
                Json::Array(mut all) => {
                    if says_nothing_by_order(&name, &all) {
                        all.sort_by_key(|it| sorted(it).to_string());
                    }
                    (name, Json::Array(all))
                }
                it => (name, it),
            });
            Json::Object(members.collect())
        }
        other => other,
    }
}

/// Returns true if the order of a list is irrelevant. Resources are sorted by address, which varies if keys are
/// generated. The reference lists the modules inside of a module in the order in which it planned them. Results of
/// checks are unordered, and so are the relevant attributes, which the reference finds in the order of maps, and
/// deposed objects, which are sorted by their random keys.
fn says_nothing_by_order(list: &str, elements: &[Json]) -> bool {
    match list {
        "child_modules" | "relevant_attributes" => true,
        "resources" | "resource_changes" => elements.iter().any(|it| {
            let addresses = [&it["address"], &it["module"]].into_iter();
            addresses.filter_map(Json::as_str).any(|it| it.contains('<'))
        }),
        "instances" if elements.iter().any(|it| it["deposed"].is_string()) => true,
        "check_results" | "objects" | "checks" | "instances" => {
            elements.iter().all(|it| it["status"].is_string() && it["attributes"].is_null())
        }
        _ => false,
    }
}

fn kept(json: &Json) -> Json {
    match json {
        Json::Array(elements) => elements.iter().map(kept).collect(),
        Json::Object(members) => {
            let is_kept = |name: &str| !DROPPED.contains(&name) && name != "diagnostics";
            let members = members.iter().filter(|(name, _)| is_kept(name));
            let members = members.map(|(name, it)| (name.clone(), comparable(name, kept(it))));
            // Without its empty modules, the list of the reference may be empty.
            let says_something =
                |(name, it): &(String, Json)| name != "child_modules" || *it != json!([]);
            Json::Object(members.filter(says_something).collect())
        }
        other => other.clone(),
    }
}

/// The value without parts that only one program stores. The key of a deposed object is random.
fn comparable(name: &str, value: Json) -> Json {
    match value {
        Json::String(_) if ["deposed", "deposed_key"].contains(&name) => json!("<deposed>"),
        // The reference stores a resource that was expanded but has no objects.
        Json::Array(mut resources) if name == "resources" => {
            let is_empty = |it: &Json| it["instances"].as_array().is_some_and(Vec::is_empty);
            resources.retain(|it| !is_empty(it));
            Json::Array(resources)
        }
        // `show` lists a module that contains only such resources.
        Json::Array(mut modules) if name == "child_modules" => {
            modules.retain(|it| !it["resources"].is_null() || !it["child_modules"].is_null());
            Json::Array(modules)
        }
        value => value,
    }
}

/// The JSON with sorted members.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Array(elements) => elements.iter().map(sorted).collect(),
        Json::Object(members) => {
            let members: BTreeMap<_, _> =
                members.iter().map(|(name, it)| (name, sorted(it))).collect();
            Json::Object(members.into_iter().map(|(name, it)| (name.clone(), it)).collect())
        }
        other => other.clone(),
    }
}
