//! Recovery after a killed run: replays its journal into the state that the journal belongs to.
//!
//! ```text
//!   state + journal ─► is the journal of this state? ─► missing records ─► state; uncertain objects stay listed
//!                              └─ no, and the state lacks records of it: an error, and nothing is changed
//! ```

use std::path::Path;

use backend::{JournalStore, StoreError};
use db::{Diagnostic, Rule, Summary};
use engine::ways_out;
use state::{
    StateFile,
    journal::{Begin, Changed, Intent, Journal, JournalError, Opening, Record, replay},
};

/// The result of comparing a journal with a state.
#[derive(Debug, Default)]
pub struct Findings {
    /// The first record of the journal. `None` if there is no journal.
    pub begin: Option<Begin>,
    /// The number of instances that the replay changed.
    pub changed: usize,
    /// The creations whose outcome is unknown.
    pub uncertain: Vec<Intent>,
    /// The ephemeral resources that were never closed.
    pub left_open: Vec<Opening>,
}

impl Findings {
    /// Returns true if a run was interrupted and its journal was not handled yet.
    pub fn is_news(&self) -> bool {
        self.begin.as_ref().is_some_and(|it| !it.is_rest)
    }

    /// Returns true if the recovered state must be written. Saved plans for the old state become stale then.
    pub fn is_to_be_written(&self) -> bool {
        self.changed > 0 || (self.is_news() && !self.uncertain.is_empty())
    }
}

/// Reads a journal. `None` if there is none.
pub fn read(store: &dyn JournalStore) -> Result<Option<Journal>, Box<Diagnostic>> {
    let entries = store.read().map_err(|error| Box::new(unreadable(&error, &store.place())))?;
    let read = Journal::read(&entries.unwrap_or_default());
    read.map_err(|error| Box::new(not_understood(&error, &store.place())))
}

/// Replays a journal into a state. `digest` is the digest of the state's bytes, or `None` if there is no state;
/// then the lineage of the journal is used.
///
/// # Errors
/// The journal belongs to another state, and has changes that this state lacks.
pub fn take_over(
    journal: &Journal,
    file: &mut StateFile,
    digest: Option<&str>,
    place: &str,
    state_path: &Path,
) -> Result<Findings, Box<Diagnostic>> {
    let mut findings = Findings {
        begin: Some(journal.begin.clone()),
        changed: 0,
        uncertain: journal.uncertain(),
        left_open: journal.left_open().into_iter().cloned().collect(),
    };
    match journal.since(digest) {
        Some(records) => {
            if digest.is_none() {
                file.lineage.clone_from(&journal.begin.lineage);
            }
            findings.changed = replay(&mut file.state, records);
        }
        None if lacks_nothing(journal, file) => {}
        None => {
            let exists = digest.is_some().then_some(&*file);
            return Err(Box::new(foreign(journal, exists, place, state_path)));
        }
    }
    Ok(findings)
}

/// Returns true if a state already has all changes of the journal, even though the journal does not list its
/// digest.
fn lacks_nothing(journal: &Journal, file: &StateFile) -> bool {
    replay(&mut file.state.clone(), journal.records()) == 0
}

fn unreadable(error: &StoreError, place: &str) -> Diagnostic {
    match error {
        StoreError::Damaged { .. } => {
            let detail = format!(
                "{error}: it was complete when it was written, so another program has changed it \
                 since. It records the changes of a run that did not finish. Nothing was done, and \
                 the file was not changed.\n\nRestore it from a copy. If there is none, move it \
                 away (mv {place} {place}.damaged), and run \"mayfly plan\" to compare the state \
                 with the existing objects: the objects that were created last may be missing from \
                 the state. Add them with \"mayfly import\"."
            );
            Diagnostic::new(Summary::JOURNAL_DAMAGED, detail)
        }
        StoreError::NewerJournal { .. } => newer(&error.to_string()),
        _ => {
            let detail = format!(
                "{error}. It may record the changes of a run that did not finish, so nothing was \
                 done. Correct its permissions, or run the command as the user who owns it."
            );
            Diagnostic::new(Summary::JOURNAL_UNREADABLE, detail)
        }
    }
}

fn newer(what: &str) -> Diagnostic {
    let detail = format!(
        "{what}. It records the changes of a run of a later version that did not finish, so \
         nothing was done. Run the command with that version of Mayfly."
    );
    Diagnostic::new(Summary::JOURNAL_FORMAT, detail)
}

fn not_understood(error: &JournalError, place: &str) -> Diagnostic {
    match error {
        JournalError::NewFormat(_) => {
            newer(&format!("The journal {place} cannot be read: {error}"))
        }
        _ => {
            let detail = format!(
                "{place}: {error}. It records the changes of a run that did not finish. Nothing \
                 was done, and the file was not changed.\n\nIf it was written by a later version \
                 of Mayfly, run the command with that one. Otherwise move it away (mv {place} \
                 {place}.damaged), and run \"mayfly plan\" to compare the state with the existing \
                 objects."
            );
            Diagnostic::new(Summary::JOURNAL_DAMAGED, detail)
        }
    }
}

/// The error for a state that the journal does not belong to.
fn foreign(
    journal: &Journal,
    file: Option<&StateFile>,
    place: &str,
    state_path: &Path,
) -> Diagnostic {
    let begin = &journal.begin;
    let state_path = state_path.display();
    let found = match file {
        None => format!("there is no {state_path} any more"),
        Some(file) if file.lineage != begin.lineage => {
            format!("{state_path} has the lineage {:?}: it is another state", file.lineage)
        }
        Some(file) if file.serial < begin.serial => {
            format!("{state_path} has the serial {}: an older state was restored", file.serial)
        }
        Some(file) => format!(
            "{state_path} has the serial {}: another program has written it since",
            file.serial
        ),
    };
    let detail = format!(
        "{place} was left by \"{}\", which began at {} and did not finish. It belongs to the state \
         with the lineage {:?} and the serial {}, but {found}. Nothing was done.\n\nThe journal \
         records these changes, which the state lacks:\n{}\nEither restore the state that the \
         journal belongs to, and run the command again, which adds these changes to it. Or, if the \
         current state is correct, move the journal away (mv {place} {place}.old), and import the \
         missing objects.",
        begin.operation,
        begin.time,
        begin.lineage,
        begin.serial,
        contents(journal)
    );
    Diagnostic::new(Summary::JOURNAL_OF_ANOTHER_STATE, detail)
}

fn contents(journal: &Journal) -> String {
    let changed = journal.records().iter().filter_map(|record| match record {
        Record::Instance(changed) => Some((changed.address.to_string(), outcome_of(changed))),
        _ => None,
    });
    // The last record of an instance counts.
    let all: std::collections::BTreeMap<String, &str> = changed.collect();
    let uncertain = journal.uncertain();
    let uncertain = uncertain.iter().map(|it| format!("  {}: may exist\n", it.object));
    all.iter().map(|(at, what)| format!("  {at}: {what}\n")).chain(uncertain).collect()
}

fn outcome_of(changed: &Changed) -> &'static str {
    match changed.instance.is_empty() {
        true => "is gone",
        false => "was created or changed",
    }
}

/// The diagnostics for the findings of a recovery. `state` is the file of the state, `None` for the usual one.
pub fn report(findings: &Findings, state: Option<&str>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(begin) = findings.begin.as_ref().filter(|_| findings.is_news()) {
        found.extend(cut_off(begin, findings));
        found.extend(left_open(&findings.left_open));
    }
    found.extend(uncertain(&findings.uncertain, state));
    found
}

fn cut_off(begin: &Begin, findings: &Findings) -> Option<Diagnostic> {
    let taken = match findings.changed {
        0 if findings.uncertain.is_empty() => return None,
        0 => "The state already contains all changes that were recorded.".to_owned(),
        1 => "Its changes to 1 resource instance were not in the state yet, and were recovered \
              from its journal."
            .to_owned(),
        count => format!(
            "Its changes to {count} resource instances were not in the state yet, and were \
             recovered from its journal."
        ),
    };
    let detail = format!(
        "\"{}\" in the workspace {:?}, begun at {} with {}, did not finish. {taken} Make a new \
         plan to see the remaining changes.",
        begin.operation, begin.workspace, begin.time, begin.program
    );
    Some(Diagnostic::new(Summary::RUN_CUT_OFF, detail))
}

/// A warning about ephemeral resources that an interrupted run left open. `None` if there are none.
pub fn left_open(openings: &[Opening]) -> Option<Diagnostic> {
    let list: String = openings
        .iter()
        .map(|it| {
            format!("  {}, opened at {} with {}\n", it.address, it.time, it.provider.for_display())
        })
        .collect();
    let detail = format!(
        "A run that did not finish had opened these ephemeral resources and did not close \
         them:\n\n{list}\nThey can no longer be closed, because the data needed to close them is \
         never saved. They stay open until the provider's own limit ends them; end them manually \
         if that takes too long. This warning is shown once."
    );
    let warning = Diagnostic::new(Summary::EPHEMERAL_LEFT_OPEN, detail);
    (!openings.is_empty()).then_some(warning)
}

/// The id of the diagnostic of [`uncertain`].
pub const UNCERTAIN: Rule = Rule::UncertainCreate;

/// The diagnostic for creations whose outcome is unknown. `None` if there are none. `state` is the file of the state,
/// `None` for the usual one.
pub fn uncertain(intents: &[Intent], state: Option<&str>) -> Option<Diagnostic> {
    let each = |it: &Intent| {
        let named = it.named.as_ref().map(|named| format!(" ({named})")).unwrap_or_default();
        format!(
            "  {}{named}, a {} of {}, asked for at {}\n{}\n",
            it.object,
            it.object.instance.resource.type_name,
            it.provider.source.for_display(),
            it.time,
            ways_out(&it.object.instance, state)
                .lines()
                .map(|line| format!("    {line}\n"))
                .collect::<String>()
        )
    };
    let list: String = intents.iter().map(each).collect();
    let detail = format!(
        "A provider was asked to create these objects, but its response never arrived. They may or \
         may not exist, so Mayfly creates nothing at these addresses until you have checked and \
         recorded the result:\n\n{}",
        list.trim_end()
    );
    let warning = Diagnostic::new(Summary::UNCERTAIN_CREATES, detail);
    (!intents.is_empty()).then_some(warning)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use state::{Object, State};

    use super::*;

    const PLACE: &str = "terraform.tfstate.journal";

    fn record(text: &str) -> Record {
        let address = addr::parse_resource_instance(text).expect("an address");
        let provider = r#"provider["registry.opentofu.org/hashicorp/test"]"#;
        let provider = addr::ProviderConfigRef::parse(provider).expect("a provider");
        let mut state = State::default();
        state.set_current(&address, &provider, Arc::new(Object::from_json(0, "{}".into())));
        Record::Instance(Changed::of(&state, &address, None))
    }

    fn journal(records: &[Record]) -> Journal {
        let begin = Begin {
            lineage: "l".to_owned(),
            serial: 3,
            digest: Some("three".to_owned()),
            operation: "mayfly apply".to_owned(),
            workspace: "default".to_owned(),
            time: "2026-01-02T03:04:05Z".to_owned(),
            program: "mayfly 0".to_owned(),
            is_rest: false,
        };
        let mut entry = Vec::new();
        for record in std::iter::once(&Record::Begin(begin)).chain(records) {
            record.write(&mut entry).expect("nothing secret");
        }
        Journal::read(&[entry]).expect("reads").expect("has begun")
    }

    fn file(lineage: &str, serial: u64) -> StateFile {
        StateFile { serial, ..StateFile::new(lineage.to_owned()) }
    }

    #[track_caller]
    fn taken(file: &mut StateFile, digest: Option<&str>) -> Result<Findings, String> {
        let journal = journal(&[record("test_thing.a"), record("test_thing.a")]);
        let taken = take_over(&journal, file, digest, PLACE, "terraform.tfstate".as_ref());
        taken.map_err(|it| format!("{}\n{}\n", it.summary, it.detail))
    }

    #[track_caller]
    fn refused(mut file: StateFile, digest: Option<&str>, expected: Expect) {
        let before = file.clone();
        let error = taken(&mut file, digest).expect_err("is another state");
        let (_, why) = error.split_once("serial 3, ").expect("says what it stands on");
        let (why, _) = why.split_once(" Nothing was done.").expect("says that");
        expected.assert_eq(why);
        assert_eq!(file, before);
    }

    #[test]
    fn recovery_applies_the_journal_once() {
        let mut file = file("l", 3);
        let findings = taken(&mut file, Some("three")).expect("is its state");
        assert_eq!((findings.changed, findings.is_to_be_written()), (1, true));
        assert_eq!(file.state.instances().count(), 1);
        // The digest is unknown, but the state has all changes.
        let findings = taken(&mut file, Some("four")).expect("lacks nothing");
        assert_eq!((findings.changed, findings.is_to_be_written()), (0, false));
    }

    #[test]
    fn recovery_refuses_a_foreign_state() {
        refused(
            file("other", 3),
            Some("x"),
            expect![[r#"but terraform.tfstate has the lineage "other": it is another state."#]],
        );
        refused(
            file("l", 4),
            Some("x"),
            expect![
                "but terraform.tfstate has the serial 4: another program has written it since."
            ],
        );
        refused(
            file("l", 2),
            Some("x"),
            expect!["but terraform.tfstate has the serial 2: an older state was restored."],
        );
        refused(file("new", 0), None, expect!["but there is no terraform.tfstate any more."]);
        let error = taken(&mut file("l", 4), Some("x")).expect_err("is another state");
        expect![[r#"
            Journal of another state
            terraform.tfstate.journal was left by "mayfly apply", which began at 2026-01-02T03:04:05Z and did not finish. It belongs to the state with the lineage "l" and the serial 3, but terraform.tfstate has the serial 4: another program has written it since. Nothing was done.

            The journal records these changes, which the state lacks:
              test_thing.a: was created or changed

            Either restore the state that the journal belongs to, and run the command again, which adds these changes to it. Or, if the current state is correct, move the journal away (mv terraform.tfstate.journal terraform.tfstate.journal.old), and import the missing objects.
        "#]].assert_eq(&error);
    }
}
