//! Checks of one pair of source and place.

use std::fmt::Write;

use conformance::{MADE_BY, Served, World, finds, plan_file, state_file};
use db::{Diagnostic, Severity};
use state::{Action, PlanFile, PlanMode};

use super::sources::{OUTPUT, REMOTE, SOURCES, Source, VARIABLE};

/// The placeholder of the expression in the text of a place.
const EXPR: &str = "@";
/// The placeholder of the whole object to which the expression belongs.
const OBJECT: &str = "@@";
/// The marker of the line that the diagnostic must point at.
const HERE: &str = "# here";

/// A place.
pub(crate) struct Place {
    /// A description for failure messages.
    pub(crate) name: String,
    /// A fixture that uses `@` at the place; `# here` is at the end of the refused line.
    pub(crate) text: String,
}

impl Place {
    pub(crate) fn new(name: &str, text: &str) -> Place {
        Place { name: name.to_owned(), text: text.to_owned() }
    }
}

/// The expected diagnostics of a place.
#[derive(Clone, Copy)]
pub(crate) enum Verdict {
    /// No diagnostics.
    Fine,
    /// An error with this summary and, unless it is empty, this detail.
    Refused(&'static str, &'static str),
    /// A warning with this summary, and no error.
    Warned(&'static str),
}

/// The expected result of `plan` for a program that `validate` refused.
#[derive(Clone, Copy)]
pub(crate) enum Plan {
    /// `plan` reports the diagnostic of `validate`, at the same line.
    Agrees,
    /// Another diagnostic, because the plan knows more or reaches the value elsewhere first.
    Says(Verdict),
    /// The plan never evaluates the place. Its output must not contain the value.
    NeverLooks,
}

/// Checks places with every source, and fails with all deviations.
#[track_caller]
pub(crate) fn check(rows: &[(Place, Verdict, Plan)]) {
    let mut wrong = String::new();
    for (place, verdict, plan) in rows {
        let mut served: Option<Served> = None;
        for source in SOURCES {
            judge(place, source, *verdict, *plan, &mut served, &mut wrong);
        }
        served.into_iter().for_each(Served::leave);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn judge(
    place: &Place,
    source: &Source,
    verdict: Verdict,
    plan: Plan,
    served: &mut Option<Served>,
    wrong: &mut String,
) {
    let text = place.text.replace(OBJECT, source.object).replace(EXPR, source.expr);
    let mut world = World::new(&format!("{text}\n{}", source.declarations));
    world.remote_secret("remote", REMOTE);
    world.remote_secret("other", "other");
    if source.declarations.contains("variable \"e\"") {
        world.set("e", VARIABLE);
    }
    let line = text.lines().position(|line| line.ends_with(HERE)).map(|it| it + 1);
    let mut said = |who: &str, complaint: String| {
        let _ = writeln!(wrong, "{}, {}: {who}: {complaint}", place.name, source.name);
    };
    let found = world.validate();
    if let Err(complaint) = agrees(&world, &found, verdict, line) {
        said("validate", complaint);
    }
    // The editor keeps the texts of the previous source open and edits them into those of the next one.
    let served = match served {
        Some(served) => {
            served.type_over(&world);
            served
        }
        None => served.insert(Served::new(&world)),
    };
    if let Err(complaint) = served.agrees(&world.analysis()) {
        said("the language server", complaint);
    }
    let outcome = world.plan();
    // A message with an unknown value is not shown.
    let silent = matches!(verdict, Verdict::Warned(_)) && !source.is_known;
    let planned = match plan {
        _ if silent => agrees(&world, &outcome.diagnostics, Verdict::Fine, line),
        Plan::Agrees => agrees(&world, &outcome.diagnostics, verdict, line),
        Plan::Says(verdict) => agrees(&world, &outcome.diagnostics, verdict, line),
        Plan::NeverLooks => Ok(()),
    };
    if let Err(complaint) = planned {
        said("plan", complaint);
    }
    let saved = match outcome.has_errors() {
        true => None,
        false => match plan_file(&outcome) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                said("the plan file", error.to_string());
                None
            }
        },
    };
    let leaked = saved.iter().flat_map(|it| leaks(it));
    leaked.for_each(|it| said("the plan file", format!("holds {it}")));
    if let (Some(bytes), false) = (saved, matches!(verdict, Verdict::Refused(..))) {
        live(&mut world, &bytes, &mut said);
    }
}

/// Applies the saved plan, checks that a second plan has no changes, and destroys everything.
fn live(world: &mut World, saved: &[u8], said: &mut impl FnMut(&str, String)) {
    let file = match PlanFile::read(saved, MADE_BY) {
        Ok(file) => file,
        Err(error) => return said("the plan file", error.to_string()),
    };
    let mut quiet = |who: &str, found: &[Diagnostic]| {
        if found.iter().any(|it| it.is_error()) {
            said(who, list(found));
        }
    };
    quiet("apply", &world.apply_plan(&file.plan, file.prior_state.state));
    let state = state_file(&world.state);
    let again = world.plan();
    quiet("plan after apply", &again.diagnostics);
    world.mode = PlanMode::Destroy;
    quiet("destroy", &world.apply());
    leaks(&state).into_iter().for_each(|it| said("the state", format!("holds {it}")));
    if again.plan.resource_changes.iter().any(|it| it.change.action != Action::NoOp) {
        said("plan after apply", "has something to do".to_owned());
    }
    if world.state.instances().count() > 0 {
        said("destroy", "leaves something".to_owned());
    }
}

/// The detail without the note that OpenTofu accepts the value. Only `validate` knows the path of the value, and
/// so adds the note.
fn without_note(detail: &str) -> &str {
    detail.split_once("\n\nOpenTofu accepts this").map_or(detail, |(detail, _)| detail)
}

/// Returns true for a hint, and for the note that the apply decides an assertion over unknown values.
fn is_no_refusal(found: &Diagnostic) -> bool {
    found.severity() == Severity::Hint || found.id() == "check-unknown"
}

fn leaks(bytes: &[u8]) -> Vec<&'static str> {
    [VARIABLE, OUTPUT, REMOTE].into_iter().filter(|secret| finds(bytes, secret)).collect()
}

fn agrees(
    world: &World,
    found: &[Diagnostic],
    verdict: Verdict,
    line: Option<usize>,
) -> Result<(), String> {
    let errors = found.iter().filter(|it| it.is_error()).count();
    let (summary, detail, severity) = match verdict {
        Verdict::Fine if found.iter().all(is_no_refusal) => return Ok(()),
        Verdict::Fine => return Err(format!("should say nothing, but says:\n{}", list(found))),
        Verdict::Refused(summary, detail) => (summary, detail, Severity::Error),
        Verdict::Warned(summary) => (summary, "", Severity::Warning),
    };
    let is_it = |it: &&Diagnostic| {
        it.summary == summary
            && (detail.is_empty() || without_note(&it.detail) == detail)
            && it.severity() == severity
    };
    let Some(diagnostic) = found.iter().find(is_it) else {
        return Err(format!("should say {summary:?} {detail:?}, but says:\n{}", list(found)));
    };
    if errors > usize::from(severity == Severity::Error) {
        return Err(format!("should say only {summary:?}, but says:\n{}", list(found)));
    }
    match line {
        Some(line) if line_of(world, diagnostic) != Some(line) => Err(format!(
            "should be at line {line}, but is at {:?}:\n{}",
            line_of(world, diagnostic),
            list(found)
        )),
        _ => Ok(()),
    }
}

fn line_of(world: &World, diagnostic: &Diagnostic) -> Option<usize> {
    let location = diagnostic.location.as_ref()?;
    let text = world.program().sources.text(&location.path)?;
    Some(text.get(..location.range.start as usize)?.matches('\n').count() + 1)
}

fn list(found: &[Diagnostic]) -> String {
    found.iter().fold(String::new(), |mut text, it| {
        let _ = writeln!(text, "        {:?}: {}: {}", it.severity(), it.summary, it.detail);
        text
    })
}
