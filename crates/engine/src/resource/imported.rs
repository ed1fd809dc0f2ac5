//! Objects that are imported: the questions to the provider, and its answers.

use std::sync::Arc;

use db::Summary;
use provider::{ImportResourceStateRequest, ImportTarget, ImportedResource, Provider};
use state::Object;
use values::{MarkKind, Marks, Value, conform};

use crate::{
    event::Event,
    imports::{WantedImport, import_id},
    resource::{prior::Prior, subject::Subject},
    runs::planning::Planning,
    schedule::Failed,
    walk::context::Walk,
};

impl Planning<'_> {
    /// Returns the object that an `import` block names, as the provider read it, and writes it to the refreshed state.
    /// `config` is the evaluated configuration, whose sensitive parts are sensitive in the object, too.
    pub(crate) async fn imported(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        wanted: &WantedImport,
        config: Option<&Value>,
    ) -> Result<Prior, Failed> {
        let imported = match self.imported_before(subject, wanted) {
            Some(object) => self.prior_of(subject, object)?,
            None => self.import(subject, provider, wanted).await?,
        };
        let imported = match config {
            Some(config) => self.with_marks_of(subject, imported, config)?,
            None => imported,
        };
        self.set_object(subject, Some(Arc::clone(&imported.object)));
        Ok(imported)
    }

    /// The object that an earlier run of the session imported for an equal block and with the same provider
    /// configuration.
    fn imported_before(&self, subject: &Subject, wanted: &WantedImport) -> Option<Arc<Object>> {
        let provider = self.provider_digest(subject);
        self.reuse.memo(|memo| {
            let known = memo.object(&subject.object)?;
            let change = known.planned.change.as_ref()?;
            let is_same = change.change.importing.as_deref() == Some(&wanted.importing)
                && known.prior.is_none()
                && known.provider == provider;
            known.planned.refreshed.clone().filter(|_| is_same)
        })
    }

    async fn import(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        wanted: &WantedImport,
    ) -> Result<Prior, Failed> {
        let (address, id) = (subject.address().clone(), import_id(&wanted.importing));
        self.emit(Event::ImportPrepare { address, id });
        let imported = self.ask_for_import(subject, provider, wanted.target()).await?;
        self.read_imported(subject, provider, imported).await
    }

    /// Makes those parts of an imported object sensitive that are sensitive in the configuration. Without that, the
    /// plan would be an update that changes only marks.
    fn with_marks_of(
        &self,
        subject: &Subject,
        imported: Prior,
        config: &Value,
    ) -> Result<Prior, Failed> {
        let marks = config.path_marks().into_iter();
        let marks = marks.filter(|(_, marks)| marks.has(MarkKind::Sensitive));
        let marks: Vec<_> =
            marks.map(|(path, _)| (path, Marks::from(values::Mark::Sensitive))).collect();
        if marks.is_empty() {
            return Ok(imported);
        }
        let value = imported.value.with_path_marks(&marks);
        let object = Arc::new(self.encode(subject, &value, (*imported.object).clone())?);
        Ok(Prior { value, object, ..imported })
    }
}

impl Walk<'_> {
    /// Asks a provider for an object that exists outside of the state.
    pub(crate) async fn ask_for_import(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        target: ImportTarget,
    ) -> Result<ImportedResource, Failed> {
        let request = ImportResourceStateRequest { type_name: subject.type_name(), target };
        let response = provider.import_resource_state(request).await;
        self.report_provider(response.diagnostics, subject.place(), Some(&subject.text))?;
        let mut all = response.imported.into_iter();
        match (all.next(), all.next()) {
            (Some(imported), None) if imported.type_name == subject.type_name() => Ok(imported),
            (Some(_), None) => self.refuse_import(subject, "an object of another type"),
            (Some(_), Some(_)) => {
                self.report_import(
                    subject,
                    Summary::MULTIPLE_IMPORTED_OBJECTS,
                    "the provider returned several objects, which is not supported. Import each of \
                     them to an address of its own, if the provider allows it",
                );
                Err(Failed)
            }
            (None, _) => {
                self.report_import(
                    subject,
                    Summary::NO_IMPORTED_OBJECTS,
                    "the provider returned no object. Check the id, and the region or the endpoint \
                     that the provider is configured for",
                );
                Err(Failed)
            }
        }
    }

    /// Reads an imported object, which may have little more than an ID before.
    pub(crate) async fn read_imported(
        &self,
        subject: &Subject,
        provider: &dyn Provider,
        imported: ImportedResource,
    ) -> Result<Prior, Failed> {
        let prior = self.imported_prior(subject, imported)?;
        match self.refresh(subject, provider, &prior).await? {
            Some(read) => Ok(read),
            None => {
                self.report_no_object(subject);
                Err(Failed)
            }
        }
    }

    /// Returns the object from the provider's import response, before it is read.
    fn imported_prior(
        &self,
        subject: &Subject,
        imported: ImportedResource,
    ) -> Result<Prior, Failed> {
        if imported.state.is_null() {
            self.report_import(
                subject,
                Summary::NULL_IMPORTED_OBJECT,
                "the provider returned an object without any data. Check the id",
            );
            return Err(Failed);
        }
        if !conform::value_conforms(&imported.state, subject.ty()).is_empty() {
            return self.refuse_import(subject, "an object that is not of the schema's type");
        }
        if !imported.state.is_wholly_known() {
            return self.refuse_import(subject, "an object with unknown values");
        }
        let version = u64::try_from(subject.schema.version()).unwrap_or_default();
        let kept = Object {
            private: imported.private.as_bytes().into(),
            dependencies: self.dependencies_of(subject.address()),
            identity: self.encode_identity(subject, imported.identity.as_ref()),
            ..Object::from_json(version, Arc::from("{}"))
        };
        let value = self.marked(subject, &imported.state);
        let object = Arc::new(self.encode(subject, &value, kept)?);
        Ok(Prior {
            value,
            private: imported.private,
            identity: imported.identity,
            tainted: false,
            object,
        })
    }

    fn refuse_import<T>(&self, subject: &Subject, what: &str) -> Result<T, Failed> {
        let detail = format!(
            "Provider {} gave {what} for {}",
            subject.provider.source.for_display(),
            subject.text
        );
        self.report_provider_bug(&subject.text, Summary::INVALID_IMPORTED_OBJECT, &detail);
        Err(Failed)
    }

    fn report_import(&self, subject: &Subject, summary: Summary, what: &str) {
        let detail =
            format!("While attempting to import an object to \"{}\", {what}.", subject.text);
        self.report_about(&subject.text, summary, detail);
    }

    fn report_no_object(&self, subject: &Subject) {
        let detail = format!(
            "While attempting to import an existing object to \"{}\", the provider detected that \
             no object exists with the given id. Only pre-existing objects can be imported; check \
             that the id is correct and that it is associated with the provider's configured \
             region or endpoint, or use \"mayfly apply\" to create a new remote object for this resource.",
            subject.text
        );
        self.report_about(&subject.text, Summary::IMPORT_NO_OBJECT, detail);
    }
}
