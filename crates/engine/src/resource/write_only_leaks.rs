//! The write-only values that a provider receives, and the check that its answers repeat none of them where it
//! would be stored.
//!
//! The check covers all parts of an answer that go into the plan or the state: texts and keys of the object, the
//! identity, and the private data of the provider. It searches for the texts of write-only attributes in all their
//! spellings, each as a whole. A text repeats such a secret if it
//!
//! - consists of nothing else, except for quotes and brackets; or
//! - contains it between borders, that is, not next to letters or digits, and the secret has at least 16 bytes and
//!   characters of two kinds (lower case, upper case, digits, others): `playground` in `arn:playground:1` is a
//!   word.
//!
//! A text is not searched for if
//!
//! - it is shorter than `MIN_SEARCHED_BYTES` bytes: short texts occur anywhere;
//! - the rest of the configuration or the object in the state contains the text, too: then it is no secret there,
//!   and the provider may repeat it or derive values from it;
//! - it is a part of a write-only object or list, and neither the whole nor the part has a mark: names of regions
//!   and machines occur there next to passwords.
//!
//! A part of an answer that repeats a secret is not stored. In an ordinary attribute, [`values::WITHHELD`] stands in
//! its place, and the object stays usable: such a provider would otherwise be useless. The text also replaces what a
//! later answer has at the same place, because that may be an older secret, which is known no longer. With
//! `-strict-secrets`, a repetition is an error and the attribute null.
//!
//! In other places a repetition is always an error: in a plan, because the provider may send the planned value to
//! the remote system; in private data and the identity; and in the identifying attributes (those of the identity
//! and `IDENTIFYING`). A new object would be lost without the latter, which is worse, so there the text is removed
//! only if it consists of nothing but the secret.
//!
//! **Invariant:** no message quotes a text that was found.

use db::{Diagnostic, Summary};
use provider::Private;
use values::{Path, Step, Value, WITHHELD};

use crate::{
    redact::Trace,
    resource::{
        subject::Subject,
        write_only_texts::{Fate, Repeated, WriteOnlyTexts},
    },
    schedule::Failed,
    walk::context::Walk,
};

impl Subject {
    /// The object without the texts that repeat a secret, and the list of attributes that had one.
    fn repeated(&self, object: &Value, is_strict: bool) -> (Value, Vec<Repeated>) {
        let identity = self.identity.as_ref().map(|it| it.block());
        self.write_only.taken_out(object, self.schema.block(), identity, is_strict)
    }
}

/// The operation that a provider answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Refresh,
    Plan,
    /// Unlike in the other operations, the object exists already and must not be lost.
    Apply,
}

impl When {
    fn words(self) -> &'static str {
        match self {
            When::Refresh => "during refresh",
            When::Plan => "while planning",
            When::Apply => "after apply",
        }
    }
}

/// The parts of an answer that are stored besides the object.
pub(super) struct SideData<'a> {
    pub(super) private: &'a Private,
    pub(super) identity: Option<&'a Value>,
}

impl Walk<'_> {
    /// Collects the write-only values of a configuration. The redactor learns them whatever their marks are,
    /// because only the provider may read them.
    pub(super) fn collect_write_only(&self, subject: &Subject, config: &Value) -> WriteOnlyTexts {
        let block = subject.schema.block();
        if !block.has_write_only() {
            return WriteOnlyTexts::default();
        }
        for value in provider::write_only_values(config, block) {
            self.environment.redactor.learn_whole(&value);
        }
        let stored = self.object(subject);
        WriteOnlyTexts::of(config, block, stored.as_ref().map(|it| &it.attributes))
    }

    /// Refuses a plan that repeats a write-only value.
    pub(super) fn refuse_repeated(
        &self,
        subject: &Subject,
        planned: &Value,
        beside: &SideData<'_>,
    ) -> Result<(), Failed> {
        let (_, found) = subject.repeated(planned, true);
        let found = self.report_repeated(subject, &found, beside, When::Plan);
        if found { Err(Failed) } else { Ok(()) }
    }

    /// Returns the object of an answer without what repeats a write-only value. `before` is the object that is known,
    /// whose withheld texts stay withheld. Returns true beside it if a repetition is an error.
    pub(super) fn without_repeated(
        &self,
        subject: &Subject,
        object: &Value,
        before: &Value,
        beside: &SideData<'_>,
        when: When,
    ) -> (Value, bool) {
        let is_strict = self.environment.strict_secrets;
        let object = if is_strict { object.clone() } else { object.still_withheld(before) };
        let (object, mut found) = subject.repeated(&object, is_strict);
        if when == When::Refresh {
            // The whole answer is refused then, so no attribute is kept.
            let kept = found.iter_mut().filter(|it| it.fate == Fate::Kept);
            kept.for_each(|it| it.fate = Fate::Discarded);
        }
        let withheld = found.iter().filter(|it| it.fate == Fate::Withheld);
        withheld.for_each(|it| self.warn_of_withheld(subject, &it.path, before));
        found.retain(|it| it.fate != Fate::Withheld);
        (object, self.report_repeated(subject, &found, beside, when))
    }

    /// Warns that an attribute is withheld, once for each attribute of a type. An attribute that was withheld before
    /// causes no warning.
    fn warn_of_withheld(&self, subject: &Subject, path: &Path, before: &Value) {
        if path.apply(before).is_some_and(|it| it.has_withheld()) {
            return;
        }
        let names = path.steps().iter().filter(|it| matches!(it, Step::Attr(_)));
        let attribute: Path = names.cloned().collect();
        let detail = format!(
            "Provider {} returned the value of a write-only attribute in the attribute {attribute} of {}. Mayfly \
             withholds it: the state has the text {WITHHELD:?} in its place, and an expression that reads it is an \
             error. Use the source of the value there instead. This is a defect of the provider; with \
             -strict-secrets it is an error. Further objects of this type are not mentioned.",
            subject.provider.source.for_display(),
            subject.text,
        );
        let key = format!("{}{attribute}", subject.type_name());
        let warning = Diagnostic::new(Summary::VALUE_WITHHELD, detail);
        self.report_once(key, warning.with_address(&subject.text));
    }

    /// Reports the places where an answer repeats a write-only value. Returns true if there are any.
    fn report_repeated(
        &self,
        subject: &Subject,
        attributes: &[Repeated],
        beside: &SideData<'_>,
        when: When,
    ) -> bool {
        let mut places: Vec<(String, bool)> = attributes
            .iter()
            .map(|it| (format!("the attribute {}", it.path), it.fate == Fate::Kept))
            .collect();
        let identity = beside.identity.map(|it| subject.write_only.trace_in_identity(it));
        if let Some(trace @ (Trace::Part | Trace::Whole)) = identity {
            places.push(("the identity".to_owned(), trace == Trace::Part && when == When::Apply));
        }
        if subject.write_only.is_in_bytes(beside.private) {
            places.push(("the private data".to_owned(), false));
        }
        for (place, is_kept) in &places {
            let outcome = if *is_kept {
                "but the object could not be found again without it, so it is saved. The value is \
                 no longer a secret: set a new one, and replace the object"
            } else {
                "so the returned value is not saved"
            };
            let what = format!(
                "Provider {} returned the value of a write-only attribute in {place} of {} {}. \
                 Such a value must not be saved anywhere, {outcome}",
                subject.provider.source.for_display(),
                subject.text,
                when.words()
            );
            self.report_provider_bug_quoting(
                &subject.text,
                Summary::PROVIDER_RETURNED_SECRET,
                &what,
                "",
            );
        }
        !places.is_empty()
    }
}
