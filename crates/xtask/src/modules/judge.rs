//! Compares the results of two executables for one example.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use super::{
    chance::{Renaming, drawn, without_chance, without_requests},
    record::{CommandRecord, Record, TIMED_OUT},
};

/// The maximum number of differences that are listed for an example; more are only counted.
const MAX_LISTED: usize = 12;

/// The parts of a plan that are compared besides the changes of resources.
const PLAN_PARTS: &[&str] =
    &["checks", "output_changes", "planned_values", "prior_state", "variables"];

/// The parts of a resource's change that are compared.
const CHANGE_PARTS: &[&str] = &[
    "action_reason",
    "change",
    "index",
    "mode",
    "name",
    "previous_address",
    "provider_name",
    "type",
];

/// The parts of one command's result that are compared.
#[derive(PartialEq, Default, Debug)]
struct Answer {
    command: String,
    exit: Option<i32>,
    /// The severity and summary of each diagnostic, sorted.
    diagnostics: Vec<String>,
    /// The compared parts of the command's data, by name.
    data: BTreeMap<String, Value>,
    /// True if identifiers in the data depend on the order of creation.
    is_renamed: bool,
}

impl Answer {
    fn of(ran: &CommandRecord) -> Answer {
        let mut answer =
            Answer { command: ran.command.clone(), exit: ran.exit, ..Answer::default() };
        match ran.command.as_str() {
            // The errors of init for an unreachable source depend on the installer.
            "init" => return answer,
            _ if ran.exit == Some(TIMED_OUT) => {}
            "plan" if !ran.plan.is_null() => answer.data = of_plan(&ran.plan),
            "apply" | "destroy" => answer.data = of_state(&ran.state),
            "second plan" if !ran.plan.is_null() => answer.data = of_second_plan(&ran.plan),
            _ => {}
        }
        answer.is_renamed = ran.command != "validate";
        answer.diagnostics = diagnostics(&ran.text);
        answer
    }
}

/// The differences between the results of the reference and those of Mayfly.
#[derive(Default)]
pub(crate) struct Differences {
    listed: Vec<String>,
    more: usize,
    explained: Vec<String>,
    renaming: Renaming,
}

impl Differences {
    /// Compares the results command by command.
    pub(crate) fn between(reference: &Record, ours: &Record) -> Differences {
        let mut found = Differences::default();
        let answers = |record: &Record| record.commands.iter().map(Answer::of).collect::<Vec<_>>();
        let (mut reference, mut ours) = (answers(reference), answers(ours));
        found.explained = explain_early_errors(&reference, &mut ours);
        without_what_was_cut_off(&mut reference, &mut ours);
        found.explained.extend(explain_deprecations(&mut reference, &mut ours));
        for answer in reference.iter().chain(&ours) {
            answer.data.values().for_each(|it| draws(it, &mut found.renaming));
        }
        for (theirs, ours) in reference.iter().zip(&ours).filter(|(it, _)| it.command == "apply") {
            pair_ids(theirs, ours, &mut found.renaming);
        }
        for (theirs, ours) in reference.iter().zip(&ours) {
            let command = &theirs.command;
            found.renaming.is_narrow = command == "plan";
            if theirs.exit != ours.exit {
                found.add(format!(
                    "{command}: exit {:?} in the reference, {:?} here",
                    theirs.exit, ours.exit
                ));
            }
            // Compare the data first, because it determines the mapping of identifiers. Errors may be about
            // different objects of a set.
            found.data(theirs, ours);
            found.diagnostics(theirs, ours);
        }
        if reference.len() != ours.len() {
            found.add(format!(
                "{} commands ran in the reference, {} here",
                reference.len(),
                ours.len()
            ));
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the reason of each intended difference.
    pub(crate) fn explained(&self) -> &[String] {
        &self.explained
    }

    fn add(&mut self, difference: String) {
        if self.listed.len() < MAX_LISTED {
            self.listed.push(difference);
        } else {
            self.more += 1;
        }
    }

    fn diagnostics(&mut self, theirs: &Answer, ours: &Answer) {
        let command = &theirs.command;
        let mut rest: Vec<&String> = ours.diagnostics.iter().collect();
        for summary in &theirs.diagnostics {
            let counterpart = rest.iter().position(|it| {
                *it == summary || (ours.is_renamed && self.renaming.same(summary, it))
            });
            match counterpart {
                Some(index) => drop(rest.remove(index)),
                None => self.add(format!("{command}: only the reference says \"{summary}\"")),
            }
        }
        for summary in rest {
            self.add(format!("{command}: the reference does not say \"{summary}\""));
        }
    }

    fn data(&mut self, theirs: &Answer, ours: &Answer) {
        let command = &theirs.command;
        for (name, value) in &theirs.data {
            match ours.data.get(name) {
                Some(counterpart) => {
                    self.values(&format!("{command}: {name}"), ours.is_renamed, value, counterpart)
                }
                None => self.add(format!("{command}: {name} is missing here")),
            }
        }
        for name in ours.data.keys().filter(|it| !theirs.data.contains_key(*it)) {
            self.add(format!("{command}: {name} is not in the reference"));
        }
    }

    fn values(&mut self, place: &str, is_renamed: bool, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            (Value::Object(a), Value::Object(b)) => {
                for (key, value) in a {
                    let counterpart = b.get(key).unwrap_or(&Value::Null);
                    self.values(&format!("{place}.{key}"), is_renamed, value, counterpart);
                }
                for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                    self.values(&format!("{place}.{key}"), is_renamed, &Value::Null, value);
                }
            }
            (Value::Array(a), Value::Array(b))
                if is_renamed && self.renaming.is_reordered(a, b) => {}
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (index, (theirs, ours)) in a.iter().zip(b).enumerate() {
                    self.values(&format!("{place}[{index}]"), is_renamed, theirs, ours);
                }
            }
            (Value::String(a), Value::String(b)) if is_renamed && self.renaming.same(a, b) => {}
            _ if theirs == ours => {}
            _ => self.add(format!(
                "{place}: {} in the reference, {} here",
                short(theirs),
                short(ours)
            )),
        }
    }
}

/// Records the attributes of a state's instance that a provider generates.
fn draws(instance: &Value, renaming: &mut Renaming) {
    let of_type = instance["type"].as_str().unwrap_or_default();
    drawn(instance).into_iter().for_each(|it| renaming.draws_whole(it));
    if of_type.starts_with("aws_apigatewayv2_") {
        // The local API draws eight letters, which may look like any word.
        renaming.draws(instance["attributes"]["id"].as_str().unwrap_or_default());
    }
    let attributes = instance["attributes"].as_object().into_iter().flatten();
    for text in attributes.filter_map(|(_, value)| value.as_str()) {
        if of_type.starts_with("random_") || of_type == "aws_route53_delegation_set" {
            renaming.draws(text);
        } else if of_type.starts_with("tls_") || of_type == "aws_key_pair" {
            renaming.draws_whole(text);
        }
    }
}

/// Pairs the identifiers of the objects with one address: a set of identifiers alone does not say which belong
/// together.
fn pair_ids(theirs: &Answer, ours: &Answer, renaming: &mut Renaming) {
    for (address, instance) in &theirs.data {
        let ids = [Some(instance), ours.data.get(address)]
            .map(|it| it.and_then(|it| it["attributes"]["id"].as_str()));
        if let [Some(theirs), Some(ours)] = ids {
            renaming.same(theirs, ours);
        }
    }
}

/// Removes a plan or an apply that exceeded the reference's time limit, and all commands after it, because the
/// point of interruption is random.
fn without_what_was_cut_off(reference: &mut Vec<Answer>, ours: &mut Vec<Answer>) {
    let cut_off = reference.iter().position(|it| it.exit == Some(TIMED_OUT));
    if let Some(place) = cut_off {
        reference.truncate(place);
        ours.truncate(place);
    }
}

/// Removes errors that `validate` reports here and `plan` reports in the reference. Returns the reason of each.
fn explain_early_errors(reference: &[Answer], ours: &mut [Answer]) -> Vec<String> {
    let place = |answers: &[Answer], command| answers.iter().position(|it| it.command == command);
    let (Some(plan), Some(theirs), Some(here)) =
        (place(reference, "plan"), place(reference, "validate"), place(ours, "validate"))
    else {
        return Vec::new();
    };
    let (found, planned) = (&reference[theirs].diagnostics, &reference[plan].diagnostics);
    let is_early =
        |it: &String| it.starts_with("error: ") && !found.contains(it) && planned.contains(it);
    let ours = &mut ours[here];
    let early: Vec<String> = ours.diagnostics.iter().filter(|it| is_early(it)).cloned().collect();
    ours.diagnostics.retain(|it| !early.contains(it));
    if !early.is_empty() && !ours.diagnostics.iter().any(|it| it.starts_with("error: ")) {
        ours.exit = reference[theirs].exit;
    }
    early.iter().map(|it| format!("found at validate, not at plan: {it}")).collect()
}

/// The summary of warnings about values of deprecated outputs and attributes.
const DEPRECATED: &str = "warning: Value derived from a deprecated source";

/// Removes warnings about deprecated attributes that only Mayfly gives, and returns the reason of each. The
/// reference warns for each instance that has the attribute; Mayfly warns for each reference in the text, even
/// without instances.
fn explain_deprecations(reference: &mut [Answer], ours: &mut [Answer]) -> Vec<String> {
    let mut reasons = Vec::new();
    for (theirs, ours) in reference.iter_mut().zip(ours) {
        let without = |it: &mut Answer| {
            let before = it.diagnostics.len();
            it.diagnostics.retain(|it| it != DEPRECATED);
            before > it.diagnostics.len()
        };
        match (without(theirs), without(ours)) {
            (true, false) => theirs.diagnostics.push(DEPRECATED.to_owned()),
            (false, true) => reasons.push(format!(
                "{}: deprecated attributes of resources without instances",
                theirs.command
            )),
            _ => {}
        }
    }
    reasons
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.listed {
            writeln!(f, "    {difference}")?;
        }
        if self.more > 0 {
            writeln!(f, "    … and {} more", self.more)?;
        }
        self.explained.iter().try_for_each(|it| writeln!(f, "    explained: {it}"))
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the severity and summary of each diagnostic of `validate -json` or of a `-json` stream, sorted.
fn diagnostics(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |diagnostic: &Value| {
        if let (Some(severity), Some(summary)) =
            (diagnostic["severity"].as_str(), diagnostic["summary"].as_str())
        {
            found.push(without_requests(&format!("{severity}: {summary}")));
        }
    };
    match serde_json::from_str::<Value>(text) {
        Ok(whole) if whole["diagnostics"].is_array() => {
            whole["diagnostics"].as_array().into_iter().flatten().for_each(add);
        }
        _ => {
            let lines = text.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
            lines.for_each(|it| add(&it["diagnostic"]));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the compared parts of `show -json PLAN`: each change by its address, and the other parts as a whole.
fn of_plan(plan: &Value) -> BTreeMap<String, Value> {
    let mut data = BTreeMap::new();
    let mut plan = plan.clone();
    without_chance(&mut plan);
    for change in plan["resource_changes"].as_array().into_iter().flatten() {
        let parts = CHANGE_PARTS.iter().map(|it| ((*it).to_owned(), change[*it].clone()));
        data.insert(address(change), Value::Object(parts.collect()));
    }
    for part in PLAN_PARTS {
        data.insert((*part).to_owned(), by_address(&plan[*part]));
    }
    data
}

/// Returns the compared parts of a second plan: only the actions, because its identifiers depend on the order of
/// creation.
fn of_second_plan(plan: &Value) -> BTreeMap<String, Value> {
    let changes = plan["resource_changes"].as_array().into_iter().flatten();
    changes.map(|it| (address(it), it["change"]["actions"].clone())).collect()
}

/// Returns the compared parts of a state file: every instance, and the parts besides resources.
fn of_state(state: &Value) -> BTreeMap<String, Value> {
    let mut data = BTreeMap::new();
    for resource in state["resources"].as_array().into_iter().flatten() {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        let module =
            if text("module").is_empty() { String::new() } else { format!("{}.", text("module")) };
        let mode = if text("mode") == "data" { "data." } else { "" };
        let address = format!("{module}{mode}{}.{}", text("type"), text("name"));
        for instance in resource["instances"].as_array().into_iter().flatten() {
            let mut instance = instance.clone();
            instance["type"] = resource["type"].clone();
            instance["provider"] = resource["provider"].clone();
            without_chance(&mut instance);
            let mut name = address.clone();
            if !instance["index_key"].is_null() {
                name = format!("{name}[{}]", instance["index_key"]);
            }
            if let Some(deposed) = instance["deposed"].as_str() {
                name = format!("{name} ({deposed})");
            }
            data.insert(name, instance);
        }
    }
    for check in state["check_results"].as_array().into_iter().flatten() {
        let mut check = check.clone();
        // The reference writes the instances of a check in a random order.
        if let Some(objects) = check["objects"].as_array_mut() {
            objects.sort_by_key(|it| it["object_addr"].to_string());
        }
        data.insert(format!("check {}", check["config_addr"]), check);
    }
    for part in ["outputs", "version", "terraform_version"] {
        data.insert(part.to_owned(), state[part].clone());
    }
    data
}

fn address(object: &Value) -> String {
    let deposed = object["deposed"].as_str().map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{}{deposed}", object["address"].as_str().unwrap_or("?"))
}

/// Converts lists of objects with addresses to maps, so that a missing object does not shift the others.
fn by_address(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.iter().any(|it| it["address"].is_string()) => {
            Value::Object(items.iter().map(|it| (address(it), by_address(it))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(by_address).collect()),
        Value::Object(parts) => {
            Value::Object(parts.iter().map(|(key, it)| (key.clone(), by_address(it))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Differences, diagnostics};
    use crate::modules::record::{CommandRecord, Record};

    fn ran(command: &str, exit: i32, text: &str, plan: Value, state: Value) -> CommandRecord {
        CommandRecord {
            command: command.to_owned(),
            exit: Some(exit),
            text: text.to_owned(),
            plan,
            state,
        }
    }

    fn differences(reference: Vec<CommandRecord>, ours: Vec<CommandRecord>) -> String {
        Differences::between(&Record { commands: reference }, &Record { commands: ours })
            .to_string()
    }

    fn of_plans(reference: Value, ours: Value) -> String {
        let record = |plan| vec![ran("plan", 0, "", plan, Value::Null)];
        differences(record(reference), record(ours))
    }

    fn of_states(reference: Value, ours: Value) -> String {
        let record = |state| vec![ran("apply", 0, "", Value::Null, state)];
        differences(record(reference), record(ours))
    }

    #[test]
    fn plan_changes_are_compared_by_address() {
        let change =
            |address: &str, after| json!({ "address": address, "change": { "after": after } });
        let reference = json!({ "resource_changes": [change("a.a", 1), change("b.b", 2)] });
        let ours = json!({ "resource_changes": [change("b.b", 3), change("a.a", 1)] });
        assert_eq!(of_plans(reference.clone(), reference.clone()), "");
        assert_eq!(
            of_plans(reference, ours),
            "    plan: b.b.change.after: 2 in the reference, 3 here\n"
        );
    }

    #[test]
    fn missing_attribute_is_a_difference() {
        let reference = json!({ "planned_values": { "outputs": { "x": true } } });
        let ours = json!({ "planned_values": { "outputs": {} } });
        assert_eq!(
            of_plans(reference, ours),
            "    plan: planned_values.outputs.x: true in the reference, null here\n"
        );
    }

    #[test]
    fn states_are_compared_except_for_identifiers() {
        let state = |id: &str, name: &str| {
            json!({ "resources": [{
                "mode": "managed", "type": "aws_vpc", "name": "a", "module": "module.m",
                "instances": [{ "index_key": 0, "attributes": { "id": id, "name": name } }],
            }] })
        };
        assert_eq!(of_states(state("vpc-0a1b", "x"), state("vpc-7c8d", "x")), "");
        assert_eq!(
            of_states(state("vpc-0a1b", "x"), state("vpc-7c8d", "y")),
            "    apply: module.m.aws_vpc.a[0].attributes.name: \"x\" in the reference, \"y\" here\n"
        );
    }

    fn stream(summaries: &[&str]) -> String {
        summaries.iter().fold(String::new(), |text, summary| {
            let line = json!({ "diagnostic": { "severity": "error", "summary": summary } });
            text + &line.to_string() + "\n"
        })
    }

    #[test]
    fn error_of_the_reference_plan_may_be_found_by_validate() {
        let record = |validate: &[&str], plan: &[&str]| {
            let exit = |errors: &[&str]| i32::from(!errors.is_empty());
            vec![
                ran("validate", exit(validate), &stream(validate), Value::Null, Value::Null),
                ran("plan", exit(plan), &stream(plan), Value::Null, Value::Null),
            ]
        };
        assert_eq!(
            differences(record(&[], &["A"]), record(&["A"], &["A"])),
            "    explained: found at validate, not at plan: error: A\n"
        );
        let found = differences(record(&[], &["A"]), record(&["B"], &["A"]));
        assert!(found.contains("validate: the reference does not say \"error: B\""), "{found}");
        let found = differences(record(&[], &["A"]), record(&["A", "B"], &["A"]));
        assert!(found.contains("validate: exit Some(0) in the reference, Some(1) here"), "{found}");
    }

    #[test]
    fn timed_out_reference_runs_are_not_compared() {
        let record = |exit, text: &str| {
            vec![
                ran("plan", 0, "", Value::Null, Value::Null),
                ran("apply", exit, text, Value::Null, Value::Null),
            ]
        };
        assert_eq!(differences(record(124, ""), record(1, &stream(&["A"]))), "");
        assert!(!differences(record(1, ""), record(124, "")).is_empty());
    }

    #[test]
    fn deprecation_warnings_are_expected_once() {
        let record = |count: usize| {
            let diagnostic = json!({ "diagnostic": {
                "severity": "warning", "summary": "Value derived from a deprecated source",
            } });
            let text = format!("{diagnostic}\n").repeat(count);
            vec![ran("plan", 0, &text, Value::Null, Value::Null)]
        };
        assert_eq!(differences(record(2), record(1)), "");
        assert_eq!(
            differences(record(0), record(1)),
            "    explained: plan: deprecated attributes of resources without instances\n"
        );
        let found = differences(record(1), record(0));
        assert!(found.contains("only the reference says"), "{found}");
    }

    #[test]
    fn diagnostics_are_read_from_documents_and_streams() {
        let whole = r#"{"valid":false,"diagnostics":[{"severity":"error","summary":"B"},{"severity":"warning","summary":"A"}]}"#;
        assert_eq!(diagnostics(whole), ["error: B", "warning: A"]);
        assert_eq!(diagnostics(&stream(&["B"])), ["error: B"]);
    }
}
