//! Rules about imports, moves, targets and commands that change the state.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::{
    compare::Difference,
    explained::{Around, Rule},
    observation::Observation,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "`import` evaluates what it needs",
        applies: |seen| {
            // The reference reads all data sources.
            let is_read =
                seen.is_written("data \"") && seen.difference.class.contains(".attributes.");
            let is_left_out = seen.is_of("state")
                && (is_read
                    || seen.difference.class.contains("state: outputs")
                    || seen.difference.class.contains("state: check_results"));
            let detail = &seen.difference.detail;
            let is_of_others = seen.is_of("diagnostics")
                && detail.lines().all(|it| it.starts_with("only reference"));
            let is_import = seen.around.command.first().is_some_and(|it| it == "import");
            let Around { reference, mayfly, .. } = seen.around;
            let [theirs, ours] = [reference, mayfly].map(|it| it.strings("diagnostics"));
            let fails = |it: &&&str| it.starts_with("error: ") && !ours.contains(*it);
            let imports_alone =
                reference.exit == 1 && mayfly.exit == 0 && theirs.iter().any(|it| fails(&it));
            // Mayfly refuses what `validate` refuses.
            let is_refused = mayfly.exit == 1 && seen.invalid()[1];
            is_import && (is_left_out || is_of_others || imports_alone || is_refused)
        },
    },
    Rule {
        name: "an import ID that refers to its own resource",
        applies: |seen| {
            let validation = seen.around.checks[1].validation.strings("diagnostics");
            seen.is_written("import {")
                && seen.invalid() == [false, true]
                && validation.contains(&"error: Invalid import id argument")
        },
    },
    Rule {
        name: "`-replace` and a resource of the same name in another module",
        applies: |seen| seen.only(&["Incompletely-matched force-replace resource instance"], &[]),
    },
    Rule {
        name: "outputs beside targets",
        applies: |seen| {
            let Around { command, planned_by, reference, mayfly, .. } = seen.around;
            let [theirs, ours] = [reference, mayfly].map(|it| it.strings("diagnostics"));
            let is_error = |it: &&str| it.starts_with("error: ");
            // The reference fails in an output that its plan has left out.
            let fails = reference.exit == 1 && mayfly.exit == 0 && !ours.iter().any(is_error);
            let is_failure = fails
                && match seen.is_of("diagnostics") {
                    true => seen.difference.detail.starts_with("only reference"),
                    false => theirs.iter().any(is_error),
                };
            // The reference warns about a precondition in the plan, but evaluates no output in the apply.
            let is_repeated = planned_by.iter().any(|it| it == "-refresh-only")
                && seen.only(&[], &["Module output value precondition failed"]);
            let is_output = seen.is_of("events")
                && seen.difference.detail.contains("\"type\":\"outputs\"")
                || seen.difference.class.contains(": state: outputs");
            command[0] == "apply"
                && seen.has_targets()
                && seen.is_written("output \"")
                && (is_failure || is_output || is_repeated)
        },
    },
    Rule {
        name: "values beside targets",
        applies: |seen| {
            let of_absent = [
                "Invalid index",
                "Attempt to get attribute from null value",
                "Output refers to sensitive values",
            ];
            let Around { reference, mayfly, .. } = seen.around;
            let [theirs, ours] = [reference, mayfly].map(|it| it.strings("diagnostics"));
            let is_listed =
                |it: &&str| it.strip_prefix("error: ").is_some_and(|it| of_absent.contains(&it));
            let is_alone = reference.exit == 1
                && mayfly.exit != 1
                && theirs.iter().filter(|it| it.starts_with("error: ")).all(is_listed);
            let is_line = seen.only(&of_absent, &[]) && !ours.iter().any(is_listed);
            // The reference validates a variable that its plan has left out.
            let is_validation = seen.around.command[0] == "apply"
                && seen.only(&["Invalid value for variable"], &[]);
            seen.has_targets() && (is_alone || is_line || is_validation)
        },
    },
    Rule {
        name: "the apply of a refresh-only plan",
        applies: |seen| {
            let failed = "error: Module output value precondition failed";
            let Around { planned_by, reference, mayfly, .. } = seen.around;
            planned_by.iter().any(|it| it == "-refresh-only")
                && reference.exit == 1
                && mayfly.exit == 0
                && reference.strings("diagnostics").contains(&failed)
        },
    },
    Rule {
        name: "an object that a plan with targets forgets",
        applies: |seen| {
            let Difference { class, .. } = seen.difference;
            let is_kept = class.contains("state: resources length")
                || class.contains("state: resources.[].instances length");
            seen.has_targets() && seen.is_written("destroy = false") && is_kept
        },
    },
    Rule {
        name: "outputs of absent objects",
        applies: |seen| {
            let Difference { class, detail, .. } = seen.difference;
            let is_hidden = [":null", "\"sensitive\":true"].iter().any(|it| detail.contains(it));
            let is_event = detail.contains("\"type\":\"outputs\"") && is_hidden;
            let is_type = class.contains("state: outputs.*.type") && detail.contains("\"dynamic\"");
            seen.around.planned_by.iter().any(|it| it == "-refresh-only") && (is_event || is_type)
        },
    },
    Rule {
        name: "conditions of absent objects",
        applies: |seen| {
            let absent = "error: Attempt to get attribute from null value";
            let Around { planned_by, reference, mayfly, .. } = seen.around;
            planned_by.iter().any(|it| it == "-refresh-only")
                && reference.exit == 1
                && mayfly.exit != 1
                && seen.is_written("postcondition {")
                && reference.strings("diagnostics").contains(&absent)
        },
    },
    Rule {
        name: "checks beside targets",
        applies: |seen| {
            let Difference { class, detail, .. } = seen.difference;
            // After an error, the reference goes on to validate variables.
            let is_unknown = detail.contains("reference: \"unknown\"")
                || seen.both_fail() && detail.contains("mayfly:    \"unknown\"");
            seen.has_targets()
                && (class.contains("state: check_results") || class.contains("plan: checks"))
                && is_unknown
        },
    },
    Rule {
        name: "a target that does not change",
        applies: |seen| {
            let Around { command, planned_by, reference, mayfly, .. } = seen.around;
            // The reference carries out less than the plan, and less than Mayfly.
            let applied = [reference, mayfly].map(|it| {
                let destroyed = changes(it, "destroy", "Destroy complete!");
                changes(it, "apply", "Apply complete!").or(destroyed)
            });
            let planned = changes(reference, "plan", "Plan: ").max(announced(mayfly));
            let loses = applied[0].is_some() && (applied[0] < planned || applied[0] < applied[1]);
            // After an error there is no summary.
            let is_start = ["\"type\":\"apply_", "\"type\":\"provision_"];
            let is_lost = seen.both_fail()
                && seen.reports_all()
                && seen.difference.detail.starts_with("only mayfly")
                && (seen.is_of("effects")
                    || is_start.iter().any(|it| seen.difference.detail.contains(it)));
            let loses = reference.exit == 0 && loses || is_lost;
            let acts = command[0] == "apply" || command[0] == "destroy";
            acts && has_target(planned_by) && loses
        },
    },
    Rule {
        name: "dependencies of an imported object",
        applies: |seen| {
            let class = &seen.difference.class;
            let is_prior = seen.is_written("import {")
                && class.contains("plan: prior_state")
                && class.ends_with(".depends_on only mayfly");
            let is_stored = (seen.around.command[0] == "import" || seen.is_written("import {"))
                && class.ends_with("state: resources.[].instances.[].dependencies only mayfly");
            // The dependents of the object depend on what its ID was derived from, too.
            let is_of_dependents = seen.is_written("import {")
                && (class.contains(".dependencies ") || class.contains(".depends_on "))
                && has_more(&seen.difference.detail);
            // OpenTofu records `destroy = false` with the next change.
            let is_kept =
                seen.is_written("import {") && class.ends_with(".skip_destroy only mayfly");
            // So OpenTofu does not order its destruction, and an error there stops less.
            let is_order = seen.is_written("import {")
                && seen.both_fail()
                && seen.is_of("events")
                && seen.difference.detail.starts_with("only reference")
                && seen.difference.detail.contains("\"type\":\"apply_");
            is_prior || is_stored || is_of_dependents || is_kept || is_order
        },
    },
    Rule {
        name: "an import without an ID",
        applies: |seen| {
            let says = |it: &Observation| {
                it.strings("diagnostics").contains(&"error: Invalid import id argument")
            };
            let Around { reference, mayfly, .. } = seen.around;
            seen.is_written("import {") && says(mayfly) && !says(reference)
        },
    },
    Rule {
        name: "dependencies after a move",
        applies: |seen| {
            let Difference { class, detail, .. } = seen.difference;
            let is_of_dependencies =
                class.contains(".dependencies") || class.contains("depends_on");
            // Only the reference names a resource that the configuration no longer has.
            let theirs = detail.lines().find_map(|it| it.trim().strip_prefix("reference: "));
            let names = theirs.unwrap_or_default().split('"').filter(|it| it.contains('.'));
            let is_old = names.into_iter().any(|it| !seen.is_declared(it));
            seen.is_written("moved {") && is_of_dependencies && is_old
        },
    },
    Rule {
        name: "`state mv` from an address without an object",
        applies: |seen| {
            // The state of the reference may have an instance without an object.
            let is_moved =
                seen.around.reference.exit == 0 && seen.only(&[], &["Invalid source address"]);
            let is_occupied = seen.both_fail() && seen.only(&["Invalid target address"], &[]);
            seen.around.command[0] == "state" && (is_moved || is_occupied)
        },
    },
    Rule {
        name: "a redundant move in a module without instances",
        applies: |seen| {
            let redundant = "error: Redundant move statement";
            let Around { reference, mayfly, .. } = seen.around;
            seen.leaves_a_module_out()
                && mayfly.strings("diagnostics").contains(&redundant)
                && !reference.strings("diagnostics").contains(&redundant)
        },
    },
    Rule {
        name: "an object that depends on its own address",
        applies: |seen| {
            let Around { reference, mayfly, .. } = seen.around;
            let refused = reference.strings("diagnostics");
            let is_refusal = |it: &&str| it.starts_with("error: Self reference: ");
            reference.exit == 1 && mayfly.exit == 0 && refused.iter().any(is_refusal)
        },
    },
    Rule {
        name: "`state` beside an invalid configuration",
        applies: |seen| {
            let Around { command, reference, mayfly, .. } = seen.around;
            ["state", "taint", "untaint"].contains(&&*command[0])
                && reference.exit == 1
                && mayfly.exit == 0
                && seen.invalid()[1]
        },
    },
];

/// Returns true if the list of Mayfly has all entries of the list of the reference, and more.
fn has_more(detail: &str) -> bool {
    let list = |program: &str| -> Option<BTreeSet<String>> {
        let text = detail.lines().find_map(|it| it.trim().strip_prefix(program))?;
        serde_json::from_str::<Vec<String>>(text.trim()).ok().map(BTreeSet::from_iter)
    };
    let (theirs, ours) = (list("reference:"), list("mayfly:"));
    theirs.zip(ours).is_some_and(|(theirs, ours)| ours.is_superset(&theirs) && ours != theirs)
}

fn has_target(command: &[String]) -> bool {
    command.iter().any(|it| it.starts_with("-target="))
}

/// The number of changes that a summary counts, in JSON or in text. `None` if there is no summary.
fn changes(of: &Observation, operation: &str, line: &str) -> Option<u64> {
    let events = of.strings("events").into_iter();
    let events = events.filter_map(|it| serde_json::from_str::<Json>(it).ok());
    let of_json = events.filter(|it| it["changes"]["operation"] == operation).map(|it| {
        let members = it["changes"].as_object().into_iter().flatten();
        members.filter_map(|(_, count)| count.as_u64()).sum()
    });
    let texts = of.strings("text").into_iter().filter(|it| it.starts_with(line));
    let of_text = texts.map(|it| it.split(' ').filter_map(|word| word.parse::<u64>().ok()).sum());
    of_json.chain(of_text).last()
}

/// The number of changes in the JSON lines of an apply of a saved plan.
fn announced(of: &Observation) -> Option<u64> {
    let is_change = |it: &&str| it.contains("\"type\":\"planned_change\"");
    let count = of.strings("events").into_iter().filter(is_change).count();
    u64::try_from(count).ok().filter(|it| *it > 0)
}
