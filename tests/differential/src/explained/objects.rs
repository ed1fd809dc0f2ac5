//! Rules about imports, moves, targets and commands that change the state.

use crate::{
    compare::Difference,
    explained::{Around, Rule},
    observation::Observation,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "`import` evaluates what it needs",
        applies: |seen| {
            let is_left_out = seen.is_of("state")
                && (seen.difference.class.contains("state: outputs")
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
            let is_event =
                detail.contains("\"type\":\"outputs\"") && detail.contains("\"value\":null");
            let is_type = class.contains("state: outputs.*.type") && detail.contains("\"dynamic\"");
            seen.around.planned_by.iter().any(|it| it == "-refresh-only") && (is_event || is_type)
        },
    },
    Rule {
        name: "checks beside targets",
        applies: |seen| {
            let Difference { class, detail, .. } = seen.difference;
            seen.has_targets()
                && (class.contains("state: check_results") || class.contains("plan: checks"))
                && detail.contains("reference: \"unknown\"")
        },
    },
    Rule {
        name: "a target without instances",
        applies: |seen| {
            let Around { command, planned_by, reference, mayfly, .. } = seen.around;
            let Difference { class, detail, .. } = seen.difference;
            let is_target = |it: &String| it.starts_with("-target=");
            // The reference announces more changes than it carries out.
            let is_lost_event = seen.is_of("events")
                && (detail.starts_with("only mayfly") && detail.contains("\"hook\":")
                    || detail.contains("\"type\":\"change_summary\""));
            let is_lost_object = class.contains("state: resources length")
                || class.contains("state: resources.[].instances length")
                || seen.is_of("effects") && detail.lines().all(|it| it.starts_with("only mayfly"));
            command[0] == "apply"
                && planned_by.iter().any(is_target)
                && [reference, mayfly].iter().all(|it| it.exit == 0)
                && (is_lost_event || is_lost_object || seen.is_of("text"))
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
            is_prior || is_stored
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
