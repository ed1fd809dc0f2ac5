//! The configuration of an instance: its evaluation, and the check that no ephemeral value in it would be stored.

use std::sync::Arc;

use db::{Diagnostic, Summary};
use hir::{At, Entry, eval};
use provider::{AttributeType, Block};
use values::{MarkKind, Path, Value};

use crate::{
    ahead::Foreseen,
    resource::subject::Subject,
    schedule::Failed,
    walk::{context::Walk, instances::Each, scope::EngineScope},
};

impl Walk<'_> {
    /// The configuration of a managed or data instance, without ephemeral marks: they are allowed only on
    /// write-only attributes, and anywhere else an ephemeral value is an error. Also sets the write-only values of
    /// the subject.
    pub(crate) async fn resource_config(
        &self,
        subject: &mut Subject,
        entry: &Entry,
        each: &Each,
    ) -> Result<Value, Failed> {
        self.answered(|| self.config_with_answers(subject, entry, each)).await
    }

    fn config_with_answers(
        &self,
        subject: &mut Subject,
        entry: &Entry,
        each: &Each,
    ) -> Result<Value, Failed> {
        let scope = EngineScope::new(self, subject.module, Some(each));
        let resource = entry.resource();
        let schema = Arc::clone(&subject.schema);
        let block = schema.block();
        self.refuse_write_only_in_set(subject, entry)?;
        let (body, header) = (&resource.body, entry.item.header);
        let decode = || self.decode(&scope, entry, body, header, block, Some(&subject.text));
        let config = match (self.foreseen(subject.node, &each.key), &self.calls.observed) {
            (Some(Foreseen { value, parts, .. }), _) => {
                self.accept(entry, &value, &parts, Some(&subject.text)).map(|()| value)
            }
            (None, Some(observed)) => observed.read_by(subject.address(), decode),
            (None, None) => decode(),
        }?;
        self.refuse_infinity(entry, &config, Some(&subject.text))?;
        subject.write_only = self.collect_write_only(subject, &config);
        let rest = match config.is_marked_deep() {
            true => provider::unmark_write_only(&config, block),
            false => config,
        };
        if !rest.has_deep(MarkKind::Ephemeral) {
            return Ok(rest);
        }
        let mut told: Vec<Path> = Vec::new();
        for (path, marks) in rest.path_marks() {
            let kept = kept_part(block, &path);
            if !marks.has(MarkKind::Ephemeral) || told.iter().any(|it| it.is_prefix_of(&kept)) {
                continue;
            }
            self.report_kept(subject, entry, &kept);
            told.push(kept);
        }
        Err(Failed)
    }

    /// Reports an ephemeral value that would be stored, with the message of the ephemeral resources RFC.
    fn report_kept(&self, subject: &Subject, entry: &Entry, path: &Path) {
        let shown = path.to_string();
        let shown = shown.trim_start_matches('.');
        let detail = format!(
            "\"{shown}\" cannot accept an ephemeral value because it is not a write-only \
             attribute, meaning it will be written to the state."
        );
        let at = eval::locate_path(&entry.resource().body, &entry.item.exprs, path)
            .unwrap_or(At::Node(entry.item.header));
        let diagnostic = Diagnostic::new(Summary::EPHEMERAL_VALUE_MISUSE, detail);
        self.report_at(entry, at, Some(&subject.text), diagnostic);
    }

    /// Refuses a write-only attribute inside of a set. Once it is null, the elements of the set can no longer be
    /// distinguished.
    fn refuse_write_only_in_set(&self, subject: &Subject, entry: &Entry) -> Result<(), Failed> {
        let Some(path) = subject.schema.write_only_in_set() else { return Ok(()) };
        let detail = format!(
            "The provider {} declares {path} of \"{}\" as write-only inside of a set. Elements of \
             a set are identified by their values, so such a value could not be kept out of the \
             state. This is a bug in the provider.",
            subject.provider.source.for_display(),
            subject.address().resource.type_name
        );
        let diagnostic = Diagnostic::new(Summary::WRITE_ONLY_IN_SET, detail);
        self.report_at(entry, entry.resource().type_node.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }
}

/// The path as far as the schema names its steps. Parts of an attribute's value belong to the attribute.
fn kept_part(block: &Block, path: &Path) -> Path {
    let mut part = Path::root();
    for step in path.steps() {
        part.push(step.clone());
        let attribute = block.attribute_by_path(&part);
        if attribute.is_some_and(|it| matches!(it.ty, AttributeType::Type(_))) {
            break;
        }
    }
    part
}
