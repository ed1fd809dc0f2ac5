//! What two executables said of one example, and where they differ.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

/// The differences of one example that are listed; the rest is counted.
const MOST_LISTED: usize = 12;

/// Parts of a plan that are compared, beside the changes of resources.
const PLAN_PARTS: &[&str] =
    &["checks", "output_changes", "planned_values", "prior_state", "variables"];

/// Parts of a resource's change, beside `change` itself.
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

/// The answer of an executable to one command.
#[derive(PartialEq, Default, Debug)]
pub(crate) struct Answer {
    pub(crate) exit: Option<i32>,
    /// Severity and summary of each diagnostic, sorted.
    pub(crate) diagnostics: Vec<String>,
    /// What is compared of the data that the command gave, by name.
    pub(crate) data: BTreeMap<String, Value>,
}

/// Answers to the commands of one example, in the order in which the commands ran.
pub(crate) type Answers = Vec<(&'static str, Answer)>;

/// The differences between the reference's answers and ours.
#[derive(Default)]
pub(crate) struct Differences {
    listed: Vec<String>,
    more: usize,
}

impl Differences {
    /// Compares the answers command by command.
    pub(crate) fn between(reference: &Answers, ours: &Answers) -> Differences {
        let mut found = Differences::default();
        for ((command, theirs), (_, ours)) in reference.iter().zip(ours) {
            if theirs.exit != ours.exit {
                found.add(format!(
                    "{command}: exit {:?} in the reference, {:?} here",
                    theirs.exit, ours.exit
                ));
            }
            found.diagnostics(command, &theirs.diagnostics, &ours.diagnostics);
            found.data(command, &theirs.data, &ours.data);
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

    fn add(&mut self, difference: String) {
        if self.listed.len() < MOST_LISTED {
            self.listed.push(difference);
        } else {
            self.more += 1;
        }
    }

    fn diagnostics(&mut self, command: &str, theirs: &[String], ours: &[String]) {
        for summary in theirs.iter().filter(|it| !ours.contains(it)) {
            self.add(format!("{command}: only the reference says \"{summary}\""));
        }
        for summary in ours.iter().filter(|it| !theirs.contains(it)) {
            self.add(format!("{command}: the reference does not say \"{summary}\""));
        }
    }

    fn data(
        &mut self,
        command: &str,
        theirs: &BTreeMap<String, Value>,
        ours: &BTreeMap<String, Value>,
    ) {
        for (name, value) in theirs {
            match ours.get(name) {
                Some(ours) => self.values(&format!("{command}: {name}"), value, ours),
                None => self.add(format!("{command}: {name} is missing here")),
            }
        }
        for name in ours.keys().filter(|it| !theirs.contains_key(*it)) {
            self.add(format!("{command}: {name} is not in the reference"));
        }
    }

    fn values(&mut self, place: &str, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            (Value::Object(a), Value::Object(b)) => {
                for (key, value) in a {
                    self.values(
                        &format!("{place}.{key}"),
                        value,
                        b.get(key).unwrap_or(&Value::Null),
                    );
                }
                for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                    self.values(&format!("{place}.{key}"), &Value::Null, value);
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (index, (theirs, ours)) in a.iter().zip(b).enumerate() {
                    self.values(&format!("{place}[{index}]"), theirs, ours);
                }
            }
            _ if theirs == ours => {}
            _ => self.add(format!(
                "{place}: {} in the reference, {} here",
                short(theirs),
                short(ours)
            )),
        }
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.listed {
            writeln!(f, "    {difference}")?;
        }
        if self.more > 0 {
            writeln!(f, "    … and {} more", self.more)?;
        }
        Ok(())
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What is compared of `show -json PLAN`: each change by its address, and the other parts whole.
pub(crate) fn of_plan(plan: &Value) -> BTreeMap<String, Value> {
    let mut data = BTreeMap::new();
    for change in plan["resource_changes"].as_array().into_iter().flatten() {
        let parts = CHANGE_PARTS.iter().map(|it| ((*it).to_owned(), change[*it].clone()));
        data.insert(address(change), Value::Object(parts.collect()));
    }
    for part in PLAN_PARTS {
        data.insert((*part).to_owned(), by_address(&plan[*part]));
    }
    data
}

/// What is compared of a second plan, whose identifiers depend on the order of creation: the actions.
pub(crate) fn of_second_plan(plan: &Value) -> BTreeMap<String, Value> {
    let changes = plan["resource_changes"].as_array().into_iter().flatten();
    changes.map(|it| (address(it), it["change"]["actions"].clone())).collect()
}

/// What is compared of a state after apply: which objects it has, and what they wait for.
pub(crate) fn of_state(state: &Value) -> BTreeMap<String, Value> {
    let mut data = BTreeMap::new();
    let mut modules = vec![&state["values"]["root_module"]];
    while let Some(module) = modules.pop() {
        modules.extend(module["child_modules"].as_array().into_iter().flatten());
        for resource in module["resources"].as_array().into_iter().flatten() {
            data.insert(address(resource), sorted(&resource["depends_on"]));
        }
    }
    data
}

fn address(object: &Value) -> String {
    let deposed = object["deposed"].as_str().map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{}{deposed}", object["address"].as_str().unwrap_or("?"))
}

fn sorted(list: &Value) -> Value {
    let mut list = list.as_array().cloned().unwrap_or_default();
    list.sort_by_key(ToString::to_string);
    Value::Array(list)
}

/// Turns lists of objects that have addresses into maps, so that one that is missing does not shift the others.
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
    use serde_json::json;

    use super::{Answer, Differences, of_plan};

    fn differences(reference: serde_json::Value, ours: serde_json::Value) -> String {
        let answer = |plan| vec![("plan", Answer { data: of_plan(&plan), ..Answer::default() })];
        Differences::between(&answer(reference), &answer(ours)).to_string()
    }

    #[test]
    fn a_change_is_found_by_its_address_whatever_its_place() {
        let change =
            |address: &str, after| json!({ "address": address, "change": { "after": after } });
        let reference = json!({ "resource_changes": [change("a.a", 1), change("b.b", 2)] });
        let ours = json!({ "resource_changes": [change("b.b", 3), change("a.a", 1)] });
        assert_eq!(differences(reference.clone(), reference.clone()), "");
        assert_eq!(
            differences(reference, ours),
            "    plan: b.b.change.after: 2 in the reference, 3 here\n"
        );
    }

    #[test]
    fn an_attribute_that_one_lacks_is_a_difference() {
        let reference = json!({ "planned_values": { "outputs": { "x": true } } });
        let ours = json!({ "planned_values": { "outputs": {} } });
        assert_eq!(
            differences(reference, ours),
            "    plan: planned_values.outputs.x: true in the reference, null here\n"
        );
    }
}
