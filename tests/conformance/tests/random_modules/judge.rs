//! The properties of a configuration that is validated, planned and applied.

use addr::{AbsResource, InstanceKey, ModuleInstance, Resource, ResourceMode};
use conformance::{World, finds, log_of, plan_file, schemas_of, state_file};
use db::{Diagnostic, Rule, Severity, Sources};
use engine::{Event, PlanOutcome};
use hir::{
    Ref,
    analysis::{AnalyzedItem, Tri, item_value},
    names::{ItemName, block_names, lookup},
};
use render::{PlanJson, PlanView, StateJson, Style};
use state::PlanMode;
use values::{Kind, MarkKind, Value};

use crate::{
    blocks::is_made,
    generate::{EPHEMERAL, Modules, REMOTE, SENSITIVE},
    marks::disagreement,
};

/// The ids of the errors about ephemeral values in places that store them.
const MISPLACED: [&str; 7] = [
    "ephemeral-prevent-destroy",
    "ephemeral-value-misuse",
    "ephemeral-repetition",
    "ephemeral-root-output",
    "output-not-ephemeral",
    "variable-not-ephemeral",
    "ephemeral-input",
];

/// The id of the error about a plan that contains an ephemeral value after all.
const LAST_LOOK: &str = "ephemeral-in-plan";

/// A violated property.
pub(crate) struct Wrong {
    /// The name of the property, so that shrinking keeps to it.
    pub(crate) property: &'static str,
    pub(crate) detail: String,
}

/// The numbers of configurations that reached each phase.
#[derive(Default, Debug, Clone, Copy)]
pub(crate) struct Tally {
    validated: u64,
    misplaced: u64,
    planned: u64,
    applied: u64,
    compared: u64,
    early: u64,
    destroyed: u64,
    imported: u64,
}

impl Tally {
    pub(crate) fn and(self, other: Tally) -> Tally {
        Tally {
            validated: self.validated + other.validated,
            misplaced: self.misplaced + other.misplaced,
            planned: self.planned + other.planned,
            applied: self.applied + other.applied,
            compared: self.compared + other.compared,
            early: self.early + other.early,
            destroyed: self.destroyed + other.destroyed,
            imported: self.imported + other.imported,
        }
    }

    /// Returns true if enough of `of` configurations reached each phase for the test to be meaningful.
    pub(crate) fn is_telling(&self, of: u64) -> bool {
        self.validated * 4 > of
            && self.applied * 5 > of
            && self.misplaced * 50 > of
            && self.early * 25 > of
            && self.destroyed * 6 > of
            && self.imported * 10 > of
    }
}

/// Runs a configuration and returns the first violated property.
pub(crate) fn judge(modules: &Modules, tally: &mut Tally) -> Option<Wrong> {
    let fixture = modules.fixture();
    let mut world = World::bare(&fixture);
    world.remote_secret("remote", REMOTE);
    world.remote_secret("other", "other");
    for (name, value) in &modules.values {
        if fixture.contains(&format!("variable \"{name}\"")) {
            world.set_value(name, value.clone());
        }
    }
    let (is_comparable, early) = (modules.is_comparable(), modules.early);
    let secret = modules.secrets().next();
    let mut run = Run { world: &mut world, fixture: &fixture, is_comparable, early, secret };
    run.judge(tally).err()
}

struct Run<'w> {
    world: &'w mut World,
    fixture: &'w str,
    /// True if a console can determine the marks of a run.
    is_comparable: bool,
    /// The id of the expected error about `local.early`, if the configuration uses it.
    early: Option<&'static str>,
    /// A secret of the root module that can be imported.
    secret: Option<&'w str>,
}

type Verdict = Result<(), Wrong>;

fn wrong(property: &'static str, detail: impl Into<String>) -> Verdict {
    Err(Wrong { property, detail: detail.into() })
}

impl Run<'_> {
    fn judge(&mut self, tally: &mut Tally) -> Verdict {
        let found = self.world.validate();
        self.diagnostics("validate", &found)?;
        explained(&found)?;
        self.early(&found, tally)?;
        self.imported(tally)?;
        let planned = self.world.plan();
        self.diagnostics("plan", &planned.diagnostics)?;
        self.events("plan")?;
        let misplaced: Vec<&Diagnostic> = found.iter().filter(|it| is_misplaced(it)).collect();
        if has_errors(&found) {
            tally.misplaced += u64::from(!misplaced.is_empty());
            return self.refused_by_plan(&misplaced, &found, &planned);
        }
        tally.validated += 1;
        foreseen(&found, &planned.diagnostics)?;
        if planned.has_errors() {
            return Ok(());
        }
        tally.planned += 1;
        self.plan(&planned)?;
        self.static_marks(tally)?;
        let said = self.world.apply_plan(&planned.plan, planned.refreshed.clone());
        self.diagnostics("apply", &said)?;
        self.events("apply")?;
        tally.applied += u64::from(!has_errors(&said));
        self.state()?;
        self.static_marks(tally)?;
        self.destroyed(tally)
    }

    /// Imports an existing object.
    fn imported(&mut self, tally: &mut Tally) -> Verdict {
        let Some(name) = self.secret else { return Ok(()) };
        let resource = Resource::new(ResourceMode::Managed, "playground_secret", name);
        let address = AbsResource { module: ModuleInstance::root(), resource };
        let outcome = self.world.import(address.instance(InstanceKey::None), "other");
        self.diagnostics("import", &outcome.diagnostics)?;
        self.events("import")?;
        tally.imported += u64::from(!has_errors(&outcome.diagnostics));
        Run::kept("the state after an import", &state_file(&outcome.state))
    }

    /// Destroys everything, which runs the destroy provisioners.
    fn destroyed(&mut self, tally: &mut Tally) -> Verdict {
        self.world.mode = PlanMode::Destroy;
        let planned = self.world.plan();
        self.diagnostics("plan -destroy", &planned.diagnostics)?;
        self.events("plan -destroy")?;
        if planned.has_errors() {
            return Ok(());
        }
        self.plan(&planned)?;
        let said = self.world.apply_plan(&planned.plan, planned.refreshed.clone());
        self.diagnostics("destroy", &said)?;
        self.events("destroy")?;
        tally.destroyed += u64::from(!has_errors(&said));
        self.state()
    }

    /// A place that is evaluated before a run refuses a value if and only if it is surely ephemeral.
    fn early(&self, found: &[Diagnostic], tally: &mut Tally) -> Verdict {
        let Some(id) = self.early else { return Ok(()) };
        let project = self.world.project();
        let (db, workspace, root) = (project.db(), project.workspace(), project.root());
        let name = ItemName::Local("early".into());
        let Some(key) = lookup(db, root, &name) else { return Ok(()) };
        let known = item_value(db, AnalyzedItem::of(db, workspace, root, key));
        let is_told = found.iter().any(|it| {
            it.id() == id && it.is_error() && is_about_ephemeral(it) && self.is_at_early(it)
        });
        tally.early += 1;
        match known.deep_marks().ephemeral {
            Tri::Yes if !is_told => {
                wrong("early", format!("local.early is ephemeral, and no {id} is told"))
            }
            Tri::No if is_told => {
                wrong("early", format!("local.early is not ephemeral, and {id} is told"))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if `local.early` is on the line of a diagnostic. Other lines may have the same error.
    fn is_at_early(&self, it: &Diagnostic) -> bool {
        let Some(at) = &it.location else { return false };
        let mut files = self.world.files().iter().filter(|(path, _)| **path == *at.path);
        files.next().is_some_and(|(_, text)| {
            let (before, after) = text.split_at(at.range.start as usize);
            let line = before.rsplit('\n').next().into_iter().chain(after.lines().next());
            line.collect::<String>().contains("local.early")
        })
    }

    /// A plan without prior analysis must refuse what analysis reports as an error.
    fn refused_by_plan(
        &self,
        misplaced: &[&Diagnostic],
        found: &[Diagnostic],
        planned: &PlanOutcome,
    ) -> Verdict {
        // Without instances, nothing is evaluated.
        let of_objects = self.fixture.lines().filter_map(|it| it.strip_prefix("  for_each = "));
        let mut maps = of_objects.filter(|it| !it.starts_with("{ a = "));
        let is_looked_at = maps.next().is_none()
            && !["count = 0", "enabled ="].iter().any(|it| self.fixture.contains(it));
        let only_misplaced = found.iter().filter(|it| it.is_error()).all(is_misplaced);
        let has_errors = planned.diagnostics.iter().any(Diagnostic::is_error);
        if !is_looked_at || !only_misplaced || has_errors {
            return Ok(());
        }
        let files = self.world.files();
        match misplaced.iter().find(|it| is_made(it, files, &planned.plan)) {
            Some(it) => wrong("false-alarm", format!("{}: {}", it.summary, it.detail)),
            None => Ok(()),
        }
    }

    fn diagnostics(&mut self, who: &'static str, found: &[Diagnostic]) -> Verdict {
        // The engine's final check of a plan must find nothing that the earlier rules missed.
        if let Some(it) = found.iter().find(|it| it.id() == LAST_LOOK) {
            return wrong("kept", format!("{who}: {}: {}", it.summary, it.detail));
        }
        let sources = self.sources();
        let text = render::diagnostics(found, &sources, &Style::PLAIN);
        let json = render::validate_json(found, &sources);
        self.printed(who, &format!("{text}{json}{found:?}"))
    }

    fn events(&mut self, who: &'static str) -> Verdict {
        let events: Vec<Event> = self.world.take_events();
        let sources = self.sources();
        let mut text = log_of(&events);
        for event in &events {
            text.extend(render::event(event, &Style::PLAIN));
            text.extend(render::event_json(event, "", &sources));
        }
        self.printed(who, &text)
    }

    /// Printed text contains no secret.
    fn printed(&self, who: &str, text: &str) -> Verdict {
        let text = text.to_lowercase();
        match [EPHEMERAL, SENSITIVE].into_iter().find(|it| text.contains(it)) {
            Some(SENSITIVE) if self.fixture.contains("nonsensitive(") => Ok(()),
            Some(canary) => {
                let line = text.lines().find(|it| it.contains(canary)).unwrap_or_default();
                wrong("printed", format!("{who} says: {line}"))
            }
            None => Ok(()),
        }
    }

    /// Stored data contains no ephemeral value.
    fn kept(what: &str, bytes: &[u8]) -> Verdict {
        match finds(bytes, EPHEMERAL) || finds(bytes, &EPHEMERAL.to_uppercase()) {
            true => wrong("kept", format!("{what} holds an ephemeral value")),
            false => Ok(()),
        }
    }

    fn plan(&self, planned: &PlanOutcome) -> Verdict {
        match plan_file(planned) {
            Ok(bytes) => Run::kept("the plan file", &bytes)?,
            Err(error) => return wrong("kept", format!("the plan file: {error}")),
        }
        let view = PlanView { plan: &planned.plan, schemas: &schemas_of, show_sensitive: false };
        let shown = render::plan(&view, &Style::PLAIN);
        self.printed("the plan", &without_read_back(&shown))?;
        let program = self.world.program();
        let json = PlanJson { view, prior_state: None, program: Some(&program) };
        Run::kept("the plan in JSON", render::plan_json(&json).as_bytes())
    }

    fn state(&self) -> Verdict {
        let state = &self.world.state;
        Run::kept("the state file", &state_file(state))?;
        let json = StateJson { state: Some(state), written_by: "1.12.6", schemas: &schemas_of };
        Run::kept("the state in JSON", render::state_json(&json).as_bytes())?;
        self.printed("outputs", &render::outputs(state, false))?;
        let shown = render::state(state, &schemas_of, false, &Style::PLAIN);
        self.printed("show", &without_read_back(&shown))
    }

    /// Compares the marks of static analysis with the values of everything in the root module that has one.
    fn static_marks(&self, tally: &mut Tally) -> Verdict {
        if !self.is_comparable {
            return Ok(());
        }
        let project = self.world.project();
        let (db, workspace, root) = (project.db(), project.workspace(), project.root());
        let blocks = root.files(db).iter().flat_map(|file| file.blocks(db)).copied();
        let names = blocks.flat_map(|block| block_names(db, block));
        for name in names {
            let Some(reference) = reference(name) else { continue };
            let Some(key) = lookup(db, root, name) else { continue };
            let known = item_value(db, AnalyzedItem::of(db, workspace, root, key));
            let Some(value) = self.world.reference(&reference) else { continue };
            tally.compared += 1;
            // While `try` reads an unknown value, its result has the marks of all candidates. In a run, an output
            // would refuse an ephemeral result, but nothing runs here.
            let foreseen = match reference {
                Ref::Module(_) => decided(&value),
                _ => value.clone(),
            };
            let kinds = [MarkKind::Ephemeral];
            if let Some(problem) = disagreement(known, (&foreseen, &value), &kinds) {
                return wrong("marks", format!("{reference}: {problem}: {value:?}"));
            }
            let is_explained = known.origin.as_ref().is_some_and(|it| it.chain().next().is_some());
            if known.deep_marks().ephemeral > Tri::No && !is_explained {
                return wrong("chain", format!("{reference} is ephemeral without a reason"));
            }
        }
        Ok(())
    }

    fn sources(&self) -> Sources {
        self.world.program().sources.clone()
    }
}

/// Analysis foresaw every misuse that a plan refuses, at least as a possible one. Hints are for editors and do not
/// count.
fn foreseen(found: &[Diagnostic], planned: &[Diagnostic]) -> Verdict {
    let of_plan = planned.iter().filter(|it| is_misplaced(it));
    let is_foreseen = |it: &&Diagnostic, found: &Diagnostic| {
        let is_misplaced = MISPLACED.contains(&it.id().code());
        found.id() == it.id() || is_misplaced && found.id() == Rule::PossiblyEphemeral
    };
    let mut unforeseen = of_plan.filter(|it| !found.iter().any(|found| is_foreseen(it, found)));
    match unforeseen.next() {
        Some(it) => wrong("unforeseen", format!("{}: {}", it.summary, it.detail)),
        None => Ok(()),
    }
}

/// The text of a plan or state without the `output` of `terraform_data`: a sensitive mark is not guaranteed to
/// survive a provider's read. Neither text contains ephemeral values.
fn without_read_back(text: &str) -> String {
    let mut hidden_from = None;
    let mut is_kept = |line: &&str| {
        let content = line.trim_start_matches([' ', '+', '-', '~', '/', '<', '=']);
        let depth = line.len() - content.len();
        let goes_on = |from: usize| depth > from || content.starts_with(['}', ']', ')']);
        if !hidden_from.is_some_and(goes_on) {
            hidden_from = content.starts_with("output ").then_some(depth);
        }
        hidden_from.is_none()
    };
    text.lines().filter(|line| is_kept(line)).map(|line| format!("{line}\n")).collect()
}

/// The known outputs of a module.
fn decided(outputs: &Value) -> Value {
    outputs.transform(&mut |_, part| match part.kind() {
        Kind::Unknown(_) => Value::dynamic(),
        _ => part.clone(),
    })
}

fn reference(name: &ItemName) -> Option<Ref> {
    Some(match name {
        ItemName::Variable(name) => Ref::Variable(name.clone()),
        ItemName::Local(name) => Ref::Local(name.clone()),
        ItemName::Resource(resource) => Ref::Resource(Box::new(resource.clone())),
        ItemName::Module(name) => Ref::Module(name.clone()),
        _ => return None,
    })
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(Diagnostic::is_error)
}

fn is_about_ephemeral(it: &Diagnostic) -> bool {
    format!("{} {}", it.summary, it.detail).to_lowercase().contains("ephemeral")
}

fn is_misplaced(it: &Diagnostic) -> bool {
    it.is_error() && MISPLACED.contains(&it.id().code())
}

/// An error about an ephemeral value has the chain of its origin.
fn explained(found: &[Diagnostic]) -> Verdict {
    let by_value = |it: &&Diagnostic| {
        MISPLACED.contains(&it.id().code())
            && it.id() != "ephemeral-root-output"
            && it.severity() <= Severity::Hint
    };
    match found.iter().filter(by_value).find(|it| it.related.is_empty()) {
        Some(it) => wrong("chain", format!("{} at {:?} has no chain", it.summary, it.location)),
        None => Ok(()),
    }
}
