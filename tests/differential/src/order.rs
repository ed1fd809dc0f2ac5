//! Checks that effects happen in the order that the dependencies in the state require.
//!
//! If X depends on Y, Y is created and updated before X, and X is destroyed before Y. Any other order varies
//! between two runs of one program, so orders are checked, not compared. A violation is a difference only if the
//! reference does not have the same one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::names::{array, resource_address};

/// The time span of an effect, as indexes of events or lines.
#[derive(Clone)]
struct Span {
    /// The address of the instance.
    address: String,
    begin: usize,
    end: usize,
}

/// The effects of one kind on the instances of a resource, by the address of the resource.
type Spans = BTreeMap<String, Vec<Span>>;

#[derive(Default)]
struct Effects {
    made: Spans,
    destroyed: Spans,
}

/// Returns a line for each pair of resources whose effects came in the wrong order.
pub(crate) fn violations(events: &[Json], log: &[String], states: [&Json; 2]) -> Vec<String> {
    let [before, after] = states.map(dependencies);
    let mut found = BTreeSet::new();
    for effects in [of_events(events), of_log(log)] {
        for (dependent, dependency) in &after {
            for [first, second] in pairs(&effects.made, dependency, dependent) {
                // Within a module, dependencies are between parts of the same module instance.
                if first.end > second.begin && may_depend(&second.address, &first.address) {
                    found.insert(format!("{dependent} was made before {dependency}"));
                }
            }
        }
        for (dependent, dependency) in &before {
            for [first, second] in pairs(&effects.destroyed, dependent, dependency) {
                if first.end > second.begin {
                    found.insert(format!("{dependency} was destroyed before {dependent}"));
                }
            }
        }
    }
    found.into_iter().collect()
}

fn pairs<'a>(spans: &'a Spans, first: &str, second: &str) -> impl Iterator<Item = [&'a Span; 2]> {
    let of = |name: &str| spans.get(name).map_or(&[] as &[Span], Vec::as_slice);
    let second = of(second);
    of(first).iter().flat_map(move |a| second.iter().map(move |b| [a, b]))
}

/// Returns false if both addresses are in different instances of a common module.
fn may_depend(dependent: &str, dependency: &str) -> bool {
    let steps = |address: &str| -> Vec<String> {
        let parts: Vec<&str> = address.split('.').collect();
        let calls = parts.chunks(2).take_while(|it| it[0] == "module");
        calls.map(|it| it[1..].concat()).collect()
    };
    let pairs = steps(dependent).into_iter().zip(steps(dependency));
    let mut common = pairs.take_while(|(a, b)| without_keys(a) == without_keys(b));
    common.all(|(a, b)| a == b)
}

/// The dependencies of a state as pairs of resources without instance keys: the dependent and its dependency.
fn dependencies(state: &Json) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for resource in array(&state["resources"]) {
        let dependent = without_keys(&resource_address(resource));
        for instance in array(&resource["instances"]) {
            for dependency in array(&instance["dependencies"]).iter().filter_map(Json::as_str) {
                if dependency != dependent {
                    found.insert((dependent.clone(), dependency.to_owned()));
                }
            }
        }
    }
    found
}

fn of_events(events: &[Json]) -> Effects {
    let mut effects = Effects::default();
    let mut begun: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let hook = &event["hook"];
        let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
        let key = (text(&hook["resource"]["addr"]), text(&hook["action"]));
        match event["type"].as_str() {
            Some("apply_start") => {
                begun.insert(key, at);
            }
            Some("apply_complete" | "apply_errored") => {
                let Some(begin) = begun.remove(&key) else { continue };
                let spans = match &*key.1 {
                    "create" | "update" => &mut effects.made,
                    "delete" => &mut effects.destroyed,
                    _ => continue,
                };
                let resource = without_keys(&key.0);
                let span = Span { address: key.0, begin, end: at };
                spans.entry(resource).or_default().push(span);
            }
            _ => {}
        }
    }
    effects
}

/// The effects from the lines of provisioners: `create ADDRESS` and `destroy ADDRESS`.
fn of_log(log: &[String]) -> Effects {
    let mut effects = Effects::default();
    for (at, line) in log.iter().enumerate() {
        let mut words = line.split(' ');
        let spans = match words.next() {
            Some("create") => &mut effects.made,
            Some("destroy") => &mut effects.destroyed,
            _ => continue,
        };
        let address = words.next().unwrap_or_default().to_owned();
        spans.entry(without_keys(&address)).or_default().push(Span { address, begin: at, end: at });
    }
    effects
}

/// The address of the resource in the configuration. Keys in generated configurations contain no brackets.
fn without_keys(address: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    for char in address.chars() {
        match char {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            char if depth == 0 => out.push(char),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state() -> Json {
        let resource = |name: &str, dependencies: &[&str]| {
            let instances = json!([{ "dependencies": dependencies }]);
            json!({ "mode": "managed", "type": "t", "name": name, "instances": instances })
        };
        json!({ "resources": [resource("a", &[]), resource("b", &["t.a"])] })
    }

    fn event(kind: &str, address: &str, action: &str) -> Json {
        json!({ "type": kind, "hook": { "resource": { "addr": address }, "action": action } })
    }

    #[test]
    fn dependent_created_too_early_is_a_violation() {
        let run = |events: &[Json]| violations(events, &[], [&Json::Null, &state()]);
        let a = ["apply_start", "apply_complete"].map(|it| event(it, "t.a[0]", "create"));
        let b = ["apply_start", "apply_complete"].map(|it| event(it, "t.b", "create"));
        assert!(run(&[&a[..], &b[..]].concat()).is_empty());
        let [a_start, a_end] = a;
        let [b_start, b_end] = b;
        let overlapping = [a_start, b_start, a_end, b_end];
        assert_eq!(run(&overlapping), ["t.b was made before t.a"]);
    }

    #[test]
    fn instances_of_a_module_do_not_depend_on_each_other() {
        assert!(may_depend("module.m[\"a\"].t.b", "module.m[\"a\"].t.a"));
        assert!(may_depend("module.m[\"a\"].t.b", "module.n[\"b\"].t.a"));
        assert!(!may_depend("module.m[\"a\"].t.b", "module.m[\"b\"].module.n.t.a"));
    }

    #[test]
    fn dependency_destroyed_too_early_is_a_violation() {
        let run = |log: &[&str]| {
            let log: Vec<_> = log.iter().map(|it| (*it).to_owned()).collect();
            violations(&[], &log, [&state(), &Json::Null])
        };
        assert!(run(&["destroy t.b", "destroy t.a"]).is_empty());
        assert_eq!(run(&["destroy t.a", "destroy t.b"]), ["t.a was destroyed before t.b"]);
    }
}
